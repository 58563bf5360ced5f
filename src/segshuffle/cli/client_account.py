r"""A user's own file: the user's settings, and the privacy spent in all collections so far. JSON, version 2.

    {"format": "segshuffle-client", "version": 2, "honest_users": 900, "budget": [1.0, 1e-05],
     "level_budget": [2.0, 1e-05],
     "collections": [{"plan": "9f...", "level": 0.5, "sets": "at-most", "rounds": 1, "sent": 1,
                      "items_spent": [0.5, 9.1e-07], "level_spent": [1.0, 9.4e-07],
                      "answers": [{"collection": 1, "items": [0, 3], "messages": "3\n5\n", "users": null,
                                   "n_messages": 2, "sha256": "b4..."}]}]}

Epsilons and deltas are summed (basic composition), which is valid for any plans. `level_budget` is "no" if the level is
not secret. `plan` is the digest of the plan, and `sha256` that of the lines of messages. `answers` are kept so that
lost messages can be sent again: other messages about the same items would reveal more. They say which items the user
holds. An account of many users has what a user of the highest level has spent; their messages are in a file beside it,
and `users` is a digest of who holds what.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Literal

from segshuffle.digits import rounded_up
from segshuffle.errors import RefusedError
from segshuffle.files import writing

HEAD = {"format": "segshuffle-client", "version": 2}

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
    #: Number of messages, and digest of their lines (`counted`).
    n_messages: int = 0
    sha256: str = ""


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
    level_budget: Limit | None = None
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
        """Add the answer that the last entry is for, and write the file completely, readable by its owner only."""
        last = self.collections[-1]
        self.collections[-1] = replace(last, answers=(*last.answers, answer))
        values = {**HEAD, **asdict(self)}
        del values["path"]
        with writing(self.path, private=True) as temporary:
            temporary.write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8")


def said(epsilon: float | Fraction, delta: float | Fraction) -> str:
    """Say an epsilon and a delta, rounded up."""
    return f"epsilon = {rounded_up(epsilon):.10g} and delta = {rounded_up(delta, 3):.3g}"


def _larger(one: Guarantee, other: Guarantee) -> Guarantee:
    return max(one[0], other[0]), max(one[1], other[1])


def counted(lines: Iterable[bytes]) -> tuple[int, str]:
    """Return the number of messages in some lines, and the digest of these."""
    number, digest = 0, hashlib.sha256()
    for some in lines:
        number += some.count(b"\n")
        digest.update(some)
    return number, digest.hexdigest()
