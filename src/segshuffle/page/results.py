"""The files of a run that the page shows, read once."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from segshuffle.datasets.registry import dataset_label, every
from segshuffle.looks import Look
from segshuffle.pipeline.design import Scenario, Setting, figures_of
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
        return looks_in(self._of(accounting), accounting)

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


@dataclass(frozen=True)
class Results:
    """All that the page is made of: a function of the run's files and nothing else."""

    errors: pd.DataFrame
    summary: pd.DataFrame
    claims: pd.DataFrame
    audit: pd.DataFrame
    limit: pd.DataFrame
    levels: pd.DataFrame
    runtimes: pd.DataFrame
    provenance: Mapping[str, Any]
    config: str
    amplification_claims: pd.DataFrame | None = None
    referee: pd.DataFrame | None = None

    @property
    def edition(self) -> str:
        """The edition: full, or quick."""
        return str(self.provenance["edition"])

    @property
    def stand_in(self) -> str | None:
        """Which data are a stand-in and why; None if all are real."""
        said = [
            f"{dataset_label(name, 'real')}: {str(data['reason']).splitlines()[0]}"
            for name, data in self.provenance["data"].items()
            if data["kind"] != "real"
        ]
        return "; ".join(said) or None

    @property
    def licences(self) -> tuple[str, ...]:
        """Licences and citations of the datasets that ran."""
        known = every()
        return tuple(known[name].licence for name in self.sources if name in known and known[name].licence)

    @property
    def sources(self) -> dict[str, str]:
        """Dataset -> real, stand-in or synthetic."""
        return dict(zip(self.errors["dataset"], self.errors["source"], strict=True))

    @property
    def scenarios(self) -> list[Scenario]:
        """Every panel of the run, in the order of its table."""
        return _scenarios(self.errors)

    def figures(self) -> dict[str, list[Panel]]:
        """Figure -> its panels, lettered as in the printed figure."""
        return {name: self._lettered(panels) for name, panels in figures_of(self.scenarios).items()}

    def panels(self) -> list[Panel]:
        """All panels, in the order of the table."""
        return self._lettered(self.scenarios)

    def _lettered(self, scenarios: Sequence[Scenario]) -> list[Panel]:
        return [self._panel(letter, scenario) for letter, scenario in zip(letters(), scenarios, strict=False)]

    def _panel(self, letter: str, scenario: Scenario) -> Panel:
        rows = rows_of(self.errors, scenario)
        return Panel(scenario, letter, str(rows["source"].iloc[0]), rows)


def read_results(
    *,
    errors: Path,
    summary: Path,
    claims: Path,
    audit: Path,
    limit: Path,
    levels: Sequence[Path],
    runtimes: Path,
    provenance: Path,
    config: Path,
    amplification_claims: Path | None = None,
    referee: Path | None = None,
) -> Results:
    """Read the files of a run.

    Parameters
    ----------
    errors, summary, claims, audit, limit, runtimes : Path
        mse.csv, proven-summary.csv, claims.csv, audit.csv, limit.csv, runtimes.csv.
    levels : sequence of Path
        One table of private levels per population.
    provenance, config : Path
        provenance.json and the effective configuration.
    amplification_claims : Path, optional
        Verdicts on the statements of the amplification papers.
    referee : Path, optional
        Verdicts of the referee, per accountant and mechanism.
    """
    return Results(
        errors=pd.read_csv(errors),
        summary=pd.read_csv(summary),
        claims=pd.read_csv(claims, dtype={"section": str}, keep_default_na=False),
        audit=pd.read_csv(audit),
        limit=pd.read_csv(limit),
        levels=pd.concat([pd.read_csv(path) for path in levels], ignore_index=True),
        runtimes=pd.read_csv(runtimes),
        provenance=json.loads(provenance.read_text(encoding="utf-8")),
        config=config.read_text(encoding="utf-8"),
        amplification_claims=None
        if amplification_claims is None
        else pd.read_csv(amplification_claims, dtype={"section": str}, keep_default_na=False),
        referee=None if referee is None else pd.read_csv(referee),
    )


def _scenarios(errors: pd.DataFrame) -> list[Scenario]:
    """All panels of the table, in its order."""
    unique = errors[[*SETTING, "split"]].drop_duplicates()
    return [
        Scenario(
            Setting(str(row["dataset"]), int(row["n_users"]), int(row["set_size"]), int(row["domain_size"])),
            str(row["split"]),
        )
        for row in unique.to_dict("records")
    ]
