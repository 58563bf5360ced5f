"""Which methods run under which accounting, and their plans: every parameter, from public quantities only.

The published side is the paper's protocol and the configured competitors with the accounting that their papers state;
the proven side is the Poisson blanket, the same competitors with proven accounting, and trusted curators.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any, NamedTuple

import joblib

from segshuffle.blankets.base import BLANKET_MEAN_RANGE
from segshuffle.pipeline.design import Config, Setting, blanket_grid, least_delta, level_counts, level_deltas
from segshuffle.pipeline.progress import parallel
from segshuffle.protocols.assumptions import PLAIN, Assumptions
from segshuffle.protocols.base import Method, Problem
from segshuffle.protocols.registry import competitor, proven_curves, proven_methods
from segshuffle.protocols.segmented import Segmented

#: Split -> points; a point has its role, its budget of messages (None without one) and its plan.
Plans = dict[str, list[dict[str, Any]]]
#: What a row of the tidy table is: a point over the grid of m, the method's own best m, the best within a budget of
#: messages, or the estimates of "best" moved to sum to s, or projected onto possible frequencies.
ROLES = ("grid", "best", "budget", "recentred", "projected")
#: Roles of the methods that are drawn over m, where they are others than these; all other methods have their best m.
_CURVE = ("grid", "best")
_CURVES = {
    "poisson": ("grid", "best", "budget", "projected"),
    # without a budget, copies only grow
    "poisson-copies": ("grid", "budget"),
}
#: Blanket messages per item below which the exact accountant has no numbers.
_LEAST_MEAN = BLANKET_MEAN_RANGE[0]


class Entry(NamedTuple):
    """A method and the roles in which it runs."""

    method: Method
    roles: tuple[str, ...]


def lineup(config: Config, accounting: str) -> dict[str, Entry]:
    """List every method of one accounting by name, in a fixed order.

    Parameters
    ----------
    config : dict
        "published" uses the section ``competitors``, "proven" the section ``proven``.
    accounting : {"published", "proven"}
        Which side.
    """
    if accounting == "published":
        section = config["competitors"]
        curves: dict[str, Method] = {"segmented": Segmented()}
        points = {name: competitor(name, section) for name in section["methods"]}
    else:
        curves, points = proven_curves(config["proven"]), proven_methods(config["proven"])
    entries = {name: Entry(method, _CURVES.get(name, _CURVE)) for name, method in curves.items()}
    return entries | {name: Entry(method, ("best",)) for name, method in points.items()}


def problem_of(config: Config, setting: Setting, split: str, accounting: str = "published") -> Problem:
    """Return the public quantities of a scenario; what is proven relies on the configured share of honest users."""
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


def plan_setting(config: Config, setting: Setting, accounting: str, *, n_jobs: int = 1) -> Plans:
    """Make all plans of a population under one accounting: no data is looked at.

    Returns
    -------
    dict
        Per split the points of `lineup`, in its order: role, max_messages and plan, JSON values only.
    """
    heads, jobs = [], []
    for split in config["splits"]:
        problem = problem_of(config, setting, split, accounting)
        for role, budget, method in _points(config, accounting, problem):
            heads.append((split, {"role": role, "max_messages": budget}))
            jobs.append(joblib.delayed(method.plan)(problem))
    plans: Plans = {split: [] for split in config["splits"]}
    done = parallel(jobs, n_jobs, f"{accounting} plans of {setting.id}")
    for (split, head), plan in zip(heads, done, strict=True):
        plans[split].append({**head, "plan": plan.as_dict()})
    return plans


def _points(config: Config, accounting: str, problem: Problem) -> Iterator[tuple[str, float | None, Method]]:
    """Role, budget and method of every plan; "projected" shares the plan of "best"."""
    grid = blanket_grid(config)
    if accounting == "proven":
        left = [blanket for blanket in grid if problem.honest_mean(blanket) < _LEAST_MEAN]
        if left:
            said = ", ".join(f"{blanket:g}" for blanket in left)
            print(f"no proven plan at m = {said}: fewer than {_LEAST_MEAN:g} blanket messages per item")
        grid = [blanket for blanket in grid if blanket not in left]
    method: Any
    for method, roles in lineup(config, accounting).values():
        if "grid" in roles:
            for blanket in grid:
                yield "grid", None, dataclasses.replace(method, blanket_per_user=blanket)
        if "best" in roles:
            yield "best", None, method
        if "budget" in roles:
            for budget in map(float, config["proven"]["max_messages"]):
                yield "budget", budget, dataclasses.replace(method, max_messages=budget)
