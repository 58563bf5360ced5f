"""The clustered blanket: dummies come in clusters at one item, which hides more per message.

The counters are NB(r, p) with r = mean (1 - p)/p and variance mean/(1 - p). The proof for changes of
level with copies above 1 needs a log-concave law, r >= 1 (docs/proof.md). So a smaller r is refused, for all copies.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from segshuffle.arrays import FloatArray
from segshuffle.blankets.atoms import Atoms
from segshuffle.blankets.base import (
    BLANKET_MEAN_RANGE,
    LARGEST_P,
    TAIL_STEP,
    Blanket,
    Space,
    in_millionths,
    within,
)
from segshuffle.blankets.pairs import CountPair
from segshuffle.blankets.parts import Part
from segshuffle.numerics.ranges import check_within

#: Above this variance a counter has too many values for a table. The variance that plans need grows with
#: copies^2/epsilon^2, not with the number of users.
LARGEST_VARIANCE = 1e10
#: Shares of the largest odds p/(1 - p) that plans choose from. Plans with few messages need shares far below a tenth;
#: shares below a thousandth only take time.
_SHARES = (1e-3, 1.0)


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
    phrase = "in clusters about random items"

    def __post_init__(self) -> None:
        check_within("p", self.p, 0, LARGEST_P, "(]")

    @property
    def means(self) -> tuple[float, float]:
        """Means at which r >= 1 and a table is not too long."""
        # r must not be rounded to less than 1
        least = self.p / (1 - self.p) * (1 + 1e-14)
        return max(least, BLANKET_MEAN_RANGE[0]), LARGEST_VARIANCE * (1 - self.p)

    @classmethod
    def space(cls, pairs: int, delta: float) -> Space:
        """Return the odds p/(1 - p), as a share of the largest for which r >= 1."""

        def make(variance: FloatArray, share: FloatArray) -> tuple[tuple[FloatArray, ...], FloatArray]:
            odds = share * np.minimum((np.sqrt(1 + 4 * variance) - 1) / 2, LARGEST_P / (1 - LARGEST_P))
            p = in_millionths(odds / (1 + odds))
            least = np.maximum(p / (1 - p) * (1 + 1e-14), BLANKET_MEAN_RANGE[0])
            return (p,), within(np.where(p > 0, variance * (1 - p), 0.0), least, LARGEST_VARIANCE * (1 - p))

        # with few dummies, the largest clusters are best
        return Space((_SHARES,), _SHARES[1:], make)

    def parts(self, mean: float) -> tuple[Part, ...]:
        """Return the clusters alone."""
        return (Part(mean, self.p),)

    def pair(self, mean: float, copies: float) -> ClusteredPair:
        """Return the counters of an exchanged item."""
        return ClusteredPair(mean, copies, self)


@dataclass(frozen=True)
class ClusteredPair(CountPair):
    """The two counters that tell one item of a user from another, in a clustered blanket."""

    def _atoms(self, log_tail: float) -> Atoms:
        return super()._atoms(TAIL_STEP * math.ceil(log_tail / TAIL_STEP))


LAW = Clustered
