"""Protocols of the literature, against enumeration of what their papers define."""

import itertools
import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from oracles import hockey_stick
from oracles.vectors import shuffled_words, word_of
from scipy import stats
from simulations import check_simulation, make_sample

from segshuffle.accounting.collections.calibration import least_blanket_mean
from segshuffle.accounting.collections.flipped_bits import FlippedPair
from segshuffle.accounting.collections.product import delta_interval
from segshuffle.plans.plan import PLAIN, Problem
from segshuffle.protocols.almost_single_message import (
    AlmostSingleMessage,
    Hash,
    published_mean,
)
from segshuffle.protocols.augmented_shuffling import AugmentedShuffling
from segshuffle.protocols.correlated_noise import CorrelatedNoise
from segshuffle.protocols.fake_users import FakeUsers

ONE = Problem(domain_size=60, set_size=2, levels=(1.0, 2.0), level_counts=(50, 30), delta=1e-4, assumptions=PLAIN)


def hashed(u, v, x, family):
    return (u * x + v) % family.prime % family.buckets


@pytest.mark.parametrize(("prime", "buckets"), [(5, 2), (7, 3), (11, 4), (13, 12), (17, 5)])
def test_collisions_counted(prime, buckets):
    family = Hash(4, prime, buckets)
    same = sum(hashed(u, v, 1, family) == hashed(u, v, 3, family) for u in range(1, prime) for v in range(prime))
    assert family.collision == pytest.approx(same / (prime * (prime - 1)), rel=1e-14)


@pytest.mark.parametrize("items", [(), (1,)])
def test_one_message_is_consistent_with_the_items_that_its_definition_says(items):
    """Every set of items occurs as often as by enumeration, for a message about item 1 and for a dummy."""
    family, rng, runs = Hash(4, 5, 2), np.random.default_rng(1), 6000
    exact, found = Counter(), Counter()
    for u, v, w in itertools.product(range(1, 5), range(5), range(2)):
        for bucket in [hashed(u, v, x, family) for x in items] or [w]:
            exact[tuple(int(hashed(u, v, x, family) == bucket) for x in range(4))] += runs / 40
    for _ in range(runs):
        found[tuple(family.consistent(np.array(items, dtype=int), 1 - len(items), rng).tolist())] += 1
    assert found.keys() == exact.keys()
    assert stats.chisquare([found[key] for key in exact], list(exact.values())).pvalue > 1e-6


def test_published_mean_is_the_least():
    """Pr[X1 >= e^eps X2 - 1], by a double sum over both counts, is at most delta, and above it at a smaller mean."""
    n, epsilon, delta = 40, 1.0, 0.02

    def probability(mean):
        law = stats.binom(n, mean / n).pmf(np.arange(n + 1))
        first, second = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
        return float(np.outer(law, law)[first >= math.exp(epsilon) * second - 1].sum())

    mean = published_mean(n_users=n, epsilon=epsilon, delta=delta)
    assert probability(mean) <= delta
    assert probability(0.999 * mean) > delta


def test_a_share_of_the_proven_dummies_hides_every_item():
    plan = AlmostSingleMessage(accounting="proven").plan(ONE)
    family = Hash.of(60, 80, 1.0)
    mean = plan.blanket_per_user * 80 / plan.parameters["buckets"] / 2 * (1 - family.collision)
    assert mean == pytest.approx(least_blanket_mean(copies=1.0, pairs=2, epsilon=1.0, delta=1e-4), rel=1e-9)


@pytest.mark.parametrize("fakes", [1, 2])
def test_fake_vectors_are_a_pair_of_counters(fakes):
    """The certified interval of the product contains the sum over all multisets of vectors in exact arithmetic."""
    flip, factor = Fraction(1, 5), Fraction(3, 2)
    first, second = (shuffled_words([word_of([item], 3)] + [(0, 0, 0)] * fakes, flip) for item in (0, 1))
    exact = hockey_stick(first, second, factor)
    found = delta_interval(FlippedPair(fakes, 0.2), pairs=1, epsilon=math.log(1.5), rtol=1e-6)
    assert found.lower * (1 - 1e-9) <= exact <= found.upper * (1 + 1e-9)


def vectors_of(items, plan):
    """Return what a user sends before the flips: a vector for every held item, or one for the whole set, and fakes."""
    d, fakes = plan.problem.domain_size, round(plan.blanket_per_user)
    own = round(plan.messages_per_user) - fakes
    held = [word_of([item], d) for item in items] if own == len(items) else [word_of(items, d)]
    assert own == len(held)
    return held + [word_of([], d)] * fakes


