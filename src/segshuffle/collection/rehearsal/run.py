"""Simulate a plan on users with known sets, once, or several times to compare estimates with the truth.

Only counts are drawn, from their exact distribution. A repetition takes a few draws per item and level, and a pass over
the data only if several levels are assigned at random.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from segshuffle.arrays import FloatArray, IntArray, Numbers, Table, pieces
from segshuffle.collection.estimates import Estimate
from segshuffle.collection.notebooks import ROWS, frame_of, html_of
from segshuffle.collection.planning.foresight import CONFIDENCE
from segshuffle.datasets.own.reading import users_of
from segshuffle.datasets.own.transactions import Transactions
from segshuffle.drawing.looks import PALETTE
from segshuffle.errors import DataError, ParameterError
from segshuffle.numerics.ranges import check_integer, check_kind
from segshuffle.plans.item_variance import bias_given_levels
from segshuffle.plans.plan import Plan, Problem
from segshuffle.seeds import stream

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

#: Numbers of most frequent items whose recovery is counted.
TOPS = (1, 3, 5, 10, 20, 50, 100, 200, 500, 1000)
_ROLE = "rehearse"

#: Who holds what: sets of items by name or number, or a table.
Users = Transactions | Iterable[Iterable[object]] | Table


class Recovery(NamedTuple):
    """How many of the k most frequent items are among the k with the largest estimates.

    Parameters
    ----------
    k : int
        Number of items; with ties in the data, any of the tied items is right.
    first : float
        Share that is right in the first repetition.
    mean, least : float
        This share on average over all repetitions, and in the worst one.
    """

    k: int
    first: float
    mean: float
    least: float


#: What is said wherever results are shown.
NOT_PRIVATE = "These numbers are the users' own, and not private: they are not the result of a collection."


@dataclass(frozen=True, eq=False, repr=False)
class Rehearsal:
    """The results of a rehearsal; arrays have one entry per item.

    Parameters
    ----------
    first : Estimate
        What the first repetition estimates; it has the plan and the names of the items.
    true, sent : ndarray of float, shape (domain_size,)
        Shares of the users who hold the item, in the data and after cutting sets to set_size.
    users_cut : int
        Users who hold more than set_size items.
    entries_lost : float
        Share of the entries of the data that cutting removes.
    bias : ndarray of float or None
        Expected error of the estimates because levels depend on items; None if levels are random.
    repetitions : int
        How often the collection was simulated.
    expected : ndarray of float, shape (domain_size,)
        Expected squared errors against `true`: of noise, cutting, and levels that depend on items.
    squared_error : ndarray of float, shape (domain_size,)
        Squared errors against `true`, means over the repetitions.
    covered_true, covered_sent : ndarray of float, shape (domain_size,)
        Share of the repetitions whose interval contains the item's share in the data, and its share after cutting.
    recovery : tuple of Recovery
        How many of the most frequent items are found.
    told_from_zero : ndarray of float, shape (domain_size,)
        Share of the repetitions in which the item is told from zero.
    """

    first: Estimate
    true: FloatArray
    sent: FloatArray
    users_cut: int
    entries_lost: float
    bias: FloatArray | None
    repetitions: int
    expected: FloatArray
    squared_error: FloatArray
    covered_true: FloatArray
    covered_sent: FloatArray
    recovery: tuple[Recovery, ...]
    told_from_zero: FloatArray

    @property
    def order(self) -> IntArray:
        """Items from the most frequent to the rarest one of the data, shape (domain_size,)."""
        return np.argsort(-self.true, kind="stable")

    def columns(self) -> dict[str, Any]:
        """Return the columns of the table of items, from the most frequent item, without their names."""
        order, first = self.order, self.first
        low, high = first.interval()
        columns = {
            "rank": np.arange(1, order.size + 1),
            "users": np.rint(self.true[order] * first.plan.problem.n_users).astype(np.int64),
            "true": self.true[order],
            "sent": self.sent[order],
            "estimate": first.frequencies[order],
            "low": low[order],
            "high": high[order],
            "standard_error": first.standard_errors[order],
            "rmse": np.sqrt(self.squared_error[order]),
            "told_from_zero": first.told_from_zero[order],
        }
        return columns if self.bias is None else {**columns, "bias": self.bias[order]}

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas table with a row for every item, from the most frequent one of the data.

        Returns
        -------
        DataFrame
            Columns rank, users, true, sent, estimate (of the first repetition), low, high, standard_error, rmse,
            told_from_zero and, if levels may depend on items, bias; the index item has the names. The numbers are the
            users' own, and not private.
        """
        names = [self.first.name(item) for item in self.order.tolist()]
        return frame_of(self.columns()).set_axis(names).rename_axis("item")

    def plot(self, top: int = 20, *, ax: Axes | None = None) -> Axes:
        """Draw the most frequent items: their share in the data, what is sent, and the estimate with its interval.

        Parameters
        ----------
        top : int
            Number of items.
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default on a new figure.

        Returns
        -------
        matplotlib.axes.Axes
        """
        check_integer("top", top, 1)
        items = self.order[:top]
        ax = self.first.plot_items(items, ax=ax)
        rows: dict[str, Any] = {"y": range(items.size), "marker": "|", "zorder": 4, "s": 60}
        if self.users_cut:
            ax.scatter(100 * self.sent[items], color=PALETTE["grey"], label="after cutting sets", **rows)
        ax.scatter(100 * self.true[items], color=PALETTE["black"], label="in the data", **rows)
        ax.legend()
        return ax

    def __repr__(self) -> str:
        """Say how many items and repetitions there are, and how large the error is, in one line."""
        error = float(self.squared_error.sum())
        return (
            f"Rehearsal({self.true.size} items, {self.repetitions} repetitions; mean squared error of all items: "
            f"{error:.3g})"
        )

    def _repr_html_(self) -> str | None:
        """Return the most frequent items as a table."""
        return html_of(f"{self!r} {NOT_PRIVATE}", lambda: self.to_frame().head(ROWS))


