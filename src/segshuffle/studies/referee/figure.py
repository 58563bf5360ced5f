"""The referee's figure: how far every claimed epsilon lies above or below the proven lower bound, over n."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from segshuffle.accounting.single_message.accountants import ACCOUNTANT_LOOKS
from segshuffle.looks import PALETTE, TINTS, Look, looks_of
from segshuffle.pipeline.style import fit_legend, mark_edition, use_style
from segshuffle.studies.referee import budgets
from segshuffle.studies.referee.trial import CASES

#: Proven bounds that are drawn for comparison; of the others only what is violated, which would be a defect.
_REFERENCES = ("blanket", "standard-clone")
_NAMES = {budgets.CASE: budgets.LABEL, **{name: case.label for name, case in CASES.items()}}
#: Inches between panels, and labels of their ticks in points.
_PADS, _SMALL = {"w_pad": 0.02, "h_pad": 0.02, "hspace": 0.02, "wspace": 0.02}, 6.5
#: Deviations below this are drawn on a linear scale, in percent, which takes so many powers of ten.
_LINEAR, _LINEAR_PART = 0.01, 0.4
_LOW, _HIGH = -150.0, 300.0
#: Room above the largest deviation.
_MARGIN = 1.3
_TICKS = (-10.0, -1.0, -0.1, 0.0, 0.1, 1.0, 10.0, 100.0, 1000.0)


def draw(table: pd.DataFrame, *, edition: str) -> Figure:
    """Draw a panel per case (rows) and local epsilon (columns), a curve per accountant.

    Parameters
    ----------
    table : DataFrame
        Rows of results/referee.csv. Cases without any violation at many users are left out, unless there is none.
    edition : str
        Which results these are; "quick" is written across the figure.
    """
    use_style()
    asked = table[(table["asked"] == "epsilon") & (table["outcome"] != "not applicable")]
    broken = set(asked[asked["outcome"] == "violated"]["case"])
    cases = [case for case in dict.fromkeys(asked["case"]) if case in broken or not broken]
    asked = asked[asked["case"].isin(cases)]
    looks = _looks(asked)
    drawn = asked[asked["accountant"].isin(list(looks)) & ~asked["vacuous"]]
    highest = max(_HIGH, _MARGIN * float(_percent(drawn).max()))
    columns = sorted(asked["local_epsilon"].unique())
    # axes that share their scales would ask each other for their ticks: seconds, with so many panels
    figure, axes = plt.subplots(len(cases), len(columns), figsize=(7.2, 1.02 * len(cases) + 1.2), squeeze=False)
    figure.set_layout_engine("constrained", **_PADS)
    for line, case in zip(axes, cases, strict=True):
        for axis, local in zip(line, columns, strict=True):
            _panel(axis, asked[(asked["case"] == case) & (asked["local_epsilon"] == local)], looks)
        line[0].set_ylabel(_NAMES.get(case, case), fontsize=7.5)
    for axis, local in zip(axes[0], columns, strict=True):
        axis.set_title(f"$\\varepsilon_0$ = {local:g}")
    share = float((asked["target"] * asked["n_users"]).iloc[0])
    # in the middle of the last line: a label of the whole figure would lie under the legend
    axes[-1][(len(columns) - 1) // 2].set_xlabel(f"number of users $n$, at $\\delta$ = {share:g}/$n$")
    for axis in axes.flat:
        axis.set_ylim(_LOW, highest)
        _users_axis(axis, sorted(asked["n_users"].unique()))
        axis.label_outer()
    above = "claimed $\\varepsilon$ above (+) or below (−) the proven lower bound"
    figure.supylabel(above, fontsize=8)
    fit_legend(figure, _handles(asked, looks))
    mark_edition(figure, edition)
    return figure


def _looks(rows: pd.DataFrame) -> dict[str, Look]:
    """What is drawn: every claim, and the proven references; these have no marker, whatever look they have."""
    claims = set(rows[rows["kind"] != "upper"]["accountant"])
    shown = rows[rows["accountant"].isin({*claims, *_REFERENCES}) | (rows["outcome"] == "violated")]
    looks = looks_of(shown["accountant"], ACCOUNTANT_LOOKS)
    broken = set(shown[shown["outcome"] == "violated"]["accountant"])
    return {name: look if name in claims | broken else look._replace(marker="") for name, look in looks.items()}


def _percent(rows: pd.DataFrame) -> pd.Series[float]:
    """How far every claim lies above the proven lower bound, in percent of it."""
    return 100 * (1 / rows["ratio"] - 1)


def _panel(axis: Axes, rows: pd.DataFrame, looks: Mapping[str, Look]) -> None:
    """All accountants of one case and local epsilon; claims as weak as the local guarantee are not drawn."""
    axis.axhspan(_LOW, 0.0, color=TINTS["refuted"], lw=0, zorder=0)
    axis.axhline(0.0, color=PALETTE["black"], lw=0.8, zorder=1)
    for name, look in looks.items():
        mine = rows[(rows["accountant"] == name) & ~rows["vacuous"]].sort_values("n_users")
        if mine.empty:
            continue
        n, percent = mine["n_users"].to_numpy(), _percent(mine).to_numpy()
        axis.plot(n, percent, ls=look.dashes, lw=1.0, color=look.color, zorder=2 + bool(look.marker))
        violated = (mine["outcome"] == "violated").to_numpy()
        for chosen, face, size in ((violated, look.color, 4.2), (~violated, "white", 3.6)):
            if look.marker:
                marks: dict[str, Any] = {"marker": look.marker, "mfc": face, "mec": look.color, "ms": size, "mew": 0.8}
                axis.plot(n[chosen], percent[chosen], ls="none", zorder=5 if face == look.color else 4, **marks)
    axis.set_xscale("log")
    axis.set_yscale("symlog", linthresh=_LINEAR, linscale=_LINEAR_PART)
    axis.yaxis.set_major_locator(FixedLocator(list(_TICKS)))
    axis.yaxis.set_minor_locator(NullLocator())
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g} %".replace("-", "−") if value else "0"))
    axis.tick_params(labelsize=_SMALL)


def _users_axis(axis: Axes, n_users: list[int]) -> None:
    """Powers of ten from the fewest to the most users of all panels."""
    axis.set_xlim(n_users[0] / 1.8, n_users[-1] * 1.8)
    powers = range(math.ceil(math.log10(n_users[0])), math.floor(math.log10(n_users[-1])) + 1)
    axis.xaxis.set_major_locator(FixedLocator([10.0**power for power in powers]))
    axis.xaxis.set_minor_locator(NullLocator())


def _handles(rows: pd.DataFrame, looks: Mapping[str, Look]) -> list[Artist]:
    """Legend: the accountants that are drawn, and what filled markers mean."""
    present = set(rows[~rows["vacuous"]]["accountant"])
    handles: list[Artist] = [
        Line2D(
            [], [], color=look.color, ls=look.dashes, lw=1.0, marker=look.marker or "None", ms=4, mfc="white",
            label=look.label,
        )
        for name, look in looks.items()
        if name in present
    ]  # fmt: skip
    grey = PALETTE["dark-grey"]
    handles.append(Line2D([], [], color=grey, marker="o", ls="none", ms=4.2, label="filled: violated"))
    handles.append(Patch(color=TINTS["refuted"], label="below what is proven"))
    return handles
