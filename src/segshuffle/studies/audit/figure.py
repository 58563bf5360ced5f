"""The audit's figure: the epsilon that is claimed against the epsilon that the full view leaves, over m."""

from __future__ import annotations

import math
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, NullFormatter

from segshuffle.datasets.registry import dataset_label
from segshuffle.pipeline.style import mark_edition, use_style

_LETTERS = "abcdefghijklmnop"
_SETTING = ["dataset", "n_users", "set_size", "domain_size"]
#: One colour and marker per level, in order: Okabe-Ito, from dark to light in grey.
_LEVELS = (("#000000", "o"), ("#D55E00", "s"), ("#56B4E9", "^"), ("#009E73", "D"), ("#CC79A7", "v"))


class _Stroke(NamedTuple):
    label: str
    dashes: str | tuple[int, tuple[float, ...]]
    filled: bool
    size: float


_VIEWS = {
    "blanket-only": _Stroke("blanket alone (upper bound)", "-", True, 4.5),
    "worst-split": _Stroke("all others send everything", (0, (4.0, 1.5)), False, 4.5),
    "others-concentrated": _Stroke("the experiment's others, same items, worst split", (0, (1.0, 1.2)), False, 2.0),
}
#: Epsilons above this are drawn at the top edge: group privacy gives nothing there.
_TOP = 10.0


def draw(table: pd.DataFrame, *, edition: str) -> Figure:
    """Draw the audit, a panel per population.

    Parameters
    ----------
    table : DataFrame
        Rows of results/audit.csv. Points with sampling rate 1 are left out: there the blanket is larger than needed.
    edition : str
        "full" or "quick"; anything but "full" is written across the figure.
    """
    use_style()
    groups = list(table.groupby(_SETTING, sort=False))
    levels = sorted(table["level"].unique())
    columns = min(len(groups), 2)
    lines = math.ceil(len(groups) / columns)
    figure, axes = plt.subplots(lines, columns, figsize=(7.0, 2.4 * lines + 0.9), squeeze=False, layout="constrained")
    for letter, axis, (setting, rows) in zip(_LETTERS, axes.flat, groups, strict=False):
        _panel(axis, rows, levels)
        dataset, n_users, set_size, domain_size = setting
        name = dataset_label(str(dataset), "real")
        axis.set_title(f"({letter}) {name}: $n$ = {n_users:,}, $d$ = {domain_size}, $s$ = {set_size}")
    for axis in axes.flat[len(groups) :]:
        axis.set_visible(False)
    figure.legend(handles=_handles(levels), loc="outside lower center", ncols=2)
    mark_edition(figure, edition)
    return figure


def _panel(axis: Axes, rows: pd.DataFrame, levels: list[float]) -> None:
    """All levels and views of one population; a view that depends on the split shows its worst one."""
    grid = rows[~rows["optimum"]]
    x = np.sort(grid["blanket_per_user"].unique())
    for level, (color, marker) in zip(levels, _LEVELS, strict=False):
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
                marker=marker,
                ms=stroke.size,
                ls="none",
                color=color,
                mfc=color if stroke.filled else "white",
                mew=0.8,
                zorder=3,
            )
            beyond = m[value > _TOP]
            axis.plot(beyond, np.full(beyond.size, _TOP), "*", ms=7, color=color, mfc="white", mew=0.7, zorder=5)
    axis.set(xscale="log", yscale="log", xlim=(x[0] * 0.93, x[-1] * 1.07), ylim=(0.8 * min(levels), _TOP * 1.12))
    axis.set_yticks(sorted({*levels, 5.0, _TOP}))
    for scale in (axis.xaxis, axis.yaxis):
        scale.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        scale.set_minor_formatter(NullFormatter())
    axis.set_xlabel("blanket messages per user $m$")
    axis.set_ylabel("user-level $\\varepsilon$ at $\\delta$")


def _handles(levels: list[float]) -> list[Line2D]:
    """Legend: colours and markers are levels, strokes are views."""
    handles = [
        Line2D(
            [], [], color=color, marker=marker, ms=3, lw=0.8, alpha=0.9, label=f"ε = {level:g} (thin line: as claimed)"
        )
        for level, (color, marker) in zip(levels, _LEVELS, strict=False)
    ]
    for stroke in _VIEWS.values():
        face = "#000000" if stroke.filled else "white"
        handles.append(
            Line2D([], [], color="#000000", ls=stroke.dashes, marker="o", ms=stroke.size, mfc=face, label=stroke.label)
        )
    handles.append(Line2D([], [], color="#000000", marker="*", ms=7, mfc="white", ls="none", label=f"above {_TOP:g}"))
    return handles
