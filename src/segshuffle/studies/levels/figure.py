"""Figure fig-levels: squared error over epsilon_p, the privacy of the users' choices of a level."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from segshuffle.datasets.registry import dataset_label
from segshuffle.looks import PALETTE, Look, series_looks
from segshuffle.pipeline.rows import common
from segshuffle.pipeline.style import fit_legend, letters, log_ticks, mark_edition, panel_grid, panel_title

#: Least ratio of the ends of an axis of errors: a panel without an effect should not look like one.
_LEAST_SPAN = 2.0
#: Ratio of the abscissas of neighbouring splits.
_SIDE_BY_SIDE = 1.04
_SETTING = ["dataset", "set_size", "n_users"]


def draw(table: pd.DataFrame, *, edition: str) -> Figure:
    """Draw one panel per setting and one curve per split.

    Parameters
    ----------
    table : DataFrame
        Rows of `studies.levels.compute.levels_table`, of one or more settings.
    edition : str
        Which results these are; "quick" is written across the figure.
    """
    settings = [rows for _, rows in table.groupby(_SETTING, sort=False)]
    columns = min(len(settings), 2)
    figure, axes = panel_grid(len(settings), columns, height=2.35, width=3.5 * columns)
    splits = list(dict.fromkeys(table["split"]))
    looks = dict(zip(splits, series_looks(splits), strict=True))
    for letter, axis, panel in zip(letters(), axes, settings):  # noqa: B905 - letters have no end
        _panel(axis, panel, looks, letter)
    fit_legend(figure, _handles(looks))
    mark_edition(figure, edition)
    return figure


def _panel(axis: Axes, rows: pd.DataFrame, looks: Mapping[str, Look], letter: str) -> None:
    """One panel: measured error with two standard errors, predicted error, and the level of the exact histogram."""
    for index, (split, look) in enumerate(looks.items()):
        mine = rows[rows["split"] == split]
        private = np.isfinite(mine["epsilon_levels"])
        curve, exact = mine[private].sort_values("epsilon_levels"), mine[~private]
        x, mean, error = (curve[name].to_numpy() for name in ("epsilon_levels", "mse_mean", "mse_stderr"))
        # side by side, as the splits may have the same error
        shift = _SIDE_BY_SIDE ** (index - (len(looks) - 1) / 2)
        axis.errorbar(
            x * shift, mean, yerr=2 * error, fmt=look.marker, color=look.color, ms=3.2, lw=0.9, capsize=1.5, zorder=4
        )
        axis.plot(x, curve["mse_predicted"], color=look.color, lw=0.8, zorder=3)
        for value in exact["mse_predicted"]:
            axis.axhline(value, color=look.color, lw=0.8, ls=(0, (4.0, 2.0)), zorder=2)
    axis.set(xscale="log", yscale="log")
    log_ticks(axis.xaxis)
    low, high = axis.get_ylim()
    widen = max(math.sqrt(_LEAST_SPAN / (high / low)), 1.0)
    axis.set_ylim(low / widen, high * widen)
    log_ticks(axis.yaxis)
    axis.set_xlabel(r"privacy of the levels $\epsilon_p$")
    axis.set_ylabel("MSE")
    label = dataset_label(*common(rows, "dataset", "source"))
    n_users, domain_size, set_size = common(rows, "n_users", "domain_size", "set_size")
    sizes = f"$n$ = {n_users:,}, $d$ = {domain_size}, $s$ = {set_size}"
    panel_title(axis, f"({letter}) {label}", sizes)


def _handles(looks: Mapping[str, Look]) -> list[Line2D]:
    """Legend: the splits that occur, then what the marks mean."""
    handles = [
        Line2D([], [], color=look.color, marker=look.marker, ls="none", ms=4, label=f"{look.label}, measured")
        for look in looks.values()
    ]
    grey = PALETTE["dark-grey"]
    handles.append(Line2D([], [], color=grey, lw=0.8, label="predicted"))
    handles.append(Line2D([], [], color=grey, lw=0.8, ls=(0, (4.0, 2.0)), label="exact histogram of levels"))
    return handles
