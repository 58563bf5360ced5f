"""The referee's figure: how far every claimed epsilon lies above or below the proven lower bound, over n."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from segshuffle.pipeline.style import mark_edition, use_style


class _Stroke(NamedTuple):
    """Published and asymptotic claims have a marker, proven ones only a line."""

    label: str
    color: str
    marker: str
    dashes: str | tuple[int, tuple[float, ...]]


_STROKES = {
    "variation-ratio": _Stroke("variation ratio", "#D55E00", "o", "-"),
    "variation-ratio-closed-form": _Stroke("its closed form", "#999933", "X", (0, (3.0, 1.0, 1.0, 1.0))),
    "stronger-clone": _Stroke("stronger clone", "#CC79A7", "v", (0, (2.5, 1.0))),
    "chen-cao-ge": _Stroke("Chen, Cao, Ge (asymptotic)", "#0072B2", "s", (0, (5.0, 1.5))),
    "personalized": _Stroke("personalised, Theorem 2", "#000000", "D", "-"),
    "personalized-reduction": _Stroke("its reduction", "#000000", "d", (0, (1.0, 1.2))),
    "liu-2023": _Stroke("Liu et al. 2023", "#009E73", "^", (0, (4.0, 1.0, 1.0, 1.0))),
    "blanket": _Stroke("blanket (proven)", "#555555", "", "-"),
    "standard-clone": _Stroke("standard clone (proven)", "#8c8c8c", "", (0, (4.0, 1.5))),
}
_NAMES = {
    "krr-2": "2-ary RR",
    "krr-3": "3-ary RR",
    "krr-4": "4-ary RR",
    "krr-10": "10-ary RR",
    "krr-100": "100-ary RR",
    "blh": "binary local hash",
    "rappor": "RAPPOR",
    "oue": "unary encoding",
    "hadamard-16": "Hadamard, 16",
    "subset-selection-16-4": "4-subsets of 16",
    "subset-exponential-16-2-3": "PrivSet",
    "laplace": "Laplace",
    "laplace-budgets": "Laplace, others'\nbudgets a tenth",
}
#: Deviations below this are drawn on a linear scale, in percent.
_LINEAR = 0.01
_LOW, _HIGH = -150.0, 300.0
_TICKS = {
    -10.0: "−10 %",
    -1.0: "−1 %",
    -0.1: "−0.1 %",
    0.0: "0",
    0.1: "0.1 %",
    1.0: "1 %",
    10.0: "10 %",
    100.0: "100 %",
}


def draw(table: pd.DataFrame, *, edition: str) -> Figure:
    """Draw a panel per case (rows) and local epsilon (columns), a curve per accountant.

    Parameters
    ----------
    table : DataFrame
        Rows of results/referee.csv. Cases without any violation at many users are left out, unless there is none.
    edition : str
        "full" or "quick"; anything but "full" is written across the figure.
    """
    use_style()
    asked = table[(table["asked"] == "epsilon") & (table["outcome"] != "not applicable")]
    broken = set(asked[asked["outcome"] == "violated"]["case"])
    cases = [case for case in dict.fromkeys(asked["case"]) if case in broken or not broken]
    columns = sorted(asked["local_epsilon"].unique())
    size = (7.2, 1.02 * len(cases) + 1.2)
    # axes that share their scales would ask each other for their ticks: seconds, with so many panels
    figure, axes = plt.subplots(len(cases), len(columns), figsize=size, squeeze=False)
    figure.set_layout_engine("constrained", w_pad=0.02, h_pad=0.02, hspace=0.02, wspace=0.02)
    for line, case in zip(axes, cases, strict=True):
        for axis, local in zip(line, columns, strict=True):
            _panel(axis, asked[(asked["case"] == case) & (asked["local_epsilon"] == local)])
        line[0].set_ylabel(_NAMES.get(case, case), fontsize=7.5)
    for axis, local in zip(axes[0], columns, strict=True):
        axis.set_title(f"$\\varepsilon_0$ = {local:g}")
    share = float((asked["target"] * asked["n_users"]).iloc[0])
    # in the middle of the last line: a label of the whole figure would lie under the legend
    axes[-1][(len(columns) - 1) // 2].set_xlabel(f"number of users $n$, at $\\delta$ = {share:g}/$n$")
    for axis in axes.flat:
        _users_axis(axis, sorted(asked["n_users"].unique()))
        axis.label_outer()
    figure.supylabel("claimed $\\varepsilon$ above (+) or below (−) the proven lower bound", fontsize=8)
    figure.legend(handles=_handles(asked[asked["case"].isin(cases)]), loc="outside lower center", ncols=4)
    mark_edition(figure, edition)
    return figure


def _panel(axis: Axes, rows: pd.DataFrame) -> None:
    """All accountants of one case and local epsilon; claims as weak as the local guarantee are not drawn."""
    axis.axhspan(_LOW, 0.0, color="#e8c9c0", lw=0, zorder=0)
    axis.axhline(0.0, color="#000000", lw=0.8, zorder=1)
    for name, stroke in _STROKES.items():
        mine = rows[(rows["accountant"] == name) & ~rows["vacuous"]].sort_values("n_users")
        if mine.empty:
            continue
        n, percent = mine["n_users"].to_numpy(), 100 * (1 / mine["ratio"].to_numpy() - 1)
        axis.plot(n, percent, ls=stroke.dashes, lw=1.0, color=stroke.color, zorder=2 + bool(stroke.marker))
        if not stroke.marker:
            continue
        for broken, face in ((True, stroke.color), (False, "white")):
            chosen = (mine["outcome"] == "violated").to_numpy() == broken
            look: dict[str, Any] = {
                "marker": stroke.marker,
                "ms": 4.2 if broken else 3.6,
                "mfc": face,
                "mec": stroke.color,
            }
            axis.plot(n[chosen], percent[chosen], ls="none", mew=0.8, zorder=4 + broken, **look)
    axis.set_xscale("log")
    axis.set_yscale("symlog", linthresh=_LINEAR, linscale=0.4)
    axis.set_ylim(_LOW, _HIGH)
    axis.yaxis.set_major_locator(FixedLocator(list(_TICKS)))
    axis.yaxis.set_minor_locator(NullLocator())
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: _TICKS.get(value, "")))
    axis.tick_params(labelsize=6.5)


def _users_axis(axis: Axes, n_users: list[int]) -> None:
    """Powers of ten from the fewest to the most users of all panels."""
    axis.set_xlim(n_users[0] / 1.8, n_users[-1] * 1.8)
    powers = range(math.ceil(math.log10(n_users[0])), math.floor(math.log10(n_users[-1])) + 1)
    axis.xaxis.set_major_locator(FixedLocator([10.0**power for power in powers]))
    axis.xaxis.set_minor_locator(NullLocator())


def _handles(rows: pd.DataFrame) -> list[Line2D | Patch]:
    """Legend: the accountants that are drawn, and what filled markers mean."""
    present = set(rows[~rows["vacuous"]]["accountant"])
    handles: list[Line2D | Patch] = [
        Line2D(
            [], [], color=look.color, ls=look.dashes, lw=1.0, marker=look.marker or "None", ms=4, mfc="white",
            label=look.label,
        )
        for name, look in _STROKES.items()
        if name in present
    ]  # fmt: skip
    handles.append(Line2D([], [], color="#444444", marker="o", ls="none", ms=4.2, label="filled: violated"))
    handles.append(Patch(color="#e8c9c0", label="below what is proven"))
    return handles
