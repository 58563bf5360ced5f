"""Which methods run under which accounting, and their plans: every parameter, from public quantities only.

The published side is the paper's protocol and the configured competitors with the accounting that their papers state;
the proven side is the Poisson blanket, the proven methods of role competitor, and trusted curators.
"""

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from segshuffle.arrays import IntArray, Numbers
from segshuffle.blankets.base import BLANKET_MEAN_RANGE
from segshuffle.datasets.population import Population
from segshuffle.plans.method import Method, Row
from segshuffle.plans.plan import PLAIN, Assumptions, Problem, Sample
from segshuffle.plans.registry import every, made, methods_of
from segshuffle.plans.shares import level_counts
from segshuffle.reproduction.design import Config, Scenario, Setting, blanket_grid, least_delta, level_deltas
from segshuffle.seeds import stream

#: Split -> points; a point has its role, its budget of messages (None without one) and its plan.
Plans = dict[str, list[dict[str, Any]]]
#: Users for each possible set from which on levels are drawn set by set.
_ALIKE = 4
#: Most counts of holders (repetitions x levels x items) that are drawn at once, but for a single repetition: 16 MB.
_MOST_CELLS = 2**22
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
        chosen = [*methods_of("published", "curve"), *(every()["published", name] for name in section["methods"])]
    else:
        section = config["proven"]
        variants = [each for each in methods_of("proven", "variant") if each.name in section["variants"]]
        points = [*methods_of("proven", "competitor"), *methods_of("proven", "reference")]
        chosen = [*methods_of("proven", "curve"), *variants, *points]
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
        assumptions=Assumptions("exactly", config["proven"]["honest_fraction"]) if proven else PLAIN,
        # published analyses know of one delta: the least
        level_deltas=level_deltas(config, setting.n_users) if proven else (),
    )


def assuming(problem: Problem, **changes: Any) -> Problem:
    """Return the problem with other assumptions: fields of `Assumptions` by name."""
    return replace(problem, assumptions=replace(problem.assumptions, **changes))


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
        for split, problem in problems.items():
            for role, variants in _variants(config, accounting, problem, method, rows).items():
                # plans of one split and role share what is computed for them
                for variant, plan in zip(variants, _planned(accounting, problem, variants), strict=True):
                    budget = getattr(variant, "max_messages", None)
                    plans[split].append({"role": role, "max_messages": budget, "plan": plan})
    return plans


def _planned(accounting: str, problem: Problem, methods: Sequence[Any]) -> list[dict[str, Any]]:
    """Plan with variants of one method that differ in one option."""
    if getattr(methods[0], "max_messages", None):
        plans = methods[0].plans_within(problem, [method.max_messages for method in methods])
    else:
        source = every()[accounting, methods[0].name]
        plans = [source.plan(method, problem) for method in methods]
    return [plan.as_dict() for plan in plans]


def _variants(
    config: Config, accounting: str, problem: Problem, method: Any, rows: Collection[Row]
) -> dict[Row, list[Any]]:
    """Return the variants of a method to be planned, by role; "projected" shares the plan of "best".

    On the proven side the grid of m begins where the blanket is large enough for the accountant.
    """
    variants: dict[Row, list[Any]] = {}
    if "grid" in rows:
        for blanket in blanket_grid(config["blanket_grid"]):
            if accounting == "published" or problem.honest_mean(blanket) >= _LEAST_MEAN:
                variants.setdefault("grid", []).append(replace(method, blanket_per_user=blanket))
            else:
                print(f"no proven plan at m = {blanket:g}: fewer than {_LEAST_MEAN:g} blanket messages per item")
    if "best" in rows:
        variants["best"] = [method]
    if "budget" in rows:
        budgets = map(float, config["proven"]["max_messages"])
        variants["budget"] = [replace(method, max_messages=budget) for budget in budgets]
    return variants


def blocks_of(config: Config, population: Population) -> list[range]:
    """List the repetitions of every block of a scenario."""
    return blocks(population, len(config["levels"]), config["repetitions"], config["repetition_block"])


def level_drawer(config: Config, scenario: Scenario, population: Population) -> Callable[[range], Sample]:
    """Return how to draw the level of every user at random, with exact counts, for the repetitions of a block.

    Shared by all methods of the scenario (common random numbers).
    """
    counts = level_counts(population.n_users, config["splits"][scenario.split])
    # users with the same set are alike: if they are many, only their number at every level is drawn
    alike = math.comb(population.domain_size, population.set_size) <= population.n_users // _ALIKE
    draw = _draws_by_set(population, counts) if alike else _draws_by_user(population, counts)

    def drawn(repetition: int) -> Numbers:
        return draw(stream(config["seed"], "levels", scenario.id, repetition))

    return lambda block: sample_of(population, drawn, block)


def blocks(population: Population, n_levels: int, repetitions: int, block: int = 2**31) -> list[range]:
    """Split repetitions into blocks of `block`, or of fewer if the domain is large."""
    block = min(block, max(_MOST_CELLS // (n_levels * population.domain_size), 1))
    return [range(first, min(first + block, repetitions)) for first in range(0, repetitions, block)]


def sample_of(population: Population, drawn: Callable[[int], Numbers], block: range) -> Sample:
    """Return the repetitions of a block, of each of which `drawn` returns the holders, shape (n_levels, d)."""
    holders = np.array([drawn(repetition) for repetition in block], np.int32)
    return Sample(population.items, population.domain_size, holders)


def _draws_by_user(population: Population, counts: Sequence[int]) -> Callable[[np.random.Generator], Numbers]:
    """Return how to draw the users of each level that hold each item, by a permutation of all users' levels."""
    # machine words are permuted faster than smaller numbers
    levels = np.repeat(np.arange(len(counts)), counts)
    return lambda rng: holders_by_level(population, rng.permutation(levels), len(counts))


def _draws_by_set(population: Population, counts: Sequence[int]) -> Callable[[np.random.Generator], Numbers]:
    """Return the same for few sets that many users hold, by the multivariate hypergeometric law of these users."""
    # what np.unique finds along an axis, in a tenth of the time
    ordered = population.items[np.lexsort(population.items.T[::-1])]
    firsts = np.flatnonzero(np.append(True, (ordered[1:] != ordered[:-1]).any(axis=1)))
    sets, users = ordered[firsts], np.diff(firsts, append=len(ordered))

    def holders(of_sets: IntArray) -> IntArray:
        weights = np.repeat(of_sets, population.set_size)
        return np.bincount(sets.ravel(), weights=weights, minlength=population.domain_size).astype(np.int64)

    def draw(rng: np.random.Generator) -> IntArray:
        left, drawn_users = users.copy(), []
        for count in counts[:-1]:
            drawn_users.append(rng.multivariate_hypergeometric(left, count))
            left -= drawn_users[-1]
        return np.array([holders(each) for each in (*drawn_users, left)])

    return draw


def holders_by_level(population: Population, levels: IntArray, n_levels: int) -> Numbers:
    """Count the users of each level that hold each item, shape (n_levels, domain_size)."""
    holders = np.empty((n_levels, population.domain_size), dtype=np.int32)
    for level in range(n_levels):
        # a boolean index takes three times as long as `compress`
        items = population.items.compress(levels == level, axis=0).ravel()
        holders[level] = np.bincount(items, minlength=population.domain_size)
    return holders
