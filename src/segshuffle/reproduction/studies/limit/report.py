"""The figure of this study, and what it shows in words."""

from collections.abc import Mapping

import pandas as pd
from matplotlib.figure import Figure

from segshuffle.drawing.looks import PALETTE, series_looks, stroke
from segshuffle.drawing.style import log_axes, panel_grid
from segshuffle.reproduction.numbers import at_most, nearest

#: From this many blanket messages per item on, the error should be within 5 % of the curator's.
_LARGE, _CLOSE = 100.0, 1.05


def draw(table: pd.DataFrame) -> Figure:
    """Draw one curve per min(s, d - s) and delta, and the 5 % line from a blanket of 100 messages per item on."""
    figure, (axis,) = panel_grid(1, height=3.0, width=5.0, foot=0.0)
    groups = list(table.dropna().sort_values("blanket_mean").groupby(["set_size", "delta"]))
    looks = series_looks(f"$\\min(s, d - s)$ = {size}, $\\delta$ = {delta:g}" for (size, delta), _ in groups)
    for look, (_, rows) in zip(looks, groups, strict=True):
        axis.plot(rows["blanket_mean"], rows["error_ratio"], **stroke(look, ms=3))
    axis.axhline(1.0, color=PALETTE["black"], lw=1.0)
    ends = [_LARGE, table["blanket_mean"].max()]
    axis.plot(ends, [_CLOSE, _CLOSE], color=PALETTE["grey"], lw=1.0, ls=":", label="5 % above the curator")
    axis.set(xlabel="blanket messages per item $n m/d$", ylabel="MSE / Gaussian curator's")
    axis.set_ylim(0.95, max(1.3, min(2.0, float(table["error_ratio"].max()) * 1.02)))
    axis.set_title("One level, every item sent once: same $(\\epsilon, \\delta)$")
    log_axes(axis, "x")
    axis.legend()
    return figure


def description(figure: str, tables: Mapping[str, pd.DataFrame]) -> str | None:
    """Say where the ratio begins and ends."""
    if figure != "limit":
        return None
    table = tables["limit.csv"].dropna()
    large = table[table["blanket_mean"] >= _LARGE]["error_ratio"]
    curves = table.groupby(["set_size", "delta"]).ngroups
    return (
        f"Line chart of error, divided by a Gaussian curator's, over blanket messages per item, {curves} curves "
        f"(min(s, d - s) and δ). The ratio falls from {nearest(table['error_ratio'].max())} towards 1. From 100 "
        f"messages per item on it is at most {at_most(large.max(), digits=4)}."
    )
