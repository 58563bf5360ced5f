"""Plans for several values of one or two public numbers, as a table and curves, and plans with other protocols."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from segshuffle.collection.planning.answer import Answer, answer, plan_items
from segshuffle.collection.planning.asked import TOP
from segshuffle.collection.planning.question import Question
from segshuffle.digits import rounded
from segshuffle.drawing.looks import label_of
from segshuffle.errors import InfeasibleError, ParameterError, SegshuffleError
from segshuffle.numerics.ranges import check_integer, whole_if_equal
from segshuffle.plans.method import Method, MethodEntry
from segshuffle.plans.plan import Plan
from segshuffle.plans.registry import every, made
from segshuffle.plans.shares import level_counts
from segshuffle.protocols.proven import ProvenSegmented

#: Names of the integers that may be varied, and of all numbers.
INTEGERS = ("users", "set_size", "items", "rounds")
VARIED = (*INTEGERS, "epsilon", "delta", "honest_fraction", "max_messages")
#: Measure -> name of a curve -> its points.
Panels = dict[str, dict[str, list[tuple[float, float]]]]


def changed(question: Question, values: Mapping[str, float]) -> Question:
    """Change values of a question; shares of users and ratios between levels do not change.

    Parameters
    ----------
    question : Question
        What is varied.
    values : mapping of str to float
        Name -> value, as for `table`; epsilon is the lowest level.
    """
    problem, assumptions, limits = question.problem, question.problem.assumptions, question.limits
    for name, given in values.items():
        value = whole_if_equal(given)
        if name in INTEGERS:
            check_integer(name, value, 1)
        if name == "users":
            shares = [count / problem.n_users for count in problem.level_counts]
            problem = replace(problem, level_counts=level_counts(value, shares))
        elif name == "epsilon":
            factor = value / problem.levels[0]
            problem = replace(problem, levels=tuple(rounded(factor * level) for level in problem.levels))
        elif name == "delta":
            problem = replace(problem, delta=value, level_deltas=())
        elif name == "items":
            problem = replace(problem, domain_size=value)
        elif name == "set_size":
            problem = replace(problem, set_size=value)
        elif name == "max_messages":
            limits = replace(limits, max_messages=value)
        else:
            assumptions = replace(assumptions, **{name: value})
    return replace(question, problem=replace(problem, assumptions=assumptions), limits=limits)


def table(question: Question, values: Mapping[str, tuple[float, ...]]) -> list[dict[str, Any]]:
    """Answer a question for every combination of values; each row begins with its values.

    Parameters
    ----------
    question : Question
        What is varied.
    values : mapping of str to tuple of float
        Values of one or more of `VARIED`. If a value is not allowed, or there is no plan, the
        row has the reason in ``none``.
    """
    rows = []
    for each in itertools.product(*values.values()):
        point: dict[str, Any] = dict(zip(values, each, strict=True))
        try:
            answered = answer(changed(question, point))
        except (InfeasibleError, ParameterError) as error:
            rows.append({**point, "none": str(error)})
            continue
        if question.goal.finds == "epsilon":
            point["least_epsilon"] = answered.plan.problem.levels[0]
        point |= {
            "messages": answered.numbers["messages_per_user"],
            "error_users": answered.numbers["deviation_users"],
            "error_%": 100 * answered.worth.deviation,
        }
        if answered.worth.top is not None:
            point["top_error_%"] = 100 * answered.worth.relative
        rows.append({**point, "none": None})
    return rows


def curves(question: Question, rows: Sequence[Mapping[str, Any]], keys: Sequence[str]) -> tuple[str, Panels]:
    """Return the key with more values, and curves over it: for each measure, one curve per value of the other key.

    Parameters
    ----------
    question : Question
        What was varied.
    rows : sequence of mapping
        Rows of `table`.
    keys : sequence of str
        Names of the one or two columns of values.
    """
    error = {"error_%": "error, % of the users"}
    if question.guess.frequencies is not None:
        largest = max((row.get("items", question.problem.domain_size) for row in rows), default=TOP)
        error = {"top_error_%": f"error of the top {min(question.goal.top or TOP, int(largest))}, % of their share"}
    measures = {**error, "messages": "messages per user"}
    along, *others = sorted(keys, key=lambda key: -len({row[key] for row in rows}))
    panels: Panels = {label: {} for label in measures.values()}
    for row in sorted((row for row in rows if row["none"] is None), key=lambda row: row[along]):
        name = ", ".join(f"{other} = {row[other]:g}" for other in others) or "plan"
        for measure, label in measures.items():
            panels[label].setdefault(name, []).append((row[along], row[measure]))
    return along, panels


def side_by_side(answered: Answer) -> list[dict[str, Any]]:
    """Plan with every protocol; rows are sorted by error, and protocols without a plan are last, with reasons.

    Every plan meets the guarantee that was asked for; protocols with one level for all users take the lowest.

    Parameters
    ----------
    answered : Answer
        The answer to compare with. Plans of our protocol answer the same question (`Answer.compared`). Of the others,
        errors are at the same guess.

    Returns
    -------
    list of dict
        ``name``, ``label``, ``accounting``, ``kind``, ``messages_per_user``, ``deviation`` (root of the mean squared
        error of an item, a share of the users), ``useless`` (whether an answer that uses no data has no larger error),
        ``none`` (why there is no plan, or None).
    """
    problem, question = answered.plan.problem, answered.compared
    counts: Any = question.guess.counts(problem)
    rows = []
    for (accounting, name), entry in every().items():
        row: dict[str, Any] = {
            "name": name,
            "label": label_of(name, accounting),
            "accounting": accounting,
            **dict.fromkeys(("kind", "messages_per_user", "deviation", "useless", "none")),
        }
        try:
            method, plan = _planned(entry, question)
            error = method.expected_mse(plan, counts) + question.squared_loss
            row |= {"kind": plan.kind, "messages_per_user": plan.messages_per_user + question.level_messages}
            row |= {"deviation": math.sqrt(error / problem.domain_size), "useless": error >= problem.error_without_data}
        except SegshuffleError as error:
            row["none"] = str(error)
        rows.append(row)
    return sorted(rows, key=lambda row: math.inf if row["deviation"] is None else row["deviation"])


def _planned(entry: MethodEntry, question: Question) -> tuple[Method, Plan]:
    """Return a protocol and its plan for the guarantee of a question; our protocol also answers the question itself."""
    level = {"local_epsilon": question.problem.levels[0]} if entry.local else {}
    method: Any = made(entry, {"copies_max": question.limits.copies_max}, level)
    if isinstance(method, ProvenSegmented):
        equal = method.equal_copies or question.limits.equal_copies
        limits = replace(question.limits, copies_max=method.copies_max, equal_copies=equal)
        own = replace(question, dummies=method.laws[-1], limits=limits)
        if method.group_privacy:
            return method, own.capped(replace(own.method, group_privacy=True)).plan(own.problem)
        plan = plan_items(own)
        if note := Answer(own, plan).note:
            raise InfeasibleError(note)
        return method, plan
    return method, entry.plan(method, question.problem)
