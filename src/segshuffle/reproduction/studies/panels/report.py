"""What readers see of the panels: error over m under both accountings, error over messages, and all panels at a glance.

Every method of the table is drawn, also one that is not in `segshuffle.drawing.looks`.
"""

import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from segshuffle.datasets.registry import dataset_label
from segshuffle.drawing.looks import METHODS, PALETTE, Look, looks_in, stroke
from segshuffle.drawing.style import finished, letters, log_axes, panel_grid
from segshuffle.reproduction.design import ACCOUNTINGS, Scenario, Setting, figures_of
from segshuffle.reproduction.numbers import nearest
from segshuffle.reproduction.rows import common, sources_of, table_of
from segshuffle.reproduction.studies.drawing import POPULATION, draw_series, population_title

#: Label of the star.
OPTIMUM = "m that the paper's search picks"
#: Inches: width of a figure, and of one with names beside its panels; height of a panel, and of each such name.
_NARROW, _WIDE, _HEIGHT, _ENTRY = 7.0, 8.4, 2.55, 0.28
#: Characters in a line of a label beside a panel.
_CHARACTERS = 24
#: Ends and marks of horizontal lines, in shares of the grid. Marks and dashes, not only colours, tell lines apart.
_MARKS = (0, 0.06, 0.35, 0.65, 0.94, 1)


# --- panels ----------------------------------------------------------------------------------------------------------


class Panel(NamedTuple):
    """One panel of a figure of the paper.

    Parameters
    ----------
    scenario : Scenario
        Population and split.
    letter : str
        Letter in its figure.
    errors : DataFrame
        Its rows of results/mse.csv, both accountings.
    """

    scenario: Scenario
    letter: str
    errors: pd.DataFrame

    @property
    def name(self) -> str:
        """What the panel shows, in one line."""
        setting, (source,) = self.scenario.setting, common(self.errors, "source")
        return (
            f"{dataset_label(setting.dataset, source)}, {self.scenario.split}: n = {setting.n_users:,}, "
            f"d = {setting.domain_size}, s = {setting.set_size}"
        )

    def rows(self, accounting: str, role: str) -> pd.DataFrame:
        """Return the rows of one accounting in one role."""
        return self.errors[(self.errors["accounting"] == accounting) & (self.errors["role"] == role)]

    def looks(self, accounting: str) -> dict[str, Look]:
        """Return the look of every method under one accounting, in the order of the legend."""
        return looks_in(self.errors, accounting)

    def curves(self, accounting: str) -> dict[str, pd.DataFrame]:
        """Return method -> its rows over the grid of m, in the order of the legend."""
        grid = dict(iter(self.rows(accounting, "grid").sort_values("blanket_per_user").groupby("method")))
        return {method: grid[method] for method in self.looks(accounting) if method in grid}

    def points(self, accounting: str) -> pd.DataFrame:
        """Return the methods that have one error, not a curve, lowest expected error first."""
        best = self.rows(accounting, "best")
        over_grid = self.rows(accounting, "grid")["method"]
        return best[~best["method"].isin(over_grid)].sort_values("mse_expected", kind="stable")

    @property
    def curve(self) -> pd.DataFrame:
        """The paper's protocol over the grid of m."""
        return self.curves("published")["segmented"]

    @property
    def optimum(self) -> pd.DataFrame:
        """The paper's protocol at the m of optimizeParameter."""
        return self.rows("published", "best").query("method == 'segmented'")


def panels_of(errors: pd.DataFrame) -> list[Panel]:
    """Letter the panels of the table, in its order."""
    groups: Any = errors.groupby([*POPULATION, "split"], sort=False)
    return [
        Panel(Scenario(Setting(*population), split), letter, rows)
        for letter, ((*population, split), rows) in zip(letters(), groups, strict=False)
    ]


def panels_by_figure(errors: pd.DataFrame) -> dict[str, list[Panel]]:
    """Return the panels of every figure, lettered as in the printed figure."""
    every = {panel.scenario: panel for panel in panels_of(errors)}
    return {
        name: [every[shown]._replace(letter=letter) for letter, shown in zip(letters(), scenarios, strict=False)]
        for name, scenarios in figures_of([*every]).items()
    }


