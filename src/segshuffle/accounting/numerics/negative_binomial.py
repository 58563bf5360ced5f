"""The negative binomial law of a counter: masses and windows.

NB(r, p) is the law of a Poisson number of clusters of logarithmic size, ``Pr[x] = Gamma(x + r)/(Gamma(r) x!) p^x (1 -
p)^r`` with mean ``r p/(1 - p)``. Masses follow Loader's saddle-point form, as in `numerics.laws`.
"""

import math

import numpy as np

from segshuffle.accounting.numerics.laws import ROUND_OFF, deviance, stirling_error
from segshuffle.arrays import FloatArray


def size_of(mean: float, p: float) -> float:
    """Return the r of a counter of that mean."""
    return mean * (1 - p) / p


def log_negative_binomial(count: FloatArray, mean: float, p: float) -> FloatArray:
    """Log of the mass at integer counts >= 0 (any shape); relative error of the mass below `mass_error`."""
    r = size_of(mean, p)
    x = np.maximum(count, 1.0)
    total = x + r
    stirling = stirling_error(total) - stirling_error(r) - stirling_error(x)
    value = stirling - deviance(x, total * p) - deviance(r, total * (1 - p))
    if r < 1:  # Stirling's formula is used from 1 on: Gamma(r) = Gamma(r + 1)/r
        raise ValueError("size below 1")
    value += 0.5 * np.log(r / (2 * math.pi * x * total))
    return np.where(count >= 1, value, r * math.log1p(-p))


def mass_error(window: tuple[int, int], mean: float) -> float:
    """Bound on the relative error of the masses of a window."""
    return 10 * ROUND_OFF + 1e-15 * max(window[1] - mean, mean - window[0])


def window_of_mass(mean: float, p: float, log_tail: float) -> tuple[int, int]:
    """Find counts [low, high] outside which each tail has mass at most e^-log_tail, by Chernoff's bound.

    Its exponent is convex and 0 at the mean: bisection keeps an outer end at which it was evaluated.
    """
    r = size_of(mean, p)
    log_tail += 1e-5  # more than the round-off of the exponent at a mean of 1e10

    def exponent(x: float) -> float:
        if x <= 0:
            return -r * math.log1p(-p)
        return x * math.log(x / ((x + r) * p)) + r * math.log(r / ((x + r) * (1 - p)))

    high = mean + 1
    while exponent(high) < log_tail:
        high = mean + 2 * (high - mean)
    low = -1.0 if exponent(0.0) < log_tail else 0.0
    inner_low, inner_high = mean, mean
    for _ in range(20):
        middle = 0.5 * (inner_high + high)
        inner_high, high = (middle, high) if exponent(middle) < log_tail else (inner_high, middle)
        if low >= 0:
            middle = 0.5 * (inner_low + low)
            inner_low, low = (middle, low) if exponent(middle) < log_tail else (inner_low, middle)
    return max(math.floor(low), 0), math.ceil(high)
