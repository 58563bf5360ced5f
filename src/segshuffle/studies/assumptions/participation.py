"""What a plan guarantees if fewer users are honest than it assumes, and what assuming fewer costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from segshuffle.accounting.collections.participation import epsilon_over_honesty
from segshuffle.pipeline.design import Config, Scenario
from segshuffle.protocols.base import Problem, uniform_item_counts
from segshuffle.protocols.proven import ProvenSegmented
from segshuffle.studies.assumptions.panels import head
from segshuffle.studies.reproduction.planning import problem_of

#: Shares that plans assume, for the curves of epsilon.
ASSUMED = (1.0, 0.8, 0.5)
#: Shares of users who really are honest.
REALLY = tuple(round(0.3 + 0.05 * step, 2) for step in range(15))


def assuming(problem: Problem, honest_fraction: float) -> Problem:
    """The problem with another share of honest users."""
    return replace(problem, assumptions=replace(problem.assumptions, honest_fraction=honest_fraction))


def epsilon_table(config: Config, panels: Sequence[Scenario]) -> pd.DataFrame:
    """Epsilon at delta of every level, by assumed and by real share of honest users (kind: upper).

    Parameters
    ----------
    config : dict
        Keys delta_times_n, levels, splits.
    panels : sequence of Scenario
        Populations and splits to plan for.

    Returns
    -------
    DataFrame
        Columns of the panel, assumed, really, level, epsilon (+inf where none up to 100 is certified).
    """
    rows = []
    for panel in panels:
        problem = problem_of(config, panel.setting, panel.split)
        for assumed in ASSUMED:
            plan = ProvenSegmented().plan(assuming(problem, assumed))
            mean = problem.n_users * plan.blanket_per_user / problem.domain_size
            for level, copies in zip(problem.levels, plan.parameters["copies"], strict=True):
                curve = epsilon_over_honesty(
                    blanket_mean=mean, copies=copies, pairs=problem.pairs, delta=problem.delta, fractions=REALLY
                )
                for really, epsilon in zip(REALLY, curve, strict=True):
                    rows.append(
                        {**head(panel), "assumed": assumed, "really": really, "level": level, "epsilon": epsilon}
                    )
    return pd.DataFrame(rows)


def error_table(config: Config, panels: Sequence[Scenario]) -> pd.DataFrame:
    """Expected squared error over the share of users that a plan assumes to be honest, for uniform frequencies.

    Parameters
    ----------
    config : dict
        Keys delta_times_n, levels, splits, proven, whose smallest and largest budgets of messages are used, and
        assumptions, whose "honest_fractions" are the shares (1 is added to them).
    panels : sequence of Scenario
        Populations and splits to plan for.

    Returns
    -------
    DataFrame
        Columns of the panel, method, max_messages (NaN: no budget), assumed, blanket_per_user, mse_expected,
        error_ratio: over that of the plan that assumes everybody to be honest.
    """
    rows, shares = [], sorted({*config["assumptions"]["honest_fractions"], 1.0})
    for panel in panels:
        problem = problem_of(config, panel.setting, panel.split)
        counts = uniform_item_counts(problem)
        for method in proven_methods(config):
            plans = [method.plan(assuming(problem, assumed)) for assumed in shares]
            errors = np.array([method.expected_mse(plan, counts) for plan in plans])
            for assumed, plan, error in zip(shares, plans, errors.tolist(), strict=True):
                rows.append(
                    {
                        **head(panel),
                        "method": method.name,
                        "max_messages": method.max_messages,
                        "assumed": assumed,
                        "blanket_per_user": plan.blanket_per_user,
                        "mse_expected": error,
                        "error_ratio": error / errors[-1],
                    }
                )
    return pd.DataFrame(rows)


def proven_methods(config: Config) -> Iterator[ProvenSegmented]:
    """Sampling, and copies within the smallest and the largest budget."""
    yield ProvenSegmented()
    budgets = config["proven"]["max_messages"]
    for budget in dict.fromkeys((min(budgets), max(budgets))):
        yield ProvenSegmented(copies_max=float(config["proven"]["copies_max"]), max_messages=float(budget))
