"""What this study makes, and how. Standard library only: the Snakefile imports it."""

from segshuffle.pipeline.design import Config, Panels
from segshuffle.pipeline.manifest import Group, Output, Rule, Step, Target, part

GROUP = Group(
    "referee",
    "Referee",
    "The referee: published bounds against proven ones",
    "A published upper bound that lies below a proven lower bound is wrong.",
    rank=9,
)
_KINDS = (
    "Claims are upper (proven), published or asymptotic; the table has the kind of every row. 'Sound so far' only "
    "means that nothing on the configuration's grid refutes the bound."
)
TABLE = Output(
    "referee.csv",
    "upper bounds of one shuffled message per user, published and proven, against proven lower bounds "
    "(docs/referee.md names all bounds)",
    group=GROUP,
)
VERDICTS = Output(
    "referee-verdicts.csv",
    "a verdict per accountant and mechanism",
    f"Whether a proven lower bound refutes what the accountant claims. {_KINDS}",
    GROUP,
    on_page=True,
)
READABLE = Output("referee.md", VERDICTS.title, group=GROUP)
FIGURE = Output(
    "figures/referee",
    "Claimed ε above or below the proven lower bound",
    f"{_KINDS} Below zero: refuted, because the claimed ε is smaller than a proven lower bound. Not drawn: claims "
    "that are no better than the local guarantee, and mechanisms without a refuted claim (unless nothing is refuted). "
    "Two proven bounds are drawn for comparison, and any proven bound that is refuted. The legend says which bounds "
    "are proven.",
    GROUP,
)
DOCS = {"figures/referee.png": "figures/referee.png", "referee.md": "referee-table.md"}


def targets(_config: Config, _panels: Panels) -> list[Target]:
    """Declare tables, verdicts and the figure."""
    what = "The referee: upper bounds for one message, published and proven, compared with proven lower bounds."
    return [Target("referee", what, (TABLE, VERDICTS, READABLE, FIGURE))]


def rules(config: Config, _panels: Panels) -> list[Rule]:
    """Make the table of all trials, and what is read off it."""
    trials = Step(
        TABLE.path,
        "studies.referee.compute:trials",
        arguments={"config": part(config, "delta_times_n", "referee")},
        lower=("proven",),
        upper=("claimed",),
    )
    judged = (
        Step(FIGURE.path, "studies.referee.report:draw", {"table": TABLE.path}),
        Step(VERDICTS.path, "studies.referee.report:tally", {"table": TABLE.path}),
        Step(READABLE.path, "studies.referee.report:report", {"found": VERDICTS.path}),
    )
    return [
        Rule(
            "referee_trials",
            "All bounds of one message against the proven lower bounds, mechanism by mechanism. Sees no data.",
            (trials,),
            seconds=100,
        ),
        Rule("referee_verdicts", "One verdict per accountant and mechanism, and the figure.", judged, seconds=20),
    ]
