"""What results show in a notebook: short tables as HTML, and axes to draw on."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from segshuffle.extras import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Inches of a row of a plot, and of what is around the rows.
_ROW, _AROUND = 0.25, 1.2


def html_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in HTML; all texts are escaped."""
    parts = [f"<table><caption>{html.escape(title)}</caption>"]
    for tag, row in [("th", columns), *(("td", row) for row in rows)]:
        cells = "".join(f"<{tag}>{html.escape(text)}</{tag}>" for text in row)
        parts.append(f"<tr>{cells}</tr>")
    return "".join([*parts, "</table>"])


def axes_of_rows(ax: Axes | None, labels: Sequence[str]) -> Axes:
    """Return axes whose rows, from the top, have these labels: the given ones, or those of a new figure."""
    require("pipeline", "A plot", "matplotlib")
    import matplotlib.pyplot as plt

    if ax is None:
        _, ax = plt.subplots(figsize=(7.0, _ROW * len(labels) + _AROUND), layout="constrained")
    ax.set_yticks(range(len(labels)), labels, parse_math=False)
    ax.set_ylim(len(labels) - 0.5, -0.5)
    return ax
