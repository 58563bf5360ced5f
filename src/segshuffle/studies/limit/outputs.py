"""What this study writes. Standard library only: the Snakefile imports it."""

from __future__ import annotations

from collections.abc import Sequence

from segshuffle.pipeline.design import Config, Scenario
from segshuffle.pipeline.manifest import Group, Output, Target

GROUP = Group(
    "limit",
    "Gaussian curator",
    "The proven protocol and a Gaussian curator",
    "The same (ε, δ) on both sides; the protocol trusts nobody but the shuffler.",
    rank=4,
)
TABLE = Output("limit.csv", "one level: error over a Gaussian curator's at the same (ε, δ)", group=GROUP, on_page=True)
FIGURE = Output(
    "figures/limit",
    "How close to a Gaussian curator",
    "Error of the Poisson blanket over a Gaussian curator's, against blanket messages per item. One level, every item "
    "sent once; exact accounting on both sides.",
    GROUP,
)
DOCS = {"figures/limit.png": "figures/limit.png"}


def targets(_config: Config, _panels: Sequence[Scenario]) -> list[Target]:
    """The table and the figure."""
    what = "How close one level comes to a Gaussian curator, over the size of the blanket."
    return [Target("fig_limit", what, (TABLE, FIGURE))]
