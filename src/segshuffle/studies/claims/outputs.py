"""What this study makes, and how. Standard library only: the Snakefile imports it."""

from pathlib import Path

from segshuffle.pipeline.design import Config, Panels
from segshuffle.pipeline.manifest import VERDICTS, Output, Rule, Step, Target, part
from segshuffle.studies.reproduction.outputs import MSE

CLAIMS = tuple(
    Output(
        f"claims.{suffix}",
        "every statement of the paper's section 6 with a verdict",
        "What was found, and the rule behind the verdict. Errors are closed forms; privacy numbers of the segmented "
        "protocol are as published. The page shows this table.",
        VERDICTS,
        on_page=suffix == "csv",
    )
    for suffix in ("csv", "md")
)
_TITLE = """# Statements of the paper, and what came out

All errors are expected values in closed form (column `mse_expected` of `mse.csv`): of the paper's protocol at the m
of least error on the grid, and of its competitors. Means of simulations and the paper's bound are not used. Messages
per user are those of the plans.

An m is a *best m* if its error is at most 2 % above the least on the grid: less than the means of two times 200
simulations tell apart. So a best m is a range; if it reaches an end of the grid, there may be a better m beyond. A
best m *falls* if both ends of its range do. It is *significantly* larger than another if every m of its range is at
least 1.5 times every m of the other: more than a step of the grid (at most a factor 1.25), less than in the paper's
own examples (from 2 to 4 and from 0.3 to 1)."""
DOCS = {"claims.md": "claims.md"}


def targets(_config: Config, _panels: Panels) -> list[Target]:
    """Declare the verdicts, and the table that they are read off."""
    return [Target("claims", "Verdicts on the statements of the paper.", (MSE, *CLAIMS))]


def rules(config: Config, _panels: Panels) -> list[Rule]:
    """Make table and text in one job."""
    table, text = (output.path for output in CLAIMS)
    read = {"table": MSE.path, "reference": Path("config/reference/claims.yaml")}
    judged = part(config, "delta_times_n", "levels", "splits", "competitors")
    steps = (
        Step(table, "studies.claims.report:evaluate", read, {"config": judged}),
        Step(text, "studies.verdicts:markdown", {"claims": table, "table": MSE.path}, {"title": _TITLE}),
    )
    return [Rule("verdicts", "Verdict on every statement of the paper's section 6.", steps)]
