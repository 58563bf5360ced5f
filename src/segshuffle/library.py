"""The three steps of a collection as functions: plan from public numbers, simulate the users, estimate from counts.

Randomness here is reproducible, not secret: `simulate` rehearses a collection, and is no client.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from segshuffle.arrays import FloatArray, IntArray
from segshuffle.datasets.transactions import Transactions
from segshuffle.errors import DataError, ParameterError
from segshuffle.protocols.assumptions import Assumptions
from segshuffle.protocols.base import Plan, Problem, Sample
from segshuffle.protocols.poisson import PoissonSegmented

__all__ = ["Assumptions", "Estimate", "Plan", "Problem", "Transactions", "estimate", "plan", "simulate"]


@dataclass(frozen=True, eq=False)
class Estimate:
    """Estimated shares of the users, item by item.

    Parameters
    ----------
    frequencies : ndarray of float, shape (domain_size,)
        Unbiased where levels have nothing to do with items; may be below 0 or above 1.
    standard_errors : ndarray of float, shape (domain_size,)
        Standard deviation of every estimate: the blanket, the copies that chance sends, and who has which level.
    """

    frequencies: FloatArray
    standard_errors: FloatArray

    def interval(self, confidence: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """Lower and upper ends of a normal interval for every item's share, each of shape (domain_size,).

        Parameters
        ----------
        confidence : float
            Probability, in (0, 1), with which one item's interval holds its share.
        """
        if not 0.0 < confidence < 1.0:
            raise ParameterError("confidence", confidence, "in (0, 1)")
        half = special.ndtri(0.5 + confidence / 2) * self.standard_errors
        return self.frequencies - half, self.frequencies + half


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
    return PoissonSegmented(copies_max=copies_max, max_messages=max_messages, equal_copies=equal_copies).plan(problem)


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

    Raises
    ------
    DataError
        If the users are not those that were planned for.
    """
    problem = plan.problem
    copies = _copies(plan)
    if not isinstance(users, Transactions):
        users = Transactions.from_sets(users, [str(item) for item in range(problem.domain_size)])
    _check_users(problem, users)
    rng = np.random.default_rng(seed)
    levels = users.levels
    if levels is None:
        levels = rng.permutation(np.repeat(np.arange(len(copies), dtype=np.int16), problem.level_counts))
    sent = users.cut(problem.set_size, rng)
    sample = Sample(sent.codes, users.domain_size, sent.level_item_counts(levels, len(copies))[None], users.n_users)
    frequencies = PoissonSegmented().simulate(plan, sample, rng)[0]
    # back from estimates to counters, which are whole numbers
    return np.asarray(np.rint(frequencies * _weight(plan) + _blanket_mean(plan)), dtype=np.int64)


def estimate(plan: Plan, counts: ArrayLike) -> Estimate:
    """Estimate every item's share of the users from the messages counted by item.

    Parameters
    ----------
    plan : Plan
        As `plan` returns it; its problem's level_counts are those of the users who took part (see
        `Plan.of_participants`).
    counts : array_like of int, shape (domain_size,)
        Messages that name each item.

    Returns
    -------
    Estimate

    Raises
    ------
    DataError
        If there is not one count >= 0 per item.
    """
    problem, copies = plan.problem, _copies(plan)
    counted = np.asarray(counts)
    if counted.shape != (problem.domain_size,) or counted.dtype.kind not in "iu" or (counted < 0).any():
        raise DataError(
            f"counts are of shape {counted.shape} and type {counted.dtype}; needed is an integer >= 0 for each of "
            f"domain_size = {problem.domain_size} items."
        )
    weight, users = _weight(plan), np.asarray(problem.level_counts, dtype=float)
    frequencies = (counted - _blanket_mean(plan)) / weight
    # the variance depends on the share itself, for which its estimate is taken
    share, fraction = np.clip(frequencies, 0.0, 1.0), copies % 1.0
    by_chance = _blanket_mean(plan) + share * float(users @ (fraction * (1.0 - fraction)))
    spread = float(users @ (copies - weight / problem.n_users) ** 2) * problem.n_users / max(problem.n_users - 1, 1)
    variance = (by_chance + share * (1.0 - share) * spread) / weight**2
    return Estimate(np.asarray(frequencies), np.asarray(np.sqrt(variance)))


def _copies(plan: Plan) -> FloatArray:
    if "copies" not in plan.parameters:
        raise ParameterError("plan", plan.method, "one with copies by level, as segshuffle.plan makes it")
    return np.asarray(plan.parameters["copies"], dtype=float)


def _weight(plan: Plan) -> float:
    return float(np.dot(plan.problem.level_counts, _copies(plan)))


def _blanket_mean(plan: Plan) -> float:
    return plan.problem.n_users * plan.blanket_per_user / plan.problem.domain_size


def _check_users(problem: Problem, users: Transactions) -> None:
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
