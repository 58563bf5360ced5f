"""The full view against enumeration of the real protocol, message by message, and against independent numbers."""

import math
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import oracles as o
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from segshuffle.accounting.collections.full_view import (
    FullView,
    group_delta,
    group_epsilon,
    worst_split_user_lower,
)
from segshuffle.accounting.collections.published import (
    proven_lower_item_delta,
)
from segshuffle.errors import ParameterError

F = Fraction
RTOL = 1e-3
BLANKETS = [F(1), F(2), F(1, 2), F(3, 2), F(19, 10)]  # gamma = 1, 1, 1/2, 3/4, 19/20
FACTORS = [F(11, 10), F(3, 2), F(4)]  # e^epsilon


def enumerated(factor, *, d, blanket, rate, others, neighbours=((0,), (1,)), mixtures=None):
    """Return the histogram's exact divergence. `others`: (items, rate) per user; `mixtures`: cases to average."""
    slots = math.ceil(blanket) * (len((mixtures or [others])[0]) + 1)
    laws = []
    for own in neighbours:
        law = {}
        for case in mixtures or [others]:
            sets, rates = [own, *(items for items, _ in case)], [rate, *(r for _, r in case)]
            view = o.segmented_view(d, sets, rates, slots, blanket / math.ceil(blanket))
            for histogram, probability in view.items():
                law[histogram] = law.get(histogram, F(0)) + probability / len(mixtures or [others])
        laws.append(law)
    return float(o.hockey_stick(*laws, factor))


def view_of(d, n, blanket, rate, sent=(), covered=0):
    return FullView(
        domain_size=d,
        n_users=n,
        blanket_per_user=float(blanket),
        sampling_rate=float(rate),
        sent=[(count, float(r)) for count, r in sent],
        covered_items=covered,
    )


def assert_encloses(interval, exact, rtol=RTOL):
    assert interval.lower * (1 - 1e-12) <= exact <= interval.upper * (1 + 1e-12) + 1e-300
    assert interval.upper - interval.lower <= rtol * exact + 2e-12


@pytest.mark.quick(3)
@pytest.mark.parametrize("blanket", BLANKETS)
@pytest.mark.parametrize(
    ("others", "covered", "d"),
    [
        # of two items there is no rest of the histogram, so the pair of counts is everything
        ([((0,), F(0))], 0, 2),
        # messages that are constants hide nothing, wherever they fall but on the two items
        ([((2,), F(0)), ((3,), F(0))], 0, 4),
        ([((2,), F(1)), ((3,), F(1))], 0, 4),
        # everybody else holds the same item
        ([((2,), F(2, 5)), ((2,), F(3, 4)), ((2,), F(1))], 1, 4),
    ],
    ids=["two", "silent", "certain", "concentrated"],
)
def test_the_view_is_that_of_the_real_protocol(blanket, others, covered, d):
    rate = F(2, 5)
    view = view_of(d, len(others) + 1, blanket, rate, [(1, r) for _, r in others], covered)
    for factor in FACTORS:
        exact = enumerated(factor, d=d, blanket=blanket, rate=rate, others=others)
        assert_encloses(view.delta(math.log(factor)), exact)


@pytest.mark.quick(0)
@pytest.mark.parametrize("blanket", BLANKETS)
def test_spread_others_are_the_real_protocol_with_uniform_items(blanket):
    """d = 4, s = 1: the others' items are independent and uniform on the two that are left."""
    rate, rates = F(2, 5), [F(3, 10), F(3, 4)]
    view = view_of(4, 3, blanket, rate, [(1, r) for r in rates], covered=2)
    fixed = [[((i,), rates[0]), ((j,), rates[1])] for i, j in product((2, 3), repeat=2)]
    for factor in FACTORS:
        interval = view.delta(math.log(factor))
        exact = enumerated(factor, d=4, blanket=blanket, rate=rate, others=[], mixtures=fixed)
        assert_encloses(interval, exact)
        # the total is a function of the histogram: every fixed dataset leaks at least as much
        for case in fixed:
            assert interval.lower <= enumerated(factor, d=4, blanket=blanket, rate=rate, others=case) * (1 + 1e-12)


@pytest.mark.parametrize("blanket", [F(1), F(3, 4), F(3, 2)])
def test_own_second_item_hides_too(blanket):
    """Two items per user, neighbouring sets share one, others send everything: the worst split, exactly."""
    rate = F(1, 2)
    others = [((2, 3), F(1))]
    exact = enumerated(F(5, 4), d=5, blanket=blanket, rate=rate, others=others, neighbours=((0, 4), (1, 4)))
    worst = view_of(5, 2, blanket, rate, [(1, rate), (2, 1)], covered=1).delta(math.log(1.25))
    assert_encloses(worst, exact)
    assert exact <= view_of(5, 2, blanket, rate).delta(math.log(1.25)).upper


rates = st.fractions(min_value=F(1, 10), max_value=F(1), max_denominator=10)


