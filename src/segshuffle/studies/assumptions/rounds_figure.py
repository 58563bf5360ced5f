"""Figure rounds: error of each of T collections within one epsilon and delta."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from segshuffle.looks import series_looks
from segshuffle.pipeline.style import fit_legend, letters, log_ticks, mark_edition, panel_grid
from segshuffle.studies.assumptions.drawing import curve, title
from segshuffle.studies.assumptions.panels import COLUMNS

_CURVE = ["method", "max_messages", "accounting"]


def draw(table: pd.DataFrame, *, edition: str) -> Figure:
    """Draw one panel for every population.

    Parameters
    ----------
    table : DataFrame
        As `rounds.rounds_table` returns it.
    edition : str
        Which results these are; "quick" is written across the figure.
    """
    panels = list(table.groupby(list(COLUMNS), sort=False))
    figure, axes = panel_grid(len(panels), height=2.6, foot=0.6)
    kinds = [rows.iloc[0] for _, rows in table.groupby(_CURVE, sort=False, dropna=False)]
    looks = series_looks(_label(kind) for kind in kinds)
    for letter, axis, (_, rows) in zip(letters(), axes, panels):  # noqa: B905 - letters have no end
        for kind, look in zip(kinds, looks, strict=True):
            same = (rows[_CURVE].fillna(0) == kind[_CURVE].fillna(0)).all(axis=1)
            curve(axis, rows.loc[same, "rounds"], rows.loc[same, "mse_expected"], look)
        axis.set(xscale="log", yscale="log", xlabel="rounds $T$", ylabel="MSE of each round")
        log_ticks(axis.xaxis, sorted(rows["rounds"].unique()))
        log_ticks(axis.yaxis)
        title(axis, letter, rows)
    fit_legend(figure)
    mark_edition(figure, edition)
    return figure


def _label(row: pd.Series) -> str:
    """What is sent in a round, and how the rounds are accounted for if not as one product."""
    sent = "sampling" if np.isnan(row["max_messages"]) else f"copies, {row['max_messages']:g} messages"
    return sent if row["accounting"] == "product" else f"{sent}, each round within ($\\epsilon/T$, $\\delta/T$)"
