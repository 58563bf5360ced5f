"""Several collections of the same users with different plans: one epsilon and delta for all of them, or their losses.

Random numbers are fresh in every collection, so the likelihood ratios multiply. The pairs of all collections, each with
its own blanket and copies, form one product (docs/proof.md). T collections with the same plan do not need this module:
they count as t T pairs (`Problem.pairs`).

dp_accounting can compose their losses with other mechanisms. The outcomes of a counter are split onto dp_accounting's
lattice as for our own bounds (docs/proof.md, "Numbers"). The distribution dominates that of the collections. So every
delta computed from it is an upper bound, up to the round-off of dp_accounting, about 1e-15.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from segshuffle.accounting.collections.product import (
    EPSILON_LIMIT,
    LARGEST_LOG_TAIL,
    check_product,
    log_tail_for,
    rounded_delta,
    tilted_pair,
)
from segshuffle.accounting.numerics.gaussian import gaussian_log_delta
from segshuffle.accounting.numerics.loss_distribution import (
    AccuracyError,
    LossTable,
    infinite_loss,
    log_delta_upper,
    split_masses,
)
from segshuffle.accounting.numerics.ranges import check_within
from segshuffle.arrays import FloatArray, IntArray
from segshuffle.blankets.atoms import Atoms
from segshuffle.blankets.base import CounterPair
from segshuffle.digits import rounded_up
from segshuffle.errors import ParameterError
from segshuffle.extras import require

if TYPE_CHECKING:
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

#: The pair of counters of one collection, and how many such pairs it has: `Problem.pairs`.
Collected = tuple[CounterPair, int]

#: How far the bound is above the exact value, about: the width of the lattice follows from it.
_RTOL = 1e-3
_ROUNDS = 8
#: How much coarser the next lattice is where a transform would be too long.
_COARSER = 4.0
_BISECTIONS = 60
#: Lost mass is negligible if its log is this far below log delta. Log delta below which no accuracy is needed.
_LITTLE, _NEGLIGIBLE = 5.0, -600.0
#: -log of the mass of a tail that counts as a loss of +inf for dp_accounting, which itself cuts tails of about 1e-15.
_LOG_TAIL = -math.log(1e-16)


def composed_delta(collections: Sequence[Collected], *, epsilon: float) -> float:
    """Return the delta that all collections together have at `epsilon`, rounded up.

    Parameters
    ----------
    collections : sequence of (CounterPair, int)
        For every collection, the two counters that change if one item is exchanged, and the number t >= 1 of such
        pairs.
    epsilon : float
        In [0, 100].

    Returns
    -------
    float
        Upper bound of the delta of the product (kind: upper). It is about a relative 1e-3 above the exact value, or
        more if collections differ so much that a common lattice is coarse for one of them.

    Raises
    ------
    ParameterError
        If a parameter is outside its range.
    AccuracyError
        If a pair has no table: its laws with and without copies hardly overlap, or have too many values.
    """
    check_product(epsilon=epsilon)
    return rounded_delta(_log_delta(_checked(collections), epsilon))


def composed_epsilon(collections: Sequence[Collected], *, delta: float) -> float:
    """Return the epsilon that all collections together have at `delta`, rounded up.

    Parameters
    ----------
    collections : sequence of (CounterPair, int)
        As for `composed_delta`.
    delta : float
        Target in [1e-110, 1).

    Returns
    -------
    float
        An epsilon in [0, 100] whose certified delta is at most `delta`, at most a relative 1e-4 above the least such
        epsilon; +inf if there is none (kind: upper).

    Raises
    ------
    ParameterError, AccuracyError
        As for `composed_delta`.
    """
    check_product(delta=delta)
    parts, target = _checked(collections), math.log(delta)
    if _log_delta(parts, 0.0) <= target:
        return 0.0
    if _infinite(parts) > delta:
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
    """Return the collections in which something is sent."""
    for _, pairs in collections:
        check_product(pairs=pairs)
    return [(pair, pairs) for pair, pairs in collections if pair.copies > 0]


def _infinite(parts: list[Collected]) -> float:
    """Return the probability of a loss of +inf."""
    return infinite_loss(*((pair.zero_mass, pairs) for pair, pairs in parts))


def _log_delta(parts: list[Collected], epsilon: float) -> float:
    """Return a certified upper bound of log delta."""
    if not parts:
        return -math.inf
    if _infinite(parts) > 1 - 1e-9:
        return 0.0
    all_pairs = sum(pairs for _, pairs in parts)
    # a first guess: the Gaussian mechanism with the same ratios of copies to noise
    ratio = math.sqrt(sum(2 * pairs * pair.copies**2 / pair.variance for pair, pairs in parts))
    estimate = gaussian_log_delta(ratio=min(max(ratio, 1e-130), 100.0), epsilon=epsilon)
    value = 0.0
    for _ in range(_ROUNDS):
        log_tail = log_tail_for(estimate, all_pairs, _RTOL)
        tilt, step = _tilt_and_step(parts, epsilon, log_tail)
        tables = _on_one_lattice(parts, step, log_tail)
        found = math.inf
        while found == math.inf:
            try:
                found = log_delta_upper(tables, epsilon, tilt)
            except AccuracyError:  # too fine for a transform
                tables = [(on_step(table, _COARSER * table.step), pairs) for table, pairs in tables]
        value = min(found, value)
        lost = math.log(sum(pairs * table.truncated for table, pairs in tables))
        if lost < value - _LITTLE or value < _NEGLIGIBLE or log_tail >= LARGEST_LOG_TAIL:
            return value
        estimate = min(value, estimate) - 5
    return value


def _on_one_lattice(parts: list[Collected], step: float, log_tail: float) -> list[tuple[LossTable, int]]:
    """Return tables of all pairs with one step: the least step of any, or the largest if a pair cannot have that."""
    tables = [(pair.loss_table(step, log_tail), pairs) for pair, pairs in parts]
    for choose in (min, max):
        common = choose(table.step for table, _ in tables)
        if any(table.step != common for table, _ in tables):
            tables = [(on_step(pair.loss_table(common, log_tail), common), pairs) for pair, pairs in parts]
    return tables


def _tilt_and_step(parts: list[Collected], epsilon: float, log_tail: float) -> tuple[float, float]:
    """Find the tilt at which the mean loss of all pairs is about epsilon, and the step for a bound within `_RTOL`.

    Any tilt gives a valid bound. If delta is negligible, any tilt and step that show this will do.
    """
    laws = [(*pair.coarse_law(log_tail), pairs) for pair, pairs in parts]
    all_pairs = sum(pairs for _, pairs in parts)

    def moments(tilt: float) -> tuple[float, float, float]:
        found = [np.multiply(pairs, tilted_pair(ratio, log_mass, tilt)) for ratio, log_mass, pairs in laws]
        log_bound, mean, variance = np.sum(found, axis=0).tolist()
        return mean - epsilon, max(variance, 1e-280), log_bound - tilt * epsilon

    low, high, tilt = 0.0, 1.0, 0.0
    excess, variance, _ = moments(tilt)
    coarsest = math.sqrt(variance / all_pairs) / 12
    if excess < 0:
        while (at_high := moments(high))[0] < 0 and high < 1e6:
            if at_high[2] < _NEGLIGIBLE:
                return high, coarsest
            low, high = high, 4 * high
        for _ in range(_BISECTIONS):
            tilt = 0.5 * (low + high)
            excess, variance, _ = moments(tilt)
            if abs(excess) <= 0.02 * math.sqrt(variance):
                break
            low, high = (tilt, high) if excess < 0 else (low, tilt)
    curvature = max(tilt * (1 + tilt), 1 / variance)
    return tilt, min(math.sqrt(0.8 * _RTOL / (all_pairs * curvature)), math.sqrt(variance / all_pairs) / 12)


def on_step(table: LossTable, step: float) -> LossTable:
    """Move a table from a finer lattice to that of `step`: its divergence can only grow. Return others unchanged."""
    if table.step >= step:
        return table
    index, mass = ends_of(table)
    errors = (table.zero_mass, table.truncated, table.mass_error, table.ratio_error, table.missing)
    return Atoms(np.asarray(index * table.step, dtype=float), mass, *errors).table(step)


def ends_of(table: LossTable) -> tuple[IntArray, FloatArray]:
    """Return the lattice points between which `split_masses` splits the cells, as indices, and B's mass there."""
    mass = split_masses(table)
    kept = mass > 0
    return (table.first + np.arange(mass.size, dtype=np.int64))[kept], mass[kept]


