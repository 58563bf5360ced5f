"""Users with local budgets of their own: every bound for them side by side.

What is proven is only that no user has less than the largest budget's own guarantee: clones of a user with another
budget are not clones of the victim, so the theorems for equal users do not apply.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from segshuffle.accounting.numerics.ranges import check_epsilon, check_target
from segshuffle.accounting.single_message.accountants import ACCOUNTANTS, gdp_delta, gdp_epsilon, personalized_mu
from segshuffle.accounting.single_message.accountants.laplace_users import LARGEST_PERSONALIZED_USERS
from segshuffle.accounting.single_message.accountants.liu_2023 import EchoPair
from segshuffle.accounting.single_message.amplification import Entry
from segshuffle.accounting.single_message.personalized import ReductionPair
from segshuffle.accounting.single_message.personalized_confusion import PersonalizedUsers
from segshuffle.errors import ParameterError


def compare_budgets(
    *, budgets: Sequence[tuple[float, int]], delta: float | None = None, epsilon: float | None = None
) -> tuple[list[Entry], dict[str, str]]:
    """Epsilons at `delta`, or deltas at `epsilon`, for users who add Laplace noise with different budgets.

    Parameters
    ----------
    budgets : sequence of (float, int)
        Local epsilons in (0, 50] with the number of users at each; between 2 and 200,000 users in all.
    delta, epsilon : float
        The target; exactly one of them.

    Returns
    -------
    entries, left_out
        As `amplification.compare`.
    """
    if (delta is None) == (epsilon is None):
        raise ParameterError("delta, epsilon", (delta, epsilon), "exactly one of the two given")
    counts = [count for _, count in budgets]
    if min(counts) < 0 or not 2 <= sum(counts) <= LARGEST_PERSONALIZED_USERS:
        allowed = f"numbers of users >= 0, between 2 and {LARGEST_PERSONALIZED_USERS} together"
        raise ParameterError("budgets", tuple(counts), allowed)
    if delta is not None:
        check_target(delta)
    else:
        check_epsilon(epsilon or 0.0)
    users = PersonalizedUsers(local_epsilons=np.repeat([level for level, _ in budgets], counts), mechanism="laplace")
    largest = users.largest_budget
    entries = [Entry("local", _local(largest, epsilon), "upper", "proven: the largest budget, without shuffling", "")]
    left_out = {}
    for name, of in _BOUNDS.items():
        chosen = ACCOUNTANTS[name]
        try:
            value = of(users, delta, epsilon)
        except ParameterError as error:
            left_out[name] = str(error)
            continue
        entries.append(Entry(name, value, chosen.kind, chosen.status, chosen.source))
    return entries, left_out


def _local(largest: float, epsilon: float | None) -> float:
    if epsilon is None:
        return largest
    return 0.0 if epsilon >= largest else 1.0


def _personalized(users: PersonalizedUsers, delta: float | None, epsilon: float | None) -> float:
    pair = ReductionPair(users)
    return pair.theorem_epsilon(delta=delta) if delta is not None else pair.theorem_delta(epsilon=epsilon or 0.0).upper


def _reduction(users: PersonalizedUsers, delta: float | None, epsilon: float | None) -> float:
    pair = ReductionPair(users)
    if delta is not None:
        return pair.reduction_epsilon(delta=delta)
    return pair.reduction_delta(epsilon=epsilon or 0.0).upper


def _echo(users: PersonalizedUsers, delta: float | None, epsilon: float | None) -> float:
    pair = EchoPair(users.local_epsilons)
    return pair.epsilon(delta=delta) if delta is not None else pair.delta(epsilon=epsilon or 0.0).upper


def _gaussian(users: PersonalizedUsers, delta: float | None, epsilon: float | None) -> float:
    mu = personalized_mu(local_epsilons=users.local_epsilons)
    if delta is not None:
        return gdp_epsilon(mu=mu, delta=delta, ceiling=users.largest_budget)
    return 0.0 if (epsilon or 0.0) >= users.largest_budget else gdp_delta(mu=mu, epsilon=epsilon or 0.0).upper


_Bound = Callable[[PersonalizedUsers, float | None, float | None], float]
_BOUNDS: dict[str, _Bound] = {
    "chen-cao-ge": _gaussian,
    "personalized": _personalized,
    "personalized-reduction": _reduction,
    "liu-2023": _echo,
}
