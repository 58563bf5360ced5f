"""Several collections of the same users with one message each: K-fold composition of a proven bound, rounded up.

Every collection has hockey-stick divergences of at most D(epsilon), in both directions, whatever the users send. The
pair of laws that dominates them all (`numerics.dominating`) so dominates every collection. Products of dominating pairs
dominate the composition.
"""

from collections.abc import Callable

import numpy as np

from segshuffle.numerics.dominating import dominating_pair
from segshuffle.numerics.one_sided import ProductBound
from segshuffle.numerics.ranges import LARGEST_EPSILON

#: Lattice points for every standard deviation of a collection's loss, and about where the lattice ends.
_POINTS, _FARTHEST = 50, 5000
#: Points are left out far from 0: they are at most this share of their distance from 0 apart, or neighbours.
_APART = 0.01
#: The lattice may end at this divergence, or this near, relatively, to the one that is left at the largest epsilon.
_TAIL, _NEAR = 1e-30, 1e-6


class RoundsBound(ProductBound):
    """The bound of `rounds` >= 1 collections, from `delta`, an upper bound of one at any epsilon up to 300.

    `ceiling` is the local epsilon of one collection, +inf if there is none. A quick `delta` can be asked at points that
    are `finer` times as close.
    """

    def __init__(self, delta: Callable[[float], float], *, ceiling: float, rounds: int, finer: int = 1) -> None:
        step = max(2.5 * delta(0.0) / (finer * _POINTS), 1e-9)  # a normal loss has a deviation of about 2.5 delta(0)
        enough = max(_TAIL, (1 + _NEAR) * delta(LARGEST_EPSILON))
        points, deltas = [0], [delta(0.0)]
        while deltas[-1] > enough and points[-1] < finer * _FARTHEST:
            points.append(points[-1] + max(int(_APART / finer * points[-1]), 1))
            deltas.append(min(delta(points[-1] * step), deltas[-1]))
        self.table = dominating_pair(np.array(points), np.array(deltas), step)
        super().__init__([(self.table, rounds)], ceiling=rounds * ceiling)
