"""What the published guarantee is worth in the full view of the server: a table over settings, splits, m and levels.

The item-level numbers are those of `accounting.full_view`; user-level numbers apply the paper's own group privacy to
them. No data is looked at.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from segshuffle.accounting.collections.full_view import FullView
from segshuffle.accounting.collections.full_view_users import group_delta, group_epsilon, worst_split_user_lower
from segshuffle.accounting.collections.published import published_item_delta
from segshuffle.accounting.numerics.hockey_stick import DeltaInterval
from segshuffle.pipeline.design import Config, Setting
from segshuffle.protocols.base import Problem
from segshuffle.protocols.scheme import Collection
from segshuffle.studies.planning import Plans, problem_of

#: View -> kind of its *item-level* delta as a statement on the protocol.
VIEWS = {
    "published": "published",
    "blanket-only": "upper",
    "others-spread": "lower",
    "others-concentrated": "lower",
    "worst-split": "lower",
}
#: Columns of results/audit.csv, in order.
COLUMNS = (
    *("dataset", "n_users", "set_size", "domain_size", "split", "blanket_per_user", "optimum", "level"),
    *("sampling_rate", "view", "item_epsilon", "item_delta_lower", "item_delta", "user_delta", "target_delta"),
    *("claimed_user_epsilon", "actual_user_epsilon", "proven_user_delta", "reachable", "kind"),
)


class _Cell(NamedTuple):
    """One victim: a problem, a blanket, the rates of all levels, and the level in question."""

    problem: Problem
    blanket: float
    rates: tuple[float, ...]
    level: int

    @property
    def protocol(self) -> dict[str, Any]:
        """What every accountant needs to know."""
        return {
            "domain_size": self.problem.domain_size,
            "n_users": self.problem.n_users,
            "blanket_per_user": self.blanket,
            "sampling_rate": self.rates[self.level],
        }


def audit_setting(config: Config, setting: Setting, plans: Plans) -> pd.DataFrame:
    """Tabulate the claimed and the actual guarantee of every split, m, level and view of one population.

    Parameters
    ----------
    config : dict
        Splits, levels and delta_times_n are used.
    setting : Setting
        The population.
    plans : dict
        As `planning.plan_setting` returns it for the paper's own protocol alone.

    Returns
    -------
    DataFrame
        `COLUMNS`. ``item_delta_lower`` and ``item_delta`` enclose the item-level delta of the view at ``item_epsilon``
        = level/s; ``user_delta`` = s e^level item_delta and ``actual_user_epsilon`` (the epsilon at ``target_delta``)
        are what the paper's group privacy makes of it; ``proven_user_delta`` is a proven lower bound of the user-level
        delta at the level itself (nan where the view gives none), so the guarantee fails where it exceeds
        ``target_delta``. ``reachable`` is False where the worst split needs a level that the table does not have (none
        sends every item at this m). ``kind`` is that of the item-level delta, or "skipped" with nan in place of the
        numbers: too many messages for the grid of the full view (`FullView.computable`).
    """
    memory: dict[Hashable, dict[str, Any]] = {}
    rows = []
    # rates do not depend on the split: the grid of one is that of all
    splits = list(config["splits"])
    points = [(point["plan"], False, splits) for point in plans[splits[0]] if point["role"] == "grid"]
    points += [(point["plan"], True, [split]) for split in splits for point in plans[split] if point["role"] == "best"]
    problems = {split: problem_of(config, setting, split) for split in config["splits"]}
    # the blanket is the outer loop: all cells of one blanket share a grid of counts
    for plan, optimum, asked in points:
        sent = Collection.from_dict(plan["collections"][0]).announcement
        blanket, rates = sent.blanket_per_user, sent.copies
        for split in asked:
            problem = problems[split]
            # a level that nobody chose has no victim
            for level in np.flatnonzero(problem.level_counts).tolist():
                cell = _Cell(problem, blanket, rates, level)
                head = {**asdict(setting), "split": split, "blanket_per_user": blanket, "optimum": optimum}
                for view, kind in VIEWS.items():
                    reachable = view != "worst-split" or max(rates) == 1.0
                    row = _row(cell, view, memory)
                    known = "skipped" if math.isnan(row["item_delta"]) else kind
                    rows.append({**head, **row, "reachable": reachable, "kind": known})
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    return table.sort_values(["split", "blanket_per_user", "optimum", "level"], kind="stable", ignore_index=True)


def _row(cell: _Cell, view: str, memory: dict[Hashable, dict[str, Any]]) -> dict[str, Any]:
    """Make the row of one view; what does not depend on the split, or on the view, is computed once."""
    rate = cell.rates[cell.level]
    # a victim that is never silent has nothing that others could hide: one full view
    others = _others(cell, view) if view != "published" and rate < 1.0 else {}
    key = (view == "published", cell.blanket, cell.level, rate, repr(others))
    if key not in memory:
        full = None if view == "published" else FullView(**cell.protocol, **others)
        memory[key] = _numbers(cell, full, proven=VIEWS[view] == "lower" or rate == 1.0)
    row = {**memory[key], "view": view}
    if VIEWS[view] != "lower":
        return {**row, "proven_user_delta": math.nan}
    s, d = cell.problem.set_size, cell.problem.domain_size
    if view == "worst-split" and cell.blanket.is_integer() and d >= 3 * s and not math.isnan(row["proven_user_delta"]):
        split = worst_split_user_lower(**cell.protocol, set_size=s, epsilon=row["claimed_user_epsilon"])
        row["proven_user_delta"] = max(row["proven_user_delta"], split)
    return row


def _numbers(cell: _Cell, full: FullView | None, *, proven: bool) -> dict[str, Any]:
    """Compute all numbers of one view of one cell; without a full view those of the published accountant."""
    problem, claimed, s = cell.problem, cell.problem.levels[cell.level], cell.problem.set_size
    row = {
        "level": claimed,
        "sampling_rate": cell.rates[cell.level],
        "item_epsilon": claimed / s,
        **dict.fromkeys(("item_delta_lower", "item_delta", "user_delta"), math.nan),
        "target_delta": problem.delta,
        "claimed_user_epsilon": claimed,
        **dict.fromkeys(("actual_user_epsilon", "proven_user_delta"), math.nan),
    }
    if full is not None and not full.computable:
        return row

    def delta(epsilon: float) -> DeltaInterval:
        return full.delta(epsilon) if full else published_item_delta(**cell.protocol, epsilon=epsilon)

    def upper_end(epsilon: float) -> float:
        return full.one_sided(epsilon, upper=True) if full else delta(epsilon).upper

    item = delta(claimed / s)
    row["item_delta_lower"], row["item_delta"] = item.lower, item.upper
    row["user_delta"] = group_delta(item.upper, epsilon=claimed, set_size=s)
    excess = math.log(max(row["user_delta"], 1e-290) / problem.delta)
    row["actual_user_epsilon"] = group_epsilon(
        upper_end, set_size=s, delta=problem.delta, claimed=claimed, excess=excess
    )
    if proven and full is not None:
        # one changed item of s: neighbouring users, so no group privacy is involved
        row["proven_user_delta"] = full.one_sided(claimed, upper=False)
    return row


def _others(cell: _Cell, view: str) -> Mapping[str, Any]:
    """Say what else is sent, and on how many items it falls; the victim's own s - 1 further items are part of it."""
    problem = cell.problem
    own = (problem.set_size - 1, cell.rates[cell.level])
    if view == "blanket-only":
        return {}
    if view == "worst-split":  # the others send every item: a constant, so only the victim's own sampling is left
        return {"sent": [own], "covered_items": own[0]}
    sent = [own]
    for k, (users, rate) in enumerate(zip(problem.level_counts, cell.rates, strict=True)):
        sent.append(((users - (k == cell.level)) * problem.set_size, rate))
    spread = view == "others-spread"
    return {"sent": sent, "covered_items": problem.domain_size - 2 if spread else problem.set_size}
