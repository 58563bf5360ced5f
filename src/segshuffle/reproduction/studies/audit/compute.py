"""What the published guarantee is worth in the full view of the server: a table over settings, splits, m and levels.

Item-level numbers come from `accounting.collections`. User-level numbers, except the proven delta, apply the
paper's own group privacy to them. No data are used.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from operator import itemgetter
from typing import Any

import numpy as np

from segshuffle.accounting.collections.full_view import (
    FullView,
    group_delta,
    group_epsilon,
    worst_split_user_lower,
)
from segshuffle.accounting.collections.published import published_item_delta
from segshuffle.numerics.intervals import DeltaInterval
from segshuffle.plans.plan import Problem
from segshuffle.plans.scheme import Collection, Scheme
from segshuffle.reproduction.design import Config, Setting, least_delta
from segshuffle.reproduction.studies.planning import Plans, problem_of
from segshuffle.reproduction.tables import Rows

#: Numbers of a row by column.
Numbers = dict[str, float]
#: Other messages of a full view, (number of held items, sampling rate) per group, and on how many items they fall.
Others = tuple[tuple[tuple[int, float], ...], int]
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
    *("sampling_rate", "view", "item_delta_lower", "item_delta", "user_delta", "target_delta"),
    *("claimed_user_epsilon", "actual_user_epsilon", "proven_user_delta", "reachable", "kind"),
)


def audit_setting(config: Config, setting: Setting, plans: Plans) -> Rows:
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
    list of dict
        `COLUMNS`. ``item_delta_lower`` and ``item_delta`` enclose the item-level delta of the view at epsilon =
        level/s; ``user_delta`` = s e^level item_delta and ``actual_user_epsilon`` (the epsilon at ``target_delta``)
        are what the paper's group privacy makes of it; ``proven_user_delta`` is a proven lower bound of the user-level
        delta at the level itself (nan where the view gives none), so the guarantee fails where it exceeds
        ``target_delta``. ``reachable`` is False for the worst split if no level of the table sends every item at this
        m. ``kind`` is that of the item-level delta, or "skipped" with nan in place of the numbers: too many messages
        for the grid of the full view (`FullView.computable`).
    """
    problems = {split: problem_of(config, setting, split) for split in config["splits"]}
    # what does not depend on the split, or on the view, is computed once
    numbers = cache(partial(_numbers, setting.set_size, least_delta(config, setting.n_users)))
    points = [
        (Collection.from_dict(point["plan"]["collections"][0]).announcement, point["role"] == "best", split)
        for split in problems
        for point in plans[split]
    ]
    rows: Rows = []
    # blanket by blanket, because rows with the same blanket share a grid of counts
    for sent, optimum, split in sorted(points, key=lambda point: point[0].blanket_per_user):
        head = {**setting._asdict(), "split": split, "blanket_per_user": sent.blanket_per_user, "optimum": optimum}
        # a level that nobody chose has no victim
        for level in np.flatnonzero(problems[split].level_counts).tolist():
            rows += [{**head, **row} for row in _views(problems[split], sent, level, numbers)]
    rows.sort(key=itemgetter("split", "blanket_per_user", "optimum", "level"))
    return [{name: row.get(name, math.nan) for name in COLUMNS} for row in rows]


def _views(problem: Problem, sent: Scheme, level: int, numbers: Callable[..., Numbers]) -> Iterator[dict[str, Any]]:
    """Yield the row of every view of one victim; numbers that a row does not have are nan in the table."""
    s, d, claimed, rate = problem.set_size, problem.domain_size, problem.levels[level], sent.copies[level]
    blanket = sent.blanket_per_user
    protocol: Any = {"domain_size": d, "n_users": problem.n_users, "blanket_per_user": blanket, "sampling_rate": rate}
    head = {"level": claimed, "sampling_rate": rate, "target_delta": problem.delta, "claimed_user_epsilon": claimed}
    for view, kind in VIEWS.items():
        others, proven = _others(problem, sent.copies, level, view), kind == "lower"
        values = numbers(claimed, others, proven=proven or rate == 1.0, **protocol)
        row: dict[str, Any] = {**head, **values, "view": view, "kind": kind if values else "skipped"}
        if not proven:
            row.pop("proven_user_delta", None)
        elif view == "worst-split" and values and blanket.is_integer() and d >= 3 * s:
            split = worst_split_user_lower(**protocol, set_size=s, epsilon=claimed)
            row["proven_user_delta"] = max(row["proven_user_delta"], split)
        yield {**row, "reachable": view != "worst-split" or max(sent.copies) == 1.0}


def _numbers(
    set_size: int, target: float, claimed: float, others: Others | None, *, proven: bool, **protocol: Any
) -> Numbers:
    """Compute all numbers of one view of one victim; if `others` is None, those of the published accountant."""
    full = None
    if others is not None:
        full = FullView(**protocol, sent=others[0], covered_items=others[1])
        if not full.computable:
            return {}
    delta: Callable[..., DeltaInterval] = full.delta if full else partial(published_item_delta, **protocol)

    def upper_end(epsilon: float) -> float:
        return full.one_sided(epsilon, upper=True) if full else delta(epsilon=epsilon).upper

    item = delta(epsilon=claimed / set_size)
    user = group_delta(item.upper, epsilon=claimed, set_size=set_size)
    excess = math.log(max(user, 1e-290) / target)
    values = {
        "item_delta_lower": item.lower,
        "item_delta": item.upper,
        "user_delta": user,
        "actual_user_epsilon": group_epsilon(
            upper_end, set_size=set_size, delta=target, claimed=claimed, excess=excess
        ),
    }
    if proven and full:
        # one changed item of s: neighbouring users, so no group privacy is involved
        values["proven_user_delta"] = full.one_sided(claimed, upper=False)
    return values


def _others(problem: Problem, rates: Sequence[float], level: int, view: str) -> Others | None:
    """Return the messages that help to hide the victim in a view; those of its own s - 1 further items count, too."""
    if view == "published":
        return None
    # a victim that sends every item has no silence for other messages to hide
    if view == "blanket-only" or rates[level] == 1.0:
        return (), 0
    own = (problem.set_size - 1, rates[level])
    if view == "worst-split":  # the others send every item: a constant, so only the victim's own sampling is left
        return (own,), own[0]
    groups = enumerate(zip(problem.level_counts, rates, strict=True))
    sent = (own, *(((users - (k == level)) * problem.set_size, rate) for k, (users, rate) in groups))
    return sent, problem.domain_size - 2 if view == "others-spread" else problem.set_size
