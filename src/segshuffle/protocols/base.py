"""What every protocol shares: the problem it is given, the plan it makes, the sample it runs on.

A plan depends on public quantities only (a `Problem`), a simulation on a plan and a `Sample`, and a simulation
computes no privacy number. That separation is the privacy argument: no parameter may depend on the data.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Literal, get_args

import numpy as np

from segshuffle.accounting.numerics.ranges import (
    LARGEST_COUNT,
    check_choice,
    check_flag,
    check_integer,
    check_sizes,
    check_within,
)
from segshuffle.arrays import LARGEST_DOMAIN, NO_ITEM, FloatArray, IntArray, Numbers
from segshuffle.blankets.base import Blanket
from segshuffle.blankets.named import Dummies
from segshuffle.blankets.singles import SINGLES
from segshuffle.errors import ParameterError
from segshuffle.protocols.scheme import Collection, Scheme

SetKind = Literal["exactly", "at-most"]

#: More collections of one guarantee are refused: their product needs too long a transform.
MOST_ROUNDS = 10_000
#: Expected messages per user from which on it is worth a word.
MANY_MESSAGES = 1000.0


@dataclass(frozen=True)
class Assumptions:
    """Who may differ from whom, who can be relied on, and how often data is collected.

    Parameters
    ----------
    sets : {"exactly", "at-most"}
        Whether every user holds exactly s items, or at most s (none is allowed): then nobody pads.
    honest_fraction : float
        Share h in (0, 1] of the n users who certainly send their blanket, and do not tell the server of it.
    private_levels : bool
        Whether neighbours may differ in their level as well as in their items.
    rounds : int
        Collections T >= 1 with this plan, of the same users, within one (epsilon, delta).
    """

    sets: SetKind = "exactly"
    honest_fraction: float = 1.0
    private_levels: bool = False
    rounds: int = 1

    def __post_init__(self) -> None:
        check_choice("sets", self.sets, get_args(SetKind))
        check_within("honest_fraction", self.honest_fraction, 0, 1, "(]")
        check_flag("private_levels", self.private_levels)
        check_integer("rounds", self.rounds, 1, most=MOST_ROUNDS)

    def honest_of(self, n_users: int) -> int:
        """Users who certainly are honest, of so many: h n, rounded down, and at least the user in question."""
        exact = Fraction(repr(float(self.honest_fraction))) * n_users
        return max(int(exact + Fraction(1, 10**6)), 1)  # a fraction made of two whole numbers finds them again

    def refuse_beyond_plain(self, method: str, *, covered: Sequence[str] = ()) -> None:
        """Refuse what an analysis of users with exactly s items, all of them honest, in one collection cannot cover.

        Parameters
        ----------
        method : str
            Whose analysis it is.
        covered : sequence of str
            Assumptions that it covers all the same.

        Raises
        ------
        ParameterError
            Naming the first assumption that the method has no analysis for.
        """
        for name in ("sets", "honest_fraction", "rounds"):
            if name not in covered and getattr(self, name) != getattr(PLAIN, name):
                allowed = f"{getattr(PLAIN, name)!r} for {method}; only proven dummies are analysed beyond that"
                raise ParameterError(name, getattr(self, name), allowed)


#: Users with exactly s items, all of them honest, their levels known, in one collection.
PLAIN = Assumptions()
#: Field of a problem, its type, and what errors say is allowed.
_TYPES: tuple[tuple[str, type, str], ...] = (
    ("levels", Sequence, "a sequence of numbers, such as (0.5, 1.0)"),
    ("level_counts", Sequence, "a sequence of integers, such as (1250, 2500)"),
    ("level_deltas", Sequence, "a sequence of numbers, one for each level"),
    ("assumptions", Assumptions, 'an Assumptions, such as Assumptions(sets="at-most")'),
)


@dataclass(frozen=True)
class Problem:
    """A collection to be planned: public quantities only.

    Parameters
    ----------
    domain_size, set_size : int
        Number of items d >= 2, and of items that each user holds (or holds at most), 1 <= s <= d.
    levels : tuple of float
        Privacy levels E_1 < ... < E_K, each in (0, 100].
    level_counts : tuple of int
        Users n_k >= 0 that chose each level; their sum n_users is at least 1.
    delta : float
        Failure probability in (0, 1), the same for all levels; with `level_deltas` the least of them, so that whoever
        knows of one delta only is on the safe side.
    assumptions : Assumptions
        What the guarantee is given against and relies on.
    level_deltas : tuple of float
        Failure probability of each level; empty: `delta` for all.
    """

    domain_size: int
    set_size: int
    levels: tuple[float, ...]
    level_counts: tuple[int, ...]
    delta: float
    assumptions: Assumptions = PLAIN
    level_deltas: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        for name, kind, allowed in _TYPES:
            value = getattr(self, name)
            if not isinstance(value, kind) or isinstance(value, str | bool):
                raise ParameterError(name, value, allowed)
        if not self.levels or len(self.levels) != len(self.level_counts):
            raise ParameterError(
                "levels", self.levels, f"as many as level_counts ({len(self.level_counts)}), at least 1"
            )
        for count in self.level_counts:
            check_integer("level_counts", count, 0, f"an integer >= 0, of {LARGEST_COUNT:g} users together at most")
        most = LARGEST_DOMAIN
        check_integer("domain_size", self.domain_size, 2, f"an integer in [2, {most}]", most=most)
        check_sizes(domain_size=self.domain_size, n_users=self.n_users, set_size=self.set_size)
        for name, values, most, ends in (
            ("levels", self.levels, 100, "(]"),
            ("delta", (self.delta,), 1, "()"),
            ("level_deltas", self.level_deltas, 1, "()"),
        ):
            for value in values:
                check_within(name, value, 0, most, ends)
        if self.level_deltas and (len(self.level_deltas) != len(self.levels) or min(self.level_deltas) != self.delta):
            allowed = f"one for each of {len(self.levels)} levels, the least of them delta = {self.delta:g}"
            raise ParameterError("level_deltas", self.level_deltas, allowed)
        if any(low >= high for low, high in zip(self.levels, self.levels[1:], strict=False)):
            raise ParameterError("levels", self.levels, "strictly increasing")
        # numpy's integers are integers to the caller, but neither to JSON nor to a scheme
        object.__setattr__(self, "domain_size", int(self.domain_size))
        object.__setattr__(self, "set_size", int(self.set_size))
        object.__setattr__(self, "level_counts", tuple(map(int, self.level_counts)))
        for name in ("levels", "level_deltas"):
            object.__setattr__(self, name, tuple(getattr(self, name)))

    @property
    def n_users(self) -> int:
        """Number of users n."""
        return sum(self.level_counts)

    @property
    def sizes(self) -> tuple[int, int, int]:
        """d, s and n: domain size, set size and number of users."""
        return self.domain_size, self.set_size, self.n_users

    @property
    def deltas(self) -> tuple[float, ...]:
        """Failure probability of each level."""
        return self.level_deltas or (self.delta,) * len(self.levels)

    @property
    def pairs(self) -> int:
        """Pairs of counters that bound what tells two neighbouring users apart, in all rounds (docs/proof.md)."""
        same_size = self.assumptions.sets == "exactly" and not self.assumptions.private_levels
        # so many items can be in one set and not in the other
        most = min(self.set_size, self.domain_size - self.set_size) if same_size else self.set_size
        return most * self.assumptions.rounds

    @property
    def honest_users(self) -> int:
        """Users whose blanket the guarantee relies on: h n, rounded down, and at least the user in question."""
        return self.assumptions.honest_of(self.n_users)

    def honest_mean(self, blanket_per_user: float) -> float:
        """Blanket messages per item that the guarantee relies on, n' m/d, rounded down."""
        if not math.isfinite(blanket_per_user):
            raise ParameterError("blanket_per_user", blanket_per_user, "finite")
        exact = Fraction(blanket_per_user) * self.honest_users / self.domain_size
        mean = float(exact)
        return mean if Fraction(mean) <= exact else math.nextafter(mean, 0.0)


