"""What guarantees and errors rely on: who takes part, who lies, how levels are picked, how often users are asked.

Every table has the columns of a panel first: dataset, n_users, set_size, domain_size, split. The functions below are
written for one panel, and tabulate all of a sequence (`for_every_panel`).
"""

import functools
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pandas as pd

from segshuffle.accounting.collections.calibration import epsilon_over_honesty
from segshuffle.arrays import FloatArray, IntArray, Numbers
from segshuffle.datasets.population import Population
from segshuffle.plans.item_variance import bias_given_levels, error_given_levels
from segshuffle.plans.method import Influence, Method
from segshuffle.plans.plan import Plan, Problem, uniform_item_counts
from segshuffle.protocols.capped import Capped
from segshuffle.protocols.proven import ProvenSegmented
from segshuffle.reproduction.design import Config, Panels, Scenario
from segshuffle.reproduction.studies.planning import (
    Plans,
    assuming,
    blocks,
    holders_by_level,
    lineup,
    problem_of,
    sample_of,
)
from segshuffle.seeds import stream

Rows = Iterator[dict[str, Any]]
#: Shares that plans assume, for the curves of epsilon.
ASSUMED = (1.0, 0.8, 0.5)
#: Shares of users who really are honest.
REALLY = tuple(round(0.3 + 0.05 * step, 2) for step in range(15))
#: Share of the users who lie.
CORRUPT = 0.01
STRENGTHS = tuple(round(0.1 * step, 1) for step in range(11))


def for_every_panel(rows_of: Callable[..., Rows]) -> Callable[..., pd.DataFrame]:
    """Turn a function that yields the rows of one panel into one that tabulates all, with columns that name them."""

    @functools.wraps(rows_of)
    def table(config: Config, panels: Panels, *data: Any, **named: Any) -> pd.DataFrame:
        return pd.DataFrame(
            {**panel.setting._asdict(), "split": panel.split, **row}
            for panel in panels
            for row in rows_of(config, panel, *data, **named)
        )

    return table


def proven_methods(config: Config) -> Iterator[ProvenSegmented]:
    """Yield sampling, and copies within the smallest and the largest budget."""
    yield ProvenSegmented()
    budgets = config["proven"]["max_messages"]
    for budget in sorted({min(budgets), max(budgets)}):
        yield ProvenSegmented(copies_max=float(config["proven"]["copies_max"]), max_messages=float(budget))


# --- fewer honest users ----------------------------------------------------------------------------------------------


@for_every_panel
def epsilon_table(config: Config, panel: Scenario) -> Rows:
    """Tabulate epsilon at delta of every level, by assumed and by real share of honest users (kind: upper).

    Parameters
    ----------
    config : dict
        Keys delta_times_n, levels, splits.
    panel : Scenario
        Population and split to plan for.

    Yields
    ------
    dict
        assumed, really, level, epsilon (+inf where none up to 100 is certified).
    """
    problem = problem_of(config, panel.setting, panel.split)
    for assumed in ASSUMED:
        scheme = ProvenSegmented().plan(assuming(problem, honest_fraction=assumed)).scheme
        for level, copies in zip(problem.levels, scheme.copies, strict=True):
            curve = epsilon_over_honesty(
                blanket_mean=scheme.mean, copies=copies, pairs=problem.pairs, delta=problem.delta, fractions=REALLY
            )
            for really, epsilon in zip(REALLY, curve, strict=True):
                yield {"assumed": assumed, "really": really, "level": level, "epsilon": epsilon}


@for_every_panel
def error_table(config: Config, panel: Scenario) -> Rows:
    """Tabulate expected squared error over the share of users that a plan assumes honest, for uniform frequencies.

    Parameters
    ----------
    config : dict
        Keys delta_times_n, levels, splits, proven, whose smallest and largest budgets of messages are used, and
        assumptions, whose "honest_fractions" are the shares (1 is added to them).
    panel : Scenario
        Population and split to plan for.

    Yields
    ------
    dict
        method, max_messages (NaN: no budget), assumed, blanket_per_user, mse_expected, error_ratio: error divided by
        that of the plan that assumes everybody to be honest.
    """
    shares = sorted({*config["assumptions"]["honest_fractions"], 1.0})
    problem = problem_of(config, panel.setting, panel.split)
    for method in proven_methods(config):
        plans = [method.plan(assuming(problem, honest_fraction=assumed)) for assumed in shares]
        errors = [method.expected_mse(plan, uniform_item_counts(problem)) for plan in plans]
        for assumed, plan, error in zip(shares, plans, errors, strict=True):
            yield {
                "method": method.name,
                "max_messages": method.max_messages,
                "assumed": assumed,
                "blanket_per_user": plan.blanket_per_user,
                "mse_expected": error,
                "error_ratio": error / errors[-1],
            }


