"""Figure participation: epsilon over the users who really are honest, error over those assumed to be."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from segshuffle.looks import PALETTE, series_looks
from segshuffle.pipeline.rows import common
from segshuffle.pipeline.style import letters, log_ticks, mark_edition, panel_grid
from segshuffle.studies.assumptions.drawing import curve, title
from segshuffle.studies.assumptions.panels import COLUMNS

#: Room for the legend above the curves, over their own.
_LEGEND_ROOM = 0.4
#: Points of a hyperbola.
_POINTS = 50


def draw(epsilons: pd.DataFrame, errors: pd.DataFrame, *, edition: str) -> Figure:
    """Draw two panels for every population: epsilons at the left, errors at the right.

    Parameters
    ----------
    epsilons, errors : DataFrame
        As `participation.epsilon_table` and `participation.error_table` return them.
    edition : str
        Which results these are; "quick" is written across the figure.
    """
    panels = list(epsilons.groupby(list(COLUMNS), sort=False))
    figure, axes = panel_grid(2 * len(panels), height=2.7, foot=0.0)
    names = letters()
    for (key, rows), left, right in zip(panels, axes[::2], axes[1::2], strict=True):
        _epsilons(left, rows)
        _errors(right, errors[(errors[list(COLUMNS)] == list(key)).all(axis=1)])
        title(left, next(names), rows)
        title(right, next(names), rows)
    mark_edition(figure, edition)
    return figure


def _epsilons(axis: Axes, rows: pd.DataFrame) -> None:
    """One colour per plan, one line per level, on top of the levels that were promised."""
    for level in rows["level"].unique():
        axis.axhline(level, color=PALETTE["grey"], lw=0.6, zorder=1)
    plans = list(rows.groupby("assumed", sort=False))
    looks = series_looks(f"plan assumes {assumed:.0%}" for assumed, _ in plans)
    for (_, plan), look in zip(plans, looks, strict=True):
        label = look.label
        for _, points in plan[np.isfinite(plan["epsilon"])].groupby("level"):
            curve(axis, points["really"], points["epsilon"], look._replace(label=label))
            label = "_"
    axis.set(yscale="log", xlabel="users who really are honest", ylabel=r"$\epsilon$ at $\delta$")
    low, high = axis.get_ylim()
    axis.set_ylim(low, high * (high / low) ** _LEGEND_ROOM)
    log_ticks(axis.yaxis)
    axis.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axis.legend()


def _errors(axis: Axes, rows: pd.DataFrame) -> None:
    """One curve per method and budget, below the line of 1/h."""
    groups = list(rows.groupby(["method", "max_messages"], sort=False, dropna=False))
    looks = series_looks(_label(points) for _, points in groups)
    for (_, points), look in zip(groups, looks, strict=True):
        curve(axis, points["assumed"], points["error_ratio"], look)
    shares = np.linspace(rows["assumed"].min(), rows["assumed"].max(), _POINTS)
    axis.plot(shares, 1 / shares, color=PALETTE["dark-grey"], lw=0.9, ls=":", label="1 / assumed share")
    axis.set(xlabel="users assumed to be honest", ylabel="MSE / that of assuming all")
    axis.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axis.legend()


def _label(points: pd.DataFrame) -> str:
    """What is sent, in short: the group of figures says whose protocol it is."""
    (messages,) = common(points, "max_messages")
    return "sampling" if np.isnan(messages) else f"copies, {messages:g} messages"
