"""Colours, markers and files shared by all figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from segshuffle.looks import Look
from segshuffle.pipeline.jobs import writing

STYLE = Path(__file__).with_name("segshuffle.mplstyle")


#: Okabe-Ito colours, ordered so that their grey values differ too.
LOOKS: dict[str, Look] = {
    "segmented": Look("Segmented (the paper's)", "#000000", "o", "-"),
    "subexp-local": Look("Subexp, local (ε = 2)", "#CC79A7", "v", (0, (1.0, 1.2))),
    "subexp-shuffle": Look("Subexp, shuffle", "#E69F00", "s", (0, (4.0, 1.5))),
    "mm": Look("MM, shuffle", "#56B4E9", "^", (0, (5.0, 1.2, 1.0, 1.2))),
    "sepmm": Look("SepMM, shuffle", "#009E73", "D", (0, (2.5, 1.0))),
    "weighted-sepmm": Look("Weighted SepMM, shuffle", "#D55E00", "P", (0, (7.0, 1.5))),
    "inverse-variance-sepmm": Look("SepMM, inverse variance (not in the paper)", "#0072B2", "X", (0, (1.0, 2.5))),
    "sound-group": Look("Poisson blanket, group privacy (proven)", "#7f7f7f", "s", (0, (4.0, 1.0))),
    "tight": Look("Tight, sampling (ours, proven)", "#0072B2", "o", "-"),
    "tight-copies": Look("Tight, copies (ours, proven)", "#882255", "D", "-"),
    "subexp-shuffle-proven": Look("Subexp, shuffle (proven)", "#E69F00", "s", (0, (4.0, 1.5))),
    "mm-tight": Look("MM (proven)", "#56B4E9", "^", (0, (5.0, 1.2, 1.0, 1.2))),
    "sepmm-tight": Look("SepMM (proven)", "#009E73", "D", (0, (2.5, 1.0))),
    "weighted-sepmm-tight": Look("Weighted SepMM (proven)", "#D55E00", "P", (0, (7.0, 1.5))),
    "inverse-variance-sepmm-tight": Look("SepMM, inverse variance (proven)", "#999933", "X", (0, (1.0, 2.5))),
    "curator-uniform": Look("Trusted curator, all at the lowest level", "#555555", "_", (0, (1.0, 1.0))),
    "curator-weighted": Look("Trusted curator, weight per level", "#000000", "|", (0, (8.0, 2.0))),
}

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