# --- users who lie ---------------------------------------------------------------------------------------------------


@for_every_panel
def influence_table(
    config: Config, panel: Scenario, published: Mapping[str, Plans], competitors: Mapping[str, Plans]
) -> Rows:
    """Tabulate the most that 1 % of the users can shift the expected estimates (kind: exact for one item, else upper).

    Parameters
    ----------
    config : dict
        Keys delta_times_n, levels, splits, competitors, and proven, whose smallest and largest budgets are used.
    panel : Scenario
        Population and split.
    published, competitors : mapping
        Setting -> plans under the published accounting, as `plan_setting` makes them.

    Yields
    ------
    dict
        accounting, method, parameters (JSON), max_messages (budget), corrupt, most_messages of one user, item,
        all_items (shifts; +inf without a bound, NaN if none is known), item_error: root of the expected squared error
        of one item if nobody lies, for uniform frequencies.
    """
    problem, proven = (problem_of(config, panel.setting, panel.split, side) for side in ("published", "proven"))
    methods = lineup(config, "published")
    counts: Any = uniform_item_counts(problem)
    # the Poisson blanket with a cap, then the paper's protocol and the competitors at their own best
    asked: list[tuple[str, Method, Plan]] = [
        ("proven", method, Capped(method).plan(proven)) for method in proven_methods(config)
    ]
    own, theirs = (plans[panel.setting.id][panel.split] for plans in (published, competitors))
    chosen = (Plan.from_dict(problem, point["plan"]) for point in [*own, *theirs] if point["role"] == "best")
    asked += [("published", methods[plan.method][0], plan) for plan in chosen]
    for accounting, method, plan in asked:
        error = method.expected_mse(plan, counts)
        yield {
            "accounting": accounting,
            "method": plan.method,
            "parameters": json.dumps(plan.chosen),
            "max_messages": getattr(method, "max_messages", None),
            "corrupt": CORRUPT,
            **asdict(getattr(method, "influence", _unknown)(plan).of(CORRUPT * problem.n_users)),
            "item_error": math.sqrt(error / problem.domain_size),
        }


def _unknown(plan: Plan) -> Influence:
    """Return NaN, and say why in the log."""
    print(f"The influence of users on {plan.method} is not known: the method has no function influence.")
    return Influence(math.nan, math.nan, math.nan)


# --- levels that depend on items -------------------------------------------------------------------------------------


def inclined_levels(holds: np.ndarray, counts: Sequence[int], strength: float, rng: np.random.Generator) -> IntArray:
    """Draw a level number for every user; the users by level are `counts` exactly.

    A user's inclination is strength x (whether it holds the item, standardised) + sqrt(1 - strength^2) x a standard
    normal number; the users with the least inclination get the lowest level, and so on. At strength 0 levels are at
    random, and at strength 1 all holders are at least as liberal as anybody else.

    Parameters
    ----------
    holds : ndarray of bool, shape (n_users,)
        Who holds the item that inclines to higher levels; some do and some do not.
    counts : sequence of int
        Users of each level.
    strength : float
        In [0, 1]: correlation of the inclination with holding the item.
    rng : numpy.random.Generator
        Source of the users' own part.
    """
    own = rng.standard_normal(holds.size)
    # at strength 1 only ties are left to the users' own part
    weight = math.sqrt(1 - strength**2) or 1e-3
    inclination = strength * (holds - holds.mean()) / holds.std() + weight * own
    levels = np.empty(holds.size, dtype=np.int64)
    starts = np.minimum(np.cumsum(counts)[:-1], holds.size - 1)
    # no order within a level is needed
    levels[np.argpartition(inclination, starts)] = np.repeat(np.arange(len(counts)), counts)
    return levels


