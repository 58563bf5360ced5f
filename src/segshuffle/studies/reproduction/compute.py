"""Simulate every method on every panel, and tidy the squared errors up: a row per (panel, accounting, method, role, m).

Jobs are pairs of a curve point and a block of repetitions; random streams are named by what they are for.
"""

from __future__ import annotations

import functools
import hashlib
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

import joblib
import numpy as np
import pandas as pd

from segshuffle.arrays import FloatArray
from segshuffle.datasets.population import Population
from segshuffle.pipeline.design import Config, Scenario, level_counts
from segshuffle.pipeline.jobs import to_json
from segshuffle.pipeline.progress import parallel
from segshuffle.pipeline.seeds import stream
from segshuffle.protocols.base import Method, Plan, Sample
from segshuffle.protocols.projection import project
from segshuffle.protocols.recentring import can_recentre, recentred, recentred_mse
from segshuffle.studies.planning import Plans, draw_levels, kept_of, lineup, problem_of

#: What is done to the estimates of "best" in a role of its own.
_AFTERWARDS = {"recentred": recentred, "projected": project}


class Task(NamedTuple):
    """One curve point: a method with its plan.

    `role` is one of `planning.ROLES`, `max_messages` the budget of the search (None: no budget); "recentred" and
    "projected" change the estimates afterwards, which no other number of the reproduction does.
    """

    method: Method
    plan: Plan
    role: str
    max_messages: float | None = None


def tasks_of(config: Config, scenario: Scenario, accounting: str, plans: Plans) -> list[Task]:
    """List every curve point of a scenario under one accounting, in a fixed order."""
    problem = problem_of(config, scenario.setting, scenario.split, accounting)
    entries = lineup(config, accounting)
    tasks = []
    for point in plans[scenario.split]:
        plan = Plan.from_dict(problem, point["plan"])
        method, roles = entries[plan.method]
        tasks.append(Task(method, plan, point["role"], point["max_messages"]))
        if point["role"] == "best" and config["recentring"] and can_recentre(problem):
            tasks.append(Task(method, plan, "recentred"))
        if point["role"] == "best" and "projected" in roles:
            tasks.append(Task(method, plan, "projected"))
    return tasks


def simulate_scenario(
    config: Config,
    scenario: Scenario,
    accounting: str,
    population: Population,
    plans: Plans,
    *,
    code: Mapping[str, str] | None = None,
    folder: str = "",
    n_jobs: int = 1,
) -> list[tuple[Task, FloatArray]]:
    """Simulate every curve point of one scenario on common levels: squared errors, each of shape (repetitions,).

    Parameters
    ----------
    code, folder : mapping, str, optional
        As in `planning.kept_of`.
    """
    repetitions, block = config["repetitions"], config["repetition_block"]
    counts = level_counts(scenario.setting.n_users, config["splits"][scenario.split])
    drawn = functools.cache(lambda: draw_levels(config, scenario, population, counts, repetitions))

    def made(name: str, tasks: Sequence[Task]) -> str:
        jobs = []
        for task in tasks:
            for first in range(0, repetitions, block):
                sample = Sample(population.items, population.domain_size, drawn()[first : first + block])
                role = (scenario.id, accounting, name, *_role_of(task), first)
                jobs.append(joblib.delayed(_squared_errors)(task, sample, config["seed"], role))
        errors = iter(parallel(jobs, n_jobs, f"{accounting} simulation of {scenario.id}: {name}"))
        blocks = [[next(errors) for _ in range(0, repetitions, block)] for _ in tasks]
        table = errors_table([(task, np.concatenate(each)) for task, each in zip(tasks, blocks, strict=True)])
        return table.to_csv(index=False, lineterminator="\n")

    by_method: dict[str, list[Task]] = {}
    for task in tasks_of(config, scenario, accounting, plans):
        by_method.setdefault(task.method.name, []).append(task)
    read = {key: config[key] for key in ("seed", "repetitions", "repetition_block")}
    data = hashlib.sha256(population.items.tobytes()).hexdigest()
    found: list[tuple[Task, FloatArray]] = []
    for name, tasks in by_method.items():
        make = functools.partial(made, name, tasks)
        points = [(task.role, task.max_messages, task.plan.as_dict()) for task in tasks]
        text = kept_of(tasks[0].method, f"{name}.csv", (read, scenario, data, points), make, code=code, folder=folder)
        # every digit: means are the same, kept or not
        table = pd.read_csv(io.StringIO(text), dtype=str)
        values = table["squared_error"].astype(float).to_numpy().reshape(len(tasks), repetitions)
        found += zip(tasks, values, strict=True)
    return found


def errors_table(found: Sequence[tuple[Task, FloatArray]]) -> pd.DataFrame:
    """Tabulate the squared errors of every curve point, one row per repetition."""
    frames = [
        pd.DataFrame(
            {
                "method": task.method.name,
                "role": task.role,
                "max_messages": np.nan if task.max_messages is None else task.max_messages,
                "blanket_per_user": task.plan.blanket_per_user,
                "repetition": np.arange(values.size),
                "squared_error": values,
            }
        )
        for task, values in found
    ]
    return pd.concat(frames, ignore_index=True)


def _role_of(task: Task) -> tuple[str, ...]:
    """Name the point's random stream, never by a number that was searched for."""
    if task.role == "grid":
        return "grid", repr(task.plan.blanket_per_user)
    if task.role == "budget":
        return "budget", repr(task.max_messages)
    # the same draws before and after: the difference is recentring's or the projection's alone
    return ("best",)


def _squared_errors(task: Task, sample: Sample, seed: int, role: tuple[str | int, ...]) -> np.ndarray:
    """Sum squared errors over items, against the sample's own frequencies, for every repetition of a block."""
    estimates = task.method.simulate(task.plan, sample, stream(seed, "protocol", *role))
    if task.role in _AFTERWARDS:
        estimates = _AFTERWARDS[task.role](estimates, set_size=task.plan.problem.set_size)
    return np.asarray(((estimates - sample.frequencies) ** 2).sum(axis=1))


KEY = [
    *("accounting", "dataset", "n_users", "set_size", "split"),
    *("method", "role", "max_messages", "blanket_per_user"),
]


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
    """Return mean, standard error and closed form of every curve point of one scenario: rows of results/mse.csv.

    Parameters
    ----------
    found : sequence of (Task, ndarray)
        As `simulate.simulate_scenario` returns it.
    """
    return pd.DataFrame([_row(scenario, accounting, population, task, values) for task, values in found])


def _row(scenario: Scenario, accounting: str, population: Population, task: Task, values: FloatArray) -> dict[str, Any]:
    """Make the row of one curve point from its squared errors, shape (repetitions,)."""
    return {
        "accounting": accounting,
        **asdict(scenario.setting),
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
    """Return the expected squared error; nan where none is known, as after projection."""
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
