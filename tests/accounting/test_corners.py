"""Corners of the accepted ranges: round-off, overflow and sizes, each against an exact number."""

import math
import time
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import oracles as o
import pytest
from oracles import MP

from segshuffle.accounting.collections.full_view import FullView
from segshuffle.accounting.collections.full_view_users import group_epsilon, worst_split_user_lower
from segshuffle.accounting.collections.levels import histogram_delta
from segshuffle.accounting.collections.published import proven_lower_item_delta
from segshuffle.accounting.numerics.gaussian import gaussian_ratio
from segshuffle.accounting.numerics.hockey_stick import CountPair, hockey_stick
from segshuffle.accounting.numerics.laws import BinomialLaw
from segshuffle.accounting.numerics.ranges import LARGEST_COUNT
from segshuffle.accounting.numerics.search import largest_excluded_epsilon, least_epsilon
from segshuffle.accounting.single_message.decomposition import _number, blanket_delta, blanket_epsilon
from segshuffle.accounting.single_message.personalized import ReductionPair
from segshuffle.accounting.single_message.personalized_confusion import PersonalizedUsers
from segshuffle.accounting.single_message.randomizers import JointComposition, KaryRandomizedResponse, SubsetSelection
from segshuffle.accounting.single_message.randomizers.subsets import _shares, _three_inputs
from segshuffle.errors import ParameterError

F = Fraction


def exp_fraction(epsilon):
    """e^epsilon to 70 digits, for the exact float epsilon."""
    return F(int(MP.floor(MP.exp(MP.mpf(epsilon)) * MP.mpf(10) ** 70)), 10**70)


# -- the full view at a large epsilon --------------------------------------------------------------------------------

ALONE = {"domain_size": 5, "n_users": 1, "blanket_per_user": 1.5, "sampling_rate": 0.999}


def full_view_of_one_user(epsilon):
    """D of the histogram, from the server's view message by message."""
    rate, gamma = F(ALONE["sampling_rate"]), F(3, 4)
    views = [o.segmented_view(ALONE["domain_size"], [(item,)], [rate], 2, gamma) for item in (0, 1)]
    return o.hockey_stick(*views, exp_fraction(epsilon))


@pytest.mark.parametrize("epsilon", [0.5, 5.0, 16.0, 20.0, 36.0, 38.0, 60.0, 300.0])
def test_full_view_holds_at_every_epsilon(epsilon):
    """A user alone: what its message shows for certain is no less at a larger epsilon."""
    found, exact = FullView(**ALONE).delta(epsilon), float(full_view_of_one_user(epsilon))
    assert found.lower <= exact * (1 + 1e-15)
    assert exact <= found.upper * (1 + 1e-15)
    assert found.relative_width < 1e-6


def test_no_group_epsilon_where_the_full_view_does_not_fall():
    view = FullView(**ALONE)
    assert group_epsilon(lambda e: view.delta(e).upper, set_size=1, delta=1e-5, claimed=0.5) == math.inf


# -- pairs of counts where round-off decides -------------------------------------------------------------------------

# trials, probability, heads, tails, epsilon
ROUND_OFF_DECIDES = [
    pytest.param((19, 1.5e-7, 0.07125182676967176, 0.0, 300.0), id="a chord through a nearly empty block"),
    pytest.param((40, 1.7219659746602122e-06, 8.077945836989584e-06, 0.0, 100.0), id="a chord, delta of 1e-248"),
    pytest.param((30, 1.2533039358747656e-07, 0.01416326299132135, 0.01414909972833003, 0.001), id="headroom of 1e-12"),
    pytest.param((1, 0.5, 0.7, 3.0000000000000005e-10, 21.570563697312046), id="headroom at a large epsilon"),
    pytest.param((30, 2.0**-15, 0.7, 0.30000000000000004, 0.8472978603872032), id="headroom rounds to nothing"),
    pytest.param((2, 1.0, 2.0**-8, 2.0**-8 * (1 - 2.0**-30), 2.0**-30), id="room rounds across an integer"),
    pytest.param((14, 2.0**-9, 0.7, 0.2999999997000001, 0.8472978613872032), id="heads + tails rounds"),
]


