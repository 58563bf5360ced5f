"""Panels as their readers name them: rows of results/mse.csv with a letter, a name, curves and level lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from segshuffle.datasets.registry import dataset_label
from segshuffle.looks import Look
from segshuffle.pipeline.design import Scenario, Setting, figures_of
from segshuffle.pipeline.rows import common
from segshuffle.pipeline.style import letters
from segshuffle.protocols.registry import looks_in
from segshuffle.studies.reproduction.aggregate import points_of, rows_of


@dataclass(frozen=True)
class Panel:
    """One panel of a figure of the paper.

    Parameters
    ----------
    scenario : Scenario
        Population and split.
    letter : str
        Letter in its figure.
    source : str
        "real", "stand-in" or "synthetic".
    errors : DataFrame
        Its rows of results/mse.csv, both accountings.
    """

    scenario: Scenario
    letter: str
    source: str
    errors: pd.DataFrame

    @property
    def id(self) -> str:
        """Stable name inside the page."""
        return self.scenario.id

    @property
    def name(self) -> str:
        """What the panel shows, in one line."""
        setting = self.scenario.setting
        return (
            f"{dataset_label(setting.dataset, self.source)}, {self.scenario.split}: n = {setting.n_users:,}, "
            f"d = {setting.domain_size}, s = {setting.set_size}"
        )

    def looks(self, accounting: str) -> dict[str, Look]:
        """Look of every method under one accounting, in the order of the legend."""
        return looks_in(self._of(accounting))

    def curves(self, accounting: str) -> dict[str, pd.DataFrame]:
        """Method -> its rows over the grid of m, in the order of the legend."""
        grid = self._of(accounting).query("role == 'grid'").sort_values("blanket_per_user")
        found = {method: grid[grid["method"] == method] for method in self.looks(accounting)}
        return {method: curve for method, curve in found.items() if len(curve)}

    def points(self, accounting: str) -> pd.DataFrame:
        """Methods that have one number, lowest expected error first."""
        return points_of(self._of(accounting)).sort_values("mse_expected", kind="stable")

    @property
    def curve(self) -> pd.DataFrame:
        """The paper's protocol over the grid of m."""
        return self.curves("published")["segmented"]

    @property
    def optimum(self) -> pd.DataFrame:
        """The paper's protocol at the m of optimizeParameter."""
        return self._of("published").query("method == 'segmented' and role == 'best'")

    def _of(self, accounting: str) -> pd.DataFrame:
        return self.errors[self.errors["accounting"] == accounting]


def panels_of(errors: pd.DataFrame, scenarios: Sequence[Scenario] | None = None) -> list[Panel]:
    """Letter some panels of the table, or all in its order."""
    found = []
    for letter, scenario in zip(letters(), scenarios or scenarios_of(errors), strict=False):
        rows = rows_of(errors, scenario)
        (source,) = common(rows, "source")
        found.append(Panel(scenario, letter, str(source), rows))
    return found


def panels_by_figure(errors: pd.DataFrame) -> dict[str, list[Panel]]:
    """Return the panels of every figure, lettered as in the printed figure."""
    return {name: panels_of(errors, panels) for name, panels in figures_of(scenarios_of(errors)).items()}


def scenarios_of(errors: pd.DataFrame) -> list[Scenario]:
    """List the settings and splits of the table, in its order."""
    unique = errors[["dataset", "n_users", "set_size", "domain_size", "split"]].drop_duplicates()
    return [
        Scenario(Setting(str(dataset), int(n_users), int(set_size), int(domain_size)), str(split))
        for dataset, n_users, set_size, domain_size, split in unique.itertuples(index=False, name=None)
    ]
