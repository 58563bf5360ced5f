"""What this study makes, and how. Standard library only: the Snakefile imports it."""

from pathlib import Path
from typing import NamedTuple

from segshuffle.pipeline.design import Config, Panels
from segshuffle.pipeline.manifest import VERDICTS, Group, Output, Rule, Step, Target


class Exhibit(NamedTuple):
    """A figure or a table of a paper.

    Parameters
    ----------
    paper : str
        "decomposition", "variation" or "personalized".
    kind : str
        "Figure" or "Table".
    number : str
        Its number in the paper.
    shows : str
        What it shows, in a few words.
    caption : str
        How to read it, beside its title.
    """

    paper: str
    kind: str
    number: str
    shows: str
    caption: str

    @property
    def id(self) -> str:
        """Stable name for files: ``decomposition2``, ``variation-table5``."""
        return f"{self.paper}-table{self.number}" if self.kind == "Table" else f"{self.paper}{self.number}"

    @property
    def title(self) -> str:
        """Number in the paper, and what it shows."""
        return f"{self.kind} {self.number}: {self.shows}"


#: Full titles, for tables and documents.
PAPERS = {
    "decomposition": "Decomposition-Based Optimal Bounds for Privacy Amplification via Shuffling",
    "variation": "Privacy Amplification via Shuffling: Unified, Simplified, and Tightened",
    "personalized": "Enhanced Privacy Bound for Shuffle Model with Personalized Privacy",
}

#: What the figures and tables show.
_SHOWN = {
    "decomposition Figure 2": "one randomizer: upper and lower bound against earlier bounds",
    "decomposition Figure 3": "joint composition of two and of three randomizers",
    "decomposition Figure 4": "parallel composition of 10-ary randomized response and binary local hash",
    "decomposition Figure 5": "RAPPOR with varying domain size",
    "decomposition Figure 6": "Poisson subsampling of 10-ary randomized response",
    "decomposition Figure 7": "joint composition: neighbours at Hamming distance 1, 2 and 3",
    "decomposition Figure 8": "distribution of the generalised amplification variable, Laplace mechanism",
    "variation Figure 1": "subset selection",
    "variation Figure 2": "optimal local hash",
    "variation Figure 3": "flipped one-hot vectors with fake users (Cheu and Zhilyaev)",
    "variation Figure 4": "balls into bins",
    "variation Figure 5": "range queries: separate, basic and advanced parallel composition",
    "variation Table 5": "general randomizers, bisection with 20 and 10 steps",
    "personalized Figure 4": "epsilon over the number of users, four laws of the budgets",
    "personalized Table 2": "delta at given epsilon, approximate mechanisms",
}
_CAPTIONS = {
    "decomposition Figure 8": "The numbers are exact. The distribution function jumps at 0 and at both of its ends.",
    "variation Table 5": "delta = 0.01/n. The values are the upper ends of a bisection of [0, local epsilon] in T "
    "steps, as in the paper; every comparison uses certified intervals. Running times: "
    "`python benchmarks/variation_ratio.py`.",
    "personalized Figure 4": "No bound here is proven for users with budgets of their own.",
    "personalized Table 2": "n = 10,000. Our copy of the paper does not have the printed values.",
}
_LEGEND = "The legend says which numbers are proven and which are as published."
_EVERY = (
    Exhibit(paper, kind, number, shows, _CAPTIONS.get(name, _LEGEND))
    for name, shows in _SHOWN.items()
    for paper, kind, number in [name.split()]
)
EXHIBITS = {exhibit.id: exhibit for exhibit in _EVERY}
_KINDS = (
    "Upper, lower and exact are proven; published is stated by a paper, not proven, and in some cases refuted; "
    "asymptotic is a limit without an error term; the table has the kind of every point."
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
    every = tuple(output for exhibit in EXHIBITS.values() for output in _outputs(exhibit))
    what = "Figures, tables and verdicts of the amplification papers."
    single = [
        Target(
            f"{'table' if exhibit.kind == 'Table' else 'fig'}_{exhibit.paper}{exhibit.number}",
            f'{exhibit.kind} {exhibit.number} of "{PAPERS[exhibit.paper]}": {exhibit.shows}.',
            _outputs(exhibit),
            in_all=exhibit.id in _SAMPLE,
        )
        for exhibit in EXHIBITS.values()
    ]
    return [Target("amplification", what, (*every, *_CLAIMS), in_all=config["edition"] != "quick"), *single]


def _outputs(exhibit: Exhibit) -> tuple[Output, Output]:
    """Declare the table of curves, and what readers see of it."""
    group, table = GROUPS[exhibit.paper], f"amplification/{exhibit.id}"
    shown = Output(f"{table}.md", exhibit.title, group=group)
    if exhibit.kind == "Figure":
        shown = Output(f"figures/{exhibit.id}", exhibit.title, f"{exhibit.caption} {_KINDS}", group)
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

    def words(case: str) -> dict[str, str]:
        exhibit = EXHIBITS[case]
        return {"title": exhibit.title, "paper": PAPERS[exhibit.paper], "remark": exhibit.caption}

    computed = Step(curves, "studies.amplification.compute:compute", arguments=lambda case: {"name": case, **points})
    figure = Step("figures/{case}", f"{report}:draw", {"table": curves})
    table = Step("amplification/{case}.md", f"{report}:table_markdown", {"table": curves}, words)
    claims = (
        Step(judged, f"{report}:evaluate", read),
        Step(readable, "studies.verdicts:markdown", {"claims": judged}, {"title": _TITLE, "papers": PAPERS}),
    )
    figures, to_read = (
        tuple(name for name, exhibit in EXHIBITS.items() if exhibit.kind == kind) for kind in ("Figure", "Table")
    )
    return [
        Rule(
            "amplification_curves",
            "Every curve of one figure or table of the amplification papers. Sees no data.",
            (computed,),
            tuple(EXHIBITS),
            seconds=60,
        ),
        Rule("figure_amplification", "One figure of the amplification papers.", (figure,), figures),
        Rule("table_amplification", "One table of the amplification papers, readable.", (table,), to_read),
        Rule("claims_amplification", "Verdict on the statements of the amplification papers' evaluations.", claims),
    ]