@for_every_panel
def dependence_table(config: Config, panel: Scenario, populations: Mapping[str, Population]) -> Rows:
    """Tabulate the bias of the most frequent item and the error of all over the strength of the dependence.

    Parameters
    ----------
    config : dict
        Keys seed, repetitions, delta_times_n, levels, splits, proven.
    panel : Scenario
        Population and split.
    populations : mapping
        Setting -> who holds what.

    Yields
    ------
    dict
        source, method, strength, item, frequency; bias_expected, bias_mean, bias_stderr of that
        item; mse_expected, mse_mean, mse_stderr; repetitions. "expected" is the mean over the repetitions' levels of
        the exact value given them, "mean" that of the simulated estimates. Plans are made from public numbers.
    """
    population = populations[panel.setting.id]
    problem = problem_of(config, panel.setting, panel.split, "proven")
    counts = np.array(problem.level_counts)
    plans = [(method, method.plan(problem)) for method in (ProvenSegmented(), ProvenSegmented(equal_copies=True))]
    item = int(population.item_counts.argmax())
    holds = (population.items == item).any(axis=1)
    for strength in STRENGTHS:

        def drawn(repetition: int, strength: float = strength) -> Numbers:
            rng = stream(config["seed"], "dependent levels", panel.id, repr(strength), repetition)
            levels = inclined_levels(holds, problem.level_counts, strength, rng)
            return holders_by_level(population, levels, counts.size)

        streams = [
            stream(config["seed"], "protocol", "dependence", panel.id, method.name, repr(strength))
            for method, _ in plans
        ]
        outcomes_by_plan = list[list[FloatArray]]([] for _ in plans)
        # the same levels for all methods
        for block in blocks(population, counts.size, config["repetitions"]):
            sample = sample_of(population, drawn, block)
            for (method, plan), rng, outcomes in zip(plans, streams, outcomes_by_plan, strict=True):
                errors = method.simulate(plan, sample, rng) - sample.frequencies
                bias = bias_given_levels(np.array(plan.scheme.copies), sample.level_item_counts, counts)[:, item]
                exact = error_given_levels(plan, sample.level_item_counts, plan.scheme.weight(counts))
                outcomes.append(np.array([bias, errors[:, item], exact, (errors**2).sum(axis=1)]))
        for (method, _), outcomes in zip(plans, outcomes_by_plan, strict=True):
            bias, error, exact, squared = np.hstack(outcomes)
            yield {
                "source": population.source,
                "method": method.name,
                "strength": strength,
                "item": item,
                "frequency": population.item_counts[item] / population.n_users,
                **_means("bias", bias, error),
                **_means("mse", exact, squared),
                "repetitions": config["repetitions"],
            }


def _means(what: str, expected: FloatArray, values: FloatArray) -> dict[str, float]:
    """Return the mean of exact values, and mean and standard error of simulated ones."""
    stderr = np.std(values, ddof=1) / math.sqrt(len(values))
    return {f"{what}_expected": expected.mean(), f"{what}_mean": values.mean(), f"{what}_stderr": stderr}


# --- several rounds --------------------------------------------------------------------------------------------------


@for_every_panel
def rounds_table(config: Config, panel: Scenario) -> Rows:
    """Tabulate the expected squared error of each of T collections within one (epsilon, delta), uniform frequencies.

    Parameters
    ----------
    config : dict
        Keys delta_times_n, levels, splits, proven, whose largest budget of messages is used, and assumptions, whose
        "rounds" are the numbers T.
    panel : Scenario
        Population and split to plan for.

    Yields
    ------
    dict
        method, max_messages (a round's; NaN: no budget), accounting, rounds, blanket_per_user,
        messages_per_user, mse_expected. The accounting is "product", exact for all rounds together, or "split", where
        each round has epsilon/T and delta/T (basic composition).
    """
    *_, copies = proven_methods(config)
    problem = problem_of(config, panel.setting, panel.split, "proven")
    for method, accounting in ((copies, "product"), (ProvenSegmented(), "product"), (ProvenSegmented(), "split")):
        for rounds in config["assumptions"]["rounds"]:
            one = assuming(problem, rounds=rounds) if accounting == "product" else apart(problem, rounds)
            plan = method.plan(one)
            yield {
                "method": method.name,
                "max_messages": method.max_messages,
                "accounting": accounting,
                "rounds": rounds,
                "blanket_per_user": plan.blanket_per_user,
                "messages_per_user": plan.messages_per_user,
                "mse_expected": method.expected_mse(plan, uniform_item_counts(problem)),
            }


def apart(problem: Problem, rounds: int) -> Problem:
    """Return the problem of one round, with its share of every epsilon and of delta."""
    return replace(
        problem,
        levels=tuple(level / rounds for level in problem.levels),
        delta=problem.delta / rounds,
        level_deltas=tuple(delta / rounds for delta in problem.level_deltas),
    )
