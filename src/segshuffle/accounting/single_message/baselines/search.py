"""What the baseline accountants share: checks of their ranges, and the search for the least epsilon."""

from __future__ import annotations

from segshuffle.accounting.numerics.hockey_stick import LARGEST_EPSILON
from segshuffle.accounting.single_message.randomizers.reference import check_integer
from segshuffle.errors import ParameterError

LARGEST_USERS = 10**15
SMALLEST_DELTA_TARGET = 1e-280
SMALLEST_LOCAL_EPSILON = 1e-6
"""Below it the contrast of the clone pairs, of the size of the local epsilon, would lose its digits."""
_COARSE = 0.02
"""Relative width of the intervals far away from the target of a search."""
_SMALLEST_SHARE = 1e-9
"""Epsilons below this share of the ceiling are not told apart from 0."""
_SMALLEST_GAP = 1e-12
"""Epsilons closer than this to the ceiling, relative to it, are not told apart from it."""


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
    if not SMALLEST_DELTA_TARGET <= delta < 1.0:
        raise ParameterError("delta", delta, f"in [{SMALLEST_DELTA_TARGET:g}, 1)")


def check_local(local_epsilon: float) -> None:
    """Refuse a local epsilon outside [1e-6, 50]."""
    if not SMALLEST_LOCAL_EPSILON <= local_epsilon <= 50.0:
        raise ParameterError("local_epsilon", local_epsilon, f"in [{SMALLEST_LOCAL_EPSILON:g}, 50]")
