"""What this study makes, and how. Standard library only: the Snakefile imports it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from segshuffle.pipeline.design import Config, Scenario
from segshuffle.pipeline.manifest import VERDICTS, Group, Output, Rule, Step, Target
from segshuffle.studies.amplification.exhibits import EXHIBITS, FIGURES, PAPERS, TABLES, Exhibit

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


def rules(config: Config, _panels: Sequence[Scenario]) -> list[Rule]:
    """Curves of every figure and table, each as readers see it, and the verdicts."""
    points, edition = {"points": config["amplification"]["points"]}, {"edition": config["edition"]}
    curves = Step(
        "amplification/{case}.csv",
        "studies.amplification.compute:compute",
        arguments=lambda case: {"name": case, **points},
    )
    figure = Step(
        "figures/{case}",
        "studies.amplification.figure:draw",
        lambda case: {"table": f"amplification/{case}.csv"},
        lambda case: {"name": case, **edition},
    )
    table = Step(
        "amplification/{case}.md",
        "studies.amplification.curve_claims:table_markdown",
        lambda case: {"table": f"amplification/{case}.csv"},
        lambda case: {"name": case},
    )
    judged, readable = (output.path for output in _CLAIMS)
    claims = (
        Step(
            judged,
            "studies.amplification.curve_claims:evaluate",
            {
                "table": [f"amplification/{case}.csv" for case in EXHIBITS],
                "reference": Path("config/reference/claims-amplification.yaml"),
            },
            points,
        ),
        Step(readable, "studies.amplification.curve_claims:to_markdown", {"claims": judged}, edition),
    )
    return [
        Rule(
            "amplification_curves",
            "Every curve of one figure or table of the amplification papers. Sees no data.",
            (curves,),
            tuple(EXHIBITS),
            seconds=60,
        ),
        Rule("figure_amplification", "One figure of the amplification papers.", (figure,), FIGURES),
        Rule(
            "table_amplification",
            "One table of the amplification papers, readable.",
            (table,),
            TABLES,
        ),
        Rule(
            "claims_amplification",
            "Verdict on the statements of the amplification papers' evaluations.",
            claims,
        ),
    ]
