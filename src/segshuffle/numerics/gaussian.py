"""The exact delta of the Gaussian mechanism, and the largest ratio of sensitivity to deviation for a target.

Source: Balle and Wang, "Improving the Gaussian mechanism for differential privacy: analytical calibration and optimal
denoising" (2018), Theorem 8, written for the ratio of sensitivity to standard deviation.
"""

import math

from scipy import special

from segshuffle.numerics.ranges import check_guarantee, remembered
from segshuffle.numerics.search import safe_edge

_SMALLEST_RATIO, _LARGEST_RATIO = 1e-300, 1e3
#: Beyond this many deviations the log of delta is -inf for every purpose.
_LARGEST_TAIL = 1e70
#: Largest relative distance of delta from its target, and most steps towards it before another method is taken.
_TOLERANCE, _NEWTON_STEPS = 1e-9, 30


def gaussian_log_delta(*, ratio: float, epsilon: float) -> float:
    """Return log delta of the Gaussian mechanism, exact, with sensitivity/deviation = `ratio` > 0, at epsilon >= 0."""
    x = epsilon / ratio
    if x > _LARGEST_TAIL:
        return -math.inf
    if ratio < 1e-3:
        # e^eps phi(x + r/2) = phi(x - r/2), so delta = phi(x - r/2) (M(x - r/2) - M(x + r/2)), M Mills' ratio, whose
        # central difference is taken through its derivatives: the two tails would cancel
        first, third = _mills_derivatives(x)
        difference = ratio * first + ratio**3 / 24 * third
        return -0.5 * (x - 0.5 * ratio) ** 2 - 0.5 * math.log(2 * math.pi) + math.log(difference)
    plus, minus = float(special.log_ndtr(ratio / 2 - x)), float(special.log_ndtr(-ratio / 2 - x))
    return plus + math.log(-math.expm1(min(epsilon + minus - plus, -1e-15)))


def _mills_derivatives(x: float) -> tuple[float, float]:
    """Return minus the first and minus the third derivative of Mills' ratio at x >= 0; both are positive."""
    if x > 100.0:
        # asymptotic series, since the closed forms cancel; in powers of 1/x^2, since x^8 may overflow
        u = 1 / (x * x)
        return u * (1 - u * (3 - u * (15 - 105 * u))), 6 * u * u
    mills = math.sqrt(math.pi / 2) * float(special.erfcx(x / math.sqrt(2)))
    first = 1.0 - x * mills
    return first, 2 * first - x * (mills - x * first)


@remembered
def gaussian_ratio(*, epsilon: float, delta: float) -> float:
    """Return the largest sensitivity/deviation (Gaussian-DP parameter) of an (epsilon, delta) guarantee, rounded down.

    Parameters
    ----------
    epsilon, delta : float
        Target, epsilon in (0, 100] and delta in (0, 1).
    """
    check_guarantee(epsilon=epsilon, delta=delta)
    target = math.log(delta)
    # Newton's method, from a ratio that is too small: delta is at most e^(-z^2/2) with z = epsilon/ratio - ratio/2, and
    # at most ratio/sqrt(2 pi)
    tail = math.sqrt(-2 * target)
    ratio = max(2 * epsilon / (math.sqrt(tail**2 + 2 * epsilon) + tail), math.sqrt(2 * math.pi) * delta)
    for _ in range(_NEWTON_STEPS):
        log_delta = gaussian_log_delta(ratio=ratio, epsilon=epsilon)
        if -_TOLERANCE <= log_delta - target <= 0:
            return ratio
        # d delta/d ratio = phi(epsilon/ratio - ratio/2)
        log_density = -0.5 * (epsilon / ratio - ratio / 2) ** 2 - 0.5 * math.log(2 * math.pi)
        ratio *= math.exp((target - 0.5 * _TOLERANCE - log_delta) * math.exp(log_delta - log_density) / ratio)
    # the round-off of very small deltas may be above the tolerance
    return safe_edge(
        lambda ratio: gaussian_log_delta(ratio=ratio, epsilon=epsilon) - target,
        # far below every answer: the floor keeps epsilon/ratio finite, and still meets delta
        safe=max(1e-3 * epsilon / math.sqrt(2 * max(-target, 1.0)), _SMALLEST_RATIO),
        unsafe=_LARGEST_RATIO,
        tolerance=_TOLERANCE,
    )
