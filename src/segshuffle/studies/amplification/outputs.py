"""What this study makes, and how. Standard library only: the Snakefile imports it."""

from dataclasses import dataclass
from pathlib import Path

from segshuffle.pipeline.design import Config, Panels
from segshuffle.pipeline.manifest import VERDICTS, Group, Output, Rule, Step, Target


@dataclass(frozen=True)
class Exhibit:
    """A figure or a table of a paper.

    Parameters
    ----------
    paper : str
        "decomposition", "variation" or "personalized".
    number : int
        Number of the figure or table in the paper.
    shows : str
        What it shows, in a few words.
    table : bool
        Whether it is a table.
    caption : str
        How to read it, beside its title.
    """

    paper: str
    number: int
    shows: str
    table: bool = False
    caption: str = "The legend says which numbers are proven and which are as published."

    @property
    def id(self) -> str:
        """Stable name for files: ``decomposition2``, ``variation-table5``."""
        return f"{self.paper}-table{self.number}" if self.table else f"{self.paper}{self.number}"

    @property
    def title(self) -> str:
        """Number in the paper, and what it shows."""
        return f"{'Table' if self.table else 'Figure'} {self.number}: {self.shows}"


#: Full titles, for tables and documents.
PAPERS = {
    "decomposition": "Decomposition-Based Optimal Bounds for Privacy Amplification via Shuffling",
    "variation": "Privacy Amplification via Shuffling: Unified, Simplified, and Tightened",
    "personalized": "Enhanced Privacy Bound for Shuffle Model with Personalized Privacy",
}

EXHIBITS = {
    exhibit.id: exhibit
    for exhibit in (
        Exhibit("decomposition", 2, "one randomizer: upper and lower bound against earlier bounds"),
        Exhibit("decomposition", 3, "joint composition of two and of three randomizers"),
        Exhibit("decomposition", 4, "parallel composition of 10-ary randomized response and binary local hash"),
        Exhibit("decomposition", 5, "RAPPOR with varying domain size"),
        Exhibit("decomposition", 6, "Poisson subsampling of 10-ary randomized response"),
        Exhibit("decomposition", 7, "joint composition: neighbours at Hamming distance 1, 2 and 3"),
        Exhibit(
            "decomposition",
            8,
            "distribution of the generalised amplification variable, Laplace mechanism",
            caption="The numbers are exact. The distribution function jumps at 0 and at both of its ends.",
        ),
        Exhibit("variation", 1, "subset selection"),
        Exhibit("variation", 2, "optimal local hash"),
        Exhibit("variation", 3, "flipped one-hot vectors with fake users (Cheu and Zhilyaev)"),
        Exhibit("variation", 4, "balls into bins"),
        Exhibit("variation", 5, "range queries: separate, basic and advanced parallel composition"),
        Exhibit(
            "variation",
            5,
            "general randomizers, bisection with 20 and 10 steps",
            table=True,
            caption="delta = 0.01/n. The values are the upper ends of a bisection of [0, local epsilon] in T "
            "steps, as in the paper; every comparison uses certified intervals. Running times: "
            "`python benchmarks/variation_ratio.py`.",
        ),
        Exhibit("personalized", 4, "epsilon over the number of users, four laws of the budgets"),
        Exhibit(
            "personalized",
            2,
            "delta at given epsilon, approximate mechanisms",
            table=True,
            caption="n = 10,000. Our copy of the paper does not have the printed values.",
        ),
    )
}
_KINDS = (
    "upper, lower and exact are proven; published is stated by a paper, not proven, and in some cases refuted; "
    "asymptotic is a limit without an error term; the table has the kind of every point"
)
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
_TITLE = "# Statements of the amplification papers, and what came out"
_CLAIMS = tuple(
    Output(
        f"amplification/claims.{suffix}",
        "statements of the amplification papers with a verdict",
        "What was found, and the rule behind the verdict. The tables have the kind of every number. The page shows "
        "this table.",
        VERDICTS,
        on_page=suffix == "csv",
    )
    for suffix in ("csv", "md")
)
DOCS = {
    **{f"figures/{name}.png": f"figures/{name}.png" for name in ("decomposition2", "variation1", "personalized4")},
    "amplification/claims.md": "amplification-claims.md",
}


def targets(config: Config, _panels: Panels) -> list[Target]:
    """Declare everything of the papers, and every figure and table alone."""
    full = config["edition"] != "quick"
    every = tuple(output for exhibit in EXHIBITS.values() for output in _outputs(exhibit))
    what = "Figures, tables and verdicts of the amplification papers."
    single = []
    for exhibit in EXHIBITS.values():
        name = f"{'table' if exhibit.table else 'fig'}_{exhibit.paper}{exhibit.number}"
        shows = f'{exhibit.title[: exhibit.title.index(":")]} of "{PAPERS[exhibit.paper]}": {exhibit.shows}.'
        single.append(Target(name, shows, _outputs(exhibit), in_all=exhibit.id in _SAMPLE))
    return [Target("amplification", what, (*every, *_CLAIMS), in_all=full), *single]


def _outputs(exhibit: Exhibit) -> tuple[Output, Output]:
    """Declare the table of curves, and what readers see of it."""
    group, table = GROUPS[exhibit.paper], f"amplification/{exhibit.id}"
    shown = Output(f"{table}.md", exhibit.title, group=group)
    if not exhibit.table:
        shown = Output(f"figures/{exhibit.id}", exhibit.title, exhibit.caption, group, (_KINDS, f"table: {table}.csv"))
    return Output(f"{table}.csv", exhibit.title, group=group), shown


def rules(config: Config, _panels: Panels) -> list[Rule]:
    """Make the curves of every figure and table, each as readers see it, and the verdicts."""
    points = {"points": config["amplification"]["points"]}
    report, curves = "studies.amplification.report", "amplification/{case}.csv"
    judged, readable = (output.path for output in _CLAIMS)
    read = {
        "table": [f"amplification/{case}.csv" for case in EXHIBITS],
        "reference": Path("config/reference/claims-amplification.yaml"),
    }

    def tables(case: str) -> dict[str, str]:
        return {"table": f"amplification/{case}.csv"}

    computed = Step(curves, "studies.amplification.compute:compute", arguments=lambda case: {"name": case, **points})
    figure = Step("figures/{case}", f"{report}:draw", tables)
    table = Step(
        "amplification/{case}.md",
        f"{report}:table_markdown",
        tables,
        lambda case: {
            "title": EXHIBITS[case].title,
            "paper": PAPERS[EXHIBITS[case].paper],
            "remark": EXHIBITS[case].caption,
        },
    )
    claims = (
        Step(judged, f"{report}:evaluate", read, points),
        Step(readable, "studies.verdicts:markdown", {"claims": judged}, {"title": _TITLE, "papers": PAPERS}),
    )
    figures, to_read = (
        [exhibit.id for exhibit in EXHIBITS.values() if exhibit.table == kind] for kind in (False, True)
    )
    what = "Every curve of one figure or table of the amplification papers. Reads no data."
    return [
        Rule("amplification_curves", what, (computed,), tuple(EXHIBITS), seconds=60),
        Rule("figure_amplification", "One figure of the amplification papers.", (figure,), tuple(figures)),
        Rule("table_amplification", "One table of the amplification papers, readable.", (table,), tuple(to_read)),
        Rule("claims_amplification", "Verdict on the statements of the amplification papers' evaluations.", claims),
    ]
