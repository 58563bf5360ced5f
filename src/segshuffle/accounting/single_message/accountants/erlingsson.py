"""The first amplification theorem, in closed form.

Source: Erlingsson, Feldman, Mironov, Raghunathan, Talwar, Thakurta, "Amplification by shuffling: from local to central
differential privacy via anonymity" (SODA 2019). Kind: proven upper bound, within its conditions: n >= 1000,
0 < epsilon_0 < 1/2, 0 < delta < 1/100; then epsilon = 12 epsilon_0 sqrt(log(1/delta)/n).
"""

import math

from segshuffle.accounting.single_message.accountants.interface import Accountant
from segshuffle.numerics.ranges import (
    LARGEST_USERS,
    SMALLEST_LOCAL_EPSILON,
    SMALLEST_TARGET,
    check_integer,
    check_within,
)

_CONDITION = " (a condition of the theorem)"


def erlingsson_epsilon(*, local_epsilon: float, n_users: int, delta: float) -> float:
    """Return epsilon of the closed form at `delta` in [1e-280, 0.01), rounded up; at most the local epsilon.

    Raises
    ------
    ParameterError
        Outside the conditions of the theorem.
    """
    check_within("local_epsilon", local_epsilon, SMALLEST_LOCAL_EPSILON, 0.5, "[)", note=_CONDITION)
    check_integer("n_users", n_users, 1000, f"an integer in [1000, {LARGEST_USERS:g}]{_CONDITION}", most=LARGEST_USERS)
    check_within("delta", delta, SMALLEST_TARGET, 0.01, "[)", note=_CONDITION)
    return min(12 * local_epsilon * math.sqrt(-math.log(delta) / n_users) * (1 + 8e-15), local_epsilon)


ACCOUNTANTS = (
    Accountant(
        "erlingsson",
        "upper",
        "proven for local epsilon < 1/2, n >= 1000, delta < 1/100",
        "Erlingsson et al. 2019",
        order=50,
        part="local_epsilon",
        epsilon=erlingsson_epsilon,
    ),
)
