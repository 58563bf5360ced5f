"""The largest sets that users should send, compared by the error of all items: on data, or on a guess of the sizes.

A small set cuts entries off, which biases the estimates; a large one needs more noise. Users who hold fewer items pad
with others, which biases the estimates again, or send fewer, which does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from segshuffle.arrays import FloatArray, IntArray
from segshuffle.datasets.transactions import Transactions
from segshuffle.errors import ParameterError
from segshuffle.protocols.base import Problem, SetKind
from segshuffle.protocols.padding import error_of_sets
from segshuffle.protocols.proven import ProvenSegmented

#: Most items: a table has a row per size and a column per item.
_LARGEST_DOMAIN = 4000


def holders_of(users: Transactions) -> tuple[IntArray, IntArray]:
    """Count users by the size of their set, shape (d + 1,), and who holds each item, shape (d + 1, d).

    Raises
    ------
    ParameterError
        If there are more than 4000 items.
    """
    d, sizes = users.domain_size, users.sizes
    if d > _LARGEST_DOMAIN:
        raise ParameterError("domain_size", d, f"at most {_LARGEST_DOMAIN} where sizes of sets are compared")
    cells = np.repeat(sizes, sizes) * d + users.codes
    return np.bincount(sizes, minlength=d + 1), np.bincount(cells, minlength=(d + 1) * d).reshape(d + 1, d)


def compared(
    method: ProvenSegmented,
    problem: Problem,
    users: IntArray | FloatArray,
    holders: IntArray | FloatArray,
    sizes: Sequence[int],
    kinds: Sequence[SetKind] = ("at-most",),
) -> list[dict[str, Any]]:
    """Return the error of every size and kind of sets, a row each, JSON-ready.

    Parameters
    ----------
    method : ProvenSegmented
        What plans.
    problem : Problem
        What is planned for; its set size and kind of sets are replaced.
    users, holders : ndarray
        As from `holders_of` or `protocols.padding.guessed_holders`; the problem's users have the same shares.
    sizes : sequence of int
        Largest numbers of items that a user sends.
    kinds : sequence of {"at-most", "exactly"}
        With "exactly", users pad with items that they do not hold.

    Returns
    -------
    list of dict
        ``mse`` is the expected squared error of all items against what users hold, ``squared_bias`` the part of it
        that no number of users removes.
    """

    def row(kind: SetKind, size: int) -> dict[str, Any]:
        asked = replace(problem, set_size=size, assumptions=replace(problem.assumptions, sets=kind))
        plan, squared_bias, mse = error_of_sets(method, asked, users, holders)
        return {
            "sets": kind,
            "set_size": size,
            "mse": mse,
            "squared_bias": squared_bias,
            "messages_per_user": plan.messages_per_user,
            "kind": plan.kind,
        }

    return [row(kind, size) for kind in kinds for size in sizes]
