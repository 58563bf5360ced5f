"""Several collections of the same users with one message each: K-fold composition of a proven bound, rounded up.

Every collection has hockey-stick divergences of at most D(epsilon), in both directions, whatever the users send. The
upper ends of D at lattice points are connected by lines in t = e^epsilon, and the lower convex hull of this curve is
that of a pair of laws, which so dominates every collection. Products of dominating pairs dominate the composition.
"""

import math
from collections.abc import Callable

import numpy as np

from segshuffle.accounting.numerics.intervals import DeltaInterval
from segshuffle.accounting.numerics.loss_distribution import LossTable, log_delta_upper
from segshuffle.accounting.numerics.ranges import LARGEST_EPSILON
from segshuffle.accounting.numerics.search import Bound
from segshuffle.arrays import FloatArray
from segshuffle.errors import ParameterError

#: Lattice points for every standard deviation of a collection's loss; divergence at which the lattice may end.
_POINTS, _TAIL, _MOST_POINTS = 50, 1e-30, 5000
_TILTS = np.geomspace(1e-3, 1e4, 150)


class RoundsBound(Bound):
    """The bound of `rounds` >= 1 collections, from `delta`, an upper bound of one at any epsilon."""

    def __init__(self, delta: Callable[[float], float], *, ceiling: float, rounds: int) -> None:
        self.rounds, self.ceiling = rounds, min(rounds * ceiling, LARGEST_EPSILON)
        step = max(2.5 * delta(0.0) / _POINTS, 1e-9)  # a normal loss has a deviation of about 2.5 delta(0)
        found = [delta(0.0)]
        while found[-1] > _TAIL and len(found) < _MOST_POINTS:
            found.append(min(delta(len(found) * step), found[-1]))
        self.table = _dominating(np.array(found), step)
        masses = self.table.mass * np.exp(self._losses)
        with np.errstate(divide="ignore"):
            self.log_mgf = np.logaddexp.reduce(np.log(masses) + np.multiply.outer(_TILTS, self._losses), axis=1)

    @property
    def _losses(self) -> FloatArray:
        return np.asarray((self.table.first + np.arange(self.table.mass.size)) * self.table.step, dtype=float)

    def interval(self, epsilon: float, rtol: float) -> DeltaInterval:
        """Return [0, upper bound]; any tilt gives a bound."""
        tilt = float(_TILTS[np.argmin(self.rounds * self.log_mgf - _TILTS * epsilon)])
        return DeltaInterval(0.0, math.exp(log_delta_upper([(self.table, self.rounds)], epsilon, tilt)))


def _dominating(delta: FloatArray, step: float) -> LossTable:
    """Return the symmetric pair of laws whose divergence at k * step is about delta[k], and nowhere less."""
    ratio, last = np.exp(np.arange(delta.size) * step), delta[-1]
    hull: list[int] = []
    for k in range(delta.size):
        while len(hull) > 1:
            a, b = hull[-2:]
            if (delta[b] - delta[a]) * (ratio[k] - ratio[a]) < (delta[k] - delta[a]) * (ratio[b] - ratio[a]):
                break
            hull.pop()
        hull.append(k)
    slopes = np.append(np.diff(delta[hull]) / np.diff(ratio[hull]), 0.0)
    mass = np.zeros(delta.size)
    mass[hull[1:]] = np.diff(slopes)
    mirrored = mass * ratio
    mass[0] = 1 - last - mass.sum() - mirrored.sum()
    if mass[0] < 0:
        raise ParameterError("rounds", None, "left out: this analysis is too coarse near epsilon = 0 to be composed")
    both = np.append(mirrored[:0:-1], mass)
    return LossTable(1 - delta.size, step, both, np.zeros_like(both), last, 0.0, 1e-12, 1e-15, one_sided=True)
