"""Figures of the panels: error over m under both accountings, error over messages, and all panels at a glance.

Every loop goes over the table: what it holds is drawn, whether or not somebody declared a look for it.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from segshuffle.datasets.registry import dataset_label
from segshuffle.looks import PALETTE, stroke
from segshuffle.pipeline.design import Scenario
from segshuffle.pipeline.rows import common
from segshuffle.pipeline.style import fit_legend, letters, log_ticks, mark_edition, panel_grid, use_style
from segshuffle.protocols.registry import look_of, looks_in
from segshuffle.studies.drawing import Label, label_at_right, label_height, population_title
from segshuffle.studies.reproduction.aggregate import PANEL, points_of, rows_of

_OPTIMUM = "$m$ from optimizeParameter"
#: Inches: width of a figure, and where level lines are named; height of a panel, and of what is around its axes.
_NARROW, _WIDE, _HEIGHT, _AROUND = 7.0, 8.4, 2.55, 0.9
#: Characters in a line of a label beside a panel.
_CHARACTERS = 24
#: Where level lines have a mark, in shares of the axis: a line's look is told by marks and dashes, too.
_MARKS = (0, 0.06, 0.35, 0.65, 0.94, 1)


def draw_errors(table: pd.DataFrame, panels: Sequence[Scenario], accounting: str, *, edition: str) -> Figure:
    """Draw squared error over the blanket per user, one panel per population and split.

    Parameters
    ----------
    table : DataFrame
        Rows of results/mse.csv; on the proven side those of the paper's protocol are drawn beside.
    panels : sequence of Scenario
        One per panel, in order.
    accounting : {"published", "proven"}
        Whose methods are drawn. The proven ones are many: their level lines are named at the lines.
    edition : str
        Which results these are; "quick" is written across the figure.
    """
    published = accounting == "published"
    names = {} if published else _names(points_of(table[table["accounting"] == accounting]))
    height = max(_HEIGHT, label_height(names.values()) + _AROUND)
    figure, axes = panel_grid(len(panels), height=height, width=_NARROW if published else _WIDE)
    beside = []
    for letter, axis, panel in zip(letters(), axes, panels, strict=False):
        rows = rows_of(table, panel)
        shown = rows[rows["accounting"] == accounting]
        paper = rows[(rows["accounting"] == "published") & (rows["method"] == "segmented")]
        x = rows.loc[rows["role"] == "grid", "blanket_per_user"]
        if not published:
            _curves(axis, paper)
        _curves(axis, shown)
        beside.append(_levels(axis, shown, x.min(), x.max(), names))
        axis.set(xscale="log", yscale="log", xlim=(x.min() * 0.93, x.max() * 1.07))
        axis.set(xlabel="blanket messages per user $m$", ylabel="MSE")
        if published:
            _optimum(axis, paper, x.min(), x.max())
        for scale in (axis.xaxis, axis.yaxis):
            log_ticks(scale)
        population_title(axis, letter, rows, split=True, narrow=not published)
    fit_legend(figure)
    mark_edition(figure, edition)
    if not published:
        for axis, labels in zip(axes, beside, strict=True):
            label_at_right(axis, labels)
    return figure


def draw_messages(table: pd.DataFrame, panels: Sequence[Scenario], accounting: str, *, edition: str) -> Figure:
    """Draw error over the weighted curator's, over expected messages per user (closed forms)."""
    figure, axes = panel_grid(len(panels), 3, height=2.1)
    curator = look_of("curator-weighted", accounting=accounting)
    for letter, axis, panel in zip(letters(), axes, panels, strict=False):
        rows = rows_of(table, panel)
        rows = rows[rows["accounting"] == accounting]
        measure = rows[rows["role"] == "best"].set_index("method")["mse_expected"]["curator-weighted"]
        spent = rows[rows["role"] == "budget"].sort_values("messages_per_user")
        spent = spent.assign(ratio=spent["mse_expected"] / measure)
        for name, look in looks_in(spent).items():
            curve = spent[spent["method"] == name]
            axis.plot(curve["messages_per_user"], curve["ratio"], **stroke(look, ms=3))
        axis.axhline(1.0, color=curator.color, lw=1.2, label=curator.label)
        axis.set(xlim=(0, None), ylim=(0.95, max(1.3, 1.05 * spent["ratio"].max())), xlabel="messages per user")
        axis.set_ylabel("MSE / curator")
        population_title(axis, letter, rows, split=True)
    fit_legend(figure)
    mark_edition(figure, edition)
    return figure


