"""Bounds of products of pairs under errors that are put in on purpose, against sums over all outcomes."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from segshuffle.accounting.numerics.loss_distribution import LossTable, log_delta_lower, log_delta_upper

PLAIN = np.array([0.05, 0.15, 0.3, 0.25, 0.15, 0.07, 0.03])
LOG_RATIO = np.array([-1.3, -0.7, -0.2, 0.1, 0.45, 0.9, 1.5])
STEP = 0.01


def table_of(
    plain: np.ndarray, log_ratio: np.ndarray, *, mass_error: float = 0.0, ratio_error: float = 0.0
) -> LossTable:
    """Cells of a law with few points."""
    cell = np.floor(log_ratio / STEP).astype(int)
    mass, excess = np.zeros(cell[-1] - cell[0] + 1), np.zeros(cell[-1] - cell[0] + 1)
    mass[cell - cell[0]] = plain
    excess[cell - cell[0]] = np.expm1(log_ratio - cell * STEP)
    return LossTable(int(cell[0]), STEP, mass, excess, 0.0, 0.0, mass_error, ratio_error)


def exact_delta(plain: np.ndarray, log_ratio: np.ndarray, pairs: int, epsilon: float) -> float:
    """Sum of max(0, p - e^epsilon q) over all outcomes of 2 `pairs` counters."""
    total = []
    for points in itertools.product(range(plain.size), repeat=2 * pairs):
        mass = math.prod(float(plain[i]) for i in points)
        first, second = sum(log_ratio[i] for i in points[:pairs]), sum(log_ratio[i] for i in points[pairs:])
        total.append(mass * max(0.0, math.exp(first) - math.exp(epsilon + second)))
    return math.fsum(total)


@pytest.mark.quick(2)
@pytest.mark.parametrize("pairs", [1, 2])
@pytest.mark.parametrize("tilt", [0.0, 1.0, 4.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.8, 2.5])
@pytest.mark.parametrize("error", [1e-6, 0.01, 0.2])
def test_an_error_of_the_ratios_moves_both_bounds_by_at_least_as_much(pairs, tilt, epsilon, error):
    """Large ratios larger and small ones smaller, and the reverse: the worst that an error of that size can do."""
    declared = table_of(PLAIN, LOG_RATIO, ratio_error=error)
    upper = log_delta_upper(declared, pairs=pairs, epsilon=epsilon, tilt=tilt)
    lower = log_delta_lower(declared, pairs=pairs, epsilon=epsilon, tilt=tilt)
    plain_upper = log_delta_upper(table_of(PLAIN, LOG_RATIO), pairs=pairs, epsilon=epsilon, tilt=tilt)
    exact = exact_delta(PLAIN, LOG_RATIO, pairs, epsilon)
    worse = exact_delta(PLAIN, LOG_RATIO + error * np.sign(LOG_RATIO), pairs, epsilon)
    better = exact_delta(PLAIN, LOG_RATIO - error * np.sign(LOG_RATIO), pairs, epsilon)
    up = exact_delta(PLAIN, LOG_RATIO + error, pairs, epsilon)
    assert exact < worse
    assert upper >= math.log(max(worse, up))
    assert upper - plain_upper >= math.log(worse / exact) * (1 - 1e-6)
    assert math.exp(lower) <= min(better, exact_delta(PLAIN, LOG_RATIO - error, pairs, epsilon))


@pytest.mark.quick(2)
@pytest.mark.parametrize("pairs", [1, 2])
@pytest.mark.parametrize("tilt", [0.0, 3.0])
@pytest.mark.parametrize("error", [1e-8, 1e-3, 0.05])
def test_an_error_of_the_masses_moves_both_bounds_by_at_least_as_much(pairs, tilt, error):
    declared = table_of(PLAIN, LOG_RATIO, mass_error=error)
    upper = log_delta_upper(declared, pairs=pairs, epsilon=0.8, tilt=tilt)
    lower = log_delta_lower(declared, pairs=pairs, epsilon=0.8, tilt=tilt)
    plain_upper = log_delta_upper(table_of(PLAIN, LOG_RATIO), pairs=pairs, epsilon=0.8, tilt=tilt)
    far = np.abs(LOG_RATIO) > 0.3
    exact = exact_delta(PLAIN, LOG_RATIO, pairs, 0.8)
    for sign in (1, -1):
        wrong = exact_delta(PLAIN * np.where(far, 1 + sign * error, 1 - sign * error), LOG_RATIO, pairs, 0.8)
        everywhere = exact_delta(PLAIN * (1 + sign * error), LOG_RATIO, pairs, 0.8)
        assert math.exp(lower) <= min(wrong, everywhere)
        assert upper >= math.log(max(wrong, everywhere))
        assert upper - plain_upper >= max(math.log(max(wrong, everywhere) / exact), 0.0) * (1 - 1e-6)
