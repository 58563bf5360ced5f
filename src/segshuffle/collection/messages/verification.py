"""What a client checks before it sends anything, because the server that makes the announcement may lie.

The server may announce a small blanket, many copies, or users who do not exist. So the client computes its own
guarantee, with the accountant of the planner and from its own beliefs. It refuses a guarantee that is less than it
demands. Results are cached: a thousand clients of one level cost one computation.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

from segshuffle.accounting.collections.blanket_cap import capped_epsilon
from segshuffle.accounting.collections.calibration import epsilon_upper
from segshuffle.accounting.collections.product import check_product
from segshuffle.blankets.base import COPIES_RANGE, Blanket
from segshuffle.digits import rounded_up
from segshuffle.errors import ParameterError, RefusedError
from segshuffle.numerics.loss_distribution import AccuracyError
from segshuffle.numerics.ranges import check_guarantee, check_integer, check_kind, check_positive
from segshuffle.numerics.typed import typed
from segshuffle.plans.plan import Assumptions, Problem, SetKind
from segshuffle.plans.scheme import Scheme
from segshuffle.plans.targets import Target, cap_of, certified_delta, delta_with_cap

#: A client draws so many random numbers for a plan, on average, or so many for each message that it is ready to send,
#: if these are more: seconds, unless it is ready to send more than 10,000 messages.
MOST_STEPS, MESSAGE_STEPS = 1e6, 100


@dataclass(frozen=True)
class Demand:
    """What a client demands of a collection; it never takes these values from the announcement.

    Parameters
    ----------
    epsilon, delta : float
        Guarantee of its items, against other items at its own level: epsilon in (0, 100], delta in
        [1e-110, 1).
    honest_users : int
        Number of users >= 1, itself included, who certainly exist, send their blanket and do not reveal it to the
        server.
    sets : {"exactly", "at-most"}
        Sets of neighbouring users: exactly `set_size` items, or at most `set_size`.
    rounds : int
        Number of such collections that epsilon and delta cover together, in [1, 10000].
    level_epsilons : tuple of float
        Guarantee of its level: for each announced level one epsilon, compared with a user of that level with any items.
        A smaller number than `epsilon` counts as `epsilon`. Empty: the level is not secret.
    level_delta : float or None
        Delta for these epsilons, in [1e-110, 1); None takes `delta`.
    most_messages : float
        Most messages that it is ready to send, on average, a finite number above 0. It also bounds the time: at most
        100 random numbers are drawn for each, or a million, if these are more.
    """

    epsilon: float
    delta: float
    honest_users: int
    sets: SetKind = "at-most"
    rounds: int = 1
    level_epsilons: tuple[float, ...] = ()
    level_delta: float | None = None
    most_messages: float = 10_000.0

    def __post_init__(self) -> None:
        check_kind("level_epsilons", self.level_epsilons, tuple, list)
        for epsilon in (self.epsilon, *self.level_epsilons):
            check_guarantee(epsilon=epsilon, delta=self.delta)
        for delta in (self.delta, self.level_delta):
            if delta is not None:
                check_product(delta=delta)
        check_positive("most_messages", self.most_messages)
        check_integer("honest_users", self.honest_users, 1, "an integer >= 1 (the client itself)")
        Assumptions(sets=self.sets, rounds=self.rounds)

    @typed
    def problem(self, announcement: Scheme, *, private_levels: bool = False) -> Problem:
        """Return the collection as the client sees it, with its own number of honest users."""
        n = announcement.n_users
        assumptions = Assumptions(
            sets=self.sets,
            honest_fraction=min(1.0, self.honest_users / n),
            private_levels=private_levels,
            rounds=self.rounds,
        )
        return Problem(announcement.domain_size, announcement.set_size, (self.epsilon,), (n,), self.delta, assumptions)


class Given(NamedTuple):
    """What an announcement guarantees a client (kind: upper)."""

    delta: float
    """Delta of its items, at the demanded epsilon."""
    level_epsilon: float
    """Epsilon of its level, compared with any other level and any items; 0 if it is not secret, or the only one."""
    level_delta: float
    """Delta of its level, at this epsilon."""


def guaranteed_delta(announcement: Scheme, demand: Demand, level: int) -> float:
    """Return delta of a client's items at its own epsilon, if the honest users follow the announcement.

    Parameters
    ----------
    announcement : Scheme
        Announcement of a collection with any blanket except the binomial one.
    demand : Demand
        Demands and beliefs of the client.
    level : int
        Number of its level, from 0.

    Returns
    -------
    float
        Upper bound (kind: upper); 1 if nothing is proven.

    Raises
    ------
    ParameterError
        If the level does not exist.
    """
    return _exchange(announcement, demand, level).delta(demand.epsilon, demand.delta)


def check_announcement(announcement: Scheme, demand: Demand, level: int) -> Given:
    """Refuse an announcement that guarantees a client less than it demands.

    Returns
    -------
    Given
        The guarantee of the announcement.

    Raises
    ------
    RefusedError
        Says what the announcement guarantees, and what the client demands.
    ParameterError
        If the level does not exist, or the number of `level_epsilons` is not that of the levels.
    """
    own = _exchange(announcement, demand, level)
    if demand.sets == "exactly" and announcement.set_size == announcement.domain_size:
        raise RefusedError(
            f"The plan is refused: sets of exactly {announcement.set_size} of {announcement.domain_size} items "
            "are all the same, so there is nothing to estimate. Nothing is sent."
        )
    messages, steps = announcement.mean_messages(level), announcement.most_steps(level)
    if messages > demand.most_messages:
        raise RefusedError(
            f"The plan is refused: it asks for {messages:.4g} messages on average, more than the "
            f"{demand.most_messages:g} that this client is ready to send. Nothing is sent."
        )
    if steps > (most_steps := max(MOST_STEPS, MESSAGE_STEPS * demand.most_messages)):
        raise RefusedError(
            f"The plan is refused: to draw its messages takes up to {steps:.4g} random numbers on average, more than "
            f"the {most_steps:g} that this client is ready to draw. Ask for a plan with a larger p. Nothing is sent."
        )
    delta = _checked(own, "the user", demand.epsilon, demand.delta)
    return Given(delta, *_level_guarantee(announcement, demand, level))


@dataclass(frozen=True)
class Exchange:
    """Exchange of all items of a user, and of its level if levels are private.

    Parameters
    ----------
    scheme : Scheme
        What users send.
    problem : Problem
        The collection, with the number of honest users.
    copies : float
        The larger copies of the two levels.
    """

    scheme: Scheme
    problem: Problem
    copies: float

    @property
    def counters(self) -> tuple[Blanket, float, float] | None:
        """Law, mean and copies of counters with at least the exchange's delta; None if nothing is proven."""
        law, mean = self.scheme.law, self.problem.honest_mean(self.scheme.blanket_per_user)
        if mean < law.means[0] or self.copies > COPIES_RANGE[1]:
            return None
        # delta does not decrease in the copies, and does not increase in the mean
        return law, min(mean, law.means[1]), max(self.copies, COPIES_RANGE[0])

    def epsilon(self, delta: float) -> float:
        """Return the epsilon at a delta, rounded up; +inf if none up to 100 is certified (kind: upper)."""
        pairs = self.problem.pairs
        if pairs == 0 or self.copies == 0:
            return 0.0
        if self.counters is None:
            return math.inf
        law, mean, copies = self.counters
        pair, cap = law.pair(mean, copies), cap_of(self.scheme, self.problem)
        caps = [] if cap is None else [cap]
        try:
            return capped_epsilon(lambda delta: epsilon_upper([(pair, pairs)], delta=delta), caps, delta=delta)
        except AccuracyError:  # a table that would be too large
            return math.inf

    def delta(self, epsilon: float, enough: float) -> float:
        """Bound the delta at an epsilon, as closely as possible if it is about `enough` (kind: upper)."""
        pairs = self.problem.pairs
        if pairs == 0 or self.copies == 0:
            return 0.0
        if self.counters is None:
            return 1.0
        law, mean, copies = self.counters
        target, cap = Target(pairs, epsilon, enough), cap_of(self.scheme, self.problem)
        if cap is None:
            return certified_delta(law, mean, target, copies)[1]
        return delta_with_cap(law, mean, target, copies, **cap)


