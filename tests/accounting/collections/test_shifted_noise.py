"""Noise of a trusted curator: products of shifted laws, against closed forms and sums over fine grids."""

import itertools
import math

import numpy as np
import pytest
from oracles import MP, encloses
from oracles.clusters import sorted_exchange_divergence

from segshuffle.accounting.collections.product import delta_interval, log_delta_bound
from segshuffle.accounting.collections.shifted_noise import (
    ShiftPair,
    discrete_laplace_epsilon,
    largest_shift,
    randomized_response_delta,
)
from segshuffle.numerics.gaussian import gaussian_log_delta, gaussian_ratio


@pytest.mark.parametrize(
    ("pairs", "epsilon", "shift"), [(1, 1.0, 0.5), (4, 0.5, 0.05), (8, 2.0, 0.3), (1, 4.0, 2.0), (64, 1.0, 0.02)]
)
def test_exponent_two_is_the_gaussian_mechanism(pairs, epsilon, shift):
    """Deviation 1/sqrt(2) and 2 t coordinates: sensitivity over deviation is 2 a sqrt(t)."""
    exact = math.exp(gaussian_log_delta(ratio=2 * shift * math.sqrt(pairs), epsilon=epsilon))
    found = delta_interval(ShiftPair(2.0, shift), pairs=pairs, epsilon=epsilon, rtol=1e-4)
    assert found.lower <= exact <= found.upper <= found.lower * (1 + 1e-4)


@pytest.mark.quick(5)
@pytest.mark.parametrize(
    ("exponent", "shift", "epsilon"), list(itertools.product((1.0, 1.3, 1.8), (0.3, 1.5), (0.2, 1.0)))
)
def test_one_pair_by_a_sum_over_a_grid(exponent, shift, epsilon):
    """Delta is summed over sorted outcomes of two coordinates on 40,001 points each, without a cell of the package."""
    x = np.linspace(-45, 45, 40_001)
    b, a = np.exp(-(np.abs(x) ** exponent)), np.exp(-(np.abs(x - shift) ** exponent))
    ratio = np.abs(x) ** exponent - np.abs(x - shift) ** exponent
    exact = sorted_exchange_divergence(a / a.sum(), b / b.sum(), ratio, epsilon)
    found = delta_interval(ShiftPair(exponent, shift), pairs=1, epsilon=epsilon, rtol=1e-4)
    # the trapezoidal sum's own error is of the order of the squared spacing
    assert encloses(found, exact, 2e-5)


@pytest.mark.parametrize("exponent", [1.0, 1.4, 2.0])
def test_largest_shift_meets_the_target_and_no_more_does(exponent):
    shift = largest_shift(exponent=exponent, pairs=4, epsilon=1.0, delta=1e-4)
    inside = delta_interval(ShiftPair(exponent, shift), pairs=4, epsilon=1.0, rtol=1e-4)
    beyond = delta_interval(ShiftPair(exponent, shift * 1.002), pairs=4, epsilon=1.0, rtol=1e-4)
    assert inside.upper <= 1e-4 * (1 + 1e-3)
    assert beyond.lower > 1e-4


@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 20.0, 50.0, 100.0])
@pytest.mark.parametrize(("pairs", "delta"), [(1, 1e-2), (4, 1e-8)])
def test_gaussian_noise_allows_what_its_closed_form_does(epsilon, pairs, delta):
    # noise of deviation 1/sqrt(2) on the 2 t counters that change by the shift
    allowed = gaussian_ratio(epsilon=epsilon, delta=delta) / math.sqrt(4 * pairs)
    found = largest_shift(exponent=2.0, pairs=pairs, epsilon=epsilon, delta=delta)
    assert allowed * (1 - 3e-3) <= found <= allowed * (1 + 1e-8)


@pytest.mark.parametrize(("exponent", "shift"), [(2.0, 30.0), (2.0, 100.0), (1.0, 750.0)])
def test_a_shift_past_all_noise_is_not_called_private(exponent, shift):
    assert log_delta_bound([(ShiftPair(exponent, shift), 1)], 1.0) > -1e-6


@pytest.mark.parametrize(
    ("pairs", "epsilon", "delta"), [(1, 1.0, 1e-6), (4, 0.5, 1e-9), (30, 3.0, 1e-3), (3, 5e-324, 1e-6)]
)
def test_the_largest_loss_of_discrete_noise_meets_its_target_and_no_larger_one_does(pairs, epsilon, delta):
    loss = discrete_laplace_epsilon(pairs=pairs, epsilon=epsilon, delta=delta)

    def exact(local):
        up, factor, answers = MP.mpf(1) / (1 + MP.exp(-MP.mpf(local))), MP.exp(MP.mpf(epsilon)), 2 * pairs
        total = MP.mpf(0)
        for k in range(answers + 1):
            ways = MP.binomial(answers, k)
            total += ways * max(up**k * (1 - up) ** (answers - k) - factor * (1 - up) ** k * up ** (answers - k), 0)
        return total

    assert exact(loss) <= delta < exact(loss * (1 + 1e-5))
    assert loss >= epsilon / (2 * pairs)
    for local in (0.3 * loss, loss, 3 * loss, 40.0):
        found = randomized_response_delta(local_epsilon=local, answers=2 * pairs, epsilon=epsilon)
        assert min(exact(local), 1) <= found <= min(exact(local) * (1 + 2e-10), 1)
