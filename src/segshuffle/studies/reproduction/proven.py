"""Simulations of the proven protocols: own plans and table, the published ones are left untouched."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from segshuffle.datasets.population import Population
from segshuffle.pipeline.design import Config, Scenario
from segshuffle.protocols.base import Method, Plan
from segshuffle.studies.reproduction.aggregate import row_of
from segshuffle.studies.reproduction.planning import Plans, problem_of
from segshuffle.studies.reproduction.proven_planning import curve_methods, point_methods
from segshuffle.studies.reproduction.simulate import Task, simulate_tasks

COLUMNS = (
    "dataset",
    "n_users",
    "set_size",
    "domain_size",
    "split",
    "method",
    "role",
    "max_messages",
    "blanket_per_user",
    "messages_per_user",
    "mse_mean",
    "mse_stderr",
    "mse_expected",
    "repetitions",
    "kind",
    "source",
    "parameters",
)


def tasks_tight(config: Config, scenario: Scenario, plans: Plans) -> list[Task]:
    """Every point of a scenario, in a fixed order."""
    problem = problem_of(config, scenario.setting, scenario.split)
    curves: Mapping[str, Method] = curve_methods(config)
    methods = {**curves, **point_methods()}
    mine = plans[scenario.split]
    tasks = [
        Task(methods[name], Plan.from_dict(problem, plan), False)
        for name, points in mine["grid"].items()
        for plan in points
    ]
    tasks += [Task(methods[name], Plan.from_dict(problem, plan), True) for name, plan in mine["best"].items()]
    # the same plan and the same random stream as "best": the difference is the projection's alone
    tasks.append(Task(methods["tight"], Plan.from_dict(problem, mine["best"]["tight"]), True, projected=True))
    tasks += [
        Task(methods[name], Plan.from_dict(problem, plan), True, float(budget))
        for name, points in mine["budget"].items()
        for budget, plan in points.items()
    ]
    return tasks


def run_tight(
    config: Config, scenario: Scenario, population: Population, plans: Plans, *, n_jobs: int = 1
) -> pd.DataFrame:
    """Simulate every point of a scenario and summarise it: one row per method, role and m."""
    tasks = tasks_tight(config, scenario, plans)
    errors = simulate_tasks(config, scenario, population, tasks, n_jobs=n_jobs)
    rows = [_row(scenario, population, task, values) for task, values in zip(tasks, errors, strict=True)]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _row(scenario: Scenario, population: Population, task: Task, values: np.ndarray[Any, Any]) -> dict[str, Any]:
    role = "budget" if task.max_messages is not None else ("best" if task.optimum else "grid")
    budget = math.nan if task.max_messages is None else task.max_messages
    row = {**row_of(scenario, population, task, values), "role": role, "max_messages": budget}
    # no closed form is known for the error after projection
    return {**row, "role": "projected", "mse_expected": math.nan} if task.projected else row
