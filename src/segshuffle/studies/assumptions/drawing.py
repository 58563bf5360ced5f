"""What the figures of this study share: curves, and titles that name a population."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes

from segshuffle.datasets.registry import dataset_label
from segshuffle.looks import Look
from segshuffle.pipeline.rows import common
from segshuffle.pipeline.style import panel_title
from segshuffle.studies.assumptions.panels import COLUMNS


def curve(axis: Axes, x: pd.Series, y: pd.Series, look: Look) -> None:
    """Draw one curve with its marks."""
    axis.plot(x, y, look.marker, ls=look.dashes, color=look.color, ms=2.5, lw=0.9, label=look.label)


def title(axis: Axes, letter: str, rows: pd.DataFrame) -> None:
    """Name the population of some rows, and its source if the rows have one."""
    dataset, n_users, set_size, domain_size, split = common(rows, *COLUMNS)
    source = common(rows, "source") if "source" in rows else ("real",)
    sizes = f"$n$ = {n_users:,}, $d$ = {domain_size}, $s$ = {set_size}"
    panel_title(axis, f"({letter}) {dataset_label(dataset, *source)}, {split}", sizes)
