"""Rows of estimates, rounded to what their errors carry, and the tables that are written of them."""

import argparse
import csv
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from segshuffle.arrays import IntArray
from segshuffle.datasets.layout import tidied
from segshuffle.files import writing
from segshuffle.library import Estimate
from segshuffle.planning.documents import Document

#: Columns of a row.
COLUMNS = ("item", "count", "estimate", "low", "high", "standard_error", "told_from_zero")
#: Rows that are made together, to bound the memory.
_TOGETHER = 10**5


def rows_of(
    options: argparse.Namespace,
    document: Document,
    counts: IntArray,
    found: Estimate,
    items: IntArray,
) -> Iterator[dict[str, Any]]:
    """Make a row for each of some items, in their order.

    Parameters
    ----------
    options : Namespace
        With the confidence of the intervals, and whether shares are cut to [0, 1].
    document : Document
        The plan, which has the names of the items.
    counts : ndarray of int, shape (domain_size,)
        Messages about each item.
    found : Estimate
        The estimates of all items.
    items : ndarray of int
        The items.
    """
    for start in range(0, items.size, _TOGETHER):
        some = items[start : start + _TOGETHER]
        estimates, variance = found.frequencies[some], found.variance
        shares = [estimates, *variance.interval(estimates, options.confidence)]
        if options.clip:
            shares = [np.clip(each, 0.0, 1.0) for each in shares]
        errors = np.sqrt(variance.at(estimates))
        columns = (some, counts[some], *shares, errors, estimates > found.threshold)
        for item, count, share, low, high, error, told in zip(*map(np.ndarray.tolist, columns), strict=True):
            places = _places(error)
            low, high = math.floor(low * 10**places) / 10**places, math.ceil(high * 10**places) / 10**places
            rounded = [round(each, places) for each in (share, low, high, error)]
            yield dict(zip(COLUMNS, (tidied(document.name(item)), count, *rounded, told), strict=True))


def _places(error: float) -> int:
    """Return the number of decimals that two significant digits of a standard error need."""
    return 1 - math.floor(math.log10(error)) if error > 0.0 else 15


def as_percent(row: Mapping[str, Any], confidence: float) -> dict[str, str]:
    """Return a row for the screen."""
    places = max(_places(row["standard_error"]) - 2, 0)
    estimate, low, high = (f"{100 * row[name]:.{places}f}" for name in ("estimate", "low", "high"))
    return {
        "item": row["item"],
        "messages": str(row["count"]),
        "estimate %": estimate,
        f"{100 * confidence:g} % from": low,
        "to": high,
        "told from zero": "yes" if row["told_from_zero"] else "no",
    }


def write_table(path: Path, names: Sequence[str], rows: Iterable[Mapping[str, Any]], made: str = "") -> None:
    """Write some columns of rows as CSV, row by row; a line that begins with # says how they were made."""
    with writing(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        file.write(f"# {made}\n" if made else "")
        table = csv.DictWriter(file, names, extrasaction="ignore", lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
