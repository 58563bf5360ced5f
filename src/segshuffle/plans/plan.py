"""What all protocols share: the problem, the plan, and the sample on which a plan is simulated.

A plan depends on public quantities only (a `Problem`). A simulation depends on a plan and a `Sample`, and computes no
privacy number. This separation guarantees that no parameter depends on the data.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any, Literal, get_args

import numpy as np

from segshuffle.arrays import LARGEST_DOMAIN, FloatArray, IntArray, Numbers
from segshuffle.blankets.base import Blanket
from segshuffle.errors import ParameterError
from segshuffle.numerics.ranges import (
    LARGEST_COUNT,
    check_flag,
    check_integer,
    check_kind,
    check_options,
    check_sizes,
    check_within,
    whole_if_equal,
)
from segshuffle.numerics.typed import typed
from segshuffle.option_fields import described, option
from segshuffle.plans.scheme import Collection, Scheme

SetKind = Literal["exactly", "at-most"]

#: More collections within one guarantee are refused, because their joint loss would need too long a Fourier transform.
MOST_ROUNDS = 10_000
#: A client compares its level with every other one, and a published plan must not keep it busy for minutes.
MOST_LEVELS = 100
#: Above this number of expected messages per user, a plan has a warning.
MANY_MESSAGES = 1000.0


@described
@dataclass(frozen=True)
class Assumptions:
    """What a guarantee assumes: the sets and levels of neighbours, honest users, and the number of collections."""

    sets: SetKind = option(
        "at-most",
        "at-most: every user holds at most set_size items (then nobody pads, and users may hold none); exactly: "
        "every user holds exactly set_size",
        enum=[*get_args(SetKind)],
    )
    honest_fraction: float = option(
        1.0,
        "share of the users who certainly send their dummies, and do not tell the server which these are; less "
        "than 1 allows for drop-outs and colluders",
        type="number",
        exclusiveMinimum=0,
        maximum=1,
    )
    #: Whether neighbours may differ in their level as well as in their items.
    private_levels: bool = False
    rounds: int = option(
        1,
        "collections of the same users with this plan that one (epsilon, delta) covers together",
        type="integer",
        minimum=1,
        maximum=MOST_ROUNDS,
    )

    def __post_init__(self) -> None:
        check_options(self)
        check_flag("private_levels", self.private_levels)

    @typed
    def honest_of(self, n_users: int) -> int:
        """Return the number of honest users among n: h n, rounded down, but at least 1, the user in question."""
        exact = Fraction(repr(float(self.honest_fraction))) * n_users
        return max(int(exact + Fraction(1, 10**6)), 1)  # h = k/n, rounded to a float, gives exactly k

    @typed
    def refuse_beyond_plain(self, method: str, *, covered: Sequence[str] = ()) -> None:
        """Refuse assumptions other than exactly s items, honest users and one collection; levels may be private.

        Parameters
        ----------
        method : str
            The method that has the analysis.
        covered : sequence of str
            Further assumptions that the analysis covers.

        Raises
        ------
        ParameterError
            Names the first assumption that the analysis does not cover.
        """
        for name in ("sets", "honest_fraction", "rounds"):
            if name not in covered and getattr(self, name) != getattr(PLAIN, name):
                allowed = f"{getattr(PLAIN, name)!r} for {method}; the proven segmented protocol allows other values"
                raise ParameterError(name, getattr(self, name), allowed)


#: What the paper assumes: exactly s items, all users honest, public levels, one collection.
PLAIN = Assumptions(sets="exactly")
#: Field of a problem, its type, and what errors say is allowed.
_TYPES: tuple[tuple[str, type, str], ...] = (
    ("levels", Sequence, "a sequence of numbers, such as (0.5, 1.0)"),
    ("level_counts", Sequence, "a sequence of integers, such as (1250, 2500)"),
    ("level_deltas", Sequence, "a sequence of numbers, one for each level"),
    ("assumptions", Assumptions, 'an Assumptions, such as Assumptions(sets="exactly")'),
)


@described
@dataclass(frozen=True)
class Problem:
    """A collection to be planned: public quantities only.

    Besides the parameters below it has `level_counts`, the users n_k >= 0 that chose each level (their sum `n_users` is
    at least 1), `assumptions`, and `level_deltas`, the failure probability of each level (empty: `delta` for all).
    """

    domain_size: int = field(
        metadata={
            "description": "number of items d, which are then called 0..d-1",
            "name": "items",
            "minimum": 2,
            "maximum": LARGEST_DOMAIN,
        }
    )
    set_size: int = field(metadata={"description": "items that a user sends, at most or exactly (see sets), in [1, d]"})
    levels: tuple[float, ...] = field(metadata={"description": "privacy levels, in (0, 100], strictly increasing"})
    level_counts: tuple[int, ...]
    delta: float = field(
        metadata={
            "description": "probability, in [1e-110, 1), with which the guarantee of epsilon may fail, much smaller "
            "than 1/users (the smallest of level_deltas, if these are given)"
        }
    )
    assumptions: Assumptions = Assumptions()
    level_deltas: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        for name, kind, allowed in _TYPES:
            value = getattr(self, name)
            if not isinstance(value, kind) or isinstance(value, str | bool):
                raise ParameterError(name, value, allowed)
        # JSON and schemes do not accept numpy's integers
        object.__setattr__(self, "domain_size", whole_if_equal(self.domain_size))
        object.__setattr__(self, "set_size", whole_if_equal(self.set_size))
        if not 1 <= len(self.levels) <= MOST_LEVELS or len(self.levels) != len(self.level_counts):
            allowed = f"as many as level_counts ({len(self.level_counts)}), at least 1 and at most {MOST_LEVELS}"
            raise ParameterError("levels", self.levels, allowed)
        object.__setattr__(self, "level_counts", tuple(map(whole_if_equal, self.level_counts)))
        for count in self.level_counts:
            check_integer("level_counts", count, 0, f"an integer >= 0, all together at most {LARGEST_COUNT:g}")
        check_integer("domain_size", self.domain_size, 2, most=LARGEST_DOMAIN)
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
        if any(low >= high for low, high in pairwise(self.levels)):
            raise ParameterError("levels", self.levels, "strictly increasing")
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
        """Number of pairs of counters in the bound on delta, over all rounds (docs/proof.md)."""
        same_size = self.assumptions.sets == "exactly" and not self.assumptions.private_levels
        # the largest number of items that are in one set and not in the other
        most = min(self.set_size, self.domain_size - self.set_size) if same_size else self.set_size
        return most * self.assumptions.rounds

    @functools.cached_property
    def honest_users(self) -> int:
        """Users whose blanket the guarantee relies on: h n, rounded down, but at least 1, the user in question."""
        return self.assumptions.honest_of(self.n_users)

    @property
    def error_without_data(self) -> float:
        """Largest squared error of an answer without data: s/d for every item, or 0 if users may hold fewer items."""
        s, d = self.set_size, self.domain_size
        return s * (1.0 - s / d) if self.assumptions.sets == "exactly" else float(s)

    def honest_mean(self, blanket_per_user: float) -> float:
        """Return the blanket messages per item of the honest users, n' m/d, rounded down."""
        check_within("blanket_per_user", blanket_per_user, 0, math.inf, "[)", allowed="finite")
        exact = Fraction(blanket_per_user) * self.honest_users / self.domain_size
        mean = float(exact)
        return mean if Fraction(mean) <= exact else math.nextafter(mean, 0.0)