# --- figures ---------------------------------------------------------------------------------------------------------


def draw(table: pd.DataFrame, figure: str) -> Figure:
    """Draw a figure: its own panels of a table, or all panels of the table if it is a figure of all.

    Parameters
    ----------
    table : DataFrame
        Rows of results/mse.csv; if proven methods are drawn, also the published rows of the same panels.
    figure : str
        "summary" has all competitors at a glance, "messages-proven" error over messages, every other figure error over
        m; proven methods are drawn if its name ends with "-proven".
    """
    panels = panels_by_figure(table).get(figure.removesuffix("-proven"), panels_of(table))
    if figure == "summary":
        return _draw_summary(panels)
    if figure == "messages-proven":
        return _draw_messages(panels)
    return _draw_errors(panels, "proven" if figure.endswith("-proven") else "published")


def _draw_errors(panels: Sequence[Panel], accounting: str) -> Figure:
    """Draw squared error over the blanket per user, one panel per population and split.

    The methods with proven accounting are many, so their names are beside the panels.
    """
    published = accounting == "published"
    most = max(len(panel.points(accounting)) for panel in panels)
    height, width = (_HEIGHT, _NARROW) if published else (max(_HEIGHT, _ENTRY * most), _WIDE)
    figure, axes = panel_grid(len(panels), height=height, width=width)
    curves: list[Line2D] = []
    for axis, panel in zip(axes, panels, strict=True):
        # the paper's curve is drawn beside the proven ones
        for side in ACCOUNTINGS if not published else [accounting]:
            _curves(axis, panel.curves(side), panel.looks(side), zorder=4, ms=3)
        curves += axis.lines
        grid = panel.errors.loc[panel.errors["role"] == "grid", "blanket_per_user"]
        low, high = grid.min(), grid.max()
        levels = _levels(panel.points(accounting), low, high)
        _curves(axis, levels, panel.looks(accounting), markevery=slice(1, -1), lw=1.0)
        if published:
            (best,) = panel.optimum.to_dict("records")
            star: Any = stroke(METHODS["published"]["segmented"], marker="*", ls="none", label=OPTIMUM)
            axis.plot(best["blanket_per_user"], best["mse_mean"], ms=9, mfc="white", zorder=5, **star)
            low, high = min(low, best["blanket_per_user"] / 1.1), max(high, best["blanket_per_user"] * 1.1)
        else:
            _beside(axis, [line for line in axis.lines if line not in curves])
        axis.set(xlim=(low * 0.93, high * 1.07), xlabel="blanket messages per user $m$", ylabel="MSE")
        log_axes(axis)
        population_title(axis, panel.letter, panel.errors, split=True)
    return finished(figure, None if published else curves)


def _draw_messages(panels: Sequence[Panel]) -> Figure:
    """Draw error, divided by the weighted curator's, over expected messages per user (closed forms)."""
    figure, axes = panel_grid(len(panels), 3, height=2.1)
    curator = METHODS["proven"]["curator-weighted"]
    for axis, panel in zip(axes, panels, strict=True):
        measure = panel.rows("proven", "best").set_index("method")["mse_expected"]["curator-weighted"]
        spent = panel.rows("proven", "budget").sort_values("messages_per_user")
        spent = spent.assign(ratio=spent["mse_expected"] / measure)
        draw_series(axis, spent, "messages_per_user", "ratio", looks_in(spent, "proven"), by="method", ms=3)
        axis.axhline(1.0, color=curator.color, lw=1.2, label=curator.label)
        axis.set(xlim=(0, None), ylim=(0.95, max(1.3, 1.05 * spent["ratio"].max())))
        axis.set(xlabel="messages per user", ylabel="MSE / curator")
        population_title(axis, panel.letter, panel.errors, split=True)
    return finished(figure)


