"""Series, fractions and laws of few counts to their last digits; wider tolerances would hide a missing term."""

import math
from fractions import Fraction

import numpy as np
import pytest
from oracles import MP, bernoulli_sum, gaussian_delta

from segshuffle.numerics import gaussian
from segshuffle.numerics.laws import (
    BinomialLaw,
    binomial_pmf,
    binomial_tail,
    stirling_error,
)
from segshuffle.numerics.poisson_binomial import PoissonBinomialLaw


def off(found, exact):
    """Return the largest relative error."""
    pairs = zip(np.ravel(found), exact, strict=True)
    return max(float(abs(MP.mpf(float(one)) / other - 1)) for one, other in pairs)


@pytest.mark.parametrize(
    ("counts", "tolerance"),
    [
        # the first term that is left out of the series is 691/360360 x^-11: 2e-14 of the whole at 16
        (np.array([16.0, 17.0, 20.0, 33.5, 100.0, 1e4, 1e9]), 5e-14),
        # a difference of terms of about 40
        (np.array([1.0, 2.0, 3.0, 7.0, 11.0, 15.0, 15.9]), 3e-12),
    ],
)
def test_error_of_stirlings_formula(counts, tolerance):
    exact = [
        MP.loggamma(MP.mpf(x) + 1) - (MP.mpf(x) + 0.5) * MP.log(x) + x - MP.log(2 * MP.pi) / 2 for x in counts.tolist()
    ]
    assert off(stirling_error(counts), exact) <= tolerance
    # together with small counts, none of them gets the other's formula
    assert stirling_error(np.array([*counts, 4.0]))[:-1].tolist() == stirling_error(counts).tolist()
    assert stirling_error(0.0) == stirling_error(1.0)


@pytest.mark.parametrize("ratio", [1e-4, 9.99e-4, 1.001e-3, 0.05])
@pytest.mark.parametrize("x", [0.0, 0.5, 3.0, 12.0, 25.0])
def test_delta_of_a_small_gaussian_ratio(ratio, x):
    epsilon = x * ratio
    exact = MP.log(gaussian_delta(ratio, epsilon))
    found = gaussian.gaussian_log_delta(ratio=ratio, epsilon=epsilon)
    # beside the series, two tails cancel to ratio/x of them
    assert abs(found - float(exact)) <= (2e-12 if ratio < 1e-3 else 1e-14 * (1 + x) ** 2 / ratio)


@pytest.mark.parametrize("p", [0.25, 0.5, 0.875, 1.0])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 8])
def test_binomial_laws_of_few_trials_at_every_count(n, p):
    exact = dict(enumerate(bernoulli_sum([Fraction(p)] * n)))
    counts = np.arange(-2.0, n + 4)
    pmf = [float(exact.get(int(k), 0)) for k in counts]
    above, below = ([float(sum(exact[j] for j in exact if side * j >= side * k)) for k in counts] for side in (1, -1))
    for law in (BinomialLaw(n, p), PoissonBinomialLaw([p] * n)):
        assert law.mean == pytest.approx(n * p, rel=1e-15)
        assert law.std == pytest.approx(math.sqrt(n * p * (1 - p)), rel=1e-15)
        for found, expected in ((law.pmf(counts), pmf), (law.at_least(counts), above), (law.at_most(counts), below)):
            np.testing.assert_allclose(found, expected, rtol=1e-13, atol=0)
        inside = counts[(counts >= 1) & (counts <= n + 1)]
        ratios = [float(exact.get(int(k), 0) / exact[int(k) - 1]) if exact[int(k) - 1] else math.inf for k in inside]
        np.testing.assert_allclose(law.ratio(inside), ratios, rtol=1e-13, atol=0)
    if p < 1 and n > 0:
        trials = np.full_like(counts, n)
        np.testing.assert_allclose(binomial_pmf(trials, counts, p), pmf, rtol=1e-13, atol=0)
        np.testing.assert_allclose(binomial_tail(trials, counts, p), above, rtol=1e-13, atol=0)