@dataclass(frozen=True)
class Sample:
    """The users of one scenario, with a number of independent random assignments of levels.

    Parameters
    ----------
    items : ndarray of int, shape (n_users, set_size)
        Each user's distinct items in [0, domain_size), and `NO_ITEM` where a user holds fewer.
    domain_size : int
        Number of items d.
    level_item_counts : ndarray of int64, shape (repetitions, n_levels, domain_size)
        Users of each level that hold each item, for every assignment.
    """

    items: Numbers
    domain_size: int
    level_item_counts: IntArray

    @functools.cached_property
    def item_counts(self) -> IntArray:
        """Users that hold each item, shape (domain_size,)."""
        return np.bincount(self.items[self.items != NO_ITEM], minlength=self.domain_size).astype(np.int64)

    @property
    def n_users(self) -> int:
        """Number of users n."""
        return int(self.items.shape[0])

    @property
    def repetitions(self) -> int:
        """Number of level assignments."""
        return int(self.level_item_counts.shape[0])

    @property
    def frequencies(self) -> FloatArray:
        """Share of the users that hold each item, shape (domain_size,): what is to be estimated."""
        return self.item_counts / self.n_users


@dataclass(frozen=True)
class Plan:
    """Everything a protocol fixes before it sees data.

    Parameters
    ----------
    method : str
        Name of the protocol.
    problem : Problem
        What was planned for.
    kind : str
        Kind of the privacy numbers behind the plan: "published", "upper", "exact".
    blanket_per_user : float
        Expected blanket messages per user, over all users (0 without a blanket).
    messages_per_user : float
        Expected messages per user, blanket and data together.
    mse_bound : float
        The bound or closed form that the protocol was optimised for.
    parameters : dict
        The protocol's own values, JSON only. Nothing else reads them, but for ``bits_per_message`` where a message is
        no item.
    collections : tuple of Collection
        What users send, where that is copies of their items among dummies: one collection of all levels, or one of
        every level that somebody chose.
    certificate : tuple of dict
        Certified interval of delta of every level, at its epsilon; empty where nothing was certified.

    Raises
    ------
    ParameterError
        If the numbers are about other dummies than those that users send.
    """

    method: str
    problem: Problem
    kind: str
    blanket_per_user: float
    messages_per_user: float
    mse_bound: float
    parameters: dict[str, Any] = field(default_factory=dict)
    collections: tuple[Collection, ...] = ()
    certificate: tuple[dict[str, float], ...] = ()

    def __post_init__(self) -> None:
        for law in (each.announcement.law for each in self.collections):
            if not isinstance(law, Blanket) and self.kind != "published":
                raise ParameterError("blanket", law.name, f"a law for which numbers of kind {self.kind!r} exist")

    @property
    def chosen(self) -> dict[str, Any]:
        """What the protocol chose, JSON-ready."""
        return {**self.parameters, "collections": [each.as_dict() for each in self.collections]}

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready form, without the problem."""
        values = {**vars(self), "collections": self.chosen["collections"], "certificate": list(self.certificate)}
        del values["problem"]
        return values

    @classmethod
    def from_dict(cls, problem: Problem, values: Mapping[str, Any]) -> Plan:
        """Inverse of `as_dict`."""
        collections = tuple(map(Collection.from_dict, values["collections"]))
        return cls(problem=problem, **{**values, "collections": collections, "certificate": (*values["certificate"],)})

    @property
    def scheme(self) -> Scheme:
        """What users of all levels send, and how the server reads it.

        Raises
        ------
        ParameterError
            If users of this plan do not send copies of their items among dummies, or not all in one collection.
        """
        if len(self.collections) != 1:
            raise ParameterError("plan", self.method, "one with copies by level, as segshuffle.plan makes it")
        return self.collections[0].announcement

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences on what makes guarantee, error or cost meaningless, and what to change; usually none."""
        problem, found = self.problem, []
        d, s, n = problem.sizes
        if problem.delta * n >= 1.0:
            found.append(
                f"delta = {problem.delta:g} is too large: publishing all items of one random user would meet it. "
                f"Take a delta much below 1/n = {1 / n:.3g}."
            )
        # whoever answers s/d for every item (0, where users may hold fewer) knows nothing and errs by no more than this
        largest = s * (1.0 - s / d) if problem.assumptions.sets == "exactly" else float(s)
        if self.mse_bound >= largest > 0.0:
            found.append(
                f"The expected squared error is {self.mse_bound:.3g}. That of an answer that uses no data is at most "
                f"{largest:.3g}. Raise the levels, delta, the number of users or the budget of messages."
            )
        if self.messages_per_user > MANY_MESSAGES:
            found.append(
                f"A user sends {self.messages_per_user:.3g} messages on average. Set a budget of messages "
                "(max_messages), or raise the levels, delta or the number of users."
            )
        return tuple(found)

    def of_participants(self, level_counts: tuple[int, ...], *, fewer: bool = False) -> Plan:
        """Return the plan as it serves those who took part: to simulate them, or to divide by their number.

        Blanket, copies and guarantee stay: the guarantee relies on `Problem.honest_users` of those who were expected.

        Parameters
        ----------
        level_counts : tuple of int
            Users of every level who took part.
        fewer : bool
            Also serve fewer than the guarantee relies on, when they have sent already: the plan then is without its
            certificate, and `received.epsilons` says what holds instead.

        Raises
        ------
        ParameterError
            If fewer took part than the guarantee relies on, and `fewer` is not set.
        """
        problem = replace(self.problem, level_counts=level_counts)
        needed, present = self.problem.honest_users, problem.n_users
        if present < needed and not fewer:
            allowed = f"at least {needed} users, whom the guarantee relies on"
            raise ParameterError("level_counts", level_counts, allowed)
        assumptions = replace(self.problem.assumptions, honest_fraction=min(needed / present, 1.0))
        problem = replace(problem, assumptions=assumptions)
        served = tuple(
            replace(each, announcement=replace(each.announcement, n_users=n_users))
            for each in self.collections
            if (n_users := sum(problem.level_counts[level] for level in each.levels))
        )
        certificate = self.certificate if present >= needed else ()
        return replace(self, problem=problem, collections=served, certificate=certificate)


def collection_of(
    problem: Problem,
    copies: Sequence[float] | FloatArray,
    blanket_per_user: float,
    law: Dummies = SINGLES,
    *,
    only: int | None = None,
    weight: float = 1.0,
) -> Collection:
    """Return the collection in which users of all levels, or of one only, send so many copies and dummies."""
    levels = tuple(range(len(problem.levels))) if only is None else (only,)
    n_users = sum(problem.level_counts[level] for level in levels)
    scheme = Scheme(problem.domain_size, problem.set_size, n_users, tuple(copies), float(blanket_per_user), law)
    return Collection(scheme, levels, weight)


def uniform_item_counts(problem: Problem) -> FloatArray:
    """Return the expected holders of each item when all items are equally frequent, shape (domain_size,)."""
    d, s, n = problem.sizes
    return np.full(d, n * s / d)


def assignment_spread(item_counts: IntArray | FloatArray, n_users: int) -> float:
    """Variance of the items over a random user, (s - sum_j w_j^2) n/(n - 1): weight of the levels' imbalance."""
    frequencies = np.asarray(item_counts, dtype=float) / n_users
    return float(frequencies @ (1 - frequencies)) * n_users / max(n_users - 1, 1)