@dataclass(frozen=True)
class Sample:
    """The users of one scenario, with several independent random assignments of levels.

    Parameters
    ----------
    items : ndarray of int, shape (n_users, set_size)
        Each user's distinct items in [0, domain_size), filled up with `NO_ITEM` if a user holds fewer.
    domain_size : int
        Number of items d.
    level_item_counts : ndarray of int, shape (repetitions, n_levels, domain_size)
        Users of each level that hold each item, for every assignment.
    """

    items: Numbers
    domain_size: int
    level_item_counts: Numbers

    @property
    def item_counts(self) -> IntArray:
        """Users that hold each item, shape (domain_size,)."""
        return np.asarray(self.level_item_counts[0].sum(axis=0, dtype=np.int64))

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
        """Share of the users that hold each item, shape (domain_size,); the estimates are compared with these."""
        shares = self.level_item_counts[0].sum(axis=0, dtype=float)
        shares /= self.n_users
        return np.asarray(shares)


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
        Expected messages per user in the whole collection: about items, dummies, and about the level if that is hidden
        (a method that plans items alone leaves these to its caller).
    mse_bound : float
        Bound, or closed form, of the expected squared error of all items.
    parameters : dict
        The protocol's own values, JSON only; some methods add ``bits_per_message``, a message's size.
    collections : tuple of Collection
        What users send, if they send copies of their items and dummies: one collection for all levels, or one for every
        level that somebody chose. Otherwise empty.
    certificate : tuple of dict
        Certified interval of delta of every level, at its epsilon; empty if nothing was certified.

    Raises
    ------
    ParameterError
        If nothing is proven for the dummies, but the kind is not "published".
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
        check_kind("collections", self.collections, tuple, list)
        for each in self.collections:
            check_kind("collections", each, Collection)
            law = each.announcement.law
            if not law.proven and self.kind != "published":
                raise ParameterError("dummies", law.name, f"a law for which numbers of kind {self.kind!r} exist")

    @property
    def chosen(self) -> dict[str, Any]:
        """The values that the protocol chose, JSON-ready."""
        return {**self.parameters, "collections": [each.as_dict() for each in self.collections]}

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON-ready form, without the problem."""
        values = {**vars(self), "collections": self.chosen["collections"]}
        del values["problem"]
        return values

    @classmethod
    def from_dict(cls, problem: Problem, values: Mapping[str, Any]) -> Plan:
        """Return the inverse of `as_dict`."""
        try:
            collections = tuple(map(Collection.from_dict, values["collections"]))
            certificate = (*values["certificate"],)
            return cls(problem=problem, **{**values, "collections": collections, "certificate": certificate})
        except (LookupError, TypeError, AttributeError):
            raise ParameterError("values", values, "what as_dict of a Plan returns") from None

    @property
    def scheme(self) -> Scheme:
        """What users of all levels send, and how the server reads it.

        Raises
        ------
        ParameterError
            If users of this plan do not send copies of their items and dummies, or not all in one collection.
        """
        if len(self.collections) != 1:
            raise ParameterError("plan", self.method, "one with copies by level, as segshuffle.plan makes it")
        return self.collections[0].announcement

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings about a meaningless guarantee, error or cost, with what to change; usually none."""
        problem, warnings = self.problem, []
        n = problem.n_users
        if problem.delta * n >= 1.0:
            warnings.append(
                f"delta = {problem.delta:g} is too large: publishing all items of one random user would meet it. "
                f"Take a delta much below 1/n = {1 / n:.3g}."
            )
        largest = problem.error_without_data
        if self.mse_bound >= largest > 0.0:
            warnings.append(
                f"The expected squared error is {self.mse_bound:.3g}. An answer that uses no data has at most "
                f"{largest:.3g}. Raise the levels, delta, the number of users or the budget of messages."
            )
        if self.messages_per_user > MANY_MESSAGES:
            warnings.append(
                f"A user sends {self.messages_per_user:.3g} messages on average. Set a budget of messages "
                "(max_messages), or raise the levels, delta or the number of users."
            )
        return tuple(warnings)

    def of_participants(self, level_counts: tuple[int, ...], *, fewer: bool = False) -> Plan:
        """Return the plan for the users who took part, to simulate them or to divide by their number.

        Blanket, copies and guarantee do not change. The guarantee still relies on the planned `Problem.honest_users`.

        Parameters
        ----------
        level_counts : tuple of int
            Users of every level who took part.
        fewer : bool
            Accept fewer users than the guarantee relies on, if they have already sent. The plan then has no
            certificate, and `received.epsilons` gives the guarantee that holds.

        Raises
        ------
        ParameterError
            If fewer took part than the guarantee relies on, and `fewer` is not set.
        """
        problem = replace(self.problem, level_counts=level_counts)
        needed, present = self.problem.honest_users, problem.n_users
        if present < needed and not fewer:
            allowed = (
                f"at least {needed} users, whom the guarantee relies on; if fewer have sent already, set fewer=True"
            )
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
    law: Blanket,
    levels: tuple[int, ...] = (),
    weight: float = 1.0,
) -> Collection:
    """Return the collection in which users of some levels, by default of all, send these copies and dummies."""
    levels = levels or tuple(range(len(problem.levels)))
    n_users = sum(problem.level_counts[level] for level in levels)
    scheme = Scheme(problem.domain_size, problem.set_size, n_users, tuple(copies), float(blanket_per_user), law)
    return Collection(scheme, levels, weight)


def uniform_item_counts(problem: Problem) -> FloatArray:
    """Return the expected holders of each item when all items are equally frequent, shape (domain_size,)."""
    d, s, n = problem.sizes
    return np.full(d, n * s / d)


def assignment_spread(item_counts: IntArray | FloatArray, n_users: int) -> float:
    """Return (s - sum_j w_j^2) n/(n - 1), the `spread` of `weights.ErrorTerms` for levels at random."""
    frequencies = np.asarray(item_counts, dtype=float) / n_users
    return float(frequencies @ (1 - frequencies)) * n_users / max(n_users - 1, 1)
