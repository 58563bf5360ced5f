"""Laws of a number of messages, with point and tail probabilities that keep relative accuracy.

Binomial, Poisson, and, for a counter of clustered dummies, negative binomial.

Point probabilities follow Loader's saddle-point form (C. Loader, "Fast and accurate computation of binomial
probabilities", 2000): a Stirling error and a deviance, neither of which cancels, so that a trial count of 1e13 costs
no digits.

`ROUND_OFF` and `round_off` state the relative accuracy that the tests hold these functions to (against 50-digit
arithmetic); the accountants add it to every certified bound.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy import fft, special

from segshuffle.arrays import FloatArray
from segshuffle.numerics.ranges import check_integer, check_within

#: Relative error of every probability at small counts; `round_off` adds the growth with the count.
ROUND_OFF = 1e-12

_SERIES_BELOW = 0.05
_STIRLING_EXACT_BELOW = 16.0
#: Number of trials of a fair coin from which on its tail is computed as the integral of a Gaussian.
_GAUSSIAN_FROM = 1e10
#: Change of the expected successes up to which a correction of first order is accurate to round-off.
_MOST_MOVED = 1e-7
#: Product of two sizes up to which a convolution is computed as a sum of products, which keeps the relative accuracy.
_DIRECT_CONVOLUTION = 400_000


def round_off(count: FloatArray) -> FloatArray:
    """Return the relative error allowed for a tail or point probability among `count` trials.

    scipy's regularised incomplete beta function loses digits like the square root of its arguments; the constant is
    five times the worst error seen against 50-digit arithmetic up to 1e13 trials.
    """
    return ROUND_OFF + 1e-14 * np.sqrt(count)


def stirling_error(count: FloatArray | float) -> FloatArray:
    """Return log(count!) minus Stirling's approximation; for count < 1, which no caller uses, the value at 1."""
    x = np.asarray(np.maximum(count, 1.0))
    inverse = 1.0 / x
    square = inverse * inverse
    series = inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square / 1188))))
    error, small = np.asarray(series), x < _STIRLING_EXACT_BELOW
    if small.any():
        few = x[small]
        error[small] = special.gammaln(few + 1) - (few + 0.5) * np.log(few) + few - 0.5 * math.log(2 * math.pi)
    return error


def deviance(gap: FloatArray, mean: FloatArray | float) -> FloatArray:
    """Return count * log(count / mean) + mean - count at count = mean + gap, without cancellation (mean > 0).

    The gap keeps its digits where the mean is much larger.
    """
    v: FloatArray = gap / mean
    near = np.abs(v) < _SERIES_BELOW
    # (1 + v) log(1 + v) - v with log(1 + v) = 2 artanh(w): the next term is below 1e-18 of the first
    w = np.where(near, v / (2.0 + v), 0.0)
    q = w * w
    odd = w * q * (1 / 3 + q * (1 / 5 + q * (1 / 7 + q * (1 / 9 + q / 11))))
    close: FloatArray = 2.0 * mean * (q + (1.0 + w) * odd) / (1.0 - w)
    if near.all():
        return close
    # the logarithm of 1 + v, not of the rounded count/mean, whose error would be multiplied by the count
    far = special.xlog1py(mean + gap, v) - gap
    return np.where(near, close, far)


def _log_mass(counts: FloatArray, probability: float) -> FloatArray:
    """Return the log of a binomial mass with at least one success and one failure, not necessarily whole numbers.

    `counts` has trials, successes and failures, shape (3, ...): short arrays cost by the call.
    """
    trials, successes, failures = counts
    stirling = stirling_error(counts)
    means = np.array([trials * probability, trials * (1 - probability)])
    deviances = deviance(counts[1:] - means, means)
    exponent = stirling[0] - stirling[1] - stirling[2] - deviances[0] - deviances[1]
    return np.asarray(exponent + 0.5 * np.log(trials / (2 * math.pi * successes * failures)))


