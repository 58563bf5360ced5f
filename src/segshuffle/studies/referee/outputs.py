"""What this study writes. Standard library only: the Snakefile imports it."""

from __future__ import annotations

from collections.abc import Sequence

from segshuffle.pipeline.design import Config, Scenario
from segshuffle.pipeline.manifest import Target

DOCS = {"figures/referee.png": "figures/referee.png", "referee.md": "referee-table.md"}


def targets(_config: Config, _panels: Sequence[Scenario]) -> list[Target]:
    """Tables, verdicts and the figure."""
    what = "The referee: upper bounds of one message, published and proven, against proven lower bounds."
    return [Target("referee", what, ("referee.csv", "referee-verdicts.csv", "referee.md", "figures/referee"))]
