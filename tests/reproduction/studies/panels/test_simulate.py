"""Plans and simulations of a scenario: counts exact, and results that depend on roles alone."""

import functools
import json
import math

import numpy as np
import pandas as pd
import pytest

from segshuffle.datasets.sampling import uniform_population
from segshuffle.plans.listed import names_of
from segshuffle.plans.shares import level_counts
from segshuffle.protocols.segmented import Segmented
from segshuffle.reproduction.design import Scenario, Setting, blanket_grid
from segshuffle.reproduction.processors import workers
from segshuffle.reproduction.scenarios import settings
from segshuffle.reproduction.studies.panels.compute import simulate_setting, tasks_of
from segshuffle.reproduction.studies.planning import blocks_of, level_drawer, plan_setting, problem_of
from segshuffle.seeds import stream

COMPETITORS = names_of("published", "competitor")


@pytest.fixture
def case(tiny_config):
    """Return a configuration with every method, a synthetic scenario of 40 users, and its population."""
    tiny_config["competitors"]["methods"] = list(COMPETITORS)
    tiny_config["splits"] = {"S1": tiny_config["splits"]["S1"]}
    setting = next(s for s in settings(tiny_config) if s.dataset == "synthetic")
    return tiny_config, Scenario(setting, "S1"), population_of(setting)


def population_of(setting):
    return uniform_population(
        domain_size=setting.domain_size,
        set_size=setting.set_size,
        n_users=setting.n_users,
        rng=stream(0, "population"),
    )


@functools.cache
def planned(keys, setting):
    """Return the plans as JSON text; planning takes a second, and most tests here plan the same."""
    return json.dumps(plan_setting(json.loads(keys), setting, "published"))


def plans_of(config, setting):
    keys = {key: config[key] for key in ("delta_times_n", "levels", "splits", "blanket_grid", "competitors")}
    return json.loads(planned(json.dumps(keys), setting))


def simulated(config, scenario, population):
    """Return a table of squared errors, one row per repetition of every curve point."""
    setting = scenario.setting
    simulated_points = simulate_setting(config, setting, "published", population, plans_of(config, setting))
    rows = [
        (task.method.name, task.role, task.plan.blanket_per_user, repetition, error)
        for _, task, errors in simulated_points
        for repetition, error in enumerate(errors.tolist())
    ]
    return pd.DataFrame(rows, columns=["method", "role", "blanket_per_user", "repetition", "squared_error"])


def test_the_problem_is_what_the_configuration_says(full_config):
    setting = settings(full_config)[0]
    problem = problem_of(full_config, setting, "S2")
    assert problem.level_counts == (2500, 1250, 1250)
    assert problem.levels == (0.5, 1.0, 2.0)
    assert math.isclose(problem.delta, 0.01 / 5000, rel_tol=1e-15)
    assert (problem.domain_size, problem.set_size, problem.n_users) == (17, 4, 5000)


def test_plans_hold_every_curve_point_and_the_libraries_own_numbers(case):
    config, scenario, _ = case
    plans = plans_of(config, scenario.setting)
    tasks = tasks_of(config, scenario, "published", plans)
    assert [task.plan.blanket_per_user for task in tasks if task.role == "grid"] == blanket_grid(config["blanket_grid"])
    assert len(tasks) == len(blanket_grid(config["blanket_grid"])) + 2 * (1 + len(COMPETITORS))
    problem = problem_of(config, scenario.setting, "S1")
    for task in tasks[: len(blanket_grid(config["blanket_grid"]))]:
        own = Segmented(task.plan.blanket_per_user).plan(problem)
        assert tuple(task.plan.scheme.copies) == own.scheme.copies
        assert math.isclose(task.plan.mse_bound, own.mse_bound, rel_tol=1e-9)  # plans are written with ten digits
    assert {task.role for task in tasks[len(blanket_grid(config["blanket_grid"])) :]} == {"best", "recentred"}
    for role in ("best", "recentred"):
        assert [task.method.name for task in tasks if task.role == role] == ["segmented", *COMPETITORS]
    others = plan_setting(config, scenario.setting, "published", left_out=["segmented"])
    kept = {split: [each for each in plans[split] if each["plan"]["method"] != "segmented"] for split in plans}
    assert json.loads(json.dumps(others)) == kept