def _draw_summary(panels: Sequence[Panel]) -> Figure:
    """Draw one row per panel and one mark per competitor, on a log axis; 1 is the segmented protocol's error."""
    figure, (axis,) = panel_grid(1, height=0.24 * len(panels), foot=1.2)
    marks = pd.concat(
        points.assign(place=place, ratio=points["mse_mean"] / panel.curve["mse_mean"].min())
        for place, panel in enumerate(panels)
        for points in (panel.points("published"),)
    )
    draw_series(axis, marks, "ratio", "place", looks_in(marks, "published"), by="method", ls="none", ms=5)
    axis.axvline(1.0, color=PALETTE["black"], lw=1.2)
    axis.set(yticks=range(len(panels)), yticklabels=[panel.name for panel in panels], ylim=(len(panels) - 0.3, -0.7))
    axis.set_xlabel("MSE, divided by the least MSE of the segmented protocol (line: 1)")
    log_axes(axis, "x")
    return finished(figure)


def _curves(axis: Axes, curves: Mapping[str, pd.DataFrame], looks: Mapping[str, Look], **drawn: Any) -> None:
    """Draw methods over m, with two standard errors around their means."""
    for name, curve in curves.items():
        look, x = looks[name], curve["blanket_per_user"]
        mean, error = curve["mse_mean"], 2 * curve["mse_stderr"]
        axis.fill_between(x, mean - error, mean + error, color=look.color, alpha=0.2, lw=0)
        axis.plot(x, mean, **stroke(look, **drawn))


def _levels(points: pd.DataFrame, low: float, high: float) -> dict[str, pd.DataFrame]:
    """Repeat the one error of every method at the marks and ends of its horizontal line."""
    x = low * (high / low) ** np.array(_MARKS)
    rows = points.groupby("method", sort=False)
    return {str(name): pd.concat([row] * len(x)).assign(blanket_per_user=x) for name, row in rows}


def _beside(axis: Axes, lines: Iterable[Line2D]) -> None:
    """Name horizontal lines right of a panel, highest first, without "proven": all are proven, or trusted curators."""
    ordered = sorted(lines, key=lambda line: np.max(line.get_ydata()), reverse=True)
    names = [re.sub(r" \((ours, )?proven\)", "", str(line.get_label())) for line in ordered]
    entries = [textwrap.fill(name, _CHARACTERS) for name in names]
    axis.legend(ordered, entries, loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=7.0, labelspacing=0.4)


# --- descriptions ----------------------------------------------------------------------------------------------------


def description(figure: str, tables: Mapping[str, pd.DataFrame]) -> str | None:
    """Describe the least errors panel by panel; return None for a figure of anything else."""
    panels = panels_by_figure(tables["mse.csv"]).get(figure.removesuffix("-proven"))
    if panels is None:
        return None
    head = "Line charts of squared error over blanket messages per user m, both axes logarithmic. "
    return head + " ".join(_panel_description(panel, proven=figure.endswith("-proven")) for panel in panels)


def _panel_description(panel: Panel, *, proven: bool) -> str:
    accounting = ACCOUNTINGS[proven]
    points, looks = panel.points(accounting), panel.looks(accounting)
    # proven figures also have the paper's curve
    least = "; ".join(
        f"{panel.looks(side)[name].label}: {_least(curve)}"
        for side in ACCOUNTINGS[: 1 + proven]
        for name, curve in panel.curves(side).items()
    )
    rivals = "; ".join(
        f"{looks[name].label}: {nearest(mean, digits=2)}"
        for name, mean in zip(points["method"], points["mse_mean"], strict=True)
    )
    lines = f"Horizontal lines, lowest expected error first: {rivals}."
    return f"({panel.letter}) {panel.name}. Least errors: {least}. {lines}"


def _least(curve: pd.DataFrame) -> str:
    row = curve.iloc[int(curve["mse_expected"].argmin())]
    return f"{nearest(row['mse_mean'], digits=2)} at m = {row['blanket_per_user']:g}"


