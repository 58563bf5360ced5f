"""A pair of laws that dominates every pair whose divergences, in both directions, are below a curve.

The points of the curve D are connected by lines in t = e^epsilon. By the symmetry, the total variation is at most
D(epsilon) + (1 - D(epsilon)) tanh(epsilon/2) for every epsilon. The lower convex hull of the curve, with this point at
epsilon = 0, is that of a symmetric pair of laws.
"""

import math

import numpy as np

from segshuffle.arrays import FloatArray, IntArray
from segshuffle.numerics.loss_distribution import LossTable

#: Above the round-off of a sum of masses.
_ROUND_OFF = 1e-15


def dominating_pair(points: IntArray, delta: FloatArray, step: float) -> LossTable:
    """Return a symmetric pair of laws whose divergences are at least those of any pair with at most `delta`.

    `delta` is given at the lattice points, which begin with 0.
    """
    loss = points * step
    ratio, last = np.exp(loss), delta[-1]
    delta[0] = np.min(delta + (1 - delta) * np.tanh(0.5 * loss))
    hull: list[int] = []
    for k in range(delta.size):
        while len(hull) > 1:
            a, b = hull[-2:]
            if (delta[b] - delta[a]) * (ratio[k] - ratio[a]) < (delta[k] - delta[a]) * (ratio[b] - ratio[a]):
                break
            hull.pop()
        hull.append(k)
    slopes = np.append(np.diff(delta[hull]) / np.diff(ratio[hull]), 0.0)
    mass = np.zeros(points[-1] + 1)
    # points on one line, but for round-off, may have a mass below 0
    mass[points[hull[1:]]] = np.maximum(np.diff(slopes), 0.0)
    mass = np.append(mass[:1], np.trim_zeros(mass[1:], "b"))
    mirrored = mass * np.exp(np.arange(mass.size) * step)
    # no loss has what is left; a little more than round-off may take away
    mass[0] = max(math.fsum([1.0, -last, *-mass, *-mirrored]), 0.0) + _ROUND_OFF
    both = np.append(mirrored[:0:-1], mass)
    return LossTable(1 - mass.size, step, both, np.zeros_like(both), last, 0.0, 1e-12, 1e-15, one_sided=True)
