"""Several collections of the same users with different plans: one epsilon and delta for all of them.

The users' coins are fresh in every collection, so the likelihood ratios multiply: the pairs of all collections, each
with its own blanket and copies, are one product (docs/proof.md). Collections with the same plan need none of this: T of
them are t T pairs (`Problem.pairs`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from segshuffle.accounting.collections.product import (
    EPSILON_LIMIT,
    LARGEST_LOG_TAIL,
    check_delta,
    check_epsilon,
    check_pairs,
    log_tail_for,
    tilted_pair,
)
from segshuffle.accounting.numerics.gaussian import gaussian_log_delta
from segshuffle.accounting.numerics.loss_distribution import AccuracyError, infinite_loss, log_delta_upper_of
from segshuffle.blankets.base import CounterPair
from segshuffle.digits import rounded_up
from segshuffle.errors import ParameterError

#: Pairs of one collection, and how many of them: `Problem.pairs`, one round.
Collected = tuple[CounterPair, int]

#: Width of the lattice: how far the bound is above the exact value, about.
_RTOL = 1e-3
_ROUNDS = 8
_BISECTIONS = 60
#: Distance at which mass given away is no longer seen in log delta, and log delta below which nobody asks for accuracy.
_LITTLE, _NEGLIGIBLE = 5.0, -600.0


def composed_delta(collections: Sequence[Collected], *, epsilon: float) -> float:
    """Delta that all collections together have at `epsilon`, rounded up.

    Parameters
    ----------
    collections : sequence of (CounterPair, int)
        What one user is exchanged in, and the number of pairs t >= 1, for every collection; at least one.
    epsilon : float
        In [0, 100].

    Returns
    -------
    float
        Upper bound of the delta of the product, about 1e-3 of it above the exact value (kind: upper).

    Raises
    ------
    ParameterError
        If a parameter is outside its range, or there is no collection.
    AccuracyError
        If the collections are too different for one lattice.
    """
    check_epsilon(epsilon)
    return min(math.exp(_log_delta(_checked(collections), epsilon)) * (1 + 1e-13), 1.0)


def composed_epsilon(collections: Sequence[Collected], *, delta: float) -> float:
    """Epsilon that all collections together have at `delta`, rounded up.

    Parameters
    ----------
    collections : sequence of (CounterPair, int)
        As for `composed_delta`.
    delta : float
        Target in [1e-110, 1).

    Returns
    -------
    float
        An epsilon in [0, 100] whose certified delta is at most `delta`, at most 1e-4 of it above the least one that
        is certified; +inf if there is none (kind: upper).

    Raises
    ------
    ParameterError, AccuracyError
        As for `composed_delta`.
    """
    check_delta(delta)
    parts, target = _checked(collections), math.log(delta)
    if _log_delta(parts, 0.0) <= target:
        return 0.0
    if any(infinite_loss(pair.zero_mass, pairs) > delta for pair, pairs in parts):
        return math.inf
    low, high = 0.0, 1e-3
    while _log_delta(parts, high) > target:
        if high == EPSILON_LIMIT:
            return math.inf
        low, high = high, min(2 * high, EPSILON_LIMIT)
    while high - low > 1e-4 * high:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if _log_delta(parts, middle) <= target else (middle, high)
    return min(rounded_up(high), EPSILON_LIMIT)


def _checked(collections: Sequence[Collected]) -> list[Collected]:
    """The collections in which something is sent."""
    if not collections:
        raise ParameterError("collections", tuple(collections), "at least one")
    for _, pairs in collections:
        check_pairs(pairs)
    return [(pair, pairs) for pair, pairs in collections if pair.copies > 0]


def _log_delta(parts: list[Collected], epsilon: float) -> float:
    """Certified upper bound of log delta."""
    if not parts:
        return -math.inf
    if any(infinite_loss(pair.zero_mass, pairs) > 1 - 1e-9 for pair, pairs in parts):
        return 0.0
    all_pairs = sum(pairs for _, pairs in parts)
    estimate = _estimate(parts, epsilon)
    value = 0.0
    for _ in range(_ROUNDS):
        log_tail = log_tail_for(estimate, all_pairs, _RTOL)
        tilt, variance = _saddle_point(parts, epsilon, log_tail)
        step = _cell_step(tilt, variance, all_pairs)
        tables = [(pair.loss_table(step, log_tail), pairs) for pair, pairs in parts]
        common = min(table.step for table, _ in tables)
        if any(table.step != common for table, _ in tables):
            tables = [(pair.loss_table(common, log_tail), pairs) for pair, pairs in parts]
        if any(table.step != common for table, _ in tables):
            raise AccuracyError("These collections differ too much for one lattice: bound them apart.")
        value = min(log_delta_upper_of(tables, epsilon=epsilon, tilt=tilt), value)
        lost = math.log(sum(pairs * table.truncated for table, pairs in tables))
        if lost < value - _LITTLE or value < _NEGLIGIBLE or log_tail >= LARGEST_LOG_TAIL:
            return value
        estimate = min(value, estimate) - 5
    return value


def _estimate(parts: list[Collected], epsilon: float) -> float:
    """Log delta of the Gaussian mechanism with the same ratios of copies to noise: where tails begin."""
    ratio = math.sqrt(sum(2 * pairs * pair.copies**2 / pair.variance for pair, pairs in parts))
    return gaussian_log_delta(ratio=min(max(ratio, 1e-130), 100.0), epsilon=epsilon)


def _cell_step(tilt: float, variance: float, all_pairs: int) -> float:
    """Lattice step at which the bound is about `_RTOL` above the exact value."""
    curvature = max(tilt * (1 + tilt), 1 / variance)
    return min(math.sqrt(0.8 * _RTOL / (all_pairs * curvature)), math.sqrt(variance / all_pairs) / 12)


def _saddle_point(parts: list[Collected], epsilon: float, log_tail: float) -> tuple[float, float]:
    """Tilt at which the mean loss of all pairs is epsilon, about, and the variance there; a poor one is only slower."""
    laws = [(*pair.coarse_law(log_tail), pairs) for pair, pairs in parts]

    def moments(tilt: float) -> tuple[float, float]:
        found = [(tilted_pair(ratio, log_mass, tilt), pairs) for ratio, log_mass, pairs in laws]
        mean = sum(pairs * one[1] for one, pairs in found)
        return mean - epsilon, max(sum(pairs * one[2] for one, pairs in found), 1e-280)

    low, high = 0.0, 1.0
    excess, variance = moments(low)
    if excess >= 0:
        return low, variance
    while moments(high)[0] < 0 and high < 1e6:
        low, high = high, 4 * high
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        excess, variance = moments(middle)
        if abs(excess) <= 0.02 * math.sqrt(variance):
            return middle, variance
        low, high = (middle, high) if excess < 0 else (low, middle)
    return middle, variance
