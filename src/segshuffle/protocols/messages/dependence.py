"""What the segmented estimate is off by where the levels that users chose depend on the items they hold.

It weighs a user of level k by a_k/N, N = sum_k n_k a_k. If n_kj users of level k hold item j, the expectation of its
estimate is sum_k a_k n_kj/N, and the true frequency n_j/n. The difference, the bias, is 0 on average if levels have
nothing to do with items. Otherwise it stays, however many users there are, unless all levels send equal copies.
"""

from __future__ import annotations

import numpy as np

from segshuffle.arrays import FloatArray, IntArray
from segshuffle.protocols.base import Plan


def bias_given_levels(copies: FloatArray, level_items: IntArray, level_counts: IntArray) -> FloatArray:
    """Exact bias of every item's estimate, given who has which level.

    Parameters
    ----------
    copies : ndarray of float, shape (n_levels,)
        Expected copies a_k of a held item.
    level_items : ndarray of int64, shape (..., n_levels, domain_size)
        Users n_kj of each level that hold each item.
    level_counts : ndarray of int64, shape (n_levels,)
        Users n_k of each level.

    Returns
    -------
    ndarray of float, shape (..., domain_size)
        sum_k a_k n_kj/N - n_j/n.
    """
    return np.asarray(copies @ level_items / (level_counts @ copies) - level_items.sum(axis=-2) / level_counts.sum())


def error_given_levels(plan: Plan, level_items: IntArray, divisor: float) -> FloatArray:
    """Exact expected squared error of round 2, given the levels of the users and the estimator's denominator.

    sum_j { Var[S_j]/N_hat^2 + (E[S_j]/N_hat - w_j)^2 }, S_j = C_j - n m/d.

    Parameters
    ----------
    plan : Plan
        Of `ProvenSegmented` or `Segmented`.
    level_items : ndarray of int64, shape (..., n_levels, domain_size)
        Users of each level that hold each item.
    divisor : float
        N_hat, or N where the level counts are exact.

    Returns
    -------
    ndarray of float, shape (...)
    """
    problem, copies = plan.problem, np.asarray(plan.scheme.copies)
    noise = problem.domain_size * plan.scheme.noise
    own = level_items.sum(axis=-1) @ plan.scheme.sampling
    misses = copies @ level_items / divisor - level_items.sum(axis=-2) / problem.n_users
    return np.asarray((noise + own) / divisor**2 + (misses**2).sum(axis=-1))
