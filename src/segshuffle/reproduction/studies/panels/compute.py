"""Simulate every method on every panel, and tidy the squared errors up: a row per (panel, accounting, method, role, m).

Every block of repetitions of a curve point has a random stream of its own, named by what it is for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import chain, groupby
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from segshuffle.arrays import FloatArray, IntArray
from segshuffle.datasets.population import Population
from segshuffle.plans.method import Method
from segshuffle.plans.plan import Plan, Sample
from segshuffle.plans.registry import methods_of
from segshuffle.reproduction.design import ACCOUNTINGS, Config, Scenario, Setting
from segshuffle.reproduction.processors import parallel
from segshuffle.reproduction.studies.panels.postprocessing import project, recentred, recentred_mse
from segshuffle.reproduction.studies.planning import Plans, blocks_of, level_drawer, lineup, problem_of
from segshuffle.reproduction.tables import Rows, to_json
from segshuffle.seeds import stream

if TYPE_CHECKING:
    import pandas as pd

#: What is done to the estimates of "best" in a role of its own.
_AFTERWARDS = {"recentred": recentred, "projected": project}


class Task(NamedTuple):
    """One curve point: a method with its plan.

    `role` is "grid", "best", "budget", "recentred" or "projected" (captions.yaml explains them); only the last two
    change the estimates afterwards. `max_messages` is the budget of the search (None without one).
    """

    method: Method
    plan: Plan
    role: str
    max_messages: float | None = None


def tasks_of(config: Config, scenario: Scenario, accounting: str, *plans: Plans) -> list[Task]:
    """List every curve point of a scenario under one accounting, in the order of its plans."""
    problem = problem_of(config, scenario.setting, scenario.split, accounting)
    entries = lineup(config, accounting)
    tasks = []
    for point in chain.from_iterable(each[scenario.split] for each in plans):
        plan = Plan.from_dict(problem, point["plan"])
        method, wanted = entries[plan.method]
        tasks.append(Task(method, plan, point["role"], point["max_messages"]))
        if point["role"] == "best":
            if config["recentring"]:
                tasks.append(Task(method, plan, "recentred"))
            if "projected" in wanted:
                tasks.append(Task(method, plan, "projected"))
    return tasks


def simulate_setting(
    config: Config, setting: Setting, accounting: str, population: Population, *plans: Plans
) -> list[tuple[Scenario, Task, FloatArray]]:
    """Simulate every curve point of one population: squared errors, each of shape (repetitions,).

    A block of repetitions of a scenario is a task for joblib. Its levels are common to all curve points.
    """
    scenarios = [Scenario(setting, split) for split in config["splits"]]
    points = {scenario: tasks_of(config, scenario, accounting, *plans) for scenario in scenarios}
    draws = {scenario: level_drawer(config, scenario, population) for scenario in scenarios}
    blocks = blocks_of(config, population)
    calls = [
        (config["seed"], points[scenario], draws[scenario], (scenario.id, accounting), block)
        for scenario in scenarios
        for block in blocks
    ]
    simulated = iter(parallel(_simulate_block, calls))
    errors = {scenario: np.hstack([next(simulated) for _ in blocks]) for scenario in scenarios}
    return [
        (scenario, task, row)
        for scenario in scenarios
        for task, row in zip(points[scenario], errors[scenario], strict=True)
    ]


def _simulate_block(
    seed: int, tasks: Sequence[Task], draw: Callable[[range], Sample], role: tuple[str, ...], block: range
) -> FloatArray:
    """Return the squared errors of all curve points of a scenario in a block, shape (n_tasks, repetitions)."""
    sample = draw(block)
    same_plan = (list(same) for _, same in groupby(tasks, key=lambda task: id(task.plan)))
    return np.vstack([_squared_errors(seed, each, sample, role, block.start) for each in same_plan])


def _squared_errors(seed: int, tasks: Sequence[Task], sample: Sample, role: tuple[str, ...], first: int) -> FloatArray:
    """Sum squared errors over items, against the sample's own frequencies, shape (n_tasks, repetitions).

    The tasks have one plan. "recentred" and "projected" use the draws of "best", so that only the change of the
    estimates makes a difference.
    """
    method, plan, kind, budget = tasks[0]
    # streams are named by what was asked for, never by a number that was searched for
    points = {"grid": ("grid", repr(plan.blanket_per_user)), "budget": ("budget", repr(budget))}
    role = (*role, method.name, *points.get(kind, ("best",)))
    estimates = method.simulate(plan, sample, stream(seed, "protocol", *role, first))
    return np.array([_squared(_AFTERWARDS.get(task.role), estimates, sample, plan.problem.set_size) for task in tasks])


def _squared(change: Callable[..., FloatArray] | None, estimates: FloatArray, sample: Sample, size: int) -> FloatArray:
    """Sum the squared errors of the estimates, perhaps after a change; in one array, which may be large."""
    errors = change(estimates, set_size=size) if change else estimates.copy()
    errors -= sample.frequencies
    errors *= errors
    return np.asarray(errors.sum(axis=1))


def setting_table(population: Population, *plans: Plans, config: Config, setting: Setting, accounting: str) -> Rows:
    """Simulate all panels of a population under one accounting: mean, standard error and closed form of every point.

    Parameters
    ----------
    *plans : dict
        Plans of its setting, as `plan_setting` makes them.

    Returns
    -------
    list of dict
        Rows of results/mse.csv.
    """
    simulated = simulate_setting(config, setting, accounting, population, *plans)
    item_counts = population.item_counts
    return [
        {
            "accounting": accounting,
            **setting._asdict(),
            "split": scenario.split,
            "method": task.method.name,
            "role": task.role,
            "max_messages": task.max_messages,
            "blanket_per_user": task.plan.blanket_per_user,
            "messages_per_user": task.plan.messages_per_user,
            "mse_mean": values.mean(),
            "mse_stderr": values.std(ddof=1) / np.sqrt(values.size),
            "mse_expected": _closed_form(task, item_counts),
            "mse_bound": task.plan.mse_bound,
            "repetitions": values.size,
            "kind": task.plan.kind,
            "source": population.source,
            "parameters": to_json(task.plan.chosen, sort_keys=True),
        }
        for scenario, task, values in simulated
    ]


def _closed_form(task: Task, item_counts: IntArray) -> float | None:
    """Return the expected squared error; None where none is known, as after projection."""
    if task.role == "projected":
        return None
    if task.role == "recentred":
        return recentred_mse(task.method, task.plan, item_counts)
    return task.method.expected_mse(task.plan, item_counts)


def checked(table: pd.DataFrame) -> pd.DataFrame:
    """Refuse a table of all panels in which a number is missing, because means would leave it out silently.

    Raises
    ------
    ValueError
        If a number is missing or not finite.
    """
    # no closed form is known where estimates are changed afterwards
    unknown = table["role"].isin(_AFTERWARDS) & table["mse_expected"].isna()
    numbers = table[["mse_mean", "mse_stderr", "mse_bound"]].assign(expected=table["mse_expected"].mask(unknown, 0.0))
    finite = np.isfinite(numbers.to_numpy(float)).all(axis=1)
    if not finite.all():
        row = table.drop(columns="parameters")[~finite].iloc[0].to_dict()
        raise ValueError(f"an error in the table is not finite, but every one must be: {row}")
    return table


_PANEL = ["dataset", "n_users", "set_size", "split"]


def proven_summary(table: pd.DataFrame, budgets: list[float]) -> pd.DataFrame:
    """Compare errors at the m that methods chose, one row per panel (closed forms, except after the projection).

    Parameters
    ----------
    table : DataFrame
        Rows of results/mse.csv, both accountings.
    budgets : list of float
        Budgets of messages per user whose errors are listed against the weighted curator's.
    """
    import pandas as pd  # at the top it would slow the start of every job that simulates

    competitors, curators = ([each.name for each in methods_of("proven", role)] for role in ("competitor", "reference"))
    rows = []
    for key, both in table.groupby(_PANEL, sort=False):
        theirs, panel = (both[both["accounting"] == accounting] for accounting in ACCOUNTINGS)
        proven = panel.set_index(["method", "role"])
        best = proven.xs("best", level="role")
        error = best["mse_expected"]
        ours, curator = error["poisson"], error["curator-weighted"]
        rivals = error[error.index.isin(competitors)]
        # at its best m on the grid or at the m that optimizeParameter chose, whichever has less error
        drawn = theirs["role"].isin(["grid", "best"]) & (theirs["method"] == "segmented")
        published = theirs.loc[drawn, "mse_expected"].min()
        roles, spent = proven.loc["poisson"], proven.loc[[("poisson-copies", "budget")]].set_index("max_messages")
        rows.append(
            {
                **dict(zip(_PANEL, key, strict=True)),
                "published": published,
                "poisson": ours,
                "published_over_poisson": published / ours,
                "messages_poisson": best.loc["poisson", "messages_per_user"],
                "best_competitor": rivals.idxmin(),
                "competitor_over_poisson": rivals.min() / ours,
                "poisson_over_curator": ours / curator,
                "curator_best_over_weighted": error[error.index.isin(curators)].min() / curator,
                # nan where a run does without recentring
                "recentred_over_poisson": roles["mse_expected"].get("recentred", math.nan) / ours,
                # Monte Carlo: error after the projection divided by error before, on the same random draws
                "projected_over_poisson": roles["mse_mean"]["projected"] / roles["mse_mean"]["best"],
                **{f"copies_{each:g}_over_curator": spent["mse_expected"][each] / curator for each in budgets},
            }
        )
    return pd.DataFrame(rows)
