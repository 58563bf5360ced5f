"""Rehearse a plan on users who are known: the estimates beside the truth, and what comes out when it is repeated.

Everything is at the level of counts: exact in distribution, and a repetition costs a draw per item, and a pass over the
data only where several levels are given out at random.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from segshuffle.arrays import FloatArray, IntArray
from segshuffle.datasets.transactions import Transactions
from segshuffle.errors import DataError, ParameterError
from segshuffle.pipeline.seeds import stream
from segshuffle.planning.foresight import CONFIDENCE, threshold_of
from segshuffle.protocols.base import Plan, Problem, Sample
from segshuffle.protocols.item_variance import ItemVariance
from segshuffle.protocols.messages.dependence import bias_given_levels

#: Numbers of most frequent items whose recovery is counted.
TOPS = (1, 3, 5, 10, 20, 50, 100, 200, 500, 1000)
_ROLE = "rehearse"


@dataclass(frozen=True)
class Recovery:
    """How many of the k most frequent items are among the k with the largest estimates.

    Parameters
    ----------
    k : int
        How many are looked at; with ties in the data any of those tied is right.
    first : float
        Share that is right in the first repetition.
    mean, least : float
        The same on average over all repetitions, and in the worst of them.
    """

    k: int
    first: float
    mean: float
    least: float


@dataclass(frozen=True, eq=False)
class Rehearsal:
    """What came out; arrays have one entry per item.

    Parameters
    ----------
    plan : Plan
        What was rehearsed.
    names : sequence of str or None
        Names of the items; None for the integers.
    label : str
        Name of the data.
    true, sent : ndarray of float, shape (domain_size,)
        Shares of the users who hold the item in the data, and who are left after cutting sets to set_size.
    users_cut : int
        Users who hold more than set_size items.
    entries_lost : float
        Share of the data's entries that cutting leaves out.
    bias : ndarray of float or None
        What the estimates are off by on average because levels go with items; None where levels are at random.
    estimate, low, high : ndarray of float, shape (domain_size,)
        The first repetition's estimates and the ends of their intervals.
    variance : ItemVariance
        Of an estimate, by the share.
    repetitions : int
        How often the collection was simulated.
    squared_error, error_of_sent : ndarray of float, shape (domain_size,)
        Squared errors against `true` and against `sent`, means over the repetitions.
    covered_true, covered_sent : ndarray of float, shape (domain_size,)
        Share of the repetitions whose interval holds the item's share in the data, and that of what is sent.
    recovery : tuple of Recovery
        Of the most frequent items.
    threshold : float
        An estimate above is told from 0: with probability 0.95 no item that nobody holds has one.
    found, found_wrongly, missed : float
        Items above the threshold, those of them that nobody holds, and held items below it, on average.
    """

    plan: Plan
    names: Sequence[str] | None
    label: str
    true: FloatArray
    sent: FloatArray
    users_cut: int
    entries_lost: float
    bias: FloatArray | None
    estimate: FloatArray
    low: FloatArray
    high: FloatArray
    variance: ItemVariance
    repetitions: int
    squared_error: FloatArray
    error_of_sent: FloatArray
    covered_true: FloatArray
    covered_sent: FloatArray
    recovery: tuple[Recovery, ...]
    threshold: float
    found: float
    found_wrongly: float
    missed: float

    @property
    def order(self) -> IntArray:
        """Items from the most frequent to the rarest one of the data, shape (domain_size,)."""
        return np.argsort(-self.true, kind="stable")

    def name(self, item: int) -> str:
        """Name of an item."""
        return str(item) if self.names is None else self.names[item]


def rehearse(
    plan: Plan,
    users: Transactions,
    *,
    repetitions: int = 20,
    seed: int = 0,
    progress: Callable[[int, int], object] = lambda done, of: None,
) -> Rehearsal:
    """Run a plan on users, several times.

    Parameters
    ----------
    plan : Plan
        With copies by level, whatever its blanket, for as many users.
    users : Transactions
        Who holds what. Sets of more than set_size items are cut at random, once. Levels that the data do not have are
        given out at random in every repetition.
    repetitions : int
        At least 1.
    seed : int
        Same seed, same result.
    progress : callable
        Called after every repetition with the number done and their number.

    Returns
    -------
    Rehearsal

    Raises
    ------
    DataError
        If the users are not those of the plan.
    ParameterError
        If there is no repetition.
    """
    if repetitions < 1:
        raise ParameterError("repetitions", repetitions, "an integer >= 1")
    problem = plan.problem
    check_users(problem, users)
    n, n_levels = users.n_users, len(problem.levels)
    counts = np.array(problem.level_counts, dtype=np.int64)
    held, users_cut, entries = users.item_counts, int((users.sizes > problem.set_size).sum()), users.codes.size
    cut = users.cut(problem.set_size, stream(seed, _ROLE, "cut"))
    sent = cut.item_counts / n
    kept = cut.codes.size
    total = _Totals(held, sent, plan)
    own = np.zeros(n, dtype=np.int16) if n_levels == 1 else cut.levels
    fixed = None if own is None else cut.level_item_counts(own, n_levels)
    for number in range(repetitions):
        level_items = fixed
        if level_items is None:
            level_items = cut.level_item_counts(random_levels(plan, seed, number), n_levels)
        total.add(drawn(plan, level_items, stream(seed, _ROLE, "counts", number)))
        progress(number + 1, repetitions)
    bias = None
    if fixed is not None and n_levels > 1:
        bias = bias_given_levels(np.array(plan.scheme.copies), fixed, counts)
    return total.rehearsal(
        plan=plan,
        names=users.names,
        label=users.label,
        users_cut=users_cut,
        entries_lost=1.0 - kept / max(entries, 1),
        bias=bias,
    )


def check_users(problem: Problem, users: Transactions) -> None:
    """Refuse users other than those that a problem is about.

    Raises
    ------
    DataError
        Says what differs, and what to do.
    """
    for name, found, planned in (
        ("users", users.n_users, problem.n_users),
        ("items", users.domain_size, problem.domain_size),
    ):
        if found != planned:
            raise DataError(f"{users.label}: {found} {name}, but the plan is for {planned}. Plan for these.")
    short = int((users.sizes < problem.set_size).sum())
    if problem.assumptions.sets == "exactly" and short:
        raise DataError(
            f"{users.label}: {short} users hold fewer than set_size = {problem.set_size} items; plan with "
            'assumptions=Assumptions(sets="at-most").'
        )
    if users.levels is not None:
        held = tuple(np.bincount(users.levels, minlength=len(problem.level_counts)).tolist())
        if held != problem.level_counts:
            raise DataError(f"{users.label}: users by level are {held}, but the plan is for {problem.level_counts}.")


def random_levels(plan: Plan, seed: int, repetition: int) -> NDArray[np.int16]:
    """Give every user the number of a level, at random with exact counts."""
    numbers = np.repeat(np.arange(len(plan.problem.levels), dtype=np.int16), plan.problem.level_counts)
    return stream(seed, _ROLE, "levels", repetition).permutation(numbers)


def drawn(plan: Plan, level_items: IntArray, rng: np.random.Generator) -> FloatArray:
    """Estimates of one collection, shape (domain_size,), given who sends what at which level."""
    nothing = np.zeros(0, dtype=np.int32)
    sample = Sample(nothing, plan.problem.domain_size, level_items[None], plan.problem.n_users)
    return np.asarray(plan.scheme.estimate(plan.scheme.count(sample, rng)[0], plan.problem.level_counts))


class _Totals:
    """Sums over the repetitions: nothing is kept that grows with their number."""

    def __init__(self, held: IntArray, sent: FloatArray, plan: Plan) -> None:
        self.true, self.sent, self.held = held / plan.problem.n_users, sent, held
        self.variance, self.threshold = ItemVariance.of(plan), threshold_of(plan)
        self.tops = [k for k in TOPS if k <= np.count_nonzero(held)]
        # the count that an item must have to be among the k most frequent ones
        ordered = -np.sort(-held)
        self.least = [int(ordered[k - 1]) for k in self.tops]
        self.sums = {name: np.zeros(held.size) for name in ("true", "sent", "covered_true", "covered_sent")}
        self.right: list[list[float]] = []
        self.counts = np.zeros(3)
        self.repetitions = 0
        self.first: FloatArray | None = None

    def add(self, estimate: FloatArray) -> None:
        low, high = self.variance.interval(estimate, CONFIDENCE)
        for name, truth in (("true", self.true), ("sent", self.sent)):
            self.sums[name] += (estimate - truth) ** 2
            self.sums[f"covered_{name}"] += (low <= truth) & (truth <= high)
        self.right.append(self._right(estimate))
        above, nobody = estimate > self.threshold, self.held == 0
        self.counts += above.sum(), (above & nobody).sum(), (~above & ~nobody).sum()
        self.repetitions += 1
        if self.first is None:
            self.first = estimate

    def _right(self, estimate: FloatArray) -> list[float]:
        """Share of the k largest estimates whose items are among the k most frequent ones, for every k."""
        if not self.tops:
            return []
        most = min(self.tops[-1], estimate.size)
        best = np.argpartition(-estimate, most - 1)[:most]
        best = best[np.argsort(-estimate[best], kind="stable")]
        held = self.held[best]
        return [float((held[:k] >= least).mean()) for k, least in zip(self.tops, self.least, strict=True)]

    def rehearsal(self, **known: object) -> Rehearsal:
        assert self.first is not None
        low, high = self.variance.interval(self.first, CONFIDENCE)
        mean = {name: total / self.repetitions for name, total in self.sums.items()}
        right, (found, wrongly, missed) = np.array(self.right), self.counts / self.repetitions
        return Rehearsal(
            **known,  # type: ignore[arg-type]
            true=self.true,
            sent=self.sent,
            estimate=self.first,
            low=low,
            high=high,
            variance=self.variance,
            repetitions=self.repetitions,
            squared_error=mean["true"],
            error_of_sent=mean["sent"],
            covered_true=mean["covered_true"],
            covered_sent=mean["covered_sent"],
            recovery=tuple(
                Recovery(k, *map(float, (right[0, i], right[:, i].mean(), right[:, i].min())))
                for i, k in enumerate(self.tops)
            ),
            threshold=self.threshold,
            found=float(found),
            found_wrongly=float(wrongly),
            missed=float(missed),
        )
