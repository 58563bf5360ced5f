"""What users who lie can do to the estimates of every protocol, beside the error when nobody does."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from segshuffle.errors import ParameterError
from segshuffle.pipeline.design import Config, Scenario
from segshuffle.protocols.base import Method, Plan, Problem, uniform_item_counts
from segshuffle.protocols.capped import Capped
from segshuffle.protocols.messages.influence import Influence, influence
from segshuffle.studies.assumptions.panels import head
from segshuffle.studies.assumptions.participation import proven_methods
from segshuffle.studies.reproduction.methods import lineup
from segshuffle.studies.reproduction.planning import Plans, problem_of

#: Share of the users who lie.
CORRUPT = 0.01


def influence_table(
    config: Config, panels: Sequence[Scenario], published: Mapping[str, Plans], competitors: Mapping[str, Plans]
) -> pd.DataFrame:
    """Largest shift of the expected estimates by 1 % of the users, by method (kind: exact for one item, upper for all).

    Parameters
    ----------
    config : dict
        Keys delta_times_n, levels, splits, competitors, and proven, whose smallest and largest budgets are used.
    panels : sequence of Scenario
        Populations and splits.
    published, competitors : mapping
        Setting -> plans under the published accounting, as `plan_setting` makes them.

    Returns
    -------
    DataFrame
        Columns of the panel, accounting, method, parameters (JSON), max_messages (budget), corrupt, most_messages of
        one user, item, all_items (shifts; +inf without a bound, NaN if none is known), item_error: root of the
        expected squared error of one item if nobody lies, for uniform frequencies.
    """
    rows = []
    for panel in panels:
        problem, proven = (problem_of(config, panel.setting, panel.split, side) for side in ("published", "proven"))
        points = [*published[panel.setting.id][panel.split], *competitors[panel.setting.id][panel.split]]
        for accounting, method, plan in (*_ours(config, proven), *_published(config, problem, points)):
            together = _known(plan).of(CORRUPT * problem.n_users)
            error = method.expected_mse(plan, uniform_item_counts(problem))
            rows.append(
                {
                    **head(panel),
                    "accounting": accounting,
                    "method": plan.method,
                    "parameters": json.dumps(plan.parameters),
                    "max_messages": getattr(method, "max_messages", None),
                    "corrupt": CORRUPT,
                    "most_messages": together.most_messages,
                    "item": together.item,
                    "all_items": together.all_items,
                    "item_error": math.sqrt(error / problem.domain_size),
                }
            )
    return pd.DataFrame(rows)


def _known(plan: Plan) -> Influence:
    """The influence, or NaN and a line in the log."""
    try:
        return influence(plan)
    except ParameterError as reason:
        print(reason)
        return Influence(math.nan, math.nan, math.nan)


def _ours(config: Config, problem: Problem) -> Iterator[tuple[str, Any, Plan]]:
    """The Poisson blanket with a cap: sampling, and copies within two budgets."""
    for method in proven_methods(config):
        yield "proven", method, Capped(method).plan(problem)


def _published(
    config: Config, problem: Problem, points: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[str, Method, Plan]]:
    """The paper's protocol and the configured competitors, at their own best."""
    methods = lineup(config, "published")
    for point in points:
        if point["role"] == "best":
            plan = Plan.from_dict(problem, point["plan"])
            yield "published", methods[plan.method].method, plan
