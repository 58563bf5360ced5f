"""Error of the proven protocol over a trusted curator's, one level, over the blanket's mean."""

from __future__ import annotations

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from segshuffle.pipeline.style import mark_edition, use_style

_LOOKS = (("#0072B2", "o", "-"), ("#D55E00", "s", "--"), ("#009E73", "^", "-."), ("#000000", "D", ":"))


def draw(table: pd.DataFrame, *, edition: str) -> Figure:
    """Draw one curve per set size and delta, and the 5 % line from a blanket of 100 messages per item on."""
    use_style()
    figure, axis = plt.subplots(figsize=(5.0, 3.0), layout="constrained")
    for (color, marker, dashes), ((size, delta), rows) in zip(
        _LOOKS, table.groupby(["set_size", "delta"], sort=True), strict=False
    ):
        label = f"$s$ = {size}, $\\delta$ = {delta:g}"
        axis.plot(rows["blanket_mean"], rows["error_ratio"], marker, ls=dashes, color=color, ms=3, label=label)
    axis.axhline(1.0, color="#000000", lw=1.0)
    axis.plot(
        [100, table["blanket_mean"].max()], [1.05, 1.05], color="#7f7f7f", lw=1.0, ls=":", label="5 % from 100 on"
    )
    axis.set(xscale="log", xlabel="blanket messages per item $n m/d$", ylabel="MSE / trusted curator's")
    axis.set_ylim(0.95, max(1.3, min(2.0, float(table["error_ratio"].max()) * 1.02)))
    axis.set_title("One level, every item sent once: same $(\\epsilon, \\delta)$")
    axis.legend()
    mark_edition(figure, edition)
    return figure
