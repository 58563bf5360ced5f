"""What public parameters may be: checks that every accountant shares."""

from __future__ import annotations

import math
from numbers import Integral

from segshuffle.errors import ParameterError

#: Largest number of blanket messages per user that a search will propose.
LARGEST_BLANKET = 1e9
#: Largest number of users and of blanket slots: from 2^52 on the tails of a binomial law come back as nan.
LARGEST_COUNT = 4_000_000_000_000_000
#: Largest number of users who send one message each.
LARGEST_USERS = 10**15
LARGEST_EPSILON = 300.0
#: Smallest delta that a search for epsilon takes: ten digits above the smallest one that is told from 0.
SMALLEST_TARGET = 1e-280
#: Below it the contrast of the clone pairs, of the size of the local epsilon, would lose its digits.
SMALLEST_LOCAL_EPSILON = 1e-6
LARGEST_LOCAL_EPSILON = 50.0


def check_integer(name: str, value: object, least: int, allowed: str = "") -> None:
    """Refuse anything but an integer that is at least `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
        raise ParameterError(name, value, allowed or f"an integer >= {least}")


def check_sizes(*, domain_size: int, n_users: int, set_size: int = 1) -> None:
    """Refuse sizes that no population can have.

    Raises
    ------
    ParameterError
        Unless domain_size >= 2, 1 <= set_size <= domain_size and n_users >= 1.
    """
    if domain_size < 2:
        raise ParameterError("domain_size", domain_size, "an integer >= 2")
    if not 1 <= n_users <= LARGEST_COUNT:
        raise ParameterError("n_users", n_users, f"an integer in [1, {LARGEST_COUNT:g}]")
    if not 1 <= set_size <= domain_size:
        raise ParameterError("set_size", set_size, f"between 1 and domain_size = {domain_size}")


def check_guarantee(*, epsilon: float, delta: float) -> None:
    """Refuse a privacy target outside epsilon > 0 (finite), 0 < delta < 1."""
    if not 0.0 < epsilon <= 100.0:
        raise ParameterError("epsilon", epsilon, "in (0, 100]")
    if not 0.0 < delta < 1.0:
        raise ParameterError("delta", delta, "in (0, 1)")


def blanket_slots(blanket_per_user: float) -> tuple[int, float]:
    """Return ceil(m) and gamma = m/ceil(m) of m expected blanket messages per user, m in (0, 1e9]."""
    if not 0.0 < blanket_per_user <= LARGEST_BLANKET:
        raise ParameterError("blanket_per_user", blanket_per_user, f"in (0, {LARGEST_BLANKET:g}]")
    slots = math.ceil(blanket_per_user)
    return slots, blanket_per_user / slots


def check_users(n_users: int) -> None:
    """Refuse a number of users of one message each outside [1, 1e15]."""
    allowed = f"an integer in [1, {LARGEST_USERS:g}]"
    check_integer("n_users", n_users, 1, allowed)
    if n_users > LARGEST_USERS:
        raise ParameterError("n_users", n_users, allowed)


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
