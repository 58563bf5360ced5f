"""What this study writes. Standard library only: the Snakefile imports it."""

from __future__ import annotations

from collections.abc import Sequence

from segshuffle.pipeline.design import Config, Scenario
from segshuffle.pipeline.manifest import Group, Output, Target

GROUP = Group(
    "audit",
    "Audit",
    "What the published guarantee is worth",
    "The server sees all counters and their sum; Theorem 3 bounds what two of them tell.",
    rank=2,
)
_READING = (
    "blanket-only is a proven upper bound for every dataset",
    "others-spread, others-concentrated and worst-split are lower views; published is Theorem 3",
    "that the guarantee itself fails is stated by proven_user_delta (lower) alone, where it exceeds target_delta",
)
TABLE = Output(
    "audit.csv",
    "what the published guarantee is worth in the server's full view (docs/audit.md)",
    "A row per view, population and m; the kind of every number is in it.",
    GROUP,
    _READING,
    on_page=True,
)
FIGURE = Output(
    "figures/audit",
    "Claimed and actual ε",
    "A row per population and whole m, and one for the largest ε at all other m; the line is the claimed ε. Blanket "
    "alone: a proven upper bound. The other two views are lower views. A level that sends every item hides nothing by "
    "sampling, so nothing is drawn for it.",
    GROUP,
    _READING,
)
PARTS = {"audit/": "the parts of audit.csv, a file per population"}
DOCS = {"figures/audit.png": "figures/audit.png"}


def targets(_config: Config, _panels: Sequence[Scenario]) -> list[Target]:
    """The table and the figure."""
    what = "What the published guarantee is worth in the full view of the server: table and figure."
    return [Target("audit", what, (TABLE, FIGURE))]
