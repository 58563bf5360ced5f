"""A plan's privacy loss distribution, for composition with other mechanisms by dp_accounting."""

from __future__ import annotations

from typing import TYPE_CHECKING

from segshuffle.accounting.collections import composition
from segshuffle.blankets.base import CounterPair
from segshuffle.errors import ParameterError
from segshuffle.numerics.ranges import check_kind, check_within
from segshuffle.plans.plan import Plan
from segshuffle.plans.targets import cap_of

if TYPE_CHECKING:
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution


def privacy_loss_distribution(plan: Plan, *, level: float, interval: float = 1e-4) -> PrivacyLossDistribution:
    """Return the pessimistic loss distribution of all T collections with a plan, for a user of one level.

    With `private_levels` a neighbour may have any other level. The copies are then the largest of all levels, and the
    distribution is the same for every level. It does not include round 1, in which levels are sent: compose it with a
    mechanism of (level_epsilon, level_delta).

    Parameters
    ----------
    plan : Plan
        Of `ProvenSegmented`, with dummies of any law.
    level : float
        The user's level, one of the plan's levels.
    interval : float, default 1e-4
        dp_accounting's value_discretization_interval, in [1e-7, 1].

    Returns
    -------
    PrivacyLossDistribution
        An object of dp_accounting; kind: upper.

    Raises
    ------
    ParameterError
        If the plan is of another protocol or has no such level, or the interval is outside its range.
    MissingExtraError
        If dp_accounting is not installed.
    """
    product = product_of(plan, level=level)
    free = composition.privacy_loss_distribution([product] if product[1] else [], interval=interval)
    cap = cap_of(plan.scheme, plan.problem)
    if cap is None or not product[1]:
        return free
    asked = {"epsilon": level, "delta": plan.problem.deltas[plan.problem.levels.index(level)]}
    return composition.capped_distribution(free, cap=cap, interval=interval, **asked)


def product_of(plan: Plan, *, level: float) -> tuple[CounterPair, int]:
    """Return the pair of counters of all T collections with a plan for a user of one level, and their number.

    A cap on the dummies of a user is not counted: `targets.cap_of` has what it costs.

    Parameters
    ----------
    plan, level
        As for `privacy_loss_distribution`.

    Raises
    ------
    ParameterError
        If the plan is of another protocol or has no such level.
    """
    check_kind("plan", plan, Plan)
    check_within("level", level, 0, 100, "(]")
    problem = plan.problem
    if not plan.certificate:
        raise ParameterError("plan", plan.method, "a plan with proven accounting, as segshuffle.plan makes it")
    if level not in problem.levels:
        raise ParameterError("level", level, f"one of the plan's, {', '.join(f'{each:g}' for each in problem.levels)}")
    copies = plan.scheme.copies
    most = max(copies) if problem.assumptions.private_levels else copies[problem.levels.index(level)]
    pair = plan.scheme.law.pair(problem.honest_mean(plan.blanket_per_user), most)
    return pair, problem.pairs
