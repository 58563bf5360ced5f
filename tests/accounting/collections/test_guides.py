"""Guides of searches: what they sum up by all pairs of values, where they look, and where they end."""

import math

import numpy as np
import pytest

from segshuffle.accounting.collections import guides
from segshuffle.accounting.numerics.loss_distribution import LossTable
from segshuffle.blankets.clustered import Clustered
from segshuffle.blankets.poisson import POISSON
from segshuffle.blankets.signed import GroupedSigned, Signed


@pytest.mark.parametrize("epsilon", [0.0, 0.4, 1.1, 3.0])
def test_delta_of_one_pair_is_a_sum_over_pairs_of_values(epsilon):
    rng = np.random.default_rng(4)
    mass = rng.uniform(0.0, 1.0, 9) * (rng.uniform(size=9) > 0.2)
    mass *= 0.9 / mass.sum()
    excess = rng.uniform(0.0, math.expm1(0.3), 9)
    table = LossTable(-4, 0.3, mass, excess, 0.1, 1e-5, 0.0, 0.0)
    ratio = np.exp((np.arange(9) - 4) * 0.3) * (1 + excess)
    b, a = np.append(0.1, mass), np.append(0.0, mass * ratio)
    exact = np.maximum(np.outer(a, b) - math.exp(epsilon) * np.outer(b, a), 0.0).sum() + 1e-5
    assert guides._log_delta_of_one(table, epsilon) == pytest.approx(math.log(exact), abs=1e-12)
    log_ratio, log_mass = guides._law_of(table)
    np.testing.assert_allclose(np.exp(log_mass), mass[mass > 0], rtol=1e-14)
    np.testing.assert_allclose(np.exp(log_ratio), ratio[mass > 0], rtol=1e-13)


ROOT = 0.3
FUNCTIONS = {
    "straight": lambda x: x,
    "bent": lambda x: math.expm1(0.2 * x) / 0.2,
    "steep": lambda x: 4 * x,
    "flat": lambda x: 0.4 * x,
    "bent the other way": lambda x: -math.expm1(-0.15 * x) / 0.15,
}


@pytest.mark.parametrize("start", [-7.0, -1.0, 0.31, 2.0, 30.0])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_root_is_found_wherever_the_search_begins(name, start):
    asked = []

    def excess(x):
        asked.append(x)
        return FUNCTIONS[name](x - ROOT)

    assert guides._largest(excess, start, 4.0) == pytest.approx(ROOT, abs=2e-3)
    assert len(asked) <= 12
    assert max(asked) <= 4.0
    assert asked[0] == min(start, 4.0)
    asked.clear()
    assert guides._largest(excess, start, 0.1) == 0.1, "no more than is allowed"


def test_a_jump_is_approached_from_below():
    found = guides._largest(lambda x: -1.0 if x < ROOT else 1.0, 0.0, 4.0)
    assert ROOT - 0.02 < found < ROOT


def test_what_is_searched_with_is_the_blanket_or_quicker():
    blanket = Signed(0.3, 0.4, 0.5)
    assert blanket.rough() == GroupedSigned(0.3, 0.4, 0.5)
    for other in (POISSON, Clustered(0.4)):
        assert other.rough() is other


@pytest.mark.parametrize("delta", [1e-250, 1e-6, 0.3, 1.0])
def test_the_excess_is_the_log_of_two_gaussian_ratios(delta, monkeypatch):
    """Within what a Gaussian mechanism can be asked for."""
    monkeypatch.setattr(guides, "guided_log_delta", lambda *_: math.log(delta))
    found = guides._excess(POISSON.pair(10.0, 1.0), 2, 1.0, 1e-6)
    allowed = min(max(delta, 1e-200), 1 - 1e-9)
    expected = math.log(guides.gaussian_ratio(epsilon=1.0, delta=allowed))
    expected -= math.log(guides.gaussian_ratio(epsilon=1.0, delta=1e-6))
    assert found == pytest.approx(expected, abs=1e-12)
