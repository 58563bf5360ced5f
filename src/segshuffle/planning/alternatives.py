"""All protocols of the project side by side: what each would send and how far off it would be."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from segshuffle.arrays import FloatArray
from segshuffle.errors import SegshuffleError
from segshuffle.protocols.base import Method, Problem
from segshuffle.protocols.registry import every, look_of, made


def side_by_side(
    problem: Problem,
    item_counts: FloatArray,
    *,
    copies_max: float,
    max_messages: float | None,
) -> list[dict[str, Any]]:
    """Plan with every declared method: rows from the least error on, and last, with reasons, those without a plan.

    Parameters
    ----------
    problem : Problem
        What is planned for.
    item_counts : ndarray of float, shape (domain_size,)
        Holders of every item, by a guess.
    copies_max, max_messages : float
        For those that take them.

    Returns
    -------
    list of dict
        ``label``, ``accounting``, ``kind``, ``messages_per_user``, ``deviation`` (root of the mean squared error of an
        item, a share of the users), ``none`` (why there is no plan, or None).
    """
    rows = []
    for (accounting, name), declared in every().items():
        method = made(declared, {"copies_max": copies_max} if accounting == "proven" else {})
        label = look_of(name, accounting=accounting).label
        row: dict[str, Any] = {"name": name, "label": label, "accounting": accounting}
        rows.append(row | _numbers(_within(method, max_messages), problem, np.rint(item_counts).astype(np.int64)))
    return sorted(rows, key=lambda row: math.inf if row["deviation"] is None else row["deviation"])


def _within(method: Method, max_messages: float | None) -> Method:
    asked: Any = method
    return replace(asked, max_messages=max_messages) if hasattr(asked, "max_messages") and max_messages else method


def _numbers(method: Method, problem: Problem, counts: Any) -> dict[str, Any]:
    try:
        plan = method.plan(problem)
        mean = method.expected_mse(plan, counts) / problem.domain_size
    except SegshuffleError as error:
        return {"kind": None, "messages_per_user": None, "deviation": None, "none": str(error)}
    return {
        "kind": plan.kind,
        "messages_per_user": plan.messages_per_user,
        "deviation": math.sqrt(mean),
        "none": None,
    }
