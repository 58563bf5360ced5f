"""Figures 2-6: squared error over the number of blanket messages per user, a panel per population and split."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from segshuffle.datasets.registry import dataset_label
from segshuffle.pipeline.design import Scenario
from segshuffle.pipeline.style import mark_edition, use_style
from segshuffle.protocols.registry import look_of, looks_in

_LETTERS = "abcdefghijklmnop"


def draw(table: pd.DataFrame, scenarios: Sequence[Scenario], *, edition: str) -> Figure:
    """Draw the panels of one figure.

    Parameters
    ----------
    table : DataFrame
        Rows of results/mse.csv.
    scenarios : sequence of Scenario
        One per panel, in order.
    edition : str
        "full" or "quick"; anything but "full" is written across the figure.
    """
    use_style()
    columns = min(len(scenarios), 2)
    rows = math.ceil(len(scenarios) / columns)
    figure, axes = plt.subplots(rows, columns, figsize=(7.0, 2.55 * rows + 0.75), squeeze=False, layout="constrained")
    for letter, axis, scenario in zip(_LETTERS, axes.flat, scenarios, strict=False):
        _panel(axis, rows_of(table, scenario), scenario, letter)
    for axis in axes.flat[len(scenarios) :]:
        axis.set_visible(False)
    handles, labels = axes.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
    mark_edition(figure, edition)
    return figure


def rows_of(table: pd.DataFrame, scenario: Scenario) -> pd.DataFrame:
    """Rows of one panel."""
    setting = scenario.setting
    chosen = (
        (table["dataset"] == setting.dataset)
        & (table["n_users"] == setting.n_users)
        & (table["set_size"] == setting.set_size)
        & (table["split"] == scenario.split)
    )
    return table[chosen]


def _panel(axis: Axes, rows: pd.DataFrame, scenario: Scenario, letter: str) -> None:
    """One panel: our curve over m with its standard error, every competitor as a level line."""
    curve = rows[(rows["method"] == "segmented") & ~rows["optimum"]].sort_values("blanket_per_user")
    x = curve["blanket_per_user"].to_numpy()
    # competitors choose their own blanket: they are level lines with a few markers to tell them apart in grey
    marks = [x[0] * (x[-1] / x[0]) ** share for share in (0.06, 0.35, 0.65, 0.94)]
    for name, look in looks_in(rows).items():
        if name == "segmented":
            _band(axis, x, curve)
            axis.plot(
                x, curve["mse_mean"], look.marker, ls=look.dashes, color=look.color, label=look.label, zorder=4, ms=3
            )
            continue
        for _, row in rows[rows["method"] == name].iterrows():
            mean, error = row["mse_mean"], 2 * row["mse_stderr"]
            axis.fill_between([x[0], x[-1]], mean - error, mean + error, color=look.color, alpha=0.2, lw=0)
            line = [x[0], *marks, x[-1]]
            axis.plot(
                line,
                [mean] * len(line),
                color=look.color,
                ls=look.dashes,
                marker=look.marker,
                markevery=slice(1, -1),
                label=look.label,
            )
    _mark_optimum(axis, rows, x)
    set_log_axes(axis, curve["blanket_per_user"], "blanket messages per user $m$")
    axis.set_title(title_of(letter, scenario, str(rows["source"].iloc[0])))


def set_log_axes(axis: Axes, x: pd.Series[float], label: str) -> None:
    """Both axes logarithmic, the x axis just around the data and in plain numbers."""
    axis.set(xscale="log", yscale="log", xlim=(x.min() * 0.93, x.max() * 1.07), xlabel=label, ylabel="MSE")
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.xaxis.set_minor_formatter(NullFormatter())


def title_of(letter: str, scenario: Scenario, source: str) -> str:
    """Title of a panel: what data, which split, which sizes."""
    setting = scenario.setting
    return (
        f"({letter}) {dataset_label(setting.dataset, source)}, {scenario.split}: $n$ = {setting.n_users:,}, "
        f"$d$ = {setting.domain_size}, $s$ = {setting.set_size}"
    )


def _band(axis: Axes, x: np.ndarray[Any, Any], curve: pd.DataFrame) -> None:
    """Two standard errors around our curve."""
    look = look_of("segmented")
    low, high = curve["mse_mean"] - 2 * curve["mse_stderr"], curve["mse_mean"] + 2 * curve["mse_stderr"]
    axis.fill_between(x, low, high, color=look.color, alpha=0.2, lw=0)


def _mark_optimum(axis: Axes, rows: pd.DataFrame, x: np.ndarray[Any, Any]) -> None:
    """A star where optimizeParameter puts m, if that is inside the panel."""
    best = rows[rows["optimum"]]
    for _, row in best.iterrows():
        if x[0] <= row["blanket_per_user"] <= x[-1]:
            axis.plot(
                row["blanket_per_user"],
                row["mse_mean"],
                "*",
                ms=9,
                color=look_of("segmented").color,
                mfc="white",
                label="$m$ from optimizeParameter",
                zorder=5,
                ls="none",
            )
