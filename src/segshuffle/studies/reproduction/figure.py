"""Figures of the panels: error over m under both accountings, error over messages, and all panels at a glance.

Every loop goes over the table: what it holds is drawn, whether or not somebody declared a look for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from segshuffle.datasets.registry import dataset_label
from segshuffle.looks import PALETTE, Look
from segshuffle.pipeline.design import Scenario
from segshuffle.pipeline.rows import common
from segshuffle.pipeline.style import fit_legend, letters, log_ticks, mark_edition, panel_grid, panel_title, use_style
from segshuffle.protocols.registry import look_of, looks_in
from segshuffle.studies.reproduction.aggregate import PANEL, points_of, rows_of

_OPTIMUM = "$m$ from optimizeParameter"


def draw_errors(table: pd.DataFrame, panels: Sequence[Scenario], accounting: str, *, edition: str) -> Figure:
    """Squared error over the blanket per user, one panel per population and split.

    Parameters
    ----------
    table : DataFrame
        Rows of results/mse.csv; on the proven side those of the paper's protocol are drawn beside.
    panels : sequence of Scenario
        One per panel, in order.
    accounting : {"published", "proven"}
        Whose methods are drawn.
    edition : str
        Which results these are; "quick" is written across the figure.
    """
    figure, axes = panel_grid(len(panels), height=2.55)
    for letter, axis, panel in zip(letters(), axes, panels, strict=False):
        rows = rows_of(table, panel)
        shown = rows[rows["accounting"] == accounting]
        paper = rows[(rows["accounting"] == "published") & (rows["method"] == "segmented")]
        x = rows.loc[rows["role"] == "grid", "blanket_per_user"]
        if accounting != "published":
            _curves(axis, paper)
        _curves(axis, shown)
        _levels(axis, shown, float(x.min()), float(x.max()))
        if accounting == "published":
            _star(axis, paper, float(x.min()), float(x.max()))
        _log_axes(axis, x, "blanket messages per user $m$")
        _title(axis, letter, panel, rows)
    return _finish(figure, edition)


def draw_messages(table: pd.DataFrame, panels: Sequence[Scenario], accounting: str, *, edition: str) -> Figure:
    """Error over the weighted curator's, over expected messages per user: what each message buys (closed forms)."""
    figure, axes = panel_grid(len(panels), 3, height=2.1)
    for letter, axis, panel in zip(letters(), axes, panels, strict=False):
        rows = rows_of(table, panel)
        rows = rows[rows["accounting"] == accounting]
        best = rows[rows["role"] == "best"].set_index("method")["mse_expected"]
        spent = rows[rows["role"] == "budget"]
        for name, look in looks_in(spent).items():
            curve = spent[spent["method"] == name].sort_values("messages_per_user")
            ratio = curve["mse_expected"] / best["curator-weighted"]
            axis.plot(curve["messages_per_user"], ratio, **_line(look), ms=3)
        curator = look_of("curator-weighted", accounting=accounting)
        axis.axhline(1.0, color=curator.color, lw=1.2, label=curator.label)
        highest = float((spent["mse_expected"] / best["curator-weighted"]).max())
        axis.set(xlim=(0, None), ylim=(0.95, max(1.3, 1.05 * highest)), xlabel="messages per user")
        axis.set_ylabel("MSE / curator")
        _title(axis, letter, panel, rows)
    return _finish(figure, edition)


def draw_summary(table: pd.DataFrame, panels: Sequence[Scenario], accounting: str, *, edition: str) -> Figure:
    """One row per panel and one mark per competitor, on a log axis; 1 is the segmented protocol's error."""
    use_style()
    data = ratios(table[table["accounting"] == accounting])
    figure, axis = plt.subplots(figsize=(7.0, 0.24 * len(panels) + 1.2), layout="constrained")
    keys = [(p.setting.dataset, p.setting.n_users, p.setting.set_size, p.split) for p in panels]
    position = {key: len(panels) - 1 - index for index, key in enumerate(keys)}
    for name, look in looks_in(data).items():
        chosen = data[data["method"] == name]
        y = [position[key] for key in chosen[PANEL].itertuples(index=False, name=None)]
        axis.plot(chosen["ratio"], y, look.marker, color=look.color, label=look.label, ls="none", ms=5)
    axis.axvline(1.0, color=PALETTE["black"], lw=1.2)
    axis.set_xscale("log")
    log_ticks(axis.xaxis)
    axis.set_xlabel("MSE over the least MSE of the segmented protocol (line: 1)")
    axis.set_yticks(range(len(panels)), [_row_name(table, panel) for panel in reversed(panels)])
    axis.set_ylim(-0.7, len(panels) - 0.3)
    return _finish(figure, edition)


