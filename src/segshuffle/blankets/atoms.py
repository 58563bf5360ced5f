"""The loss table of a pair whose counters are tabulated value by value.

A and B are the laws of the counters of a held item and of another item (`base.CounterPair`).
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from segshuffle.arrays import FloatArray
from segshuffle.numerics.loss_distribution import AccuracyError, LossTable

#: Smaller masses are not tabulated.
SMALLEST_MASS = 1e-300
#: Most cells of a table, to limit its memory; number of groups of a coarse law.
MOST_CELLS = 2**19
_COARSE = 257
#: Values that are worked on together, such that they fit into the processor's cache.
_TOGETHER = 2**15


def _no_value() -> AccuracyError:
    return AccuracyError("No value of this pair can be tabulated: its two laws hardly overlap. Send fewer copies.")


@dataclass(frozen=True)
class Atoms:
    """Values of one counter, in any order.

    Parameters
    ----------
    ratio, mass : ndarray of float, shape (N,)
        Finite log dA/dB, and B's mass.
    zero_mass : float
        B's mass where dA/dB = 0.
    truncated, missing, mass_error, ratio_error : float
        As for `LossTable`.
    """

    ratio: FloatArray
    mass: FloatArray
    zero_mass: float
    truncated: float
    mass_error: float
    ratio_error: float
    missing: float = 0.0

    def table(self, step: float) -> LossTable:
        """Sort the values into cells by their ratio."""
        ratio, mass, truncated = self.ratio, self.mass, self.truncated
        # Values with hardly any mass under B count as truncated, so that no weight over- or underflows later.
        kept = mass > SMALLEST_MASS
        if not kept.any():
            raise _no_value()
        if not kept.all():
            tiny = np.maximum(mass[~kept], 5e-324)  # perhaps rounded to 0
            lost = tiny + np.exp(np.minimum(np.log(tiny) + ratio[~kept], 0.0))
            truncated += float(lost.sum()) * (1 + self.mass_error)
            ratio, mass = ratio[kept], mass[kept]
        low, high = float(ratio.min()), float(ratio.max())
        step = max(step, (high - low) / MOST_CELLS)
        first, largest = math.floor(low / step), math.expm1(step)
        index, weighted = np.empty(ratio.size, dtype=np.intp), np.empty(ratio.size)
        for start in range(0, ratio.size, _TOGETHER):
            piece = slice(start, start + _TOGETHER)
            cell = np.floor(ratio[piece] / step)
            rest = np.expm1(ratio[piece] - cell * step)
            index[piece] = cell - first
            weighted[piece] = mass[piece] * np.clip(rest, 0.0, largest)
        cells = np.bincount(index, mass).astype(np.float64)
        moment = np.bincount(index, weighted)
        excess = np.divide(moment, cells, out=np.zeros_like(cells), where=cells > 0)
        return LossTable(
            first, step, cells, excess, self.zero_mass, truncated, self.mass_error, self.ratio_error, self.missing
        )

    def coarse(self) -> tuple[FloatArray, FloatArray]:
        """Return log ratio and log mass of a few hundred groups of neighbouring ratios."""
        ratio, mass = self.ratio, self.mass
        if not mass.any():
            raise _no_value()
        if ratio.size > _COARSE:
            low, high = float(ratio.min()), float(ratio.max())
            index = ((ratio - low) * (_COARSE / max(high - low, 1e-300) * (1 - 1e-12))).astype(np.intp)
            # a group has the mean of its log ratios, not of its ratios: delta depends on the logarithm
            moment, mass = (np.bincount(index, weights).astype(np.float64) for weights in (mass * ratio, mass))
            ratio = np.divide(moment, mass, out=moment, where=mass > 0)
        return ratio[mass > 0], np.log(mass[mass > 0])


class AtomPair(ABC):
    """Pair of counters whose values are tabulated one by one."""

    @abstractmethod
    def _atoms(self, log_tail: float) -> Atoms:
        """Return the values inside a window outside which each tail has mass about e^-log_tail."""

    def coarse_law(self, log_tail: float) -> tuple[FloatArray, FloatArray]:
        """Return log ratio and log mass of groups of values."""
        return self._atoms(log_tail).coarse()

    def loss_table(self, step: float, log_tail: float) -> LossTable:
        """Return cells about `step` wide, from every value of the window."""
        return self._atoms(log_tail).table(step)
