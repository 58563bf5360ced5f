"""Users with local budgets of their own: every bound for them side by side.

What is proven is only that no user has less than the largest budget's own guarantee: clones of a user with another
budget are not clones of the victim, so the theorems for equal users do not apply.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from segshuffle.accounting.numerics.ranges import check_epsilon, check_target
from segshuffle.accounting.single_message.accountants import ACCOUNTANTS
from segshuffle.accounting.single_message.accountants.laplace_users import LARGEST_PERSONALIZED_USERS, PERSONAL
from segshuffle.accounting.single_message.amplification import Entry
from segshuffle.accounting.single_message.personalized import PersonalizedUsers
from segshuffle.errors import ParameterError


def compare_budgets(
    *, budgets: Sequence[tuple[float, int]], delta: float | None = None, epsilon: float | None = None
) -> tuple[list[Entry], dict[str, str]]:
    """Ask all bounds for users who add Laplace noise with budgets of their own: epsilons at `delta`, or deltas.

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
    if epsilon is not None:
        check_epsilon(epsilon)
    users = PersonalizedUsers(local_epsilons=np.repeat([level for level, _ in budgets], counts), mechanism="laplace")
    local = users.largest_budget if epsilon is None else float(epsilon < users.largest_budget)
    entries = [Entry("local", local, "upper", "proven: the largest budget, without shuffling", "")]
    left_out = {}
    for name, make in PERSONAL.items():
        chosen = ACCOUNTANTS[name]
        try:
            bound = make(users)
            value = bound.delta(epsilon=epsilon).upper if epsilon is not None else bound.epsilon(delta=delta or 0.0)
        except ParameterError as error:
            left_out[name] = str(error)
        else:
            entries.append(Entry(name, value, chosen.kind, chosen.status, chosen.source))
    return entries, left_out
