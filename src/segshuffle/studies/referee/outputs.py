"""What this study makes, and how. Standard library only: the Snakefile imports it."""

from __future__ import annotations

from collections.abc import Sequence

from segshuffle.pipeline.design import Config, Scenario
from segshuffle.pipeline.manifest import Group, Output, Rule, Step, Target, part

GROUP = Group(
    "referee",
    "Referee",
    "The referee: published bounds against proven ones",
    "A published upper bound that lies below a proven lower bound is wrong.",
    rank=9,
)
_READING = (
    "upper bounds for one shuffled message per user, proven and published, against proven lower bounds",
    "kinds of the claims: upper (proven), published and asymptotic; the table has the kind of every row",
    '"sound so far" means that nothing on this grid refutes the bound, no more',
)
TABLE = Output(
    "referee.csv",
    "upper bounds of one shuffled message per user, published and proven, against proven lower bounds "
    "(docs/referee.md names them)",
    group=GROUP,
)
VERDICTS = Output(
    "referee-verdicts.csv",
    "a verdict per accountant and mechanism",
    "Whether a proven lower bound refutes what the accountant claims.",
    GROUP,
    _READING,
    on_page=True,
)
READABLE = Output("referee.md", VERDICTS.title, group=GROUP)
FIGURE = Output(
    "figures/referee",
    "Claimed ε above or below the proven lower bound",
    "A claim below zero is refuted: it promises a smaller ε than a proven lower bound. The legend says which claims "
    "are proven themselves.",
    GROUP,
    _READING,
)
PARTS = {"referee/": "the parts of referee.csv, a file per mechanism"}
DOCS = {"figures/referee.png": "figures/referee.png", "referee.md": "referee-table.md"}


def targets(_config: Config, _panels: Sequence[Scenario]) -> list[Target]:
    """Declare tables, verdicts and the figure."""
    what = "The referee: upper bounds of one message, published and proven, against proven lower bounds."
    return [Target("referee", what, (TABLE, VERDICTS, READABLE, FIGURE))]


def rules(config: Config, _panels: Sequence[Scenario]) -> list[Rule]:
    """Make the claims that all mechanisms share, a job per mechanism, and one that collects them."""
    cases, own = tuple(config["referee"]["cases"]), part(config, "delta_times_n", "referee")
    generic, edition = "referee/generic.csv", {"edition": config["edition"]}
    claims = Step(
        generic,
        "studies.referee.compute:generic_claims",
        arguments={"config": own, "cases": list(cases)},
        upper=("claimed",),
    )
    trial = Step(
        "referee/case-{case}.csv",
        "studies.referee.compute:try_case",
        {"generic": generic},
        lambda case: {"config": own, "name": case},
        lower=("proven",),
        upper=("claimed",),
    )
    collected = (
        Step(TABLE.path, "pipeline.jobs:same", {"table": [f"referee/case-{case}.csv" for case in cases]}),
        Step(FIGURE.path, "studies.referee.report:draw", {"table": TABLE.path}, edition),
        Step(VERDICTS.path, "studies.referee.report:tally", {"table": TABLE.path}),
        Step(READABLE.path, "studies.referee.report:report", {"found": VERDICTS.path}, edition),
    )
    return [
        Rule(
            "referee_generic",
            "Claims of the bounds that know a mechanism's local epsilon alone.",
            (claims,),
            seconds=20,
        ),
        Rule(
            "referee_case",
            "All bounds that apply to one mechanism against the proven lower bounds. Sees no data.",
            (trial,),
            cases,
            seconds=80,
        ),
        Rule(
            "referee_verdicts",
            "One table, one verdict per accountant and mechanism, and the figure.",
            collected,
            seconds=20,
        ),
    ]
