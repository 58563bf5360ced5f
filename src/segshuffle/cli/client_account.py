r"""A user's own file: the user's settings, and the privacy spent in all collections so far. JSON, version 1.

    {"format": "segshuffle-client", "version": 1, "honest_users": 900, "budget": [1.0, 1e-05],
     "hide_level": [2.0, 1e-05],
     "collections": [{"plan": "9f...", "level": 0.5, "sets": "at-most", "rounds": 1, "sent": 1,
                      "items_spent": [0.5, 9.1e-07], "level_spent": [1.0, 9.4e-07],
                      "answers": [{"collection": 1, "items": [0, 3], "messages": "3\n5\n", "users": null}]}]}

Epsilons and deltas are summed (basic composition), which is valid for any plans. `hide_level` is "no" if the level is
not secret. `plan` is the digest of the plan. `answers` are kept so that lost messages
can be sent again: other messages about the same items would reveal more. They say which items the user holds. An
account of many users has what a user of the highest level has spent; their messages are in a file beside it, and
`users` is a digest of who holds what.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from segshuffle.digits import rounded_up
from segshuffle.errors import DataError, RefusedError
from segshuffle.files import read_bounded, writing

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
                f"{said(epsilon, delta)} in all, but {option} is "
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
        with writing(self.path, private=True) as temporary:
            temporary.write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8")


def said(epsilon: float | Fraction, delta: float | Fraction) -> str:
    """Say an epsilon and a delta, rounded up."""
    return f"epsilon = {rounded_up(epsilon):.10g} and delta = {rounded_up(delta, 3):.3g}"


def _larger(one: Guarantee, other: Guarantee) -> Guarantee:
    return max(one[0], other[0]), max(one[1], other[1])


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
        collections = []
        for each in values.pop("collections"):
            answers = [Answer(**answer) for answer in each.pop("answers", [])]
            collections.append(Entry(**each, answers=answers))
        account = Account(path, collections=collections, **values)
        _check(account)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise DataError(
            f"{path}: is not the file of a client ({type(error).__name__}: {str(error)[:80]}). Nothing is sent, "
            "because what was spent is not known. Repair the file, or name another one with --account."
        ) from None
    return account


def _check(account: Account) -> None:
    """Refuse values of a file that no client writes."""
    counts = [1 if account.honest_users is None else account.honest_users]
    guarantees: list[Any] = [each for each in (account.budget, account.hide_level) if each not in (None, "no")]
    for entry in account.collections:
        counts += [entry.rounds, entry.sent]
        guarantees += [entry.items_spent, entry.level_spent]
        for answer in entry.answers:
            counts.append(answer.collection)
            lines = re.fullmatch(r"([+-]?[0-9]+\n)*", answer.messages)
            if not (lines and isinstance(answer.users, str | None) and all(type(item) is int for item in answer.items)):
                raise ValueError(f"answers = {answer!r:.60} must have a collection, items and messages")
    for count in counts:
        if not (type(count) is int and count >= 1):
            raise ValueError(f"{count!r:.30} must be an integer >= 1")
    for epsilon, delta in guarantees:
        if not all(type(each) in (int, float) and 0 <= each <= 1e6 for each in (epsilon, delta)):
            raise ValueError(f"epsilon, delta = {(epsilon, delta)!r:.40} must be numbers in [0, 1e6]")
