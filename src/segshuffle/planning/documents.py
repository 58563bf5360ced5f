"""A plan as a file: what a server publishes, and what `client` and `estimate` read. Version 1, JSON.

    {"format": "segshuffle-plan", "version": 1, "messages": 1,
     "problem": {...}, "assumptions": {...}, "plan": {...}, "items": ["a", "b"] or null}

`problem`, `assumptions` and `plan` have the fields of `Problem`, `Assumptions` and `Plan.as_dict`. `messages` is the
version of the lines that clients send (`message_lines`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from segshuffle.accounting.numerics.ranges import LARGEST_BLANKET
from segshuffle.blankets.base import COPIES_RANGE
from segshuffle.errors import DataError, ParameterError
from segshuffle.files import read_bounded, write_atomically
from segshuffle.protocols.assumptions import Assumptions
from segshuffle.protocols.base import Plan, Problem
from segshuffle.protocols.scheme import Scheme

FORMAT, VERSION = "segshuffle-plan", 1
#: Version of the lines that clients of such a plan send.
MESSAGES = 1
#: Largest file of a plan, in bytes: a list of a million names.
_LARGEST = 2**26
_NUMBER, _TEXT = (int, float), (str,)
#: Key of each part -> types of its value.
_PROBLEM = {
    "domain_size": (int,),
    "set_size": (int,),
    "levels": (list,),
    "level_counts": (list,),
    "delta": _NUMBER,
    "level_deltas": (list,),
}
_ASSUMPTIONS = {"sets": _TEXT, "honest_fraction": _NUMBER, "private_levels": (bool,), "rounds": (int,)}
_PLAN = {
    "method": _TEXT,
    "kind": _TEXT,
    "blanket_per_user": _NUMBER,
    "messages_per_user": _NUMBER,
    "parameters": (dict,),
    "mse_bound": (int, float, type(None)),
}


@dataclass(frozen=True)
class Document:
    """A plan and the names of its items.

    Parameters
    ----------
    plan : Plan
        With copies by level.
    items : sequence of str or None
        Names, in the order of the items' numbers; None for the numbers themselves.
    """

    plan: Plan
    items: Sequence[str] | None = None

    def name(self, item: int) -> str:
        """Name of an item."""
        return str(item) if self.items is None else self.items[item]

    def number(self, name: str) -> int:
        """Return the number of an item; blanks around names make no difference, unless items differ in nothing else.

        Raises
        ------
        DataError
            If there is no such item.
        """
        if self.items is not None:
            alike = [number for number, each in enumerate(self.items) if each.strip() == name.strip()]
            found = [number for number in alike if self.items[number] == name] or alike
            if len(found) == 1:
                return found[0]
            raise DataError(f"item {name[:60]!r} is not in the plan's list of {len(self.items)} items.")
        d, name = self.plan.problem.domain_size, name.strip()
        number = int(name) if name.isascii() and name.isdigit() and len(name) <= 9 else d
        if number >= d:
            raise DataError(f"item {name[:60]!r} is none of the plan's: they are the integers 0..{d - 1}.")
        return number


def as_text(document: Document) -> str:
    """Write the document as JSON text."""
    plan = document.plan
    problem = {name: getattr(plan.problem, name) for name in _PROBLEM}
    values = plan.as_dict()
    values["mse_bound"] = values["mse_bound"] if math.isfinite(values["mse_bound"]) else None
    whole = {
        "format": FORMAT,
        "version": VERSION,
        "messages": MESSAGES,
        "problem": problem,
        "assumptions": asdict(plan.problem.assumptions),
        "plan": values,
        "items": None if document.items is None else list(document.items),
    }
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def write_document(path: Path, document: Document) -> None:
    """Write a plan, as a whole or not at all."""
    write_atomically(path, as_text(document))


def read_document(path: Path) -> Document:
    """Read a plan.

    Raises
    ------
    DataError
        If it is not one of this version, or its numbers do not fit together; names the file and the key.
    """
    content = read_bounded(path, limit=_LARGEST)
    try:
        return _document(content)
    except (ParameterError, OverflowError) as error:
        raise DataError(f"{path}: {error}") from error
    except DataError as error:
        raise DataError(f"{path}: {error} Write the plan again with segshuffle plan --save.") from error


def _document(content: bytes) -> Document:
    try:
        values = json.loads(content.decode("utf-8"), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise DataError(f"is not JSON in UTF-8 ({str(error)[:80]}).") from None
    if not isinstance(values, dict) or values.get("format") != FORMAT:
        raise DataError(f"is no plan: expected is an object with format = {FORMAT!r}.")
    for name, known in (("version", VERSION), ("messages", MESSAGES)):
        if type(values.get(name)) is not int or values[name] != known:
            raise DataError(f"{name} = {_told(values.get(name))}, but this program knows {name} = {known}.")
    problem = _part(values, "problem", _PROBLEM)
    for name in ("levels", "level_counts", "level_deltas"):
        kinds = (int,) if name == "level_counts" else _NUMBER
        if not all(_is(each, kinds) for each in problem[name]):
            raise DataError(f"problem: {name} = {_told(problem[name])}, but it must be a list of numbers.")
        problem[name] = tuple(problem[name])
    assumptions = Assumptions(**_part(values, "assumptions", _ASSUMPTIONS))
    plan = _part(values, "plan", _PLAN)
    if plan["mse_bound"] is None:
        plan["mse_bound"] = math.inf
    made = Plan.from_dict(Problem(**problem, assumptions=assumptions), plan)
    _check_parameters(made)
    return Document(made, _items(values.get("items"), made.problem.domain_size))


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number")


def _is(value: object, kinds: tuple[type, ...]) -> bool:
    # True is an int in Python, and no number here
    return isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))


def _part(values: dict[str, Any], name: str, keys: Mapping[str, tuple[type, ...]]) -> dict[str, Any]:
    part = values.get(name)
    if not isinstance(part, dict) or set(part) != set(keys):
        raise DataError(f"{name}: must be an object with the keys {', '.join(keys)}.")
    for key, kinds in keys.items():
        if not _is(part[key], kinds):
            raise DataError(f"{name}: {key} = {_told(part[key])} is of the wrong type.")
    return dict(part)


def _check_parameters(plan: Plan) -> None:
    """Check what clients and estimates take from the plan's own parameters."""
    copies, (_, most) = plan.parameters.get("copies"), COPIES_RANGE
    if (
        not isinstance(copies, list)
        or len(copies) != len(plan.problem.levels)
        or not all(_is(each, _NUMBER) and 0 <= each <= most for each in copies)
    ):
        raise DataError(
            f"plan: copies = {_told(copies)}, but it must be a list of a number in [0, {most:g}] per level."
        )
    if not 0 <= plan.blanket_per_user <= LARGEST_BLANKET:
        raise ParameterError("blanket_per_user", plan.blanket_per_user, f"in [0, {LARGEST_BLANKET:g}]")
    cap = plan.parameters.get("blanket_cap")
    if cap is not None and not _is(cap, (int,)):
        raise DataError(f"plan: blanket_cap = {_told(cap)}, but it must be an integer.")
    blanket = plan.parameters.get("blanket")
    if blanket is not None and not isinstance(blanket, dict):
        raise DataError(f"plan: blanket = {_told(blanket)} is no law of dummy messages.")
    if plan.kind != "published":
        _ = plan.scheme.parts


def _items(names: object, domain_size: int) -> list[str] | None:
    return None if names is None else checked_names(names, domain_size)


def checked_names(names: object, domain_size: int) -> list[str]:
    """Return the names of all items, if they are names.

    Raises
    ------
    DataError
        If they are not different texts, one for every item.
    """
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise DataError("items: must be null or a list of names.")
    if len(names) != domain_size or len(set(names)) != len(names):
        raise DataError(
            f"items: {len(names)} names, of which {len(set(names))} are different; needed are {domain_size}."
        )
    return names


def _told(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."


def announcement_of(plan: Plan) -> Scheme:
    """Return what the plan tells its clients.

    Raises
    ------
    ParameterError
        If clients do not have its blanket.
    """
    refuse_published(plan)
    return plan.scheme


def refuse_published(plan: Plan) -> None:
    """Refuse a plan whose numbers are not proven: it has another blanket than these clients."""
    if plan.kind == "published":
        raise ParameterError("kind", plan.kind, "exact or upper: only proven plans are carried out")
