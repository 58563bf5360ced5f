"""What a reader of a figure would complain about: texts that are cut or lie on each other, axes without numbers."""

import contextlib
import itertools
import math

import numpy as np
import pytest
from matplotlib.offsetbox import AnchoredOffsetbox
from matplotlib.text import Text

from segshuffle.drawing.style import mark_edition

#: Overlaps in pixels below which nobody sees anything.
SLACK = 1.0
#: Shares of an axis: how far a point may lie outside, and the least part of a logarithmic axis that points cover.
SLIGHT, LEAST_FILLED = 1e-6, 0.4


def complaints(figure):
    """List everything that is wrong with the layout of a figure, in words; empty for a figure that can be read.

    Parameters
    ----------
    figure : Figure
        A drawn figure. It is laid out here, as for saving; the watermark of an edition, which is transparent, is
        exempt.
    """
    figure.draw_without_rendering()
    ghosts = _ghosts(figure)
    shown = {
        text: text.get_window_extent()
        for text in figure.findobj(lambda artist: isinstance(artist, Text) and artist not in ghosts)
        if text.get_visible() and text.get_text().strip() and not _watermark(text)
    }
    layout = [*_cut(figure, shown), *_overlapping(shown), *_beneath_legends(figure, shown)]
    return [*layout, *_axes(figure), *_wrong_numbers(figure), *_misplaced(figure)]


def assert_readable(figure):
    """Check that a figure can be read in both editions: the watermark moves nothing."""
    assert complaints(figure) == []
    mark_edition(figure, "quick")
    assert complaints(figure) == []


def _watermark(text):
    return (text.get_alpha() or 1.0) < 0.2


def _ghosts(figure):
    """Return texts that exist but are not printed: those of hidden panels, and labels of ticks outside the limits."""
    ghosts = set()
    for axes in figure.axes:
        if not axes.get_visible():
            ghosts |= set(axes.findobj(Text))
        for axis in (axes.xaxis, axes.yaxis):
            inside = _ticks(axis)
            outside = [tick for tick in (*axis.majorTicks, *axis.minorTicks) if tick not in inside]
            ghosts |= {label for tick in outside for label in (tick.label1, tick.label2)}
    return ghosts


def _ticks(axis):
    """Return the ticks that are drawn: those inside the limits."""
    low, high = sorted(axis.get_view_interval())
    margin = 1e-9 * max(abs(low), abs(high))
    every = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
    return {tick for tick in every if low - margin <= tick.get_loc() <= high + margin}


def _cut(figure, texts):
    """Report texts outside the canvas."""
    canvas = figure.bbox
    for text, box in texts.items():
        if box.x0 < -SLACK or box.y0 < -SLACK or box.x1 > canvas.x1 + SLACK or box.y1 > canvas.y1 + SLACK:
            yield f"outside the canvas: {text.get_text()!r}"


def _overlapping(texts):
    """Report texts on other texts."""
    for (one, first), (two, second) in itertools.combinations(texts.items(), 2):
        if _overlap(first, second):
            yield f"on each other: {one.get_text()!r} and {two.get_text()!r}"


def _overlap(one, two):
    return min(one.x1, two.x1) - max(one.x0, two.x0) > SLACK and min(one.y1, two.y1) - max(one.y0, two.y0) > SLACK


def _beneath_legends(figure, texts):
    """Report texts and panels under a legend, and legends and boxes that are wider than the canvas."""
    for legend in figure.legends:
        box = legend.get_window_extent()
        own = set(legend.findobj(Text))
        for text, other in texts.items():
            if text not in own and _overlap(box, other):
                yield f"under the legend: {text.get_text()!r}"
        if any(_overlap(box, axes.get_window_extent()) for axes in figure.axes if axes.get_visible()):
            yield "the legend lies on a panel"
        if box.x0 < -SLACK or box.x1 > figure.bbox.x1 + SLACK:
            yield "the legend is wider than the canvas"
    for box in figure.findobj(AnchoredOffsetbox):
        if box.get_visible() and not figure.bbox.containsx(box.get_window_extent().x1):
            yield "a box is wider than the canvas"


def _axes(figure):
    """Report logarithmic axes with fewer than two numbers, and panels in which nothing is drawn."""
    for axes in figure.axes:
        if not axes.get_visible():
            continue
        if not axes.has_data():
            yield f"nothing is drawn in {axes.get_title()!r}"
        for name, axis in (("x", axes.xaxis), ("y", axes.yaxis)):
            numbers = [tick for tick in _ticks(axis) if tick.label1.get_text() and tick.label1.get_visible()]
            if axis.get_scale() == "log" and len(numbers) < 2 and _numbered(axes, name):
                yield f"{len(numbers)} numbers on the {name} axis of {axes.get_title()!r}"


def _wrong_numbers(figure):
    """Report ticks whose label is another number than their place."""
    for axis in (axis for axes in visible(figure) for axis in (axes.xaxis, axes.yaxis)):
        for tick in _ticks(axis):
            text = tick.label1.get_text().replace("\N{MINUS SIGN}", "-").replace(",", "").removesuffix(" %")
            with contextlib.suppress(ValueError):
                if not math.isclose(float(text), tick.get_loc(), rel_tol=6e-3, abs_tol=1e-12):
                    yield f"{tick.label1.get_text()!r} stands at {tick.get_loc():g}"


def _misplaced(figure):
    """Report panels that hide a part of what they draw, or leave most of a logarithmic axis empty."""
    for axes in visible(figure):
        lines = [line for line in axes.lines if line.get_transform() == axes.transData and len(line.get_xdata())]
        drawn = [
            axes.transAxes.inverted().transform(line.get_transform().transform(line.get_xydata())) for line in lines
        ]
        places = np.concatenate([*drawn, np.empty((0, 2))])
        places = places[np.isfinite(places).all(axis=1)]
        if places.size and not (places.min() >= -SLIGHT and places.max() <= 1 + SLIGHT):
            yield f"outside the limits of {axes.get_title()!r}: {places.min():.2f} to {places.max():.2f}"
        for name, column in zip("xy", places.T, strict=True):
            if column.size and getattr(axes, f"get_{name}scale")() == "log" and 0 < np.ptp(column) < LEAST_FILLED:
                yield f"what is drawn fills {np.ptp(column):.2f} of the {name} axis of {axes.get_title()!r}"


def _numbered(axes, name):
    """Return whether an axis shows numbers itself: in a grid with common axes only the outer ones do."""
    which = {"x": "labelbottom", "y": "labelleft"}[name]
    return bool((axes.xaxis if name == "x" else axes.yaxis).get_tick_params()[which])


def visible(figure):
    """Return the panels that are shown, in order."""
    return [axes for axes in figure.axes if axes.get_visible()]


def points(line):
    """Return what a line connects: pairs of abscissa and ordinate."""
    return [(float(x), float(y)) for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)]


def close(pairs):
    """Return pairs of numbers that compare as equal to those that differ in round-off alone."""
    return [pytest.approx(pair, rel=1e-12, abs=0) for pair in pairs]


def strokes(axes, **wanted):
    """Return the lines of a panel that look as asked for: keywords are properties, such as color and marker."""
    return [line for line in axes.lines if all(getattr(line, f"get_{name}")() == is_ for name, is_ in wanted.items())]


def shape(figure):
    """Return rows and columns of the grid of panels."""
    return figure.axes[0].get_gridspec().get_geometry()
