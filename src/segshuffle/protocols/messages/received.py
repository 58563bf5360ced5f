r"""Checks of what the server received: whether the users can have sent it, and how private they were.

The law of the dummies is known, and the messages about held items have bounds. Users hold set_size items, or between 0
and set_size, and send the plan's copies of each. Chernoff's bound, which is proven for every size, then bounds the
counts. So an honest collection is refused with probability at most `FALSE_ALARM`. For a sum X with K(theta) = log
E[exp(theta X)],

    Pr[X >= t] <= alpha  for every  t >= (K(theta) - log alpha)/theta,  theta > 0,

and similarly for the lower end. Adding an independent number >= 0 makes X larger. So the upper end assumes the most
messages about held items, and the lower end the fewest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from segshuffle.accounting.numerics.laws import size_of
from segshuffle.arrays import FloatArray, IntArray
from segshuffle.blankets.parts import Part
from segshuffle.digits import rounded_up
from segshuffle.protocols.base import Plan
from segshuffle.protocols.messages.verification import Exchange

#: Largest probability with which the messages of an honest collection are called impossible.
FALSE_ALARM = 1e-6
#: Most repetitions of every line that are recognised.
_MOST_REPEATED = 9


class Possible(NamedTuple):
    """Range of a count, up to a small probability."""

    least: int
    most: int


class PossibleCounts(NamedTuple):
    """Ranges of the counts of one collection; all hold at once, up to a probability of `FALSE_ALARM`."""

    messages: Possible
    """Number of all messages."""
    net: Possible
    """Messages with a plus minus messages with a minus; without signs, all messages."""
    item: Possible
    """Count of any single item, whoever holds it."""

    @classmethod
    def of(cls, plan: Plan) -> PossibleCounts:
        """Compute the ranges for a plan with copies by level."""
        d, s, _ = plan.problem.sizes
        least = s if plan.problem.assumptions.sets == "exactly" else 0
        # each of the two totals has an eighth of the false alarms, the items half, repeated lines a quarter
        return cls(
            _possible(plan, d, (least, s), lambda part: len(part.signs), FALSE_ALARM / 16),
            _possible(plan, d, (least, s), lambda part: part.net, FALSE_ALARM / 16),
            _possible(plan, 1, (0, 1), lambda part: part.net, FALSE_ALARM / (4 * d)),
        )


def _possible(plan: Plan, items: int, held: tuple[int, int], units: Callable[[Part], int], alpha: float) -> Possible:
    """Bound the count of `items` items, of which a user holds held[0] to held[1]; each end fails with `alpha`."""
    parts = [replace(part, mean=items * part.mean) for part in plan.scheme.parts]
    spread = sum(units(part) ** 2 * part.variance for part in parts) + held[1] * plan.problem.n_users
    # around the best theta for a normal law with this variance; the bound is proven for every theta
    theta = math.sqrt(-2 * math.log(alpha) / spread) * np.geomspace(1e-3, 1e6, 6001)
    with np.errstate(all="ignore"):
        high = (_log_moments(plan, parts, units, held[1], theta) - math.log(alpha)) / theta
        low = (math.log(alpha) + _log_uncapped(plan) - _log_moments(plan, parts, units, held[0], -theta)) / theta
    return Possible(math.floor(np.nanmax(low)) + 1, math.ceil(np.nanmin(high)) - 1)


def _log_moments(
    plan: Plan, parts: Sequence[Part], units: Callable[[Part], int], held: int, theta: FloatArray
) -> FloatArray:
    """Return K(theta) of all dummies plus the most (theta > 0) or fewest messages about `held` items per user."""
    total = np.sum([_log_moment(part, units(part) * theta) for part in parts], axis=0)
    copies, users = np.array(plan.scheme.copies), np.array(plan.problem.level_counts, dtype=float)
    if plan.problem.assumptions.private_levels:  # the numbers of users at the levels are not known
        copies, users = np.array([copies.max() if theta[0] > 0 else copies.min()]), np.array([users.sum()])
    for number, each in zip(held * users, copies, strict=True):
        total += number * (math.floor(each) * theta + np.log1p(each % 1.0 * np.expm1(theta)))
    return np.asarray(total)


def _log_moment(part: Part, theta: NDArray[Any]) -> NDArray[Any]:
    """Log E[exp(theta X)] of the number X of units of a part, for real or complex theta."""
    growth = np.expm1(theta)
    if part.p == 0:
        return np.asarray(part.mean * growth)
    return np.asarray(-size_of(part.mean, part.p) * np.log1p(-part.p * growth / (1 - part.p)))


def _log_uncapped(plan: Plan) -> float:
    """Log of the probability that no user exceeds the cap; conditioning on this divides by at most that."""
    cap = plan.scheme.blanket_cap
    # a cap makes large numbers of dummies less likely, so only the lower end needs this
    return 0.0 if cap is None else plan.problem.n_users * math.log1p(-special.pdtrc(cap, plan.blanket_per_user))


def impossible(plan: Plan, counts: IntArray, messages: int | None, name: Callable[[int], str]) -> str | None:
    """Say which counts the users of a plan cannot have sent, and what is likely wrong.

    Parameters
    ----------
    plan : Plan
        A plan with copies by level; the level_counts of its problem are those of the users who took part.
    counts : ndarray of int, shape (domain_size,)
        Messages about each item; with signs, those with a plus minus those with a minus.
    messages : int or None
        Number of all messages; None if only the difference between plus and minus is known.
    name : callable
        Name of an item by its number.

    Returns
    -------
    str or None
        None if everything is possible. For an honest collection it is not None with probability at most `FALSE_ALARM`.
    """
    can, n_users = PossibleCounts.of(plan), plan.problem.n_users
    if times := _repeated(plan, counts):
        return f"every count is a multiple of {times}: is every line there {times} times?"
    for number, of_all, what in (
        (messages, can.messages, "messages"),
        (int(counts.sum()), can.net, "pluses more than minuses"),
    ):
        if number is not None and not of_all.least <= number <= of_all.most:
            likely = _likely(number, of_all)
            return f"{number} {what}, but {n_users} users of this plan send {of_all.least} to {of_all.most}: {likely}"
    odd = np.flatnonzero((counts < can.item.least) | (counts > can.item.most))
    if not odd.size:
        return None
    others = f" (nor are the counts of {odd.size - 1} others)" if odd.size > 1 else ""
    return (
        f"the count of item {name(int(odd[0]))!r}, {counts[odd[0]]}, is not in {can.item.least} to {can.item.most}, "
        f"from an item that nobody holds to one that all {n_users} users hold{others}: is this another plan's file?"
    )


def _repeated(plan: Plan, counts: IntArray) -> int | None:
    """Return how often every line is repeated, if all counts are multiples of this and that is too unlikely by chance.

    Pr[X + own = 0 mod k] is at most the mean over j < k of |E[exp(2 pi i j X/k)]|, whatever `own` is, and the dummies X
    of different items are independent.
    """
    for times in range(_MOST_REPEATED, 1, -1):
        if not counts.any() or (counts % times).any():
            continue
        angles = 2j * math.pi * np.arange(times) / times
        size = np.exp(np.sum([_log_moment(part, part.net * angles).real for part in plan.scheme.parts], axis=0))
        # slightly more than the mean, because of round-off
        log_chance = counts.size * min(math.log(size.mean()) + 1e-14, 0.0) - _log_uncapped(plan)
        if log_chance <= math.log(FALSE_ALARM / (4 * (_MOST_REPEATED - 1))):
            return times
    return None


def _likely(number: int, can: Possible) -> str:
    """Say what may explain an impossible total."""
    if number > can.most:
        times = [k for k in range(2, _MOST_REPEATED + 1) if can.least <= number / k <= can.most]
        repeated = f"is every line there {times[0]} times, " if times else ""
        return f"{repeated}is this another plan's file, or did more users take part (--levels says how many)?"
    return "was the file cut off, is it another plan's, or did users stay away (--levels says how many took part)?"


def epsilons(plan: Plan, honest_users: int) -> tuple[float, ...]:
    """Return the epsilon of each level at its delta, given the number of honest users.

    Parameters
    ----------
    plan : Plan
        A plan with copies by level and proven numbers (kind "exact" or "upper").
    honest_users : int
        n' >= 1 users who sent their dummies and told nobody which these are, the user in question included.

    Returns
    -------
    tuple of float
        One number per level, rounded up (kind: upper), for all rounds of the plan together if each had these users;
        +inf if no epsilon up to 100 is certified. If levels are private, a change of level costs the larger of the two.
    """
    assumptions = replace(plan.problem.assumptions, honest_fraction=min(honest_users / plan.problem.n_users, 1.0))
    problem = replace(plan.problem, assumptions=assumptions)
    certified = (
        Exchange(plan.scheme, problem, copies).epsilon(delta)
        for copies, delta in zip(plan.scheme.copies, problem.deltas, strict=True)
    )
    return tuple(rounded_up(each) if math.isfinite(each) else each for each in certified)
