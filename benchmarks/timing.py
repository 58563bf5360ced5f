"""What the benchmarks share: seconds of calls, each with empty caches."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable

from segshuffle.accounting.single_message import decomposition


def forget() -> None:
    """Empty the caches of bounds by decomposition, which answer a repeated question at once."""
    for each in vars(decomposition).values():
        if hasattr(each, "cache_clear"):
            each.cache_clear()


def seconds_of(calls: Iterable[Callable[[], object]], clock: Callable[[], float] = time.process_time) -> list[float]:
    """Return the seconds of every call."""
    spent = []
    for call in calls:
        forget()
        began = clock()
        call()
        spent.append(clock() - began)
    return spent


def median_seconds(call: Callable[[], object], repeats: int, clock: Callable[[], float] = time.process_time) -> float:
    """Return the median seconds of `repeats` calls."""
    return statistics.median(seconds_of([call] * repeats, clock))


def shown(spent: list[float]) -> str:
    """Write the median, and the slowest in brackets."""
    return f"{statistics.median(spent):.2f} ({max(spent):.2f})"
