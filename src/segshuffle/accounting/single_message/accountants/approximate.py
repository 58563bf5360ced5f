r"""The clone bounds for approximate local privacy, (epsilon_0, delta_0) per user.

Source: Feldman, McMillan, Talwar (FOCS 2021, SODA 2023): a bound (eps, delta) for pure randomizers becomes (eps, delta
+ (e^eps + 1)(1 + e^{-epsilon_0}/2) n delta_0) for approximate ones. Kinds as for the pure bounds: the standard clone
is a proven upper bound, the stronger one is "published".
"""

from __future__ import annotations

import math
from typing import Literal

from segshuffle.accounting.numerics.hockey_stick import DeltaInterval
from segshuffle.accounting.numerics.ranges import check_local, check_target, check_users
from segshuffle.accounting.numerics.search import least_epsilon
from segshuffle.accounting.single_message.accountants.clones import (
    RTOL,
    standard_clone,
    standard_clone_delta,
    stronger_clone,
    stronger_clone_delta,
    upper_delta,
)
from segshuffle.errors import ParameterError

Clone = Literal["standard", "stronger"]
_PURE = {"standard": (standard_clone_delta, standard_clone), "stronger": (stronger_clone_delta, stronger_clone)}
_ROUND = 1e-14


def approximate_clone_delta(
    *, clone: Clone, local_epsilon: float, local_delta: float, n_users: int, epsilon: float
) -> DeltaInterval:
    """Delta of a clone bound for approximate local privacy, capped at 1.

    Parameters
    ----------
    clone : {"standard", "stronger"}
        Which pair (kind: upper, published).
    local_epsilon, local_delta : float
        Local guarantee; epsilon_0 in [1e-6, 50], delta_0 in [0, 1).
    n_users, epsilon
        As for `standard_clone_delta`.
    """
    if not 0.0 <= local_delta < 1.0:
        raise ParameterError("local_delta", local_delta, "in [0, 1)")
    pure = _PURE[clone][0](local_epsilon=local_epsilon, n_users=n_users, epsilon=epsilon)
    failure = _failure(local_epsilon, local_delta, n_users, epsilon)
    lower, upper = pure.lower + failure * (1 - _ROUND), (pure.upper + failure) * (1 + _ROUND)
    return DeltaInterval(min(lower, 1.0), min(upper, 1.0))


def _failure(local_epsilon: float, local_delta: float, n_users: int, epsilon: float) -> float:
    """What the failures of all users add to delta."""
    return (math.exp(epsilon) + 1) * (1 + 0.5 * math.exp(-local_epsilon)) * n_users * local_delta


def approximate_clone_epsilon(
    *, clone: Clone, local_epsilon: float, local_delta: float, n_users: int, delta: float
) -> float:
    """Least epsilon of `approximate_clone_delta` at `delta`, rounded up; the local epsilon where nothing is gained.

    Raises
    ------
    ParameterError
        If delta is below local_delta: then not even the local epsilon is a guarantee.
    """
    check_target(delta)
    if delta < local_delta:
        raise ParameterError("delta", delta, f"at least local_delta = {local_delta:g}")

    check_local(local_epsilon)
    check_users(n_users)
    probability = _PURE[clone][1](local_epsilon)

    def bound(epsilon: float, width: float) -> float:
        pure = upper_delta(local_epsilon, probability, n_users, epsilon, width)
        return (pure + _failure(local_epsilon, local_delta, n_users, epsilon)) * (1 + _ROUND)

    # the failure term grows with epsilon: where it alone misses the target, the local epsilon is what is left
    return least_epsilon(bound=bound, ceiling=local_epsilon, delta=delta, rtol=RTOL)
