"""The page itself: everything put into one HTML text. The same results give the same bytes."""

import functools
import importlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import yaml

from segshuffle.datasets.registry import dataset_of
from segshuffle.drawing.inline import frame, on_screen, packed, rendered
from segshuffle.reproduction.captions import Captions, Group, Output
from segshuffle.reproduction.page import findings, tables
from segshuffle.reproduction.page.charts import chart
from segshuffle.reproduction.provenance import data_sentences
from segshuffle.reproduction.rows import sources_of
from segshuffle.reproduction.studies import verdicts
from segshuffle.reproduction.studies.panels import report

ASSETS, STUDIES = Path(__file__).with_name("assets"), Path(__file__).parents[1] / "studies"


class Results(NamedTuple):
    """All that the page is made of: a function of the run's files and nothing else.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        Path below the results folder -> table, for all that the page reads.
    record : str
        What the run was made of, as JSON.
    config : str
        The effective configuration.
    """

    tables: Mapping[str, pd.DataFrame]
    record: str
    config: str

    @property
    def provenance(self) -> Mapping[str, Any]:
        """What the run was made of."""
        record: Mapping[str, Any] = json.loads(self.record)
        return record

    @property
    def errors(self) -> pd.DataFrame:
        """The tidy table of all panels."""
        return self.tables["mse.csv"]

    @property
    def stand_in(self) -> str:
        """Which data are a stand-in and why; empty if all are real."""
        stand_ins = {name: data for name, data in self.provenance["data"].items() if data["kind"] != "real"}
        return "; ".join(data_sentences(stand_ins))

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
    # a section such as 6.1 is no number, and an empty note is a text
    texts = {"section": str, "note": str}
    return Results(
        tables={path: pd.read_csv(folder / path, dtype=texts).fillna({"note": ""}) for path in tables},
        record=(folder / "provenance.json").read_text(encoding="utf-8"),
        config=(folder / "config.yaml").read_text(encoding="utf-8"),
    )


def page(tables: Sequence[str], figures: Sequence[str], provenance: str) -> str:
    """Build the page of a finished run from the paths of its files."""
    folder = Path(provenance).parent
    results = read_results(folder, [Path(path).relative_to(folder).as_posix() for path in tables])
    return build(results, {Path(path).stem: Path(path).read_text(encoding="utf-8") for path in figures})


def build(results: Results, figures: Mapping[str, str]) -> str:
    """Render the page as HTML text.

    Parameters
    ----------
    results : Results
        The run's tables.
    figures : mapping of str to str
        Name (as its study declares it) -> SVG text of every figure to show.
    """
    described = Captions(yaml.safe_load(results.config)).every(f"figures/{name}.svg" for name in figures)
    return rendered(
        ASSETS / "page.html.j2",
        results=results,
        findings=findings,
        groups=groups_of(described).items(),
        svgs={name: on_screen(svg) for name, svg in figures.items()},
        text_of=functools.partial(text_of, results=results),
        sources=sources_of(results.errors),
        reproduction=report,
        chart=chart,
        tables=tables,
        verdicts=verdicts,
        frame=frame,
        packed=packed,
        plotly=(ASSETS / "plotly-basic.min.js").read_text(encoding="utf-8"),
    )


def text_of(output: Output, results: Results) -> str:
    """Describe what a figure shows, in text from its study (``description`` of a report.py) or else by its caption.

    Such a function takes the name of a figure and the tables of the run. It returns a text for readers who do not see
    the figure, or None if the figure is not its own.
    """
    for path in sorted(STUDIES.glob("*/report.py")):
        study = importlib.import_module(f"segshuffle.reproduction.studies.{path.parent.name}.report")
        text: str | None = study.description(output.name, results.tables) if hasattr(study, "description") else None
        if text:
            return text
    return f"{output.title}. {output.caption} CONTENTS.md beside this page names the tables."


def groups_of(figures: Iterable[Output]) -> dict[Group, list[Output]]:
    """Group figures, in the order of the page."""
    groups: dict[Group, list[Output]] = {}
    for output in sorted(figures, key=lambda each: each.group.rank):
        groups.setdefault(output.group, []).append(output)
    return groups
