"""The tables of a rehearsal, for files and the page."""

import itertools
import math
from typing import Any

import numpy as np
import polars as pl

from segshuffle.rehearsal.run import Recovery, Rehearsal

#: Meanings of the columns of all tables; the page and docs/rehearse.md show these sentences.
COLUMNS = {
    "rank": "rank of the item in the data; 1 is the most frequent item",
    "item": "its name",
    "users": "users who hold it in the data",
    "true": "share of the users who hold it in the data",
    "sent": "share of the users who still hold it after sets are cut to the set size",
    "estimate": "share that the first repetition's collection estimates",
    "low, high": "95 % interval of the estimate, for what is sent",
    "standard_error": "standard deviation of the estimate",
    "bias": "mean error of the estimate, because users' levels depend on their items",
    "rmse": "root of the mean squared error against the data, over all repetitions",
    "error": "rmse divided by the true share",
    "cut": "root of the mean squared difference of true and sent; more users do not make it smaller",
    "expected": "root of the mean variance of the estimates: the rmse that is expected without cutting",
    "covered": "share of the intervals that contain the share in the data",
    "covered_sent": "share of the intervals that contain the share that is sent; 95 % if levels are random",
    "told_from_zero": "whether the estimate is above what items that nobody holds reach, with probability 0.95",
    "group": "items by their share of the users in the data",
    "items": "number of items in the group",
    "k": "the k most frequent items are looked for among the k largest estimates",
    "first, mean, least": "share of them that is found: in the first repetition, on average, in the worst one",
}


def items_table(found: Rehearsal) -> pl.DataFrame:
    """Make a row per item, from the most frequent one."""
    order = found.order
    columns: dict[str, Any] = {
        "rank": np.arange(1, order.size + 1),
        "item": [found.name(item) for item in order.tolist()],
        "users": np.rint(found.true[order] * found.plan.problem.n_users).astype(np.int64),
        **{name: getattr(found, name)[order] for name in ("true", "sent", "estimate", "low", "high")},
        "standard_error": np.sqrt(found.variance.at(found.estimate[order])),
        "rmse": np.sqrt(found.squared_error[order]),
        "told_from_zero": found.estimate[order] > found.threshold,
    }
    if found.bias is not None:
        columns["bias"] = found.bias[order]
    return pl.DataFrame(columns)


def groups_table(found: Rehearsal) -> pl.DataFrame:
    """Make a row per power of ten of the true share, and one for the items that nobody holds."""
    true, squared = found.true, found.squared_error
    powers = 10.0 ** -np.arange(math.ceil(math.log10(found.plan.problem.n_users)) + 2)
    names = [f"{100 * low:.6g} % to {100 * high:.6g} %" for high, low in itertools.pairwise(powers)]
    group = np.digitize(true, powers[1:])
    of_items = {
        "place": group,
        "group": np.array([*names, "held by nobody"])[group],
        "squared": squared,
        "relative": np.divide(squared, true**2, where=true > 0, out=np.full(true.size, math.nan)),
        "cut": (found.sent - true) ** 2,
        "expected": found.variance.at(found.sent),
        "covered": found.covered_true,
        "covered_sent": found.covered_sent,
        "told_from_zero": (found.estimate > found.threshold).astype(float),
    }
    groups = pl.DataFrame(of_items).sort("place").group_by("group", maintain_order=True)
    return groups.agg(
        pl.len().cast(pl.Int64).alias("items"),
        pl.col("squared").mean().sqrt().alias("rmse"),
        pl.col("relative").mean().sqrt().alias("error"),
        pl.col("cut", "expected").mean().sqrt(),
        pl.col("covered", "covered_sent", "told_from_zero").mean(),
    )


def top_table(found: Rehearsal) -> pl.DataFrame:
    """Tabulate how many of the most frequent items are found, for several numbers of them."""
    return pl.DataFrame(found.recovery, schema=Recovery._fields, orient="row")


def summary(found: Rehearsal, top: int) -> dict[str, Any]:
    """Return the numbers that matter most, JSON-ready; see `Rehearsal`."""
    best = found.order[:top]
    best = best[found.true[best] > 0]
    true = found.true[best]

    def relative(squares: Any) -> float:
        return math.sqrt(float(np.mean(squares / true**2))) if best.size else math.nan

    return {
        "users": found.plan.problem.n_users,
        "items": found.plan.problem.domain_size,
        "items_held": int(np.count_nonzero(found.true)),
        "repetitions": found.repetitions,
        "top": int(best.size),
        "top_error": relative(found.squared_error[best]),
        "top_error_from_cutting": relative((found.sent[best] - found.true[best]) ** 2),
        "top_found": next((each.mean for each in found.recovery if each.k == best.size), None),
        "users_cut": found.users_cut,
        "entries_lost": found.entries_lost,
        "largest_bias": None if found.bias is None else float(np.abs(found.bias).max()),
        "smallest_share_told_from_zero": found.threshold,
        "told_from_zero": found.found,
        "told_from_zero_but_held_by_nobody": found.found_wrongly,
        "held_but_not_told_from_zero": found.missed,
        "covered": float(found.covered_true.mean()),
        "covered_sent": float(found.covered_sent.mean()),
        "squared_error": float(found.squared_error.sum()),
        "squared_error_from_cutting": float(((found.sent - found.true) ** 2).sum()),
    }
