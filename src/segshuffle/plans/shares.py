"""Numbers of users of shares of users. Commands import this at once, so it does not import numpy."""

import math


def level_counts(n_users: int, shares: list[float]) -> tuple[int, ...]:
    """Return exact numbers of users per level: shares of n_users, rounded so that they add up (largest remainder)."""
    exact = [share * n_users for share in shares]
    counts = [math.floor(value + 1e-9) for value in exact]
    by_remainder = sorted(range(len(exact)), key=lambda k: counts[k] - exact[k])
    for k in by_remainder[: n_users - sum(counts)]:
        counts[k] += 1
    return tuple(counts)
