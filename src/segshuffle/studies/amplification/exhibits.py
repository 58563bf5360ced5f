"""Which figures and tables of the amplification papers are made, and what each is called.

Imported by the Snakefile, which every remote job parses again: standard library only.
"""

from __future__ import annotations

from dataclasses import dataclass


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
        What is to be known of a figure beside its title.
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
            caption="Exact; the distribution function jumps at 0 and at both of its ends.",
        ),
        Exhibit("variation", 1, "subset selection"),
        Exhibit("variation", 2, "optimal local hash"),
        Exhibit("variation", 3, "flipped one-hot vectors with fake users (Cheu and Zhilyaev)"),
        Exhibit("variation", 4, "balls into bins"),
        Exhibit("variation", 5, "range queries: separate, basic and advanced parallel composition"),
        Exhibit("variation", 5, "general randomizers, bisection with 20 and 10 steps", table=True),
        Exhibit("personalized", 4, "epsilon over the number of users, four laws of the budgets"),
        Exhibit("personalized", 2, "delta at given epsilon, approximate mechanisms", table=True),
    )
}
FIGURES = tuple(exhibit.id for exhibit in EXHIBITS.values() if not exhibit.table)
TABLES = tuple(exhibit.id for exhibit in EXHIBITS.values() if exhibit.table)