def budgets_of(summary: pd.DataFrame) -> list[float]:
    """Find the budgets of messages per user in the columns of proven-summary.csv, ascending."""
    return sorted(float(name.split("_")[1]) for name in map(str, summary) if name.startswith("copies_"))


# --- the readable summary ------------------------------------------------------------------------------------------

#: Column of the readable table -> what is in it, of a row of the summary.
_CELLS = {
    "panel": "{dataset} n={n_users} s={set_size} {split}",
    "published": "{published:.3g}",
    "poisson": "{poisson:.3g}",
    "ratio": "{published_over_poisson:.2f}x",
    "messages": "{messages_poisson:.1f}",
    "best competitor": "{best_competitor}",
    "competitor ratio": "{competitor_over_poisson:.2f}x",
    "recentred": "{recentred_over_poisson:.2f}",
    "projected": "{projected_over_poisson:.2f}",
    "best curator": "{curator_best_over_weighted:.2f}",
    "sampling / curator": "{poisson_over_curator:.2f}",
}
#: Columns that are no ratios of errors.
_NO_RATIOS = ("panel", "published", "poisson", "messages", "best competitor")
#: What holds for the whole table, and what its columns mean.
READING = (
    "Errors are expected squared errors in closed form, each method at its best number m of dummies per user. All "
    "guarantees are proven except that of the published protocol."
)
MEANINGS = {
    "panel": "n users who hold s items each, and a split, such as S1, of the users over the privacy levels",
    "published, poisson": "errors of the paper's protocol and of ours",
    "ratio": "the error of “published” divided by that of “poisson”",
    "messages": "messages per user of “poisson”",
    "best competitor": "“mm” is balls into bins with all users at the lowest level; “inverse-variance-sepmm” is balls "
    "into bins with a collection per level",
    "competitor ratio": "the error of the best competitor divided by that of “poisson”",
    "recentred": "our error after the estimates are shifted to sum to s (closed form), divided by our error before",
    "projected": "the same for estimates that are projected onto possible frequencies (Monte Carlo)",
    "… / curator": "errors divided by that of a trusted curator with Gaussian noise and a weight per level",
    "best curator": "the least error of all trusted curators, divided by that of the curator with a weight per level",
    "sampling": "the error of “poisson”",
    "copies": "the least error within a budget of messages per user, if users may send several messages about a held "
    "item",
}


def summary_table(summary: pd.DataFrame) -> list[dict[str, str]]:
    """Write the cells of the summary by their titles, one row per panel."""
    copies = {
        f"copies, {budget:g} messages / curator": f"{{copies_{budget:g}_over_curator:.2f}}"
        for budget in budgets_of(summary)
    }
    cells = _CELLS | copies
    return [{title: cell.format_map(row) for title, cell in cells.items()} for row in summary.to_dict("records")]


def readable(summary: pd.DataFrame, table: pd.DataFrame) -> str:
    """Write the summary as Markdown, given the table of all panels, which names the sources of the data."""
    rows = summary_table(summary)
    title = "# Proven accounting: errors at the same (epsilon, delta)"
    by_data = "No finding should rest on one dataset, so this table has the range of every ratio within each."
    meanings = "\n".join(f"- *{column}*: {meaning}" for column, meaning in MEANINGS.items())
    whole = table_of(rows[0], map(dict.values, rows))
    parts = [title, sources_of(table), READING, meanings, whole, "## By dataset", by_data, _by_dataset(summary)]
    return "\n\n".join(parts) + "\n"


def _by_dataset(summary: pd.DataFrame) -> str:
    """Write the least and the largest cell of every ratio, one row per dataset."""
    columns = [title for title in summary_table(summary)[0] if title not in _NO_RATIOS]
    lines = []
    for name, panels in summary.groupby("dataset", sort=False):
        low, high = summary_table(pd.DataFrame([panels.min(), panels.max()]))
        lines.append([name, len(panels), *(f"{low[title]} to {high[title]}" for title in columns)])
    return table_of(["dataset", "panels", *columns], lines)