def draw_summary(table: pd.DataFrame, panels: Sequence[Scenario], accounting: str, *, edition: str) -> Figure:
    """Draw one row per panel and one mark per competitor, on a log axis; 1 is the segmented protocol's error."""
    use_style()
    data = ratios(table[table["accounting"] == accounting])
    figure, axis = plt.subplots(figsize=(7.0, 0.24 * len(panels) + 1.2), layout="constrained")
    names = []
    for panel in panels:
        setting, (source,) = panel.setting, common(rows_of(table, panel), "source")
        label = dataset_label(setting.dataset, source)
        names.append(f"{label} {panel.split}, n = {setting.n_users:,}, s = {setting.set_size}")
    keys = [(p.setting.dataset, p.setting.n_users, p.setting.set_size, p.split) for p in panels]
    for name, look in looks_in(data).items():
        chosen = data[data["method"] == name]
        y = [len(keys) - 1 - keys.index(key) for key in chosen[PANEL].itertuples(index=False, name=None)]
        axis.plot(chosen["ratio"], y, **stroke(look, ls="none", ms=5))
    axis.axvline(1.0, color=PALETTE["black"], lw=1.2)
    axis.set(xscale="log", xlabel="MSE over the least MSE of the segmented protocol (line: 1)")
    log_ticks(axis.xaxis)
    axis.set(yticks=range(len(panels)), yticklabels=names[::-1], ylim=(-0.7, len(panels) - 0.3))
    fit_legend(figure)
    mark_edition(figure, edition)
    return figure


def draw(table: pd.DataFrame, panels: Sequence[Scenario], accounting: str, *, drawing: str, edition: str) -> Figure:
    """Draw a figure of the panels: their "errors", "messages" or a "summary"."""
    drawings = {"errors": draw_errors, "messages": draw_messages, "summary": draw_summary}
    return drawings[drawing](table, panels, accounting, edition=edition)


def ratios(table: pd.DataFrame) -> pd.DataFrame:
    """Divide every competitor's error by the least of the paper's protocol on the grid, panel by panel."""
    paper = table["method"] == "segmented"
    ours = table[paper & (table["role"] == "grid")].groupby(PANEL)["mse_mean"].min()
    others = table[~paper & (table["role"] == "best")].set_index(PANEL)
    return others.assign(ratio=others["mse_mean"] / ours.reindex(others.index)).reset_index()


def _curves(axis: Axes, rows: pd.DataFrame) -> None:
    """Methods over the grid of m, with two standard errors around them."""
    grid = rows[rows["role"] == "grid"]
    for name, look in looks_in(grid).items():
        curve = grid[grid["method"] == name].sort_values("blanket_per_user")
        x, mean, error = curve["blanket_per_user"], curve["mse_mean"], 2 * curve["mse_stderr"]
        axis.fill_between(x, mean - error, mean + error, color=look.color, alpha=0.2, lw=0)
        axis.plot(x, mean, **stroke(look, zorder=4, ms=3))


def _names(points: pd.DataFrame) -> dict[str, str]:
    """What stands beside the level line of a method: all are proven, or are trusted."""
    looks = looks_in(points).items()
    return {name: textwrap.fill(re.sub(r" \((ours, )?proven\)", "", look.label), _CHARACTERS) for name, look in looks}


def _levels(axis: Axes, rows: pd.DataFrame, low: float, high: float, names: Mapping[str, str]) -> list[Label]:
    """Level lines of methods with an m of their own, with two standard errors; in the legend if they have no name."""
    chosen, labels = points_of(rows), []
    x = [low * (high / low) ** share for share in _MARKS]
    for name, look in looks_in(chosen).items():
        (row,) = chosen[chosen["method"] == name].to_dict("records")
        mean, error = row["mse_mean"], 2 * row["mse_stderr"]
        axis.fill_between([low, high], mean - error, mean + error, color=look.color, alpha=0.2, lw=0)
        label = f"_{look.label}" if names else look.label
        axis.plot(x, [mean] * len(x), **stroke(look, label=label), markevery=slice(1, -1), lw=1.0)
        labels.append(Label(mean, names.get(name, ""), look.color))
    return labels


def _optimum(axis: Axes, rows: pd.DataFrame, low: float, high: float) -> None:
    """A star where optimizeParameter puts m; a sentence if that is outside the panel."""
    for row in rows[rows["role"] == "best"].to_dict("records"):
        m, color = row["blanket_per_user"], look_of("segmented").color
        if low <= m <= high:
            axis.plot(m, row["mse_mean"], "*", ms=9, color=color, mfc="white", label=_OPTIMUM, zorder=5, ls="none")
        else:
            # the curve falls towards that m: the other end of the panel is free below
            place, side = (0.03, "left") if m > high else (0.97, "right")
            text = f"{_OPTIMUM}: {m:.3g} (outside)"
            axis.text(place, 0.04, text, transform=axis.transAxes, ha=side, fontsize=6.5, color=color)
