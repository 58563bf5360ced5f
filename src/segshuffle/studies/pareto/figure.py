"""Error over messages per user, a panel for every number of items and epsilon."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from segshuffle.looks import stroke
from segshuffle.pipeline.rows import common
from segshuffle.pipeline.style import fit_legend, letters, log_ticks, mark_edition, panel_grid, panel_title
from segshuffle.protocols.registry import look_of
from segshuffle.studies.pareto.winners import filled, front


def draw_size(table: pd.DataFrame, *, n_users: int, domain_size: int, split: str, edition: str) -> Figure:
    """Draw one size and split of the table as it was written."""
    of_size = (table["n_users"] == n_users) & (table["domain_size"] == domain_size)
    return draw(filled(table[of_size & (table["split"] == split)]), edition=edition)


def draw(table: pd.DataFrame, *, edition: str) -> Figure:
    """Draw the fronts of all methods of one size and split; open marks where the guarantee is not proven.

    Parameters
    ----------
    table : DataFrame
        Rows of one size and one split, as `compute.table` returns them.
    edition : str
        Which results these are; "quick" is written across the figure.
    """
    panels = list(table.groupby(["set_size", "epsilon"], sort=True))
    methods = table[["method", "accounting", "role"]].drop_duplicates()
    n_users, domain_size = common(table, "n_users", "domain_size")
    figure, axes = panel_grid(len(panels), min(table["epsilon"].nunique(), 3), height=2.3, foot=1.5)
    for letter, axis, ((set_size, epsilon), rows) in zip(letters(), axes, panels):  # noqa: B905 - letters have no end
        for method, accounting, role in methods.itertuples(index=False, name=None):
            chosen = (rows["method"] == method) & (rows["accounting"] == accounting) & (rows["role"] == role)
            best = front(rows[chosen & (rows["refused"] == "")])
            look = look_of(method, accounting=accounting)
            if role == "reference":
                axis.axhline(best["error_ratio"].min(), color=look.color, ls=look.dashes, lw=0.9, label=look.label)
            elif len(best):
                face = "none" if accounting == "published" else look.color
                axis.plot(best["messages_per_user"], best["error_ratio"], **stroke(look, mfc=face, ms=3, lw=0.8))
        sizes = f"$n$ = {n_users:,}, $d$ = {domain_size:,}, $s$ = {set_size}"
        panel_title(axis, f"({letter}) $\\epsilon$ = {epsilon:g}", sizes)
        axis.set(xscale="log", yscale="log", xlabel="messages per user", ylabel="MSE / Gaussian curator's")
        for scale in (axis.xaxis, axis.yaxis):
            log_ticks(scale)
    fit_legend(figure)
    mark_edition(figure, edition)
    return figure