@pytest.mark.parametrize("case", ROUND_OFF_DECIDES)
def test_count_pair_contains_the_exact_value_where_terms_cancel(case):
    trials, probability, heads, tails, epsilon = case
    exact = o.hockey_stick(*o.count_pair(trials, F(probability), F(heads), F(tails)), exp_fraction(epsilon))
    found = hockey_stick(pair=CountPair(heads, tails, BinomialLaw(trials, probability)), epsilon=epsilon)
    assert exact > 0
    assert F(found.lower) <= exact <= F(found.upper)


# -- many or large local epsilons ------------------------------------------------------------------------------------


def binary_responses(count, local_epsilon):
    part = KaryRandomizedResponse(local_epsilon=local_epsilon, domain_size=2)
    return JointComposition(components=(part,) * count)


def one_user_delta(count, local_epsilon, epsilon):
    """D of `count` binary responses of one user: the number of true ones decides."""
    p = exp_fraction(local_epsilon) / (1 + exp_fraction(local_epsilon))
    chances = [(p**i * (1 - p) ** (count - i), (1 - p) ** i * p ** (count - i)) for i in range(count + 1)]
    excess = [math.comb(count, i) * max(a - exp_fraction(epsilon) * b, 0) for i, (a, b) in enumerate(chances)]
    return sum(excess, F(0))


@pytest.mark.parametrize(("count", "local_epsilon"), [(3, 50.0), (5, 30.0), (15, 10.0)])
@pytest.mark.parametrize("epsilon", [0.0, 40.0, 100.0, 149.0])
def test_joint_composition_at_the_largest_sum(count, local_epsilon, epsilon):
    found = blanket_delta(randomizer=binary_responses(count, local_epsilon), n_users=1, epsilon=epsilon)
    exact = one_user_delta(count, local_epsilon, epsilon)
    assert F(found.lower) <= exact <= F(found.upper)
    assert F(found.upper) <= exact * F(1001, 1000) or epsilon == 149.0


@pytest.mark.parametrize(("count", "local_epsilon"), [(15, 48.0), (9, 50.0), (4, 45.0)])
def test_joint_composition_beyond_the_largest_sum_is_refused(count, local_epsilon):
    """Where e^(sum + epsilon) overflows, 0 would come back as a guarantee."""
    with pytest.raises(ParameterError, match="sum to at most 150"):
        binary_responses(count, local_epsilon)


@pytest.mark.parametrize("log", [math.nan, math.inf])
def test_ends_that_are_no_numbers_are_no_guarantee(log):
    assert (_number(log, "lower"), _number(log, "upper")) == (0.0, 1.0)


# -- nan, and counts beyond double precision -------------------------------------------------------------------------


def test_a_bound_that_is_no_number_proves_nothing():
    search = {"bound": lambda epsilon, width: math.nan, "ceiling": 1.0, "delta": 1e-6, "rtol": 1e-4}
    assert largest_excluded_epsilon(**search) == 0.0
    assert least_epsilon(**search) == 1.0


def test_a_bound_that_is_no_number_somewhere_excludes_only_what_was_seen():
    def bound(epsilon, width):
        return math.nan if epsilon > 0.7 else 1.0

    assert largest_excluded_epsilon(bound=bound, ceiling=1.0, delta=1e-6, rtol=1e-4) <= 0.7


class _Unknown(BinomialLaw):
    """A law whose tails are lost."""

    def at_least(self, count):
        return super().at_least(count) * math.nan


def test_lost_tails_give_the_trivial_interval():
    assert hockey_stick(pair=CountPair(0.5, 0.0, _Unknown(1000, 0.5)), epsilon=0.1) == (0.0, 1.0)


def test_counts_beyond_double_precision_are_refused():
    common = {"domain_size": 17, "blanket_per_user": 1, "sampling_rate": 0.5, "epsilon": 0.0}
    largest = proven_lower_item_delta(**common, n_users=LARGEST_COUNT)
    # with probability 1/2 a normal law of deviation sqrt(c)/2, c = 2 n/17 messages on both items, is moved by one
    assert largest.lower == pytest.approx(0.5 * 2 / math.sqrt(2 * math.pi * 2 * LARGEST_COUNT / 17), rel=1e-3)
    assert largest.relative_width < 1e-3
    with pytest.raises(ParameterError, match="n_users"):
        proven_lower_item_delta(**common, n_users=9 * 10**15)
    with pytest.raises(ParameterError, match="messages per category"):
        histogram_delta(n_users=10**18, categories=3, blanket_per_user=1, epsilon=1e-15)


