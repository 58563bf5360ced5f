"""A plan as a file: what a server publishes, and what `client` and `estimate` read. Version 3, JSON.

    {"format": "segshuffle-plan", "version": 3, "messages": 1, "problem": {...}, "assumptions": {...},
     "scheme": {...}, "plan": {...}, "asked": {...}, "items": ["a", "b"] or null, "digest": "9f..."}

`problem`, `assumptions`, `scheme` and `plan` have fields of `Problem`, `Assumptions`, `Scheme` and `Plan`; `asked` has
the limits, guess and goal that were given, for people. `messages` is the version of the lines that clients send
(`message_lines`). `digest` is the SHA-256 of all the rest, so a file that was edited is noticed. Whoever edits may also
renew the digest: what a reader is promised is therefore computed from the scheme.
"""

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from segshuffle.blankets.base import COPIES_RANGE
from segshuffle.collection.messages.verification import Exchange
from segshuffle.digits import rounded_up
from segshuffle.errors import DataError
from segshuffle.files import read_text, write_atomically
from segshuffle.numerics.ranges import check_choice, check_kind, check_within, name_of_number
from segshuffle.numerics.typed import is_many
from segshuffle.plans.plan import Assumptions, Plan, Problem
from segshuffle.plans.scheme import Collection, Scheme
from segshuffle.plans.targets import checked_mean

#: Format, its version, and the version of the lines that clients of such a plan send.
HEAD = {"format": "segshuffle-plan", "version": 3, "messages": 1}
#: Largest file of a plan, in bytes: a list of a million names.
_LARGEST = 2**26
#: Most names, and characters of a name: the time that Unicode's normal form takes may grow with their square.
_MOST_NAMES, _LONGEST_NAME = 10**6, 200
#: Kinds of plans that are carried out.
_PROVEN = ("exact", "upper")
#: Part -> its keys.
_PARTS = {
    "problem": ("domain_size", "set_size", "levels", "level_counts", "delta", "level_deltas"),
    "assumptions": ("sets", "honest_fraction", "private_levels", "rounds"),
    "scheme": ("copies", "blanket_per_user", "law", "blanket_cap"),
    "plan": ("method", "kind", "messages_per_user", "mse_bound", "certificate"),
}


@dataclass(frozen=True)
class Document:
    """A plan that was read, and the names of its items.

    Parameters
    ----------
    plan : Plan
        A plan with a number of copies (messages about a held item) for each level.
    items : sequence of str or None
        Names, in the order of the items' numbers; None for the numbers themselves.
    digest : str
        SHA-256 of everything in the file, which identifies the plan: 64 hexadecimal digits.
    """

    plan: Plan
    items: Sequence[str] | None
    digest: str

    def name(self, item: int) -> str:
        """Return the name of an item."""
        return name_of_number(item, self.items, self.plan.problem.domain_size)


