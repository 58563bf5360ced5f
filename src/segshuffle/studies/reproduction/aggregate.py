"""Squared errors to tidy tables: one row per (scenario, accounting, method, role, m)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from segshuffle.arrays import FloatArray
from segshuffle.datasets.population import Population
from segshuffle.pipeline.design import Config, Scenario
from segshuffle.pipeline.jobs import to_json
from segshuffle.protocols.recentring import recentred_mse
from segshuffle.studies.reproduction.columns import COLUMNS
from segshuffle.studies.reproduction.planning import Plans
from segshuffle.studies.reproduction.simulation import Task, simulate_scenario

PANEL = ["dataset", "n_users", "set_size", "split"]
KEY = ["accounting", *PANEL, "method", "role", "max_messages", "blanket_per_user"]


def panel_table(
    population: Population,
    plans: Plans,
    competitors: Plans | None = None,
    *,
    config: Config,
    scenario: Scenario,
    accounting: str,
    code: Mapping[str, str],
    folder: str,
) -> pd.DataFrame:
    """Simulate one panel under one accounting: rows of results/mse.csv.

    Parameters
    ----------
    plans, competitors : dict
        Plans of its setting, as `plan_setting` makes them.
    code, folder : mapping, str
        As in `planning.kept_of`: squared errors of a method are kept there.
    """
    split = scenario.split
    every = {split: [*plans[split], *((competitors or {}).get(split, []))]}
    found = simulate_scenario(config, scenario, accounting, population, every, code=code, folder=folder)
    return summarise(scenario, accounting, population, found)


def summarise(
    scenario: Scenario, accounting: str, population: Population, found: Sequence[tuple[Task, FloatArray]]
) -> pd.DataFrame:
    """Mean, standard error and closed form of every curve point of one scenario: rows of results/mse.csv.

    Parameters
    ----------
    found : sequence of (Task, ndarray)
        As `simulate.simulate_scenario` returns it.
    """
    rows = [_row(scenario, accounting, population, task, values) for task, values in found]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _row(scenario: Scenario, accounting: str, population: Population, task: Task, values: FloatArray) -> dict[str, Any]:
    """What the table says of one curve point, from its squared errors, shape (repetitions,)."""
    return {
        "accounting": accounting,
        "dataset": scenario.setting.dataset,
        "n_users": scenario.setting.n_users,
        "set_size": scenario.setting.set_size,
        "domain_size": scenario.setting.domain_size,
        "split": scenario.split,
        "method": task.method.name,
        "role": task.role,
        "max_messages": math.nan if task.max_messages is None else task.max_messages,
        "blanket_per_user": task.plan.blanket_per_user,
        "messages_per_user": task.plan.messages_per_user,
        "mse_mean": float(values.mean()),
        "mse_stderr": float(values.std(ddof=1) / np.sqrt(values.size)),
        "mse_expected": _closed_form(task, population),
        "mse_bound": task.plan.mse_bound,
        "repetitions": values.size,
        "kind": task.plan.kind,
        "source": population.source,
        "parameters": to_json(task.plan.parameters, sort_keys=True),
    }


def _closed_form(task: Task, population: Population) -> float:
    """Expected squared error; nan where none is known, as after projection."""
    if task.role == "projected":
        return math.nan
    if task.role == "recentred":
        found = recentred_mse(task.method, task.plan, population.item_counts)
        return math.nan if found is None else found
    return task.method.expected_mse(task.plan, population.item_counts)


def checked(table: pd.DataFrame) -> pd.DataFrame:
    """Check that the table of all panels is complete.

    Raises
    ------
    ValueError
        If a key occurs twice or a number is missing or not finite.
    """
    if table.duplicated(KEY).any():
        raise ValueError(f"rows with the same key: {table[table.duplicated(KEY)][KEY].to_dict('records')}")
    unknown = table["role"].isin(["projected", "recentred"]) & table["mse_expected"].isna()
    numbers = [table["mse_mean"], table["mse_stderr"], table["mse_bound"], table.loc[~unknown, "mse_expected"]]
    if not all(np.isfinite(column).all() for column in numbers):
        raise ValueError("an error in the table is not finite")
    return table


def rows_of(table: pd.DataFrame, panel: Scenario) -> pd.DataFrame:
    """Rows of one panel."""
    setting = panel.setting
    key = [setting.dataset, setting.n_users, setting.set_size, panel.split]
    return table[(table[PANEL] == key).all(axis=1)]


def points_of(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of the methods that have one number: those at their own m that are not drawn over the grid."""
    over_grid = set(rows.loc[rows["role"] == "grid", "method"])
    return rows[(rows["role"] == "best") & ~rows["method"].isin(over_grid)]
