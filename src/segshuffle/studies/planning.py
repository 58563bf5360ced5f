"""Which methods run under which accounting, and their plans: every parameter, from public quantities only.

The published side is the paper's protocol and the configured competitors with the accounting that their papers state;
the proven side is the Poisson blanket, the proven methods of role competitor, and trusted curators.
"""

import dataclasses
import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from segshuffle.arrays import IntArray
from segshuffle.blankets.base import BLANKET_MEAN_RANGE
from segshuffle.datasets.population import Population
from segshuffle.pipeline.design import Config, Scenario, Setting, blanket_grid, least_delta, level_counts, level_deltas
from segshuffle.pipeline.processors import parallel
from segshuffle.pipeline.seeds import stream
from segshuffle.protocols.base import PLAIN, Assumptions, Problem, Sample
from segshuffle.protocols.method import Method, Row
from segshuffle.protocols.planner import least_error
from segshuffle.protocols.registry import declared, every, made

#: Split -> points; a point has its role, its budget of messages (None without one) and its plan.
Plans = dict[str, list[dict[str, Any]]]
#: Blanket messages per item below which the exact accountant has no numbers.
_LEAST_MEAN = BLANKET_MEAN_RANGE[0]


def lineup(config: Config, accounting: str) -> dict[str, tuple[Method, tuple[Row, ...]]]:
    """List every method of one accounting by name, with the rows that a panel has of it, in a fixed order.

    Parameters
    ----------
    config : dict
        "published" uses the section ``competitors``, "proven" the section ``proven``.
    accounting : {"published", "proven"}
        Which side.
    """
    if accounting == "published":
        section = config["competitors"]
        chosen = [*declared("published", "curve"), *(every()["published", name] for name in section["methods"])]
    else:
        section = config["proven"]
        variants = [each for each in declared("proven", "variant") if each.name in section["variants"]]
        points = [*declared("proven", "competitor"), *declared("proven", "reference")]
        chosen = [*declared("proven", "curve"), *variants, *points]
    return {each.name: (made(each, section), each.rows) for each in chosen}


def problem_of(config: Config, setting: Setting, split: str, accounting: str = "published") -> Problem:
    """Return the public quantities of a scenario; proven guarantees rely on the configured share of honest users."""
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


def assuming(problem: Problem, **changes: Any) -> Problem:
    """Return the problem with other assumptions: fields of `Assumptions` by name."""
    return dataclasses.replace(problem, assumptions=dataclasses.replace(problem.assumptions, **changes))


def plan_setting(config: Config, setting: Setting, accounting: str, *, left_out: Collection[str] = ()) -> Plans:
    """Make all plans of a population under one accounting: no data is looked at.

    Parameters
    ----------
    left_out : collection of str
        Methods that are not planned.

    Returns
    -------
    dict
        Per split the points of `lineup`, in its order: role, max_messages and plan, JSON values only.
    """
    problems = {split: problem_of(config, setting, split, accounting) for split in config["splits"]}
    plans: Plans = {split: [] for split in problems}
    for name, (method, rows) in lineup(config, accounting).items():
        if name in left_out:
            continue
        # what is found out for one plan serves the others of its split and role
        groups = [
            (split, role, list(points))
            for split, problem in problems.items()
            for role, points in groupby(_points(config, accounting, problem, method, rows), lambda point: point[0])
        ]
        planned = parallel(_planned, ((problems[split], [each[-1] for each in points]) for split, _, points in groups))
        for (split, role, points), found in zip(groups, planned, strict=True):
            for (_, budget, _), plan in zip(points, found, strict=True):
                plans[split].append({"role": role, "max_messages": budget, "plan": plan})
    return plans


def _planned(problem: Problem, methods: Sequence[Any]) -> list[dict[str, Any]]:
    """Plan with variants of one method that differ in one option."""
    if not getattr(methods[0], "max_messages", None):
        return [method.plan(problem).as_dict() for method in methods]
    searches = methods[0].searches(problem)  # what is found out for one budget serves the others
    plans = (least_error(searches, method.max_messages) for method in methods)
    return [dataclasses.replace(plan, method=methods[0].name).as_dict() for plan in plans]


def _points(
    config: Config, accounting: str, problem: Problem, method: Any, rows: Collection[Row]
) -> Iterator[tuple[Row, float | None, Method]]:
    """Yield role, budget and method of every plan of a method; "projected" shares the plan of "best".

    On the proven side the grid of m begins where the blanket is large enough for the accountant.
    """
    if "grid" in rows:
        for blanket in blanket_grid(config):
            if accounting == "published" or problem.honest_mean(blanket) >= _LEAST_MEAN:
                yield "grid", None, dataclasses.replace(method, blanket_per_user=blanket)
            else:
                print(f"no proven plan at m = {blanket:g}: fewer than {_LEAST_MEAN:g} blanket messages per item")
    if "best" in rows:
        yield "best", None, method
    if "budget" in rows:
        for budget in map(float, config["proven"]["max_messages"]):
            yield "budget", budget, dataclasses.replace(method, max_messages=budget)


def draw_samples(config: Config, scenario: Scenario, population: Population) -> dict[int, Sample]:
    """Draw the level of every user at random, with exact counts, for every repetition.

    Shared by all methods of the scenario (common random numbers).

    Returns
    -------
    dict
        First repetition of a block -> the block.
    """
    counts = level_counts(population.n_users, config["splits"][scenario.split])
    levels = np.repeat(np.arange(len(counts)), counts)

    def drawn(repetition: int) -> IntArray:
        return stream(config["seed"], "levels", scenario.id, repetition).permutation(levels)

    repetitions, block = range(config["repetitions"]), config["repetition_block"]
    return {
        first: sample_of(population, map(drawn, repetitions[first : first + block]), len(counts))
        for first in repetitions[::block]
    }


def sample_of(population: Population, levels: Iterable[IntArray], n_levels: int) -> Sample:
    """Count the users of each level that hold each item.

    Parameters
    ----------
    population : Population
        Who holds what.
    levels : iterable of ndarray of int, shape (n_users,)
        Level of every user, for every repetition.
    n_levels : int
        Number of levels.
    """
    shape = (n_levels, population.domain_size)
    cells = (each[:, None] * population.domain_size + population.items for each in levels)
    counted = [np.bincount(cell.ravel(), minlength=math.prod(shape)).reshape(shape) for cell in cells]
    return Sample(population.items, population.domain_size, np.array(counted))
