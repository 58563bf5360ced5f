"""How many copies each level should send: the error as a function of the copies, and its minimum under the limits.

With a_k expected copies per held item (M = floor(a_k) or floor(a_k) + 1), N = sum_k n_k a_k and the estimate
(C_j - n m/d)/N, the expected squared error against the sample's frequencies is

    [ noise + own sum_k n_k f_k (1 - f_k) + spread (sum_k n_k a_k^2 - N^2/n) ] / N^2,   f_k = a_k - floor(a_k),

with noise = n m for the Poisson blanket, own = s, and spread = (s - sum_j w_j^2) n/(n - 1) for levels at random with
exact counts. A trusted curator who weighs exactly has own = 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from segshuffle.arrays import FloatArray

_SWEEPS, _FEW_LEVELS = 50, 8
#: Relative gain for which copies are changed. Distance from a whole number that is
#: round-off.
_GAIN, _ROUND_OFF = 1e-7, 1e-12
#: Numbers in one block of simple plans.
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
        Weight of the imbalance between levels and items.
    """

    noise: Any
    own: float
    spread: float

    def at(self, variance: Any) -> ErrorTerms:
        """Return the same for dummies whose variance is so many times as large."""
        return replace(self, noise=self.noise * variance)

    def error(self, copies: FloatArray, counts: FloatArray) -> Any:
        """Return the expected squared error of copies a_k >= 0, shape (..., n_levels); inf where all are 0."""
        squared = (copies @ counts) ** 2
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return np.where(squared > 0, self.excess(copies, counts, 0.0) / squared, math.inf)

    def excess(self, copies: FloatArray, counts: FloatArray, error: float) -> FloatArray:
        """Return N^2 times the error above `error`: quadratic on a line on which no level passes a whole number."""
        fraction = copies - np.floor(copies)
        weight = copies @ counts
        imbalance = np.maximum(copies**2 @ counts - weight**2 / counts.sum(), 0.0)
        sampling = (fraction * (1 - fraction)) @ counts
        return np.asarray(self.noise + self.own * sampling + self.spread * imbalance - error * weight**2)


