"""Figure influence: what a hundredth of the users can do to the estimates of every protocol."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from segshuffle.looks import PALETTE
from segshuffle.pipeline.rows import common
from segshuffle.pipeline.style import fit_legend, letters, log_ticks, mark_edition, panel_grid
from segshuffle.protocols.registry import look_of
from segshuffle.studies.assumptions.drawing import title
from segshuffle.studies.assumptions.panels import COLUMNS

#: Column -> what is drawn of it: label, marker, filled or not.
_SERIES = {
    "item": ("shift of one frequency", "o", "full"),
    "all_items": ("shift of all frequencies together", "o", "none"),
    "item_error": ("standard error of one frequency, nobody lies", "|", "full"),
}


def draw(table: pd.DataFrame, *, edition: str) -> Figure:
    """Draw one panel per population, one row per method.

    Parameters
    ----------
    table : DataFrame
        As `influence.influence_table` returns it.
    edition : str
        Which results these are; "quick" is written across the figure.
    """
    panels = list(table.groupby(list(COLUMNS), sort=False))
    figure, axes = panel_grid(len(panels), 1, height=0.75 + 0.2 * max(len(rows) for _, rows in panels), foot=0.4)
    for (_, rows), axis, letter in zip(panels, axes, letters(), strict=False):
        _methods(axis, rows)
        title(axis, letter, rows)
        (corrupt,) = common(rows, "corrupt")
        axis.set_xlabel(f"share of the users; {corrupt:.0%} of them lie")
    fit_legend(figure)
    mark_edition(figure, edition)
    return figure


def _methods(axis: Axes, rows: pd.DataFrame) -> None:
    """Marks of every series, and words where there is no bound."""
    places = np.arange(len(rows))[::-1]
    for column, (label, marker, fill) in _SERIES.items():
        axis.plot(rows[column], places, marker, color=PALETTE["blue"], fillstyle=fill, label=label)
    axis.set(xscale="log", yticks=places, yticklabels=[_label(row) for _, row in rows.iterrows()])
    axis.set_ylim(-0.6, len(rows) - 0.4)
    log_ticks(axis.xaxis)
    for place, shift in zip(places, rows["item"], strict=True):
        if not np.isfinite(shift):
            words = "no bound" if np.isinf(shift) else "not known"
            axis.text(0.99, place, words, transform=axis.get_yaxis_transform(), ha="right", va="center")


def _label(row: pd.Series) -> str:
    """The method, and what one of its users may send."""
    label = look_of(str(row["method"]), str(row["parameters"]), accounting=str(row["accounting"])).label
    if np.isfinite(row["max_messages"]):
        label += f", budget {row['max_messages']:g}"
    return f"{label}: {row['most_messages']:g}" if np.isfinite(row["most_messages"]) else label
