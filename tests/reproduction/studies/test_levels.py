"""Private levels: what is planned, measured and predicted.

Thresholds are five standard errors; fewer than 200 comparisons, so a correct simulation fails with probability below
2e-4 over the choice of the seed, and the seed is fixed.
"""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from segshuffle.accounting.collections.calibration import epsilon_upper
from segshuffle.accounting.collections.product import delta_interval
from segshuffle.blankets.poisson import ItemPair
from segshuffle.datasets.sampling import uniform_population
from segshuffle.plans.plan import PLAIN, Assumptions, Problem
from segshuffle.reproduction.design import Setting
from segshuffle.reproduction.studies.levels.compute import PlanGrid, levels_table
from segshuffle.seeds import stream

SETTING = Setting("synthetic", 1000, 3, 16)
EPSILONS = [4.0, 0.25, 1.0]
REPETITIONS = 240


def population_of(setting):
    return uniform_population(
        domain_size=setting.domain_size, set_size=setting.set_size, n_users=setting.n_users, rng=stream(0, "levels")
    )


@pytest.fixture
def config(tiny_config):
    tiny_config["repetitions"], tiny_config["repetition_block"] = 12, 5
    tiny_config["private_levels"] = {"epsilons": list(EPSILONS)}
    return tiny_config


@pytest.fixture(scope="module")
def measured():
    """Return a table with enough repetitions to be compared with its predictions."""
    config = {
        "seed": 5,
        "repetitions": REPETITIONS,
        "repetition_block": 100,
        "delta_times_n": 0.01,
        "levels": [0.5, 1.0, 2.0],
        "proven": {"honest_fraction": 1.0},
        "splits": {"S1": [0.25, 0.5, 0.25], "S2": [0.5, 0.25, 0.25], "S3": [0.25, 0.25, 0.5]},
        "private_levels": {"epsilons": EPSILONS},
    }
    return levels_table(config, SETTING, population_of(SETTING))


def problem(counts, *, domain_size=16, set_size=3, levels=(0.5, 1.0, 2.0), delta=1e-5):
    return Problem(domain_size, set_size, levels, counts, delta, PLAIN)


# ----------------------------------------------------------------------------------------------------------------------
# Planning
# ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.quick(0)
@pytest.mark.parametrize("honest_fraction", [1.0, 0.5])
def test_every_choice_is_within_the_accountant_s_limits(honest_fraction):
    case = replace(problem((250, 500, 250)), assumptions=Assumptions("exactly", honest_fraction=honest_fraction))
    grid = PlanGrid.of(case)
    for index in (0, 40, len(grid.blankets) - 1):
        mean = honest_fraction * case.n_users * grid.blankets[index] / case.domain_size
        for level, limit in zip(case.levels, grid.limits[index], strict=True):
            assert epsilon_upper([(ItemPair(mean, limit), 3)], delta=case.delta) <= level * (1 + 1e-3)
    [found] = grid.choose(case, [case.level_counts])
    at = np.flatnonzero(grid.blankets == found.blanket_per_user)
    assert at.size == 1
    assert (np.array(found.scheme.copies) <= grid.limits[at[0]]).all()


# ----------------------------------------------------------------------------------------------------------------------
# Measured and predicted
# ----------------------------------------------------------------------------------------------------------------------


def test_errors_are_as_expected_given_round_1(measured):
    z = (measured["mse_mean"] - measured["mse_expected"]) / measured["mse_stderr"]
    assert (z.abs() < 5).all()
    assert (z**2).mean() < 3


def test_errors_are_as_predicted_without_repetitions(measured):
    """The expected error given round 1 is so precise that it agrees with the prediction to a percent."""
    private = measured[measured["epsilon_levels"] >= 1.0]
    assert ((private["mse_mean"] - private["mse_predicted"]).abs() < 5 * private["mse_stderr"]).all()
    np.testing.assert_allclose(private["mse_expected"], private["mse_predicted"], rtol=0.01)
    exact = measured[np.isinf(measured["epsilon_levels"])]
    np.testing.assert_allclose(exact["mse_expected"], exact["mse_predicted"], rtol=1e-12)


