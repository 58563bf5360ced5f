"""The audit's figure, with claimed epsilons and those of the full view, and selections from its table."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from segshuffle.drawing.looks import series_looks
from segshuffle.drawing.style import finished, log_axes
from segshuffle.reproduction.studies.drawing import POPULATION, population_panels

#: View -> legend entry, marker and whether it is filled, the bound first.
_VIEWS = {
    "blanket-only": ("blanket alone (upper bound)", "o", True),
    "worst-split": ("all others send everything", "o", False),
    "others-concentrated": ("others as in the experiment, all with the same items", "|", True),
}
_CLAIMED, _BEYOND = "$\\varepsilon$ = {:g}, as claimed", "group privacy gives no $\\varepsilon$"
#: Where a point without an epsilon is drawn, divided by the largest epsilon.
_END = 1.5
#: Ratio of the abscissas of neighbouring levels, which may have the same epsilon.
_SIDE_BY_SIDE = 1.06


def draw(table: pd.DataFrame) -> Figure:
    """Draw a panel per population: epsilon over m, a colour per level and a mark per view.

    The server knows the total of the dummies only if m is whole. There the views differ most from the claim.

    Parameters
    ----------
    table : DataFrame
        Rows of results/audit.csv. Points with sampling rate 1 are left out: there the victim is never silent.
    """
    worst = pd.concat(
        worst_over_splits(rows).assign(view=view) for view, rows in audited(table).groupby("view") if view in _VIEWS
    )
    unknown = np.isinf(worst["actual_user_epsilon"])
    worst["shown"] = worst["actual_user_epsilon"].mask(unknown, _END * worst["actual_user_epsilon"][~unknown].max())
    levels = sorted(worst["level"].unique())
    looks = dict(zip(levels, series_looks(map(_CLAIMED.format, levels)), strict=True))
    figure, panels = population_panels(worst, split=False, height=2.4)
    for rows, (axis,) in panels:
        for level in levels:
            color = looks[level].color
            axis.axhline(level, color=color, lw=0.8, label=looks[level].label)
            for view, (label, marker, filled) in _VIEWS.items():
                dots: dict[str, Any] = {"color": color, "mfc": color if filled else "none", "ls": "none", "ms": 3.4}
                mine = rows[(rows["level"] == level) & (rows["view"] == view)]
                for lost, points in mine.groupby(np.isinf(mine["actual_user_epsilon"])):
                    x = points["blanket_per_user"] * _SIDE_BY_SIDE ** levels.index(level)
                    axis.plot(x, points["shown"], "*" if lost else marker, label=_BEYOND if lost else label, **dots)
        axis.set(xlabel="blanket messages per user $m$", ylabel="user-level $\\varepsilon$ at $\\delta$")
        log_axes(axis)
    return finished(figure)


def audited(audit: pd.DataFrame) -> pd.DataFrame:
    """Choose the points of the grid where the victim may stay silent: elsewhere the guarantee is not in question."""
    return audit[~audit["optimum"] & (audit["sampling_rate"] < 1.0)]


def worst_over_splits(rows: pd.DataFrame) -> pd.DataFrame:
    """Keep one row per population, m and level: the largest value of each column over the splits."""
    key = [*POPULATION, "blanket_per_user", "level", "claimed_user_epsilon", "target_delta"]
    return rows.groupby(key, sort=False, as_index=False)[
        ["actual_user_epsilon", "proven_user_delta", "reachable"]
    ].max()


def broken_promises(points: pd.DataFrame) -> pd.DataFrame:
    """Choose the points where the user-level delta provably exceeds the promised one, without group privacy."""
    return worst_over_splits(points[points["proven_user_delta"] > points["target_delta"]])
