"""What a client checks before it sends anything, because the server that makes the announcement may lie.

The server may announce a small blanket, many copies, or users who do not exist. So the client computes its own
guarantee, with the accountant of the planner and from its own beliefs. It refuses a guarantee that is less than it
demands. Results are cached: a thousand clients of one level cost one computation.
"""

import contextlib
import functools
import math
from dataclasses import dataclass
from typing import Any, NamedTuple

from segshuffle.accounting.collections.blanket_cap import cap_overflow, capped_delta, capped_epsilon, uncapped_target
from segshuffle.accounting.collections.calibration import epsilon_upper
from segshuffle.accounting.collections.product import delta_interval, log_delta_bound
from segshuffle.accounting.numerics.loss_distribution import AccuracyError
from segshuffle.accounting.numerics.ranges import check_guarantee, check_integer
from segshuffle.blankets.base import COPIES_RANGE, Blanket, CounterPair
from segshuffle.errors import ParameterError, RefusedError
from segshuffle.protocols.base import Assumptions, Problem, SetKind
from segshuffle.protocols.scheme import Scheme

#: Share of a target below which a bound need not be tight.
_FAR = 1e-3


@dataclass(frozen=True)
class Demand:
    """What a client demands of a collection; it never takes these values from the announcement.

    Parameters
    ----------
    epsilon, delta : float
        Guarantee of its items, against other items at its own level: epsilon in (0, 100], delta in (0, 1).
    honest_users : int
        Number of users >= 1, itself included, who certainly exist, send their blanket and do not reveal it to the
        server.
    sets : {"exactly", "at-most"}
        Sets of neighbouring users: exactly `set_size` items, or at most `set_size`.
    rounds : int
        Number of such collections that epsilon and delta cover together, in [1, 10000].
    level_epsilons : tuple of float
        Guarantee of its level, compared with a user of each announced level with any items: one epsilon per level. A
        smaller number than `epsilon` counts as `epsilon`. Empty: the level is not secret.
    level_delta : float or None
        Delta for these epsilons, in (0, 1); None takes `delta`.
    most_messages : float
        Most messages that it is ready to send, on average.
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
        check_guarantee(epsilon=self.epsilon, delta=self.delta)
        check_integer("honest_users", self.honest_users, 1, "an integer >= 1 (the client itself)")
        Assumptions(sets=self.sets, rounds=self.rounds)
        for epsilon in self.level_epsilons:
            check_guarantee(epsilon=epsilon, delta=self.delta if self.level_delta is None else self.level_delta)

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
    """Of its items, at the epsilon that was asked for."""
    level_epsilon: float
    """Of its level, against a user of any other, whatever either holds; 0 where it is no secret, or the only one."""
    level_delta: float
    """Beside that epsilon."""


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
    return _delta(_exchange(announcement, demand, level), demand.epsilon, demand.delta)


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
    if not isinstance(announcement.law, Blanket):
        raise RefusedError(
            f"The announcement is refused: nothing is proven about a binomial blanket, and the user asks for epsilon = "
            f"{demand.epsilon:g} at delta = {demand.delta:g}. Nothing is sent."
        )
    if demand.sets == "exactly" and announcement.set_size == announcement.domain_size:
        raise RefusedError(
            f"The announcement is refused: sets of exactly {announcement.set_size} of {announcement.domain_size} items "
            "are all the same, so there is nothing to estimate. Nothing is sent."
        )
    messages = announcement.blanket_per_user + announcement.set_size * announcement.copies[level]
    if messages > demand.most_messages:
        raise RefusedError(
            f"The announcement is refused: it asks for {messages:.4g} messages on average, more than the "
            f"{demand.most_messages:g} that this client is ready to send. Nothing is sent."
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
    def pair(self) -> CounterPair | None:
        """Counters of an exchanged item, or counters with a larger delta; None if nothing is proven."""
        law, mean = self.scheme.law, self.problem.honest_mean(self.scheme.blanket_per_user)
        if not isinstance(law, Blanket) or mean < law.means[0] or self.copies > COPIES_RANGE[1]:
            return None
        # delta does not decrease in the copies, and does not increase in the mean
        return law.pair(min(mean, law.means[1]), max(self.copies, COPIES_RANGE[0]))

    @property
    def _dummies(self) -> dict[str, Any]:
        """The dummies, for the cost of a cap."""
        sent = {"blanket_per_user": self.scheme.blanket_per_user, "cap": self.scheme.blanket_cap}
        return {**sent, "honest_users": self.problem.honest_users, "rounds": self.problem.assumptions.rounds}

    def epsilon(self, delta: float) -> float:
        """Return the epsilon at a delta, rounded up; +inf if none up to 100 is certified (kind: upper)."""
        pair, pairs = self.pair, self.problem.pairs
        if pairs == 0 or self.copies == 0:
            return 0.0
        with contextlib.suppress(AccuracyError):  # a table that would be too large
            if pair is not None:
                uncapped = functools.partial(epsilon_upper, pair, pairs=pairs)
                return capped_epsilon(lambda delta: uncapped(delta=delta), delta=delta, **self._dummies)
        return math.inf

    def _product_delta(self, epsilon: float, enough: float) -> float:
        """Bound the delta of a product of pairs; the bound is refined unless it is far below `enough`."""
        pair, pairs, law = self.pair, self.problem.pairs, self.scheme.law
        if pair is None:
            return 1.0
        bound = math.exp(log_delta_bound(pair, pairs, epsilon)) * (1 + 1e-13)
        if bound > _FAR * enough:
            with contextlib.suppress(AccuracyError):
                # the lattice of the plan's certificate
                expected = None if isinstance(law, Blanket) and law.rough() is law else enough
                bound = min(bound, delta_interval(pair, pairs=pairs, epsilon=epsilon, expected=expected).upper)
        return min(bound, 1.0)


@functools.lru_cache(maxsize=4096)
def _delta(exchange: Exchange, epsilon: float, enough: float) -> float:
    """Bound the delta at any epsilon, tightly unless it is far below `enough` (kind: upper)."""
    if exchange.problem.pairs == 0 or exchange.copies == 0:
        return 0.0
    if exchange.scheme.blanket_cap is None:
        return exchange._product_delta(epsilon, enough)
    overflow = cap_overflow(**exchange._dummies, epsilon=epsilon, delta=enough)
    inner, inner_enough = uncapped_target(epsilon=epsilon, delta=enough, overflow=overflow)
    if inner < 0.0:
        return 1.0
    return capped_delta(uncapped=exchange._product_delta(inner, inner_enough), delta=enough, overflow=overflow)


def _exchange(announcement: Scheme, demand: Demand, level: int, other: int | None = None) -> Exchange:
    """Return the exchange for other items at the same level, or for any items at both levels."""
    copies = announcement.copies
    if not 0 <= level < len(copies):
        raise ParameterError("level", level, f"one of the announced levels, 0..{len(copies) - 1}")
    problem = demand.problem(announcement, private_levels=other is not None)
    return Exchange(announcement, problem, max(copies[level], copies[level if other is None else other]))


def _level_guarantee(announcement: Scheme, demand: Demand, level: int) -> tuple[float, float]:
    """Find the worst epsilon and delta compared with other levels, at the client's own epsilon if that suffices."""
    asked, levels = demand.level_epsilons, len(announcement.copies)
    if not asked:
        return 0.0, 0.0
    if len(asked) != levels:
        raise ParameterError("level_epsilons", asked, f"one for each of the {levels} announced levels, or none")
    enough = demand.delta if demand.level_delta is None else demand.level_delta
    found = [(0.0, 0.0)]
    for other in set(range(levels)) - {level}:
        exchange = _exchange(announcement, demand, level, other)
        epsilon, delta = demand.epsilon, _delta(exchange, demand.epsilon, enough)
        if delta > enough:
            epsilon = max(demand.epsilon, asked[other])
            who = f"a user of level {level} who may be one of level {other} (counted from 0)"
            delta = _checked(exchange, who, epsilon, enough)
        found.append((epsilon, delta))
    return max(epsilon for epsilon, _ in found), max(delta for _, delta in found)


def _checked(exchange: Exchange, who: str, epsilon: float, enough: float) -> float:
    """Return the delta at an epsilon, or refuse it if it is too large."""
    delta = _delta(exchange, epsilon, enough)
    if delta > enough:
        least, n = exchange.epsilon(enough), exchange.problem.honest_users
        # four digits, never below the value
        found = f"epsilon = {least * 1.0005:.4g}" if math.isfinite(least) else "no certified epsilon"
        raise RefusedError(
            f"The announcement is refused: with {n} honest user{'' if n == 1 else 's'}, as the user "
            f"believes, {who} has delta = {delta * 1.0005:.4g} at epsilon = {epsilon:g}, or {found} at delta = "
            f"{enough:g}; the user asks for epsilon = {epsilon:g} and delta = {enough:g}. Nothing is sent."
        )
    return delta
