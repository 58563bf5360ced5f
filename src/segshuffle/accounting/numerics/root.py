"""The point where a certified, falling function of epsilon meets a target, with few evaluations, rounded up."""

from __future__ import annotations

import math
from collections.abc import Callable

from segshuffle.accounting.numerics.hockey_stick import DeltaInterval

_COARSE = 0.02
_FINEST = 1e-9
_MAX_STEPS = 120
#: Distance from the target, in log(delta), at which a narrow interval pays.
_NEAR = 0.03


def certified_root(
    measure: Callable[[float, float], DeltaInterval],
    *,
    target: float,
    first: float,
    last: float,
    guess: float,
    slope: float,
    rtol: float,
) -> float:
    """Smallest epsilon with delta(epsilon) <= target, to relative accuracy rtol, rounded up.

    Secant steps in log(delta) against log(epsilon) through the middles of wide, cheap intervals, which are far more
    accurate than the intervals are narrow; then one narrow interval, aimed so that its upper end lies below the target
    and its lower end above the value that delta has rtol further on. Bisection wherever the secant does not help.

    Parameters
    ----------
    measure : callable
        measure(epsilon, width) encloses delta(epsilon), falling in epsilon, with relative width `width` if it can.
    target : float
        Positive.
    first, last : float
        Bracket, 0 < first < last, with measure(last).upper <= target.
    guess, slope : float
        A starting point, and d log(delta)/d log(epsilon) < 0 near it.
    rtol : float
        Accuracy asked of epsilon.

    Returns
    -------
    float
        An epsilon at which the certified upper end was found to be at most `target`.
    """
    low, high, best = math.log(first), math.log(last), last
    z, width, log_target = math.log(guess), _COARSE, math.log(target)
    before: tuple[float, float, float] | None = None
    for step in range(_MAX_STEPS):
        epsilon = math.exp(z)
        found = measure(epsilon, width)
        upper, lower = _log(found.upper) - log_target, _log(found.lower) - log_target
        if upper <= 0 and epsilon <= best:
            best, high = epsilon, min(high, z)
        elif lower > 0:
            low = max(low, z)
        middle = _log(0.5 * (found.lower + found.upper)) - log_target
        if before is not None and abs(middle - before[1]) > 2 * (upper - lower + before[2]):
            trial = (middle - before[1]) / (z - before[0])
            slope = trial if trial < 0 else slope
        allowed = -slope * rtol
        narrow = min(max(0.6 * allowed, _FINEST), _COARSE)
        if upper <= 0 and (lower >= -allowed or (width <= narrow and upper >= -allowed)):
            return epsilon
        if high - low <= 0.5 * rtol and high == math.log(best):
            break
        before = (z, middle, upper - lower)
        fresh = z - (middle + 0.5 * allowed) / slope
        if not low < fresh < high or step % 5 == 4:
            fresh = 0.5 * (low + high)
        width = narrow if abs(middle) < _NEAR or high - low <= 2 * rtol else _COARSE
        z = fresh
    return best


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -math.inf
