"""The trusted curator: closed forms, weights, calibration."""

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from given_plans import SMALL
from simulations import check_simulation, make_sample

from segshuffle.accounting.collections.shifted_noise import largest_shift
from segshuffle.numerics.gaussian import gaussian_ratio
from segshuffle.plans.plan import PLAIN, Plan, Problem
from segshuffle.protocols.central import BEST, DISCRETE_LAPLACE, EXPONENTS, UNIFORM, WEIGHTED

CURATORS = {"uniform": UNIFORM, "weighted": WEIGHTED}


@pytest.mark.parametrize(("d", "s", "pairs"), [(17, 4, 4), (128, 8, 8), (5, 4, 1), (6, 3, 3)])
def test_noise_fits_the_sensitivity(d, s, pairs):
    """If all have the lowest level, a counter has deviation sqrt(2 t)/ratio; t items may leave a set and t come."""
    problem = Problem(d, s, (0.5, 2.0), (300, 100), 1e-5, PLAIN)
    curator = CURATORS["uniform"]
    sigma = math.sqrt(2 * pairs) / gaussian_ratio(epsilon=0.5, delta=1e-5)
    plan = curator.plan(problem)
    assert len(set(plan.parameters["weights"])) == 1
    least = d * sigma**2 / 400**2
    # weights of ten digits, rounded down: never less noise than the guarantee asks for
    assert least * (1 - 1e-14) <= curator.expected_mse(plan, np.full(d, 400 * s // d)) <= least * (1 + 2.1e-9)
    weighted = CURATORS["weighted"].plan(problem).parameters["weights"]
    for weight, level in zip(weighted, problem.levels, strict=True):
        assert 0 < weight <= gaussian_ratio(epsilon=level, delta=1e-5) / math.sqrt(2 * pairs)


@pytest.mark.parametrize(("s", "level"), [(1, 0.25), (1, 4.0), (4, 1.0), (8, 4.0)])
def test_the_best_exponent_of_all_is_found(s, level):
    problem = Problem(128, s, (level,), (5000,), 2e-6, PLAIN)

    def choice(_, pairs, exponent):
        shift = largest_shift(exponent=exponent, pairs=pairs, epsilon=level, delta=2e-6)
        return [(np.array([shift]), {"exponent": exponent})]

    curators = [replace(BEST, choices=partial(choice, exponent=exponent)) for exponent in EXPONENTS]
    assert BEST.plan(problem).mse_bound == min(curator.plan(problem).mse_bound for curator in curators)


@pytest.mark.parametrize(("curator", "parameters"), [(BEST, {"exponent": 1.4}), (DISCRETE_LAPLACE, {"odds": 0.6})])
def test_other_curators_add_the_noise_of_their_law(curator, parameters):
    """Noise has density exp(-|x|^1.4), or law 0.6^|k| on whole numbers, and is divided by all users' weight, 105."""
    plan = Plan(curator.name, SMALL, "exact", 0.0, 2.0, 0.0, {"weights": (0.5, 1.0, 1.0), **parameters})
    check_simulation(curator, plan, make_sample(SMALL, 3000))
    grid = np.linspace(-30, 30, 600_001)
    density = np.exp(-(np.abs(grid) ** 1.4))
    variances = {"curator-best": (grid**2 * density).sum() / density.sum(), "curator-discrete-laplace": 1.2 / 0.4**2}
    assert curator.expected_mse(plan, np.zeros(8)) == pytest.approx(8 * variances[curator.name] / 105**2, rel=1e-6)


@pytest.mark.parametrize(("d", "s", "pairs"), [(4, 1, 1), (5, 4, 1), (6, 3, 3), (3, 3, 1)])
def test_discrete_laplace_noise_is_the_least_for_the_lowest_level(d, s, pairs):
    """The loss of 2 t counters of law odds^|k| is a sum of 2 t signs times log(1/odds)."""
    plan = DISCRETE_LAPLACE.plan(Problem(d, s, (1.0, 2.0), (300, 100), 1e-3, PLAIN))

    def delta(odds):
        minus = range(2 * pairs + 1)
        weight = [math.comb(2 * pairs, k) * odds**k / (1 + odds) ** (2 * pairs) for k in minus]
        return sum(w * max(0.0, 1 - math.e * odds ** (2 * pairs - 2 * k)) for w, k in zip(weight, minus, strict=True))

    odds = plan.parameters["odds"]
    assert delta(odds) <= 1e-3 < delta(odds * (1 - 1e-5))
