"""The figure of this study, squared error over the privacy of the users' choices of a level, and its description."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from segshuffle.drawing.looks import Look
from segshuffle.drawing.style import finished, log_axes
from segshuffle.reproduction.numbers import nearest
from segshuffle.reproduction.studies.drawing import POPULATION, draw_measured, population_panels, series_of

#: Least ratio of the ends of an axis of errors: a panel without an effect should not look as if it had one.
_LEAST_SPAN = 2.0
#: Ratio of the abscissas of neighbouring splits, which may have the same error.
_SIDE_BY_SIDE = 1.04
_PREDICTED: dict[str, Any] = {"lw": 0.8, "ls": "-", "label": "predicted"}
_EXACT: dict[str, Any] = {"lw": 0.8, "ls": (0, (4.0, 2.0)), "label": "exact histogram of levels"}


def draw(table: pd.DataFrame) -> Figure:
    """Draw one panel per setting and one curve per split.

    Parameters
    ----------
    table : DataFrame
        Rows of `reproduction.studies.levels.compute.levels_table`, of one or more settings.
    """
    figure, panels = population_panels(table, split=False, height=2.35)
    looks = series_of(table["split"])
    for rows, (axis,) in panels:
        _panel(axis, rows, looks)
    return finished(figure)


def _panel(axis: Axes, rows: pd.DataFrame, looks: Mapping[str, Look]) -> None:
    """Draw measured error with two standard errors, predicted error, and the error with the exact histogram."""
    for index, (split, look) in enumerate(looks.items()):
        mine = rows[rows["split"] == split]
        private = np.isfinite(mine["epsilon_levels"])
        curve = mine[private].sort_values("epsilon_levels")
        x = curve["epsilon_levels"]
        shift = _SIDE_BY_SIDE ** (index - (len(looks) - 1) / 2)
        draw_measured(axis, x * shift, curve, "mse", look, label=f"{split}, measured")
        axis.plot(x, curve["mse_predicted"], color=look.color, zorder=3, **_PREDICTED)
        for value in mine[~private]["mse_predicted"]:
            axis.axhline(value, color=look.color, zorder=2, **_EXACT)
    axis.set(xscale="log", yscale="log", xlabel=r"privacy of the levels $\epsilon_p$", ylabel="MSE")
    low, high = axis.get_ylim()
    widen = max(math.sqrt(_LEAST_SPAN / (high / low)), 1.0)
    axis.set_ylim(low / widen, high * widen)
    log_axes(axis)


def description(figure: str, tables: Mapping[str, pd.DataFrame]) -> str | None:
    """Say what private levels cost, at each epsilon of theirs."""
    if figure != "levels":
        return None
    table = pd.concat([rows for path, rows in tables.items() if path.startswith("levels/")], ignore_index=True)
    errors = table.pivot_table("mse_mean", [*POPULATION, "split"], "epsilon_levels")
    ratios = errors.div(errors[math.inf], axis=0).drop(columns=math.inf)
    said = [f"{epsilon:g}: {nearest(ratio.min())} to {nearest(ratio.max())}" for epsilon, ratio in ratios.items()]
    return (
        "Charts of squared error over the privacy of the levels, a panel per population, a curve per split. Measured "
        "error, divided by the error with the exact histogram of levels: its range over populations and splits, at "
        f"each ε of the levels: {'; '.join(said)}."
    )
