"""The analytic Gaussian mechanism against 90-digit arithmetic, and the safe side of its calibration."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import MP, gaussian_delta

from segshuffle.numerics.gaussian import gaussian_log_delta, gaussian_ratio

EPSILONS = [0.01, 0.1, 0.5, 1.0, 2.0, 8.0, 40.0]
DELTAS = [1e-100, 1e-30, 2e-7, 2e-6, 1e-3, 0.3]


def exact_ratio(epsilon, delta):
    low, high = MP.mpf(0), MP.mpf(1000)
    for _ in range(150):
        middle = (low + high) / 2
        low, high = (middle, high) if gaussian_delta(middle, epsilon) <= delta else (low, middle)
    return low


@pytest.mark.quick(2)
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("delta", DELTAS)
def test_ratio_is_the_largest_and_on_the_safe_side(epsilon, delta):
    found = gaussian_ratio(epsilon=epsilon, delta=delta)
    exact = exact_ratio(epsilon, delta)
    # 1e-9 in log delta is the search's own tolerance; round-off of two tails may add as much above
    assert (1 - 1e-8) * exact <= found <= (1 + 1e-10) * exact
    assert gaussian_delta(found, epsilon) <= delta * (1 + 1e-9)


@given(
    log_ratio=st.floats(math.log(1e-4), math.log(20.0)),
    share=st.floats(0.0, 1.0),
)
def test_log_delta_is_exact(log_ratio, share):
    """Epsilons go from 0 up to where delta is about 1e-250."""
    ratio = math.exp(log_ratio)
    epsilon = min(share * 30 * ratio, 100.0)
    exact = gaussian_delta(ratio, epsilon)
    # two tails cancel near ratio 1e-3; below it, a first-order formula is off by at most ratio^2/12
    tolerance = 1e-8 if ratio >= 1e-3 else 2e-7
    assert abs(gaussian_log_delta(ratio=ratio, epsilon=epsilon) - float(MP.log(exact))) <= tolerance


@pytest.mark.parametrize("log10_tail", [2.01, 5, 20, 39, 60, 69.9])
def test_log_delta_far_in_the_tail_does_not_overflow(log10_tail):
    """Searches come here when they step far below what they look for; there log delta is about -x^2/2."""
    x = 10.0**log10_tail
    found = gaussian_log_delta(ratio=0.5 / x, epsilon=0.5)
    assert math.isclose(found, -x * x / 2 - math.log(2 * math.pi) / 2 + math.log(0.5) - 3 * math.log(x), rel_tol=1e-3)


@pytest.mark.parametrize("epsilon", [1e-320, 1e-310, 1e-300])
def test_gaussian_ratio_at_a_tiny_epsilon(epsilon):
    """At epsilon = 0 delta is 2 Phi(r/2) - 1 = erf(r/sqrt(8))."""
    exact = MP.sqrt(8) * MP.erfinv(MP.mpf(1e-5))
    assert gaussian_ratio(epsilon=epsilon, delta=1e-5) == pytest.approx(float(exact), rel=1e-8)
