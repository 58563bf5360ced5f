"""How many copies each level should send: the error as a function of the copies, and its minimum under the limits.

With a_k expected copies per held item (M = floor(a_k) or floor(a_k) + 1), N = sum_k n_k a_k and the estimate
(C_j - n m/d)/N, the expected squared error against the sample's frequencies is

    [ noise + own sum_k n_k f_k (1 - f_k) + spread (sum_k n_k a_k^2 - N^2/n) ] / N^2,   f_k = a_k - floor(a_k),

with noise = n m for the Poisson blanket, own = s, and spread = (s - sum_j w_j^2) n/(n - 1) for levels at random with
exact counts. A trusted curator who weighs exactly has own = 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from segshuffle.arrays import FloatArray

_SWEEPS = 50
STARTS = 4
_FEW_LEVELS = 8


class _Sums(NamedTuple):
    """Sums of n_k a_k, n_k a_k^2 and n_k f_k (1 - f_k)."""

    weight: float
    squares: float
    sampling: float

    def add(self, copies: float, count: float) -> _Sums:
        """With `count` more users (fewer, if negative) who send `copies`."""
        fraction = copies - math.floor(copies)
        return _Sums(
            self.weight + count * copies,
            self.squares + count * copies * copies,
            self.sampling + count * fraction * (1 - fraction),
        )


@dataclass(frozen=True)
class ErrorTerms:
    """Coefficients of the error.

    Parameters
    ----------
    noise : float
        Sum over items of the variance of the noise counters.
    own : float
        Weight of the users' own sampling.
    spread : float
        Weight of the imbalance between levels and items.
    """

    noise: float
    own: float
    spread: float

    def error(self, copies: FloatArray, counts: FloatArray) -> float:
        """Expected squared error of copies a_k >= 0, shape (n_levels,); inf if all are 0."""
        fraction = copies - np.floor(copies)
        sums = _Sums(float(counts @ copies), float(counts @ copies**2), float(counts @ (fraction * (1 - fraction))))
        return self.of(sums, float(counts.sum()))

    def of(self, sums: _Sums, users: float) -> float:
        """The same from the sums over all users."""
        if sums.weight <= 0:
            return math.inf
        imbalance = max(sums.squares - sums.weight**2 / users, 0.0)
        return (self.noise + self.own * sums.sampling + self.spread * imbalance) / sums.weight**2


def best_copies(
    limits: FloatArray,
    counts: FloatArray,
    terms: ErrorTerms,
    *,
    largest_weight: float = math.inf,
    starts: int = STARTS,
) -> tuple[FloatArray, float]:
    """Copies of least error with 0 <= a_k <= limits_k and sum_k n_k a_k <= largest_weight, and that error.

    Parameters
    ----------
    limits, counts : ndarray, shape (n_levels,)
        Largest copies and users of every level.
    terms : ErrorTerms
        Coefficients of the error.
    largest_weight : float
        Budget of copies of all users together.
    starts : int
        Descents from the best plans with a common cap; 0 takes the best of those plans as it is.

    Notes
    -----
    Coordinate descent: along one level the error is, between two integers, a ratio of quadratics with at most one
    stationary point, so each step is exact. Started from the best of the plans in which every level sends its limit or
    a common number of copies, whichever is less: unequal weights cost, so the best plan is near one of these.
    """
    best, least = np.zeros_like(limits), math.inf
    for start in _starts(limits, counts, terms, largest_weight, max(starts, 1)):
        if starts == 0:
            copies, error = start, terms.error(start, counts)
        else:
            copies, error = _descend(start, limits, counts, terms, largest_weight)
        if error < least:
            best, least = copies, error
    return best, least


def _starts(
    limits: FloatArray, counts: FloatArray, terms: ErrorTerms, largest_weight: float, number: int
) -> list[FloatArray]:
    """The few best of all common caps, with the levels below the cap at their limits or at whole numbers."""
    caps = np.unique(np.concatenate([np.arange(1.0, math.floor(limits.max()) + 1), limits]))
    capped = np.minimum(limits[:, None], caps)
    plans = np.concatenate([capped, np.where(capped >= 1, np.floor(capped), capped)], axis=1)
    weights = counts @ plans
    with np.errstate(divide="ignore", invalid="ignore"):
        plans = plans * np.where(weights > largest_weight, largest_weight / weights * (1 - 1e-12), 1.0)
        weights = counts @ plans
        fraction = plans - np.floor(plans)
        imbalance = np.maximum(counts @ plans**2 - weights**2 / counts.sum(), 0.0)
        errors = (
            terms.noise + terms.own * (counts @ (fraction * (1 - fraction))) + terms.spread * imbalance
        ) / weights**2
    errors = np.where(weights > 0, errors, math.inf)
    starts = [plans[:, i].copy() for i in np.argsort(errors, kind="stable")[:number]]
    if float(counts @ limits) > largest_weight:
        starts += [_filled(limits, counts, largest_weight, order) for order in (slice(None), slice(None, None, -1))]
    return starts


def _filled(limits: FloatArray, counts: FloatArray, largest_weight: float, order: slice) -> FloatArray:
    """Limits from one end of the levels until the budget is used up, 0 after."""
    wanted = (counts * limits)[order]
    room = np.clip(largest_weight * (1 - 1e-12) - (np.cumsum(wanted) - wanted), 0.0, wanted)
    filled = np.divide(room, counts[order], out=np.zeros_like(room), where=counts[order] > 0)[order]
    return np.minimum(filled, limits)


def _descend(
    start: FloatArray, limits: FloatArray, counts: FloatArray, terms: ErrorTerms, largest_weight: float
) -> tuple[FloatArray, float]:
    """Sweep over the levels until nothing improves; all sums are kept up to date, so a step costs O(1)."""
    copies, users = [float(a) for a in start], float(counts.sum())
    sums = _Sums(0.0, 0.0, 0.0)
    for a, n_k in zip(copies, counts, strict=True):
        sums = sums.add(a, float(n_k))
    error = terms.of(sums, users)
    for _ in range(_SWEEPS):
        before = error
        for level, n_k in enumerate(map(float, counts)):
            if n_k == 0:
                continue
            rest = sums.add(copies[level], -n_k)
            limit = min(float(limits[level]), max((largest_weight - rest.weight) / n_k, 0.0))
            for value in _candidates(rest, n_k, limit, users, terms):
                trial = rest.add(value, n_k)
                reached = terms.of(trial, users)
                if reached < error:
                    error, sums, copies[level] = reached, trial, value
        if sums.weight > largest_weight * (1 - 1e-9):
            error, sums = _exchange(copies, limits, counts, terms, sums, error)
        if error > before * (1 - 1e-9):
            break
    return np.array(copies), error


def _exchange(
    copies: list[float], limits: FloatArray, counts: FloatArray, terms: ErrorTerms, sums: _Sums, error: float
) -> tuple[float, _Sums]:
    """Move copies between two levels at the same sum: where the budget binds, no single level can move.

    At a fixed sum the numerator is quadratic between two integers of either level; `copies` is changed in place.
    """
    users, levels = float(counts.sum()), [k for k in range(len(copies)) if counts[k] > 0]
    near = 1 if len(levels) > _FEW_LEVELS else len(levels)
    for i, one in enumerate(levels):
        for other in levels[i + 1 : i + 1 + near]:
            n, o = float(counts[one]), float(counts[other])
            shared = n * copies[one] + o * copies[other]
            rest = sums.add(copies[one], -n).add(copies[other], -o)
            top = float(limits[other])
            low = max(0.0, (shared - o * top) / n)
            high = min(float(limits[one]), shared / n)
            low = min(low, high)
            ends = {low, high, *map(float, range(math.ceil(low), math.floor(high) + 1))}
            for whole in range(math.ceil((shared - n * high) / o), math.floor((shared - n * low) / o) + 1):
                ends.add(min(max((shared - o * whole) / n, low), high))
            points = sorted(ends)

            def partner(x: float, n: float = n, o: float = o, shared: float = shared, top: float = top) -> float:
                return min(max((shared - n * x) / o, 0.0), top)

            def value(
                x: float,
                n: float = n,
                o: float = o,
                rest: _Sums = rest,
                partner: Callable[[float], float] = partner,
            ) -> float:
                return terms.of(rest.add(x, n).add(partner(x), o), users)

            # a quadratic's own minimum within every piece, from three of its values
            for x in [*points, *_vertices(points, value)]:
                if (reached := value(x)) < error:
                    error, copies[one], copies[other] = reached, x, partner(x)
                    sums = rest.add(x, n).add(partner(x), o)
    return error, sums


def _vertices(points: list[float], function: Callable[[float], float]) -> list[float]:
    """Minima of a function that is quadratic between neighbouring points, where they are inside."""
    found = []
    for a, b in pairwise(points):
        inner = [a + (b - a) * share for share in (0.25, 0.5, 0.75)]
        left, centre, right = map(function, inner)
        bend = left - 2 * centre + right
        if bend > 0:
            x = inner[1] + 0.125 * (b - a) * (left - right) / bend
            if a < x < b:
                found.append(x)
    return found


def _candidates(rest: _Sums, count: float, limit: float, users: float, terms: ErrorTerms) -> list[float]:
    """Where the error along one level can be least: the limit, the integers below it, the stationary points between.

    On [j, j + 1] the numerator is A + B x + C x^2 and the root of the denominator D + E x.
    """
    weight, squares, sampling = rest
    constant = terms.noise + terms.own * sampling + terms.spread * (squares - weight * weight / users)
    linear, square = -2 * terms.spread * weight * count / users, terms.spread * (count - count * count / users)
    found = [limit, *map(float, range(math.floor(limit) + 1))]
    for j in range(math.floor(limit) + 1):
        # f (1 - f) = -x^2 + (2 j + 1) x - j (j + 1) for x in [j, j + 1]
        a = constant - terms.own * count * j * (j + 1)
        b = linear + terms.own * count * (2 * j + 1)
        c = square - terms.own * count
        slope = 2 * c * weight - count * b
        if slope != 0:
            x = (2 * count * a - b * weight) / slope
            if j < x < min(j + 1, limit):
                found.append(x)
    return found
