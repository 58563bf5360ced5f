"""The proven experiments: plans, tasks, table and summary."""

import functools
import json
import math
import re

import numpy as np
import pandas as pd
import pytest

from segshuffle.datasets.sampling import uniform_population
from segshuffle.plans.registry import every, methods_of
from segshuffle.reproduction.captions import entries
from segshuffle.reproduction.design import Scenario
from segshuffle.reproduction.scenarios import settings
from segshuffle.reproduction.studies import planning
from segshuffle.reproduction.studies.panels import compute as simulation
from segshuffle.reproduction.studies.panels.compute import proven_summary, setting_table, tasks_of
from segshuffle.reproduction.studies.panels.report import budgets_of, readable, summary_table
from segshuffle.reproduction.studies.planning import lineup, plan_setting, problem_of
from segshuffle.reproduction.tables import to_json
from segshuffle.seeds import stream

SLOW = "subexp-shuffle"


@pytest.fixture
def case(tiny_config, monkeypatch):
    """Return a synthetic scenario of 200 users with two points of m, without the one slow competitor."""

    def without(config, accounting):
        return {name: entry for name, entry in lineup(config, accounting).items() if name != SLOW}

    for module in (planning, simulation):
        monkeypatch.setattr(module, "lineup", without)
    tiny_config["splits"] = {"S1": tiny_config["splits"]["S1"]}
    tiny_config["datasets"]["synthetic"] = {"domain_size": 8, "n_users": [200], "set_sizes": [2]}
    tiny_config["proven"] = {"copies_max": 4, "honest_fraction": 1.0, "variants": [], "max_messages": [12, 40]}
    setting = next(s for s in settings(tiny_config) if s.dataset == "synthetic")
    population = uniform_population(domain_size=8, set_size=2, n_users=200, rng=stream(0, "population"))
    return tiny_config, Scenario(setting, "S1"), population


@functools.cache
def planned(keys, setting):
    return json.dumps(plan_setting(json.loads(keys), setting, "proven"))


def plans_of(config, scenario):
    """Return the plans, passed through JSON as the pipeline does."""
    return json.loads(planned(json.dumps(config), scenario.setting))


def run(case):
    config, scenario, population = case
    plans = plans_of(config, scenario)
    return pd.DataFrame(setting_table(population, plans, config=config, setting=scenario.setting, accounting="proven"))


def tasks(case):
    config, scenario, _ = case
    return tasks_of(config, scenario, "proven", plans_of(config, scenario))


# -- plans, tasks, table ---------------------------------------------------------------------------------------------


def test_the_line_up_is_ours_the_competitors_and_the_curators(full_config):
    found = [every()["proven", name] for name in lineup(full_config, "proven")]
    order = ["curve", "competitor", "reference"]
    assert found == [each for role in order for each in methods_of("proven", role)]
    assert tuple(lineup(full_config, "published")) == ("segmented", *full_config["competitors"]["methods"])


@pytest.mark.quick(0)
def test_tasks_are_curves_optima_and_budgets(case):
    found = {(t.method.name, t.role, t.max_messages) for t in tasks(case)}
    expected = set()
    for name, (_, rows) in planning.lineup(case[0], "proven").items():
        budgets = [12.0, 40.0] if "budget" in rows else []
        expected |= {(name, "budget", budget) for budget in budgets}
        expected |= {(name, row, None) for row in rows if row != "budget"}
        expected |= {(name, "recentred", None) for row in rows if row == "best"}
    assert found == expected
    on_the_grid = sum(role == "grid" for _, role, _ in expected)
    assert len(tasks(case)) == len(expected) + on_the_grid, "two points of the grid"
    for task in tasks(case):
        assert task.plan.method == task.method.name
        assert task.max_messages is None or task.plan.messages_per_user <= task.max_messages * (1 + 1e-12)
    assert [t.plan.blanket_per_user for t in tasks(case)[:2]] == [1.0, 10.0]


def test_what_is_proven_relies_on_the_configured_share(case):
    config, scenario, _ = case
    some = config | {"proven": config["proven"] | {"honest_fraction": 0.5}}
    assert problem_of(some, scenario.setting, "S1", "proven").honest_users == 100
    assert problem_of(some, scenario.setting, "S1") == problem_of(config, scenario.setting, "S1", "proven")


def test_table_has_the_columns_roles_and_closed_forms(case):
    config, _, population = case
    table = run(case)
    assert list(table) == list(entries()["columns"]["mse.csv"])
    assert set(table["role"]) == {"best", "recentred", "grid", "budget", "projected"}
    assert (table["max_messages"].notna() == (table["role"] == "budget")).all()
    for task, row in zip(tasks(case), table.to_dict("records"), strict=True):
        closed = task.method.expected_mse(task.plan, population.item_counts)
        if task.role == "recentred":
            of_sum = task.method.sum_variance(task.plan)
            closed -= math.nan if of_sum is None else of_sum / population.domain_size
        np.testing.assert_equal(row["mse_expected"], math.nan if task.role == "projected" else closed)
        assert row["messages_per_user"] == task.plan.messages_per_user
        assert json.loads(row["parameters"]) == json.loads(to_json(task.plan.chosen))
    assert set(table["kind"]) == {"exact", "upper"}
    assert set(table.loc[table["kind"] == "upper", "method"]) >= {"poisson-group", "curator-best"}
    assert (table["repetitions"] == config["repetitions"]).all()


