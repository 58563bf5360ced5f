"""Plans of a setting: every parameter of every method, from public quantities only."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import joblib

from segshuffle.blankets.base import BLANKET_MEAN_RANGE
from segshuffle.pipeline.design import Config, Setting, blanket_grid, least_delta, level_counts, level_deltas
from segshuffle.pipeline.jobs import to_json
from segshuffle.pipeline.progress import parallel
from segshuffle.protocols.assumptions import PLAIN, Assumptions
from segshuffle.protocols.base import Method, Problem
from segshuffle.studies.reproduction.methods import Entry, kept_of, lineup

#: Split -> points; a point has its role, its budget of messages (None without one) and its plan.
Plans = dict[str, list[dict[str, Any]]]
#: Blanket messages per item below which the exact accountant has no numbers.
_LEAST_MEAN = BLANKET_MEAN_RANGE[0]


def problem_of(config: Config, setting: Setting, split: str, accounting: str = "published") -> Problem:
    """Public quantities of a scenario; what is proven relies on the configured share of honest users."""
    proven = accounting == "proven"
    return Problem(
        domain_size=setting.domain_size,
        set_size=setting.set_size,
        levels=tuple(config["levels"]),
        level_counts=level_counts(setting.n_users, config["splits"][split]),
        delta=least_delta(config, setting.n_users),
        assumptions=Assumptions(honest_fraction=config["proven"]["honest_fraction"]) if proven else PLAIN,
        # published analyses know of one delta: the least
        level_deltas=level_deltas(config, setting.n_users) if proven else (),
    )


def plan_setting(
    config: Config,
    setting: Setting,
    accounting: str,
    *,
    left_out: Collection[str] = (),
    code: Mapping[str, str] | None = None,
    folder: str = "",
    n_jobs: int = 1,
) -> Plans:
    """All plans of a population under one accounting: no data is looked at.

    Parameters
    ----------
    left_out : collection of str
        Methods that are not planned.
    code, folder : mapping, str, optional
        As in `methods.kept_of`.

    Returns
    -------
    dict
        Per split the points of `methods.lineup`, in its order: role, max_messages and plan, JSON values only.
    """
    problems = {split: problem_of(config, setting, split, accounting) for split in config["splits"]}
    plans: Plans = {split: [] for split in problems}
    for name, entry in lineup(config, accounting).items():
        if name in left_out:
            continue
        points = [
            (split, role, budget, method)
            for split, problem in problems.items()
            for role, budget, method in _points(config, accounting, problem, entry)
        ]

        def made(name: str = name, points: list[tuple[str, str, float | None, Method]] = points) -> str:
            jobs = [joblib.delayed(method.plan)(problems[split]) for split, _, _, method in points]
            done = parallel(jobs, n_jobs, f"{accounting} plans of {setting.id}: {name}")
            found: Plans = {split: [] for split in problems}
            for (split, role, budget, _), plan in zip(points, done, strict=True):
                found[split].append({"role": role, "max_messages": budget, "plan": plan.as_dict()})
            return to_json(found)

        text = kept_of(entry.method, f"{name}.json", (problems, points), made, code=code, folder=folder)
        for split, found in json.loads(text).items():
            plans[split] += found
    return plans


def _points(
    config: Config, accounting: str, problem: Problem, entry: Entry
) -> Iterator[tuple[str, float | None, Method]]:
    """Role, budget and method of every plan of a method; "projected" shares the plan of "best"."""
    if "grid" in entry.roles:
        for blanket in _grid(config, accounting, problem):
            yield "grid", None, _with(entry.method, blanket_per_user=blanket)
    if "best" in entry.roles:
        yield "best", None, entry.method
    if "budget" in entry.roles:
        for budget in map(float, config["proven"]["max_messages"]):
            yield "budget", budget, _with(entry.method, max_messages=budget)


def _grid(config: Config, accounting: str, problem: Problem) -> list[float]:
    """The configured grid of m; on the proven side where the blanket is large enough for the accountant."""
    grid = blanket_grid(config)
    if accounting == "published":
        return grid
    kept = [blanket for blanket in grid if problem.honest_mean(blanket) >= _LEAST_MEAN]
    if len(kept) < len(grid):
        left = ", ".join(f"{blanket:g}" for blanket in grid if blanket not in kept)
        print(f"no proven plan at m = {left}: fewer than {_LEAST_MEAN:g} blanket messages per item")
    return kept


def _with(method: Any, **options: float) -> Method:
    changed: Method = dataclasses.replace(method, **options)
    return changed