def best_copies(
    limits: FloatArray, counts: FloatArray, terms: ErrorTerms, largest_weight: float = math.inf
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
    Descent along lines, on which one level alone sends more or fewer copies, or two levels exchange copies at the same
    sum. Between two points where a copy is whole, (error - least error so far) N^2 is quadratic: its minimum is where
    the error falls below the least so far, if it does anywhere. Started from the best of the plans in which every level
    sends its limit or a common number of copies, whichever is less: unequal weights cost, so the best plan is near one
    of these.
    """
    one_row = replace(terms, noise=np.array([terms.noise]))
    starts, _ = simple_copies(limits[None], counts, one_row, np.array([largest_weight]))
    copies, error = starts[0], float(terms.error(starts[0], counts))
    lines = _lines(counts)
    for _ in range(_SWEEPS):
        before = error
        for line in lines:
            trials = _trials(copies, line, limits, counts, largest_weight)
            if len(trials) > 1:
                trials = np.vstack([trials, _minima(trials, counts, terms, error)])
            errors = terms.error(trials, counts)
            if errors.min() < error * (1 - _GAIN):
                error, copies = float(errors.min()), trials[errors.argmin()]
        if error == before:
            break
    return copies, error


def _lines(counts: FloatArray) -> list[FloatArray]:
    """Directions in which copies are changed: of each level alone, and of two levels at the same sum."""
    alone = [row for row, count in zip(np.eye(counts.size), counts, strict=True) if count]
    near = 1 if len(alone) > _FEW_LEVELS else len(alone)
    return [
        *alone,
        *(
            one / (one @ counts) - other / (other @ counts)
            for i, one in enumerate(alone)
            for other in alone[i + 1 : i + 1 + near]
        ),
    ]


def _trials(
    copies: FloatArray, line: FloatArray, limits: FloatArray, counts: FloatArray, largest_weight: float
) -> FloatArray:
    """Return copies along a line: at the ends of what is allowed, and wherever a level sends a whole number."""
    moved = np.flatnonzero(line)
    ends = np.sort([-copies[moved] / line[moved], (limits - copies)[moved] / line[moved]], axis=0)
    low, high = ends[0].max(), ends[1].min()
    if (growth := line @ counts) > 1e-9:
        high = min(high, (largest_weight - copies @ counts) / growth)
    low, high = min(low, 0.0), max(high, 0.0)
    places = [np.array([low, high])]
    for level in moved:
        first, last = np.sort(copies[level] + line[level] * np.array([low, high]))
        places.append((np.arange(math.ceil(first), math.floor(last) + 1) - copies[level]) / line[level])
    trials = copies + np.unique(np.concatenate(places))[:, None] * line
    whole = np.round(trials)
    return np.clip(np.where(np.abs(trials - whole) < _ROUND_OFF, whole, trials), 0.0, limits)


def _minima(trials: FloatArray, counts: FloatArray, terms: ErrorTerms, error: float) -> FloatArray:
    """Return the minima of `ErrorTerms.excess` between neighbouring points of a line, where they are inside."""
    step = np.diff(trials, axis=0)
    left, centre, right = (terms.excess(trials[:-1] + share * step, counts, error) for share in (0.25, 0.5, 0.75))
    bend = left - 2 * centre + right
    inside = np.abs(left - right) < 4 * bend
    place = 0.5 + 0.125 * (left - right)[inside] / bend[inside]
    return trials[:-1][inside] + place[:, None] * step[inside]


def simple_copies(
    limits: FloatArray, counts: FloatArray, terms: ErrorTerms, largest_weight: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the best simple plans, one per row, and their errors: about those of `best_copies`, for searches.

    Parameters
    ----------
    limits : ndarray, shape (n_rows, n_levels)
        Largest copies of every level.
    counts : ndarray, shape (n_levels,)
        Users of every level.
    terms : ErrorTerms
        Coefficients of the error, with a noise per row.
    largest_weight : ndarray, shape (n_rows,)
        Budget of copies of all users together.
    """
    rows = max(int(_MOST_ENTRIES / limits.shape[1] / (limits.max(initial=1.0) + limits.shape[1])), 1)
    copies, errors = np.empty_like(limits), np.empty(len(limits))
    for i in range(0, len(limits), rows):
        part = slice(i, i + rows)
        plans = _simple_plans(limits[part], counts, largest_weight[part, None] * (1 - 1e-12))
        found = replace(terms, noise=terms.noise[part, None]).error(plans, counts)
        found[:, -2:] *= 1 + _GAIN  # for less no level need be silent
        best = (np.arange(len(found)), found.argmin(axis=1))
        copies[part], errors[part] = plans[best], found[best]
    return copies, errors


def _simple_plans(limits: FloatArray, counts: FloatArray, room: FloatArray) -> FloatArray:
    """Plans of every row, shape (n_rows, n_plans, n_levels).

    All common caps, with the levels below the cap at their limits or at whole numbers, scaled to the budget; and last
    the limits from either end of the levels until the budget is used up.
    """
    wholes = np.arange(1.0, math.floor(limits.max()) + 1)
    caps = np.concatenate([np.broadcast_to(wholes, (len(limits), wholes.size)), limits], axis=1)
    capped = np.minimum(limits[:, None], caps[:, :, None])
    plans = np.concatenate([capped, np.where(capped >= 1, np.floor(capped), capped)], axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        weights = plans @ counts
        plans *= np.where(weights > room, room / weights, 1.0)[:, :, None]
        filled = [_filled(limits, counts, room, order) for order in (slice(None), slice(None, None, -1))]
    return np.concatenate([plans, np.stack(filled, axis=1)], axis=1)


def _filled(limits: FloatArray, counts: FloatArray, room: FloatArray, order: slice) -> FloatArray:
    """Limits from one end of the levels until the budget is used up, 0 after."""
    wanted = (counts * limits)[:, order]
    given = np.clip(room - (np.cumsum(wanted, axis=1) - wanted), 0.0, wanted)[:, order]
    return np.minimum(np.where(counts > 0, given / counts, 0.0), limits)
