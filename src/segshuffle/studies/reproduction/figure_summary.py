"""All panels at a glance: every competitor's error over ours at our best m."""

from __future__ import annotations

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from segshuffle.datasets.registry import dataset_label
from segshuffle.pipeline.style import mark_edition, use_style
from segshuffle.protocols.registry import look_of, looks_in

_PANEL = ["dataset", "set_size", "n_users", "split"]


def ratios(table: pd.DataFrame) -> pd.DataFrame:
    """Error of every competitor over our least error on the grid, one row per panel and method."""
    ours = table[(table["method"] == "segmented") & ~table["optimum"]].groupby(_PANEL)["mse_mean"].min()
    others = table[table["method"] != "segmented"].set_index(_PANEL)
    return others.assign(ratio=others["mse_mean"] / ours.reindex(others.index)).reset_index()


def draw(table: pd.DataFrame, *, edition: str) -> Figure:
    """Draw one row per panel and one mark per competitor, on a log axis; 1 is our own error."""
    use_style()
    data = ratios(table)
    rows = data[[*_PANEL, "source"]].drop_duplicates().reset_index(drop=True)
    figure, axis = plt.subplots(figsize=(7.0, 0.24 * len(rows) + 1.2), layout="constrained")
    position = {tuple(row[:4]): len(rows) - 1 - i for i, row in enumerate(rows.itertuples(index=False, name=None))}
    for method, look in looks_in(data).items():
        chosen = data[data["method"] == method]
        y = [position[tuple(row)] for row in chosen[_PANEL].itertuples(index=False, name=None)]
        axis.plot(chosen["ratio"], y, look.marker, color=look.color, label=look.label, ls="none", ms=5)
    axis.axvline(1.0, color=look_of("segmented").color, lw=1.2)
    axis.set_xscale("log")
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_xlabel("MSE over the least MSE of the segmented protocol (line: 1)")
    labels = [
        f"{dataset_label(row['dataset'], row['source'])} {row['split']}, n = {row['n_users']:,}, s = {row['set_size']}"
        for row in rows.to_dict("records")
    ]
    axis.set_yticks(range(len(rows)), labels[::-1])
    axis.set_ylim(-0.7, len(rows) - 0.3)
    figure.legend(*axis.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    mark_edition(figure, edition)
    return figure
