"""The trusted curator: closed form, weights, calibration; and how close the shuffled protocol comes to it."""

import math
from itertools import pairwise

import numpy as np
import pytest
from plans import SMALL
from protocols.simulations import check_simulation, make_sample

from segshuffle.accounting.numerics.gaussian import gaussian_ratio
from segshuffle.protocols.base import PLAIN, Plan, Problem, uniform_item_counts
from segshuffle.protocols.central import BEST, DISCRETE_LAPLACE, UNIFORM, WEIGHTED
from segshuffle.protocols.proven import ProvenSegmented

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


def test_nothing_to_hide():
    """With s = d all sets are equal; the curator still answers."""
    problem = Problem(4, 4, (0.5, 2.0), (30, 10), 1e-5, PLAIN)
    assert 0 < CURATORS["weighted"].plan(problem).mse_bound < math.inf


# -- the shuffled protocol against the curator, one level ------------------------------------------------------------

SETTINGS = [
    (17, 4, 5000, 100),
    (128, 8, 50_000, 100),
    pytest.param(128, 1, 1_000_000, 100, marks=pytest.mark.exhaustive),
]
LEVELS = (4.0, 2.0, 1.0, 0.5, 0.25, 0.1)


@pytest.mark.quick(0)
@pytest.mark.slow
@pytest.mark.parametrize(("d", "s", "n", "large_from"), SETTINGS)
def test_one_level_reaches_the_curator_where_counters_are_large(d, s, n, large_from):
    """Within 5 % where n m/d >= 100.

    With sampling and with copies the ratio of errors falls to 1 as n m/d grows, within the planner's 0.1 %.
    """
    curves = {1.0: [], 4.0: []}
    for level in LEVELS:
        problem = Problem(d, s, (level,), (n,), 0.01 / n, PLAIN)
        items = uniform_item_counts(problem)
        reference = WEIGHTED.expected_mse(WEIGHTED.plan(problem), items)
        for copies_max, curve in curves.items():
            method = ProvenSegmented(copies_max=copies_max)
            plan = method.plan(problem)
            curve.append((n * plan.blanket_per_user / d, method.expected_mse(plan, items) / reference))
    for curve in curves.values():
        _, ratios = zip(*sorted(curve), strict=True)
        assert all(later <= 1.001 * earlier for earlier, later in pairwise(ratios))
        assert min(ratios) > 0.999
        assert ratios[-1] < 1.005
        large = [ratio for mean, ratio in curve if mean >= large_from]
        assert len(large) >= 3
        assert max(large) <= 1.05
    # copies help, most where counters are small, and hurt nowhere
    assert all(c[1] < 1.001 * o[1] for c, o in zip(curves[4.0], curves[1.0], strict=True))


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
