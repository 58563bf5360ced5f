"""Set sizes: choose the best one for the most frequent items, or compare them by the error of all items."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from segshuffle.arrays import FloatArray, IntArray
from segshuffle.collection.padding import Holders, check_cells, error_of_sets
from segshuffle.collection.planning.answer import Answer
from segshuffle.collection.planning.question import Question
from segshuffle.datasets.own.transactions import Transactions
from segshuffle.errors import InfeasibleError
from segshuffle.plans.item_variance import ItemVariance
from segshuffle.plans.plan import Plan, SetKind


def chosen(users: Transactions, make: Callable[[int], Answer], top: int) -> Answer:
    """Choose the answer with the least error, messages or epsilon among sizes 1, 2, 3, 4, 6, 8, 11, ... of sets.

    Parameters
    ----------
    users : Transactions
        Who holds what.
    make : callable
        Returns the answer for a set size; a size without a plan is left out.
    top : int
        Number of most frequent items that count.

    Raises
    ------
    InfeasibleError
        If no size has a plan; the error is that of the largest size.
    """
    items = top_items(users, top)

    def cost(answered: Answer) -> tuple[float, float]:
        """Return what the goal minimises, and then the messages."""
        plan, goal = answered.plan, answered.question.goal.finds
        if goal == "messages":
            return plan.messages_per_user, 0.0
        if goal == "epsilon":
            return plan.problem.levels[0], plan.messages_per_user
        return float(np.mean(squared_errors(users, plan)[items])), plan.messages_per_user

    sizes, answers = candidates(max(users.largest_set, 1), users.domain_size), list[Answer]()
    reasons = []
    for size in sizes:
        try:
            answers.append(make(size))
        except InfeasibleError as error:
            reasons.append(error)
    if not answers:
        # small sets may only fail because they are cut
        raise reasons[-1]
    return min(answers, key=cost)


def top_items(users: Transactions, top: int) -> IntArray:
    """Return the most frequent items of a file; one item if nobody holds any."""
    held = int(np.count_nonzero(users.item_counts))
    return np.argsort(-users.item_counts, kind="stable")[: min(top, held) or 1]


def squared_errors(users: Transactions, plan: Plan) -> FloatArray:
    """Return the expected squared error of every item, of noise and of cutting, shape (domain_size,)."""
    sent = kept_shares(users, plan.problem.set_size)
    return (sent - users.frequencies) ** 2 + ItemVariance.of(plan).at(sent)


def candidates(largest: int, domain_size: int) -> list[int]:
    """List the sizes to try: 1, 2, 3, 4, 6, 8, 11, ..., and the largest set; below the domain size if possible."""
    steps = {round(2 ** (i / 2)) for i in range(2 * math.ceil(math.log2(largest)) + 1)}
    most = min(largest, max(domain_size - 1, 1))
    return sorted(size for size in steps | {most} if size <= most)


def kept_shares(users: Transactions, set_size: int) -> FloatArray:
    """Return the expected shares of the users who send each item after cutting, shape (domain_size,)."""
    sizes: IntArray = users.sizes
    kept = np.minimum(1.0, set_size / np.maximum(sizes, 1))
    return np.bincount(users.codes, weights=np.repeat(kept, sizes), minlength=users.domain_size) / users.n_users


def holders_of(users: Transactions) -> Holders:
    """Count users by the size of their set, and who holds each item.

    Raises
    ------
    ParameterError
        If the table of sizes and items has more than 5e7 entries.
    """
    d = users.domain_size
    sizes, place, counts = np.unique(users.sizes, return_inverse=True, return_counts=True)
    check_cells(d, sizes.size)
    cells = np.repeat(place, users.sizes) * d + users.codes
    return Holders(sizes, counts, np.bincount(cells, minlength=sizes.size * d).reshape(sizes.size, d))


def compared(
    question: Question,
    holders: Holders,
    sizes: Sequence[int],
    kinds: Sequence[SetKind],
) -> list[dict[str, Any]]:
    """Return the error of every size and kind of sets, a row each, JSON-ready.

    Parameters
    ----------
    question : Question
        How to plan; set size and kind of sets of its problem are replaced.
    holders : Holders
        As from `holders_of` or `collection.padding.guessed_holders`; the problem's users have the same shares.
    sizes : sequence of int
        Largest numbers of items that a user sends.
    kinds : sequence of {"at-most", "exactly"}
        With "exactly", users pad with items that they do not hold.

    Returns
    -------
    list of dict
        ``mse`` is the expected squared error of all items against what users hold. ``squared_bias`` is its part that
        does not become smaller with more users.
    """

    def row(kind: SetKind, size: int) -> dict[str, Any]:
        problem = question.problem
        asked = replace(problem, set_size=size, assumptions=replace(problem.assumptions, sets=kind))
        plan, squared_bias, mse = error_of_sets(question.planner, asked, holders)
        return {
            "sets": kind,
            "set_size": size,
            "mse": mse,
            "squared_bias": squared_bias,
            "messages_per_user": plan.messages_per_user + question.level_messages,
            "kind": plan.kind,
        }

    return [row(kind, size) for kind in kinds for size in sizes]