def _exchange(announcement: Scheme, demand: Demand, level: int, other: int | None = None) -> Exchange:
    """Return the exchange for other items at the same level, or for any items at level `other`."""
    copies = announcement.copies
    check_integer("level", level, 0, f"one of the announced levels, 0..{len(copies) - 1}", most=len(copies) - 1)
    problem = demand.problem(announcement, private_levels=other is not None)
    return Exchange(announcement, problem, max(copies[level], copies[level if other is None else other]))


def _level_guarantee(announcement: Scheme, demand: Demand, level: int) -> tuple[float, float]:
    """Find the worst epsilon and delta compared with other levels, at the client's own epsilon if that suffices."""
    asked, levels = demand.level_epsilons, len(announcement.copies)
    if asked and len(asked) != levels:
        raise ParameterError("level_epsilons", asked, f"one for each of the {levels} announced levels, or none")
    enough = demand.delta if demand.level_delta is None else demand.level_delta
    largest = (0.0, 0.0)
    for other in set(range(len(asked))) - {level}:
        exchange, epsilon = _exchange(announcement, demand, level, other), demand.epsilon
        delta = exchange.delta(epsilon, enough)
        if delta > enough:
            epsilon = max(epsilon, asked[other])
            delta = _checked(exchange, f"a user of level {level} who may be one of level {other}", epsilon, enough)
        largest = max(largest[0], epsilon), max(largest[1], delta)
    return largest


def _checked(exchange: Exchange, who: str, epsilon: float, enough: float) -> float:
    """Return the delta at an epsilon, or refuse it if it is too large."""
    delta = exchange.delta(epsilon, enough)
    if delta > enough:
        least, n = exchange.epsilon(enough), exchange.problem.honest_users
        told = f"epsilon = {rounded_up(least, 4):.4g}" if math.isfinite(least) else "no certified epsilon"
        raise RefusedError(
            f"The plan is refused: with {n} honest user{'' if n == 1 else 's'}, as the user "
            f"believes, {who} has delta = {rounded_up(delta, 4):.4g} at epsilon = {epsilon:g}, or {told} at delta = "
            f"{enough:g}; the user asks for epsilon = {epsilon:g} and delta = {enough:g}. Nothing is sent."
        )
    return delta
