"""What this study writes. Standard library only: the Snakefile imports it."""

from __future__ import annotations

from collections.abc import Sequence

from segshuffle.pipeline.design import Config, Scenario
from segshuffle.pipeline.manifest import VERDICTS, Group, Output, Target
from segshuffle.studies.amplification.exhibits import EXHIBITS, PAPERS, Exhibit

#: What the default target makes of these papers in the quick edition: one figure and one table.
_SAMPLE = ("decomposition8", "variation-table5")
GROUPS = {
    paper: Group(
        f"amplification-{paper}",
        f"{paper.capitalize()} paper",
        title,
        "The evaluation of this paper, computed from its settings; no data are used.",
        rank=6,
    )
    for paper, title in PAPERS.items()
}
_CLAIMS = tuple(
    Output(
        f"amplification/claims.{suffix}",
        "statements of the amplification papers with a verdict",
        "What was found, and the rule that judges it; the kind of every number is in the tables. The page shows this "
        "table to read.",
        VERDICTS,
        on_page=suffix == "csv",
    )
    for suffix in ("csv", "md")
)
DOCS = {
    **{f"figures/{name}.png": f"figures/{name}.png" for name in ("decomposition2", "variation1", "personalized4")},
    "amplification/claims.md": "amplification-claims.md",
}


def targets(config: Config, _panels: Sequence[Scenario]) -> list[Target]:
    """Everything of the papers, and every figure and table alone."""
    full = config["edition"] != "quick"
    every = tuple(output for exhibit in EXHIBITS.values() for output in _outputs(exhibit))
    what = "Figures, tables and verdicts of the amplification papers."
    return [
        Target("amplification", what, (*every, *_CLAIMS), in_all=full),
        *(
            Target(_name(exhibit), _what(exhibit), _outputs(exhibit), in_all=exhibit.id in _SAMPLE)
            for exhibit in EXHIBITS.values()
        ),
    ]


def _outputs(exhibit: Exhibit) -> tuple[Output, Output]:
    group, title = GROUPS[exhibit.paper], f"{_kind(exhibit)} {exhibit.number}: {exhibit.shows}"
    table = Output(f"amplification/{exhibit.id}.csv", title, group=group)
    if exhibit.table:
        return table, Output(f"amplification/{exhibit.id}.md", title, group=group)
    details = (
        "upper, lower and exact are proven; published is as a paper states it, not proven, and some are refuted; "
        "asymptotic is a limit without an error term",
        f"amplification/{exhibit.id}.csv has the kind of every point",
    )
    return table, Output(f"figures/{exhibit.id}", title, exhibit.caption, group, details)


def _kind(exhibit: Exhibit) -> str:
    return "Table" if exhibit.table else "Figure"


def _name(exhibit: Exhibit) -> str:
    return f"{'table' if exhibit.table else 'fig'}_{exhibit.paper}{exhibit.number}"


def _what(exhibit: Exhibit) -> str:
    return f'{_kind(exhibit)} {exhibit.number} of "{PAPERS[exhibit.paper]}": {exhibit.shows}.'
