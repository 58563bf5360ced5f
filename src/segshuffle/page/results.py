"""The files of a run that the page shows, read once."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from segshuffle.datasets.registry import dataset_label, dataset_of


@dataclass(frozen=True)
class Results:
    """All that the page is made of: a function of the run's files and nothing else.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        Path below the results folder -> table, for all that is declared with ``on_page``.
    provenance : mapping
        The run's record.
    config : str
        The effective configuration.
    """

    tables: Mapping[str, pd.DataFrame]
    provenance: Mapping[str, Any]
    config: str

    @property
    def errors(self) -> pd.DataFrame:
        """The tidy table of all panels."""
        return self.tables["mse.csv"]

    @property
    def stand_in(self) -> str:
        """Which data are a stand-in and why; empty if all are real."""
        said = [
            f"{dataset_label(name, 'real')}: {data['reason'].splitlines()[0]}"
            for name, data in self.provenance["data"].items()
            if data["kind"] != "real"
        ]
        return "; ".join(said)

    @property
    def licences(self) -> tuple[str, ...]:
        """Licences and citations of the datasets that ran."""
        return tuple(licence for name in self.sources if (licence := dataset_of(name).licence))

    @property
    def sources(self) -> dict[str, str]:
        """Dataset -> real, stand-in or synthetic."""
        return dict(zip(self.errors["dataset"], self.errors["source"], strict=True))


def read_results(folder: Path, tables: Iterable[str]) -> Results:
    """Read the files of a run.

    Parameters
    ----------
    folder : Path
        The results folder, with provenance.json and config.yaml.
    tables : iterable of str
        Which tables the run has, below that folder.
    """

    def table(path: str) -> pd.DataFrame:
        # sections are texts, and an empty note is one
        if path.endswith("claims.csv"):
            return pd.read_csv(folder / path, dtype={"section": str}, keep_default_na=False)
        return pd.read_csv(folder / path)

    return Results(
        tables={path: table(path) for path in tables},
        provenance=json.loads((folder / "provenance.json").read_text(encoding="utf-8")),
        config=(folder / "config.yaml").read_text(encoding="utf-8"),
    )
