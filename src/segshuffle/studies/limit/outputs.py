"""What this study writes. Standard library only: the Snakefile imports it."""

from __future__ import annotations

from collections.abc import Sequence

from segshuffle.pipeline.design import Config, Scenario
from segshuffle.pipeline.manifest import Target

DOCS = {"figures/limit.png": "figures/limit.png"}


def targets(_config: Config, _panels: Sequence[Scenario]) -> list[Target]:
    """The table and the figure."""
    what = "How close one level comes to a trusted curator, over the size of the blanket."
    return [Target("fig_limit", what, ("limit.csv", "figures/limit"))]