def binomial_pmf(trials: FloatArray | float, successes: FloatArray, probability: float) -> FloatArray:
    """Return Pr[Binomial(trials, probability) = successes], elementwise; 0 outside the support; probability < 1."""
    counts = np.empty((3, *successes.shape))
    counts[0] = np.maximum(trials, 2.0)
    counts[1] = np.minimum(np.maximum(successes, 1.0), counts[0] - 1.0)  # several times faster than np.clip
    counts[2] = counts[0] - counts[1]
    bulk = _log_mass(counts, probability)
    one_sided = np.where(successes == 0, trials * math.log1p(-probability), bulk)
    log_mass = np.where(successes == trials, trials * math.log(probability), one_sided)
    inside = (successes >= 0) & (successes <= trials)
    return np.where(inside, np.exp(log_mass), 0.0)


def binomial_tail(trials: FloatArray | float, threshold: FloatArray, probability: float) -> FloatArray:
    """Return Pr[Binomial(trials, probability) >= threshold], elementwise, for any integer threshold."""
    tail = np.where(threshold <= 0, 1.0, 0.0)
    inside = (threshold > 0) & (threshold <= trials)
    many = inside & (trials >= _GAUSSIAN_FROM)
    if probability == 0.5 and many.any():
        tail[many] = _gaussian_half_tail(np.broadcast_to(trials, many.shape)[many], threshold[many])
        inside &= ~many
    special.betainc(threshold, trials - threshold + 1, probability, out=tail, where=inside)
    return tail


def convolution(one: FloatArray, other: FloatArray) -> FloatArray:
    """Return the law of the sum of two independent counts, as `scipy.signal` does, which takes a second to import."""
    if one.size * other.size <= _DIRECT_CONVOLUTION:
        return np.convolve(one, other)
    size = one.size + other.size - 1
    length = fft.next_fast_len(size, real=True)
    law = fft.irfft(fft.rfft(one, length) * fft.rfft(other, length), length)[:size]
    return np.asarray(np.maximum(law, 0.0), dtype=float)


def _gaussian_half_tail(trials: FloatArray, threshold: FloatArray) -> FloatArray:
    r"""Return Pr[Binomial(n, 1/2) >= k] for n >= 1e10 and k in [1, n], within 1.1/(n - 1) of it, relatively.

    scipy's continued fraction takes about sqrt(n) steps near k = n/2. With m = n - 1 and d = 2k - n - 1 >= 0 the tail
    is n/2 Pr[Binomial(m, 1/2) = k - 1] times

        int_0^1 e^{(m/2) log(1 - w^2) - d artanh(w)} dw  in  [1 - 2.2/m, 1] int_0^inf e^{-m w^2/2 - d w} dw:

    the exponents differ by x >= 0, e^{-x} >= 1 - x, x <= m w^4/3 + 4 d w^3/9 for w <= 1/2; under the second integrand
    E[w^4] <= 3/m^2 and E[w^3] <= min(6/d^3, 1.6/m^1.5), so that E[x] <= 2.11/m; w > 1/2 weighs less than e^{-m/8}.
    The middle of that interval is returned.
    """
    lower = 2 * threshold < trials + 1
    k = np.where(lower, trials - threshold + 1, threshold)
    m = trials - 1
    root = np.sqrt(2 * m)
    tail = 0.5 * trials * binomial_pmf(m, k - 1, 0.5) * math.sqrt(math.pi) / root
    tail *= special.erfcx((2 * k - trials - 1) / root) * (1 - 1.1 / m)
    return np.where(lower, 1 - tail, tail)


