"""Windows of the negative binomial law against Chernoff's bound in 90-digit arithmetic, and its masses."""

import mpmath
import numpy as np
import pytest
from oracles import MP

from segshuffle.numerics.laws import log_negative_binomial, mass_error, window_of_mass


def chernoff(x, mean, p):
    """Return -log of the bound on the tail beyond x: the divergence of the law tilted to mean x from the law."""
    r, x, p = MP.mpf(mean) * (1 - MP.mpf(p)) / MP.mpf(p), MP.mpf(x), MP.mpf(p)
    weight = x * MP.log(x / ((x + r) * p)) if x else MP.mpf(0)
    return weight + r * MP.log(r / ((x + r) * (1 - p)))


@pytest.mark.parametrize("log_tail", [5.0, 40.0, 700.0])
@pytest.mark.parametrize(("mean", "p"), [(3.0, 0.5), (50.0, 0.9), (80.0, 0.1), (1e4, 0.3), (1e9, 0.6)])
def test_a_window_is_the_least_that_chernoffs_bound_proves(mean, p, log_tail):
    low, high = window_of_mass(mean, p, log_tail)
    assert 0 <= low < mean < high
    assert chernoff(high, mean, p) >= log_tail
    assert chernoff(high - 2 - 4e-6 * (high - mean), mean, p) < log_tail
    # no count is below 0; the bisection halves its bracket 20 times, that of the lower end beginning at 0
    assert low == 0 or chernoff(low, mean, p) >= log_tail
    assert chernoff(min(low + 2 + 2e-6 * mean, mean), mean, p) < log_tail


def test_a_tail_that_chernoffs_bound_just_misses_is_not_cut_off():
    """The window is wider by the rounding error of the exponent, which is up to 1e-5 at the largest means."""
    for mean, p in ((3.0, 0.5), (50.0, 0.9)):
        for count in range(int(mean) + 2, int(mean) + 40):
            at = float(chernoff(count, mean, p))
            assert window_of_mass(mean, p, at - 5e-6)[1] > count
            assert window_of_mass(mean, p, at - 1e-3)[1] == count
        for count in range(int(mean)):
            at = float(chernoff(count, mean, p))
            assert count == 0 or window_of_mass(mean, p, at - 5e-6)[0] == count - 1
            assert window_of_mass(mean, p, at - 1e-3)[0] == count


def test_a_law_of_less_than_one_cluster_is_refused():
    with pytest.raises(ValueError, match="size below 1"):
        log_negative_binomial(np.array([1.0]), 0.99, 0.5)


@pytest.mark.parametrize(
    ("mean", "p"), [(0.5, 0.3), (7.0, 0.5), (40.0, 0.97), (379.0, 0.7), (1e5, 0.9), (3e8, 0.9), (1e10, 0.01)]
)
def test_masses_of_the_negative_binomial(mean, p):
    window = window_of_mass(mean, p, 40.0)
    counts = np.unique(
        [*np.linspace(window[0], window[1], 9).round(), *np.arange(window[0], min(window[0] + 30, window[1]))]
    )
    values = log_negative_binomial(counts, mean, p)
    with mpmath.workdps(40):
        r = mpmath.mpf(mean) * (1 - mpmath.mpf(p)) / mpmath.mpf(p)
        for x, value in zip(counts, values, strict=True):
            exact = mpmath.loggamma(x + r) - mpmath.loggamma(r) - mpmath.loggamma(x + 1)
            exact += x * mpmath.log(mpmath.mpf(p)) + r * mpmath.log(1 - mpmath.mpf(p))
            assert abs(value - float(exact)) <= mass_error(window, mean)
        tail = mpmath.exp(-40)
        for end, step in ((window[1], 1), (window[0], -1)):
            mass = mpmath.exp(log_negative_binomial(np.array([max(end, 0)]), mean, p)[0])
            ratio = p * (end + r) / (end + 1) if step > 0 else end / (p * (end + r - 1)) if end > 0 else 0
            assert mass * ratio / (1 - ratio) <= tail or end == 0
