"""Items taken away and absent users, against sums over all counters, and sample and threshold by enumeration."""

import itertools
import math
from functools import reduce

import numpy as np
import pytest
from oracles.clusters import excess, with_copies
from scipy import stats

from segshuffle.accounting.collections.neighbours import absent, taken_away
from segshuffle.accounting.collections.sample_threshold import SampleThreshold
from segshuffle.blankets.named import laws
from segshuffle.blankets.poisson import POISSON
from segshuffle.errors import ParameterError

COUNTS = np.arange(60)


def both(p, q, epsilon):
    return max(excess(p, q, epsilon), excess(q, p, epsilon))


def counter(mean, copies):
    """Return the law of a Poisson counter with a mean number of copies."""
    return with_copies(stats.poisson.pmf(COUNTS, mean), 0, copies)


def product(laws):
    return reduce(np.multiply.outer, laws).ravel()


@pytest.mark.parametrize(("mean", "copies"), [(3.0, 1.0), (5.0, 0.6), (4.0, 2.3)])
def test_items_taken_away_are_enclosed_in_both_directions(mean, copies):
    held, other = counter(mean, copies), counter(mean, 0.0)
    for epsilon, items in itertools.product((0.0, 0.5, 1.5), (1, 2)):
        exact = both(product([held] * items), product([other] * items), epsilon)
        upper = taken_away(POISSON.pair(mean, copies), items=items).delta(epsilon=epsilon).upper
        assert exact <= upper <= exact * (1 + 1e-3) + 1e-12


@pytest.mark.parametrize("copies", [1.0, 0.4, 2.0])
def test_an_absent_user_is_enclosed_in_both_directions(copies):
    """All three counters, dummies of the user included."""
    mean, n_users, domain_size = 3.0, 4, 3
    less = mean * (n_users - 1) / n_users
    for epsilon, items in itertools.product((0.0, 0.7), (1, 2, 3)):
        there = [counter(mean, copies)] * items + [counter(mean, 0.0)] * (domain_size - items)
        exact = both(product(there), product([counter(less, 0.0)] * domain_size), epsilon)
        pair = POISSON.pair(mean, copies)
        upper = absent(pair, items=items, n_users=n_users, domain_size=domain_size).delta(epsilon=epsilon).upper
        assert exact <= upper <= exact * (1 + 1e-3) + 1e-12


def test_a_deployed_blanket_needs_half_the_dummies_if_items_are_only_taken_away():
    """Cobalt's 18 vectors, epsilon 1, delta 1e-10: 644 dummies per index are enough."""
    for mean, fits in ((644.0, True), (640.0, False)):
        assert (taken_away(POISSON.pair(mean, 1.0), items=18).delta(epsilon=1.0).upper <= 1e-10) is fits


def test_only_single_dummies_have_a_bound_for_absent_users():
    clustered = laws()["clustered"](p=0.5)
    assert taken_away(clustered.pair(100.0, 1.0), items=2).delta(epsilon=1.0).upper < 1e-2
    with pytest.raises(ParameterError, match="add-or-remove-one"):
        absent(clustered.pair(100.0, 1.0), items=2, n_users=10, domain_size=5)


def shown(holders, rate, threshold):
    """Return the law of what is shown of a count; the last entry is "none"."""
    law = stats.binom.pmf(np.arange(90), holders, rate)
    return np.append(np.where(np.arange(90) >= threshold, law, 0.0), law[:threshold].sum())


@pytest.mark.parametrize(("rate", "threshold"), [(0.3, 1), (0.3, 3), (0.6, 4), (0.2, 5), (0.9, 2)])
def test_the_worst_group_is_found_for_added_removed_and_replaced_users(rate, threshold):
    groups = [shown(m, rate, threshold) for m in range(80)]
    for epsilon in (0.0, 0.1, -0.5 * math.log1p(-rate), 1.0):
        bound = SampleThreshold(rate=rate, threshold=threshold)
        added = [excess(more, less, epsilon) for less, more in itertools.pairwise(groups)]
        removed = [excess(less, more, epsilon) for less, more in itertools.pairwise(groups)]
        for found, exact in ((bound.add(epsilon), added), (bound.remove(epsilon), removed)):
            assert found.delta.lower * (1 - 1e-9) <= max(exact) <= found.delta.upper + 1e-15
            assert found.delta.upper <= max(exact) * (1 + 1e-9) + 1e-15
            if found.delta.upper:
                assert exact[found.others] == pytest.approx(max(exact), rel=1e-9)
        exact = 0.0
        for a, b in itertools.product(range(0, 20, 2), repeat=2):
            before, after = (groups[a + 1], groups[b]), (groups[a], groups[b + 1])
            exact = max(exact, excess(product(before), product(after), epsilon))
        replaced = SampleThreshold(rate=rate, threshold=threshold, neighbours="replace-one").delta(epsilon=epsilon)
        assert exact <= replaced.upper
        assert replaced.lower <= max(*added, *removed) * (1 + 1e-9)


def test_constants_that_are_deployed_are_far_safer_than_stated_if_tags_are_hidden():
    bound = SampleThreshold(rate=0.105, threshold=20)
    worst = bound.worst(1.0)
    assert worst.others == 28
    assert worst.delta.upper == pytest.approx(6.48e-15, rel=1e-3)
    assert bound.epsilon(delta=1e-8) == pytest.approx(0.3180, rel=3e-4)
    assert SampleThreshold(rate=0.105, threshold=11).delta(epsilon=1.0).upper < 1e-8
    assert SampleThreshold(rate=0.105, threshold=10).delta(epsilon=1.0).lower > 1e-8


def test_visible_tags_tell_two_holders_of_one_value_from_two_of_different_values():
    """Both take part with probability p^2, and then their tags are equal or not, at every epsilon."""
    for epsilon in (0.0, 1.0, 100.0):
        found = SampleThreshold(rate=0.105, threshold=20, tags="visible").delta(epsilon=epsilon)
        assert found.lower == pytest.approx(0.105**2)
        assert found.upper == 0.105
    assert math.isinf(SampleThreshold(rate=0.105, threshold=20, tags="visible").epsilon(delta=1e-8))


@pytest.mark.parametrize(
    "wrong", [{"rate": 1.0}, {"threshold": 0}, {"tags": "some"}, {"neighbours": "replace-special"}]
)
def test_values_outside_their_ranges_are_refused(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        SampleThreshold(**{"rate": 0.1, "threshold": 20} | wrong)
