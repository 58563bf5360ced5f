"""Figure dependence: bias of the most frequent item, and error of all, where levels go with items."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from segshuffle.looks import PALETTE
from segshuffle.pipeline.style import fit_legend, letters, log_ticks, mark_edition, panel_grid
from segshuffle.protocols.registry import look_of
from segshuffle.studies.assumptions.drawing import title
from segshuffle.studies.assumptions.panels import COLUMNS


def draw(table: pd.DataFrame, *, edition: str) -> Figure:
    """Draw two panels for every population: the bias of one item at the left, the squared error at the right.

    Parameters
    ----------
    table : DataFrame
        As `dependence.dependence_table` returns it.
    edition : str
        Which results these are; "quick" is written across the figure.
    """
    panels = list(table.groupby(list(COLUMNS), sort=False))
    figure, axes = panel_grid(2 * len(panels), height=2.5, foot=0.4)
    names = letters()
    for (_, rows), left, right in zip(panels, axes[::2], axes[1::2], strict=True):
        left.axhline(0.0, color=PALETTE["dark-grey"], lw=0.6, zorder=1)
        _curves(left, rows, "bias")
        left.set_ylabel("bias of the most frequent item")
        _curves(right, rows, "mse")
        right.set(yscale="log", ylabel="MSE")
        log_ticks(right.yaxis)
        for axis in (left, right):
            axis.set_xlabel("dependence of levels on that item")
            title(axis, next(names), rows)
    fit_legend(figure)
    mark_edition(figure, edition)
    return figure


def _curves(axis: Axes, rows: pd.DataFrame, what: str) -> None:
    """Exact values as lines, simulated ones as marks with two standard errors."""
    for name, curve in rows.groupby("method", sort=False):
        look = look_of(str(name), accounting="proven")
        axis.plot(curve["strength"], curve[f"{what}_expected"], color=look.color, ls=look.dashes, lw=0.9, zorder=2)
        axis.errorbar(
            curve["strength"],
            curve[f"{what}_mean"],
            yerr=2 * curve[f"{what}_stderr"],
            fmt=look.marker,
            color=look.color,
            ms=3.0,
            lw=0.9,
            capsize=1.5,
            label=look.label,
            zorder=3,
        )
