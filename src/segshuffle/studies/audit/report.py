"""The audit's figure, claimed epsilon and that of the full view, what it shows in words, and how its table is read."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from segshuffle.datasets.registry import dataset_label
from segshuffle.looks import PALETTE, TINTS
from segshuffle.pipeline.numbers import at_most
from segshuffle.pipeline.style import finished, log_axes, panel_grid
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


def draw(table: pd.DataFrame) -> Figure:
    """Draw a column per level, and a row per population and whole m, with one for all other m together.

    The total of messages is certain at a whole m alone, so these are the points where the views differ from the claim.

    Parameters
    ----------
    table : DataFrame
        Rows of results/audit.csv. Points with sampling rate 1 are left out: there the blanket is larger than needed.
    """
    worst = pd.concat(
        worst_over_splits(rows).assign(view=view) for view, rows in audited(table).groupby("view") if view in _VIEWS
    )
    rows = list(_rows(worst))
    levels = sorted(worst["level"].unique())
    finite = worst["actual_user_epsilon"][np.isfinite(worst["actual_user_epsilon"])]
    figure, axes = panel_grid(len(levels), len(levels), width=7.4, height=0.19 * len(rows), foot=1.4)
    for axis, level in zip(axes, levels, strict=True):
        axis.sharex(axes[0])
        _level(axis, level, rows, end=_END * float(finite.max()))
        axis.set(title=f"$\\varepsilon$ = {level:g}", xlabel="user-level $\\varepsilon$ at $\\delta$")
        axis.set(yticks=range(len(rows)), yticklabels=[], ylim=(len(rows) - 0.4, -0.6))
        axis.tick_params(axis="y", length=0)
    axes[0].set_yticklabels([row.name for row in rows])
    # the columns share their scale, so ticks wait for the last one
    for axis in axes:
        log_axes(axis, "x")
    return finished(figure)


def _rows(worst: pd.DataFrame) -> Iterator[_Row]:
    """Yield for every population the largest epsilon between whole m, then that of every whole m."""
    for (dataset, n_users, set_size, domain_size), rows in worst.groupby(POPULATION, sort=False):
        # the numbers are of a population's sizes, not of its data: a stand-in has the same
        name = f"{dataset_label(str(dataset), 'real')}, $n$ = {n_users:,}, $d$ = {domain_size}, $s$ = {set_size}: "
        whole = rows["blanket_per_user"] % 1 == 0
        between = rows[~whole].groupby(["view", "level"])["actual_user_epsilon"].max()
        yield _Row(f"{name}other $m$", between.reset_index(), first=True)
        for blanket, points in rows[whole].groupby("blanket_per_user"):
            yield _Row(f"$m$ = {blanket:g}", points, first=False)


def _level(axis: Axes, level: float, rows: list[_Row], *, end: float) -> None:
    """Draw all rows of one level."""
    axis.axvline(level, color=PALETTE["vermilion"], lw=1.0, label=_CLAIMED, zorder=1)
    axis.grid(visible=False, axis="y")
    dots: dict[str, Any] = {"color": PALETTE["black"], "ls": "none", "ms": 4.2, "zorder": 3}
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
            value, style = mine.get(view, np.nan), {**dots, "mfc": PALETTE["black"] if filled else "white"}
            if np.isinf(value):
                axis.plot(end, place, ">", label=_BEYOND, **style)
            elif not np.isnan(value):
                axis.plot(value, place, marker, label=label, **style)


def words(figure: str, tables: Mapping[str, pd.DataFrame]) -> str | None:
    """Describe where the audited epsilon lies, population by population."""
    if figure != "audit":
        return None
    said = []
    points = audited(tables["audit.csv"])
    for (dataset, n_users, set_size, _), rows in points[points["view"] == "blanket-only"].groupby(
        POPULATION, sort=False
    ):
        alone = worst_over_splits(rows)
        ratio = alone["actual_user_epsilon"] / alone["claimed_user_epsilon"]
        worst = alone.iloc[int(ratio.where(ratio < float("inf")).argmax())]
        said.append(
            f"{dataset}, n = {n_users:,}, s = {set_size}: at most {at_most(worst['actual_user_epsilon'])} where "
            f"{worst['claimed_user_epsilon']:g} is claimed, at m = {worst['blanket_per_user']:g}."
        )
    return (
        "Dot chart of user-level epsilon, logarithmic, a column per level, a row per population and whole m, "
        "and one row for all other m. A line marks the claimed level. With the blanket alone epsilon is the claimed "
        "one except at whole m, where it lies above. Its largest finite excess: " + " ".join(said)
    )


def audited(audit: pd.DataFrame) -> pd.DataFrame:
    """Choose the points of the grid where the victim may stay silent: elsewhere the guarantee is not in question."""
    return audit[~audit["optimum"] & (audit["sampling_rate"] < 1.0)]


def worst_over_splits(rows: pd.DataFrame) -> pd.DataFrame:
    """Keep one row per population, m and level: the split on which the view is worst."""
    key = [*POPULATION, "blanket_per_user", "level", "claimed_user_epsilon", "target_delta"]
    return rows.groupby(key, sort=False, as_index=False)[
        ["actual_user_epsilon", "proven_user_delta", "reachable"]
    ].max()


def broken_promises(points: pd.DataFrame) -> pd.DataFrame:
    """Choose the points where the user-level delta provably exceeds the promised one, without group privacy."""
    return worst_over_splits(points[points["proven_user_delta"] > points["target_delta"]])
