"""A plan as a measurement of OpenDP, which draws the messages of all users as real clients do.

Only those who use this module need OpenDP (the extra `opendp`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from segshuffle.collection.library import compose, estimate
from segshuffle.collection.messages.client import Client
from segshuffle.collection.messages.verification import Demand
from segshuffle.errors import ParameterError
from segshuffle.extras import require
from segshuffle.numerics.ranges import check_integer
from segshuffle.plans.plan import Plan
from segshuffle.plans.privacy_loss import product_of

if TYPE_CHECKING:
    from opendp.mod import Measurement


def measurement(plan: Plan, *, level: float, collections: int = 1) -> Measurement:
    """Return a measurement whose `map(1)` is what a plan guarantees a user of one level.

    OpenDP asks you to allow it first: ``opendp.prelude.enable_features("contrib", "honest-but-curious")``.

    Parameters
    ----------
    plan : Plan
        A plan with proven accounting, of public levels, which is for one collection (`rounds` is 1).
    level : float
        The user's level, one of the plan's levels.
    collections : int
        Collections K of the same users, in [1, 1000], as one measurement: OpenDP adds up epsilons and deltas of
        several, which is more than they cost together.

    Returns
    -------
    opendp.Measurement
        Its data are a list of users, each a pair of a list of items and the number of a level. It returns a list of K
        lists of estimated shares. Its distance counts changed users, of whom one is proven. Its map gives the epsilon
        and delta of the plan for one collection, and for several the least epsilon at the same delta (kind: upper).

    Raises
    ------
    ParameterError
        If the plan has other properties.
    MissingExtraError
        If OpenDP is not installed.
    """
    require("opendp", "A measurement for OpenDP")
    import opendp.prelude as dp

    check_integer("collections", collections, 1, most=1000)
    product_of(plan, level=level)  # refuses plans of other protocols, and unknown levels
    problem = plan.problem
    if problem.assumptions.private_levels or problem.assumptions.rounds > 1:
        raise ParameterError("plan", plan.method, "a plan with public levels for one collection")
    place = problem.levels.index(level)
    guarantee = (level, plan.certificate[place]["delta_upper"])
    if collections > 1:
        delta = problem.deltas[place]
        guarantee = (compose([(plan, level)] * collections, delta=delta), delta)

    def release(users: list[tuple[Sequence[int], int]]) -> list[list[float]]:
        return [_collected(plan, users) for _ in range(collections)]

    def loss(changed: int) -> tuple[float, float]:
        if changed > 1:
            raise ParameterError("distance", changed, "0 or 1: more changed users are not proven")
        return guarantee if changed else (0.0, 0.0)

    return dp.m.make_user_measurement(
        dp.user_domain("users: list of (items, number of the level)", lambda users: isinstance(users, list)),
        dp.user_distance("changed users"),
        dp.approximate(dp.max_divergence()),
        release,
        loss,
    )


def _collected(plan: Plan, users: list[tuple[Sequence[int], int]]) -> list[float]:
    """Return the shares that are estimated from exactly drawn messages of all users."""
    scheme, problem = plan.scheme, plan.problem
    counter: Counter[int] = Counter()
    for items, level in users:
        demand = Demand(problem.levels[level], problem.deltas[level], problem.honest_users)
        # the plan was verified: a check for every user would only repeat it
        counter.update(Client(items, level, demand).draw_unchecked(scheme))
    d = problem.domain_size
    counts = [counter[item] - counter[item + d] for item in range(d)]
    shares: list[Any] = estimate(plan, counts).frequencies.tolist()
    return shares
