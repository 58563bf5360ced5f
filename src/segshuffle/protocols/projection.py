"""Projection of an estimate onto what frequencies can be: 0 <= w_j <= 1 and sum_j w_j = s. An extra, off by default.

Post-processing, so it costs no privacy; it introduces a bias, and is never mixed into the reproduction.
"""

from __future__ import annotations

import numpy as np

from segshuffle.accounting.numerics.ranges import check_integer
from segshuffle.arrays import FloatArray

_STEPS = 60


def project(estimates: FloatArray, *, set_size: int) -> FloatArray:
    """Euclidean projection of every row onto {0 <= w <= 1, sum w = set_size}.

    The projection is clip(estimate - shift, 0, 1) with the shift at which the sum is right; the sum falls in the shift,
    so bisection finds it for all rows at once.

    Parameters
    ----------
    estimates : ndarray, shape (repetitions, domain_size)
        Finite estimates.
    set_size : int
        Number of items per user, 0 <= set_size <= domain_size.
    """
    check_integer("set_size", set_size, 0, most=estimates.shape[1])
    low = estimates.min(axis=1, keepdims=True) - 1.0
    high = estimates.max(axis=1, keepdims=True)
    for _ in range(_STEPS):
        middle = 0.5 * (low + high)
        too_much = np.clip(estimates - middle, 0.0, 1.0).sum(axis=1, keepdims=True) > set_size
        low, high = np.where(too_much, middle, low), np.where(too_much, high, middle)
    return np.asarray(np.clip(estimates - 0.5 * (low + high), 0.0, 1.0))
