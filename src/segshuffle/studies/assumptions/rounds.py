"""What it costs to ask the same users several times within one epsilon and delta."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pandas as pd

from segshuffle.pipeline.design import Config, Scenario
from segshuffle.protocols.base import Problem, uniform_item_counts
from segshuffle.protocols.proven import ProvenSegmented
from segshuffle.studies.assumptions.panels import head
from segshuffle.studies.reproduction.planning import problem_of


def rounds_table(config: Config, panels: Sequence[Scenario]) -> pd.DataFrame:
    """Expected squared error of each of T collections within one (epsilon, delta), for uniform frequencies.

    Parameters
    ----------
    config : dict
        Keys delta_times_n, levels, splits, proven, whose largest budget of messages is used, and assumptions, whose
        "rounds" are the numbers T.
    panels : sequence of Scenario
        Populations and splits to plan for.

    Returns
    -------
    DataFrame
        Columns of the panel, method, max_messages (a round's; NaN: no budget), accounting, rounds, blanket_per_user,
        messages_per_user, mse_expected. The accounting is "product", exact for all rounds together, or "split", where
        each round has epsilon/T and delta/T (basic composition).
    """
    rows = []
    for panel in panels:
        problem = problem_of(config, panel.setting, panel.split, "proven")
        for method, accounting in _curves(config):
            for rounds in config["assumptions"]["rounds"]:
                asked = together(problem, rounds) if accounting == "product" else apart(problem, rounds)
                plan = method.plan(asked)
                rows.append(
                    {
                        **head(panel),
                        "method": method.name,
                        "max_messages": method.max_messages,
                        "accounting": accounting,
                        "rounds": rounds,
                        "blanket_per_user": plan.blanket_per_user,
                        "messages_per_user": plan.messages_per_user,
                        "mse_expected": method.expected_mse(plan, uniform_item_counts(problem)),
                    }
                )
    return pd.DataFrame(rows)


def together(problem: Problem, rounds: int) -> Problem:
    """All rounds within the problem's guarantee, as one product."""
    return replace(problem, assumptions=replace(problem.assumptions, rounds=rounds))


def apart(problem: Problem, rounds: int) -> Problem:
    """One of the rounds, with its share of every epsilon and of delta."""
    return replace(
        problem,
        levels=tuple(level / rounds for level in problem.levels),
        delta=problem.delta / rounds,
        level_deltas=tuple(delta / rounds for delta in problem.level_deltas),
    )


def _curves(config: Config) -> Iterator[tuple[ProvenSegmented, str]]:
    """Methods and accountings, in the order of the legend."""
    options = config["proven"]
    budget = float(max(options["max_messages"]))
    yield ProvenSegmented(copies_max=float(options["copies_max"]), max_messages=budget), "product"
    yield ProvenSegmented(), "product"
    yield ProvenSegmented(), "split"
