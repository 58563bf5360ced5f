"""Rows of estimates, rounded to what their errors carry, and the tables that are written of them."""

import csv
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from segshuffle.arrays import IntArray
from segshuffle.datasets.layout import tidied
from segshuffle.files import writing
from segshuffle.library import Estimate, estimate
from segshuffle.planning.documents import Document
from segshuffle.planning.foresight import threshold_of
from segshuffle.protocols.base import Plan

#: Columns of a row.
COLUMNS = ("item", "count", "estimate", "low", "high", "standard_error", "told_from_zero")
#: Rows that are made together, to bound the memory.
_TOGETHER = 10**5


@dataclass(frozen=True)
class Rows:
    """Estimates of some items, the largest first, as rows of a table.

    Parameters
    ----------
    document : Document
        The plan, which has the names of the items.
    counts : ndarray of int, shape (domain_size,)
        Messages about each item.
    found : Estimate
        The estimates.
    threshold : float
        A larger estimate is told from zero.
    confidence : float
        Probability that an interval contains its share.
    clip : bool
        Whether estimates and intervals are cut to [0, 1].
    items : ndarray of int
        Which items, in the order of the rows.
    """

    document: Document
    counts: IntArray
    found: Estimate
    threshold: float
    confidence: float
    clip: bool
    items: IntArray

    @classmethod
    def of(cls, document: Document, plan: Plan, counts: IntArray, confidence: float, clip: bool) -> "Rows":
        """Estimate the shares of all items for the users of `plan`."""
        found = estimate(plan, counts)
        largest = np.argsort(-found.frequencies, kind="stable")
        return cls(document, counts, found, threshold_of(plan), confidence, clip, largest)

    def first(self, number: int | None) -> "Rows":
        """Return the first rows; all for None."""
        return replace(self, items=self.items[:number])

    def told_from_zero(self) -> "Rows":
        """Return the rows of items that are told from zero."""
        return replace(self, items=self.items[self.found.frequencies[self.items] > self.threshold])

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Make the rows, some at a time."""
        for start in range(0, self.items.size, _TOGETHER):
            items = self.items[start : start + _TOGETHER]
            part = replace(self.found, frequencies=self.found.frequencies[items])
            told, shares = part.frequencies > self.threshold, [part.frequencies, *part.interval(self.confidence)]
            if self.clip:
                shares = [np.clip(each, 0.0, 1.0) for each in shares]
            columns = (items, self.counts[items], *shares, part.standard_errors, told)
            for item, count, share, low, high, error, is_told in zip(*map(np.ndarray.tolist, columns), strict=True):
                places = _places(error)
                yield {
                    "item": tidied(self.document.name(item)),
                    "count": count,
                    "estimate": round(share, places),
                    "low": round(math.floor(low * 10**places) / 10**places, places),
                    "high": round(math.ceil(high * 10**places) / 10**places, places),
                    "standard_error": round(error, places),
                    "told_from_zero": is_told,
                }


def _places(error: float) -> int:
    """Return the number of decimals that two significant digits of a standard error need."""
    return 1 - math.floor(math.log10(error)) if error > 0.0 else 15


def as_percent(row: Mapping[str, Any], confidence: float) -> dict[str, str]:
    """Return a row for the screen."""
    places = max(_places(row["standard_error"]) - 2, 0)
    return {
        "item": row["item"],
        "messages": str(row["count"]),
        "estimate %": f"{100 * row['estimate']:.{places}f}",
        f"{100 * confidence:g} % from": f"{100 * row['low']:.{places}f}",
        "to": f"{100 * row['high']:.{places}f}",
        "told from zero": "yes" if row["told_from_zero"] else "no",
    }


def write_table(
    path: Path,
    rows: Iterable[Mapping[str, Any]],
    own: Mapping[str, Any] = MappingProxyType({}),
    *,
    names: Sequence[str] = COLUMNS,
    made: str = "",
) -> None:
    """Write rows as CSV, one by one.

    Parameters
    ----------
    path : Path
        The file.
    rows : iterable of mapping
        As `Rows` makes them.
    own : mapping
        Further columns, with the same value in every row.
    names : sequence of str
        Columns of the rows.
    made : str
        How the table was made; a line that begins with # says so.
    """
    with writing(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        file.write(f"# {made}\n" if made else "")
        table = csv.DictWriter(file, [*names, *own], extrasaction="ignore", lineterminator="\n")
        table.writeheader()
        table.writerows({**row, **own} for row in rows)
