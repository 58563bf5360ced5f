"""What this study makes, and how. Standard library only: the Snakefile imports it."""

from __future__ import annotations

from collections.abc import Sequence

from segshuffle.pipeline.design import Config, Scenario
from segshuffle.pipeline.manifest import Output, Rule, Step, Target
from segshuffle.studies.reproduction.outputs import GROUPS, MSE, figures, panel_figures

SUMMARY = tuple(
    Output(
        f"proven-summary.{suffix}",
        "what proven accounting and copies buy, a row per panel",
        "Closed-form errors of the published protocol, the proven ones, their best competitor and trusted curators, "
        "each at its best m and the same (ε, δ), and the error with copies within a budget of messages. All guarantees "
        "are proven but that of the published protocol. The page shows this table.",
        GROUPS["proven"],
        on_page=suffix == "csv",
    )
    for suffix in ("csv", "md")
)
DOCS = {"proven-summary.md": "proven-summary.md"}


def targets(config: Config, panels: Sequence[Scenario]) -> list[Target]:
    """Declare the summary, with the proven figures of the panels."""
    every = figures(config, panels)
    proven = (every[name] for name, each in panel_figures(panels).items() if each.accounting == "proven")
    what = "The same panels with proven accounting, error against messages per user, and a summary of all panels."
    return [Target("proven", what, (*SUMMARY, *proven))]


def rules(config: Config, _panels: Sequence[Scenario]) -> list[Rule]:
    """Make both forms in one job."""
    table, text = (output.path for output in SUMMARY)
    budgets = {"budgets": [float(budget) for budget in config["proven"]["max_messages"]]}
    steps = (
        Step(table, "studies.proven.report:proven_summary", {"table": MSE.path}, budgets),
        Step(
            text,
            "studies.proven.report:readable",
            {"summary": table, "table": MSE.path},
            budgets | {"edition": config["edition"]},
        ),
    )
    return [
        Rule(
            "proven_summary",
            "What proven accounting and copies buy, a row per panel.",
            steps,
            follows=lambda _: {"protocols": frozenset(), "datasets": frozenset()},
        )
    ]
