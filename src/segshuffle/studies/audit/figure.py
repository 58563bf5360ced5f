"""The audit's figure: the epsilon that is claimed against the epsilon that the full view leaves, over m."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from segshuffle.datasets.registry import dataset_label
from segshuffle.looks import PALETTE, Dashes, Look, series_looks
from segshuffle.pipeline.style import fit_legend, letters, log_ticks, mark_edition, panel_grid, panel_title

_SETTING = ["dataset", "n_users", "set_size", "domain_size"]


class _Stroke(NamedTuple):
    label: str
    dashes: Dashes
    filled: bool
    size: float


_VIEWS = {
    "blanket-only": _Stroke("blanket alone (upper bound)", "-", filled=True, size=4.5),
    "worst-split": _Stroke("all others send everything", (0, (4.0, 1.5)), filled=False, size=4.5),
    "others-concentrated": _Stroke(
        "the experiment's others, same items, worst split", (0, (1.0, 1.2)), filled=False, size=2.0
    ),
}
#: Epsilons above this are drawn at the top edge: group privacy gives nothing there.
_TOP = 10.0
#: Least ratio of neighbouring ticks.
_TICKS_APART = 1.25


def draw(table: pd.DataFrame, *, edition: str) -> Figure:
    """Draw the audit, a panel per population.

    Parameters
    ----------
    table : DataFrame
        Rows of results/audit.csv. Points with sampling rate 1 are left out: there the blanket is larger than needed.
    edition : str
        Which results these are; "quick" is written across the figure.
    """
    groups = list(table.groupby(_SETTING, sort=False))
    levels = sorted(table["level"].unique())
    looks = dict(zip(levels, series_looks(f"ε = {level:g} (thin line: as claimed)" for level in levels), strict=True))
    figure, axes = panel_grid(len(groups), height=2.4)
    for letter, axis, (setting, rows) in zip(letters(), axes, groups):  # noqa: B905 - letters have no end
        _panel(axis, rows, looks)
        dataset, n_users, set_size, domain_size = setting
        # the numbers are of a population's sizes, not of its data: a stand-in has the same
        name = dataset_label(str(dataset), "real")
        panel_title(axis, f"({letter}) {name}", f"$n$ = {n_users:,}, $d$ = {domain_size}, $s$ = {set_size}")
    fit_legend(figure, _handles(looks))
    mark_edition(figure, edition)
    return figure


def _panel(axis: Axes, rows: pd.DataFrame, looks: Mapping[float, Look]) -> None:
    """All levels and views of one population; a view that depends on the split shows its worst one."""
    grid = rows[~rows["optimum"]]
    x = np.sort(grid["blanket_per_user"].unique())
    for level, look in looks.items():
        color = look.color
        axis.axhline(level, color=color, lw=0.8, ls="-", alpha=0.45, zorder=1)
        for view, stroke in _VIEWS.items():
            chosen = grid[(grid["level"] == level) & (grid["view"] == view) & (grid["sampling_rate"] < 1.0)]
            curve = chosen.groupby("blanket_per_user")["actual_user_epsilon"].max()
            if curve.empty:
                continue
            # the total of messages is certain only at integer m: those points belong to no curve
            m, value = curve.index.to_numpy(dtype=float), curve.to_numpy()
            whole = m == np.round(m)
            axis.plot(m[~whole], np.minimum(value[~whole], _TOP), ls=stroke.dashes, lw=0.9, color=color, zorder=2)
            axis.plot(
                m[whole & (value <= _TOP)],
                value[whole & (value <= _TOP)],
                marker=look.marker,
                ms=stroke.size,
                ls="none",
                color=color,
                mfc=color if stroke.filled else "white",
                mew=0.8,
                zorder=3,
            )
            beyond = m[value > _TOP]
            axis.plot(beyond, np.full(beyond.size, _TOP), "*", ms=7, color=color, mfc="white", mew=0.7, zorder=5)
    axis.set(xscale="log", yscale="log", xlim=(x[0] * 0.93, x[-1] * 1.07), ylim=(0.8 * min(looks), _TOP * 1.12))
    log_ticks(axis.xaxis)
    log_ticks(axis.yaxis, _apart(sorted({*looks, 5.0, _TOP})))
    axis.set_xlabel("blanket messages per user $m$")
    axis.set_ylabel("user-level $\\varepsilon$ at $\\delta$")


def _apart(values: list[float]) -> list[float]:
    """Ticks whose labels do not touch: each well above the one before."""
    chosen: list[float] = []
    for value in values:
        if not chosen or value >= chosen[-1] * _TICKS_APART:
            chosen.append(value)
    return chosen


def _handles(looks: Mapping[float, Look]) -> list[Line2D]:
    """Legend: colours and markers are levels, strokes are views."""
    handles = [
        Line2D([], [], color=look.color, marker=look.marker, ms=3, lw=0.8, alpha=0.9, label=look.label)
        for look in looks.values()
    ]
    black = PALETTE["black"]
    for stroke in _VIEWS.values():
        face = black if stroke.filled else "white"
        handles.append(
            Line2D([], [], color=black, ls=stroke.dashes, marker="o", ms=stroke.size, mfc=face, label=stroke.label)
        )
    handles.append(Line2D([], [], color=black, marker="*", ms=7, mfc="white", ls="none", label=f"above {_TOP:g}"))
    return handles
