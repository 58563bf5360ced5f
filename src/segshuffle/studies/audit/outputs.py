"""What this study writes. Standard library only: the Snakefile imports it."""

from __future__ import annotations

from collections.abc import Sequence

from segshuffle.pipeline.design import Config, Scenario
from segshuffle.pipeline.manifest import Target

DOCS = {"figures/audit.png": "figures/audit.png"}


def targets(_config: Config, _panels: Sequence[Scenario]) -> list[Target]:
    """The table and the figure."""
    what = "What the published guarantee is worth in the full view of the server: table and figure."
    return [Target("audit", what, ("audit.csv", "figures/audit"))]
