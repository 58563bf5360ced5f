"""Checks of what the server received: whether the users can have sent it, and how private they were.

The law of the dummies is known, and the messages about held items have bounds. Users hold set_size items, or between 0
and set_size, and send the plan's copies of each. So a count is the number of dummies, which is inside a window of their
law, plus that of the copies. The random part of the copies is a sum of N independent numbers in [0, 1]. By Hoeffding's
inequality it exceeds its mean by sqrt(N log(1/alpha)/2) with probability at most alpha, and likewise below. So an
honest collection is refused with probability at most `FALSE_ALARM`, for every size.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy import special

from segshuffle.arrays import IntArray
from segshuffle.collection.messages.verification import Exchange
from segshuffle.digits import rounded_up
from segshuffle.plans.item_variance import NetLaw
from segshuffle.plans.plan import Plan

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
        least, parts = s if plan.problem.assumptions.sets == "exactly" else 0, plan.scheme.parts
        net = [part.net for part in parts]
        # each of the two totals has an eighth of the false alarms, the items half, repeated lines a quarter
        return cls(
            _possible(plan, d, (least, s), [len(part.signs) for part in parts], FALSE_ALARM / 16),
            _possible(plan, d, (least, s), net, FALSE_ALARM / 16),
            _possible(plan, 1, (0, 1), net, FALSE_ALARM / (4 * d)),
        )


def _possible(plan: Plan, items: int, held: tuple[int, int], units: Sequence[int], alpha: float) -> Possible:
    """Bound the count of `items` items, of which a user holds held[0] to held[1].

    Each end fails with probability at most `alpha`. `units` are what a unit of each part of the dummies adds.
    """
    problem, copies = plan.problem, np.array(plan.scheme.copies)
    # every part and the copies have the same share of alpha
    log_tail = math.log((len(units) + 1) / alpha)

    def end(number: int, sign: int, log_window: float) -> float:
        """Return the least count (sign -1) or the largest one (sign 1)."""
        sent = copies
        if problem.assumptions.private_levels:  # the numbers of users at the levels are not known
            sent = np.full(copies.size, sign * (sign * copies).max())
        users = number * np.array(problem.level_counts)
        extreme = float(users @ sent) + sign * math.sqrt(0.5 * log_tail * float(users @ (sent % 1.0 > 0)))
        for unit, part in zip(units, plan.scheme.parts, strict=True):
            window = replace(part, mean=items * part.mean).window(log_window)
            extreme += sign * max(sign * unit * count for count in window)
        return extreme

    return Possible(math.ceil(end(held[0], -1, log_tail - _log_uncapped(plan))), math.floor(end(held[1], 1, log_tail)))


def _log_uncapped(plan: Plan) -> float:
    """Return the log of the probability that no user exceeds the cap.

    Given this event, any other event has at most its own probability divided by that of this event.
    """
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
        (int(counts.sum()), can.net, "more pluses than minuses"),
    ):
        if number is not None and not of_all.least <= number <= of_all.most:
            return (
                f"{number} {what}, but {n_users} users of this plan send {of_all.least} to {of_all.most}: was the file "
                "cut off, is it another plan's, is every line there twice, or did another number of users take part "
                "(--levels)?"
            )
    odd = np.flatnonzero((counts < can.item.least) | (counts > can.item.most))
    if not odd.size:
        return None
    return (
        f"the count of item {name(int(odd[0]))!r}, {counts[odd[0]]}, is not in {can.item.least} (if nobody "
        f"holds it) to {can.item.most} (if all {n_users} users hold it): is this another plan's file?"
    )


def _repeated(plan: Plan, counts: IntArray) -> int | None:
    """Return how often every line is repeated, if nothing else explains that all counts are multiples of this number.

    Whatever users send themselves, Pr[X + own = 0 mod k] is at most the largest Pr[X = r mod k], and the dummies X of
    different items are independent.
    """
    law = NetLaw.of(plan).masses
    for times in range(_MOST_REPEATED, 1, -1):
        if counts.any() and not (counts % times).any():
            chance = max(float(law[rest::times].sum()) for rest in range(times))
            # slightly more than this, because of round-off
            log_chance = counts.size * min(math.log(chance) + 1e-12, 0.0) - _log_uncapped(plan)
            if log_chance <= math.log(FALSE_ALARM / (4 * (_MOST_REPEATED - 1))):
                return times
    return None


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
        One number per level, rounded up (kind: upper), for all T collections together if each had these users;
        +inf if no epsilon up to 100 is certified. If levels are private, a change of level has the larger epsilon of
        the two levels.
    """
    assumptions = replace(plan.problem.assumptions, honest_fraction=min(honest_users / plan.problem.n_users, 1.0))
    problem = replace(plan.problem, assumptions=assumptions)
    certified = (
        Exchange(plan.scheme, problem, copies).epsilon(delta)
        for copies, delta in zip(plan.scheme.copies, problem.deltas, strict=True)
    )
    return tuple(map(rounded_up, certified))
