"""Monotone searches that end on the safe side."""

from __future__ import annotations

import math
from collections.abc import Callable

from segshuffle.errors import InfeasibleError

_MAX_STEPS = 200
#: Relative width of the intervals asked for far away from a target.
_COARSE = 0.02
#: Epsilons below this share of the ceiling are not told apart from 0.
_SMALLEST_SHARE = 1e-9
#: Epsilons closer than this to the ceiling, relative to it, are not told apart from it.
_SMALLEST_GAP = 1e-12


def log_excess(value: float, target: float) -> float:
    """log(value/target): at most 0 where the target is met; -inf for value = 0, +inf (never safe) for nan."""
    if math.isnan(value):
        return math.inf
    return math.log(value / target) if value > 0 else -math.inf


def staged_log_excess(bound: Callable[[float], float], target: float, *, rtol: float) -> float:
    """`log_excess` of a bound that is costly when narrow: a wide interval does where the target is far away.

    Parameters
    ----------
    bound : callable
        One end of a certified interval, always the same one, as a function of the relative width asked for; any width
        gives a valid bound.
    target : float
        What the bound is compared with.
    rtol : float
        Relative width near the target.
    """
    for width in (_COARSE, rtol):
        ratio = log_excess(bound(width), target)
        if width <= rtol or abs(ratio) > 10 * _COARSE:
            break
    return ratio


def safe_edge(
    excess: Callable[[float], float],
    *,
    safe: float,
    unsafe: float,
    tolerance: float = 5e-4,
    resolution: float = 1e-13,
) -> float:
    """Find where a monotone function crosses zero and return a point on the side where it is <= 0.

    Regula falsi with the Illinois rule, on a log scale of the argument, aimed at the middle of the tolerance band:
    for the log of a delta this converges in about five evaluations.

    Parameters
    ----------
    excess : callable
        Monotone in its argument between `safe` and `unsafe`: the log of a privacy number over its target.
    safe, unsafe : float
        Positive points; ``excess(safe) <= 0``. If ``excess(unsafe) <= 0`` too, `unsafe` is returned.
    tolerance : float
        Stop at a safe point whose excess is at least ``-tolerance``.
    resolution : float
        Stop when the bracket is this narrow, relative to the argument (the function may jump).

    Returns
    -------
    float
        A point where `excess` was evaluated and found <= 0.

    Raises
    ------
    InfeasibleError
        If ``excess(safe) > 0``.
    """
    at_unsafe = excess(unsafe)
    if at_unsafe <= 0:
        return unsafe
    at_safe = excess(safe)
    if at_safe > 0:
        raise InfeasibleError(f"the target is missed by a factor {math.exp(min(at_safe, 700.0)):.3g} even at {safe:g}")
    z_safe, z_unsafe = math.log(safe), math.log(unsafe)
    f_safe, f_unsafe = at_safe, at_unsafe
    previous_safe: bool | None = None
    widths = [abs(z_unsafe - z_safe)]
    for _ in range(_MAX_STEPS):
        if at_safe >= -tolerance or widths[-1] < resolution:
            break
        z = _next_point(z_safe, z_unsafe, f_safe + 0.5 * tolerance, f_unsafe + 0.5 * tolerance)
        # at a jump the secant crawls: bisect when three steps did not halve the bracket
        if len(widths) > 3 and widths[-1] > 0.5 * widths[-4]:
            z = 0.5 * (z_safe + z_unsafe)
        value = excess(math.exp(z))
        if value <= 0:
            z_safe, f_safe, at_safe = z, value, value
            f_unsafe = 0.5 * f_unsafe if previous_safe is True else f_unsafe
        else:
            z_unsafe, f_unsafe = z, value
            f_safe = 0.5 * f_safe if previous_safe is False else f_safe
        previous_safe = value <= 0
        widths.append(abs(z_unsafe - z_safe))
    return safe if z_safe == math.log(safe) else math.exp(z_safe)


def _next_point(z_safe: float, z_unsafe: float, f_safe: float, f_unsafe: float) -> float:
    """Secant through the bracket's ends, or its middle where the secant is of no use."""
    if not (math.isfinite(f_safe) and f_safe < 0 < f_unsafe < 700):
        return 0.5 * (z_safe + z_unsafe)
    share = f_safe / (f_safe - f_unsafe)
    return z_safe + min(max(share, 0.01), 0.99) * (z_unsafe - z_safe)


def least_epsilon(*, bound: Callable[[float, float], float], ceiling: float, delta: float, rtol: float) -> float:
    """Least epsilon whose bound meets `delta`, rounded up by about rtol in terms of delta.

    Parameters
    ----------
    bound : callable
        (epsilon, width) -> delta, non-increasing in epsilon; an upper end within about `width` of it, relatively.
    ceiling : float
        What is returned where no smaller epsilon meets the target: the local epsilon, a guarantee without shuffling.
    delta, rtol : float
        Target and its relative tolerance.
    """

    def excess(epsilon: float) -> float:
        return staged_log_excess(lambda width: bound(epsilon, width), delta, rtol=rtol)

    least, half, gap = _SMALLEST_SHARE * ceiling, 0.5 * ceiling, _SMALLEST_GAP * ceiling
    if ceiling == 0.0 or excess(0.0) <= 0:
        return 0.0
    if excess(least) <= 0:
        return least
    if excess(half) <= 0:
        return safe_edge(excess, safe=half, unsafe=least, tolerance=2 * rtol)
    if excess(ceiling - gap) > 0:
        return ceiling
    # near the ceiling delta is often proportional to the distance from it
    return ceiling - safe_edge(lambda distance: excess(ceiling - distance), safe=gap, unsafe=half, tolerance=2 * rtol)


def largest_excluded_epsilon(
    *, bound: Callable[[float, float], float], ceiling: float, delta: float, rtol: float
) -> float:
    """Largest epsilon at which a lower bound of delta still exceeds `delta`, rounded down; 0 if there is none.

    Parameters
    ----------
    bound : callable
        (epsilon, width) -> delta, non-increasing in epsilon; a lower end within about `width` of it, relatively.
    ceiling : float
        Where the divergence has vanished: the local epsilon.
    delta, rtol : float
        Target and its relative tolerance.
    """

    def missing(epsilon: float) -> float:
        excess = staged_log_excess(lambda width: bound(epsilon, width), delta, rtol=rtol)
        return math.inf if excess == math.inf else -excess  # a nan excludes nothing

    least, half, gap = _SMALLEST_SHARE * ceiling, 0.5 * ceiling, _SMALLEST_GAP * ceiling
    if ceiling == 0.0 or missing(least) > 0:
        return 0.0
    if missing(half) > 0:
        return safe_edge(missing, safe=least, unsafe=half, tolerance=2 * rtol)
    return ceiling - safe_edge(lambda distance: missing(ceiling - distance), safe=half, unsafe=gap, tolerance=2 * rtol)
