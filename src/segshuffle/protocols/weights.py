"""How many copies each level should send: the error as a function of the copies, and its minimum under the limits.

With a_k expected copies per held item (M = floor(a_k) or floor(a_k) + 1), N = sum_k n_k a_k and the estimate
(C_j - n m/d)/N, the expected squared error against the sample's frequencies is

    [ noise + own sum_k n_k f_k (1 - f_k) + spread (sum_k n_k a_k^2 - N^2/n) ] / N^2,   f_k = a_k - floor(a_k),

with noise = n m for the Poisson blanket, own = s, and spread = (s - sum_j w_j^2) n/(n - 1) for levels at random with
exact counts. A trusted curator who weighs exactly has own = 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from segshuffle.arrays import FloatArray

_SWEEPS, _FEW_LEVELS = 50, 8
#: Numbers in one block of simple plans.
_MOST_ENTRIES = 1e6


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
        return float(self.errors(copies, counts, self.noise))

    def errors(self, copies: FloatArray, counts: FloatArray, noise: FloatArray | float) -> FloatArray:
        """Return the errors of copies of shape (..., n_levels, n_plans), with noise in place of `self.noise`."""
        weight, fraction = counts @ copies, copies - np.floor(copies)
        imbalance = np.maximum(counts @ copies**2 - weight**2 / counts.sum(), 0.0)
        total = noise + self.own * (counts @ (fraction * (1 - fraction))) + self.spread * imbalance
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(weight > 0, total / weight**2, math.inf)


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
    stationary point, so each step is exact. Where the budget binds no single level can move, so then copies also move
    between two levels at the same sum. Started from the best of the plans in which every level sends its limit or
    a common number of copies, whichever is less: unequal weights cost, so the best plan is near one of these.
    """
    start, first = simple_copies(limits[None], counts, np.array([terms.noise]), terms, np.array([largest_weight]))
    copies, error = start[0], float(first[0])
    levels = np.flatnonzero(counts)
    near = 1 if levels.size > _FEW_LEVELS else levels.size
    alone = np.eye(counts.size)
    exchanges = [
        alone[one] - counts[one] / counts[other] * alone[other]
        for i, one in enumerate(levels)
        for other in levels[i + 1 : i + 1 + near]
    ]
    for _ in range(_SWEEPS):
        before = error
        for move in [*alone[levels], *exchanges]:
            if np.count_nonzero(move) == 1 or counts @ copies > largest_weight * (1 - 1e-9):
                tried, reached = _best_move(copies, move, limits, counts, terms, largest_weight)
                if reached < error:
                    copies, error = tried, reached
        if error > before * (1 - 1e-9):
            break
    return copies, error


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
    return plans, terms.errors(plans, counts, noise[:, None])


def _filled(limits: FloatArray, counts: FloatArray, room: FloatArray, order: slice) -> FloatArray:
    """Limits from one end of the levels until the budget is used up, 0 after."""
    wanted = (counts * limits)[:, order]
    given = np.clip(room - (np.cumsum(wanted, axis=1) - wanted), 0.0, wanted)[:, order]
    return np.minimum(np.where(counts > 0, given / counts, 0.0), limits)


def _best_move(
    copies: FloatArray, move: FloatArray, limits: FloatArray, counts: FloatArray, terms: ErrorTerms, room: float
) -> tuple[FloatArray, float]:
    """Return copies + x move of the least error within the limits and the budget, and that error.

    It is least at an end, where copies are whole, or at a stationary point between two of these places: there the
    numerator is A + B x + C x^2, and the root of the denominator D + E x.
    """
    moved = np.flatnonzero(move)
    low, high = np.sort(np.stack([-copies[moved], (limits - copies)[moved]]) / move[moved], axis=0)
    ends = np.array([low.max(), high.min()])
    if moved.size == 1:  # two levels keep the sum
        ends[1] = min(ends[1], (room - counts @ copies) / (counts @ move))
    wholes = [
        (np.arange(np.ceil(reached.min()), np.floor(reached.max()) + 1) - copies[k]) / move[k]
        for k in moved
        for reached in [copies[k] + move[k] * ends]
    ]
    points = np.unique(np.clip(np.concatenate([ends, *wholes]), *ends))
    p, q, users = copies[:, None], move[:, None], counts.sum()
    fraction = p - np.floor(p + q * (points[1:] + points[:-1]) / 2)  # of a copy, where x is 0
    d, e = counts @ p, counts @ q
    a = (
        terms.noise
        + counts @ (terms.spread * p**2 + terms.own * fraction * (1 - fraction))
        - terms.spread * d**2 / users
    )
    b = counts @ (q * (2 * terms.spread * p + terms.own * (1 - 2 * fraction))) - 2 * terms.spread * d * e / users
    c = counts @ (q**2 * (terms.spread - terms.own)) - terms.spread * e**2 / users
    with np.errstate(divide="ignore", invalid="ignore"):
        x = (2 * e * a - b * d) / (2 * c * d - e * b)
    tried = p + q * np.concatenate([points, x[(points[:-1] < x) & (x < points[1:])]])
    whole = np.rint(tried)
    tried = np.clip(np.where(np.isclose(tried, whole, rtol=1e-12, atol=0.0), whole, tried), 0.0, limits[:, None])
    errors = terms.errors(tried, counts, terms.noise)
    best = int(np.argmin(errors))
    return tried[:, best], float(errors[best])