@pytest.mark.quick(0)
def test_rows_have_streams_of_their_own(case):
    one = run(case)
    # the same plan under two budgets would be drawn twice, not copied; recentring cannot change a sum that is right
    drawn = one[(one["role"] != "recentred") | ~one["method"].str.startswith("subexp")]
    # where no estimate leaves [0, 1] projection is recentring
    assert drawn.loc[drawn["role"] != "projected", "mse_mean"].is_unique
    case[0]["seed"] += 1
    other = run(case)
    assert (other["mse_mean"] != one["mse_mean"]).all()


def test_projection_has_the_same_draws_and_helps_here(case):
    """With n = 200 estimates often leave [0, 1] and do not sum to s, so projecting them cannot hurt."""
    table = run(case).set_index(["method", "role"])
    projected, best = table.loc[("poisson", "projected")], table.loc[("poisson", "best")]
    assert projected["parameters"] == best["parameters"]
    assert 0 < projected["mse_mean"] < best["mse_mean"]


# -- the summary -----------------------------------------------------------------------------------------------------


PLACE = {"dataset": "synthetic", "n_users": 100, "set_size": 2, "split": "S1"}


def hand_made():
    """Make a panel whose errors have round numbers as ratios."""

    def row(method, role, error, messages, budget=math.nan):
        return {
            **PLACE,
            "accounting": "proven",
            "method": method,
            "role": role,
            "max_messages": budget,
            "mse_expected": error,
            "mse_mean": 2 * error,
            "messages_per_user": messages,
        }

    return pd.DataFrame(
        [
            row("poisson", "grid", 0.1, 1.0),
            row("poisson-copies", "grid", 0.1, 1.0),
            row("poisson-group", "best", 8.0, 9.0),
            row("poisson", "best", 2.0, 5.5),
            row("mm", "best", 7.0, 6.0),
            row("sepmm", "best", 5.0, 6.0),
            row(SLOW, "best", 6.0, 1.0),
            row("curator-weighted", "best", 1.0, 2.0),
            row("curator-uniform", "best", 1.5, 2.0),
            row("curator-best", "best", 0.8, 2.0),
            row("poisson", "recentred", 1.8, 5.5),
            row("poisson", "projected", 1.5, 5.5) | {"mse_expected": math.nan},
            row("poisson", "budget", 2.2, 7.9, 8.0),
            row("poisson-copies", "budget", 1.6, 7.5, 8.0),
            row("poisson-copies", "budget", 1.1, 39.0, 40.0),
        ]
    )


def published_table():
    errors = {"grid": 12.0, "best": 10.0, "recentred": 9.0}
    rows = [*(("segmented", *each) for each in errors.items()), ("mm", "best", 1.0)]
    return pd.DataFrame(rows, columns=["method", "role", "mse_expected"]).assign(**PLACE, accounting="published")


def test_summary_by_hand():
    summary = proven_summary(pd.concat([hand_made(), published_table()]), [8, 40])
    assert len(summary) == 1
    row = summary.iloc[0].to_dict()
    expected = {
        "published": 10.0,
        "poisson": 2.0,
        "published_over_poisson": 5.0,
        "messages_poisson": 5.5,
        "best_competitor": "sepmm",
        "competitor_over_poisson": 2.5,
        "curator_best_over_weighted": 0.8,
        "poisson_over_curator": 2.0,
        "recentred_over_poisson": 0.9,
        "projected_over_poisson": 0.75,
        "copies_8_over_curator": 1.6,
        "copies_40_over_curator": 1.1,
    }
    assert {name: row[name] for name in expected} == expected
    assert [row[name] for name in ("dataset", "n_users", "set_size", "split")] == ["synthetic", 100, 2, "S1"]


def test_the_readable_summary_by_hand():
    summary = proven_summary(pd.concat([hand_made(), published_table()]), [8, 40])
    sources = pd.DataFrame({"dataset": ["a", "b", "a"], "source": ["real", "synthetic", "real"]})
    worse = summary.assign(split="S2", published_over_poisson=7.0, copies_8_over_curator=1.5, poisson=9.0)
    lines = readable(pd.concat([summary, worse]), sources).splitlines()
    # every column is in the list of meanings, one a line, by its own name or by what comes before a comma or slash
    listed = " ".join(line.partition("*: ")[0] for line in lines if line.startswith("- *"))
    assert [title for title in summary_table(summary)[0] if re.split(",| /", title)[0] not in listed] == []
    assert lines[-1].startswith("| synthetic | 2 | 5.00x to 7.00x | 2.50x to 2.50x |")
    # the page finds the budgets in the columns again
    assert budgets_of(summary[sorted(summary, reverse=True)]) == [8.0, 40.0]
    without = hand_made().query("role != 'recentred'")
    assert math.isnan(proven_summary(pd.concat([without, published_table()]), [8])["recentred_over_poisson"][0])
    single = hand_made().query("role != 'budget' or max_messages == 8")
    both, one = (proven_summary(pd.concat([table, published_table()]), [8]) for table in (hand_made(), single))
    pd.testing.assert_frame_equal(one, both)
    # the published protocol's best may lie on its grid as well
    lower = published_table().assign(mse_expected=[9.5, 10.0, 9.0, 1.0])
    assert proven_summary(pd.concat([hand_made(), lower]), [8])["published"][0] == 9.5
