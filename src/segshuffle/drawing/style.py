"""What all figures share: the style, grids of lettered panels, axes, legends that fit, and files."""

import itertools
import math
import string
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullFormatter, NullLocator

from segshuffle.drawing.looks import PALETTE, TINTS
from segshuffle.files import writing

STYLE = Path(__file__).with_name("segshuffle.mplstyle")
#: Share of the canvas that a legend may take: the rest is its margin.
_LEGEND_SHARE = 0.98
#: Inches of a panel's share of the canvas that ticks and labels take: titles have the rest.
_LABELS_WIDTH = 0.6
#: Mantissas of ticks on a logarithmic axis, from the sparsest to the densest.
_STEPS = ((1.0,), (1.0, 3.0), (1.0, 2.0, 5.0), (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0))
#: A watermark: seen at once, and nothing is hidden by it.
_WATERMARK: dict[str, Any] = {"fontsize": 60, "color": PALETTE["black"], "alpha": 0.08, "rotation": 25, "zorder": 10}
#: Inches around everything that is drawn.
_PADDING = 0.04
#: Steps with no more ticks than the first number are too sparse. No more ticks than the second number are labelled.
_FEWEST_TICKS, _MOST_TICKS = 2, 8


def use_style() -> None:
    """Load the project's style sheet on top of matplotlib's defaults."""
    plt.style.use(["default", str(STYLE), {"grid.color": TINTS["grid"]}])


def letters() -> Iterator[str]:
    """Yield letters of panels without end: a, b, ..., z, aa, ab, ..."""
    for length in itertools.count(1):
        yield from map("".join, itertools.product(string.ascii_lowercase, repeat=length))


def panel_grid(
    count: int, columns: int = 2, *, height: float, width: float = 7.0, foot: float = 0.9
) -> tuple[Figure, list[Axes]]:
    """Return a figure of exactly `count` panels, row by row.

    Parameters
    ----------
    count : int
        Number of panels, at least 1.
    columns : int
        Most panels side by side.
    height : float
        Height of a panel in inches.
    width, foot : float
        Width of the figure, and height of the room below the panels for the legend, in inches.
    """
    use_style()
    columns = min(columns, count)
    rows = math.ceil(count / columns)
    size = (width, height * rows + foot)
    figure, grid = plt.subplots(rows, columns, figsize=size, squeeze=False, layout="constrained")
    for surplus in grid.flat[count:]:
        surplus.remove()
    return figure, list(grid.flat[:count])


def panel_title(axes: Axes, what: str, sizes: str) -> None:
    """Write the title of a panel of `panel_grid`: in one line if the panel is wide enough, else in two.

    Parameters
    ----------
    axes : Axes
        The panel.
    what : str
        Letter and name, such as "(a) MSNBC, S1".
    sizes : str
        Sizes of the population.
    """
    figure: Any = axes.get_figure(root=True)
    grid: Any = axes.get_gridspec()
    title = axes.set_title(f"{what}: {sizes}")
    room = figure.bbox.width / grid.ncols - _LABELS_WIDTH * figure.dpi
    if title.get_window_extent(figure.canvas.get_renderer()).width > room:
        axes.set_title(f"{what}\n{sizes}")


def finished(figure: Figure, handles: Iterable[Artist] | None = None) -> Figure:
    """Place a legend below the panels in as many columns as the canvas is wide enough for; return the figure.

    Parameters
    ----------
    figure : Figure
        The figure.
    handles : iterable of Artist, optional
        Entries of the legend, in order; by default everything with a label in a panel. Equal texts are entered once.
    """
    if handles is None:
        handles = [handle for axes in figure.axes for handle in axes.get_legend_handles_labels()[0]]
    entries: dict[str, Artist] = {}
    for handle in handles:
        entries.setdefault(str(handle.get_label()), handle)
    for columns in range(min(len(entries), 4), 0, -1):
        legend = figure.legend(list(entries.values()), list(entries), loc="outside lower center", ncols=columns)
        width = legend.get_window_extent(figure.canvas.get_renderer()).width  # type: ignore[attr-defined]
        if columns == 1 or width <= _LEGEND_SHARE * figure.bbox.width:
            break
        legend.remove()
    return figure


def log_ticks(axis: Axis, values: Iterable[float] | None = None) -> None:
    """Label a logarithmic axis in plain numbers, at a few ticks, two at least.

    Powers of ten if three of them lie inside the limits, else finer steps. Call it when everything is drawn.

    Parameters
    ----------
    axis : Axis
        ``axes.xaxis`` or ``axes.yaxis``, with scale "log".
    values : iterable of float, optional
        Ticks to use instead, such as the sizes of populations.
    """
    ticks = _ticks_between(*sorted(map(float, axis.get_view_interval()))) if values is None else sorted(values)
    axis.set_major_locator(FixedLocator(ticks))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: plain(value)))
    axis.set_minor_formatter(NullFormatter())


def plain(value: float) -> str:
    """Format a number for a tick: 0.02, 5,000, 2.5e-4."""
    if 1e-3 <= value < 1e6:
        return f"{value:,.6g}"
    power = math.floor(math.log10(value) + 1e-9)
    return f"{value / 10.0**power:.3g}e{power}"


def _ticks_between(low: float, high: float) -> list[float]:
    """Return ticks inside an interval: the sparsest steps of which three lie inside, or else equal distances."""
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in _STEPS:
        ticks = [step * 10.0**power for power in exponents for step in steps]
        inside = [tick for tick in ticks if low * (1 - 1e-9) <= tick <= high * (1 + 1e-9)]
        if len(inside) > _FEWEST_TICKS:
            return inside[:: math.ceil(len(inside) / _MOST_TICKS)]
    equal = MaxNLocator(5, steps=[1, 2, 5, 10]).tick_values(low, high)
    return [tick for tick in equal if low <= tick <= high]


def mark_edition(figure: Figure, edition: str) -> None:
    """Write "quick" across a figure that is not a result."""
    if edition == "quick":
        figure.text(0.5, 0.5, edition, ha="center", va="center", **_WATERMARK)


def save(figure: Figure, paths: Sequence[str | Path], edition: str = "full") -> None:
    """Mark a figure of the quick edition, and write it to every path (PDF, SVG, PNG by suffix), byte-stable."""
    mark_edition(figure, edition)
    metadata = {".pdf": {"CreationDate": None, "ModDate": None}, ".svg": {"Date": None}, ".png": {"Software": None}}
    try:
        # lay out once for all formats: each would repeat the layout twice, with the same result
        figure.draw_without_rendering()
        figure.set_layout_engine(None)
        box = figure.get_tightbbox().padded(_PADDING)
        for path in map(Path, paths):
            with writing(path) as temporary:
                form = path.suffix.removeprefix(".")
                figure.savefig(temporary, format=form, metadata=metadata[path.suffix], bbox_inches=box)
    finally:
        plt.close(figure)


def log_axes(axis: Axes, which: str = "xy") -> None:
    """Make axes logarithmic, with ticks in plain numbers. Call it when everything is drawn."""
    for name in which:
        axis.set(**{f"{name}scale": "log"})
        log_ticks(getattr(axis, f"{name}axis"))