def simulate(plan: Plan, users: Users, *, names: Iterable[object] | None = None, seed: int = 0) -> IntArray:
    """Simulate what users send, and count the messages by item, as the server does after shuffling.

    Parameters
    ----------
    plan : Plan
        As `segshuffle.plan` returns it.
    users : Transactions, iterable of iterables, or table
        The users that the plan is for: `Transactions`, the items of each user, or a table of Polars, Arrow or pandas
        (as `read_transactions` reads it). A user with more than set_size items sends a random set_size of them. If the
        users have no levels, these are assigned at random.
    names : sequence of str, optional
        Names of the plan's items, in the order of their numbers; without them users hold the numbers. Left out for
        `Transactions`, which have their own.
    seed : int
        Same seed, same counts.

    Returns
    -------
    ndarray of int64, shape (domain_size,)
        With a signed blanket, the number of pluses minus that of minuses.

    Raises
    ------
    DataError
        If the users are not those that were planned for.
    """
    check_integer("seed", seed, 0)
    users, problem = _fitting(plan, users, names), plan.problem
    rng = np.random.default_rng(seed)
    levels = levels_of(users, problem, rng)
    level_items = users.cut(problem.set_size, rng).level_item_counts(levels, len(problem.levels))
    return np.asarray(plan.scheme.count(level_items[None], rng)[0])


