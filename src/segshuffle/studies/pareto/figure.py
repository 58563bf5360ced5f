"""Error over messages per user, a panel for every number of items and epsilon."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from segshuffle.looks import Look
from segshuffle.pipeline.rows import common
from segshuffle.pipeline.style import fit_legend, letters, log_ticks, mark_edition, panel_grid, panel_title
from segshuffle.protocols.registry import look_of
from segshuffle.studies.pareto.winners import filled, front


def draw_size(table: pd.DataFrame, *, n_users: int, domain_size: int, split: str, edition: str) -> Figure:
    """Draw one size and split of the table as it was written."""
    of_size = (table["n_users"] == n_users) & (table["domain_size"] == domain_size)
    return draw(filled(table[of_size & (table["split"] == split)]), edition=edition)


def draw(table: pd.DataFrame, *, edition: str) -> Figure:
    """Draw the fronts of all methods of one size and split.

    Parameters
    ----------
    table : DataFrame
        Rows of one size and one split, as `compute.table` returns them.
    edition : str
        Which results these are; "quick" is written across the figure.
    """
    panels = list(table.groupby(["set_size", "epsilon"], sort=True))
    columns = min(table["epsilon"].nunique(), 3)
    methods = table[["method", "accounting"]].drop_duplicates()
    looks = {
        (row["method"], row["accounting"]): look_of(row["method"], accounting=row["accounting"])
        for row in methods.to_dict("records")
    }
    figure, axes = panel_grid(len(panels), columns, height=2.3, foot=1.5)
    for letter, axis, ((set_size, epsilon), rows) in zip(letters(), axes, panels):  # noqa: B905 - letters have no end
        for key, look in looks.items():
            mine = rows[(rows["method"] == key[0]) & (rows["accounting"] == key[1]) & (rows["refused"] == "")]
            if len(mine):
                _curve(axis, mine, look, published=key[1] == "published")
        n_users, domain_size = common(rows, "n_users", "domain_size")
        sizes = f"$n$ = {n_users:,}, $d$ = {domain_size:,}, $s$ = {set_size}"
        panel_title(axis, f"({letter}) $\\epsilon$ = {epsilon:g}", sizes)
        axis.set(xscale="log", yscale="log", xlabel="messages per user", ylabel="MSE / Gaussian curator's")
        for scale in (axis.xaxis, axis.yaxis):
            log_ticks(scale)
    fit_legend(figure)
    mark_edition(figure, edition)
    return figure


def _curve(axis: Axes, rows: pd.DataFrame, look: Look, *, published: bool) -> None:
    """Draw the front of one method: a line over its plans, open marks where the guarantee is not proven."""
    if (rows["role"] == "reference").all():
        axis.axhline(rows["error_ratio"].min(), color=look.color, ls=look.dashes, lw=0.9, label=look.label)
        return
    best = front(rows)
    face = "none" if published else look.color
    axis.plot(
        best["messages_per_user"], best["error_ratio"], look.marker,
        ls=look.dashes, color=look.color, mfc=face, ms=3, lw=0.8, label=look.label,
    )  # fmt: skip
