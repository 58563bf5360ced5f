"""Warn where a plan is valid but of little use, and say what to change."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from segshuffle.protocols.base import Plan, Problem

#: Expected messages per user from which on it is worth a word.
MANY_MESSAGES = 1000.0


def cautions(plan: Plan) -> tuple[str, ...]:
    """Sentences on what makes a plan's guarantee, error or cost meaningless; none for an ordinary plan."""
    problem, found = plan.problem, []
    d, s = problem.domain_size, problem.set_size
    if problem.delta * problem.n_users >= 1.0:
        found.append(
            f"delta = {problem.delta:g} is not below 1/n = {1 / problem.n_users:.3g}: publishing all items of one "
            "random user would meet it. Take a delta much below 1/n."
        )
    # whoever answers s/d for every item (0, where users may hold fewer) knows nothing and errs by no more than this
    largest = s * (1.0 - s / d) if problem.assumptions.sets == "exactly" else float(s)
    if plan.mse_bound >= largest > 0.0:
        found.append(
            f"The expected squared error, {plan.mse_bound:.3g}, is not below {largest:.3g}, the largest error of an "
            "answer that uses no data. Raise the levels, delta, the number of users or the budget of messages."
        )
    if plan.messages_per_user > MANY_MESSAGES:
        found.append(
            f"A user sends {plan.messages_per_user:.3g} messages on average. Set a budget of messages "
            "(max_messages), or raise the levels, delta or the number of users."
        )
    return tuple(found)


def level_cautions(spent: float) -> tuple[str, ...]:
    """Warn of the same in round 1, for which a user sends so many messages on average."""
    if spent <= MANY_MESSAGES:
        return ()
    return (
        f"Round 1, about the levels, takes {spent:.3g} messages per user. Raise the epsilon or the "
        "delta at which levels are hidden, or the number of users.",
    )


def expected_seconds(problem: Problem) -> float:
    """About how long the Poisson blanket takes to plan, in seconds of a processor: within a factor of three.

    Fitted to measured runs: a level is calibrated on a lattice that grows with the number of pairs.
    """
    return len(problem.levels) * (0.04 + 0.005 * math.sqrt(problem.pairs))
