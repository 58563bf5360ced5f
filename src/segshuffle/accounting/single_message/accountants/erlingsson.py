"""The first amplification theorem, in closed form.

Source: Erlingsson, Feldman, Mironov, Raghunathan, Talwar, Thakurta, "Amplification by shuffling: from local to central
differential privacy via anonymity" (SODA 2019). Kind: proven upper bound, within its conditions: n >= 1000,
0 < epsilon_0 < 1/2, 0 < delta < 1/100; then epsilon = 12 epsilon_0 sqrt(log(1/delta)/n).
"""

from __future__ import annotations

import math

from segshuffle.accounting.numerics.ranges import (
    SMALLEST_LOCAL_EPSILON,
    check_target,
    check_users,
)
from segshuffle.accounting.single_message.accountants.declared import (
    SHORT,
    Accountant,
    always,
    by_epsilon,
    look,
)
from segshuffle.errors import ParameterError

FEWEST_USERS = 1000
LARGEST_LOCAL_EPSILON = 0.5
LARGEST_DELTA = 0.01
_ROUND = 1e-15


def erlingsson_epsilon(*, local_epsilon: float, n_users: int, delta: float) -> float:
    """Epsilon of the closed form at `delta` in [1e-280, 0.01), rounded up; at most the local epsilon.

    Raises
    ------
    ParameterError
        Outside the conditions of the theorem.
    """
    _check(local_epsilon, n_users)
    check_target(delta)
    if delta >= LARGEST_DELTA:
        raise ParameterError("delta", delta, f"below {LARGEST_DELTA} (a condition of the theorem)")
    return min(12 * local_epsilon * math.sqrt(-math.log(delta) / n_users) * (1 + 8 * _ROUND), local_epsilon)


def _check(local_epsilon: float, n_users: int) -> None:
    if not SMALLEST_LOCAL_EPSILON <= local_epsilon < LARGEST_LOCAL_EPSILON:
        allowed = f"in [{SMALLEST_LOCAL_EPSILON:g}, {LARGEST_LOCAL_EPSILON}) (a condition of the theorem)"
        raise ParameterError("local_epsilon", local_epsilon, allowed)
    check_users(n_users)
    if n_users < FEWEST_USERS:
        raise ParameterError("n_users", n_users, f"at least {FEWEST_USERS} (a condition of the theorem)")


ACCOUNTANTS = (
    Accountant(
        name="erlingsson",
        kind="upper",
        status="proven for local epsilon < 1/2, n >= 1000, delta < 1/100",
        source="Erlingsson et al. 2019",
        look=look("Erlingsson et al. (proven)", "wine", "*", SHORT),
        order=50,
        applies=always,
        epsilon_of=by_epsilon(erlingsson_epsilon),
    ),
)
