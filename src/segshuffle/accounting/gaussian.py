"""The Gaussian mechanism: what a trusted curator would have to add, exactly.

Source: Balle and Wang, "Improving the Gaussian mechanism for differential privacy: analytical calibration and optimal
denoising" (2018), Theorem 8, written for the ratio of sensitivity to standard deviation.
"""

from __future__ import annotations

import math

from scipy import special

from segshuffle.accounting.calibrate import safe_edge
from segshuffle.accounting.segmented import check_guarantee

_LARGEST_RATIO = 1e3


def gaussian_log_delta(*, ratio: float, epsilon: float) -> float:
    """Log of the exact delta of the Gaussian mechanism with sensitivity/deviation = `ratio` > 0 at epsilon >= 0."""
    x = epsilon / ratio
    if ratio < 1e-3:
        # first order in the ratio, free of the cancellation of the two tails
        mills = math.sqrt(math.pi / 2) * float(special.erfcx(x / math.sqrt(2)))
        return math.log(ratio) - x * x / 2 - 0.5 * math.log(2 * math.pi) + math.log(max(1 - x * mills, 1e-12))
    plus, minus = float(special.log_ndtr(ratio / 2 - x)), float(special.log_ndtr(-ratio / 2 - x))
    return plus + math.log(-math.expm1(min(epsilon + minus - plus, -1e-15)))


def gaussian_ratio(*, epsilon: float, delta: float) -> float:
    """Largest sensitivity/deviation (the Gaussian-DP parameter) of an (epsilon, delta) guarantee, rounded down.

    Parameters
    ----------
    epsilon, delta : float
        Target, epsilon in (0, 100] and delta in (0, 1).
    """
    check_guarantee(epsilon=epsilon, delta=delta)
    target = math.log(delta)
    return safe_edge(
        lambda ratio: gaussian_log_delta(ratio=ratio, epsilon=epsilon) - target,
        safe=1e-3 * epsilon / math.sqrt(2 * max(-target, 1.0)),
        unsafe=_LARGEST_RATIO,
        tolerance=1e-9,
    )
