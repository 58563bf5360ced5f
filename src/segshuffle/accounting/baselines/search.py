"""What the baseline accountants share: checks of their ranges, and the search for the least epsilon."""

from __future__ import annotations

from collections.abc import Callable

from segshuffle.accounting.calibrate import log_excess, safe_edge
from segshuffle.accounting.hockey_stick import LARGEST_EPSILON
from segshuffle.accounting.randomizers.reference import check_integer
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
        # a wide interval does where the target is far away; any width gives a valid bound
        ratio = log_excess(bound(epsilon, _COARSE), delta)
        return ratio if abs(ratio) > 10 * _COARSE else log_excess(bound(epsilon, rtol), delta)

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
