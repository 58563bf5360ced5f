"""Figure fig-levels: squared error over epsilon_p, the privacy of the users' choices of a level."""

from __future__ import annotations

import math

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, NullFormatter

from segshuffle.datasets.registry import dataset_label
from segshuffle.looks import Look
from segshuffle.pipeline.style import mark_edition, use_style

_LETTERS = "abcdefghijklmnop"
#: Least ratio of the ends of an axis of errors: a panel without an effect should not look like one.
_LEAST_SPAN = 2.0
_SETTING = ["dataset", "set_size", "n_users"]

#: The splits, in the colours of the project; distinguishable without colour by marker.
SPLITS: dict[str, Look] = {
    "S1": Look("S1", "#000000", "o", "-"),
    "S2": Look("S2", "#D55E00", "s", "-"),
    "S3": Look("S3", "#0072B2", "^", "-"),
}


def draw(table: pd.DataFrame, *, edition: str) -> Figure:
    """Draw one panel per setting and one curve per split.

    Parameters
    ----------
    table : DataFrame
        Rows of `studies.levels.compute.levels_table`, of one or more settings.
    edition : str
        "full" or "quick"; anything but "full" is written across the figure.
    """
    use_style()
    settings = [rows for _, rows in table.groupby(_SETTING, sort=False)]
    columns = min(len(settings), 2)
    rows = math.ceil(len(settings) / columns)
    figure, axes = plt.subplots(
        rows, columns, figsize=(3.5 * columns, 2.35 * rows + 0.75), squeeze=False, layout="constrained"
    )
    for letter, axis, panel in zip(_LETTERS, axes.flat, settings, strict=False):
        _panel(axis, panel, letter)
    for axis in axes.flat[len(settings) :]:
        axis.set_visible(False)
    figure.legend(handles=_handles(table), loc="outside lower center", ncols=3)
    mark_edition(figure, edition)
    return figure


def _panel(axis: Axes, rows: pd.DataFrame, letter: str) -> None:
    """One panel: measured error with two standard errors, predicted error, and the level of the exact histogram."""
    for shift, (split, look) in zip((0.96, 1.0, 1.04), SPLITS.items(), strict=True):
        mine = rows[rows["split"] == split]
        private = np.isfinite(mine["epsilon_levels"])
        curve, exact = mine[private].sort_values("epsilon_levels"), mine[~private]
        x, mean, error = (curve[name].to_numpy() for name in ("epsilon_levels", "mse_mean", "mse_stderr"))
        # side by side, as the splits may have the same error
        axis.errorbar(
            x * shift, mean, yerr=2 * error, fmt=look.marker, color=look.color, ms=3.2, lw=0.9, capsize=1.5, zorder=4
        )
        axis.plot(x, curve["mse_predicted"], color=look.color, lw=0.8, zorder=3)
        for value in exact["mse_predicted"]:
            axis.axhline(value, color=look.color, lw=0.8, ls=(0, (4.0, 2.0)), zorder=2)
    axis.set(xscale="log", yscale="log")
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.xaxis.set_minor_formatter(NullFormatter())
    low, high = axis.get_ylim()
    widen = max(math.sqrt(_LEAST_SPAN / (high / low)), 1.0)
    axis.set_ylim(low / widen, high * widen)
    # errors span less than a decade: powers of ten alone would name one tick or none
    ticks = FuncFormatter(_named if high / low < 10 else _named_sparsely)
    axis.yaxis.set_major_formatter(ticks)
    axis.yaxis.set_minor_formatter(ticks)
    axis.tick_params(axis="y", which="minor", labelsize=6.5)
    axis.set_xlabel(r"privacy of the levels $\epsilon_p$")
    axis.set_ylabel("MSE")
    first = rows.iloc[0]
    label = dataset_label(str(first["dataset"]), str(first["source"]))
    axis.set_title(
        f"({letter}) {label}: $n$ = {first['n_users']:,}, $d$ = {first['domain_size']}, $s$ = {first['set_size']}"
    )


def _named(value: float, _: int | None) -> str:
    """Label of a tick on an axis of errors, such as 2.5e-4."""
    power = math.floor(math.log10(value) + 1e-9)
    return f"{value / 10.0**power:.3g}e{power}"


def _named_sparsely(value: float, position: int | None) -> str:
    """The same for 1, 2 and 5 times a power of ten only."""
    name = _named(value, position)
    return name if name.split("e")[0] in ("1", "2", "5") else ""


def _handles(table: pd.DataFrame) -> list[Line2D]:
    """Legend: the splits that occur, then what the marks mean."""
    present = set(table["split"])
    handles = [
        Line2D([], [], color=look.color, marker=look.marker, ls="none", ms=4, label=f"{look.label}, measured")
        for split, look in SPLITS.items()
        if split in present
    ]
    grey = "#666666"
    handles.append(Line2D([], [], color=grey, lw=0.8, label="predicted"))
    handles.append(Line2D([], [], color=grey, lw=0.8, ls=(0, (4.0, 2.0)), label="exact histogram of levels"))
    return handles