# -- for other mechanisms --------------------------------------------------------------------------------------------


def privacy_loss_distribution(collections: Sequence[Collected], *, interval: float = 1e-4) -> PrivacyLossDistribution:
    """Return the loss distribution of collections of the same users, rounded up, as an object of dp_accounting.

    Parameters
    ----------
    collections : sequence of (CounterPair, int)
        As for `composed_delta`. There may be no collection.
    interval : float, default 1e-4
        dp_accounting's value_discretization_interval, in [1e-7, 1]. Distributions with which this one is composed
        must have the same interval.

    Returns
    -------
    PrivacyLossDistribution
        Its deltas are upper bounds (kind: upper), down to about 1e-13.

    Raises
    ------
    ParameterError
        If a parameter is outside its range, or the interval is too small for the losses that there are.
    MissingExtraError
        If dp_accounting is not installed.
    """
    check_within("interval", interval, 1e-7, 1)
    require("pld", "A loss distribution for dp_accounting")
    from dp_accounting.pld import privacy_loss_distribution as pld

    result = pld.identity(value_discretization_interval=interval)
    for pair, pairs in _checked(collections):
        for losses, infinite in counter_losses(pair, interval):
            one = pld.PrivacyLossDistribution.create_from_rounded_probability(losses, infinite, interval)
            result = result.compose(one.self_compose(pairs))
    return result


def counter_losses(pair: CounterPair, interval: float) -> list[tuple[Mapping[int, float], float]]:
    """Return the probabilities of the losses of both counters of a pair, on the lattice, and that of a loss of +inf.

    Returns
    -------
    list of (mapping, float)
        Lattice index -> probability. The infinite loss makes up for probabilities that are below the true ones.
        First the counter of the item that the user holds, then that of the item exchanged for it.
    """
    table = on_step(pair.loss_table(interval, _LOG_TAIL), interval)
    if table.step != interval:
        raise ParameterError("interval", interval, f"at least {table.step:.3g}, for the losses that this plan has")
    index, mass = ends_of(table)
    # a wrong ratio moves the loss: what that can add to any delta goes to +inf
    given_away = table.truncated + 4 * table.ratio_error
    grown = 1 + table.mass_error
    held = mass * np.exp(index * table.step) * grown
    return [
        (dict(zip(index.tolist(), held.tolist(), strict=True)), given_away),
        (dict(zip((-index).tolist(), (mass * grown).tolist(), strict=True)), given_away + table.zero_mass * grown),
    ]
