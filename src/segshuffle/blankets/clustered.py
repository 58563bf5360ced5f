"""The clustered blanket: dummies come in clusters at one item, which hides more per message.

The counters are NB(r, p), r = mean (1 - p)/p, of variance mean/(1 - p). Up to one copy nothing more is needed. The
lemmas on copies above one ask that the law be log-concave, which is r >= 1 (docs/proof.md): less is refused.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from segshuffle.accounting.numerics.ranges import check_within
from segshuffle.arrays import FloatArray
from segshuffle.blankets.atoms import Atoms
from segshuffle.blankets.base import BLANKET_MEAN_RANGE, LARGEST_P, Blanket, CountPair, Space, within
from segshuffle.blankets.parts import Part
from segshuffle.looks import Look

#: Variance of a counter above which its values are too many for a table; means needed grow with copies^2/epsilon^2, not
#: with the number of users.
LARGEST_VARIANCE = 1e10
#: Tails are rounded up to a multiple, so that the law of a blanket is found again.
_TAIL_STEP = 6.0
#: Least and most odds p/(1 - p) that plans choose from, and the digits of p: more of either changes nothing.
_ODDS, _DIGITS = (0.02, 30.0), 6


@dataclass(frozen=True)
class Clustered(Blanket):
    """Clusters of dummies of logarithmic size, each at a uniform item.

    Parameters
    ----------
    p : float
        Cluster parameter in (0, 0.99]: a cluster has w dummies with probability -p^w/(w ln(1 - p)).

    Raises
    ------
    ParameterError
        If it is outside its range.
    """

    p: float
    name = "clustered"
    words = "in clusters about random items"
    about = "clusters of dummies"
    look = Look.of("Clustered blanket (ours, proven)", "blue", "h", 3)

    def __post_init__(self) -> None:
        check_within("p", self.p, 0, LARGEST_P, "(]")

    @property
    def means(self) -> tuple[float, float]:
        """Means at which r >= 1 and a table is not too long."""
        # the least float whose r does not round to less than 1
        least = self.p / (1 - self.p) * (1 + 1e-14)
        return max(least, BLANKET_MEAN_RANGE[0]), LARGEST_VARIANCE * (1 - self.p)

    @classmethod
    def space(cls, pairs: int, delta: float) -> Space:
        """Return the odds p/(1 - p), from small clusters to large ones."""

        def make(variance: FloatArray, odds: FloatArray) -> tuple[tuple[FloatArray, ...], FloatArray]:
            p = np.round(odds / (1 + odds), _DIGITS)
            return (p,), within(variance * (1 - p), p / (1 - p) * (1 + 1e-14), LARGEST_VARIANCE * (1 - p))

        return Space((_ODDS,), make)

    def parts(self, mean: float) -> tuple[Part, ...]:
        """Clusters alone."""
        return (Part(mean, self.p),)

    def pair(self, mean: float, copies: float) -> ClusteredPair:
        """Counters of an exchanged item."""
        return ClusteredPair(mean, copies, self)


@dataclass(frozen=True)
class ClusteredPair(CountPair):
    """The two counters that tell one item of a user from another, in a clustered blanket."""

    def _atoms(self, log_tail: float) -> Atoms:
        return super()._atoms(_TAIL_STEP * math.ceil(log_tail / _TAIL_STEP))
