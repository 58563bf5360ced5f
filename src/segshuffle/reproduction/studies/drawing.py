"""What the figures of several studies share: curves, and names of populations."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from segshuffle.datasets.registry import dataset_label
from segshuffle.drawing.looks import Look, series_looks, stroke
from segshuffle.drawing.style import letters, panel_grid, panel_title
from segshuffle.reproduction.rows import common

#: Columns that name a population.
POPULATION = ["dataset", "n_users", "set_size", "domain_size"]


def population_panels(
    table: pd.DataFrame, columns: int = 2, *, each: int = 1, split: bool = True, **sizes: float
) -> tuple[Figure, list[tuple[pd.DataFrame, list[Axes]]]]:
    """Make a figure of lettered panels; `each` is how many every population (and split) of a table has.

    Returns
    -------
    figure : Figure
        As `panel_grid` makes it with these columns and sizes.
    list of (DataFrame, list of Axes)
        Rows of a population, and its panels.
    """
    groups = [rows for _, rows in table.groupby([*POPULATION, *["split"] * split], sort=False)]
    figure, axes = panel_grid(each * len(groups), columns, **sizes)
    for i, (letter, axis) in enumerate(zip(letters(), axes, strict=False)):
        population_title(axis, letter, groups[i // each], split=split)
    return figure, [(rows, axes[each * i : each * (i + 1)]) for i, rows in enumerate(groups)]


def draw_series(
    axis: Axes, rows: pd.DataFrame, x: str, y: str, looks: Mapping[str, Look], by: str = "label", **changed: Any
) -> None:
    """Draw a curve for every look, of the rows that have its name in column `by`."""
    for name, look in looks.items():
        curve = rows[rows[by] == name]
        axis.plot(curve[x], curve[y], **stroke(look, **changed))


def series_of(labels: Iterable[str]) -> dict[str, Look]:
    """Return the looks of `series_looks` by label, each once."""
    return {look.label: look for look in series_looks(dict.fromkeys(labels))}


def draw_measured(axis: Axes, x: pd.Series, rows: pd.DataFrame, what: str, look: Look, *, label: str) -> None:
    """Draw means and two standard errors, columns `what`_mean and `what`_stderr, as marks with bars."""
    mean, error = rows[f"{what}_mean"], 2 * rows[f"{what}_stderr"]
    marks: Any = stroke(look, ls="none", label=label, ms=3.1, lw=0.9, zorder=4)
    axis.errorbar(x, mean, yerr=error, capsize=1.5, **marks)


def population_title(axis: Axes, letter: str, rows: pd.DataFrame, *, split: bool) -> None:
    """Name the population of some rows, with its source if they have one, and its split if asked for."""
    dataset, n_users, set_size, domain_size = common(rows, *POPULATION)
    (source,) = common(rows, "source") if "source" in rows else ("real",)
    what = f"({letter}) {dataset_label(dataset, source)}" + (f", {common(rows, 'split')[0]}" if split else "")
    sizes = f"$n$ = {n_users:,}, $d$ = {domain_size}, $s$ = {set_size}"
    panel_title(axis, what, sizes)
