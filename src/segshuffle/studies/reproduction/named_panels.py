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

SETTING = ["dataset", "n_users", "set_size", "domain_size"]


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
        rows = self._of(accounting)
        grid = rows[rows["role"] == "grid"].sort_values("blanket_per_user")
        curves = {method: grid[grid["method"] == method] for method in self.looks(accounting)}
        return {method: curve for method, curve in curves.items() if len(curve)}

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
        rows = self._of("published")
        return rows[(rows["method"] == "segmented") & (rows["role"] == "best")]

    def _of(self, accounting: str) -> pd.DataFrame:
        return self.errors[self.errors["accounting"] == accounting]


def panels_of(errors: pd.DataFrame) -> list[Panel]:
    """All panels of the table, in its order."""
    return _lettered(errors, scenarios_of(errors))


def panels_by_figure(errors: pd.DataFrame) -> dict[str, list[Panel]]:
    """Figure -> its panels, lettered as in the printed figure."""
    return {name: _lettered(errors, panels) for name, panels in figures_of(scenarios_of(errors)).items()}


def scenarios_of(errors: pd.DataFrame) -> list[Scenario]:
    """Settings and splits of the table, in its order."""
    unique = errors[[*SETTING, "split"]].drop_duplicates()
    return [
        Scenario(
            Setting(str(row["dataset"]), int(row["n_users"]), int(row["set_size"]), int(row["domain_size"])),
            str(row["split"]),
        )
        for row in unique.to_dict("records")
    ]


def _lettered(errors: pd.DataFrame, scenarios: Sequence[Scenario]) -> list[Panel]:
    return [_panel(errors, letter, scenario) for letter, scenario in zip(letters(), scenarios, strict=False)]


def _panel(errors: pd.DataFrame, letter: str, scenario: Scenario) -> Panel:
    rows = rows_of(errors, scenario)
    (source,) = common(rows, "source")
    return Panel(scenario, letter, str(source), rows)
