"""What this study writes. Standard library only: the Snakefile imports it."""

from __future__ import annotations

from collections.abc import Sequence

from segshuffle.pipeline.design import Config, Scenario
from segshuffle.pipeline.manifest import Target

DOCS = {"figures/levels.png": "figures/levels.png"}


def targets(_config: Config, panels: Sequence[Scenario]) -> list[Target]:
    """A table per population and the figure."""
    tables = dict.fromkeys(f"levels/{panel.setting.id}.csv" for panel in panels)
    return [Target("fig_levels", "Error over the privacy of the levels themselves.", (*tables, "figures/levels"))]
