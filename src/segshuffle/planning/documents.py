"""A plan as a file: what a server publishes, and what `client` and `estimate` read. Version 2, JSON.

    {"format": "segshuffle-plan", "version": 2, "messages": 1, "problem": {...}, "assumptions": {...},
     "scheme": {...}, "plan": {...}, "asked": {...}, "items": ["a", "b"] or null}

`problem`, `assumptions`, `scheme` and `plan` have fields of `Problem`, `Assumptions`, `Scheme` and `Plan`; `asked` has
the limits, guess and goal that were given, for people. `messages` is the version of the lines that clients send
(`message_lines`).
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from segshuffle.accounting.numerics.ranges import check_choice, check_within
from segshuffle.blankets.base import COPIES_RANGE
from segshuffle.errors import DataError
from segshuffle.files import read_bounded, write_atomically
from segshuffle.protocols.base import Assumptions, Plan, Problem
from segshuffle.protocols.planner import checked_mean
from segshuffle.protocols.scheme import Collection, Scheme

#: Format, its version, and the version of the lines that clients of such a plan send.
HEAD = {"format": "segshuffle-plan", "version": 2, "messages": 1}
#: Largest file of a plan, in bytes: a list of a million names.
_LARGEST = 2**26
#: Part -> its keys.
_PARTS = {
    "problem": ("domain_size", "set_size", "levels", "level_counts", "delta", "level_deltas"),
    "assumptions": ("sets", "honest_fraction", "private_levels", "rounds"),
    "scheme": ("copies", "blanket_per_user", "law", "blanket_cap"),
    "plan": ("method", "kind", "messages_per_user", "mse_bound", "certificate"),
}


@dataclass(frozen=True)
class Document:
    """A plan, and the names of its items.

    Parameters
    ----------
    plan : Plan
        A plan with a number of copies (messages about a held item) for each level.
    items : sequence of str or None
        Names, in the order of the items' numbers; None for the numbers themselves.
    asked : mapping
        What the plan was made for, besides the problem: fields of `Goal`, `Limits` and `Guess`, for readers.
    """

    plan: Plan
    items: Sequence[str] | None = None
    asked: Mapping[str, Any] = field(default_factory=dict)

    def name(self, item: int) -> str:
        """Return the name of an item."""
        return str(item) if self.items is None else self.items[item]


def write_document(path: Path, document: Document) -> None:
    """Write a plan, completely or not at all."""
    plan = document.plan
    said = {
        "problem": vars(plan.problem),
        "assumptions": vars(plan.problem.assumptions),
        "scheme": plan.scheme.as_dict(),
        "plan": {**plan.as_dict(), "mse_bound": plan.mse_bound if math.isfinite(plan.mse_bound) else None},
    }
    parts = {part: {name: said[part][name] for name in names} for part, names in _PARTS.items()}
    whole = {
        **HEAD,
        **parts,
        "asked": dict(document.asked),
        "items": None if document.items is None else list(document.items),
    }
    write_atomically(path, json.dumps(whole, indent=1, ensure_ascii=False) + "\n")


def read_document(path: Path) -> Document:
    """Read a plan.

    Raises
    ------
    DataError
        If the file is not a plan of this version, or its numbers contradict each other or are not proven. The error
        names the file and what is wrong.
    """
    content = read_bounded(path, limit=_LARGEST)
    try:
        return _document(json.loads(content))
    except (ValueError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
        reason = str(error).rstrip(".")
        raise DataError(f"{path} is no plan: {reason}. Write it again with segshuffle plan --save.") from error


def _document(values: Any) -> Document:
    values = values if isinstance(values, dict) else {}
    for name, known in HEAD.items():
        if values.get(name) != known:
            raise DataError(f"{name} = {values.get(name)!r:.60}, but this program knows {name} = {known!r}.")
    problem, assumptions, own, plan = (_part(values, name) for name in _PARTS)
    asked = Problem(**problem, assumptions=Assumptions(**assumptions))
    if not isinstance(own["copies"], list) or len(own["copies"]) != len(asked.levels):
        raise DataError(f"copies = {own['copies']!r:.60}, but a list of one number per level is needed.")
    for each in own["copies"]:
        check_within("copies", each, 0, COPIES_RANGE[1])
    sizes = {"domain_size": asked.domain_size, "set_size": asked.set_size, "n_users": asked.n_users}
    scheme = Scheme.from_dict({**sizes, **own})
    check_choice("kind", plan["kind"], ("exact", "upper"))  # only proven plans are carried out
    made = Plan(
        method=plan["method"],
        problem=asked,
        kind=plan["kind"],
        blanket_per_user=scheme.blanket_per_user,
        messages_per_user=float(plan["messages_per_user"]),
        mse_bound=math.inf if plan["mse_bound"] is None else float(plan["mse_bound"]),
        collections=(Collection(scheme, tuple(range(len(asked.levels))), 1.0),),
        certificate=tuple(plan["certificate"]),
    )
    checked_mean(asked, scheme.law, scheme.blanket_per_user)
    names = values.get("items")
    return Document(made, None if names is None else checked_names(names, asked.domain_size))


def _part(values: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a part if it has its keys."""
    part = values.get(name)
    if not isinstance(part, dict) or set(part) != set(_PARTS[name]):
        raise DataError(f"{name} must be an object with the keys {', '.join(_PARTS[name])}.")
    return part


def checked_names(names: object, domain_size: int) -> list[str]:
    """Return the names of all items; refuse anything but different texts, one for every item."""
    if (
        not isinstance(names, list)
        or not all(isinstance(name, str) for name in names)
        or not len(set(names)) == len(names) == domain_size
    ):
        raise DataError(f"items = {names!r:.60}, but a list of {domain_size} different names is needed.")
    return names
