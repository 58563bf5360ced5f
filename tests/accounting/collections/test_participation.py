"""Fewer honest users than a plan relies on."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

from segshuffle.accounting.collections.calibration import epsilon_over_honesty
from segshuffle.accounting.collections.product import delta_interval
from segshuffle.blankets.poisson import ItemPair
from segshuffle.errors import ParameterError


def test_too_few_honest_users_have_no_epsilon():
    found = epsilon_over_honesty(blanket_mean=20.0, copies=1.0, pairs=1, delta=1e-6, fractions=(0.3, 1e-6, 1.0))
    assert found[:2] == (math.inf, math.inf)
    assert found[2] < 100
    with pytest.raises(ParameterError, match="fractions"):
        epsilon_over_honesty(blanket_mean=20.0, copies=1.0, pairs=1, delta=1e-6, fractions=(0.0,))


def test_epsilons_are_the_least_of_ten_digits():
    found = epsilon_over_honesty(blanket_mean=20.0, copies=0.7, pairs=1, delta=1e-6, fractions=(0.9, 0.7))
    for epsilon, fraction in zip(found, (0.9, 0.7), strict=True):
        assert epsilon == float(f"{epsilon:.10g}")
        at_it = delta_interval(ItemPair(fraction * 20.0, 0.7), pairs=1, epsilon=epsilon)
        assert 0.998e-6 <= at_it.lower <= at_it.upper <= 1e-6 * (1 + 1e-9)


@pytest.mark.parametrize(("mean", "copies"), [(20.0, 0.7), (3e4, 1.0)])
def test_epsilon_falls_with_delta_and_rises_as_honest_users_are_fewer(mean, copies):
    fractions = (1.0, 0.999, 0.99, 0.9, 0.6)
    by_delta = [
        epsilon_over_honesty(blanket_mean=mean, copies=copies, pairs=2, delta=delta, fractions=fractions)
        for delta in (1e-9, 1e-6, 1.01e-6, 1e-2)
    ]
    for before, after in pairwise(by_delta):
        assert all(here >= there for here, there in zip(before, after, strict=True))
    assert all(list(found) == sorted(found) for found in by_delta)
