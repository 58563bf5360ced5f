"""What the parameters of one shuffled message per user may be: checks that every accountant shares."""

from __future__ import annotations

import numpy as np

from segshuffle.accounting.numerics.hockey_stick import LARGEST_EPSILON
from segshuffle.errors import ParameterError

LARGEST_USERS = 10**15
#: Smallest delta that a search for epsilon takes: ten digits above the smallest one that is told from 0.
SMALLEST_TARGET = 1e-280
#: Below it the contrast of the clone pairs, of the size of the local epsilon, would lose its digits.
SMALLEST_LOCAL_EPSILON = 1e-6
LARGEST_LOCAL_EPSILON = 50.0


def check_integer(name: str, value: object, least: int, allowed: str = "") -> None:
    """Refuse anything but an integer that is at least `least`."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ParameterError(name, value, allowed or f"an integer >= {least}")


def check_users(n_users: int) -> None:
    """Refuse a number of users outside [1, 1e15]."""
    check_integer("n_users", n_users, 1)
    if n_users > LARGEST_USERS:
        raise ParameterError("n_users", n_users, f"at most {LARGEST_USERS:g}")


def check_epsilon(epsilon: float) -> None:
    """Refuse an epsilon outside [0, 300]."""
    if not 0.0 <= epsilon <= LARGEST_EPSILON:
        raise ParameterError("epsilon", epsilon, f"in [0, {LARGEST_EPSILON:g}]")


def check_target(delta: float) -> None:
    """Refuse a target delta outside [1e-280, 1)."""
    if not SMALLEST_TARGET <= delta < 1.0:
        raise ParameterError("delta", delta, f"in [{SMALLEST_TARGET:g}, 1)")


def check_local(local_epsilon: float, *, least: float = SMALLEST_LOCAL_EPSILON) -> None:
    """Refuse a local epsilon outside [least, 50]."""
    if not least <= local_epsilon <= LARGEST_LOCAL_EPSILON:
        raise ParameterError("local_epsilon", local_epsilon, f"in [{least:g}, {LARGEST_LOCAL_EPSILON:g}]")
