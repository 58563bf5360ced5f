"""What public parameters may be: checks that every accountant shares."""

from __future__ import annotations

import math

from segshuffle.errors import ParameterError

#: Largest number of blanket messages per user that a search will propose.
LARGEST_BLANKET = 1e9
#: Largest number of users and of blanket slots: from 2^52 on the tails of a binomial law come back as nan.
LARGEST_COUNT = 4_000_000_000_000_000


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
        raise ParameterError("n_users", n_users, f"an integer >= 1 (and at most {LARGEST_COUNT:g})")
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
