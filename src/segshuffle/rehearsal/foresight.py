"""What a plan's estimates will be worth, from public numbers; and backwards, the plan that makes them worth enough."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import special

from segshuffle.arrays import FloatArray
from segshuffle.errors import InfeasibleError, ParameterError
from segshuffle.protocols.base import Plan, Problem
from segshuffle.protocols.item_variance import ItemVariance, coverage_of_nothing
from segshuffle.rehearsal.run import CONFIDENCE, threshold_of

#: Relative accuracy of the fewest messages and of the least epsilon.
_CLOSE = 0.01
#: Doublings after which a search gives up, and epsilons that are tried.
_DOUBLINGS, _LARGEST_EPSILON = 12, 100.0


@dataclass(frozen=True)
class Expected:
    """Expected errors of a plan's estimates.

    Parameters
    ----------
    deviation : float
        Standard deviation of the estimate of an item that nobody holds, as a share of the users.
    smallest : float
        Share from which on an item is told from zero, all items at once, with probability 0.95 each way.
    coverage : float
        Exact probability with which the 95 % interval of an item that nobody holds has 0 in it.
    top : int or None
        How many of the most frequent items of a guess are looked at.
    relative : float or None
        Largest standard deviation of their estimates over their share.
    share : float or None
        Share of the item that has it.
    """

    deviation: float
    smallest: float
    coverage: float
    top: int | None = None
    relative: float | None = None
    share: float | None = None

    def as_dict(self, n_users: int) -> dict[str, Any]:
        """JSON-ready, with users beside shares."""
        found: dict[str, Any] = {
            "deviation_users": self.deviation * n_users,
            "deviation": self.deviation,
            "smallest_share_told_from_zero": self.smallest,
            "coverage_of_items_held_by_nobody": self.coverage,
        }
        if self.top is not None:
            found |= {"top": self.top, "top_relative_deviation": self.relative, "top_share": self.share}
        return found

    def sentences(self, n_users: int) -> list[str]:
        """The same in words."""
        found = [
            f"The estimate of a rare item has a standard deviation of {self.deviation * n_users:.3g} users, that is "
            f"{100 * self.deviation:.3g} % of them.",
            f"An item of {100 * self.smallest:.3g} % of the users, or more, is told from zero with probability "
            f"{CONFIDENCE:g}; and with as much no item at all is found that nobody holds.",
            f"The 95 % interval of an item that nobody holds has 0 in it in {100 * self.coverage:.3g} % of all "
            "collections (exact: counters are whole numbers).",
        ]
        if self.top is not None and self.relative is not None and self.share is not None:
            found.append(
                f"Of the {self.top} most frequent items of the guess each is off by {100 * self.relative:.3g} % of its "
                f"share or less (one standard deviation; the item of {100 * self.share:.3g} % of the users has most)."
            )
        return found


def expected(plan: Plan, shares: FloatArray | None = None, top: int = 20) -> Expected:
    """Expected errors of a plan with copies by level.

    Parameters
    ----------
    plan : Plan
        The plan.
    shares : ndarray of float, shape (domain_size,), optional
        A public guess of the items' shares of the users.
    top : int
        How many of the most frequent ones count.
    """
    variance, threshold = ItemVariance.of(plan), threshold_of(plan)
    # above the threshold with that probability: the variance at the share itself
    smallest = _share_above(variance, threshold, float(special.ndtri(CONFIDENCE)))
    rare = Expected(math.sqrt(float(variance.at(0.0))), smallest, coverage_of_nothing(plan, CONFIDENCE))
    if shares is None:
        return rare
    best = np.sort(shares[shares > 0.0])[::-1][:top]
    if not best.size:
        raise ParameterError("item-frequencies", "all 0", "positive for some item")
    relative = np.sqrt(variance.at(best)) / best
    worst = int(np.argmax(relative))
    return replace(rare, top=int(best.size), relative=float(relative[worst]), share=float(best[worst]))


def _share_above(variance: ItemVariance, threshold: float, z: float) -> float:
    """Share whose estimate is above a threshold with the probability of z: w - z deviation(w) = threshold."""
    low, high = (
        threshold,
        threshold + z * math.sqrt(float(variance.at(0.5))) + z * math.sqrt(float(variance.at(1.0))) + 1.0,
    )
    for _ in range(100):
        middle = 0.5 * (low + high)
        enough = middle - z * math.sqrt(float(variance.at(middle))) >= threshold
        low, high = (low, middle) if enough else (middle, high)
    return high


#: A budget of messages per user (None: without one) and a problem give a plan.
Planner = Callable[[float | None, Problem], Plan]


def fewest_messages(make: Planner, problem: Problem, shares: FloatArray, top: int, target: float) -> Plan:
    """The plan of about the fewest messages whose top items are off by no more than `target` of their share.

    Raises
    ------
    InfeasibleError
        If no number of messages is enough.
    """

    def error(plan: Plan) -> float:
        return expected(plan, shares, top).relative or math.inf

    best = make(None, problem)
    if error(best) > target:
        raise InfeasibleError(
            f"target-error = {100 * target:g} % is below {100 * error(best):.3g} %, the least for the top {top} with "
            "any number of messages: raise it, the levels, users or copies-max, or ask for --least epsilon."
        )
    low = 0.0
    while best.messages_per_user > (1 + _CLOSE) * low:
        budget = math.sqrt(low * best.messages_per_user) if low else 0.5 * best.messages_per_user
        try:
            plan = make(budget, problem)
        except InfeasibleError:
            low = budget
            continue
        if error(plan) <= target and plan.messages_per_user < best.messages_per_user:
            best = plan
        else:
            low = budget
    return best


def least_epsilon(make: Planner, problem: Problem, shares: FloatArray, top: int, target: float) -> Plan:
    """The plan of about the least epsilon, all levels in proportion, whose top items are off by no more than `target`.

    Raises
    ------
    InfeasibleError
        If no epsilon up to 100 is enough.
    """

    def plan_at(factor: float) -> Plan | None:
        levels = tuple(_three_digits_up(factor * level) for level in problem.levels)
        try:
            plan = make(None, replace(problem, levels=levels))
        except InfeasibleError:
            return None
        return plan if (expected(plan, shares, top).relative or math.inf) <= target else None

    high, low = 1.0, 1.0
    best = plan_at(high)
    for _ in range(_DOUBLINGS):
        if best is not None:
            break
        low, high = high, min(2 * high, _LARGEST_EPSILON / problem.levels[-1])
        best = plan_at(high) if high > low else None
    if best is None:
        raise InfeasibleError(
            f"target-error = {100 * target:g} % is not reached for the top {top} with any epsilon up to "
            f"{_three_digits_up(high * problem.levels[-1]):g}: raise it, the users, copies-max or max-messages."
        )
    while low == high:
        plan = plan_at(0.5 * low)
        if plan is None:
            low *= 0.5
        else:
            best, low, high = plan, 0.5 * low, 0.5 * low
    while high > (1 + _CLOSE) * low:
        middle = math.sqrt(low * high)
        plan = plan_at(middle)
        if plan is None:
            low = middle
        else:
            best, high = plan, middle
    return best


def _three_digits_up(value: float) -> float:
    """The least number of three digits that is at least the value: what people can say."""
    scale = 10.0 ** (2 - math.floor(math.log10(value)))
    return float(f"{math.ceil(round(value * scale, 9)) / scale:.3g}")