@pytest.mark.quick(0)
@settings(max_examples=25)
@given(
    blanket=st.fractions(min_value=F(1, 5), max_value=F(2), max_denominator=10),
    rate=rates,
    others=st.lists(st.tuples(st.sampled_from([(0,), (1,), (2,), (3,)]), rates), min_size=1, max_size=2),
    factor=st.fractions(min_value=F(21, 20), max_value=F(3), max_denominator=20),
)
def test_blanket_alone_bounds_every_dataset_and_dominates_proposition_1(blanket, rate, others, factor):
    n = len(others) + 1
    epsilon = math.log(factor)
    alone = view_of(4, n, blanket, rate).delta(epsilon)
    exact = enumerated(factor, d=4, blanket=blanket, rate=rate, others=others)
    assert exact <= alone.upper * (1 + 1e-12)
    pair = proven_lower_item_delta(
        domain_size=4, n_users=n, blanket_per_user=float(blanket), sampling_rate=float(rate), epsilon=epsilon
    )
    assert pair.lower <= alone.upper * (1 + 1e-12)
    if all(items not in ((0,), (1,)) for items, _ in others):
        assert pair.lower <= exact * (1 + 1e-9)


def dense(factor, *, d, slots, gamma, rate, sent, covered):
    """Sum the same divergence over all (c, a, u, r) in double precision: no threshold, no law of a ratio."""
    users = np.ones(1)
    for count, r in sent:
        users = np.convolve(users, binom.pmf(np.arange(count + 1), count, r))
    uncovered = d - 2 - covered
    off = 1 - 2 * gamma / d
    total = 0.0
    for c in range(slots + 2):
        laws = []
        for blanket in (c, c - 1):  # silent, spoke
            if not 0 <= blanket <= slots:
                laws.append(np.zeros((slots + 1, slots + users.size)))
                continue
            left = slots - blanket
            on_uncovered = binom.pmf(np.arange(slots + 1), left, gamma * uncovered / d / off if off > 0 else 0)
            table = np.zeros((slots + 1, slots + users.size))
            for r in range(left + 1):
                free = 1 - gamma + gamma * covered / d
                hit = binom.pmf(np.arange(slots + 1), left - r, gamma * covered / d / free if free > 0 else 0)
                table[r] = on_uncovered[r] * np.convolve(hit, users)
            laws.append(table * binom.pmf(blanket, slots, 2 * gamma / d))
        silent, spoke = laws
        for a in range(c + 1):
            p = rate * spoke * binom.pmf(a - 1, c - 1, 0.5) if a and c else 0 * spoke
            q = rate * spoke * binom.pmf(a, c - 1, 0.5) if c > a else 0 * spoke
            both = (1 - rate) * silent * binom.pmf(a, c, 0.5)
            total += np.maximum(p + both - factor * (q + both), 0).sum()
    return total


@pytest.mark.quick(0)
@pytest.mark.parametrize("gamma", [1.0, 0.97, 0.6])
@pytest.mark.parametrize("covered", [0, 1, 4, 6])
@pytest.mark.parametrize("sent", [[(1, 0.5)], [(20, 0.45), (10, 0.8)], [(80, 0.5)]], ids=["few", "some", "many"])
@pytest.mark.parametrize("factor", [1.3, 3.0])
def test_middle_sizes_against_a_dense_sum(gamma, covered, sent, factor):
    """Larger than enumeration allows: 40 slots, messages of others, blocks of several points."""
    n, d, rate = 20, 8, 0.45
    exact = dense(factor, d=d, slots=40, gamma=gamma, rate=rate, sent=sent if covered else [], covered=covered)
    interval = view_of(d, n, 2 * gamma, rate, sent, covered).delta(math.log(factor))
    assert_encloses(interval, exact)


def test_more_cover_never_leaks_more():
    """Fewer covered items show more: spread <= concentrated <= blanket alone, and all of them at least the pair."""
    sent = [(15000, 0.7), (5000, 0.95)]
    ends = [view_of(17, 5000, 1.9, 0.5, sent, covered).delta(0.125) for covered in (15, 8, 4, 1, 0)]
    pair = proven_lower_item_delta(domain_size=17, n_users=5000, blanket_per_user=1.9, sampling_rate=0.5, epsilon=0.125)
    for before, after in pairwise([pair, *ends]):
        assert before.lower <= after.upper


@pytest.mark.parametrize("factor", [F(11, 10), F(3, 2)])
@pytest.mark.parametrize("rate", [F(3, 10), F(4, 5), F(1)])
def test_user_level_lower_bound_is_below_the_real_protocol(factor, rate):
    """A user's pair of items is exchanged, and two others send everything elsewhere (d = 6, s = 2, m = 1)."""
    others = [((4, 5), F(1)), ((4, 5), F(1))]
    exact = enumerated(factor, d=6, blanket=F(1), rate=rate, others=others, neighbours=((0, 1), (2, 3)))
    bound = worst_split_user_lower(
        domain_size=6,
        set_size=2,
        n_users=3,
        blanket_per_user=1,
        sampling_rate=float(rate),
        epsilon=math.log(factor),
    )
    assert 0.3 * exact <= bound <= exact


