"""Point and tail probabilities against 50-digit arithmetic, to the accuracy that `round_off` promises.

The accountants pass the *count* to `round_off`, not the number of trials, so that is what the tests hold the functions
to: binomial laws of up to 1e13 trials with a small mean must be as accurate as that mean allows.
"""

import math
from fractions import Fraction

import numpy as np
import oracles as o
import pytest
from oracles import MP

from segshuffle.numerics.laws import (
    BinomialLaw,
    deviance,
    log_poisson,
    round_off,
)

SMALLEST = 1e-300  # below this doubles lose digits by themselves


def at(function, *counts):
    """Return the value of an array function at one point."""
    return float(function(*(np.array([float(count)]) for count in counts))[0])


def assert_accurate(found, exact, count):
    """Check that the relative error is at most `round_off(count)`."""
    assert exact > SMALLEST, "choose a point that doubles can represent"
    error = abs(MP.mpf(found) / exact - 1)
    assert error <= MP.mpf(float(round_off(count))), f"relative error {float(error):.2e} at count {count}"


def mp_binomial_lower(n, p, k):
    """Return Pr[X <= k] for k below the mean: a sum from k downwards where it is short, else the mirrored oracle."""
    if n * p > 1e7:
        return o.mp_binomial_upper_tail(n, 1 - o.to_mpf(p), n - k)
    odds = o.to_mpf(p) / (1 - o.to_mpf(p))
    term = total = MP.mpf(1)
    for i in range(k, 0, -1):
        term *= i / ((n - i + 1) * odds)
        total += term
        if term < MP.mpf(10) ** -40:
            break
    return o.mp_binomial_pmf(n, p, k) * total


def mp_poisson_pmf(mean, k):
    mean = MP.mpf(mean)
    return MP.exp(k * MP.log(mean) - mean - MP.loggamma(k + 1))


SHIFTS = (-30, -20, -12, -5, -2, 0, 1, 4.8, 8, 12, 20, 30)  # standard deviations from the mean
BINOMIALS = [
    (1, 0.25),
    (7, 0.5),
    (300, 0.01),
    (5_000, 2 / 17),
    (76_475, 0.12132),
    (999_999, 0.8),
    (8_454_901, 0.0222132),
    (10**9 + 7, 0.3),
    (10**12, 2 / 128),
    (10**12, 1e-9),
    (10**13, 3e-8),
    *((n, 0.5) for n in (1, 2, 3, 17, 396, 59_749, 10**6, 10**9 + 1, 10**12, 10**13 - 1, 10**13, 4 * 10**15 - 3)),
]


def counts_around(mean, std, largest):
    counts = {round(mean + shift * std) for shift in SHIFTS} | {0, 1, math.floor(mean), math.floor(mean) + 1}
    return sorted(k for k in counts if 0 <= k <= largest)


@pytest.mark.parametrize(("n", "p"), BINOMIALS)
def test_binomial_pmf(n, p):
    law = BinomialLaw(n, p)
    tested = 0
    for k in counts_around(law.mean, law.std, n):
        exact = o.mp_binomial_pmf(n, p, k)
        if exact > SMALLEST:
            assert_accurate(at(law.pmf, k), exact, k)
            tested += 1
    assert tested >= 2


@pytest.mark.quick(3)
@pytest.mark.parametrize(("n", "p"), BINOMIALS)
def test_binomial_tails(n, p):
    law = BinomialLaw(n, p)
    for shift in (-30, -12, -4, 1, 5, 12, 30):
        k = round(law.mean + shift * law.std)
        if not 0 <= k < n or o.mp_binomial_pmf(n, p, k) < SMALLEST:
            continue
        if k > law.mean:
            upper = o.mp_binomial_upper_tail(n, p, k)
            assert_accurate(at(law.at_least, k), upper, k)
            assert_accurate(at(law.at_most, k - 1), 1 - upper, k)
        else:
            lower = mp_binomial_lower(n, p, k)
            assert_accurate(at(law.at_most, k), lower, k)
            assert_accurate(at(law.at_least, k + 1), 1 - lower, k)


POISSONS = [1e-6, 0.3, 12.0, 1319.0342519, 43947.79478989745, 1e6, 1e7 + 0.5, 2.3e8, 1e10, 1e13]


@pytest.mark.parametrize("mean", POISSONS)
def test_poisson_pmf(mean):
    # just outside the series of `deviance` is its worst case
    tested = 0
    for k in {*counts_around(mean, math.sqrt(mean), math.inf), math.ceil(mean * 1.0501), math.floor(mean * 0.9499)}:
        exact = mp_poisson_pmf(mean, k)
        if exact > SMALLEST:
            assert_accurate(math.exp(log_poisson(np.array(k - mean), mean)), exact, k)
            tested += 1
    assert tested >= 2


@pytest.mark.parametrize("n", [10**10, 10**10 + 1, 10**12 + 1])
def test_the_gaussian_integral_is_within_its_bound(n):
    for shift in (-0.3, 0, 1e-5, 0.7, 4, 12):
        t = n // 2 + 1 + round(shift * math.sqrt(n) / 2)
        exact = (
            o.mp_binomial_upper_tail(n, Fraction(1, 2), t)
            if 2 * t > n
            else 1 - o.mp_binomial_upper_tail(n, Fraction(1, 2), n - t + 1)
        )
        error = abs(MP.mpf(at(BinomialLaw(n, 0.5).at_least, t)) / exact - 1)
        assert error <= 1.1 / (n - 1) + 1e-13  # the point probability rounds, too


@pytest.mark.parametrize("mean", [1.0, 37.3, 8e4, 1e9, 1e13])
@pytest.mark.parametrize("v", [0.0, 1e-9, 1e-5, -1e-3, 0.0499, -0.0499, 0.0501, -0.0501, 0.2, -0.5, 3.0])
def test_deviance_has_no_cancellation(mean, v):
    x = mean * (1 + v)
    exact = MP.mpf(x) * MP.log(MP.mpf(x) / MP.mpf(mean)) + MP.mpf(mean) - MP.mpf(x)
    # x log(1 + v) and mean - x cancel to about v/2 of their size: a few units times 1/v is what the far branch may lose
    allowed = 1e-15 * (2 + (0 if abs(v) < 0.05 else 8 / min(abs(v), 1.0)))
    assert abs(MP.mpf(float(deviance(x - mean, mean))) - exact) <= allowed * exact
