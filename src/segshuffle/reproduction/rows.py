"""Rows of tables: values that all share, sources of their data, and Markdown."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


def common(rows: pd.DataFrame, *columns: str) -> tuple[Any, ...]:
    """Return the values that all rows share in some columns.

    Raises
    ------
    ValueError
        If they differ, or there are none.
    """
    (values,) = rows[list(columns)].drop_duplicates().itertuples(index=False, name=None)
    return tuple(values)


def sources_of(table: pd.DataFrame) -> str:
    """Name the datasets of a table, and whether each is real, a stand-in or synthetic, in one line."""
    sources = dict(zip(table["dataset"], table["source"], strict=True))
    return "Data: " + ", ".join(f"{name} ({source})" for name, source in sources.items()) + "."


def table_of(head: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """Write a table in Markdown."""
    cells = [[str(cell).replace("|", "\\|") for cell in row] for row in (head, *rows)]
    first, *others = (f"| {' | '.join(row)} |" for row in cells)
    return "\n".join([first, "|" + "---|" * len(cells[0]), *others])
