"""The three steps of a collection as functions: plan from public numbers, simulate the users, estimate from counts.

Randomness here is reproducible, not secret: `simulate` rehearses a collection, and is no client.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from segshuffle.arrays import FloatArray, IntArray
from segshuffle.datasets.transactions import Transactions
from segshuffle.errors import DataError
from segshuffle.protocols.assumptions import Assumptions
from segshuffle.protocols.base import Plan, Problem, Sample
from segshuffle.protocols.item_variance import ItemVariance
from segshuffle.protocols.proven import ProvenSegmented

__all__ = ["Assumptions", "Estimate", "Plan", "Problem", "Transactions", "estimate", "plan", "simulate"]


@dataclass(frozen=True, eq=False)
class Estimate:
    """Estimated shares of the users, item by item.

    Parameters
    ----------
    frequencies : ndarray of float, shape (domain_size,)
        Unbiased where levels have nothing to do with items; may be below 0 or above 1.
    variance : ItemVariance
        Variance of an estimate by the share: the blanket, the copies that chance sends, and who has which level.
    """

    frequencies: FloatArray
    variance: ItemVariance

    @property
    def standard_errors(self) -> FloatArray:
        """Standard deviation of every estimate, at the share that is estimated, shape (domain_size,)."""
        return np.asarray(np.sqrt(self.variance.at(self.frequencies)))

    def interval(self, confidence: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """Lower and upper ends of an interval for every item's share, each of shape (domain_size,).

        Parameters
        ----------
        confidence : float
            Probability, in (0, 1), with which one item's interval holds its share, by the normal law with a correction
            for the blanket's; counters are whole numbers, so it is met to about 0.06 over their standard deviation.
        """
        return self.variance.interval(self.frequencies, confidence)


def plan(
    problem: Problem, *, copies_max: float = 1.0, max_messages: float | None = None, equal_copies: bool = False
) -> Plan:
    """Choose the blanket and what every level sends, with least error, so that every level's guarantee is proven.

    Parameters
    ----------
    problem : Problem
        Public numbers only.
    copies_max : float
        Most messages that a user sends about a held item, on average.
    max_messages : float, optional
        Most messages that a user sends altogether, on average.
    equal_copies : bool
        All levels send the same number of copies: no bias even if levels depend on items.

    Returns
    -------
    Plan
        ``plan.parameters["copies"]`` by level, ``plan.blanket_per_user``, ``plan.parameters["certificate"]``.

    Raises
    ------
    InfeasibleError
        If nothing meets the guarantees within the budget.
    ParameterError
        If an option is outside its range.
    """
    return ProvenSegmented(copies_max=copies_max, max_messages=max_messages, equal_copies=equal_copies).plan(problem)


def simulate(plan: Plan, users: Transactions | Iterable[Iterable[int]], *, seed: int = 0) -> IntArray:
    """Let the users send, and count the messages by item: what the server sees after shuffling.

    Parameters
    ----------
    plan : Plan
        As `plan` returns it.
    users : Transactions or iterable of iterables of int
        As many as were planned for. Whoever holds more than set_size items sends a random set_size of them. Levels that
        the users do not have are given out at random.
    seed : int
        Same seed, same counts.

    Returns
    -------
    ndarray of int64, shape (domain_size,)
        With a signed blanket the pluses minus the minuses.

    Raises
    ------
    DataError
        If the users are not those that were planned for.
    """
    problem = plan.problem
    scheme = plan.scheme
    if not isinstance(users, Transactions):
        users = Transactions.from_sets(users, [str(item) for item in range(problem.domain_size)])
    check_users(problem, users)
    rng = np.random.default_rng(seed)
    levels = users.levels
    if levels is None:
        levels = rng.permutation(np.repeat(np.arange(len(scheme.copies), dtype=np.int16), problem.level_counts))
    sent = users.cut(problem.set_size, rng)
    sample = Sample(
        sent.codes, users.domain_size, sent.level_item_counts(levels, len(scheme.copies))[None], users.n_users
    )
    return np.asarray(scheme.count(sample, rng)[0])


def estimate(plan: Plan, counts: ArrayLike) -> Estimate:
    """Estimate every item's share of the users from the messages counted by item.

    Parameters
    ----------
    plan : Plan
        As `plan` returns it; its problem's level_counts are those of the users who took part (see
        `Plan.of_participants`).
    counts : array_like of int, shape (domain_size,)
        Messages that name each item; with a signed blanket the pluses minus the minuses.

    Returns
    -------
    Estimate

    Raises
    ------
    DataError
        If there is not one count >= 0 per item.
    """
    problem, counted = plan.problem, np.asarray(counts)
    signed = plan.scheme.law.has_signs
    if (
        counted.shape != (problem.domain_size,)
        or counted.dtype.kind not in "iu"
        or not (signed or (counted >= 0).all())
    ):
        raise DataError(
            f"counts are of shape {counted.shape} and type {counted.dtype}; needed is an integer"
            f"{'' if signed else ' >= 0'} for each of domain_size = {problem.domain_size} items."
        )
    return Estimate(plan.scheme.estimate(counted, problem.level_counts), ItemVariance.of(plan))


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
