"""The inverse question: which local epsilon reaches a target (epsilon, delta) with so many users."""

from __future__ import annotations

import math
from collections.abc import Callable

from segshuffle.accounting.numerics.ranges import (
    LARGEST_LOCAL_EPSILON,
    SMALLEST_LOCAL_EPSILON,
    check_epsilon,
    check_target,
)
from segshuffle.accounting.single_message.accountants import Accountant, Mechanism
from segshuffle.accounting.single_message.amplification import ask
from segshuffle.digits import rounded
from segshuffle.errors import ParameterError


def local_epsilon_for(
    accountant: Accountant,
    make: Callable[[float], Mechanism],
    *,
    n_users: int,
    epsilon: float,
    delta: float,
) -> float:
    """Search the local epsilon at which the accountant's bound meets (epsilon, delta).

    Parameters
    ----------
    accountant : Accountant
        Whose bound; it must apply to the mechanism.
    make : callable
        The mechanism of a local epsilon.
    n_users : int
        Number of users, in [1, 1e15].
    epsilon, delta : float
        The target: epsilon in [0, 300], delta in [1e-280, 1).

    Returns
    -------
    float
        For a guarantee the largest local epsilon found to meet the target: the bound was evaluated there and held,
        or it is `epsilon` itself, which needs no shuffling; 0 if there is none from 1e-6 on. For a lower bound the
        least one found that no analysis can make meet it; inf if there is none up to 50.

    Raises
    ------
    ParameterError
        If a parameter is outside its range.
    """
    if not isinstance(accountant, Accountant):
        raise ParameterError(
            "accountant", accountant, "an Accountant; `amplification.accountant(name)` finds it by name"
        )
    check_epsilon(epsilon)
    check_target(delta)

    asked = {"delta": delta} if accountant.delta_of is None else {"epsilon": epsilon}
    most = epsilon if accountant.delta_of is None else delta

    def meets(local_epsilon: float) -> bool:
        if local_epsilon <= epsilon:
            return True
        try:
            found = ask(accountant, make(local_epsilon), n_users, **asked)
        except ParameterError:  # outside the conditions of a theorem, which then says nothing
            return False
        return found is not None and found <= most

    low, high = max(min(epsilon, LARGEST_LOCAL_EPSILON), SMALLEST_LOCAL_EPSILON), LARGEST_LOCAL_EPSILON
    if meets(high):
        return math.inf if accountant.kind == "lower" else high
    if not meets(low):
        return low if accountant.kind == "lower" else 0.0
    for _ in range(20):
        middle = rounded(math.sqrt(low * high))
        low, high = (middle, high) if meets(middle) else (low, middle)
    return high if accountant.kind == "lower" else low
