"""Simulations of a scenario: joblib over (method, m, block of repetitions), streams by role."""

from __future__ import annotations

from collections.abc import Sequence
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
from segshuffle.protocols.segmented import Segmented, plan_at
from segshuffle.studies.reproduction.planning import Plans, method_of, problem_of


class Task(NamedTuple):
    """One curve point: a method with its plan.

    `optimum` marks the m that a search chose, `max_messages` the budget of that search (None: no budget); `projected`
    projects the estimates onto possible frequencies, which the reproduction never does.
    """

    method: Method
    plan: Plan
    optimum: bool
    max_messages: float | None = None
    projected: bool = False


def tasks_of(config: Config, scenario: Scenario, plans: Plans) -> list[Task]:
    """Every curve point of a scenario, in a fixed order."""
    problem = problem_of(config, scenario.setting, scenario.split)
    tasks = [
        Task(Segmented(blanket), plan_at(problem, blanket, tuple(rates)), False)
        for blanket, rates in zip(plans["blanket_per_user"], plans["rates"], strict=True)
    ]
    tasks.append(Task(Segmented(), Plan.from_dict(problem, plans["optimum"][scenario.split]), True))
    for name, plan in plans["competitors"][scenario.split].items():
        tasks.append(Task(method_of(config, name), Plan.from_dict(problem, plan), False))
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
    config: Config, scenario: Scenario, population: Population, plans: Plans, *, n_jobs: int = 1
) -> pd.DataFrame:
    """Squared errors of every method, m and repetition of one scenario.

    Returns
    -------
    DataFrame
        Columns method, blanket_per_user, optimum, repetition, squared_error; one row per repetition.
    """
    tasks = tasks_of(config, scenario, plans)
    errors = simulate_tasks(config, scenario, population, tasks, n_jobs=n_jobs)
    frames = [
        pd.DataFrame(
            {
                "method": task.method.name,
                "blanket_per_user": task.plan.blanket_per_user,
                "optimum": task.optimum,
                "repetition": np.arange(values.size),
                "squared_error": values,
            }
        )
        for task, values in zip(tasks, errors, strict=True)
    ]
    return pd.concat(frames, ignore_index=True)


def simulate_tasks(
    config: Config, scenario: Scenario, population: Population, tasks: Sequence[Task], *, n_jobs: int = 1
) -> list[FloatArray]:
    """Squared errors of every task, each of shape (repetitions,), on common random levels."""
    repetitions, block = config["repetitions"], config["repetition_block"]
    counts = level_counts(scenario.setting.n_users, config["splits"][scenario.split])
    drawn = draw_levels(config, scenario, population, counts, repetitions)
    jobs = []
    for task in tasks:
        for first in range(0, repetitions, block):
            sample = Sample(population.items, population.domain_size, drawn[first : first + block])
            role = (scenario.id, task.method.name, _role_of(task), first)
            jobs.append(joblib.delayed(_squared_errors)(task, sample, config["seed"], role))
    errors = iter(parallel(jobs, n_jobs, f"simulation of {scenario.id}"))
    return [np.concatenate([next(errors) for _ in range(0, repetitions, block)]) for _ in tasks]


def _role_of(task: Task) -> str:
    if task.max_messages is not None:
        return f"budget {task.max_messages!r}"
    return "optimum" if task.optimum else repr(task.plan.blanket_per_user)


def _squared_errors(task: Task, sample: Sample, seed: int, role: tuple[str | int, ...]) -> np.ndarray:
    """Squared error of every repetition of a block: sum over items against the sample's own frequencies."""
    estimates = task.method.simulate(task.plan, sample, stream(seed, "protocol", *role))
    if task.projected:
        estimates = project(estimates, set_size=task.plan.problem.set_size)
    return np.asarray(((estimates - sample.frequencies) ** 2).sum(axis=1))