@pytest.mark.parametrize(
    ("d", "s", "n", "fakes", "epsilon", "delta"),
    [
        (3, 2, 2, 1, 2.0, 0.2),  # with one vector for both items delta is 0.308
        pytest.param(3, 2, 3, 1, 2.0, 0.05, marks=pytest.mark.exhaustive),  # and 0.0766 in this case
        pytest.param(4, 2, 1, 1, 1.0, 0.2, marks=pytest.mark.exhaustive),  # two exchanged items
        (3, 1, 2, 1, 2.0, 0.2),
    ],
)
def test_fake_users_keep_their_promise_for_every_dataset(d, s, n, fakes, epsilon, delta):
    """All multisets of vectors, for sets that differ in one item and in all that they can, whatever the others hold."""
    plan = FakeUsers(fakes, "proven").plan(Problem(d, s, (epsilon,), (n,), delta, PLAIN))
    flip, factor, sets = plan.parameters["flip"], math.exp(epsilon), list(itertools.combinations(range(d), s))
    worst = 0.0
    for changed in {1, min(s, d - s)}:
        other = next(each for each in sets if len(set(sets[0]) - set(each)) == changed)
        for others in itertools.combinations_with_replacement(sets, n - 1):
            rest = [vector for items in others for vector in vectors_of(items, plan)]
            laws = [shuffled_words(vectors_of(items, plan) + rest, flip) for items in (sets[0], other)]
            worst = max(worst, hockey_stick(*laws, factor))
    assert 0.0 < worst <= delta
    assert plan.kind == "upper"


def test_proven_flips_are_the_least_and_fewer_than_in_print():
    problem = Problem(domain_size=17, set_size=1, levels=(1.0,), level_counts=(2000,), delta=2e-6, assumptions=PLAIN)
    proven, published = FakeUsers(2, "proven").plan(problem), FakeUsers(2).plan(problem)
    assert (proven.kind, published.kind) == ("upper", "published")
    flip = proven.parameters["flip"]
    assert flip < published.parameters["flip"]
    assert delta_interval(FlippedPair(4000, flip), pairs=1, epsilon=1.0).upper <= 2e-6 * 1.002
    assert delta_interval(FlippedPair(4000, 0.995 * flip), pairs=1, epsilon=1.0).lower > 2e-6
    assert proven.mse_bound < published.mse_bound
    assert proven.blanket_per_user == 2.0


# -- numbers of a plan, by hand ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_augmented_shuffling_keeps_and_adds_what_its_paper_says(epsilon):
    """With x = eps/(2 t): beta = 1 - e^-x, q = 1/(1 + e^x), so q/(1 - q) = e^-x dummies of each of 60 items.

    One counter with and without one holder: the ratio of its laws reaches e^x both ways and no more.
    """
    plan = AugmentedShuffling().plan(replace(ONE, levels=(epsilon, 5.0)))
    kept, odds = 1 - math.exp(-epsilon / 4), 1 / (1 + math.exp(epsilon / 4))
    assert plan.parameters == pytest.approx({"epsilon": epsilon, "kept": kept, "odds": odds}, rel=1e-9)
    assert plan.blanket_per_user == pytest.approx(60 * math.exp(-epsilon / 4) / 80, rel=1e-9)
    error = 2 * (1 - kept) / (kept * 80) + 60 * odds / ((1 - odds) ** 2 * kept**2 * 80**2)
    assert plan.mse_bound == pytest.approx(error, rel=1e-8)
    assert (plan.messages_per_user, plan.kind) == (2.0, "upper")
    kept, odds = plan.parameters["kept"], plan.parameters["odds"]
    law = np.append(0.0, (1 - odds) * odds ** np.arange(60))
    ratio = np.log(((1 - kept) * law[1:] + kept * law[:-1]) / law[1:])
    assert np.abs(ratio).max() <= epsilon / 4 * (1 + 1e-12)
    assert (ratio.min(), ratio.max()) == pytest.approx((-epsilon / 4, epsilon / 4), rel=1e-8)