def test_full_view_refuses_what_memory_cannot_hold():
    """1.76e7 messages on the two items, 1 kB each; the pair of counts alone needs no grid at any size."""
    common = {"domain_size": 17, "n_users": 10**8, "blanket_per_user": 1.5}
    view = FullView(**common, sampling_rate=0.5)
    assert not view.computable
    for call in (lambda: view.delta(0.5), lambda: view.one_sided(0.5, upper=True)):
        with pytest.raises(ParameterError, match=r"at most 0\.127"):
            call()
    assert FullView(**common, sampling_rate=1.0).delta(1e-3).relative_width < 1e-3
    with pytest.raises(ParameterError, match="blanket_per_user"):
        FullView(domain_size=17, n_users=10**15, blanket_per_user=5.0, sampling_rate=1.0)


# -- small budgets ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("budget", [1e-1, 1e-6, 1e-10, 1e-14, 1e-45])
def test_personalized_numbers_keep_their_digits_at_small_budgets(budget):
    """One Laplace user at epsilon = 0: both numbers are 1 - 2 p_1 = 1 - e^(-budget/2)."""
    pair = ReductionPair(PersonalizedUsers(local_epsilons=[budget], mechanism="laplace"))
    exact = -MP.expm1(-MP.mpf(budget) / 2)
    for found in (pair.theorem_delta(epsilon=0.0), pair.reduction_delta(epsilon=0.0)):
        assert found.lower <= exact <= found.upper
        assert found.relative_width < 1e-11


def test_gaussian_budgets_keep_their_digits_too():
    users = PersonalizedUsers(local_epsilons=[1e-9] * 3, mechanism="gaussian", local_delta=1e-12)
    deviation = MP.sqrt(2 * MP.log(1.25 / MP.mpf(1e-12))) / MP.mpf(1e-9)
    exact = MP.erf(1 / (deviation * MP.sqrt(8))) + MP.mpf(1e-12)
    assert users.victim_contrast() == pytest.approx(float(exact), rel=1e-14)
    with pytest.raises(ParameterError, match="local_epsilons"):
        PersonalizedUsers(local_epsilons=[1e-300] * 3, mechanism="gaussian", local_delta=1e-10)


@pytest.mark.parametrize("local_epsilon", [1e-140, 1e-170, 1e-250])
def test_blanket_bound_of_a_tiny_local_epsilon(local_epsilon):
    """Ten users at epsilon = 0: E max(0, G_1 + ... + G_n)/n with G = e, -e, 0 on a third each, to first order in e."""
    found = blanket_delta(
        randomizer=KaryRandomizedResponse(local_epsilon=local_epsilon, domain_size=3), n_users=10, epsilon=0.0
    )
    walk = {0: F(1)}
    for _ in range(10):
        walk = {k: sum((walk.get(k - step, F(0)) for step in (-1, 0, 1)), F(0)) / 3 for k in range(-10, 11)}
    exact = float(sum((p * max(k, 0) for k, p in walk.items()), F(0)) / 10) * local_epsilon
    assert found.lower <= exact * (1 + 1e-12)
    assert exact * (1 - 1e-12) <= found.upper
    assert found.relative_width < 1e-3


@pytest.mark.parametrize("epsilon", [1e-320, 1e-310, 1e-300])
def test_gaussian_ratio_at_a_tiny_epsilon(epsilon):
    """At epsilon = 0 delta is 2 Phi(r/2) - 1 = erf(r/sqrt(8))."""
    exact = MP.sqrt(8) * MP.erfinv(MP.mpf(1e-5))
    assert gaussian_ratio(epsilon=epsilon, delta=1e-5) == pytest.approx(float(exact), rel=1e-8)


