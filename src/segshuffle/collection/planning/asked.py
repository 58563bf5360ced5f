"""What can be asked of a plan, declared once: the goal, limits, and a guess of what users hold.

`Problem` and `Assumptions` (`plans.plan`) declare the public inputs in the same way.
"""

import contextlib
import functools
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal

import numpy as np

from segshuffle.arrays import FloatArray
from segshuffle.blankets.base import COPIES_RANGE
from segshuffle.collection.padding import zipf_shares
from segshuffle.digits import added
from segshuffle.errors import ParameterError
from segshuffle.numerics.ranges import (
    LARGEST_BLANKET,
    check_integer,
    check_options,
    check_within,
    numbers,
)
from segshuffle.numerics.typed import typed
from segshuffle.option_fields import described, option
from segshuffle.plans.plan import Problem

#: Number of top items that are shown if nothing else is asked.
TOP = 20

_zipf_shares = functools.lru_cache(maxsize=4)(zipf_shares)


@described
@dataclass(frozen=True)
class Goal:
    """What a plan minimises: the error if no error is given, otherwise its messages or epsilons."""

    target_error: float | None = option(
        None,
        "largest error: with top that of a top item (root of the expected squared error, divided by the item's "
        "share), without top the expected squared error of all items together",
        type="number",
        exclusiveMinimum=0,
    )
    least: str = option(
        "messages",
        "what is least for target_error: messages (to within 1 %), or epsilon, with the same ratios between "
        "levels (to within 7 % and with the fewest messages, or to within 2 % with max_messages)",
        enum=["messages", "epsilon"],
    )
    top: int | None = option(
        None,
        "number of most frequent items of the guess for which the plan is made; without it the plan is made for "
        "all items together",
        type="integer",
        minimum=1,
    )

    def __post_init__(self) -> None:
        check_options(self)

    @property
    def finds(self) -> Literal["error", "messages", "epsilon"]:
        """What is minimised."""
        if self.target_error is None:
            return "error"
        return "epsilon" if self.least == "epsilon" else "messages"


@described
@dataclass(frozen=True)
class Limits:
    """Limits of a plan."""

    copies_max: float = option(
        1.0,
        "most messages that a user sends about one held item, on average; more give a smaller error",
        type="number",
        minimum=COPIES_RANGE[0],
        maximum=COPIES_RANGE[1],
    )
    max_messages: float | None = option(
        None,
        "most messages per user, averaged over all users: about items, about a hidden level, and dummies",
        type="number",
        exclusiveMinimum=0,
    )
    equal_copies: bool = option(
        False,
        "users of all levels send equally many messages about a held item; estimates are then unbiased even if "
        "the levels that users pick depend on their items, but have the error of the lowest level",
        type="boolean",
    )
    blanket_per_user: float | None = option(
        None,
        "dummy messages that a user sends on average; without it the number with the least error",
        type="number",
        exclusiveMinimum=0,
        maximum=LARGEST_BLANKET,
    )
    blanket_cap: int | Literal["auto"] | None = option(
        None,
        "most dummy messages of one user, 1 or more, or auto (the least number that costs at most a thousandth of "
        "epsilon). This bounds what liars can do, if the shuffler takes from nobody more messages than an honest "
        "user may send",
    )

    def __post_init__(self) -> None:
        check_options(self)
        if not (isinstance(self.blanket_cap, str | None) and self.blanket_cap in (None, "auto")):
            check_integer("blanket_cap", self.blanket_cap, 0, "an integer >= 1, or auto")


