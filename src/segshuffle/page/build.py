"""The page itself: everything put into one HTML text. The same results give the same bytes."""

import base64
import functools
import gzip
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

import yaml
from plotly.offline import get_plotlyjs

from segshuffle.page import findings, tables
from segshuffle.page.charts import chart
from segshuffle.page.inline import data_uri, rendered
from segshuffle.page.results import Results, read_results
from segshuffle.pipeline import manifest
from segshuffle.pipeline.manifest import Group, Output
from segshuffle.studies.reproduction.report import panels_by_figure, scenarios_of


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
    declared = manifest.outputs(manifest.targets(yaml.safe_load(results.config), scenarios_of(results.errors)))
    return rendered(
        "page.html.j2",
        results=results,
        findings=findings,
        groups=groups_of(figures, declared.values()).items(),
        # `data_uri` leaves these two, which an attribute cannot hold
        uris={name: data_uri(svg).replace("&", "&amp;").replace('"', "&quot;") for name, svg in figures.items()},
        words_of=functools.partial(words_of, results=results),
        panels=panels_by_figure(results.errors),
        chart=chart,
        tables=tables,
        plotly=plotly_text(),
    )


@functools.cache
def plotly_text() -> str:
    """Compress plotly.js to a quarter of its size, as text; the browser unpacks it when a chart is first opened."""
    return base64.b64encode(gzip.compress(get_plotlyjs().encode(), compresslevel=9, mtime=0)).decode()


def words_of(output: Output, results: Results) -> str:
    """Describe what a figure shows, in the words of its study or else by its declaration."""
    for words in manifest.words():
        if (said := words(output.name, results.tables)) is not None:
            return said
    details = f" {'; '.join(output.details)}." if output.details else ""
    return f"{output.title}. {output.caption}{details} The numbers are in the tables of this study."


def groups_of(names: Collection[str], declared: Iterable[Output]) -> dict[Group, list[Output]]:
    """Group the named figures, in the order of the page."""
    found: dict[Group, list[Output]] = {}
    for output in sorted(declared, key=lambda each: each.group.rank):
        if output.is_figure and output.name in names:
            found.setdefault(output.group, []).append(output)
    return found