@dataclass(frozen=True)
class BinomialLaw:
    """C ~ Binomial(trials, probability).

    Parameters
    ----------
    trials : int
        Number of trials, at least 0.
    probability : float
        Success probability in (0, 1].
    """

    trials: int
    probability: float

    def __post_init__(self) -> None:
        check_integer("trials", self.trials, 0)
        check_within("probability", self.probability, 0, 1, "(]")

    @property
    def mean(self) -> float:
        """Expectation of C."""
        return self.trials * self.probability

    @property
    def std(self) -> float:
        """Standard deviation of C."""
        return math.sqrt(self.trials * self.probability * (1 - self.probability))

    @property
    def largest(self) -> float:
        """The number of trials."""
        return float(self.trials)

    def pmf(self, count: FloatArray) -> FloatArray:
        """Return Pr[C = count], elementwise, zero outside the support."""
        if self.probability == 1.0:
            return np.where(count == self.trials, 1.0, 0.0)
        return binomial_pmf(self.trials, count, self.probability)

    def ratio(self, count: FloatArray) -> FloatArray:
        """Return Pr[C = count] / Pr[C = count - 1] for count >= 1; it decreases in count."""
        if self.probability == 1.0:
            return np.where(count <= self.trials, math.inf, 0.0)
        odds = self.probability / (1 - self.probability)
        return np.maximum(self.trials - count + 1, 0.0) * odds / count

    def at_least(self, count: FloatArray) -> FloatArray:
        """Return Pr[C >= count], elementwise."""
        return binomial_tail(self.trials, count, self.probability)

    def at_most(self, count: FloatArray) -> FloatArray:
        """Return Pr[C <= count], elementwise."""
        failure = 1.0 - self.probability
        moved = self.trials * (self.probability - (1.0 - failure))
        if abs(moved) > _MOST_MOVED:
            tail = special.betaincc(count + 1, self.trials - count, self.probability)
            return np.where(count < 0, 0.0, np.where(count < self.trials, tail, 1.0))
        # the tail of the failures is several times faster; the rounding of 1 - probability is corrected to first order
        tail = binomial_tail(self.trials, self.trials - count, failure)
        return tail - moved * binomial_pmf(self.trials - 1, count, self.probability) if moved else tail


# -- the negative binomial law ---------------------------------------------------------------------------------------
#
# NB(r, p) is the law of a Poisson number of clusters of logarithmic size, Pr[x] = Gamma(x + r)/(Gamma(r) x!) p^x
# (1 - p)^r with mean r p/(1 - p). For p = 0 it is the Poisson law of that mean.


def size_of(mean: float, p: float) -> float:
    """Return the parameter r of NB(r, p) with a given mean."""
    return mean * (1 - p) / p


def log_poisson(gap: FloatArray, mean: float) -> FloatArray:
    """Return the log of the Poisson mass at mean + gap, which is 0 or a real >= 1; relative error below 1e-12."""
    count = np.maximum(mean + gap, 1.0)
    bulk = -stirling_error(count) - deviance(gap, mean) - 0.5 * np.log(2 * math.pi * count)
    return np.where(gap > -mean, bulk, -mean)


def log_negative_binomial(count: FloatArray, mean: float, p: float) -> FloatArray:
    """Return the log of the mass at integer counts >= 0 (any shape); relative error of the mass below `mass_error`."""
    if p == 0:
        return log_poisson(count - mean, mean)
    r = size_of(mean, p)
    if r < 1:  # Stirling's formula is used from 1 on: Gamma(r) = Gamma(r + 1)/r
        raise ValueError(f"the negative binomial law has a size below 1: r = {r:g}")
    x = np.maximum(count, 1.0)
    value = _log_mass(np.array([x + r, x, np.full_like(x, r)]), p) + np.log(r / (x + r))
    return np.where(count >= 1, value, r * math.log1p(-p))


def mass_error(window: tuple[int, int], mean: float) -> float:
    """Bound the relative error of the masses of a window."""
    return 10 * ROUND_OFF + 1e-15 * max(window[1] - mean, mean - window[0])


def window_of_mass(mean: float, p: float, log_tail: float) -> tuple[int, int]:
    """Find counts [low, high] outside which each tail has mass at most e^-log_tail, by Chernoff's bound.

    The bound's exponent is convex and 0 at the mean. Bisection keeps an outer end at which it was evaluated.
    """
    r = size_of(mean, p) if p else math.inf
    log_tail += 1e-5  # more than the round-off of the exponent at a mean of 1e10

    def exponent(x: float) -> float:
        if p == 0:
            return float(special.kl_div(x, mean))
        return float(special.kl_div(x, (x + r) * p) + special.kl_div(r, (x + r) * (1 - p)))

    def bisected(outer: float) -> float:
        inner = mean
        for _ in range(20):
            middle = 0.5 * (inner + outer)
            inner, outer = (middle, outer) if exponent(middle) < log_tail else (inner, middle)
        return outer

    high = mean + 1
    while exponent(high) < log_tail:
        high = mean + 2 * (high - mean)
    return math.floor(bisected(0.0)) if exponent(0.0) >= log_tail else 0, math.ceil(bisected(high))
