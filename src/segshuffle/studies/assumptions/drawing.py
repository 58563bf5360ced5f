"""What the figures of this study share: curves, and titles that name a population."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes

from segshuffle.datasets.registry import dataset_label
from segshuffle.looks import Look
from segshuffle.pipeline.style import panel_title


def curve(axis: Axes, x: pd.Series, y: pd.Series, look: Look) -> None:
    """Draw one curve with its marks."""
    axis.plot(x, y, look.marker, ls=look.dashes, color=look.color, ms=2.5, lw=0.9, label=look.label)


def title(axis: Axes, letter: str, rows: pd.DataFrame) -> None:
    """Name the population of some rows, and its source if the rows have one."""
    row, *_ = rows.to_dict("records")
    label = dataset_label(str(row["dataset"]), str(row.get("source", "real")))
    sizes = f"$n$ = {row['n_users']:,}, $d$ = {row['domain_size']}, $s$ = {row['set_size']}"
    panel_title(axis, f"({letter}) {label}, {row['split']}", sizes)
