"""Figure participation: epsilon over the users who really are honest, error over those assumed to be."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from segshuffle.datasets.registry import dataset_label
from segshuffle.looks import PALETTE, Look, series_looks
from segshuffle.pipeline.style import letters, log_ticks, mark_edition, panel_grid, panel_title

_PANEL = ["dataset", "n_users", "set_size", "domain_size", "split"]


def draw(epsilons: pd.DataFrame, errors: pd.DataFrame, *, edition: str) -> Figure:
    """Draw two panels for every population: epsilons at the left, errors at the right.

    Parameters
    ----------
    epsilons, errors : DataFrame
        As `participation.epsilon_table` and `participation.error_table` return them.
    edition : str
        "full" or "quick"; anything but "full" is written across the figure.
    """
    panels = list(epsilons.groupby(_PANEL, sort=False))
    figure, axes = panel_grid(2 * len(panels), 2, 2.7, foot=0.0)
    names = letters()
    for (_, rows), left, right in zip(panels, axes[::2], axes[1::2], strict=True):
        first = rows.iloc[0]
        sizes = f"$n$ = {first['n_users']:,}, $d$ = {first['domain_size']}, $s$ = {first['set_size']}"
        title = f"{dataset_label(str(first['dataset']), 'real')}, {first['split']}"
        _epsilons(left, rows)
        panel_title(left, f"({next(names)}) {title}", sizes)
        _errors(right, errors[(errors[_PANEL] == first[_PANEL]).all(axis=1)])
        panel_title(right, f"({next(names)}) {title}", sizes)
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
        for _, curve in plan[np.isfinite(plan["epsilon"])].groupby("level"):
            _curve(axis, curve["really"], curve["epsilon"], look._replace(label=label))
            label = "_"
    axis.set(yscale="log", xlabel="users who really are honest", ylabel=r"$\epsilon$ at $\delta$")
    log_ticks(axis.yaxis)
    axis.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axis.legend()


def _errors(axis: Axes, rows: pd.DataFrame) -> None:
    """One curve per method and budget, below the line of 1/h."""
    groups = list(rows.groupby(["method", "max_messages"], sort=False, dropna=False))
    looks = series_looks(_label(curve.iloc[0]) for _, curve in groups)
    for (_, curve), look in zip(groups, looks, strict=True):
        _curve(axis, curve["assumed"], curve["error_ratio"], look)
    shares = np.array(sorted(rows["assumed"].unique()))
    axis.plot(shares, 1 / shares, color=PALETTE["dark-grey"], lw=0.9, ls=":", label="1 / assumed share")
    axis.set(xlabel="users assumed to be honest", ylabel="MSE / that of assuming all")
    axis.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axis.legend()


def _curve(axis: Axes, x: pd.Series, y: pd.Series, look: Look) -> None:
    axis.plot(x, y, look.marker, ls=look.dashes, color=look.color, ms=2.5, lw=0.9, label=look.label)


def _label(row: pd.Series) -> str:
    """What is sent, in short: the group of figures says whose protocol it is."""
    return "sampling" if np.isnan(row["max_messages"]) else f"copies, {row['max_messages']:g} messages"
