"""Plans with a blanket by name, or with every blanket as a table: error, messages and certificate."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from segshuffle.errors import InfeasibleError, ParameterError

if TYPE_CHECKING:
    from segshuffle.protocols.base import Method, Plan, Problem

#: What the other options of `plan` would mean for a blanket that is searched.
_LEFT_OUT = {"blanket_per_user": None, "blanket_cap": None, "equal_copies": False, "accountant": "proven"}


def chosen(options: argparse.Namespace, problem: Problem, counts: Any, spent: float) -> dict[str, Any]:
    """Answer with the plan of the blanket that was asked for, or with all of them."""
    from segshuffle.protocols.messages.budget import left_for_items

    for name, plain in _LEFT_OUT.items():
        if getattr(options, name) != plain:
            raise ParameterError(
                name.replace("_", "-"), getattr(options, name), "left out with --blanket and --target-error"
            )
    left = None if options.max_messages is None else left_for_items(options.max_messages, spent)
    methods = _methods(options.copies_max, left, options.target_error)
    if options.blanket == "all":
        rows = [_row(name, method, problem, counts, spent) for name, method in methods.items()]
        for row in rows:
            row.pop("plan", None)
        return {"blankets": rows} if options.json else {row.pop("blanket"): _short(row) for row in rows}
    return _row(options.blanket, methods[options.blanket], problem, counts, spent)


def _methods(copies_max: float, budget: float | None, error: float | None) -> dict[str, Method]:
    from segshuffle.protocols.clustered import ClusteredSegmented
    from segshuffle.protocols.poisson import PoissonSegmented
    from segshuffle.protocols.signed import SignedSegmented

    single: Method = PoissonSegmented(copies_max=copies_max, max_messages=budget)
    if error is not None:
        single = ClusteredSegmented(copies_max, target_error=error, cluster=0.0)
    return {
        "poisson": single,
        "clustered": ClusteredSegmented(copies_max, budget, error),
        "signed": SignedSegmented(copies_max, budget, error),
    }


def _row(name: str, method: Method, problem: Problem, counts: Any, spent: float) -> dict[str, Any]:
    """One blanket; a table says of one that has no plan why, and shows the others."""
    try:
        plan = method.plan(problem)
    except InfeasibleError as error:
        return {"blanket": name, "none": str(error)}
    return {"blanket": name, **numbers_of(method, plan, counts, spent)}


def numbers_of(method: Method, plan: Plan, counts: Any, spent: float) -> dict[str, Any]:
    """What is shown of a plan of any blanket, and the plan."""
    from segshuffle.rehearsal.wording import bytes_per_message

    return {
        "mse_sample": method.expected_mse(plan, counts),
        "messages_per_user": plan.messages_per_user + spent,
        "blanket_per_user": plan.blanket_per_user,
        "copies": list(plan.parameters["copies"]),
        "law": plan.parameters.get("blanket", {"name": "poisson"}),
        "certificate": plan.parameters["certificate"],
        "bytes_per_message": bytes_per_message(plan),
        "kind": plan.kind,
        "plan": plan,
    }


def _short(row: dict[str, Any]) -> dict[str, Any]:
    """The row as a line of a table: the certificate by its largest delta."""
    if "none" in row:
        return row
    law = row["law"]
    return {
        "error": row["mse_sample"],
        "messages": row["messages_per_user"],
        "dummies": row["blanket_per_user"],
        "delta": max(level["delta_upper"] for level in row["certificate"]),
        **({"law": law} if len(law) > 1 else {}),
    }
