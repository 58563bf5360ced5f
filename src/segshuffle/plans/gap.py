"""How near a plan with single dummies is to the best one of its kind, from certified bounds.

Let some copies be certified not to meet the target with a number of dummies. With fewer dummies they do not meet it
either (docs/proof.md). So between two numbers of dummies no plan has less error than the noise of the smaller one would
give to the copies that the larger one does not surely forbid. Above the largest number of dummies `copies_max` remains.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from segshuffle.accounting.collections.guides import FINE
from segshuffle.arrays import FloatArray
from segshuffle.blankets.base import BLANKET_MEAN_RANGE
from segshuffle.blankets.singles import SINGLES
from segshuffle.plans.copy_rules import CopyRules
from segshuffle.plans.plan import Plan
from segshuffle.plans.targets import Target, certified_delta

#: Shares of the error that may be proven, and with how many numbers of dummies at most.
_SHARES, _MOST = (0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.97, 0.98, 0.99, 0.995), 48
#: Copies are certified not to meet the target at these relative distances above the estimated largest ones.
_ABOVE = (FINE, 5 * FINE, 25 * FINE)
#: Accuracy of the log of a number of dummies.
_RESOLUTION = 1e-4


class _Stair(NamedTuple):
    """A number of dummies per item, and copies that are hardly more than it allows, shape (n_levels,)."""

    mean: float
    limits: FloatArray


def least_share(rules: CopyRules, plan: Plan, budget: float = math.inf) -> float:
    """Bound the least error of all plans with single dummies, as a share of a plan's error (kind: lower).

    Parameters
    ----------
    rules : CopyRules
        The problem, and the rules for choosing copies.
    plan : Plan
        A plan for them with single dummies.
    budget : float
        Largest expected messages per user.

    Returns
    -------
    float
        In [0, 1]; 0 if less than a tenth is proven with a few dozen certificates.
    """
    error = rules.error_of(plan)
    low, high, stairs = 0, len(_SHARES), list[_Stair]()
    while low < high:  # the largest share that takes few stairs
        middle = (low + high) // 2
        if found := _stairs(rules, budget, _SHARES[middle] * error):
            low, stairs = middle + 1, found
        else:
            high = middle
    return min(1.0, _bound(rules, budget, stairs) / error) if stairs else 0.0


def _stairs(rules: CopyRules, budget: float, error: float) -> list[_Stair]:
    """Return falling numbers of dummies between which no plan has less error, by estimates; none if these are many."""
    limits, stairs = np.full(rules.counts.size, rules.copies_max), list[_Stair]()
    while len(stairs) < _MOST:
        mean = _least_mean(rules, budget, limits, error)
        if stairs and mean > stairs[-1].mean * (1 - _RESOLUTION):
            break
        estimated = rules.limits(SINGLES, mean, near=limits if stairs else None, rtol=FINE)
        limits = np.minimum(estimated * (1 + _ABOVE[0]), rules.copies_max)
        stairs.append(_Stair(mean, estimated))
        if mean == BLANKET_MEAN_RANGE[0]:
            return stairs
    return []


def _least_mean(rules: CopyRules, budget: float, limits: FloatArray, error: float) -> float:
    """Return the least mean whose noise gives copies within limits at least this error."""
    if rules.error_bound(SINGLES, BLANKET_MEAN_RANGE[0], limits, budget) >= error:
        return BLANKET_MEAN_RANGE[0]
    low, high = map(math.log, BLANKET_MEAN_RANGE)
    while high - low > _RESOLUTION:
        middle = (low + high) / 2
        is_enough = rules.error_bound(SINGLES, math.exp(middle), limits, budget) >= error
        low, high = (low, middle) if is_enough else (middle, high)
    return math.exp(high)


def _bound(rules: CopyRules, budget: float, stairs: list[_Stair]) -> float:
    """Return a bound below the errors of all plans, from certificates at every stair."""
    limits, least = np.full(rules.counts.size, rules.copies_max), math.inf
    for mean, estimated in stairs:
        least = min(least, rules.error_bound(SINGLES, mean, limits, budget))
        limits = np.array([_not_forbidden(rules, mean, *each) for each in zip(rules.targets, estimated, strict=True)])
    return least


def _not_forbidden(rules: CopyRules, mean: float, target: Target, estimated: float) -> float:
    """Return copies above which all are certified not to meet a target."""
    for above in _ABOVE:
        copies = estimated * (1 + above)
        if copies >= rules.copies_max:
            break
        if certified_delta(SINGLES, mean, target, copies)[0] > target.delta:
            return float(copies)
    return rules.copies_max