def rehearse(
    plan: Plan,
    users: Users,
    *,
    names: Iterable[object] | None = None,
    repetitions: int = 20,
    seed: int = 0,
    progress: Callable[[int, int], object] = lambda done, of: None,
) -> Rehearsal:
    """Simulate a plan several times on users with known sets, and compare the estimates with the truth.

    Parameters
    ----------
    plan : Plan
        As `segshuffle.plan` returns it.
    users : Transactions, iterable of iterables, or table
        As for `simulate`. Sets of more than set_size items are cut at random, once. If the data have no levels, these
        are assigned at random in every repetition.
    names : sequence of str, optional
        As for `simulate`.
    repetitions : int
        In [1, 100,000].
    seed : int
        Same seed, same result.
    progress : callable
        Called after every repetition with the number done and the number of all.

    Returns
    -------
    Rehearsal
        True shares, estimates with intervals, errors and coverage, item by item.

    Raises
    ------
    DataError
        If the users are not those that were planned for.
    ParameterError
        If `repetitions` is outside its range.
    """
    check_kind("progress", progress, Callable)
    check_integer("repetitions", repetitions, 1, most=100_000)
    check_integer("seed", seed, 0)
    users, problem, seed = _fitting(plan, users, names), plan.problem, int(seed)
    n, n_levels, held = users.n_users, len(problem.levels), users.item_counts
    cut = users.cut(problem.set_size, stream(seed, _ROLE, "cut"))
    true, sent = held / n, cut.item_counts / n
    tops, ordered = [k for k in TOPS if k <= np.count_nonzero(held)], -np.sort(-held)[: TOPS[-1]]
    # a sum: no array is kept for every repetition
    totals = np.zeros((4, true.size))
    right = np.empty((repetitions, len(tops)))
    for number in range(repetitions):
        if number == 0 or (n_levels > 1 and cut.levels is None):
            levels = levels_of(cut, problem, stream(seed, _ROLE, "levels", number))
            level_items = cut.level_item_counts(levels, n_levels)
        counted = plan.scheme.count(level_items[None], stream(seed, _ROLE, "counts", number))[0]
        estimate = plan.scheme.estimate(counted, problem.level_counts)
        if number == 0:
            first = Estimate(estimate, plan, users.names)
        for piece in pieces(true.size):
            some, shares = estimate[piece], (true[piece], sent[piece])
            low, high = first.variance.interval(some, CONFIDENCE)
            covered = [(low <= share) & (share <= high) for share in shares]
            totals[:, piece] += np.array([(some - shares[0]) ** 2, *covered, some > first.threshold])
        largest = held[np.argsort(-estimate, kind="stable")[: TOPS[-1]]]
        # `ordered[k - 1]` users hold the k-th most frequent item; ties are right
        right[number] = [(largest[:k] >= ordered[k - 1]).mean() for k in tops]
        progress(number + 1, repetitions)
    totals /= repetitions
    squared_error, covered_true, covered_sent, told = totals
    bias, expected = None, (sent - true) ** 2 + first.variance.at(sent)
    if n_levels > 1 and cut.levels is not None:
        bias = bias_given_levels(np.array(plan.scheme.copies), level_items, np.array(problem.level_counts))
        own = plan.scheme.sampling @ level_items / plan.scheme.weight(problem.level_counts) ** 2
        expected = (sent + bias - true) ** 2 + first.variance.noise + own
    means = (right[0].tolist(), right.mean(axis=0).tolist(), right.min(axis=0).tolist())
    recovery = tuple(map(Recovery, tops, *means))
    return Rehearsal(
        first=first,
        true=true,
        sent=sent,
        users_cut=int((users.sizes > problem.set_size).sum()),
        entries_lost=1.0 - cut.codes.size / max(users.codes.size, 1),
        bias=bias,
        repetitions=repetitions,
        expected=expected,
        squared_error=squared_error,
        covered_true=covered_true,
        covered_sent=covered_sent,
        recovery=recovery,
        told_from_zero=told,
    )


def _fitting(plan: Plan, users: Users, names: Iterable[object] | None) -> Transactions:
    """Return the users as `Transactions`; refuse users that do not fit the plan."""
    check_kind("plan", plan, Plan)
    if not isinstance(users, Transactions):
        users = users_of(users, range(plan.problem.domain_size) if names is None else names)
    elif names is not None:
        raise ParameterError("names", names, "left out for Transactions, which have names of their own")
    check_users(plan.problem, users)
    return users


def check_users(problem: Problem, users: Transactions) -> None:
    """Refuse users that do not fit the problem.

    Raises
    ------
    DataError
        Says what differs, and what to do.
    """
    for name, present, planned in (
        ("users", users.n_users, problem.n_users),
        ("items", users.domain_size, problem.domain_size),
        ("users by level", users.level_counts(len(problem.levels)) or problem.level_counts, problem.level_counts),
    ):
        if present != planned:
            raise DataError(
                f"{users.label}: {present} {name}, but the plan is for {planned}. Make a plan for {present} {name}."
            )
    short = int((users.sizes < problem.set_size).sum())
    if problem.assumptions.sets == "exactly" and short:
        raise DataError(
            f"{users.label}: {short} users hold fewer than set_size = {problem.set_size} items; plan with sets at-most."
        )


def levels_of(users: Transactions, problem: Problem, rng: np.random.Generator) -> Numbers:
    """Return the number of every user's level; if the data have none, they are random, with the problem's counts."""
    if users.levels is not None:
        return users.levels
    return rng.permutation(np.repeat(np.arange(len(problem.levels), dtype=np.int16), problem.level_counts))
