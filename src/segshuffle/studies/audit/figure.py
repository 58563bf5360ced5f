"""The audit's figure: the epsilon that is claimed, and the epsilon that the full view leaves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from segshuffle.datasets.registry import dataset_label
from segshuffle.looks import PALETTE, TINTS
from segshuffle.pipeline.style import fit_legend, log_ticks, mark_edition, use_style
from segshuffle.studies.audit.words import audited, worst_over_splits
from segshuffle.studies.drawing import POPULATION

#: View -> legend entry, marker and whether it is filled, the bound first.
_VIEWS = {
    "blanket-only": ("blanket alone (upper bound)", "o", True),
    "worst-split": ("all others send everything", "o", False),
    "others-concentrated": ("the experiment's others, same items, worst split", "|", True),
}
_CLAIMED, _BEYOND = "as claimed", "group privacy gives no $\\varepsilon$"
#: Where a point without an epsilon is drawn, over the largest epsilon.
_END = 1.5


class _Row(NamedTuple):
    """One row of the chart: its name, its points, and whether another population begins."""

    name: str
    points: pd.DataFrame
    first: bool


def draw(table: pd.DataFrame, *, edition: str) -> Figure:
    """Draw a column per level, and a row per population and whole m, with one for all other m together.

    The total of messages is certain at a whole m alone, so these are the points where the views differ from the claim.

    Parameters
    ----------
    table : DataFrame
        Rows of results/audit.csv. Points with sampling rate 1 are left out: there the blanket is larger than needed.
    edition : str
        Which results these are; "quick" is written across the figure.
    """
    use_style()
    worst = pd.concat(
        worst_over_splits(rows).assign(view=view) for view, rows in audited(table).groupby("view") if view in _VIEWS
    )
    rows = list(_rows(worst))
    levels = sorted(worst["level"].unique())
    finite = worst["actual_user_epsilon"][np.isfinite(worst["actual_user_epsilon"])]
    size = (7.4, 0.19 * len(rows) + 1.4)
    figure, axes = plt.subplots(1, len(levels), figsize=size, squeeze=False, layout="constrained", sharex=True)
    for axis, level in zip(axes[0], levels, strict=True):
        _level(axis, level, rows, end=_END * float(finite.max()))
        axis.set_title(f"$\\varepsilon$ = {level:g}")
        axis.set_xlabel("user-level $\\varepsilon$ at $\\delta$")
        axis.set(yticks=range(len(rows)), yticklabels=[], ylim=(len(rows) - 0.4, -0.6))
        axis.tick_params(axis="y", length=0)
    axes[0, 0].set_yticklabels([row.name for row in rows])
    for axis in axes[0]:
        log_ticks(axis.xaxis)
    fit_legend(figure)
    mark_edition(figure, edition)
    return figure


def _rows(worst: pd.DataFrame) -> Iterator[_Row]:
    """For every population the largest epsilon between whole m, then every whole m."""
    for (dataset, n_users, set_size, domain_size), rows in worst.groupby(POPULATION, sort=False):
        # the numbers are of a population's sizes, not of its data: a stand-in has the same
        name = f"{dataset_label(str(dataset), 'real')}, $n$ = {n_users:,}, $d$ = {domain_size}, $s$ = {set_size}: "
        whole = rows["blanket_per_user"] % 1 == 0
        between = rows[~whole].groupby(["view", "level"])["actual_user_epsilon"].max()
        yield _Row(f"{name}other $m$", between.reset_index(), first=True)
        for blanket, points in rows[whole].groupby("blanket_per_user"):
            yield _Row(f"$m$ = {blanket:g}", points, first=False)


def _level(axis: Axes, level: float, rows: list[_Row], *, end: float) -> None:
    """All rows of one level."""
    axis.axvline(level, color=PALETTE["vermilion"], lw=1.0, label=_CLAIMED, zorder=1)
    axis.set_xscale("log")
    axis.grid(visible=False, axis="y")
    dots: dict[str, Any] = {"color": PALETTE["black"], "ls": "none", "zorder": 3}
    for place, row in enumerate(rows):
        if row.first and place:
            axis.axhline(place - 0.5, color=TINTS["grid"], lw=0.8, zorder=0)
        mine = row.points[row.points["level"] == level].set_index("view")["actual_user_epsilon"]
        if mine.empty:
            words: dict[str, Any] = {"color": PALETTE["dark-grey"], "fontsize": 6.0, "ha": "right", "va": "center"}
            axis.text(0.97, place, "sends every item", transform=axis.get_yaxis_transform(), **words)
        else:
            axis.plot([level, min(mine.max(), end)], [place] * 2, color=PALETTE["grey"], lw=0.6, zorder=2)
        for view, (label, marker, filled) in _VIEWS.items():
            value = mine.get(view, np.nan)
            if np.isinf(value):
                axis.plot(end, place, ">", ms=4.2, mfc=PALETTE["black"] if filled else "white", label=_BEYOND, **dots)
            elif not np.isnan(value):
                axis.plot(
                    value, place, marker, ms=4.2, mfc=PALETTE["black"] if filled else "white", label=label, **dots
                )
