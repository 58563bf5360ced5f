"""What this study writes. Standard library only: the Snakefile imports it."""

from __future__ import annotations

from collections.abc import Sequence

from segshuffle.pipeline.design import Config, Scenario
from segshuffle.pipeline.manifest import Group, Output, Target

GROUP = Group(
    "levels",
    "Private levels",
    "Private privacy levels",
    "A privacy level can itself be worth hiding; this is what protecting it in the first round costs.",
    rank=5,
)
FIGURE = Output(
    "figures/levels",
    "Error over the privacy of the levels",
    "Bars are two standard errors; ε is what round 1 shows of a level, exactly. Round 2 shows more of it.",
    GROUP,
    ("measured and predicted, against the exact histogram of levels (docs/levels.md)",),
)
DOCS = {"figures/levels.png": "figures/levels.png"}


def targets(_config: Config, panels: Sequence[Scenario]) -> list[Target]:
    """A table per population and the figure."""
    what = "what protecting the levels themselves costs, a table per population (docs/levels.md)"
    files = dict.fromkeys(f"levels/{panel.setting.id}.csv" for panel in panels)
    tables = (Output(file, what, group=GROUP, on_page=True) for file in files)
    return [Target("fig_levels", "Error over the privacy of the levels themselves.", (*tables, FIGURE))]