@pytest.mark.parametrize(("n", "d", "s", "m", "rate", "epsilon"), [
    (30, 12, 2, 1, 0.6, 0.4), (30, 12, 2, 1, 0.6, 2.5), (9, 9, 3, 2, 0.9, 1.0), (40, 3, 1, 1, 1.0, 0.1),
    (5, 40, 4, 1, 0.3, 6.0),
])  # fmt: skip
def test_user_level_lower_bound_of_few_messages_is_the_sum_over_all_counts(n, d, s, m, rate, epsilon):
    """With blocks of one count each, it is what both counts and the number of the user's messages tell together."""
    a = np.arange(n * m + s + 1)
    exact = 0.0
    for c in range(n * m + 1):
        coins = binom.pmf(a, c, 0.5)
        for spoken in range(1, s + 1):
            shifted = np.append(np.zeros(spoken), coins[: a.size - spoken])
            weight = binom.pmf(spoken, s, rate) * binom.pmf(c, n * m, 2 * s / d)
            exact += weight * np.maximum(shifted - math.exp(epsilon) * coins, 0.0).sum()
    found = worst_split_user_lower(
        domain_size=d, set_size=s, n_users=n, blanket_per_user=m, sampling_rate=rate, epsilon=epsilon
    )
    # no block contains the smallest count, 0
    lost = s * rate * binom.pmf(0, n * m, 2 * s / d)
    assert exact * (1 - 1e-8) - lost - 1e-10 <= found <= exact


@pytest.mark.parametrize("claimed", [0.05, 0.3, 0.34, 0.35, 0.4, 0.8, 5.0])
@pytest.mark.parametrize("known", [False, True])
def test_group_epsilon_is_the_root_to_its_accuracy(claimed, known):
    """log(s e^eps delta'(eps/s)) = log 4 + eps - 40^2 (eps/4)^2 + log 0.01: a parabola."""
    root = (1 + math.sqrt(1 + 400 * math.log(0.04 / 1e-6))) / 200

    def item_delta(epsilon):
        return 0.01 * math.exp(-((40 * epsilon) ** 2))

    excess = math.log(0.04 / 1e-6) + claimed - 100 * claimed**2 if known else None
    found = group_epsilon(item_delta, set_size=4, delta=1e-6, claimed=claimed, excess=excess)
    assert root * (1 - 1e-12) <= found <= root * (1 + 2.2e-5)


def test_group_epsilon_ends_at_a_thousandth_of_the_claim():
    asked = []

    def item_delta(epsilon):
        asked.append(epsilon)
        return 1e-300

    found = group_epsilon(item_delta, set_size=1, delta=1e-6, claimed=1.0)
    assert 0 < found < 2e-3
    assert found in asked
    assert group_delta(0.25, epsilon=math.log(2), set_size=3) == pytest.approx(1.5, rel=1e-15)
    # where the claim is met exactly
    assert group_epsilon(lambda e: 0.25, set_size=1, delta=0.5, claimed=1.0, excess=0.0) == 1.0


# -- a user alone, large epsilons, what does not fit ------------------------------------------------------------------


ALONE = {"domain_size": 5, "n_users": 1, "blanket_per_user": 1.5, "sampling_rate": 0.999}


@pytest.mark.parametrize("epsilon", [0.5, 5.0, 16.0, 20.0, 36.0, 38.0, 60.0, 300.0])
def test_full_view_holds_at_every_epsilon(epsilon):
    """A user alone: what its message shows for certain is no less at a larger epsilon."""
    found = FullView(**ALONE).delta(epsilon)
    exact = enumerated(o.exp_fraction(epsilon), d=5, blanket=F(3, 2), rate=F(0.999), others=[])
    assert found.lower <= exact * (1 + 1e-15)
    assert exact <= found.upper * (1 + 1e-15)
    assert found.relative_width < 1e-6


def test_no_group_epsilon_where_the_full_view_does_not_fall():
    view = FullView(**ALONE)
    assert group_epsilon(lambda e: view.delta(e).upper, set_size=1, delta=1e-5, claimed=0.5) == math.inf


def test_full_view_refuses_what_memory_cannot_hold():
    """1.76e7 messages on the two items, 1 kB each; the pair of counts alone needs no grid at any size."""
    common = {"domain_size": 17, "n_users": 10**8, "blanket_per_user": 1.5}
    view = FullView(**common, sampling_rate=0.5)
    assert not view.computable
    for call in (lambda: view.delta(0.5), lambda: view.one_sided(0.5, upper=True)):
        with pytest.raises(ParameterError, match=r"at most 0\.127"):
            call()
    assert FullView(**common, sampling_rate=1.0).delta(1e-3).relative_width < 1e-3
    with pytest.raises(ParameterError, match=r"blanket_per_user = 5.* at most 4 for 1000000000000000 users"):
        FullView(domain_size=17, n_users=10**15, blanket_per_user=5.0, sampling_rate=1.0)
