"""The files of a run that the page shows, read once."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from segshuffle.datasets.registry import dataset_label, every
from segshuffle.pipeline.design import FIGURES, Scenario, Setting

SETTING = ["dataset", "n_users", "set_size", "domain_size"]
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


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
    errors, tight : DataFrame
        Its rows of results/mse.csv and results/tight.csv.
    """

    scenario: Scenario
    letter: str
    source: str
    errors: pd.DataFrame
    tight: pd.DataFrame

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

    @property
    def curve(self) -> pd.DataFrame:
        """The paper's protocol over the grid of m."""
        rows = self.errors[(self.errors["method"] == "segmented") & ~self.errors["optimum"]]
        return rows.sort_values("blanket_per_user")

    @property
    def competitors(self) -> pd.DataFrame:
        """The paper's competitors, lowest expected error first."""
        return self.errors[self.errors["method"] != "segmented"].sort_values("mse_expected", kind="stable")

    def proven_curve(self, method: str) -> pd.DataFrame:
        """A proven protocol over the grid of m."""
        rows = self.tight[(self.tight["method"] == method) & (self.tight["role"] == "grid")]
        return rows.sort_values("blanket_per_user")

    @property
    def proven_points(self) -> pd.DataFrame:
        """Proven methods without an m of ours, lowest expected error first."""
        curves = set(self.tight.loc[self.tight["role"] == "grid", "method"])
        rows = self.tight[(self.tight["role"] == "best") & ~self.tight["method"].isin(curves)]
        return rows.sort_values("mse_expected", kind="stable")


@dataclass(frozen=True)
class Results:
    """All that the page is made of: a function of the run's files and nothing else."""

    errors: pd.DataFrame
    tight: pd.DataFrame
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

    def panels(self, figure: str) -> list[Panel]:
        """Panels of one of Figures 2-6 (any other name: all panels), lettered as in the printed figure."""
        dataset, splits = FIGURES.get(figure, (None, ()))
        chosen = [s for s in _scenarios(self.errors) if dataset is None or s.setting.dataset == dataset]
        if dataset is not None:
            chosen = [s for split in splits for s in chosen if s.split == split]
        return [self._panel(letter, scenario) for letter, scenario in zip(_LETTERS, chosen, strict=False)]

    def _panel(self, letter: str, scenario: Scenario) -> Panel:
        errors, tight = (_of(table, scenario) for table in (self.errors, self.tight))
        return Panel(scenario, letter, str(errors["source"].iloc[0]), errors, tight)


def read_results(
    *,
    errors: Path,
    tight: Path,
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
    errors, tight, summary, claims, audit, limit, runtimes : Path
        mse.csv, tight.csv, tight-summary.csv, claims.csv, audit.csv, limit.csv, runtimes.csv.
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
        tight=pd.read_csv(tight),
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


def _of(table: pd.DataFrame, scenario: Scenario) -> pd.DataFrame:
    setting = scenario.setting
    return table[
        (table["dataset"] == setting.dataset)
        & (table["n_users"] == setting.n_users)
        & (table["set_size"] == setting.set_size)
        & (table["split"] == scenario.split)
    ]
