"""What a client checks before it sends anything: the announcement comes from a server that may lie.

It may announce a small blanket, many copies, or users who do not exist. So the client computes what the announcement
guarantees *it*, with the accountant that plans are made with, from what it believes itself, and refuses if that is less
than it asks for. Answers are kept: a thousand clients of one level cost one computation.
"""

from __future__ import annotations

import contextlib
import functools
import math
from dataclasses import dataclass, replace

from segshuffle.accounting.collections.blanket_cap import cap_overflow, capped_delta, capped_epsilon, uncapped_target
from segshuffle.accounting.collections.calibration import epsilon_upper
from segshuffle.accounting.collections.product import delta_interval, log_delta_bound
from segshuffle.accounting.numerics.loss_distribution import AccuracyError
from segshuffle.accounting.numerics.ranges import check_guarantee
from segshuffle.blankets.base import COPIES_RANGE, Blanket, CounterPair
from segshuffle.errors import ParameterError, RefusedError
from segshuffle.protocols.assumptions import PLAIN, Assumptions
from segshuffle.protocols.base import Problem
from segshuffle.protocols.scheme import Scheme

#: Share of a target below which a bound need not be close.
_FAR = 1e-3


@dataclass(frozen=True)
class Demand:
    """What a client asks of a collection before it takes part.

    Parameters
    ----------
    epsilon, delta : float
        Its own guarantee, epsilon in (0, 100], delta in (0, 1).
    honest_users : int or None
        Users, itself included, who it is sure exist and send their blanket without telling the server which it is. None
        believes the announced number.
    assumptions : Assumptions
        Whom it may be taken for (sets, private levels), in how many such collections it takes part, and the share of
        the announced users who it believes are honest.
    most_messages : float
        Messages that it is ready to send, on average.
    """

    epsilon: float
    delta: float
    honest_users: int | None = None
    assumptions: Assumptions = PLAIN
    most_messages: float = 10_000.0

    def __post_init__(self) -> None:
        check_guarantee(epsilon=self.epsilon, delta=self.delta)
        if self.honest_users is not None and self.honest_users < 1:
            raise ParameterError("honest_users", self.honest_users, "an integer >= 1 (the client itself), or None")

    def problem(self, announcement: Scheme) -> Problem:
        """The collection as this client sees it: with the honest users whom it believes in."""
        share, n = self.assumptions.honest_fraction, announcement.n_users
        if self.honest_users is not None:
            share = min(share, self.honest_users / n)
        assumptions = replace(self.assumptions, honest_fraction=share)
        return Problem(announcement.domain_size, announcement.set_size, (self.epsilon,), (n,), self.delta, assumptions)


def guaranteed_delta(announcement: Scheme, demand: Demand, level: int) -> float:
    """Delta that a client of a level has at its own epsilon, if the announcement is followed by those it trusts.

    Parameters
    ----------
    announcement : Scheme
        Of a collection with any blanket but the binomial one.
    demand : Demand
        What the client asks for and believes.
    level : int
        Number of its level, from 0.

    Returns
    -------
    float
        Upper bound (kind: upper), 1 where nothing is proven.

    Raises
    ------
    ParameterError
        If the level does not exist.
    """
    if not 0 <= level < len(announcement.copies):
        raise ParameterError("level", level, f"one of the announced levels, 0..{len(announcement.copies) - 1}")
    return _guaranteed(announcement, demand, level, demand.epsilon)


