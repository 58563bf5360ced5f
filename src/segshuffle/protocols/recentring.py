"""Recentring: where every user holds exactly s items the frequencies sum to s, so the estimates should too.

Taking (sum of the estimates - s)/d from each is linear, so an unbiased estimate stays unbiased, and the expected
squared error falls by exactly Var[sum of the estimates]/d: by a share 1/d where the counters are independent and all
levels send alike. It costs no privacy.
"""

from __future__ import annotations

import numpy as np

from segshuffle.arrays import FloatArray, IntArray
from segshuffle.protocols.base import Plan, Problem
from segshuffle.protocols.method import Method


def can_recentre(problem: Problem) -> bool:
    """Whether the sum of the frequencies is known: not where users hold at most s items."""
    return problem.assumptions.sets == "exactly"


def recentred(estimates: FloatArray, *, set_size: int) -> FloatArray:
    """Estimates of every row moved by a common number, so that they sum to `set_size`.

    Parameters
    ----------
    estimates : ndarray, shape (repetitions, domain_size)
        Unbiased estimates of frequencies that sum to `set_size`.
    set_size : int
        Items of every user.
    """
    return np.asarray(estimates - (estimates.sum(axis=-1, keepdims=True) - set_size) / estimates.shape[-1])


def recentred_mse(method: Method, plan: Plan, item_counts: IntArray) -> float | None:
    """Return the expected squared error after recentring, exact; None where the method has no closed form for it.

    Parameters
    ----------
    method : Method
        The method of the plan.
    plan : Plan
        A plan for users with exactly s items.
    item_counts : ndarray of int, shape (domain_size,)
        Users who hold each item.
    """
    removed = method.sum_variance(plan, item_counts)
    return None if removed is None else method.expected_mse(plan, item_counts) - removed / plan.problem.domain_size
