"""Draw curves of an answer into files."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from segshuffle.looks import Look, series_looks, stroke

#: Name of a curve -> its points.
Curves = Mapping[str, Sequence[tuple[float, float]]]


def draw(
    panels: Mapping[str, Curves],
    along: str,
    paths: Sequence[Path],
    *,
    looks: Mapping[str, Look] | None = None,
    title: str = "",
) -> None:
    """Draw a panel for each measure, on logarithmic axes, into files of type .png, .pdf or .svg."""
    from segshuffle.pipeline.style import finished, log_axes, panel_grid, save

    figure, grid = panel_grid(len(panels), height=2.6 if len(panels) > 1 else 4.0)
    for axes, (measure, curves) in zip(grid, panels.items(), strict=True):
        own = looks or dict(zip(curves, series_looks(curves), strict=True))
        for name, points in curves.items():
            axes.plot(*zip(*points, strict=True), **stroke(own[name], markersize=4))
        log_axes(axes)
        axes.set(xlabel=along, ylabel=measure, title=title)
    finished(figure)
    save(figure, paths)
