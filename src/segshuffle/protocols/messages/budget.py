"""What round 1, about the levels, takes of a user's budget of messages."""

from __future__ import annotations

import math

from segshuffle.accounting.numerics.ranges import check_within
from segshuffle.errors import InfeasibleError
from segshuffle.protocols.messages.level_counts import LevelPrivacy, level_announcement


def level_messages(n_users: int, n_levels: int, privacy: LevelPrivacy | None) -> float:
    """Return the expected messages per user in round 1: the level's own, and the blanket of n honest users' levels."""
    return 1.0 + level_announcement(n_users, n_levels, privacy).blanket_per_user


def left_for_items(max_messages: float, spent: float) -> float:
    """Messages per user that round 1 leaves to round 2, of a budget for both.

    Parameters
    ----------
    max_messages : float
        Budget of expected messages per user, both rounds together.
    spent : float
        `level_messages`.

    Raises
    ------
    ParameterError
        If the budget is no positive number.
    InfeasibleError
        If nothing is left.
    """
    check_within("max_messages", max_messages, 0, math.inf, "()", allowed="positive and finite")
    if not max_messages > spent:
        raise InfeasibleError(
            f"max_messages = {max_messages:g} is used up by round 1, about the levels, which takes {spent:.6g} "
            "messages per user: raise it, or the epsilon of the levels if they are private."
        )
    return max_messages - spent
