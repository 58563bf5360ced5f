"""The page itself: everything put into one HTML text. The same results give the same bytes."""

from __future__ import annotations

import base64
import functools
import gzip
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import jinja2
import yaml
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from segshuffle.page import tables
from segshuffle.page.charts import PAPER, PROVEN, Chart, chart
from segshuffle.page.findings import chapters
from segshuffle.page.inline import data_uri, style
from segshuffle.page.results import Results, read_results
from segshuffle.pipeline import manifest
from segshuffle.pipeline.manifest import Group, Output
from segshuffle.studies.reproduction.report import Panel, panels_by_figure, scenarios_of

ASSETS = Path(__file__).with_name("assets")


class Shown(NamedTuple):
    """A picture as the template needs it."""

    picture: Output
    uri: Markup
    alternative: str
    panels: list[ShownPanel]


class ShownPanel(NamedTuple):
    """A panel with its chart and its tables."""

    panel: Panel
    chart: Chart
    json: Markup
    tables: tuple[tables.Table, ...]


def page(tables: Sequence[str], figures: Sequence[str], provenance: str, config: str) -> str:
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
    groups = [
        (group, [_shown(picture, figures[picture.name], results) for picture in pictures])
        for group, pictures in groups_of(figures, _declared(results)).items()
    ]
    papers = results.amplification_claims
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(ASSETS),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
    )
    return environment.get_template("page.html.j2").render(
        results=results,
        chapters=chapters(results),
        groups=groups,
        verdicts=tables.verdicts(results.claims),
        tally=tables.tally(results.claims),
        marks=tables.VERDICTS,
        amplification=[] if papers is None else tables.verdicts(papers),
        amplification_tally={} if papers is None else tables.tally(papers),
        audit_table=tables.audit_table(results),
        proven_tables=(tables.proven_table(results), tables.copies_table(results)),
        referee_table=None if results.referee is None else tables.referee_table(results.referee),
        runtime_table=tables.runtime_table(results),
        provenance_tables=tables.provenance_tables(results),
        chart_groups=((PAPER, "The paper's methods"), (PROVEN, "Proven methods")),
        style=Markup(style()),
        script=Markup(_asset("page.js")),
        plotly=plotly_text(),
    )


def _declared(results: Results) -> Iterable[Output]:
    """Return what the studies declare for this run."""
    return manifest.outputs(manifest.targets(yaml.safe_load(results.config), scenarios_of(results.errors))).values()


@functools.cache
def plotly_text() -> str:
    """plotly.js compressed, in letters: a quarter of its size, unpacked by the browser when a chart is first opened."""
    return base64.b64encode(gzip.compress(get_plotlyjs().encode(), compresslevel=9, mtime=0)).decode()


def _shown(picture: Output, svg: str, results: Results) -> Shown:
    panels = [_shown_panel(panel) for panel in panels_by_figure(results.errors).get(picture.name, [])]
    # a data address is quoted by `data_uri` but for these two
    uri = data_uri(svg).replace("&", "&amp;").replace('"', "&quot;")
    return Shown(picture, Markup(uri), words_of(picture, results), panels)


def _shown_panel(panel: Panel) -> ShownPanel:
    made = chart(panel)
    # no text inside a script element may end it
    safe = Markup(made.figure.replace("<", "\\u003c"))
    return ShownPanel(panel, made, safe, (tables.curve_table(panel), tables.point_table(panel)))


def _asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")


def words_of(output: Output, results: Results) -> str:
    """Describe what a figure shows, in the words of its study or else by its declaration."""
    for words in manifest.words():
        if (said := words(output.name, results.tables)) is not None:
            return said
    details = f" {'; '.join(output.details)}." if output.details else ""
    return f"{output.title}. {output.caption}{details} The numbers are in the tables of its study."


def groups(declared: Iterable[Output]) -> dict[Group, list[Output]]:
    """All declared figures, by group in the order of the page."""
    found: dict[Group, list[Output]] = {}
    for output in declared:
        if output.is_figure:
            found.setdefault(output.group, []).append(output)
    return dict(sorted(found.items(), key=lambda item: item[0].rank))


def groups_of(names: Iterable[str], declared: Iterable[Output]) -> dict[Group, list[Output]]:
    """Return the groups with those of their figures that exist.

    Raises
    ------
    KeyError
        Names the unknown files.
    """
    given, listed = set(names), groups(declared)
    if unknown := given - {output.name for outputs in listed.values() for output in outputs}:
        raise KeyError(f"no study declares the figures {sorted(unknown)}")
    kept = {group: [output for output in outputs if output.name in given] for group, outputs in listed.items()}
    return {group: outputs for group, outputs in kept.items() if outputs}
