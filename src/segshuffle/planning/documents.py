"""A plan as a file: what a server publishes, and what `client` and `estimate` read. Version 2, JSON.

    {"format": "segshuffle-plan", "version": 2, "messages": 1, "problem": {...}, "assumptions": {...},
     "scheme": {...}, "plan": {...}, "items": ["a", "b"] or null}

`problem`, `assumptions`, `scheme` and `plan` have fields of `Problem`, `Assumptions`, `Scheme` and `Plan`. `messages`
is the version of the lines that clients send (`message_lines`).
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from segshuffle.blankets.base import COPIES_RANGE
from segshuffle.errors import DataError, ParameterError
from segshuffle.files import read_bounded, write_atomically
from segshuffle.protocols.base import Assumptions, Plan, Problem
from segshuffle.protocols.scheme import Collection, Scheme

FORMAT, VERSION = "segshuffle-plan", 2
#: Version of the lines that clients of such a plan send.
MESSAGES = 1
#: Largest file of a plan, in bytes: a list of a million names.
_LARGEST = 2**26
_NUMBER = int | float
#: Part -> key -> type of its value. Lists contain numbers, except the certificate.
_PARTS: dict[str, dict[str, Any]] = {
    "problem": {
        "domain_size": int,
        "set_size": int,
        "levels": list,
        "level_counts": list,
        "delta": _NUMBER,
        "level_deltas": list,
    },
    "assumptions": {"sets": str, "honest_fraction": _NUMBER, "private_levels": bool, "rounds": int},
    "scheme": {"copies": list, "blanket_per_user": _NUMBER, "law": dict, "blanket_cap": int | None},
    "plan": {
        "method": str,
        "kind": str,
        "messages_per_user": _NUMBER,
        "mse_bound": _NUMBER | None,
        "certificate": list,
    },
}


@dataclass(frozen=True)
class Document:
    """A plan, and the names of its items.

    Parameters
    ----------
    plan : Plan
        A plan with copies by level.
    items : sequence of str or None
        Names, in the order of the items' numbers; None for the numbers themselves.
    """

    plan: Plan
    items: Sequence[str] | None = None

    def name(self, item: int) -> str:
        """Name of an item."""
        return str(item) if self.items is None else self.items[item]

    def number(self, name: str) -> int:
        """Return the number of an item; blanks around names are ignored, unless two items differ only in these.

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


def write_document(path: Path, document: Document) -> None:
    """Write a plan, completely or not at all."""
    plan = document.plan
    said = {
        "problem": vars(plan.problem),
        "assumptions": vars(plan.problem.assumptions),
        "scheme": plan.scheme.as_dict(),
        "plan": {**plan.as_dict(), "mse_bound": plan.mse_bound if math.isfinite(plan.mse_bound) else None},
    }
    whole = {
        "format": FORMAT,
        "version": VERSION,
        "messages": MESSAGES,
        **{part: {name: said[part][name] for name in names} for part, names in _PARTS.items()},
        "items": None if document.items is None else list(document.items),
    }
    write_atomically(path, json.dumps(whole, indent=1, ensure_ascii=False) + "\n")


def read_document(path: Path) -> Document:
    """Read a plan.

    Raises
    ------
    DataError
        If the file is not a plan of this version, or its numbers contradict each other or are not proven. The error
        names the file and the key.
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
    problem, assumptions, own_scheme, plan = (_part(values, name) for name in _PARTS)
    if plan["kind"] == "published":
        raise ParameterError("kind", "published", "exact or upper: only proven plans are carried out")
    if plan["mse_bound"] is None:
        plan["mse_bound"] = math.inf
    asked = Problem(**problem, assumptions=Assumptions(**assumptions))
    scheme = _scheme(own_scheme, asked)
    whole = Collection(scheme, tuple(range(len(asked.levels))), 1.0)
    made = Plan(problem=asked, blanket_per_user=scheme.blanket_per_user, collections=(whole,), **plan)
    _ = scheme.parts  # raises an error for a mean that the law does not allow
    names = values.get("items")
    return Document(made, None if names is None else checked_names(names, asked.domain_size))


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number")


def _is(value: object, kind: Any) -> bool:
    # True is an int in Python, but not a number here
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))


def _part(values: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a part if it has these keys, with values of these types; lists as tuples."""
    part, kinds = values.get(name), _PARTS[name]
    if not isinstance(part, dict) or set(part) != set(kinds):
        raise DataError(f"{name}: must be an object with the keys {', '.join(kinds)}.")
    for key, value in part.items():
        numbers = value if isinstance(value, list) and key != "certificate" else ()
        if not _is(value, kinds[key]) or not all(_is(each, _NUMBER) for each in numbers):
            raise DataError(f"{name}: {key} = {_told(value)} is of the wrong type.")
    return {key: tuple(value) if isinstance(value, list) else value for key, value in part.items()}


def _scheme(values: dict[str, Any], problem: Problem) -> Scheme:
    """Make the scheme; refuse one that clients cannot use."""
    copies, (_, most) = values["copies"], COPIES_RANGE
    if len(copies) != len(problem.levels) or not all(0 <= each <= most for each in copies):
        raise DataError(
            f"scheme: copies = {_told(copies)}, but it must be a list of a number in [0, {most:g}] per level."
        )
    sizes = {"domain_size": problem.domain_size, "set_size": problem.set_size, "n_users": problem.n_users}
    return Scheme.from_dict({**sizes, **values})


def checked_names(names: object, domain_size: int) -> list[str]:
    """Return the names of all items; refuse anything else.

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