def draw(table: pd.DataFrame, panels: Sequence[Scenario], accounting: str, *, drawing: str, edition: str) -> Figure:
    """Draw a figure of the panels: their "errors", "messages" or a "summary"."""
    drawings = {"errors": draw_errors, "messages": draw_messages, "summary": draw_summary}
    return drawings[drawing](table, panels, accounting, edition=edition)


def ratios(table: pd.DataFrame) -> pd.DataFrame:
    """Error of every competitor over the paper's protocol's least on the grid, one row per panel and method."""
    paper = table["method"] == "segmented"
    ours = table[paper & (table["role"] == "grid")].groupby(PANEL)["mse_mean"].min()
    others = table[~paper & (table["role"] == "best")].set_index(PANEL)
    return others.assign(ratio=others["mse_mean"] / ours.reindex(others.index)).reset_index()


def _line(look: Look) -> dict[str, Any]:
    return {"marker": look.marker, "ls": look.dashes, "color": look.color, "label": look.label}


def _curves(axis: Axes, rows: pd.DataFrame) -> None:
    """Methods over the grid of m, with two standard errors around them."""
    grid = rows[rows["role"] == "grid"]
    for name, look in looks_in(grid).items():
        curve = grid[grid["method"] == name].sort_values("blanket_per_user")
        x, mean, error = curve["blanket_per_user"], curve["mse_mean"], 2 * curve["mse_stderr"]
        axis.fill_between(x, mean - error, mean + error, color=look.color, alpha=0.2, lw=0)
        axis.plot(x, mean, **_line(look), zorder=4, ms=3)


def _levels(axis: Axes, rows: pd.DataFrame, low: float, high: float) -> None:
    """Methods that choose their own m as level lines with two standard errors, marked so that they differ in grey."""
    chosen = points_of(rows)
    x = [low * (high / low) ** share for share in (0, 0.06, 0.35, 0.65, 0.94, 1)]
    for name, look in looks_in(chosen).items():
        for row in chosen[chosen["method"] == name].to_dict("records"):
            mean, error = row["mse_mean"], 2 * row["mse_stderr"]
            axis.fill_between([low, high], mean - error, mean + error, color=look.color, alpha=0.2, lw=0)
            axis.plot(x, [mean] * len(x), **_line(look), markevery=slice(1, -1), lw=1.0)


def _star(axis: Axes, rows: pd.DataFrame, low: float, high: float) -> None:
    """A star where optimizeParameter puts m, if that is inside the panel."""
    best = rows[(rows["role"] == "best") & rows["blanket_per_user"].between(low, high)]
    color = look_of("segmented").color
    for row in best.to_dict("records"):
        place = row["blanket_per_user"], row["mse_mean"]
        axis.plot(*place, "*", ms=9, color=color, mfc="white", label=_OPTIMUM, zorder=5, ls="none")


def _log_axes(axis: Axes, x: pd.Series[float], label: str) -> None:
    """Both axes logarithmic, the x axis just around the data and in plain numbers."""
    axis.set(xscale="log", yscale="log", xlim=(x.min() * 0.93, x.max() * 1.07), xlabel=label, ylabel="MSE")
    log_ticks(axis.xaxis)
    log_ticks(axis.yaxis)


def _title(axis: Axes, letter: str, panel: Scenario, rows: pd.DataFrame) -> None:
    """Title of a panel: what data, which split, which sizes."""
    setting = panel.setting
    (source,) = common(rows, "source")
    name = dataset_label(setting.dataset, source)
    sizes = f"$n$ = {setting.n_users:,}, $d$ = {setting.domain_size}, $s$ = {setting.set_size}"
    panel_title(axis, f"({letter}) {name}, {panel.split}", sizes)


def _row_name(table: pd.DataFrame, panel: Scenario) -> str:
    setting, (source,) = panel.setting, common(rows_of(table, panel), "source")
    return f"{dataset_label(setting.dataset, source)} {panel.split}, n = {setting.n_users:,}, s = {setting.set_size}"


def _finish(figure: Figure, edition: str) -> Figure:
    """Edition, and one legend of everything that any panel shows."""
    mark_edition(figure, edition)
    fit_legend(figure)
    return figure
