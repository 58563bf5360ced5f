"""Squared errors to tidy tables: one row per (scenario, method, m)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from segshuffle.datasets.population import Population, load_population
from segshuffle.pipeline.design import Config, Scenario
from segshuffle.pipeline.jobs import to_json
from segshuffle.studies.reproduction.planning import Plans
from segshuffle.studies.reproduction.simulate import Task, tasks_of

#: Columns of results/mse.csv, in order; results/README.md explains each.
COLUMNS = (
    "dataset",
    "n_users",
    "set_size",
    "domain_size",
    "split",
    "method",
    "blanket_per_user",
    "optimum",
    "messages_per_user",
    "mse_mean",
    "mse_stderr",
    "mse_expected",
    "mse_bound",
    "repetitions",
    "kind",
    "source",
    "parameters",
)
KEY = ["dataset", "n_users", "set_size", "split", "method", "blanket_per_user"]


class Folder(NamedTuple):
    """Where a run keeps the errors, populations and plans of its scenarios."""

    errors: Path
    populations: Path
    plans: Path

    @classmethod
    def of(cls, root: Path) -> Folder:
        """The pipeline's layout below its output folder."""
        return cls(root / "errors", root / "populations", root / "plans")


def summarise_folder(config: Config, scenario: Scenario, folder: Folder) -> pd.DataFrame:
    """Read one scenario's files and summarise them."""
    return summarise_scenario(
        config,
        scenario,
        load_population(folder.populations / f"{scenario.setting.id}.npz"),
        json.loads((folder.plans / f"{scenario.setting.id}.json").read_text(encoding="utf-8")),
        pd.read_csv(folder.errors / f"{scenario.id}.csv"),
    )


def summarise_scenario(
    config: Config, scenario: Scenario, population: Population, plans: Plans, errors: pd.DataFrame
) -> pd.DataFrame:
    """Mean, standard error and closed form of every curve point of one scenario.

    Parameters
    ----------
    errors : DataFrame
        As `run.simulate_scenario` returns it.
    """
    groups = errors.groupby(["method", "blanket_per_user", "optimum"])["squared_error"]
    rows: list[dict[str, Any]] = []
    for task in tasks_of(config, scenario, plans):
        values = groups.get_group((task.method.name, task.plan.blanket_per_user, task.optimum)).to_numpy()
        rows.append({**row_of(scenario, population, task, values), "optimum": task.optimum})
    return pd.DataFrame(rows, columns=list(COLUMNS))


def row_of(scenario: Scenario, population: Population, task: Task, values: np.ndarray[Any, Any]) -> dict[str, Any]:
    """What a table says of one curve point, from its squared errors, shape (repetitions,)."""
    return {
        "dataset": scenario.setting.dataset,
        "n_users": scenario.setting.n_users,
        "set_size": scenario.setting.set_size,
        "domain_size": scenario.setting.domain_size,
        "split": scenario.split,
        "method": task.method.name,
        "blanket_per_user": task.plan.blanket_per_user,
        "messages_per_user": task.plan.messages_per_user,
        "mse_mean": float(values.mean()),
        "mse_stderr": float(values.std(ddof=1) / np.sqrt(values.size)),
        "mse_expected": task.method.expected_mse(task.plan, population.item_counts),
        "mse_bound": task.plan.mse_bound,
        "repetitions": values.size,
        "kind": task.plan.kind,
        "source": population.source,
        "parameters": to_json(task.plan.parameters, sort_keys=True),
    }


def collect(tables: list[pd.DataFrame]) -> pd.DataFrame:
    """Stack the tables of all scenarios and check that they are complete.

    Raises
    ------
    ValueError
        If a key occurs twice or a number is missing or not finite.
    """
    table = pd.concat(tables, ignore_index=True)
    if table.duplicated([*KEY, "optimum"]).any():
        raise ValueError(
            f"rows with the same key: {table[table.duplicated([*KEY, 'optimum'])][KEY].to_dict('records')}"
        )
    numbers = table[["mse_mean", "mse_stderr", "mse_expected", "mse_bound"]].to_numpy()
    if not np.isfinite(numbers).all():
        raise ValueError("an error in the table is not finite")
    return table
