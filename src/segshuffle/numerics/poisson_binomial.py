"""Law of the number of successes in independent trials with unequal probabilities, with relative accuracy everywhere.

The law is built by multiplying the generating polynomials of the trials, with sums of nonnegative terms only (no
Fourier transform): every coefficient keeps its relative accuracy, down to the smallest numbers that doubles hold.
Coefficients below 1e-306 at either end are dropped and their mass is counted. 1e5 trials take about 1 s.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from segshuffle.arrays import FloatArray
from segshuffle.errors import ParameterError
from segshuffle.numerics.intervals import SMALLEST_DELTA, DeltaInterval
from segshuffle.numerics.ranges import numbers

LARGEST_TRIALS = 200_000
_DROP_BELOW = 1e-306
_UNIT = 2.0**-53
_SMALL = 64
"""Trials in a group. The trials of a group are multiplied one by one, those of many groups at the same time."""


class PoissonBinomialLaw:
    """C = sum of independent Bernoulli(probabilities[i]); a `CountLaw`.

    Parameters
    ----------
    probabilities : array_like, shape (n_trials,)
        Success probabilities, each in [0, 1]; at most 200,000 of them.

    Attributes
    ----------
    mean, std : float
        Expectation and standard deviation of C.
    largest : float
        Largest count in the table.
    relative_error : float
        Bound on the relative error of every point and tail probability.
    dropped : float
        Bound on the mass that was dropped because it is below 1e-306 per count.
    """

    def __init__(self, probabilities: ArrayLike) -> None:
        p = numbers("probabilities", probabilities)
        if p.ndim != 1 or p.size > LARGEST_TRIALS:
            raise ParameterError("probabilities", p.shape, f"a list of at most {LARGEST_TRIALS} numbers")
        inside = (p >= 0) & (p <= 1)
        if not inside.all():
            raise ParameterError("probabilities", float(p[~inside][0]), "in [0, 1], every one")
        self.mean = math.fsum(p)
        self.std = math.sqrt(math.fsum(p * (1 - p)))
        # trials that never succeed make all groups equally long
        groups = np.pad(p, (0, -p.size % _SMALL if p.size else _SMALL)).reshape(_SMALL, -1)
        polynomials = np.eye(_SMALL + 1, 1) * np.ones_like(groups[0])
        for tried, success in enumerate(groups, start=1):
            before = polynomials[:tried] * success
            polynomials[:tried] *= 1 - success
            polynomials[1 : tried + 1] += before
        self._first, self._table, self.dropped, error = _product(polynomials.T)
        self.largest = float(self._first + self._table.size - 1)
        self._below = np.append(0.0, np.cumsum(self._table))
        self._above = np.append(np.cumsum(self._table[::-1])[::-1], 0.0)
        self.relative_error = 1.01 * (error + (self._table.size + 2) * _UNIT)

    def pmf(self, count: FloatArray) -> FloatArray:
        """Return Pr[C = count], elementwise, zero outside the table."""
        position = count - self._first
        inside = (position >= 0) & (position < self._table.size)
        return np.where(inside, self._table[np.where(inside, position, 0.0).astype(np.int64)], 0.0)

    def at_least(self, count: FloatArray) -> FloatArray:
        """Return Pr[C >= count], elementwise."""
        return self._above[np.clip(count - self._first, 0, self._table.size).astype(np.int64)]

    def at_most(self, count: FloatArray) -> FloatArray:
        """Return Pr[C <= count], elementwise."""
        return self._below[np.clip(count - self._first + 1, 0, self._table.size).astype(np.int64)]

    def ratio(self, count: FloatArray) -> FloatArray:
        """Return Pr[C = count] / Pr[C = count - 1] for count >= 1; it decreases in count (Newton's inequalities)."""
        before, here = self.pmf(count - 1), self.pmf(count)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(before > 0, here / before, np.where(count <= self._first, math.inf, 0.0))

    def widened(self, interval: DeltaInterval) -> DeltaInterval:
        """Add the errors of the table to a divergence of pairs of counts that was computed from it."""
        lower = max(interval.lower * (1 - self.relative_error) - self.dropped, 0.0)
        upper = max(interval.upper * (1 + self.relative_error) + self.dropped, SMALLEST_DELTA)
        return DeltaInterval(lower, min(upper, 1.0))


class _Factor(NamedTuple):
    """Probabilities of the counts from `first` on, bounds on the mass that they lack and on their relative error."""

    first: int
    table: FloatArray
    dropped: float
    error: float


def _product(polynomials: FloatArray) -> _Factor:
    """Multiply the polynomials of all groups; what is negligible at either end is dropped.

    What underflowed is counted as 1e-306 per coefficient and trial.
    """
    half = len(polynomials) // 2
    if half == 0:
        first, table, error = 0, polynomials[0], 3 * _SMALL * _UNIT
        dropped = _SMALL * table.size * _DROP_BELOW
    else:
        one, other = _product(polynomials[:half]), _product(polynomials[half:])
        first, table = one.first + other.first, np.convolve(one.table, other.table)
        dropped = one.dropped + other.dropped
        error = one.error + other.error + (min(one.table.size, other.table.size) + 1) * _UNIT
    kept = np.flatnonzero(table >= _DROP_BELOW)
    start, end = int(kept[0]), int(kept[-1]) + 1
    return _Factor(first + start, table[start:end], dropped + (table.size - (end - start)) * _DROP_BELOW, error)
