"""Bounds of products of pairs under errors that are put in on purpose, against sums over all outcomes."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from segshuffle.accounting.collections import product
from segshuffle.accounting.numerics import loss_distribution
from segshuffle.accounting.numerics.hockey_stick import DeltaInterval
from segshuffle.accounting.numerics.loss_distribution import LossTable, log_delta_lower, log_delta_upper
from segshuffle.blankets.poisson import ItemPair

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


@pytest.mark.quick(0)
@pytest.mark.parametrize("tilt", [0.0, 2.0])
@pytest.mark.parametrize("sign", [1, -1])
def test_an_error_of_the_transforms_is_inside_the_bounds(monkeypatch, tilt, sign):
    """An inverse transform that is wrong by the norm that is declared, where it moves the bounds the most."""
    constant = 1e5
    table, epsilon, pairs = ItemPair(30.0, 0.9).loss_table(0.01, 30.0), 0.9, 2
    exact = product.delta_interval(ItemPair(30.0, 0.9), pairs=pairs, epsilon=epsilon, rtol=1e-6)
    monkeypatch.setattr(loss_distribution, "_FFT_CONSTANT", constant)
    monkeypatch.setattr(loss_distribution, "_whole", lambda *_: None)  # no second way that needs no transform
    clean = log_delta_upper(table, pairs=pairs, epsilon=epsilon, tilt=tilt)
    monkeypatch.setattr(loss_distribution, "_FFT_CONSTANT", 8.0)
    narrow = log_delta_upper(table, pairs=pairs, epsilon=epsilon, tilt=tilt)
    monkeypatch.setattr(loss_distribution, "_FFT_CONSTANT", constant)
    window = loss_distribution._Frame.window
    seen = []

    def wrong(self, transform):
        law = window(self, transform)
        where = np.arange(self.start, self.start + self.size) * table.step > epsilon
        noise = where / math.sqrt(max(np.count_nonzero(where), 1))
        size = self.relative_error * float(np.linalg.norm(law))
        seen.append(size)
        return law + sign * size * noise

    monkeypatch.setattr(loss_distribution._Frame, "window", wrong)
    upper = log_delta_upper(table, pairs=pairs, epsilon=epsilon, tilt=tilt)
    lower = log_delta_lower(table, pairs=pairs, epsilon=epsilon, tilt=tilt)
    assert min(seen) > 0
    assert lower <= math.log(exact.upper)
    assert upper >= math.log(exact.lower)
    assert abs(upper - clean) <= clean - narrow  # what was put in is no more than what was declared
    assert upper != clean


def test_crossed_ends_are_refused(monkeypatch):
    with pytest.raises(ArithmeticError, match="crossed ends"):
        DeltaInterval(2e-6, 1e-6)
    assert DeltaInterval(1e-6, 1e-6) == (1e-6, 1e-6)
    monkeypatch.setattr(product, "log_delta_lower", lambda *_, **__: math.log(0.5))
    with pytest.raises(ArithmeticError, match="crossed ends"):
        product.delta_interval(ItemPair(50.0, 0.7), pairs=2, epsilon=0.9)
