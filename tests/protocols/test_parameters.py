"""The searched parameters: no blanket on a dense grid has less error, weights and subset sizes are as published."""

import math

import numpy as np
import pytest
from given_plans import MSNBC, separate_plan
from simulations import check_simulation, make_sample

from segshuffle.plans.plan import PLAIN, Problem
from segshuffle.protocols.balls_into_bins import BallsIntoBins
from segshuffle.protocols.segmented import (
    least_blankets,
    optimize_parameters,
    plan_at,
    sampling_rates,
)
from segshuffle.protocols.subset_exponential import Report, SubsetExponential

MSNBC_S3_LARGE = Problem(17, 4, (0.5, 1.0, 2.0), (12_500, 12_500, 25_000), 0.01 / 50_000, PLAIN)
SYNTHETIC_S2 = Problem(128, 4, (0.5, 1.0, 2.0), (2500, 1250, 1250), 0.01 / 5000, PLAIN)
SMALL = Problem(9, 2, (0.5, 2.0), (120, 80), 1e-4, PLAIN)
PROBLEMS = {"small": SMALL, "msnbc S1": MSNBC, "msnbc S3, n = 50000": MSNBC_S3_LARGE, "synthetic S2": SYNTHETIC_S2}


def test_bound_by_hand():
    """N = 2 * 0.5 + 3 * 1 = 4, n m = 5 * 1.5: (7.5 + 2 * 4)/16."""
    problem = Problem(6, 2, (0.5, 1.0), (2, 3), 1e-3, PLAIN)
    plan = plan_at(problem, 1.5, (0.5, 1.0))
    assert plan.mse_bound == 15.5 / 16
    assert plan.messages_per_user == pytest.approx(1.5 + 2 * 4 / 5, rel=1e-15)


@pytest.mark.quick(0)
@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [name if name == "small" else pytest.param(name, marks=pytest.mark.exhaustive) for name in PROBLEMS]
)
def test_optimum_is_not_beaten_on_a_dense_grid(name):
    problem = PROBLEMS[name]
    plan = optimize_parameters(problem)
    blankets = least_blankets(problem)
    low, high = min(blankets), max(blankets)
    assert low * (1 - 1e-9) <= plan.blanket_per_user <= high * (1 + 1e-9)
    grid = np.geomspace(low, high, 12 if problem is SMALL else 20)
    # the bound may jump at integers: both sides of each
    integers = np.arange(math.ceil(low), min(math.floor(high), 10) + 1)
    grid = np.concatenate([grid, integers, integers * (1 + 1e-6)])
    bounds = [plan_at(problem, m).mse_bound for m in grid[(grid >= low) & (grid <= high)]]
    assert len(bounds) >= 10
    assert plan.mse_bound <= 1.005 * min(bounds)
    # and the choice of the blanket matters
    assert plan.mse_bound < 0.9 * max(bounds)
    assert plan.scheme.copies == sampling_rates(problem, plan.blanket_per_user)


@pytest.mark.quick(0)
def test_least_blankets_are_those_at_which_a_level_sends_everything():
    blankets = least_blankets(MSNBC)
    assert list(blankets) == sorted(blankets, reverse=True)
    for k, m in enumerate(blankets):
        # the search for m is 0.05 % safe, so that all is sent at m itself and not at 1 % less
        assert sampling_rates(MSNBC, m)[k] == 1.0
        assert sampling_rates(MSNBC, 0.99 * m)[k] < 1.0


# -- subset size -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("d", "s"), [(17, 4), (128, 8), (9, 1), (5, 4)])
@pytest.mark.parametrize("local_epsilon", [0.5, 2.0, 4.0])
def test_subset_size_has_the_least_error(d, s, local_epsilon):
    problem = Problem(d, s, (0.5,), (1000,), 1e-5, PLAIN)
    errors = {
        k: Report(domain_size=d, set_size=s, subset_size=k, local_epsilon=local_epsilon).error(1000, d, s)
        for k in range(1, d - s + 1)
    }
    plan = SubsetExponential(local_epsilon=local_epsilon).plan(problem)
    assert plan.mse_bound == pytest.approx(min(errors.values()), rel=1e-12)
    assert errors[plan.parameters["subset_size"]] == pytest.approx(min(errors.values()), rel=1e-12)


@pytest.mark.quick(0)
def test_shuffled_subset_size_has_the_least_error_of_all_sizes():
    problem = Problem(17, 4, (0.5, 2.0), (3000, 2000), 0.01 / 5000, PLAIN)
    best = SubsetExponential().plan(problem)
    errors = [SubsetExponential(subset_size=k).plan(problem).mse_bound for k in range(1, 14)]
    assert best.mse_bound == min(errors)
    assert best.parameters["local_epsilon"] > 0.5  # shuffling amplifies


def test_closed_form_blankets_and_the_weights_that_follow_from_them():
    """m_k = 32 ln(2/delta') d/(eps'^2 n_k) with eps' = E_k/s and delta' = delta/(s e^E_k)."""
    levels, counts, d, s, delta = np.array([0.5, 1.0, 2.0]), np.array([1250, 2500, 1250]), 17, 4, 2e-6
    blankets = 32 * np.log(2 * s * np.exp(levels) / delta) * d * s**2 / (levels**2 * counts)
    problem = Problem(d, s, tuple(levels), tuple(counts.tolist()), delta, PLAIN)
    raws = {
        "sepmm": np.ones(3),
        "weighted-sepmm": 1 / np.sqrt(d * s**2 * math.log(1 / delta) / (counts * levels) ** 2 + s / counts),
        "inverse-variance-sepmm": counts / (blankets + s),
    }
    for name, raw in raws.items():
        plan = BallsIntoBins("closed-form", name).plan(problem)
        weights = raw / raw.sum()
        sent = [(each.announcement.blanket_per_user, each.weight) for each in plan.collections]
        assert np.array(sent) == pytest.approx(np.column_stack([blankets, weights]), rel=1e-9)
        assert plan.mse_bound == pytest.approx(float((weights**2 * (blankets + s) / counts).sum()), rel=1e-9)
        assert plan.messages_per_user == pytest.approx(float(counts @ blankets) / 5000 + s, rel=1e-9)
    bounds = [BallsIntoBins("closed-form", name).plan(problem).mse_bound for name in raws]
    assert bounds[2] < min(bounds[:2])
    # with the number of all users, the weights depend on the epsilons alone
    raw = 1 / np.sqrt(d * s**2 * math.log(1 / delta) / (5000 * levels) ** 2 + s / 5000)
    plan = BallsIntoBins("closed-form", "weighted-sepmm", "all").plan(problem)
    assert [each.weight for each in plan.collections] == pytest.approx(raw / raw.sum(), rel=1e-9)
    plan = BallsIntoBins("closed-form").plan(problem)
    assert plan.blanket_per_user == pytest.approx(blankets[0] * 1250 / 5000, rel=1e-9)


@pytest.mark.parametrize("counts", [(1, 30), (30, 1), (0, 31)])
def test_a_level_that_one_user_has_counts(counts):
    problem = Problem(5, 2, (0.5, 1.0), counts, 0.01, PLAIN)
    plan = separate_plan(problem, (1.5, 2.5), (0.25, 0.75) if counts[0] else (0.0, 1.0))
    check_simulation(BallsIntoBins(name="sepmm"), plan, make_sample(problem, 4000))
