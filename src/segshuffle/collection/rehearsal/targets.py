"""Plans that reach an error on a file: with the fewest messages or the least epsilon, and the errors around them."""

import contextlib
from dataclasses import replace
from typing import Any

import numpy as np

from segshuffle.collection.planning.answer import EPSILONS, Answer, answer, at_levels
from segshuffle.collection.planning.asked import Goal, Guess
from segshuffle.collection.planning.question import Question
from segshuffle.collection.rehearsal.set_sizes import squared_errors, top_items
from segshuffle.datasets.own.transactions import Transactions
from segshuffle.errors import InfeasibleError
from segshuffle.plans.plan import Plan

#: Factors of the epsilons for which errors are shown beside the one that was asked for.
_FACTORS = (0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0)
#: Most attempts at a smaller error.
_TIGHTENED = 6


def meeting(users: Transactions, question: Question) -> Answer:
    """Answer a question with an error to be reached, so that the expected errors on a file reach it.

    A plan assumes that every item loses the same share of its holders if sets are cut. In the file some items lose
    more; then the plan is made for a smaller error.

    Raises
    ------
    InfeasibleError
        If no plan reaches the error, for example because cutting alone exceeds it.
    """
    target, goal = question.goal.target_error or 0.0, question.goal
    for _ in range(_TIGHTENED):
        answered = answer(replace(question, goal=goal))
        error = error_on(users, answered.plan, goal)
        if error <= target:
            return replace(answered, question=question)
        goal = replace(goal, target_error=0.999 * (goal.target_error or 0.0) * target / error)
    raise InfeasibleError(
        f"No plan with set_size = {question.problem.set_size} has target_error = {question.asked_error} on this file: "
        "raise set_size or target_error."
    )


def error_on(users: Transactions, plan: Plan, goal: Goal) -> float:
    """Return the expected error of a plan on a file, in the unit of the goal."""
    squares = squared_errors(users, plan)
    if goal.top is None:
        return float(squares.sum())
    items = top_items(users, goal.top)
    return float(np.sqrt(np.max(squares[items] / users.frequencies[items] ** 2)))


def over_epsilon(users: Transactions, answered: Answer) -> dict[str, Any]:
    """Return the least error on a file for epsilons around those of an answer; ratios between levels do not change.

    Parameters
    ----------
    users : Transactions
        Who holds what.
    answered : Answer
        An answer to a question with an error to be reached.

    Returns
    -------
    dict
        JSON-ready: ``target_error`` and ``top`` of the goal; the ``epsilon`` of the lowest level and the ``error`` of
        the answer, and the same in ``rows`` for the other epsilons; those without a plan are left out.
    """
    problem, goal = answered.plan.problem, answered.question.goal
    asked = replace(answered.question, problem=problem, goal=replace(goal, target_error=None))
    rows = []
    for factor in _FACTORS:
        if factor * problem.levels[-1] > EPSILONS[1]:
            continue
        with contextlib.suppress(InfeasibleError):
            plan = answer(at_levels(asked, factor)).plan
            rows.append({"epsilon": plan.problem.levels[0], "error": error_on(users, plan, goal)})
    own = {"epsilon": problem.levels[0], "error": error_on(users, answered.plan, goal)}
    return {"target_error": goal.target_error, "top": goal.top, **own, "rows": rows}


def guess_of(users: Transactions) -> Guess:
    """Return what users hold as a guess for a plan: the shares of all items, and of all sizes of sets."""
    sizes, counts = np.unique(users.sizes, return_counts=True)
    shares = (counts / users.n_users).tolist()
    return Guess(users.frequencies, sizes=dict(zip(sizes.tolist(), shares, strict=True)))
