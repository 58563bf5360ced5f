"""All protocols of the project side by side: what each would send and how far off it would be."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from segshuffle.errors import SegshuffleError
from segshuffle.planning.question import Answer
from segshuffle.protocols.registry import every, look_of, made


def side_by_side(found: Answer) -> list[dict[str, Any]]:
    """Plan with every declared method: rows from the least error on, and last, with reasons, those without a plan.

    Parameters
    ----------
    found : Answer
        To be compared with; its guess, and those of its limits that a method takes, count.

    Returns
    -------
    list of dict
        ``label``, ``accounting``, ``kind``, ``messages_per_user``, ``deviation`` (root of the mean squared error of an
        item, a share of the users), ``none`` (why there is no plan, or None).
    """
    problem, limits = found.plan.problem, found.question.limits
    counts = np.rint(found.question.guess.counts(problem)).astype(np.int64)
    rows = []
    for (accounting, name), declared in every().items():
        method: Any = made(declared, {"copies_max": limits.copies_max} if accounting == "proven" else {})
        if limits.max_messages and hasattr(method, "max_messages"):
            method = replace(method, max_messages=limits.max_messages)
        row: dict[str, Any] = {"name": name, "label": look_of(name, accounting=accounting).label}
        row |= {"accounting": accounting, "kind": None, "messages_per_user": None, "deviation": None, "none": None}
        try:
            plan = method.plan(problem)
            deviation = math.sqrt(method.expected_mse(plan, counts) / problem.domain_size)
            row |= {"kind": plan.kind, "messages_per_user": plan.messages_per_user, "deviation": deviation}
        except SegshuffleError as error:
            row["none"] = str(error)
        rows.append(row)
    return sorted(rows, key=lambda row: math.inf if row["deviation"] is None else row["deviation"])
