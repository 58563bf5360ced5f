"""Set sizes: choose the best one for the most frequent items, or compare them by the error of all items."""

import contextlib
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from segshuffle.accounting.numerics.ranges import check_integer
from segshuffle.arrays import FloatArray, IntArray
from segshuffle.datasets.transactions import Transactions
from segshuffle.errors import InfeasibleError
from segshuffle.planning.question import Answer, Question
from segshuffle.protocols.base import SetKind
from segshuffle.protocols.item_variance import ItemVariance
from segshuffle.protocols.padding import error_of_sets

#: Most items, because a table has a row per size and a column per item.
_LARGEST_DOMAIN = 4000


def chosen(users: Transactions, make: Callable[[int], Answer], top: int) -> Answer:
    """Choose the answer with the least error among set sizes 1, 2, 3, 4, 6, 8, 11, ... up to the largest set.

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
        If no size has a plan; the error is that of the smallest size.
    """
    holders = users.item_counts
    items = np.argsort(-holders, kind="stable")[: min(top, int(np.count_nonzero(holders))) or 1]
    true = users.frequencies[items]

    def squared_error(found: Answer) -> float:
        sent = kept_shares(users, found.plan.problem.set_size)[items]
        return float(np.mean((sent - true) ** 2 + ItemVariance.of(found.plan).at(sent)))

    sizes, answers = candidates(max(users.largest_set, 1), users.domain_size), list[Answer]()
    for size in sizes:
        with contextlib.suppress(InfeasibleError):
            answers.append(make(size))
    # where no size has a plan, this says why the smallest has none
    return min(answers, key=squared_error) if answers else make(sizes[0])


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


def holders_of(users: Transactions) -> tuple[IntArray, IntArray]:
    """Count users by the size of their set, shape (d + 1,), and who holds each item, shape (d + 1, d).

    Raises
    ------
    ParameterError
        If there are more than 4000 items.
    """
    d, sizes = users.domain_size, users.sizes
    check_integer("domain_size", d, 1, f"at most {_LARGEST_DOMAIN} where sizes are compared", most=_LARGEST_DOMAIN)
    cells = np.repeat(sizes, sizes) * d + users.codes
    return np.bincount(sizes, minlength=d + 1), np.bincount(cells, minlength=(d + 1) * d).reshape(d + 1, d)


def compared(
    question: Question,
    holders: tuple[IntArray | FloatArray, IntArray | FloatArray],
    sizes: Sequence[int],
    kinds: Sequence[SetKind] = ("at-most",),
) -> list[dict[str, Any]]:
    """Return the error of every size and kind of sets, a row each, JSON-ready.

    Parameters
    ----------
    question : Question
        How to plan; set size and kind of sets of its problem are replaced.
    holders : tuple of ndarray
        As from `holders_of` or `protocols.padding.guessed_holders`; the problem's users have the same shares.
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
        plan, squared_bias, mse = error_of_sets(question.planner, asked, *holders)
        return {
            "sets": kind,
            "set_size": size,
            "mse": mse,
            "squared_bias": squared_bias,
            "messages_per_user": plan.messages_per_user + question.level_messages,
            "kind": plan.kind,
        }

    return [row(kind, size) for kind in kinds for size in sizes]
