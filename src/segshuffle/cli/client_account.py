r"""A user's own file: the user's settings, and the privacy spent in all collections so far. JSON, version 1.

    {"format": "segshuffle-client", "version": 1, "honest_users": 900, "budget": [1.0, 1e-05],
     "hide_level": [2.0, 1e-05],
     "collections": [{"plan": "9f...", "level": 0.5, "sets": "at-most", "rounds": 1, "sent": 1,
                      "items_spent": [0.5, 9.1e-07], "level_spent": [1.0, 9.4e-07],
                      "answers": [{"collection": 1, "items": [0, 3], "messages": "3\n5\n", "users": null}]}]}

Epsilons and deltas are summed (basic composition), which is valid for any plans. `hide_level` is "no" if the level is
not secret. `plan` is a digest of the announcement and the names of the items. `answers` are kept so that lost messages
can be sent again: other messages about the same items would reveal more. They say which items the user holds. An
account of many users has what a user of the highest level has spent; their messages are in a file beside it, and
`users` is a digest of who holds what.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from segshuffle.errors import DataError, RefusedError
from segshuffle.files import read_bounded, writing

if TYPE_CHECKING:
    from segshuffle.planning.documents import Document

FORMAT, VERSION = "segshuffle-client", 1
_LARGEST = 2**26

#: An epsilon and a delta.
Guarantee = tuple[float, float]
#: A limit on the privacy spent; "no" if there is no secret.
Limit = Guarantee | Literal["no"]


@dataclass(frozen=True)
class Answer:
    """The items and the lines of messages that a user sent in one of the collections with a plan."""

    collection: int
    items: Sequence[int] = ()
    messages: str = ""
    #: Digest of what many users hold and of their levels; None for one user.
    users: str | None = None


@dataclass(frozen=True)
class Entry:
    """The privacy spent with one plan, in as many collections as its guarantee covers together."""

    plan: str
    level: float
    sets: str
    rounds: int
    sent: int = 0
    items_spent: Guarantee = (0.0, 0.0)
    level_spent: Guarantee = (0.0, 0.0)
    answers: Sequence[Answer] = ()

    def sending(self, items: Guarantee, level: Guarantee) -> Entry:
        """Return the entry with one more guarantee about the items and the level: the weaker ones are kept."""
        return replace(self, items_spent=_larger(self.items_spent, items), level_spent=_larger(self.level_spent, level))


@dataclass
class Account:
    """The content of the file; None for a setting that the user has not yet made."""

    path: Path
    honest_users: int | None = None
    budget: Limit | None = None
    hide_level: Limit | None = None
    collections: list[Entry] = field(default_factory=list)

    def take(self, new: Entry) -> Entry:
        """Remove and return the entry that covers one more collection; `new` if there is none."""
        for place, entry in enumerate(self.collections):
            same = (entry.plan, entry.level, entry.sets, entry.rounds) == (new.plan, new.level, new.sets, new.rounds)
            if same and entry.sent < entry.rounds:
                return self.collections.pop(place)
        return new

    def sent_before(self, plan: str, level: float, asked: Answer) -> Answer | None:
        """Return what was sent in the same collection; None if nothing was.

        Raises
        ------
        RefusedError
            If it was about other items or for another level: the two answers together would reveal more.
        """
        for entry in self.collections:
            for answer in entry.answers:
                if (entry.plan, answer.collection) != (plan, asked.collection):
                    continue
                same = (answer.users, sorted(answer.items)) == (asked.users, sorted(asked.items))
                if same and entry.level == level:
                    return answer
                raise RefusedError(
                    f"Nothing is sent: {self.path} says that collection {asked.collection} of this plan was answered "
                    "already, with other items or another level. Only the same answer can be sent again. If this is "
                    f"another collection with the same plan, give --collection {asked.collection + 1}."
                )
        return None

    def spent(self, what: str) -> tuple[Fraction, Fraction]:
        """Sum epsilons and deltas, exactly in decimal digits: ten times 0.1 is 1."""
        spent = zip(*(getattr(entry, what) for entry in self.collections), strict=True)
        epsilon, delta = (sum(map(Fraction, map(repr, each)), Fraction(0)) for each in spent)
        return epsilon, delta

    def refuse_beyond(self, limit: Limit | None, what: str, option: str) -> None:
        """Refuse if all collections together exceed a limit of the user.

        Raises
        ------
        RefusedError
            Says how much would be spent, and which option allows it.
        """
        if limit is None or limit == "no":
            return
        epsilon, delta = self.spent(what)
        if epsilon > Fraction(repr(limit[0])) or delta > Fraction(repr(limit[1])):
            raise RefusedError(
                f"Nothing is sent: with the earlier collections in {self.path}, this one would spend "
                f"epsilon = {float(epsilon):.10g} and delta = {float(delta) * 1.0005:.4g} in all, but {option} is "
                f"{limit[0]:g} and {limit[1]:g}. Raise {option} only if you accept that much."
            )

    def keep(self, answer: Answer) -> None:
        """Add the answer that the last entry is for."""
        last = self.collections[-1]
        self.collections[-1] = replace(last, answers=(*last.answers, answer))

    def write(self) -> None:
        """Write the file completely, readable by its owner only."""
        values = {"format": FORMAT, "version": VERSION, **asdict(self)}
        del values["path"]
        with writing(self.path) as temporary:
            temporary.chmod(0o600)
            temporary.write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8")


def _larger(one: Guarantee, other: Guarantee) -> Guarantee:
    return max(one[0], other[0]), max(one[1], other[1])


def plan_digest(document: Document) -> str:
    """Return a digest of what users are told: the announcement and the names of the items."""
    # does not depend on the format of the file
    announced = json.dumps([document.plan.scheme.as_dict(), document.items], sort_keys=True)
    return hashlib.sha256(announced.encode()).hexdigest()


def default_path() -> Path:
    """Return the default path of the file."""
    state = os.environ.get("XDG_STATE_HOME")
    folder = Path(state) if state and Path(state).is_absolute() else Path.home() / ".local/state"
    return folder / "segshuffle/client.json"


@contextlib.contextmanager
def opened(path: Path) -> Iterator[Account]:
    """Open the account; a second program waits until the first is done.

    Raises
    ------
    DataError
        If the file is not an account, or its folder cannot be used.
    """
    import fcntl

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.exists()  # an error if the name is too long
        folder = os.open(path.parent, os.O_RDONLY)
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: cannot be used ({error}). Name another file with --account.") from error
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield _read(path) if path.exists() else Account(path)
    finally:
        os.close(folder)


def _read(path: Path) -> Account:
    try:
        values = json.loads(read_bounded(path, limit=_LARGEST).decode("utf-8"))
        if (found := (values.pop("format"), values.pop("version"))) != (FORMAT, VERSION):
            raise ValueError(f"format, version = {found!r:.30} must be {(FORMAT, VERSION)}")
        honest_users = values["honest_users"]
        if not (honest_users is None or _is_count(honest_users)):
            raise ValueError(f"honest_users = {honest_users!r} must be an integer >= 1")
        limits = _limit(values["budget"]), _limit(values["hide_level"])
        return Account(path, honest_users, *limits, [*map(_entry, values["collections"])])
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise DataError(
            f"{path}: is not the file of a client ({type(error).__name__}: {str(error)[:80]}). Nothing is sent, "
            "because what was spent is not known. Repair the file, or name another one with --account."
        ) from None


def _entry(values: Mapping[str, Any]) -> Entry:
    entry = Entry(**values)
    if not (_is_count(entry.rounds) and _is_count(entry.sent)):
        raise ValueError(f"rounds = {entry.rounds!r} and sent = {entry.sent!r} must be integers >= 1")
    return replace(
        entry,
        items_spent=_guarantee(entry.items_spent),
        level_spent=_guarantee(entry.level_spent),
        answers=[_answer(each) for each in values.get("answers", [])],
    )


def _answer(values: Mapping[str, Any]) -> Answer:
    answer = Answer(**values)
    typed = isinstance(answer.items, list) and isinstance(answer.users, str | None)
    typed = typed and _is_count(answer.collection) and all(type(item) is int for item in answer.items)
    if not (typed and re.fullmatch(r"([+-]?[0-9]+\n)*", answer.messages)):
        raise ValueError(f"answers = {values!r:.60} must have a collection, items and messages")
    return answer


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 1


def _limit(values: Any) -> Limit | None:
    return values if values in (None, "no") else _guarantee(values)


def _guarantee(values: Any) -> Guarantee:
    epsilon, delta = values
    if not all(type(each) in (int, float) and 0 <= each <= 1e6 for each in (epsilon, delta)):
        raise ValueError(f"epsilon, delta = {values!r} must be numbers in [0, 1e6]")
    return float(epsilon), float(delta)
