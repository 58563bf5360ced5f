"""The tidy table: means and standard errors by hand, complete, and exact through CSV."""

import functools
import io
import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from segshuffle.datasets.population import save_population
from segshuffle.datasets.populations import uniform_population
from segshuffle.pipeline.design import Scenario
from segshuffle.pipeline.jobs import to_csv
from segshuffle.pipeline.scenarios import settings
from segshuffle.pipeline.seeds import stream
from segshuffle.studies.reproduction.aggregate import COLUMNS, Folder, collect, summarise_folder, summarise_scenario
from segshuffle.studies.reproduction.planning import plan_setting
from segshuffle.studies.reproduction.simulate import simulate_scenario, tasks_of


@functools.cache
def planned(keys, setting):
    """JSON text of the plans; planning takes a second, and all tests here plan the same."""
    return json.dumps(plan_setting(json.loads(keys), setting))


@pytest.fixture
def case(tiny_config):
    tiny_config["splits"] = {"S2": tiny_config["splits"]["S2"]}
    setting = next(s for s in settings(tiny_config) if s.dataset == "synthetic")
    population = uniform_population(domain_size=8, set_size=2, n_users=setting.n_users, rng=stream(0, "p"))
    scenario = Scenario(setting, "S2")
    plans = json.loads(planned(json.dumps(tiny_config), setting))
    return tiny_config, scenario, population, plans, simulate_scenario(tiny_config, scenario, population, plans)


def test_columns_are_those_of_the_guide(case):
    table = summarise_scenario(*case)
    assert tuple(table) == COLUMNS


def test_means_and_standard_errors_are_those_of_the_rows(case):
    config, scenario, population, plans, errors = case
    table = summarise_scenario(config, scenario, population, plans, errors)
    assert len(table) == len(tasks_of(config, scenario, plans))
    for row in table.to_dict("records"):
        values = errors[
            (errors["method"] == row["method"])
            & (errors["blanket_per_user"] == row["blanket_per_user"])
            & (errors["optimum"] == row["optimum"])
        ]["squared_error"].tolist()
        n = len(values)
        mean = math.fsum(values) / n
        stderr = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (n - 1) / n)
        assert row["repetitions"] == n == config["repetitions"]
        assert math.isclose(row["mse_mean"], mean, rel_tol=1e-12)
        assert math.isclose(row["mse_stderr"], stderr, rel_tol=1e-9)


def test_closed_forms_and_parameters_are_those_of_the_plans(case):
    config, scenario, population, plans, errors = case
    table = summarise_scenario(config, scenario, population, plans, errors)
    for task, row in zip(tasks_of(config, scenario, plans), table.to_dict("records"), strict=True):
        assert row["mse_expected"] == task.method.expected_mse(task.plan, population.item_counts)
        assert row["mse_bound"] == task.plan.mse_bound
        assert row["messages_per_user"] == task.plan.messages_per_user
        assert row["kind"] == task.plan.kind
        assert json.loads(row["parameters"]) == json.loads(json.dumps(task.plan.parameters))
    assert set(table["source"]) == {"synthetic"}
    assert table["optimum"].sum() == 1


def test_order_of_the_rows_of_errors_does_not_matter(case):
    *rest, errors = case
    shuffled = errors.sample(frac=1, random_state=1)
    one, two = summarise_scenario(*rest, errors), summarise_scenario(*rest, shuffled)
    # sums in another order may differ in the last digits
    pd.testing.assert_frame_equal(one, two, rtol=1e-12)


def test_files_give_the_same_table(case, tmp_path):
    config, scenario, population, plans, errors = case
    folder = Folder.of(tmp_path)
    for path in folder:
        path.mkdir()
    (folder.errors / f"{scenario.id}.csv").write_text(to_csv(errors))
    (folder.plans / f"{scenario.setting.id}.json").write_text(json.dumps(plans))
    save_population(folder.populations / f"{scenario.setting.id}.npz", population)
    pd.testing.assert_frame_equal(
        summarise_folder(config, scenario, folder),
        summarise_scenario(config, scenario, population, plans, errors),
        check_exact=True,
    )


def test_folders_are_those_of_the_pipeline():
    assert Folder.of(Path("results")) == (Path("results/errors"), Path("results/populations"), Path("results/plans"))


def test_a_method_without_rows_is_a_failure(case):
    *rest, errors = case
    with pytest.raises(KeyError):
        summarise_scenario(*rest, errors[errors["method"] != "mm"])


def test_tables_are_stacked(case):
    table = summarise_scenario(*case)
    other = table.assign(n_users=1)
    both = collect([table, other])
    assert len(both) == 2 * len(table)
    assert list(both.index) == list(range(len(both)))


def test_a_panel_that_comes_twice_is_refused(case):
    table = summarise_scenario(*case)
    with pytest.raises(ValueError, match="same key"):
        collect([table, table])


@pytest.mark.parametrize("column", ["mse_mean", "mse_stderr", "mse_expected", "mse_bound"])
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_number_that_is_not_finite_is_refused(case, column, value):
    table = summarise_scenario(*case)
    table.loc[3, column] = value
    with pytest.raises(ValueError, match="not finite"):
        collect([table])


def test_numbers_survive_csv_exactly():
    """A curve point is found again by its m: a float that changed in the last digit would be lost."""
    values = np.exp(np.random.default_rng(0).uniform(-30, 30, 20_000))
    text = to_csv(pd.DataFrame({"x": values}))
    assert (pd.read_csv(io.StringIO(text))["x"].to_numpy() == values).all()
    assert text.endswith("\n")
    assert "\r" not in text
