"""Figures of the proven protocols: error over m, and error over messages per user, a panel per population and split."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from segshuffle.looks import Look
from segshuffle.pipeline.design import Scenario
from segshuffle.pipeline.style import mark_edition, use_style
from segshuffle.protocols.registry import look_of
from segshuffle.studies.reproduction.figure import rows_of, set_log_axes, title_of

_LETTERS = "abcdefghijklmnopqr"
_CURVES = ("sound-group", "tight", "tight-copies")


def draw(tight: pd.DataFrame, published: pd.DataFrame, scenarios: Sequence[Scenario], *, edition: str) -> Figure:
    """Error over the blanket per user, for the panels of one of Figures 2-6.

    Parameters
    ----------
    tight : DataFrame
        Rows of results/tight.csv.
    published : DataFrame
        Rows of results/mse.csv: the published protocol is drawn beside.
    """
    figure, axes = _panels(len(scenarios), columns=2, height=2.6)
    for letter, axis, scenario in zip(_LETTERS, axes, scenarios, strict=False):
        theirs, ours = rows_of(published, scenario), rows_of(tight, scenario)
        curve = theirs[(theirs["method"] == "segmented") & ~theirs["optimum"]]
        _curve(axis, curve, look_of("segmented"), "blanket_per_user")
        for name in _CURVES:
            _curve(axis, ours[(ours["method"] == name) & (ours["role"] == "grid")], look_of(name), "blanket_per_user")
        best = ours[(ours["role"] == "best") & ~ours["method"].isin(_CURVES)]
        _levels(axis, best, float(curve["blanket_per_user"].min()), float(curve["blanket_per_user"].max()))
        set_log_axes(axis, curve["blanket_per_user"], "blanket messages per user $m$")
        axis.set_title(title_of(letter, scenario, str(theirs["source"].iloc[0])))
    return _finish(figure, axes, edition)


def draw_messages(tight: pd.DataFrame, scenarios: Sequence[Scenario], *, edition: str) -> Figure:
    """Error over the weighted curator's, over expected messages per user: what each message buys."""
    figure, axes = _panels(len(scenarios), columns=3, height=2.1)
    for letter, axis, scenario in zip(_LETTERS, axes, scenarios, strict=False):
        rows = rows_of(tight, scenario)
        best = rows[rows["role"] == "best"].set_index("method")["mse_expected"]
        for name in ("tight", "tight-copies"):
            spent = rows[(rows["role"] == "budget") & (rows["method"] == name)].sort_values("messages_per_user")
            look = look_of(name)
            ratio = spent["mse_expected"] / best["curator-weighted"]
            axis.plot(
                spent["messages_per_user"], ratio, look.marker, ls=look.dashes, color=look.color, label=look.label, ms=3
            )
        axis.axhline(1.0, color=look_of("curator-weighted").color, lw=1.2, label=look_of("curator-weighted").label)
        set_log_axes(axis, rows.loc[rows["role"] == "budget", "messages_per_user"], "messages per user")
        axis.set(xscale="linear", yscale="linear", xlim=(0, None), ylim=(0.95, 2.0))
        axis.set_ylabel("MSE / curator")
        axis.set_title(title_of(letter, scenario, str(rows["source"].iloc[0])), fontsize=6.5)
    return _finish(figure, axes, edition)


def _panels(count: int, *, columns: int, height: float) -> tuple[Figure, list[Axes]]:
    use_style()
    rows = math.ceil(count / columns)
    figure, axes = plt.subplots(rows, columns, figsize=(7.0, height * rows + 1.0), squeeze=False, layout="constrained")
    for axis in axes.flat[count:]:
        axis.set_visible(False)
    return figure, list(axes.flat[:count])


def _curve(axis: Axes, rows: pd.DataFrame, look: Look, x: str) -> None:
    """A curve with two standard errors around it."""
    rows = rows.sort_values(x)
    low, high = rows["mse_mean"] - 2 * rows["mse_stderr"], rows["mse_mean"] + 2 * rows["mse_stderr"]
    axis.fill_between(rows[x], low, high, color=look.color, alpha=0.2, lw=0)
    axis.plot(
        rows[x], rows["mse_mean"], look.marker, ls=look.dashes, color=look.color, label=look.label, ms=3, zorder=4
    )


def _levels(axis: Axes, rows: pd.DataFrame, low: float, high: float) -> None:
    """Methods without an m of ours as level lines, marked a few times so that they differ in grey."""
    marks = [low * (high / low) ** share for share in (0.06, 0.35, 0.65, 0.94)]
    for row in rows.to_dict("records"):
        look = look_of(row["method"], parameters=row.get("parameters"))
        axis.plot(
            [low, *marks, high],
            [row["mse_mean"]] * (len(marks) + 2),
            color=look.color,
            ls=look.dashes,
            marker=look.marker,
            markevery=slice(1, -1),
            label=look.label,
            lw=1.0,
        )


def _finish(figure: Figure, axes: Iterable[Axes], edition: str) -> Figure:
    handles, labels = next(iter(axes)).get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
    mark_edition(figure, edition)
    return figure
