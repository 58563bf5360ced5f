"""What this study writes. Standard library only: the Snakefile imports it."""

from __future__ import annotations

from collections.abc import Sequence

from segshuffle.pipeline.design import Config, Scenario
from segshuffle.pipeline.manifest import Target
from segshuffle.studies.amplification.design import ITEMS, PAPERS, Item

#: What the default target makes of these papers in an edition that is not full: one figure and one table.
_SAMPLE = ("decomposition8", "variation-table5")
DOCS = {
    **{f"figures/{name}.png": f"figures/{name}.png" for name in ("decomposition2", "variation1", "personalized4")},
    "amplification/claims.md": "amplification-claims.md",
}


def targets(config: Config, _panels: Sequence[Scenario]) -> list[Target]:
    """Everything of the papers, and every figure and table alone."""
    full = config["edition"] == "full"
    claims = ("amplification/claims.csv", "amplification/claims.md")
    every = tuple(output for item in ITEMS.values() for output in _outputs(item))
    what = "Figures, tables and verdicts of the amplification papers."
    return [
        Target("amplification", what, (*every, *claims), in_all=full),
        *(Target(_name(item), _what(item), _outputs(item), in_all=item.id in _SAMPLE) for item in ITEMS.values()),
    ]


def _outputs(item: Item) -> tuple[str, str]:
    shown = f"amplification/{item.id}.md" if item.table else f"figures/{item.id}"
    return f"amplification/{item.id}.csv", shown


def _name(item: Item) -> str:
    return f"{'table' if item.table else 'fig'}_{item.paper}{item.number}"


def _what(item: Item) -> str:
    kind = "Table" if item.table else "Figure"
    return f'{kind} {item.number} of "{PAPERS[item.paper]}": {item.shows}.'