def save_plan(
    plan: Plan,
    path: Path | str,
    names: Sequence[str] | None = None,
    asked: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    """Write a plan for clients and server, as JSON. The blanket has a cap if the plan was made with ``blanket_cap``.

    Parameters
    ----------
    plan : Plan
        A plan from `plan`.
    path : Path or str
        The file; it is written completely or not at all.
    names : sequence of str, optional
        Names of the items, in the order of their numbers.
    asked : mapping
        What the plan was made for, besides the problem: fields of `Goal`, `Limits` and `Guess`, for readers.

    Raises
    ------
    DataError
        If there is not one name per item.
    ParameterError
        If the plan is not proven.
    """
    check_kind("plan", plan, Plan)
    check_kind("asked", asked, Mapping)
    check_choice("plan.kind", plan.kind, _PROVEN)
    said = {
        "problem": vars(plan.problem),
        "assumptions": vars(plan.problem.assumptions),
        "scheme": plan.scheme.as_dict(),
        "plan": {**plan.as_dict(), "mse_bound": plan.mse_bound if math.isfinite(plan.mse_bound) else None},
    }
    parts = {part: {name: said[part][name] for name in names} for part, names in _PARTS.items()}
    whole = {**HEAD, **parts, "asked": dict(asked), "items": checked_names(names, plan.problem.domain_size)}
    whole = {**whole, "digest": _digest(whole)}
    write_atomically(path, json.dumps(whole, indent=1, ensure_ascii=False) + "\n")


def read_plan(path: Path | str) -> Document:
    """Read a plan that `save_plan` or ``segshuffle plan --save`` wrote, and compute that it keeps its promises.

    Parameters
    ----------
    path : Path or str
        The file.

    Returns
    -------
    Document
        Its ``plan`` is the plan, its ``items`` are the names of the items, or None, and its ``digest`` identifies it.

    Raises
    ------
    DataError
        If the file is not a plan of this version, was edited, or its numbers contradict each other, or if what users
        send gives a level a larger delta than the plan promises. The error names the file and what is wrong.
    """
    return _read(path, promises=True)


def read_announcement(path: Path | str) -> Document:
    """Read a plan for a client, which computes its own guarantee; otherwise as `read_plan`."""
    return _read(path, promises=False)


def _read(path: Path | str, *, promises: bool) -> Document:
    content = read_text(path, limit=_LARGEST)
    try:
        document = _document(json.loads(content))
        if promises:
            _check_promises(document.plan)
        return document
    except json.JSONDecodeError:
        raise DataError(f"{path} is no JSON file, as segshuffle plan --save makes. Give the file of a plan.") from None
    except (ValueError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
        reason = str(error).rstrip(".")
        raise DataError(f"{path} is no plan: {reason}. Write it again with segshuffle plan --save.") from error


def _document(values: Any) -> Document:
    values = values if isinstance(values, dict) else {}
    for name, known in HEAD.items():
        if repr(values.get(name)) != repr(known):  # True equals 1
            raise DataError(f"{name} = {values.get(name)!r:.60}, but this program knows {name} = {known!r}.")
    digest = _digest(values)
    if values.get("digest") != digest:
        raise DataError("it was changed after it was written, because its digest is not that of its content.")
    problem, assumptions, own, plan = (_part(values, name) for name in _PARTS)
    asked = Problem(**problem, assumptions=Assumptions(**assumptions))
    if not isinstance(own["copies"], list) or len(own["copies"]) != len(asked.levels):
        raise DataError(f"copies = {own['copies']!r:.60}, but a list of one number per level is needed.")
    for each in own["copies"]:
        if each != 0:  # nobody of this level sends a held item
            check_within("copies", each, *COPIES_RANGE)
    sizes = {"domain_size": asked.domain_size, "set_size": asked.set_size, "n_users": asked.n_users}
    scheme = Scheme.from_dict({**sizes, **own})
    check_choice("kind", plan["kind"], _PROVEN)
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
    return Document(made, checked_names(values.get("items"), asked.domain_size), digest)


def _digest(values: Mapping[str, Any]) -> str:
    """Return the digest of a file's values, however they are laid out in it."""
    read = json.loads(json.dumps({name: value for name, value in values.items() if name != "digest"}))
    return hashlib.sha256(json.dumps(read, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _check_promises(plan: Plan) -> None:
    """Refuse a plan in which what users send gives a level a larger delta than it is promised."""
    problem = plan.problem
    for level, promised, copies in zip(problem.levels, problem.deltas, plan.scheme.copies, strict=True):
        delta = Exchange(plan.scheme, problem, copies).delta(level, promised)
        if delta > promised:
            raise DataError(
                f"level {level:g} is promised delta = {promised:g}, but what users send is only proven to give "
                f"{rounded_up(delta, 4):.4g}."
            )


def _part(values: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a part if it has its keys."""
    part = values.get(name)
    if not isinstance(part, dict) or set(part) != set(_PARTS[name]):
        raise DataError(f"{name} must be an object with the keys {', '.join(_PARTS[name])}.")
    return part


def checked_names(names: Iterable[object] | None, domain_size: int) -> list[str] | None:
    """Return the names of all items as texts, if there are any; refuse anything but a different one for every item."""
    if names is None:
        return None
    listed = list(map(str, names)) if is_many(names) else []
    if len(listed) > _MOST_NAMES:
        raise DataError(f"items = a list of {len(listed)} names, but at most {_MOST_NAMES} are allowed.")
    for name in listed:
        if len(name) > _LONGEST_NAME:
            raise DataError(f"items has the name {name[:40]!r}...: it must have at most {_LONGEST_NAME} characters.")
    if not len(set(listed)) == len(listed) == domain_size:
        raise DataError(f"items = {names!r:.60}, but a list of {domain_size} different names is needed.")
    return listed
