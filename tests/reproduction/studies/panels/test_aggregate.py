"""The tidy table: means and standard errors by hand, complete, and exact through CSV."""

import functools
import io
import json
import math

import numpy as np
import pandas as pd
import pytest

from segshuffle.datasets.sampling import uniform_population
from segshuffle.reproduction.scenarios import settings
from segshuffle.reproduction.studies.panels.compute import checked, setting_table, simulate_setting
from segshuffle.reproduction.studies.panels.postprocessing import recentred_mse
from segshuffle.reproduction.studies.planning import plan_setting
from segshuffle.reproduction.tables import to_csv, to_json
from segshuffle.seeds import stream


@functools.cache
def planned(keys, setting):
    """Return the plans as JSON text; planning takes a second, and all tests here plan the same."""
    return json.dumps(plan_setting(json.loads(keys), setting, "published"))


@pytest.fixture
def case(tiny_config):
    tiny_config["splits"] = {"S2": tiny_config["splits"]["S2"]}
    setting = next(s for s in settings(tiny_config) if s.dataset == "synthetic")
    population = uniform_population(domain_size=8, set_size=2, n_users=setting.n_users, rng=stream(0, "p"))
    plans = json.loads(planned(json.dumps(tiny_config), setting))
    found = simulate_setting(tiny_config, setting, "published", population, plans)
    table = pd.DataFrame(setting_table(population, plans, config=tiny_config, setting=setting, accounting="published"))
    return population, found, table


def test_means_and_standard_errors_are_those_of_the_rows(case, tiny_config):
    _, found, table = case
    for (_, task, errors), row in zip(found, table.to_dict("records"), strict=True):
        assert (row["method"], row["role"]) == (task.method.name, task.role)
        values, n = errors.tolist(), len(errors)
        mean = math.fsum(values) / n
        stderr = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (n - 1) / n)
        assert row["repetitions"] == n == tiny_config["repetitions"]
        assert math.isclose(row["mse_mean"], mean, rel_tol=1e-12)
        assert math.isclose(row["mse_stderr"], stderr, rel_tol=1e-9)


def test_closed_forms_and_parameters_are_those_of_the_plans(case):
    population, found, table = case
    for (_, task, _), row in zip(found, table.to_dict("records"), strict=True):
        closed = recentred_mse if task.role == "recentred" else type(task.method).expected_mse
        assert row["mse_expected"] == closed(task.method, task.plan, population.item_counts)
        assert row["mse_bound"] == task.plan.mse_bound
        assert row["messages_per_user"] == task.plan.messages_per_user
        assert (row["kind"], row["role"]) == (task.plan.kind, task.role)
        parameters = json.loads(row["parameters"])
        assert parameters == json.loads(to_json(task.plan.chosen))
        assert list(parameters) == sorted(parameters), "equal plans have equal text"
    assert set(table["source"]) == {"synthetic"}
    assert set(table["accounting"]) == {"published"}
    ours = table[table["method"] == "segmented"]
    assert (ours["role"] == "best").sum() == 1


@pytest.mark.quick(4)
@pytest.mark.parametrize("column", ["mse_mean", "mse_stderr", "mse_expected", "mse_bound"])
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_number_that_is_not_finite_is_refused(case, column, value):
    *_, table = case
    table.loc[0, column] = value
    with pytest.raises(ValueError, match="not finite"):
        checked(table)


def test_numbers_survive_csv_with_ten_digits_and_change_no_more():
    """What was written once is written the same again, so that a point of a curve is found by its m."""
    values = np.exp(np.random.default_rng(0).uniform(-30, 30, 20_000))
    text = to_csv(pd.DataFrame({"x": values}))
    back = pd.read_csv(io.StringIO(text))
    np.testing.assert_allclose(back["x"], values, rtol=5.1e-10, atol=0)
    assert to_csv(back) == text
    assert text.endswith("\n")
    assert "\r" not in text
