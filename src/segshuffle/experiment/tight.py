"""Experiments with proven accounting: ours with and without copies, its sound predecessor, competitors and curators.

The reproduction of the paper (experiment.run) is left untouched: these tasks have their own plans and their own table.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from segshuffle.datasets.populations import Population
from segshuffle.experiment.aggregate import row_of
from segshuffle.experiment.config import Config
from segshuffle.experiment.design import Scenario, Setting, blanket_grid
from segshuffle.experiment.run import Plans, Task, problem_of, simulate_tasks
from segshuffle.protocols import Method, Plan, Problem
from segshuffle.protocols.balls_into_bins import BallsIntoBins, SeparateBallsIntoBins
from segshuffle.protocols.central import GaussianCurator
from segshuffle.protocols.poisson import PoissonSegmented
from segshuffle.protocols.subset_exponential import SubsetExponential

PANEL = ["dataset", "n_users", "set_size", "split"]
OURS = ("sound-group", "tight", "tight-copies")
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


def curve_methods(config: Config) -> dict[str, PoissonSegmented]:
    """Methods drawn over m."""
    copies_max = float(config["tight"]["copies_max"])
    methods = (
        PoissonSegmented(accounting="group"),
        PoissonSegmented(),
        PoissonSegmented(copies_max=copies_max),
    )
    return {method.name: method for method in methods}


def point_methods() -> dict[str, Method]:
    """Methods with one number per scenario: the competitors with proven accounting, and the curators."""
    methods: tuple[Method, ...] = (
        BallsIntoBins(analysis="product"),
        SeparateBallsIntoBins(analysis="product"),
        SeparateBallsIntoBins(weights="published", analysis="product"),
        SeparateBallsIntoBins(weights="inverse-variance", analysis="product"),
        SubsetExponential(accounting="proven"),
        GaussianCurator(weighted=False),
        GaussianCurator(weighted=True),
    )
    return {method.name: method for method in methods}


def plan_tight(config: Config, setting: Setting) -> Plans:
    """All plans of a population, per split: over the grid of m, at the best m, within every budget of messages."""
    return {split: _plan_split(config, problem_of(config, setting, split)) for split in config["splits"]}


def _plan_split(config: Config, problem: Problem) -> Plans:
    curves, budgets = curve_methods(config), config["tight"]["max_messages"]
    plans: Plans = {"grid": {}, "best": {}, "budget": {}}
    for name, method in curves.items():
        plans["grid"][name] = [method.plan_at(problem, m).as_dict() for m in _grid(config, problem)]
        if name != "tight-copies":
            plans["best"][name] = method.plan(problem).as_dict()
        if name != "sound-group":
            plans["budget"][name] = {
                repr(float(budget)): _within(method, budget).plan(problem).as_dict() for budget in budgets
            }
    for name, competitor in point_methods().items():
        plans["best"][name] = competitor.plan(problem).as_dict()
    return plans


def _grid(config: Config, problem: Problem) -> list[float]:
    """The reproduction's grid of m, where the blanket is large enough for the accountant."""
    return [m for m in blanket_grid(config) if problem.n_users * m / problem.domain_size >= 1e-3]


def _within(method: PoissonSegmented, budget: float) -> PoissonSegmented:
    return PoissonSegmented(copies_max=method.copies_max, max_messages=float(budget), accounting=method.accounting)


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


def summarise_tight(tight: pd.DataFrame, published: pd.DataFrame, budgets: list[float]) -> pd.DataFrame:
    """One row per panel: errors at the best m and what they are relative to one another (closed-form errors).

    Parameters
    ----------
    tight : DataFrame
        Rows of results/tight.csv.
    published : DataFrame
        Rows of results/mse.csv.
    budgets : list of float
        Budgets of messages per user whose errors are listed against the weighted curator's.
    """
    rows = []
    for key, panel in tight.groupby(PANEL, sort=False):
        theirs = published[(published[PANEL] == list(key)).all(axis=1)]
        rows.append({**dict(zip(PANEL, key, strict=True)), **_summary_of(panel, theirs, budgets)})
    return pd.DataFrame(rows)


def _summary_of(panel: pd.DataFrame, theirs: pd.DataFrame, budgets: list[float]) -> dict[str, Any]:
    best = panel[panel["role"] == "best"].set_index("method")
    error = best["mse_expected"]
    # the published protocol at its best m, on the grid or by optimizeParameter, whichever is lower
    published = float(theirs.loc[theirs["method"] == "segmented", "mse_expected"].min())
    spent = panel[(panel["role"] == "budget") & (panel["method"] == "tight-copies")].set_index("max_messages")
    rivals = error[[name for name in error.index if name not in OURS and not name.startswith("curator")]]
    row: dict[str, Any] = {
        "published": published,
        "sound_group": error["sound-group"],
        "tight": error["tight"],
        "published_over_tight": published / error["tight"],
        "messages_tight": best.loc["tight", "messages_per_user"],
        "best_competitor": rivals.idxmin(),
        "competitor_over_tight": rivals.min() / error["tight"],
        "curator_weighted": error["curator-weighted"],
        "curator_uniform": error["curator-uniform"],
        "tight_over_curator": error["tight"] / error["curator-weighted"],
        "projected_over_tight": _projection_effect(panel),
    }
    curator = float(error["curator-weighted"])
    for budget in budgets:
        row[f"copies_{budget:g}_over_curator"] = float(spent["mse_expected"][budget]) / curator
        row[f"messages_copies_{budget:g}"] = float(spent["messages_per_user"][budget])
    return row


def _projection_effect(panel: pd.DataFrame) -> float:
    """Monte Carlo error after projection over the error before, on the same random draws."""
    tight = panel[panel["method"] == "tight"].set_index("role")["mse_mean"]
    return float(tight["projected"] / tight["best"])


def summary_markdown(summary: pd.DataFrame, budgets: list[float], *, edition: str, sources: Mapping[str, str]) -> str:
    """Readable form of the summary."""
    lines = ["# Proven and tight: errors at the same (epsilon, delta)", ""]
    if edition != "full":
        lines += [f"This is a **{edition}** run, not a result.", ""]
    lines += ["Data: " + ", ".join(f"{name} ({source})" for name, source in sources.items()) + ".", ""]
    lines += [
        "Closed-form expected squared errors, each method at its best m; the published protocol's guarantee is not "
        "proven, all others are. With copies: the error over the weighted trusted curator's, within a budget of "
        "messages per user. Projected: error of the tight estimate after projection onto possible frequencies, over "
        "the error before (Monte Carlo; an extra that no other number uses).",
        "",
        "| panel | published | tight | ratio | messages | best competitor | its ratio | projected "
        "| sampling / curator | " + " | ".join(f"copies, {budget:g} messages / curator" for budget in budgets) + " |",
        "|---|---|---|---|---|---|---|---|---|" + "---|" * len(budgets),
    ]
    for row in summary.to_dict("records"):
        spent = " | ".join(f"{row[f'copies_{budget:g}_over_curator']:.2f}" for budget in budgets)
        lines.append(
            f"| {row['dataset']} n={row['n_users']} s={row['set_size']} {row['split']} | {row['published']:.3g} | "
            f"{row['tight']:.3g} | {row['published_over_tight']:.2f}x | {row['messages_tight']:.1f} | "
            f"{row['best_competitor']} | {row['competitor_over_tight']:.2f}x | "
            f"{row['projected_over_tight']:.2f} | {row['tight_over_curator']:.2f} | "
            f"{spent} |"
        )
    return "\n".join(lines) + "\n"
