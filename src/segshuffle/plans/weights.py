"""How many copies each level should send: the error as a function of the copies, and its minimum within limits.

With a_k expected copies per held item (M = floor(a_k) or floor(a_k) + 1), N = sum_k n_k a_k and the estimate
(C_j - n m/d)/N, the expected squared error against the sample's frequencies is

    [ noise + own sum_k n_k f_k (1 - f_k) + spread (sum_k n_k a_k^2 - N^2/n) ] / N^2,   f_k = a_k - floor(a_k),

with noise = n m for the Poisson blanket, own = s, and spread = (s - sum_j w_j^2) n/(n - 1) for levels at random with
exact counts. A trusted curator, who weights counts exactly, has own = 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from segshuffle.arrays import FloatArray

#: With more levels only neighbours exchange copies, to save time.
_FEW_LEVELS = 8
#: Least relative gain for a change of the copies; distance from a whole number that counts as round-off.
_GAIN, _ROUND_OFF = 1e-7, 1e-12
#: A block of simple plans has at most about twice this many numbers.
_MOST_ENTRIES = 1e6


@dataclass(frozen=True)
class ErrorTerms:
    """Coefficients of the error.

    Parameters
    ----------
    noise : float or ndarray
        Sum over items of the variance of the noise counters.
    own : float
        Weight of the users' own sampling.
    spread : float
        Weight of how unequal the levels' copies are.
    """

    noise: Any
    own: float
    spread: float

    def at(self, variance: Any) -> ErrorTerms:
        """Return the coefficients for dummies whose variance is `variance` times as large."""
        return replace(self, noise=self.noise * variance)

    def error(self, copies: FloatArray, counts: FloatArray) -> Any:
        """Return the expected squared error of copies a_k >= 0, shape (..., n_levels); inf if all are 0."""
        squared = (copies @ counts) ** 2
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return np.where(squared > 0, self.excess(copies, counts, 0.0) / squared, math.inf)

    def excess(self, copies: FloatArray, counts: FloatArray, error: float) -> FloatArray:
        """Return N^2 times the error above `error`; it is quadratic on a line where no level passes a whole number."""
        fraction = copies - np.floor(copies)
        weight = copies @ counts
        imbalance = np.maximum(copies**2 @ counts - weight**2 / counts.sum(axis=0), 0.0)
        sampling = (fraction * (1 - fraction)) @ counts
        return np.asarray(self.noise + self.own * sampling + self.spread * imbalance - error * weight**2)


def best_copies(
    limits: FloatArray, counts: FloatArray, terms: ErrorTerms, largest_weight: float = math.inf
) -> tuple[FloatArray, float]:
    """Return the copies of least error with 0 <= a_k <= limits_k and sum_k n_k a_k <= largest_weight, and the error.

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
    Descent along lines. On a line one level sends more or fewer copies, or, with a budget, two levels exchange copies
    at the same sum. Between two points with whole copies, (error - least error so far) N^2 is quadratic. If the error
    falls below the least so far, it does so at the minimum of this function. The descent starts at the best of
    `_simple_plans`, such as one in which every level sends its limit or a common number of copies, whichever is less.
    Unequal weights cost accuracy, so the best plan is near such a plan.
    """
    one_row = replace(terms, noise=np.array([terms.noise]))
    starts, _ = simple_copies(limits[None], counts, one_row, np.array([largest_weight]))
    copies, error = starts[0], float(terms.error(starts[0], counts))
    lines = _lines(counts, math.isfinite(largest_weight))
    before = math.inf
    while error < before:
        before = error
        for line in lines:
            trials = _trials(copies, line, limits, largest_weight - copies @ counts, counts)
            if len(trials) > 1:
                trials = np.vstack([trials, _minima(trials, counts, terms, error)])
            errors = terms.error(trials, counts)
            best = errors.argmin()
            if errors[best] < error * (1 - _GAIN):
                error, copies = float(errors[best]), trials[best]
    return copies, error


def _lines(counts: FloatArray, exchanges: bool) -> list[dict[int, float]]:
    """Return directions of lines: one level alone, or two levels with the same sum of copies."""
    levels = np.flatnonzero(counts).tolist()
    near = 1 if len(levels) > _FEW_LEVELS else len(levels)
    pairs = [(one, other) for i, one in enumerate(levels) for other in levels[i + 1 : i + 1 + near] if exchanges]
    return [*({level: 1.0} for level in levels), *({i: 1 / counts[i], j: -1 / counts[j]} for i, j in pairs)]


def _trials(
    copies: FloatArray, line: dict[int, float], limits: FloatArray, room: float, counts: FloatArray
) -> FloatArray:
    """Return the copies along a line at both ends of the allowed range, and wherever a level sends a whole number."""
    low, high = -math.inf, math.inf
    for level, rate in line.items():
        down, up = -copies[level] / rate, (limits[level] - copies[level]) / rate
        low, high = max(low, min(down, up)), min(high, max(down, up))
        if len(line) == 1:
            high = min(high, room / counts[level])
    low, high = min(low, 0.0), max(high, 0.0)
    places = {low, high}
    for level, rate in line.items():
        first, last = sorted((copies[level] + rate * low, copies[level] + rate * high))
        places.update((whole - copies[level]) / rate for whole in range(math.ceil(first), math.floor(last) + 1))
    along = np.array(sorted(places))
    trials = np.repeat(copies[None], along.size, axis=0)
    for level, rate in line.items():
        moved = copies[level] + rate * along
        whole = np.round(moved)
        trials[:, level] = np.clip(np.where(np.abs(moved - whole) < _ROUND_OFF, whole, moved), 0.0, limits[level])
    return trials


def _minima(trials: FloatArray, counts: FloatArray, terms: ErrorTerms, error: float) -> FloatArray:
    """Return the minima of `ErrorTerms.excess` that are between neighbouring points of a line."""
    step = np.diff(trials, axis=0)
    left, centre, right = terms.excess(trials[:-1] + np.array([0.25, 0.5, 0.75])[:, None, None] * step, counts, error)
    bend = left - 2 * centre + right
    inside = np.abs(left - right) < 4 * bend
    place = 0.5 + 0.125 * (left - right)[inside] / bend[inside]
    return np.asarray(trials[:-1][inside] + place[:, None] * step[inside])


def simple_copies(
    limits: FloatArray, counts: FloatArray, terms: ErrorTerms, largest_weight: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the best simple plan of each row, and its error, which is near that of `best_copies`; for searches.

    Parameters
    ----------
    limits : ndarray, shape (n_rows, n_levels)
        Largest copies of every level.
    counts : ndarray, shape (n_levels,)
        Users of every level.
    terms : ErrorTerms
        Coefficients of the error; `noise` has a value per row.
    largest_weight : ndarray, shape (n_rows,)
        Budget of copies of all users together.
    """
    rows = max(int(_MOST_ENTRIES / limits.shape[1] / (limits.max(initial=1.0) + limits.shape[1])), 1)
    copies, errors = np.empty_like(limits), np.empty(len(limits))
    for i in range(0, len(limits), rows):
        part = slice(i, i + rows)
        plans = _simple_plans(limits[part], counts, largest_weight[part, None] * (1 - 1e-12))
        plan_errors = replace(terms, noise=terms.noise[part, None]).error(plans, counts)
        plan_errors[:, -2:] *= 1 + _GAIN  # a plan with silent levels must be better by more than this
        best = (np.arange(len(plan_errors)), plan_errors.argmin(axis=1))
        copies[part], errors[part] = plans[best], plan_errors[best]
    return copies, errors


