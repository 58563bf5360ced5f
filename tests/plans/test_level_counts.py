"""Round 1: its accountant against brute force, its estimates, and the error of round 2 with noisy level counts."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from simulations import assert_mean, law_p_value

from segshuffle.accounting.collections.levels import compose_rounds
from segshuffle.accounting.collections.product import delta_interval
from segshuffle.blankets.poisson import ItemPair
from segshuffle.collection.messages import Server
from segshuffle.collection.messages.shuffler import Shuffler
from segshuffle.collection.messages.simulated_clients import SimulatedClients
from segshuffle.errors import InfeasibleError
from segshuffle.plans.level_counts import (
    LevelEstimates,
    LevelPrivacy,
    left_for_items,
    level_announcement,
    noisy_level_error,
    planning_counts,
)
from segshuffle.plans.plan import PLAIN, Problem

# ----------------------------------------------------------------------------------------------------------------------
# Accountant
# ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("n", "k", "epsilon", "delta"),
    [(1000, 3, 0.5, 1e-6), (10**6, 2, 0.1, 1e-8), (50, 5, 1.0, 1e-3), (10, 3, 60.0, 1e-9), (10**7, 3, 2.0, 1e-12)],
)
def test_least_blanket_is_safe_and_least(n, k, epsilon, delta):
    mean = n * level_announcement(n, k, LevelPrivacy(epsilon, delta)).blanket_per_user / k
    assert delta_interval(ItemPair(mean, 1.0), pairs=1, epsilon=epsilon).upper <= delta * (1 + 1e-9)
    assert delta_interval(ItemPair(0.99 * mean, 1.0), pairs=1, epsilon=epsilon).lower > delta


def test_both_rounds_compose():
    """For a change of level: the larger epsilon and delta of both levels, plus those of round 1."""
    levels, deltas = (0.5, 2.0), (1e-5, 1e-6)
    totals = compose_rounds(levels=levels, deltas=deltas, kind="published", levels_epsilon=0.3, levels_delta=1e-7)
    for own, delta, total in zip(levels, deltas, totals, strict=True):
        assert (total.items_epsilon, total.items_delta, total.kind) == (own, delta, "published")
        assert [each.level for each in total.against] == list(levels)
        for each in total.against:
            # round 1 does not see the items
            exact = (own, delta) if each.level == own else (2.3, 1.01e-5)
            assert (each.epsilon, each.delta) == pytest.approx(exact, rel=1e-12)
            assert each.epsilon >= exact[0]
            assert each.delta >= exact[1]
        assert total.total_epsilon == max(each.epsilon for each in total.against)
        assert total.total_delta == max(each.delta for each in total.against)


@pytest.mark.parametrize("unknown", [{"levels_epsilon": math.inf}, {"levels_epsilon": 0.3, "change_covered": False}])
def test_nothing_is_claimed_where_nothing_is_proven(unknown):
    levels, deltas = (0.5, 2.0), (1e-6, 1e-6)
    total = compose_rounds(levels=levels, deltas=deltas, kind="upper", levels_delta=0.0, **unknown)[0].as_dict()
    assert [each["epsilon"] for each in total["against"]] == [0.5, None]
    assert (total["items_epsilon"], total["total_epsilon"]) == (0.5, None)


# ----------------------------------------------------------------------------------------------------------------------
# Estimates of the level counts
# ----------------------------------------------------------------------------------------------------------------------


def run_round(server, announcement, levels, rng):
    users = SimulatedClients(np.zeros((len(levels), 1), dtype=np.int64), np.asarray(levels))
    sent = [users.of_round_1().send_items(announcement, rng)]
    return server.estimate_levels(announcement, Shuffler(rng).release(sent, announcement.dtype))


def server_of(levels, n_users, privacy):
    return Server(Problem(5, 2, levels, (n_users, *(0,) * (len(levels) - 1)), 1e-3, PLAIN), privacy)


@pytest.mark.parametrize("truth", [(3, 9), (0, 5, 2)])
def test_the_exact_histogram_is_exact(truth):
    levels = np.repeat(np.arange(len(truth)), truth)
    server = server_of((0.5, 1.0, 2.0)[: len(truth)], sum(truth), None)
    found = run_round(server, server.announce_levels(), levels, np.random.default_rng(0))
    assert found.counts.tolist() == list(truth)
    assert found.planning == truth
    assert found.balanced.tolist() == list(truth)
    assert found.weight([0.5, 0.25, 1.0][: len(truth)]) == np.dot(truth, [0.5, 0.25, 1.0][: len(truth)])


@pytest.mark.quick("truth0")
@pytest.mark.parametrize("truth", [(30, 10), (0, 25, 15)])
def test_private_counters_are_levels_plus_poisson(truth):
    runs, n, k = 2000, 40, len(truth)
    server, levels = server_of((0.5, 1.0, 2.0)[:k], n, LevelPrivacy(1.0, 1e-2)), np.repeat(np.arange(k), truth)
    announcement, rng = server.announce_levels(), np.random.default_rng(31)
    found = [run_round(server, announcement, levels, rng) for _ in range(runs)]
    noise = np.array([one.counts for one in found]) - np.array(truth)
    mu = found[0].blanket_mean
    assert mu == n * announcement.blanket_per_user / k
    law = dict(enumerate(stats.poisson.pmf(np.arange(int(mu) + 200), mu)))
    for counter in noise.T:
        assert law_p_value(Counter(counter.tolist()), law) > 1e-9
    assert np.all(np.abs(np.corrcoef(noise.T) - np.eye(k)) < 6.5 / math.sqrt(runs))
    assert_mean(np.array([one.estimates for one in found]), truth)
    balanced = np.array([one.balanced for one in found])
    assert_mean(balanced, truth)
    np.testing.assert_allclose(balanced.sum(axis=1), n)
    assert_mean((balanced - truth) ** 2, mu * (1 - 1 / k))


@given(
    st.lists(st.floats(-1e12, 1e12), min_size=1, max_size=6),
    st.integers(1, 10**12),
)
def test_any_estimates_become_a_population(values, n):
    counts = planning_counts(values, n)
    assert sum(counts) == n
    assert min(counts) >= 0
    assert all(isinstance(count, int) for count in counts)
    assert planning_counts(counts, n) == counts


def test_a_level_privacy_that_no_client_could_afford_is_refused_by_its_own_numbers():
    with pytest.raises(InfeasibleError, match=r"level privacy \(1e-09, 1e-06\) needs .* of 3 honest users"):
        level_announcement(3, 2, LevelPrivacy(1e-9, 1e-6))


# ----------------------------------------------------------------------------------------------------------------------
# The estimator with noisy n_k
# ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("counts", "rates", "weight"),
    [
        ((900, -3, 77), (1.0, 1.0, 1.0), 100.0),  # equal rates cost nothing
        ((900, 0), (0.25, 1.0), 25.0),  # 100 users cannot have less, or more
        ((0, 900), (0.25, 1.0), 100.0),
    ],
)
def test_the_denominator_stays_where_it_can_be(counts, rates, weight):
    assert LevelEstimates(np.array(counts), 100, 50.0).weight(rates) == weight


# ----------------------------------------------------------------------------------------------------------------------
# Budget of both rounds
# ----------------------------------------------------------------------------------------------------------------------


def test_round_one_takes_its_messages_of_the_budget():
    assert level_announcement(1000, 3, LevelPrivacy(1.0, 1e-6)).blanket_per_user > 0.0
    # one level is no secret, and public ones need no blanket
    assert level_announcement(1000, 3, None).blanket_per_user == 0.0
    assert left_for_items(3.5, 1.25) == 2.25
    with pytest.raises(InfeasibleError, match=r"max_messages = 1.25 is used up by round 1"):
        left_for_items(1.25, 1.25)
    with pytest.raises(InfeasibleError, match=r"takes 2\.5 messages"):
        left_for_items(1.25, 2.5)


def test_the_error_of_a_quotient_is_that_of_its_expansion():
    """A sum of two values is divided by one of two values, all four as likely: moments by hand, up to t^4."""
    weight, t = 20.0, 1e-3
    mean, spread = np.array([3.0, 0.5]), np.array([0.02, 0.4])
    sums = np.stack([mean - spread, mean + spread] * 2)
    values = sums / (weight * np.array([1 - t, 1 - t, 1 + t, 1 + t]))[:, None]
    exact, shares = (spread**2).sum() / weight**2, mean / weight
    error = noisy_level_error(exact, shares, t**2)
    assert error == pytest.approx(((values - shares) ** 2).mean(axis=0).sum(), rel=0.1 * t**2)
    assert error / exact - 1 > 3 * t**2


@pytest.mark.parametrize("n", [3, 10])
def test_planning_counts_are_the_nearest_of_all(n):
    """No population of three levels is nearer in squares than the one that is planned for."""
    every = np.array([(a, b, n - a - b) for a in range(n + 1) for b in range(n + 1 - a)])
    rng = np.random.default_rng(n)
    for values in rng.normal(n / 3, n, size=(40, 3)):
        found = np.array(planning_counts(values, n))
        assert ((found - values) ** 2).sum() <= ((every - values) ** 2).sum(axis=1).min() * (1 + 1e-12) + 1e-9