def test_the_error_falls_to_that_of_the_exact_histogram(measured):
    for _, rows in measured.groupby("split"):
        predicted = rows["mse_predicted"].to_numpy()
        assert (np.diff(predicted) <= 0).all()
        assert predicted[-2] <= predicted[-1] * 1.01
        assert rows["blanket_levels"].is_monotonic_decreasing
        assert rows["blanket_levels"].iloc[-1] == 0.0
    # the smallest epsilon_p costs something somewhere: otherwise the comparisons above would mean nothing
    low = measured[measured["epsilon_levels"] == 0.25]["mse_predicted"].to_numpy()
    exact = measured[np.isinf(measured["epsilon_levels"])]["mse_predicted"].to_numpy()
    assert (low / exact).max() > 1.01


def test_noisy_counts_make_estimates_too_large_by_their_relative_variance(measured):
    private = measured[np.isfinite(measured["epsilon_levels"]) & (measured["bias_predicted"] > 1e-12)]
    assert len(private) >= 3
    assert (private["bias_fixed_plan"] > 0).all()
    ratio = private["bias_fixed_plan"] / private["bias_predicted"]
    # a mean of R squares of nearly Gaussian variables has a relative standard error of sqrt(2/R)
    assert ((ratio - 1).abs() < 5 * math.sqrt(2 / REPETITIONS) + 4 * private["bias_predicted"]).all()
    exact = measured[np.isinf(measured["epsilon_levels"])]
    assert (exact[["bias_mean", "bias_fixed_plan", "bias_predicted"]].abs() < 1e-12).all(axis=None)


def test_guarantees_are_sums_rounded_up(measured):
    for row in measured.to_dict("records"):
        if math.isinf(row["epsilon_levels"]):
            assert math.isinf(row["total_epsilon"])
            assert row["total_delta"] == 1e-5
            continue
        # the most liberal level's number for everybody: anybody may be taken for one of them
        liberal = row["epsilon_levels"] + 2.0
        assert liberal <= row["total_epsilon"] <= liberal * (1 + 1e-12)
        assert 2e-5 <= row["total_delta"] <= 2e-5 * (1 + 1e-12)
        spent = ItemPair(1000 * row["blanket_levels"] / 3, 1.0)
        assert delta_interval(spent, pairs=1, epsilon=row["epsilon_levels"]).upper <= row["delta_levels"] * (1 + 1e-9)


# ----------------------------------------------------------------------------------------------------------------------
# Streams
# ----------------------------------------------------------------------------------------------------------------------


def table_of(config):
    setting = Setting("synthetic", 80, 2, 8)
    return levels_table(config, setting, population_of(setting))


@pytest.mark.quick(0)
def test_results_do_not_depend_on_the_other_epsilons_and_splits(config):
    everything = table_of(config)
    config["private_levels"]["epsilons"] = [1.0]
    del config["splits"]["S2"]
    some = table_of(config)
    kept = everything[(everything["split"] != "S2") & everything["epsilon_levels"].isin([1.0, math.inf])]
    pd.testing.assert_frame_equal(some, kept.reset_index(drop=True), check_exact=True)


# ----------------------------------------------------------------------------------------------------------------------
# Copies
# ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.quick("0.3", "0.001")
@pytest.mark.parametrize("blanket", [0.001, 0.3, 30.0])
def test_copies_of_a_grid_point_have_the_least_error(blanket):
    """Few users who may send hardly anything: whether their own sampling is worth it depends on the other noise."""
    d, s, few, many = 5, 4, 10, 1000
    problem = Problem(d, s, (0.5, 2.0), (few, many), 1e-6, PLAIN)
    _, plan = PlanGrid(np.array([blanket]), np.array([[0.1, 1.0]])).choose(problem, [(many, few), (few, many)])
    copies = plan.scheme.copies
    assert plan.blanket_per_user == blanket
    first, second = np.meshgrid(np.linspace(0.0, 0.1, 201), np.linspace(0.0, 1.0, 401))

    def error(a, b):
        n, weight = few + many, few * a + many * b
        own = s * (few * a * (1 - a) + many * b * (1 - b))
        spread = (s - s * s / d) * n / (n - 1) * (few * a * a + many * b * b - weight**2 / n)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(weight > 0, (n * blanket + own + spread) / weight**2, np.inf)

    assert plan.kind == ("exact" if set(copies) <= {0.0, 1.0} else "upper"), "whole copies show no sampling of others"
    assert error(*copies) <= error(first, second).min() * (1 + 1e-9)
    assert (copies[0] == 0.0) == (blanket < 30.0)