def _simple_plans(limits: FloatArray, counts: FloatArray, room: FloatArray) -> FloatArray:
    """Return the plans of every row, shape (n_rows, n_plans, n_levels).

    For every cap, one plan sends the lesser of cap and limit at each level; another rounds its numbers above 1 down.
    Both are scaled down to the budget. The last two plans fill the levels to their limits from either end, within it.
    """
    whole_caps = np.arange(1.0, math.floor(limits.max()) + 1)
    caps = np.concatenate([np.broadcast_to(whole_caps, (len(limits), whole_caps.size)), limits], axis=1)
    capped = np.minimum(limits[:, None], caps[:, :, None])
    rounded = np.where(capped >= 1, np.floor(capped), capped)
    plans = np.concatenate([capped, rounded], axis=1)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        weights = plans @ counts
        plans *= np.where(weights > room, room / weights, 1.0)[:, :, None]
        from_first = _filled(limits, counts, room, slice(None))
        from_last = _filled(limits, counts, room, slice(None, None, -1))
    return np.concatenate([plans, from_first[:, None], from_last[:, None]], axis=1)


def _filled(limits: FloatArray, counts: FloatArray, room: FloatArray, order: slice) -> FloatArray:
    """Fill levels up to their limits from one end until the budget is used up; the others send nothing."""
    wanted = (counts * limits)[:, order]
    given = np.clip(room - (np.cumsum(wanted, axis=1) - wanted), 0.0, wanted)[:, order]
    return np.minimum(np.where(counts > 0, given / counts, 0.0), limits)
