"""Plans with a blanket by name, and all blankets side by side: error, messages and certificate."""

from __future__ import annotations

import argparse
import textwrap
from typing import TYPE_CHECKING, Any

from segshuffle.errors import InfeasibleError, ParameterError

if TYPE_CHECKING:
    from segshuffle.protocols.base import Method, Plan, Problem

#: What the other options of `plan` would mean for a blanket that is searched.
_LEFT_OUT = {"blanket_per_user": None, "blanket_cap": None, "equal_copies": False, "accountant": "proven"}
#: Seconds of a processor that one blanket may take beside a plan that was not asked for it.
PATIENCE = 4.0
_WIDTH = 80


def chosen(options: argparse.Namespace, problem: Problem, counts: Any, spent: float) -> dict[str, Any]:
    """Answer with the plan of the blanket that was asked for, or with all of them."""
    for name, plain in _LEFT_OUT.items():
        if getattr(options, name) != plain:
            raise ParameterError(
                name.replace("_", "-"), getattr(options, name), "left out with --blanket and --target-error"
            )
    if options.blanket == "all":
        return {"blankets": compared(options, problem, counts, spent)}
    method = _method(options.blanket, options, spent)
    return {"blanket": options.blanket, **numbers_of(method, method.plan(problem), counts, spent)}


def comparable(options: argparse.Namespace) -> bool:
    """Whether the question can be asked of every blanket."""
    relative = options.target_error is not None and not isinstance(options.target_error, float)
    return not relative and all(getattr(options, name) == plain for name, plain in _LEFT_OUT.items())


def compared(
    options: argparse.Namespace, problem: Problem, counts: Any, spent: float, made: Plan | None = None
) -> list[dict[str, Any]]:
    """Every blanket's numbers; beside a Poisson plan that is `made`, only of those that do not take long."""
    from segshuffle.rehearsal.planning import BLANKETS

    rows = list[dict[str, Any]]()
    for name in BLANKETS:
        method = _method(name, options, spent)
        seconds = 0.0 if made is None else _seconds(name, options, problem)
        if made is not None and name == "poisson":
            row = numbers_of(method, made, counts, spent)
        elif seconds > PATIENCE:
            row = {"none": f"not tried, it takes about {seconds:.0f} s: --blanket {name}"}
        else:
            row = _row(method, problem, counts, spent)
        row.pop("plan", None)
        rows.append({"blanket": name, **row})
    return rows


def _method(name: str, options: argparse.Namespace, spent: float) -> Method:
    from segshuffle.protocols.messages.budget import left_for_items
    from segshuffle.rehearsal.planning import method

    left = None if options.max_messages is None else left_for_items(options.max_messages, spent)
    return method(name, copies_max=options.copies_max, max_messages=left, target_error=options.target_error)


def _seconds(name: str, options: argparse.Namespace, problem: Problem) -> float:
    """About how long another blanket takes, in seconds of a processor: within a factor of three."""
    from segshuffle.protocols.cautions import expected_seconds

    if name == "poisson":
        return 0.0
    # measured over the Poisson plan; for an error, a signed blanket is planned with one budget after the other
    many = 2.5 if options.target_error is None or name == "clustered" else 20.0
    return many * expected_seconds(problem)


def _row(method: Method, problem: Problem, counts: Any, spent: float) -> dict[str, Any]:
    """One blanket; a table says of one that has no plan why, and shows the others."""
    try:
        return numbers_of(method, method.plan(problem), counts, spent)
    except InfeasibleError as error:
        return {"none": str(error)}


def numbers_of(method: Method, plan: Plan, counts: Any, spent: float) -> dict[str, Any]:
    """What is shown of a plan of any blanket, and the plan."""
    from segshuffle.rehearsal.wording import bytes_per_message

    return {
        "mse_sample": method.expected_mse(plan, counts),
        "messages_per_user": plan.messages_per_user + spent,
        "blanket_per_user": plan.blanket_per_user,
        "copies": list(plan.parameters["copies"]),
        "law": plan.scheme.law.as_dict(),
        "certificate": plan.parameters["certificate"],
        "bytes_per_message": bytes_per_message(plan),
        "kind": plan.kind,
        "plan": plan,
    }


def as_text(rows: list[dict[str, Any]]) -> str:
    """The rows as a table, with the largest delta that each level may have."""
    head = f"{'blanket':<9}  {'error':>10}  {'messages':>8}  {'dummies':>8}  delta of each level, at most"
    lines = [head]
    for row in rows:
        if "none" in row:
            lines.append(textwrap.fill(f"{row['blanket']:<9}  {row['none']}", _WIDTH, subsequent_indent=" " * 11))
            continue
        deltas = ", ".join(f"{level['delta_upper']:.3g}" for level in row["certificate"])
        lines.append(
            f"{row['blanket']:<9}  {row['mse_sample']:>10.4g}  {row['messages_per_user']:>8.4g}  "
            f"{row['blanket_per_user']:>8.4g}  {deltas}"
        )
    return "\n".join(lines)