@described
@dataclass(frozen=True, eq=False)
class Guess:
    """A public guess of what users hold; privacy does not depend on it."""

    frequencies: float | str | FloatArray | None = option(
        None,
        "share of the users who hold each item, in the order of the items, or zipf:a (in Python also the number a), "
        "Zipf's law: the share of the j-th item is roughly proportional to j^-a. Without it all items are equally "
        "frequent",
        name="guess",
    )
    mean_size: float | None = option(
        None,
        "items that a user sends on average, if sets have at most set_size items; without it set_size",
        type="number",
        exclusiveMinimum=0,
    )
    sizes: Mapping[int, float] | None = option(
        None,
        "how many users hold how many items: number of items -> share of the users. Errors then include what is "
        "lost because larger sets than set_size are cut (every item loses the same share of its holders)",
    )

    def __post_init__(self) -> None:
        check_options(self)
        if not isinstance(self.sizes, Mapping | None):
            raise ParameterError("sizes", self.sizes, "a mapping of sizes to shares, such as {1: 0.5, 2: 0.5}")
        given: Any = self.frequencies
        if isinstance(given, str) and given.startswith("zipf:"):
            with contextlib.suppress(ValueError):
                given = float(given.removeprefix("zipf:"))
        if isinstance(given, Real):
            check_within("zipf", given, 0, 10)
            given = float(given)
        elif given is not None:
            given = numbers("guess", given, "zipf:a with a number a, such as zipf:1, or a list of numbers")
        object.__setattr__(self, "frequencies", given)

    @property
    def given(self) -> bool:
        """Whether anything is guessed."""
        return any(each is not None for each in vars(self).values())

    @typed
    def shares(self, problem: Problem) -> FloatArray | None:
        """Return the share of the users who hold each item, shape (domain_size,); None if there is no guess."""
        if self.frequencies is None or isinstance(self.frequencies, np.ndarray):
            return self.frequencies
        return _zipf_shares(self.mean_held(problem), problem.domain_size, self.frequencies)

    @typed
    def mean_held(self, problem: Problem) -> float:
        """Return the number of items that a user holds on average."""
        if self.sizes is not None:
            return added(size * share for size, share in self.sizes.items())
        return self.mean_size or problem.set_size

    @typed
    def kept(self, problem: Problem) -> float:
        """Return the share of all entries that users send after cutting sets to set_size."""
        if self.sizes is None:
            return 1.0
        sent = added(min(size, problem.set_size) * share for size, share in self.sizes.items())
        return sent / self.mean_held(problem)

    @typed
    def held(self, problem: Problem) -> FloatArray:
        """Return the share of the users who hold each item, equal without a guess, shape (domain_size,)."""
        shares, d = self.shares(problem), problem.domain_size
        return np.full(d, self.mean_held(problem) / d) if shares is None else shares

    @typed
    def counts(self, problem: Problem) -> FloatArray:
        """Return the users who send each item, shape (domain_size,)."""
        return problem.n_users * self.kept(problem) * self.held(problem)

    @typed
    def check(self, problem: Problem) -> None:
        """Refuse a guess that does not fit the problem.

        Raises
        ------
        ParameterError
            Names the part of the guess that does not fit.
        """
        exactly, s, d = problem.assumptions.sets == "exactly", problem.set_size, problem.domain_size
        shares = self.frequencies if isinstance(self.frequencies, np.ndarray) else None
        if self.mean_size is not None:
            known = ""
            if exactly:
                known = f"sets = exactly: all users hold {s} items"
            elif self.sizes is not None:
                known = "sizes, which have a mean"
            elif shares is not None:
                known = f"a list of frequencies, whose sum {shares.sum():g} is the mean"
            if known:
                raise ParameterError("mean_size", self.mean_size, f"left out with {known}")
            check_within("mean_size", self.mean_size, 0, s, "(]", allowed=f"above 0 and at most set_size = {s}")
        if self.sizes is not None:
            self._check_sizes(problem)
        if shares is None:
            return
        name, most = ("set_size", s) if self.sizes is None else ("the largest size", max(self.sizes))
        excess = shares.sum() - most
        fits = shares.shape == (d,) and ((shares >= 0) & (shares <= 1)).all()
        if not (fits and (abs(excess) if exactly else excess) <= 1e-6 * most):
            told = f"{shares.size} numbers up to {shares.max(initial=0.0):g} with sum {shares.sum():.10g}"
            allowed = f"domain_size = {d} numbers in [0, 1] with sum {'' if exactly else 'at most '}{name} = {most}"
            raise ParameterError("guess", told, allowed)

    def _check_sizes(self, problem: Problem) -> None:
        """Refuse sizes that no users can have, and sizes if all users hold equally many items."""
        given, d = dict(self.sizes or {}), problem.domain_size
        if problem.assumptions.sets == "exactly":
            raise ParameterError("sizes", given, "left out with sets = exactly: no set is cut")
        possible = all(0 <= size <= d and share >= 0 for size, share in given.items())
        if not (possible and abs(sum(given.values()) - 1) < 1e-9 and self.mean_held(problem) > 0):
            allowed = f"shares >= 0 that add up to 100 %, of sizes up to domain_size = {d}, one of them above 0"
            raise ParameterError("sizes", given, allowed)
