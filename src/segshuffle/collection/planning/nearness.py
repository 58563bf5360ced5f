"""How near an answered plan is to the best one that is possible, or known."""

import math
from typing import Any

from segshuffle.blankets.singles import SINGLES
from segshuffle.collection.planning.answer import Answer
from segshuffle.digits import rounded_down
from segshuffle.plans.gap import least_share
from segshuffle.protocols.central import BEST


def nearness(answered: Answer) -> dict[str, Any]:
    """Return shares of a plan's error, JSON-ready: of the least possible one of its kind, and of a trusted curator's.

    The first is proven, for single dummies only. Plans that do not have the least error have neither.
    """
    plan, question = answered.plan, answered.question
    limits, problem, scheme = question.limits, plan.problem, plan.scheme
    if question.squared_target is not None or limits.blanket_per_user is not None or problem.pairs == 0:
        return {}
    said: dict[str, Any] = {}
    if scheme.law == SINGLES and scheme.blanket_cap is None:
        method = question.method
        share = least_share(method.searches(problem)[0], plan, method.max_messages or math.inf)
        said["share_of_least_error"] = rounded_down(share, 4)
    said["share_of_curator_error"] = BEST.plan(problem).mse_bound / plan.mse_bound
    return said
