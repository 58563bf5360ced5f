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

#: So many problems are solved at once, lest their plans take too much memory.
_ROWS = 1000
#: Least ratio of `spread` to `own`, in the place of 0.
_SMALL = 1e-9


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
        fraction = copies - np.floor(copies)
        weight = copies @ counts
        imbalance = np.maximum(copies**2 @ counts - weight**2 / counts.sum(), 0.0)
        sampling = (fraction * (1 - fraction)) @ counts
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            error = (self.noise + self.own * sampling + self.spread * imbalance) / weight**2
        return np.where(weight**2 > 0, error, math.inf)


def best_copies(
    limits: FloatArray, counts: FloatArray, terms: ErrorTerms, largest_weight: FloatArray, thorough: bool
) -> tuple[FloatArray, FloatArray]:
    """Return the copies of least error with 0 <= a_k <= limits_k and sum_k n_k a_k <= largest_weight, and the error.

    Parameters
    ----------
    limits : ndarray, shape (n_rows, n_levels)
        Largest copies of every level; every row is a problem of its own.
    counts : ndarray, shape (n_levels,)
        Users of every level.
    terms : ErrorTerms
        Coefficients of the error; `noise` has a value per row.
    largest_weight : ndarray, shape (n_rows,)
        Budget of copies of all users together; where it binds, `beyond_best` bounds how much less the error could be.
    thorough : bool
        Whether to try many more plans at the end of a budget; searches with many rows save this time.

    Notes
    -----
    What the copies of one user cost is the same function of their number at all levels (docs/proof.md). If it is
    convex, all levels send a common number or their limit, whichever is less. Else it is concave between whole numbers.
    Then all levels send whatever costs at most some price, and at the end of a budget one may send a part of it.
    """
    in_turn = terms.own > terms.spread
    copies, errors = np.empty_like(limits), np.empty(len(limits))
    for i in range(0, len(limits), _ROWS):
        part = slice(i, i + _ROWS)
        terms_here = replace(terms, noise=terms.noise[part, None])
        ordered = (_by_price if in_turn else _in_common)(limits[part], counts, terms_here)
        plans = _within(largest_weight[part, None], ordered, counts, in_turn)
        if in_turn and thorough and np.isfinite(largest_weight).any():
            parts = _with_a_part(largest_weight[part, None], ordered, limits[part], counts)
            plans = np.concatenate([plans, parts], axis=1)
        plan_errors = terms_here.error(plans, counts)
        best = (np.arange(len(plans)), plan_errors.argmin(axis=1))
        copies[part], errors[part] = plans[best], plan_errors[best]
    return copies, errors


def beyond_best(counts: FloatArray, terms: ErrorTerms, largest_weight: float) -> float:
    """Bound how much less error there may be than `best_copies` finds (docs/proof.md)."""
    if counts.size == 1 or math.isinf(largest_weight):
        return 0.0
    return max(terms.own - terms.spread, 0.0) * float(counts.max()) / (2 * largest_weight) ** 2


def _by_price(limits: FloatArray, counts: FloatArray, terms: ErrorTerms) -> FloatArray:
    """Return ever larger plans, shape (n_rows, n_plans, n_levels), in which levels send what costs at most a price."""
    whole = np.floor(limits)
    rest, ratio = limits - whole, terms.own / max(terms.spread, _SMALL * terms.own)
    # the rest below a limit costs as much as whole copies up to this number
    as_whole = whole + 1 + (1 - rest) * (ratio - 1) / 2
    prices = np.sort(np.concatenate([_whole_numbers(limits), as_whole], axis=1), axis=1)[:, :, None]
    rests = np.where(as_whole[:, None] <= prices, rest[:, None], 0.0)
    return np.asarray(np.minimum(whole[:, None], np.floor(prices)) + rests)


