"""The figures of a rehearsal."""

import math
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from segshuffle.collection.rehearsal.run import Rehearsal
from segshuffle.drawing.looks import PALETTE
from segshuffle.drawing.style import finished, log_axes, panel_grid, save

#: Most items in the figure of single items.
_MOST_ITEMS = 40
#: What the figures show.
_TOLD = {
    "epsilon": "The least error on this file over epsilon, the error that was asked for, and the plan that reaches it.",
    "top": "The most frequent items: their share in the data, and what one collection estimates.",
    "errors": "At most 3,000 held items: (a) estimate and (b) error, over the share in the data.",
}
#: Most points of a scatter plot; more take long to draw and overlap.
_MOST_POINTS = 3000


def top_figure(rehearsal: Rehearsal, top: int) -> Figure:
    """Draw the most frequent items: truth, what is sent, and the estimate with its interval."""
    count = min(top, _MOST_ITEMS, rehearsal.true.size)
    figure, (axes,) = panel_grid(1, height=max(0.17 * count, 1.0) + 0.6)
    rehearsal.plot(count, ax=axes)
    if legend := axes.get_legend():  # that of the figure has more room
        legend.remove()
    return finished(figure)


def error_figure(rehearsal: Rehearsal) -> Figure:
    """Draw estimates over true shares, and errors over shares, with expected errors and errors from cutting sets."""
    held = rehearsal.order[: int(np.count_nonzero(rehearsal.true))]
    items = held[:: math.ceil(held.size / _MOST_POINTS)]
    error, cut = np.sqrt(rehearsal.squared_error), np.abs(rehearsal.sent - rehearsal.true)
    true, estimate, error, cut = (
        100 * each[items] for each in (rehearsal.true, rehearsal.first.frequencies, error, cut)
    )
    figure, (left, right) = panel_grid(2, height=2.6)
    line = np.geomspace(true.min(), true.max(), 200)
    deviation = 100 * np.sqrt(rehearsal.first.variance.at(line / 100))
    left.plot(line, line, color=PALETTE["black"], linewidth=0.8, label="truth")
    left.fill_between(
        line,
        np.maximum(line - 1.96 * deviation, 1e-10),
        line + 1.96 * deviation,
        color=PALETTE["sky"],
        alpha=0.35,
        linewidth=0,
        label="95 % of the estimates",
    )
    dots: dict[str, Any] = {"linestyle": "", "marker": ".", "color": PALETTE["blue"], "markersize": 3, "label": "item"}
    left.plot(true[estimate > 0], estimate[estimate > 0], **dots)
    left.axhline(
        100 * rehearsal.first.threshold, color=PALETTE["vermilion"], linestyle="--", label="told from 0 above this line"
    )
    left.set(ylabel="estimate in % (positive ones)", title="(a) Estimates")
    right.plot(true, error, **dots)
    right.plot(line, deviation, color=PALETTE["black"], label="expected, without cutting")
    if cut.any():
        right.plot(true[cut > 0], cut[cut > 0], "x", color=PALETTE["grey"], markersize=3, label="from cutting alone")
    right.set(ylabel="root mean squared error in %", title="(b) Errors")
    for axes in (left, right):
        axes.set_xlabel("share in the data in %")
        log_axes(axes)
    left.set_ylim(bottom=0.1 * true.min())
    return finished(figure)


def epsilon_figure(asked: Mapping[str, Any]) -> Figure:
    """Draw the least error over the lowest epsilon, with the error that was asked for and the plan that reaches it."""
    scale = 100 if asked["top"] else 1
    epsilon, error = zip(*((row["epsilon"], scale * row["error"]) for row in asked["rows"]), strict=True)
    figure, (axes,) = panel_grid(1, height=2.4)
    axes.plot(epsilon, error, "o-", color=PALETTE["blue"], label="least error")
    axes.axhline(scale * asked["target_error"], color=PALETTE["vermilion"], linestyle="--", label="asked for")
    axes.plot(asked["epsilon"], scale * asked["error"], "D", color=PALETTE["black"], label="this plan")
    unit = f"error of the top {asked['top']} in %" if asked["top"] else "squared error of all items"
    axes.set(xlabel="lowest epsilon", ylabel=unit)
    log_axes(axes)
    return finished(figure)


def write_figures(
    rehearsal: Rehearsal, top: int, folder: Path, asked: Mapping[str, Any] | None
) -> list[tuple[str, str]]:
    """Write all figures as SVG and PNG; return the SVG text and a description of each, in the order of the page.

    `asked` has an error that the plan must reach, and errors at other epsilons, if an error was asked for.
    """
    if not rehearsal.recovery:  # nobody holds anything
        return []
    made = {}
    with warnings.catch_warnings():
        # names may have characters that the font lacks: SVG keeps them as text, PNG has boxes
        warnings.filterwarnings("ignore", "Glyph .* missing")
        if asked:
            made["epsilon"] = epsilon_figure(asked)
        made |= {"top": top_figure(rehearsal, top), "errors": error_figure(rehearsal)}
        for name, figure in made.items():
            save(figure, [folder / f"{name}.svg", folder / f"{name}.png"])
    return [((folder / f"{name}.svg").read_text(encoding="utf-8"), _TOLD[name]) for name in made]
