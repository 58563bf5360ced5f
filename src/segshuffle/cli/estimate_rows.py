"""Rows of estimates, rounded to what their errors carry, and the tables that are written of them."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from segshuffle.arrays import IntArray
from segshuffle.collection.library import Estimate
from segshuffle.collection.planning.foresight import CONFIDENCE
from segshuffle.datasets.own.layout import tidied

#: Columns of a table that may be shown, and of a row.
PUBLISHED = ("item", "users", "users_low", "users_high", "estimate", "low", "high")
COLUMNS = (*PUBLISHED, "standard_error", "told_from_zero", "messages")
#: Rows that are made together, to bound the memory.
_TOGETHER = 10**5


def rows_of(estimated: Estimate, counts: IntArray, clip: bool, items: IntArray) -> Iterator[dict[str, Any]]:
    """Make a row for each of some items, in their order.

    Parameters
    ----------
    estimated : Estimate
        The estimates of all items.
    counts : ndarray of int, shape (domain_size,)
        Messages about each item.
    clip : bool
        Whether shares are cut to [0, 1].
    items : ndarray of int
        The items.
    """
    n_users = estimated.plan.problem.n_users
    for start in range(0, items.size, _TOGETHER):
        some = items[start : start + _TOGETHER]
        estimates, variance = estimated.frequencies[some], estimated.variance
        shares = [estimates, *variance.interval(estimates, CONFIDENCE)]
        if clip:
            shares = [np.clip(each, 0.0, 1.0) for each in shares]
        errors = np.sqrt(variance.at(estimates))
        columns = (some, counts[some], *shares, errors, estimates > estimated.threshold)
        for item, count, share, low, high, error, told in zip(*map(np.ndarray.tolist, columns), strict=True):
            places, users_places = _places(error), min(_places(n_users * error), 0)
            users = map(int, _rounded([n_users * each for each in (share, low, high)], users_places))
            rounded = (*_rounded((share, low, high), places), round(error, places))
            yield dict(zip(COLUMNS, (tidied(estimated.name(item)), *users, *rounded, told, count), strict=True))


def _rounded(ends: Sequence[float], places: int) -> list[float]:
    """Round a number, and its interval outwards."""
    number, low, high = ends
    unit = 10.0**places
    return [round(each, places) for each in (number, math.floor(low * unit) / unit, math.ceil(high * unit) / unit)]


def _places(error: float) -> int:
    """Return the number of decimals that two significant digits of a standard error need."""
    return 1 - math.floor(math.log10(error)) if error > 0.0 else 15


def as_percent(row: Mapping[str, Any]) -> dict[str, str]:
    """Return a row for the screen."""
    places = max(_places(row["standard_error"]) - 2, 0)
    estimate, low, high = (f"{100 * row[name]:.{places}f}" for name in ("estimate", "low", "high"))
    return {
        "item": row["item"],
        "users": f"{row['users']:,}",
        "share %": estimate,
        "95 % from": low,
        "to": high,
        "told from zero": "yes" if row["told_from_zero"] else "no",
    }
