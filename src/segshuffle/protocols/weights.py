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

_SWEEPS, _FEW_LEVELS = 50, 8
#: Numbers in one block of simple plans.
_MOST_ENTRIES = 1e6


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
        """Return the expected squared error of copies a_k >= 0, shape (n_levels,); inf if all are 0."""
        fraction = copies - np.floor(copies)
        sums = _Sums(float(counts @ copies), float(counts @ copies**2), float(counts @ (fraction * (1 - fraction))))
        return self.of(sums, float(counts.sum()))

    def of(self, sums: _Sums, users: float) -> float:
        """Return the same from the sums over all users."""
        if sums.weight <= 0:
            return math.inf
        imbalance = max(sums.squares - sums.weight**2 / users, 0.0)
        return (self.noise + self.own * sums.sampling + self.spread * imbalance) / sums.weight**2


def best_copies(
    limits: FloatArray, counts: FloatArray, terms: ErrorTerms, *, largest_weight: float = math.inf
) -> tuple[FloatArray, float]:
    """Return copies of least error with 0 <= a_k <= limits_k and sum_k n_k a_k <= largest_weight, and that error.

    Parameters
    ----------
    limits, counts : ndarray, shape (n_levels,)
        Largest copies and users of every level.
    terms : ErrorTerms
        Coefficients of the error.
    largest_weight : float
        Budget of copies of all users together.

    Notes
    -----
    Coordinate descent: along one level the error is, between two integers, a ratio of quadratics with at most one
    stationary point, so each step is exact. Started from the best of the plans in which every level sends its limit or
    a common number of copies, whichever is less: unequal weights cost, so the best plan is near one of these.
    """
    start, _ = simple_copies(limits[None], counts, np.array([terms.noise]), terms, np.array([largest_weight]))
    return _descend(start[0], limits, counts, terms, largest_weight)


def simple_copies(
    limits: FloatArray, counts: FloatArray, noise: FloatArray, terms: ErrorTerms, largest_weight: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the best simple plans, one per row, and their errors: about those of `best_copies`, for searches.

    Parameters
    ----------
    limits : ndarray, shape (n_rows, n_levels)
        Largest copies of every level.
    counts : ndarray, shape (n_levels,)
        Users of every level.
    noise, largest_weight : ndarray, shape (n_rows,)
        Noise in the place of that of `terms`, and budget of copies of all users together.
    terms : ErrorTerms
        Coefficients of the error.
    """
    rows = max(int(_MOST_ENTRIES / limits.shape[1] / (limits.max(initial=1.0) + limits.shape[1])), 1)
    copies, errors = np.empty_like(limits), np.empty(len(limits))
    for i in range(0, len(limits), rows):
        part = slice(i, i + rows)
        plans, found = _simple_plans(limits[part], counts, noise[part], terms, largest_weight[part])
        best = np.argmin(found, axis=1)[:, None]
        copies[part] = np.take_along_axis(plans, best[:, None], axis=2)[:, :, 0]
        errors[part] = np.take_along_axis(found, best, axis=1)[:, 0]
    return copies, errors


def _simple_plans(
    limits: FloatArray, counts: FloatArray, noise: FloatArray, terms: ErrorTerms, largest_weight: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Plans of every row, shape (n_rows, n_levels, n_plans), and their errors, shape (n_rows, n_plans).

    All common caps, with the levels below the cap at their limits or at whole numbers, scaled to the budget; and the
    limits from either end of the levels until the budget is used up.
    """
    wholes = np.arange(1.0, math.floor(limits.max()) + 1)
    caps = np.concatenate([np.broadcast_to(wholes, (len(limits), wholes.size)), limits], axis=1)
    capped = np.minimum(limits[:, :, None], caps[:, None])
    plans = np.concatenate([capped, np.where(capped >= 1, np.floor(capped), capped)], axis=2)
    room = largest_weight[:, None] * (1 - 1e-12)
    with np.errstate(divide="ignore", invalid="ignore"):
        weights = counts @ plans
        plans *= np.where(weights > room, room / weights, 1.0)[:, None]
        filled = [_filled(limits, counts, room, order) for order in (slice(None), slice(None, None, -1))]
        plans = np.concatenate([plans, np.stack(filled, axis=2)], axis=2)
        weights = counts @ plans
        fraction = plans - np.floor(plans)
        imbalance = np.maximum(counts @ plans**2 - weights**2 / counts.sum(), 0.0)
        sampling = counts @ (fraction * (1 - fraction))
        errors = (noise[:, None] + terms.own * sampling + terms.spread * imbalance) / weights**2
    return plans, np.where(weights > 0, errors, math.inf)


def _filled(limits: FloatArray, counts: FloatArray, room: FloatArray, order: slice) -> FloatArray:
    """Limits from one end of the levels until the budget is used up, 0 after."""
    wanted = (counts * limits)[:, order]
    given = np.clip(room - (np.cumsum(wanted, axis=1) - wanted), 0.0, wanted)[:, order]
    return np.minimum(np.where(counts > 0, given / counts, 0.0), limits)


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
