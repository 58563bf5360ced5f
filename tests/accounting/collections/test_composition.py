"""Different collections of the same users: their pairs side by side, against enumeration and equal collections."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.changes import collections_divergence

from segshuffle.accounting.collections.calibration import epsilon_upper
from segshuffle.accounting.collections.composition import composed_delta, composed_epsilon
from segshuffle.accounting.collections.product import delta_interval
from segshuffle.blankets.clustered import Clustered
from segshuffle.blankets.poisson import ItemPair
from segshuffle.errors import ParameterError


@pytest.mark.parametrize(("seed", "cases"), [(6, 40), pytest.param(7, 600, marks=pytest.mark.exhaustive)])
def test_two_collections_by_enumeration(seed, cases):
    """All four counters are enumerated if one of two items is exchanged in two collections with random plans."""
    rng = np.random.default_rng(seed)
    for _ in range(cases):
        plans = [(float(rng.uniform(0.3, 3.0)), float(rng.choice([1.0, rng.uniform(0.05, 2.2)]))) for _ in range(2)]
        epsilon = float(rng.uniform(0.0, 2.0))
        inside, outside = collections_divergence(plans, 21, epsilon)
        found = composed_delta([(ItemPair(mu, a), 1) for mu, a in plans], epsilon=epsilon)
        assert inside <= found * (1 + 1e-12)
        assert found <= outside * (1 + 2e-3) + 1e-12, (plans, epsilon)


@pytest.mark.parametrize(("mu", "copies"), [(12.0, 0.6), (588.0, 1.0), (3e5, 2.5)])
@pytest.mark.parametrize("scale", [0.5, 4.0])
def test_equal_collections_are_more_pairs(mu, copies, scale):
    pair = ItemPair(mu, copies)
    epsilon = scale * copies * math.sqrt(12 / mu)
    exact = delta_interval(pair, pairs=6, epsilon=epsilon, rtol=1e-4)
    found = composed_delta([(pair, 1), (pair, 2), (pair, 3)], epsilon=epsilon)
    assert exact.lower <= found <= exact.upper * (1 + 2e-3)


def test_many_different_collections_are_nearly_gaussian():
    """Epsilon is between those of six collections that all have the least or the largest ratio of copies to blanket."""
    plans = [(ItemPair(mu, 1.0), 4) for mu in (900.0, 1000.0, 1200.0, 1e5, 2e5, 4e5)]
    found = composed_epsilon(plans, delta=1e-6)
    assert composed_delta(plans, epsilon=found) <= 1e-6
    assert composed_delta(plans, epsilon=0.999 * found) > 1e-6
    assert epsilon_upper([(plans[-1][0], 24)], delta=1e-6) < found < epsilon_upper([(plans[0][0], 24)], delta=1e-6)
    assert found > epsilon_upper([(plans[0][0], 4)], delta=1e-6)
    assert found < sum(epsilon_upper([(pair, 4)], delta=1e-6 / 6) for pair, _ in plans)


def test_corners():
    silent, loud = ItemPair(10.0, 0.0), ItemPair(1.0, 3.0)
    assert composed_delta([(silent, 3)], epsilon=0.0) == 0.0
    assert composed_epsilon([(silent, 3)], delta=1e-6) == 0.0
    assert composed_epsilon([(silent, 3), (loud, 2)], delta=1e-6) == math.inf
    assert composed_delta([(silent, 3), (ItemPair(50.0, 0.5), 2)], epsilon=0.5) == pytest.approx(
        delta_interval(ItemPair(50.0, 0.5), pairs=2, epsilon=0.5).upper, rel=2e-3
    )
    with pytest.raises(ParameterError):
        composed_delta([(loud, 0)], epsilon=1.0)


def test_what_is_certainly_told_apart_has_a_delta_of_one_and_no_epsilon():
    """Where a counter is empty without the user's copy, the copy is seen: here nearly always, and half the time."""
    assert composed_delta([(ItemPair(1e-3, 1.0), 8)], epsilon=3.0) == 1.0
    assert 1 - 1e-6 < composed_delta([(ItemPair(1e-3, 1.0), 2)], epsilon=3.0) <= 1.0
    assert composed_epsilon([(ItemPair(0.5, 1.0), 1)], delta=0.5) == math.inf
    assert composed_epsilon([(ItemPair(1e-3, 1.0), 8)], delta=0.9) == math.inf


@pytest.mark.parametrize(
    ("means", "copies", "epsilon"),
    [((0.05, 0.1), 0.3, 6.0), ((1.0, 1.0), 0.3, 3.0), ((5.0, 5.0), 0.3, 3.0), ((100.0, 100.0), 0.3, 1.0)],
)
def test_tails_that_are_too_short_at_first_are_lengthened(means, copies, epsilon):
    """A bounded loss falls much faster than the Gaussian's from which the first tails are taken."""
    pairs = [ItemPair(mean, copies) for mean in means]
    found = composed_delta([(pair, 1) for pair in pairs], epsilon=epsilon)
    if means[0] == means[1]:
        exact = delta_interval(pairs[0], pairs=2, epsilon=epsilon)
        assert exact.lower <= found <= exact.upper * (1 + 2e-3)
    else:
        inside, outside = collections_divergence([(mu, copies) for mu in means], 24, epsilon)
        assert inside <= found <= outside * (1 + 2e-3)


def test_collections_that_share_no_lattice_are_composed_too():
    """Losses that differ by orders of magnitude: the collection that says hardly anything changes nothing."""
    assert composed_delta([(Clustered(0.3).pair(2.15, 0.116), 1), (ItemPair(21.5, 0.116), 1)], epsilon=3.0) < 1e-200
    loud, quiet = (ItemPair(1.83, 2.91), 6), (ItemPair(8e5, 0.148), 7)
    exact = delta_interval(loud[0], pairs=6, epsilon=0.5)
    found = composed_delta([loud, quiet], epsilon=0.5)
    assert exact.lower <= found <= exact.upper * (1 + 2e-3)
    loud, quiet = (ItemPair(30.0, 0.6), 2), (ItemPair(1e9, 0.01), 40)
    exact = delta_interval(loud[0], pairs=2, epsilon=0.8)
    assert exact.lower <= composed_delta([loud, quiet], epsilon=0.8) <= exact.upper * (1 + 2e-3)


@given(
    means=st.lists(st.floats(0.1, 1e4), min_size=1, max_size=3),
    copies=st.floats(0.02, 2.5),
    pairs=st.integers(1, 4),
    epsilon=st.floats(0.0, 12.0),
)
@settings(derandomize=True, max_examples=settings().max_examples // 3)
def test_bounds_fall_with_their_argument_and_grow_with_every_collection(means, copies, pairs, epsilon):
    """Bounds never cross; the accuracy of 1e-5 matters only where one more collection says hardly anything."""
    collections = [(ItemPair(mean, copies), pairs) for mean in means]
    deltas = [
        composed_delta(collections, epsilon=epsilon * factor + 1e-3 * (factor - 1)) for factor in (1, 1.01, 1.3, 6)
    ]
    assert deltas == sorted(deltas, reverse=True)
    assert deltas[0] >= delta_interval(ItemPair(min(means), copies), pairs=pairs, epsilon=epsilon).lower
    epsilons = [composed_epsilon(collections, delta=delta) for delta in (1e-12, 9e-7, 1e-6, 0.2)]
    assert epsilons == sorted(epsilons, reverse=True)
    more = [*collections, (ItemPair(50.0, 0.5), 1)]
    assert composed_delta(more, epsilon=epsilon) >= deltas[0] * (1 - 2e-5)
