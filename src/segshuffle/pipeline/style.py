"""Colours, markers and files shared by all figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from segshuffle.pipeline.jobs import writing

STYLE = Path(__file__).with_name("segshuffle.mplstyle")


DATASETS = {"msnbc": "MSNBC", "synthetic": "Synthetic"}


def use_style() -> None:
    """Load the project's style sheet on top of matplotlib's defaults."""
    plt.style.use(["default", str(STYLE)])


def dataset_label(dataset: str, source: str) -> str:
    """Name of a dataset as it must appear on every figure: a stand-in is named as one."""
    return f"{DATASETS[dataset]} (stand-in)" if source == "stand-in" else DATASETS[dataset]


def mark_edition(figure: Figure, edition: str) -> None:
    """Write "quick" across a figure that is not a result."""
    if edition != "full":
        figure.text(
            0.5,
            0.5,
            edition,
            fontsize=60,
            color="#000000",
            alpha=0.08,
            ha="center",
            va="center",
            rotation=25,
            zorder=10,
        )


def save(figure: Figure, paths: Sequence[str | Path]) -> None:
    """Write a figure to every path (PDF, SVG, PNG by suffix), byte-stable, under temporary names first."""
    metadata = {".pdf": {"CreationDate": None, "ModDate": None}, ".svg": {"Date": None}, ".png": {"Software": None}}
    try:
        # lay out once: every format would do it twice more, and draw the same
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
        box = figure.get_tightbbox().padded(0.04)
        for path in map(Path, paths):
            with writing(path) as temporary:
                form = path.suffix.removeprefix(".")
                figure.savefig(temporary, format=form, metadata=metadata[path.suffix], bbox_inches=box)
    finally:
        plt.close(figure)