@pytest.mark.parametrize(("epsilon", "flood"), [(1.0, 0.1 * 1.0 / 4), (80.0, 1.0)])
def test_correlated_noise_has_the_error_of_its_noise_alone(epsilon, flood):
    """Noise per item is the difference of two geometric numbers; a flood share of epsilon above 1 counts as 1."""
    plan = CorrelatedNoise().plan(replace(ONE, levels=(epsilon, 90.0)))
    odds, flood_odds, shape = (plan.parameters[name] for name in ("odds", "flood_odds", "flood_shape"))
    assert odds == pytest.approx(math.exp(-0.9 * epsilon / 4), rel=1e-9)
    assert flood_odds == pytest.approx(math.exp(-0.2 * flood), rel=1e-9)
    assert shape == pytest.approx(3 * (1 + math.log(4 / 1e-4)), rel=1e-9)
    variance = 2 * odds / (1 - odds) ** 2  # two geometric numbers; scipy's loses digits at odds of 1e-8
    assert plan.mse_bound == pytest.approx(60 * variance / 80**2, rel=1e-12)
    noise = odds / (1 - odds) + stats.nbinom(shape, 1 - flood_odds).mean()
    assert plan.blanket_per_user == pytest.approx(60 * 2 * noise / 80, rel=1e-9)
    assert plan.messages_per_user == pytest.approx(2 + plan.blanket_per_user, rel=1e-12)


def test_exchanged_items_share_the_fakes():
    """Three pairs of columns have a third of all fakes each; a single user sends as many fakes as items."""
    plan = FakeUsers(2, "proven").plan(Problem(9, 3, (1.0,), (60,), 1e-2, PLAIN))
    flip = plan.parameters["flip"]
    assert 0.995e-2 < delta_interval(FlippedPair(120 // 3, flip), pairs=3, epsilon=1.0).upper <= 1e-2 * (1 + 1e-3)
    assert FakeUsers(1, "proven").plan(Problem(9, 2, (2.0,), (1,), 0.1, PLAIN)).blanket_per_user == 2.0


@pytest.mark.parametrize(
    ("n", "epsilon", "asked_fakes"), [(5000, 1.0, 1), (5000, 1.0, 3), (50, 0.5, 1), (50, 1.0, 1), (10**5, 1.0, 1)]
)
@pytest.mark.parametrize(("d", "s"), [(17, 1), (9, 3)])
def test_fake_users_flip_as_the_paper_asks(n, epsilon, asked_fakes, d, s):
    """k q (1 - q) is as asked for, with the least k above 4 times that; every column counts (k + s) n flips."""
    plan = FakeUsers(asked_fakes).plan(Problem(d, s, (epsilon,), (n,), 1e-4, PLAIN))
    flip, fakes = plan.parameters["flip"], plan.blanket_per_user
    if s == 1:
        wanted = 33 / (5 * n) * ((math.exp(epsilon) + 1) / (math.exp(epsilon) - 1)) ** 2 * math.log(4 / 1e-4)
        assert fakes == max(asked_fakes, math.floor(4 * wanted) + 1)
        assert fakes * flip * (1 - flip) == pytest.approx(wanted, rel=1e-8)
    assert flip < 0.5
    assert (plan.messages_per_user, plan.parameters["bits_per_message"], plan.kind) == (fakes + s, d, "published")
    assert plan.mse_bound == pytest.approx(d * (fakes + s) * flip * (1 - flip) / (n * (1 - 2 * flip) ** 2), rel=1e-12)


@pytest.mark.parametrize("accounting", ["published", "proven"])
@pytest.mark.parametrize("d", [9, 60])
def test_almost_single_messages_add_up(accounting, d):
    """What is sent, and the numbers of dummies: Poisson, or whole ones and a coin for the rest of each user."""
    method, problem = AlmostSingleMessage(accounting=accounting), replace(ONE, domain_size=d)
    plan = method.plan(problem)
    m = plan.blanket_per_user
    assert plan.messages_per_user == m + 2
    assert plan.kind == ("published" if accounting == "published" else "upper")
    # an item; or two numbers below 61 and a bucket of 18
    assert plan.parameters["bits_per_message"] == {9: 4, 60: 6 + 6 + 5}[d]
    assert plan.mse_bound == method.expected_mse(plan, np.full(d, 160 / d))
    check_simulation(method, plan, make_sample(problem, 1500))
    variance = 80 * m if accounting == "proven" else 80 * (m % 1) * (1 - m % 1)
    if d == 60:  # hashed
        assert plan.parameters["prime"] == 61
        assert method.sum_variance(plan) is None
    else:
        assert method.sum_variance(plan) == pytest.approx(variance / 80**2, rel=1e-12)
        # items as they are: a uniform one of nine each, all users' numbers as drawn
        each = 80 * m / 9 + (variance - 80 * m) / 81
        assert plan.mse_bound == pytest.approx(9 * each / 80**2, rel=1e-12)