@pytest.mark.parametrize("change", [{"sampling_rate": 5.0}, {"sampling_rate": 0.0}, {"epsilon": 800.0}, {"epsilon": 0}])
def test_worst_split_refuses_what_is_no_probability_or_epsilon(change):
    common = {"domain_size": 12, "set_size": 4, "n_users": 50, "blanket_per_user": 1, "sampling_rate": 0.5}
    with pytest.raises(ParameterError, match=next(iter(change))):
        worst_split_user_lower(**{**common, "epsilon": 0.5, **change})


# -- large domains and many components -------------------------------------------------------------------------------


def test_shares_of_large_subsets_are_exact_and_quick():
    """d = 10^5, k = d/2: an output meets both inputs, one of them or none like two draws without replacement."""
    d, k = 10**5, 5 * 10**4
    begin = time.process_time()
    randomizer = SubsetSelection(local_epsilon=1.0, domain_size=d, subset_size=k)
    assert blanket_epsilon(randomizer=randomizer, n_users=10, delta=1e-6) <= 1.0
    assert time.process_time() - begin < 5.0
    found = randomizer.blanket()
    both, none, one = F(k * (k - 1), d * (d - 1)), F((d - k) * (d - k - 1), d * (d - 1)), F(k * (d - k), d * (d - 1))
    masses = {(a, b): m / found.gamma for m, a, b in zip(found.mass, found.log_first, found.log_second, strict=True)}
    gamma = 1 / (0.5 + 0.5 * math.e)
    assert found.gamma == pytest.approx(gamma, rel=1e-14)
    for key, share in {(1.0, 1.0): both, (0.0, 0.0): none, (1.0, 0.0): one, (0.0, 1.0): one}.items():
        assert masses[key] == pytest.approx(float(share), rel=1e-14)


@pytest.mark.parametrize(("d", "s", "k"), [(9, 2, 3), (9, 3, 6), (7, 3, 2), (5, 3, 2), (12, 2, 9)])
def test_shares_are_those_of_all_subsets(d, s, k):
    """Both ways of writing the falling factorials, against the list of all outputs."""
    inputs = _three_inputs(d, s)
    outputs = [set(z) for z in combinations(range(d), k)]
    for meets, share in _shares(d, s, k, 3).items():
        count = sum(tuple(not x.isdisjoint(z) for x in inputs) == meets for z in outputs)
        assert share == count / len(outputs)


@pytest.mark.parametrize("differing", [None, 2])
def test_equal_components_give_one_table_per_multiset(differing):
    part, other = (KaryRandomizedResponse(local_epsilon=e, domain_size=2) for e in (0.5, 1.0))
    joint = JointComposition(components=(part, part, part, other), differing=differing)
    tables = joint.common_input()
    assert len(tables) == (8 if differing is None else 3 * 2 * 2)
    every = [joint._product(list(choice)) for choice in product(*(x.common_input() for x in joint.components))]

    def content(table):
        rows = zip(table.log_first, table.log_second, table.mass, strict=True)
        return tuple(sorted(tuple(float(f"{x:.9g}") + 0.0 for x in row) for row in rows))

    assert {content(table) for table in tables} == {content(table) for table in every}
    assert len(binary_responses(12, 1.0).common_input()) == 13


def test_every_part_of_a_composition_brings_its_own_round_off():
    """Worst case of the roundings, not the typical one: a single table's bound is not enough for 60 multiplied ones."""
    part = KaryRandomizedResponse(local_epsilon=2.5, domain_size=2)
    joint = JointComposition(components=(part,) * 60).blanket()
    assert joint.mass_error == 60 * part.blanket().mass_error
    assert joint.log_error == pytest.approx(60 * 60 * part.blanket().log_error, rel=1e-12)
    # binary randomized response: mass 1/(1 + e^eps) on either output, the ratio e^eps to one input or the other
    mass = 1 / (1 + MP.exp(MP.mpf(2.5)))
    for held, found, log_first in zip(
        range(61), joint.mass[np.argsort(joint.log_first)], np.sort(joint.log_first), strict=True
    ):
        exact = MP.binomial(60, held) * mass**60
        assert abs(found - exact) <= joint.mass_error * exact
        assert abs(log_first - 2.5 * held) <= joint.log_error