def check_announcement(announcement: Scheme, demand: Demand, level: int) -> float:
    """Refuse an announcement that gives a client less than it asks for; returns the delta that it gives.

    Raises
    ------
    RefusedError
        Says what the announcement would give, and what was asked for.
    ParameterError
        If the level does not exist.
    """
    delta = guaranteed_delta(announcement, demand, level)
    if not announcement.law.is_proven:
        raise RefusedError(
            f"The announcement is refused: nothing is proven of a binomial blanket, and epsilon = "
            f"{demand.epsilon:g} at delta = {demand.delta:g} was asked for. Nothing is sent."
        )
    messages = announcement.blanket_per_user + announcement.set_size * announcement.copies[level]
    if messages > demand.most_messages:
        raise RefusedError(
            f"The announcement is refused: it asks for {messages:.4g} messages on average, more than the "
            f"{demand.most_messages:g} that this client is ready to send. Nothing is sent."
        )
    if delta > demand.delta:
        epsilon = _epsilon(announcement, demand, level)
        found = f"epsilon = {_shown(epsilon)}" if math.isfinite(epsilon) else "no certified epsilon"
        raise RefusedError(
            f"The announcement is refused: with the {demand.problem(announcement).honest_users} honest users that are "
            f"believed in, it gives level {level} delta = {_shown(delta)} at epsilon = {demand.epsilon:g}, or "
            f"{found} at delta = {demand.delta:g}; asked for are epsilon = {demand.epsilon:g} and delta = "
            f"{demand.delta:g}. Nothing is sent."
        )
    return delta


def _shown(value: float) -> str:
    """Four digits, never below the value."""
    return f"{value * 1.0005:.4g}"


@functools.lru_cache(maxsize=4096)
def _guaranteed(announcement: Scheme, demand: Demand, level: int, epsilon: float) -> float:
    """The delta at any epsilon."""
    problem = demand.problem(announcement)
    copies = _copies(announcement, demand, level)
    if problem.pairs == 0 or copies == 0:
        return 0.0
    pair = _pair(announcement, problem.honest_mean(announcement.blanket_per_user), copies)
    if announcement.blanket_cap is None:
        return _product_delta(pair, problem.pairs, epsilon, demand.delta)
    overflow = cap_overflow(
        blanket_per_user=announcement.blanket_per_user,
        cap=announcement.blanket_cap,
        honest_users=problem.honest_users,
        epsilon=epsilon,
        delta=demand.delta,
        rounds=problem.assumptions.rounds,
    )
    inner, enough = uncapped_target(epsilon=epsilon, delta=demand.delta, overflow=overflow)
    if inner < 0.0:
        return 1.0
    uncapped = _product_delta(pair, problem.pairs, inner, enough)
    return capped_delta(uncapped=uncapped, delta=demand.delta, overflow=overflow)


def _pair(announcement: Scheme, mean: float, copies: float) -> CounterPair | None:
    """The pair of counters, or a worse one; None where nothing is known."""
    blanket = announcement.law
    if not isinstance(blanket, Blanket) or mean < blanket.means[0] or copies > COPIES_RANGE[1]:
        return None
    # delta does not decrease in the copies, and does not increase in the mean
    return blanket.pair(min(mean, blanket.means[1]), max(copies, COPIES_RANGE[0]))


def _product_delta(pair: CounterPair | None, pairs: int, epsilon: float, enough: float) -> float:
    """Upper bound of the delta of a product of pairs; a closer one unless the first is far below `enough`."""
    if pair is None:
        return 1.0
    bound = math.exp(log_delta_bound(pair, pairs, epsilon, 1e-3)) * (1 + 1e-13)
    if bound > _FAR * enough:
        with contextlib.suppress(AccuracyError):
            bound = min(bound, delta_interval(pair, pairs=pairs, epsilon=epsilon).upper)
    return min(bound, 1.0)


def _epsilon(announcement: Scheme, demand: Demand, level: int) -> float:
    """Epsilon at the demanded delta, rounded up; +inf if none is certified."""
    problem = demand.problem(announcement)
    mean = problem.honest_mean(announcement.blanket_per_user)
    pair = _pair(announcement, mean, _copies(announcement, demand, level))
    if pair is None:
        return math.inf
    return capped_epsilon(
        lambda delta: epsilon_upper(pair, pairs=problem.pairs, delta=delta),
        delta=demand.delta,
        blanket_per_user=announcement.blanket_per_user,
        cap=announcement.blanket_cap,
        honest_users=problem.honest_users,
        rounds=problem.assumptions.rounds,
    )


def _copies(announcement: Scheme, demand: Demand, level: int) -> float:
    """The larger copies of the two levels that neighbours may have."""
    return max(announcement.copies) if demand.assumptions.private_levels else announcement.copies[level]
