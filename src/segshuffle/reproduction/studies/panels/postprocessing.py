"""Post-processing of estimates, which costs no privacy.

Recentring: if every user holds exactly s items, the frequencies sum to s, so the estimates should too. From each,
(their sum - s)/d is subtracted. This is linear, so unbiased estimates stay unbiased. The expected squared error falls
by exactly Var[sum of the estimates]/d, a share of 1/d if counters are independent and all levels send the same.

Projection onto possible frequencies, 0 <= w_j <= 1 and sum_j w_j = s. It introduces a bias, so the reproduction only
compares it with the estimates themselves.
"""

import numpy as np

from segshuffle.arrays import FloatArray, IntArray
from segshuffle.numerics.ranges import check_integer
from segshuffle.plans.method import Method
from segshuffle.plans.plan import Plan

_STEPS = 60


def recentred(estimates: FloatArray, *, set_size: int) -> FloatArray:
    """Shift the estimates of every row by a common number, so that they sum to `set_size`.

    Parameters
    ----------
    estimates : ndarray, shape (repetitions, domain_size)
        Unbiased estimates of frequencies that sum to `set_size`.
    set_size : int
        Items of every user.
    """
    return np.asarray(estimates - (estimates.sum(axis=-1, keepdims=True) - set_size) / estimates.shape[-1])


def recentred_mse(method: Method, plan: Plan, item_counts: IntArray) -> float | None:
    """Return the exact expected squared error after recentring; None if the method has no closed form for it.

    Parameters
    ----------
    method : Method
        The method of the plan.
    plan : Plan
        A plan for users with exactly s items.
    item_counts : ndarray of int, shape (domain_size,)
        Users who hold each item.
    """
    removed = method.sum_variance(plan)
    return None if removed is None else method.expected_mse(plan, item_counts) - removed / plan.problem.domain_size


def project(estimates: FloatArray, *, set_size: int) -> FloatArray:
    """Return the Euclidean projection of every row onto {0 <= w <= 1, sum w = set_size}.

    The projection is clip(estimate - shift, 0, 1), with the shift that makes the sum right. The sum decreases with the
    shift, so bisection finds it for all rows at once.

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
