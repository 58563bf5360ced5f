"""Rounding of the classes of outputs: ratios and masses err by all they may, where nothing else gives way."""

import itertools
import math

import numpy as np
import pytest

from segshuffle.accounting.single_message import decomposition as module
from segshuffle.accounting.single_message.randomizers import ReferenceClasses

MASS, FIRST, SECOND = np.array([0.3, 0.2, 0.1, 0.25]), np.array([0.5, 0.0, -0.7, 0.1]), np.array([-0.5, 0.2, 0.4, -0.1])


def classes(entry_error, mass=MASS):
    return ReferenceClasses(mass, FIRST, SECOND, entry_error=entry_error)


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 2.0])
def test_errors_of_the_log_ratios_cost_what_they_do_to_the_difference(epsilon):
    """G = e^first - e^(epsilon + second), both logarithms in error by as much in the worst of directions."""
    made = classes(1e-6)
    value, error = module._excess(made, epsilon)
    np.testing.assert_allclose(value, np.exp(FIRST) - np.exp(SECOND + epsilon), rtol=1e-12, atol=1e-15)
    moved = [
        np.exp(FIRST + one * made.log_error) - np.exp(SECOND + epsilon + other * made.log_error)
        for one, other in itertools.product((-1, 1), repeat=2)
    ]
    worst = np.max(np.abs(np.array(moved) - value), axis=0)
    assert np.all(error >= worst * (1 - made.log_error))
    assert np.all(error <= worst * (1 + 1e-5))


def mean_above(value, mass, start):
    return math.fsum(mass * np.maximum(value - start, 0.0))


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("left_over", [True, False])
def test_the_law_dominates_every_law_within_the_errors(sign, left_over):
    """Its mean above every value is no smaller (of lower ends: no larger), and off by little more than the errors."""
    error = 1e-4
    mass = MASS if left_over else MASS / MASS.sum()
    made = classes(error, mass)
    law = module._excess_law(made, 0.1, sign)
    assert math.fsum(law.mass) == pytest.approx(1.0, rel=1e-14)
    nominal, width = module._excess(made, 0.1)
    grid = np.linspace(-3.0, 2.0, 101)
    apart = []
    for moves in itertools.product((-1, 1), repeat=4):
        moved = mass * (1 + error * np.array(moves))
        rest = 1.0 - math.fsum(moved)
        if rest < -1e-12:  # no law
            continue
        value, masses = np.append(nominal + sign * 0.999 * width, 0.0), np.append(moved, rest)
        for start in grid:
            apart.append(sign * (mean_above(law.value, law.mass, start) - mean_above(value, masses, start)))
    assert len(apart) > 500
    assert min(apart) >= -1e-12
    # all masses but one are lowered, and all of that is given to the best: twice the error of each, times its distance
    assert max(apart) <= 2 * error * math.fsum(mass * np.abs(np.max(np.abs(nominal)) - sign * nominal)) + error


def test_where_the_numerics_give_up_the_local_delta_is_left(monkeypatch):
    """E[max(0, G)] of one user bounds the mean of any number of them; a lower end has no such bound."""
    monkeypatch.setattr(module, "mean_positive_part", lambda *_, **__: -1e-3)
    local = math.fsum(MASS * np.maximum(np.exp(FIRST) - np.exp(SECOND + 0.1), 0.0))
    upper, lower = (module._log_delta(classes(0.0), 7, 0.1, 1e-3, side) for side in ("upper", "lower"))
    assert math.log(local) <= upper <= math.log(local) + 1e-12
    assert lower == -1e-3
