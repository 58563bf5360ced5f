"""Plans and simulations of a scenario: joblib over (method, m, block of repetitions), streams by role."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import joblib
import numpy as np
import pandas as pd

from segshuffle.datasets.populations import Population
from segshuffle.experiment.config import Config
from segshuffle.experiment.design import Scenario, Setting, blanket_grid, level_counts
from segshuffle.experiment.progress import track
from segshuffle.experiment.seeds import stream
from segshuffle.protocols import Method, Plan, Problem, Sample, Segmented, competitor
from segshuffle.protocols.base import FloatArray, IntArray
from segshuffle.protocols.projection import project
from segshuffle.protocols.segmented import least_blankets, optimize_parameters, plan_at, sampling_rates

Plans = dict[str, Any]


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


def problem_of(config: Config, setting: Setting, split: str) -> Problem:
    """Public quantities of a scenario."""
    return Problem(
        domain_size=setting.domain_size,
        set_size=setting.set_size,
        levels=tuple(config["levels"]),
        level_counts=level_counts(setting.n_users, config["splits"][split]),
        delta=config["delta_times_n"] / setting.n_users,
    )


def method_of(config: Config, name: str) -> Method:
    """Return the competitor of that name with the configuration's options."""
    options = config["competitors"]
    return competitor(
        name,
        analysis=options["balls_into_bins_analysis"],
        local_epsilon=options["subexp_local_epsilon"],
    )


def plan_setting(config: Config, setting: Setting, *, n_jobs: int = 1) -> Plans:
    """All plans of a population: no data is looked at.

    Returns
    -------
    dict
        ``rates``: sampling rates over the grid of m (they depend on the levels, not on the split);
        ``least_blankets``: m_k of every level; ``optimum`` and ``competitors`` per split.
    """
    grid = blanket_grid(config)
    splits = list(config["splits"])
    problems = {split: problem_of(config, setting, split) for split in splits}
    any_problem = problems[splits[0]]
    jobs: list[Any] = [joblib.delayed(sampling_rates)(any_problem, blanket) for blanket in grid]
    jobs += [joblib.delayed(optimize_parameters)(problems[split]) for split in splits]
    names = list(config["competitors"]["methods"])
    jobs += [joblib.delayed(method_of(config, name).plan)(problems[split]) for split in splits for name in names]
    done = iter(_parallel(jobs, n_jobs, f"plans of {setting.id}"))
    rates = [next(done) for _ in grid]
    optima = {split: next(done).as_dict() for split in splits}
    others = {split: {name: next(done).as_dict() for name in names} for split in splits}
    return {
        "setting": setting.id,
        "blanket_per_user": grid,
        "rates": rates,
        "least_blankets": least_blankets(any_problem),
        "optimum": optima,
        "competitors": others,
    }


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
    errors = iter(_parallel(jobs, n_jobs, f"simulation of {scenario.id}"))
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


def _parallel(jobs: Sequence[Any], n_jobs: int, label: str) -> list[Any]:
    """Run joblib tasks in order of submission, with progress; workers use one BLAS thread each."""
    with joblib.parallel_config(backend="loky", inner_max_num_threads=1):
        results: Iterable[Any] = joblib.Parallel(n_jobs=n_jobs, return_as="generator")(jobs)
        return list(track(results, total=len(jobs), label=label))