def _in_common(limits: FloatArray, counts: FloatArray, terms: ErrorTerms) -> FloatArray:
    """Return ever larger plans, shape (n_rows, n_plans, n_levels), in which levels send a common number or their limit.

    The numbers are 0, whole ones and limits, and between two neighbours of these the one of least error, where

        d/dx log(cost) = 2 d/dx log(weight),  cost = noise + sum_k n_k (own f_k (1 - f_k) + spread a_k^2).
    """
    numbers = np.sort(np.concatenate([np.zeros_like(limits[:, :1]), _whole_numbers(limits), limits], axis=1), axis=1)
    is_full, whole = limits[:, None] <= numbers[:, :, None], np.floor(numbers)
    fraction = limits - np.floor(limits)
    costs = terms.own * fraction * (1 - fraction) + terms.spread * limits**2
    # of levels at their limits, and the users of all other levels
    cost = terms.noise + np.where(is_full, costs[:, None], 0.0) @ counts
    weight, others = np.where(is_full, limits[:, None], 0.0) @ counts, ~is_full @ counts
    slope = terms.own * (2 * whole + 1)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        best = 2 * (cost - others * terms.own * whole * (whole + 1)) - slope * weight
        best /= 2 * (terms.spread - terms.own) * weight - slope * others
    best = np.fmin(np.fmax(best, numbers), np.append(numbers[:, 1:], numbers[:, -1:], axis=1))
    return np.asarray(np.minimum(limits[:, None], np.stack([numbers, best], axis=2).reshape(len(limits), -1, 1)))


def _whole_numbers(limits: FloatArray) -> FloatArray:
    """Return the whole numbers up to the one at or above the largest limit, a row of them for each row."""
    wholes = np.arange(1.0, limits.max() + 1)
    return np.broadcast_to(wholes, (len(limits), wholes.size))


def _within(room: FloatArray, plans: FloatArray, counts: FloatArray, in_turn: bool) -> FloatArray:
    """Return those of ever larger plans that fit a budget, and some that use it up; the others send nothing.

    Between the last plan that fits and the next, either one level after the other sends all of the difference, from
    each level on, or all levels send the same share of it.
    """
    plans = np.concatenate([np.zeros_like(plans[:, :1]), plans], axis=1)
    weights = plans @ counts
    fits = weights <= room
    rows, last = np.arange(len(plans)), fits.sum(axis=1) - 1
    base, after = plans[rows, last, None], plans[rows, np.minimum(last + 1, plans.shape[1] - 1), None]
    missing, left = counts * (after - base), (room - weights[rows, last, None])[..., None]
    if in_turn:
        level = np.arange(counts.size)
        order = (level + level[:, None]) % counts.size
        missing = missing[:, 0, order]
        given = np.clip(left - (np.cumsum(missing, axis=2) - missing), 0.0, missing)
        given = given[:, level[:, None], (level - level[:, None]) % counts.size]
    else:
        total = missing.sum(axis=2, keepdims=True)
        given = missing * np.minimum(left / np.where(total > 0, total, 1.0), 1.0)
    filled = np.minimum(base + given / np.where(counts > 0, counts, 1.0), after)
    return np.concatenate([plans * fits[..., None], filled], axis=1)


def _with_a_part(room: FloatArray, plans: FloatArray, limits: FloatArray, counts: FloatArray) -> FloatArray:
    """Return plans in which one level sends what the others leave of a budget, for every level and plan of the others.

    With few users it matters which level sends a part of its copies.
    """
    level, users = np.arange(counts.size), np.where(counts > 0, counts, 1.0)
    plans = np.concatenate([np.zeros_like(plans[:, :1]), plans], axis=1)
    found = np.repeat(plans[:, None], counts.size, axis=1)
    found[:, level, :, level] = 0.0
    left = room[..., None] - found @ counts
    found[:, level, :, level] = np.moveaxis(np.clip(left / users[:, None], 0.0, limits[..., None]), 1, 0)
    return (found * (left >= 0)[..., None]).reshape(len(plans), -1, counts.size)
