"""Simulations of a scenario: joblib over (method, m, block of repetitions), streams by role."""

from __future__ import annotations

import functools
import hashlib
import io
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import joblib
import numpy as np
import pandas as pd

from segshuffle.arrays import FloatArray, IntArray
from segshuffle.datasets.population import Population
from segshuffle.pipeline.design import Config, Scenario, level_counts
from segshuffle.pipeline.progress import parallel
from segshuffle.pipeline.seeds import stream
from segshuffle.protocols.base import Method, Plan, Sample
from segshuffle.protocols.projection import project
from segshuffle.protocols.recentring import can_recentre, recentred
from segshuffle.studies.reproduction.planning import Plans, kept_of, lineup, problem_of

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
    """Every curve point of a scenario under one accounting, in a fixed order."""
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


def draw_levels(
    config: Config, scenario: Scenario, population: Population, counts: Sequence[int], repetitions: int
) -> IntArray:
    """Users of each level that hold each item, for every repetition: levels at random with exact counts.

    Shared by all methods of the scenario (common random numbers); shape (repetitions, n_levels, domain_size).
    """
    levels = np.repeat(np.arange(len(counts), dtype=np.int64), counts)
    d = population.domain_size
    drawn = np.empty((repetitions, len(counts), d), dtype=np.int64)
    for repetition in range(repetitions):
        rng = stream(config["seed"], "levels", scenario.id, repetition)
        cells = rng.permutation(levels)[:, None] * d + population.items
        drawn[repetition] = np.bincount(cells.ravel(), minlength=len(counts) * d).reshape(len(counts), d)
    return drawn


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
    """Every curve point of one scenario with its squared errors, each of shape (repetitions,), on common levels.

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
    """Squared errors of every curve point, one row per repetition."""
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
    """What names the point's random stream: never a number that was searched for."""
    if task.role == "grid":
        return "grid", repr(task.plan.blanket_per_user)
    if task.role == "budget":
        return "budget", repr(task.max_messages)
    # the same draws before and after: the difference is recentring's or the projection's alone
    return ("best",)


def _squared_errors(task: Task, sample: Sample, seed: int, role: tuple[str | int, ...]) -> np.ndarray:
    """Squared error of every repetition of a block: sum over items against the sample's own frequencies."""
    estimates = task.method.simulate(task.plan, sample, stream(seed, "protocol", *role))
    if task.role in _AFTERWARDS:
        estimates = _AFTERWARDS[task.role](estimates, set_size=task.plan.problem.set_size)
    return np.asarray(((estimates - sample.frequencies) ** 2).sum(axis=1))