@pytest.mark.quick("none")
@pytest.mark.parametrize("methods", [[], ["sepmm"], ["weighted-sepmm", "mm"]], ids=lambda m: "+".join(m) or "none")
def test_results_do_not_depend_on_which_other_methods_run(case, methods):
    config, scenario, population = case
    everything = simulated(config, scenario, population)
    config["competitors"]["methods"] = methods
    some = simulated(config, scenario, population)
    kept = everything[everything["method"].isin(["segmented", *methods])]
    key = ["method", "blanket_per_user", "role", "repetition"]
    pd.testing.assert_frame_equal(
        some.sort_values(key, ignore_index=True), kept.sort_values(key, ignore_index=True), check_exact=True
    )


def test_plans_and_results_do_not_depend_on_the_number_of_threads(case):
    alone = simulated(*case)
    with workers(2):
        pd.testing.assert_frame_equal(simulated(*case), alone, check_exact=True)


CHANGES = {
    "points of the grid": {"blanket_grid": {"low": 1.0, "high": 10.0, "points": 2, "include": [2.5]}},
    "splits": {"splits": {"S2": [0.5, 0.25, 0.25], "S1": [0.25, 0.5, 0.25]}},
    "repetitions": {"repetitions": 6},
}


@pytest.mark.quick("repetitions")
@pytest.mark.parametrize("changes", CHANGES.values(), ids=CHANGES)
def test_results_do_not_depend_on_what_is_added(case, changes):
    """More repetitions in whole blocks keep the first ones."""
    config, scenario, population = case
    config["repetitions"], config["repetition_block"] = 4, 2
    few, more = (simulated(each, scenario, population) for each in (config, config | changes))
    assert len(more) > len(few)
    kept = more[(more["blanket_per_user"] != 2.5) & (more["repetition"] < 4)].tail(len(few))
    pd.testing.assert_frame_equal(kept.reset_index(drop=True), few, check_exact=True)


def drawn_levels(config, scenario, population, **changed):
    config = {**config, **changed}
    draw = level_drawer(config, scenario, population)
    return np.concatenate([draw(block).level_item_counts for block in blocks_of(config, population)])


@pytest.fixture(params=[40, 400], ids=["users", "sets"])
def drawn_case(case, request):
    """Return the case, and the case of so many users that levels are drawn for each of the 70 sets of 4 items of 8."""
    setting = Setting("synthetic", request.param, 4, 8)
    return case[0], Scenario(setting, "S1"), population_of(setting)


@pytest.mark.parametrize("shares", [[0.25, 0.5, 0.25], [0.5, 0.25, 0.25], [0.33, 0.33, 0.34], [0.0, 1.0, 0.0]], ids=str)
def test_drawn_levels_have_exact_counts_and_all_users(drawn_case, shares):
    config, scenario, population = drawn_case
    counts = level_counts(population.n_users, shares)
    drawn = drawn_levels(config, scenario, population, splits={scenario.split: shares}, repetitions=20)
    assert drawn.shape == (20, 3, population.domain_size)
    assert (drawn.sum(axis=1) == population.item_counts).all(), "every user is in one level"
    assert (drawn.sum(axis=2) == np.array(counts) * population.set_size).all(), "levels have their exact size"
    assert (len({draw.tobytes() for draw in drawn}) == 20) == (1.0 not in shares), "every repetition is a new draw"


def test_levels_are_given_to_users_at_random(drawn_case):
    """The holders of an item at a level have the mean n_j n_k/n, and with those of another item the covariance of draws
    without replacement."""
    config, scenario, population = drawn_case
    n, repetitions = population.n_users, 4000
    drawn = drawn_levels(config, scenario, population, repetitions=repetitions)
    held = (population.items[:, :, None] == np.arange(population.domain_size)).any(axis=1).astype(float)
    holders = held.sum(axis=0)
    for k, n_k in enumerate(level_counts(n, config["splits"]["S1"])):
        share = n_k / n
        deviations = drawn[:, k] - holders * share
        covariance = share * (1 - share) * n / (n - 1) * (held.T @ held - np.outer(holders, holders) / n)
        products = deviations[:, :, None] * deviations[:, None, :]
        for found, expected in ((deviations, 0.0), (products, covariance)):
            z = (found.mean(axis=0) - expected) / (found.std(axis=0) / math.sqrt(repetitions))
            # 3 levels x (8 + 36) comparisons: one beyond 5 standard errors has probability below 1e-4
            assert np.abs(z).max() < 5
