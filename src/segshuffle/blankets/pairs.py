"""The pair of counters of an exchanged item, by value of the counter: of any law, and of a law with one part."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from segshuffle.arrays import FloatArray
from segshuffle.blankets.atoms import AtomPair, Atoms
from segshuffle.blankets.base import COPIES_RANGE, Blanket
from segshuffle.blankets.parts import Part
from segshuffle.numerics.laws import mass_error
from segshuffle.numerics.ranges import check_within


@dataclass(frozen=True)
class BlanketPair(AtomPair):
    """Counters that tell one item of a user from another in a blanket.

    Parameters
    ----------
    blanket_mean : float
        Expected blanket messages per item, of both signs together, in `blanket.means`.
    copies : float
        Expected copies a of a held item, 0 or in [1e-120, 64]; up to 1 it is the sampling rate.
    blanket : Blanket
        Law of the dummies.

    Raises
    ------
    ParameterError
        If a value is outside its range.
    """

    blanket_mean: float
    copies: float
    blanket: Blanket

    def __post_init__(self) -> None:
        low, high = self.blanket.means
        check_within("blanket_mean", self.blanket_mean, low, high, allowed=f"in [{low:.10g}, {high:.10g}]")
        check_copies(self.copies)

    @property
    def parts(self) -> tuple[Part, ...]:
        """Parts of the blanket."""
        return self.blanket.parts(self.blanket_mean)

    @property
    def floor(self) -> int:
        """Certain copies k = floor(a)."""
        return math.floor(self.copies)

    @property
    def fraction(self) -> float:
        """Probability f = a - k of one more copy."""
        return self.copies - self.floor

    @property
    def variance(self) -> float:
        """Variance of the noise in the estimate of one item."""
        return self.blanket.variance(self.blanket_mean)

    @property
    def zero_mass(self) -> float:
        """Probability of fewer messages (with a plus) than the certain copies, where dA/dB = 0."""
        if not self.floor:
            return 0.0
        law = np.ones(1)
        for part in self.parts:
            if 1 in part.signs:
                law = np.convolve(law, part.masses((0, self.floor)))[: self.floor]
        return float(law.sum())


@dataclass(frozen=True)
class CountPair(BlanketPair):
    """Counters of a blanket of one part, whose messages have no signs.

    With X dummies of law NB(r, p), or Poisson for p = 0, M copies, and k = floor(a), f = a - k::

        Pr[X + M = x] / Pr[X = x] = q(x) q(x - 1) ... q(x - k + 1) (1 - f + f q(x - k)),
        q(x) = x/(p (x + r - 1)), or x/mean for p = 0.
    """

    def log_ratio(self, count: FloatArray) -> FloatArray:
        """Return the log of the ratio above at counts >= floor(a) (any shape); nondecreasing in the count."""
        mean, p, total = self.blanket_mean, self.parts[0].p, np.zeros_like(count)

        def above_one(copy: int) -> FloatArray:
            gap = (count - copy) - mean
            return ((1 - p) * gap + p) / (p * (count - 1 - copy) + mean * (1 - p)) if p else gap / mean

        if self.fraction:
            # q(0) = 0, which is lost in round-off where r is near 1
            total += np.log1p(self.fraction * np.where(count <= self.floor, -1.0, above_one(self.floor)))
        for copy in range(self.floor):
            total += np.log1p(above_one(copy))
        return total

    def window(self, log_tail: float) -> tuple[int, int]:
        """Return counts [low, high] outside which X and X + M have mass at most e^-log_tail a side.

        Counts below floor(a), which only X can have, are left out, too (`zero_mass`).
        """
        low, high = self.parts[0].window(log_tail)
        return max(low, self.floor), high + self.floor + 1

    def _atoms(self, log_tail: float) -> Atoms:
        window, part = self.window(log_tail), self.parts[0]
        ratio = self.log_ratio(np.arange(window[0], window[1] + 1, dtype=float))
        error = 1e-13 * (self.floor + 1) * (float(np.abs(ratio).max()) + (part.p > 0))
        of_masses = mass_error(window, part.mean) if part.p else 1e-11
        lost = 4 * math.exp(-log_tail)
        return Atoms(ratio, part.masses(window), self.zero_mass, lost, of_masses, error)


def check_copies(copies: float) -> None:
    """Refuse copies outside their range."""
    low, high = COPIES_RANGE
    allowed = f"0 or in [{low:g}, {high:g}]"
    check_within("copies", copies, 0, high, allowed=allowed)
    if copies:
        check_within("copies", copies, low, high, allowed=allowed)
