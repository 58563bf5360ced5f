"""The README's table of targets, made of what the studies declare: ``python -m segshuffle.pipeline.targets_table``."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import yaml

from segshuffle.pipeline import manifest
from segshuffle.pipeline.frame import PAGE
from segshuffle.pipeline.manifest import Target
from segshuffle.pipeline.scenarios import scenarios

START, END = "<!-- targets: made by python -m segshuffle.pipeline.targets_table -->", "<!-- end of targets -->"
#: Rules that a user asks for and that belong to no study.
RULES = ("page", "all", "docs_figures")


def table(root: Path) -> str:
    """Return the Markdown table of all targets with the shipped configuration of the project in `root`.

    What makes only a part of another target shares a row with its like, below that target.
    """
    config = yaml.safe_load((root / "config/config.yaml").read_text(encoding="utf-8"))
    rows = [*_rows(manifest.targets(config, scenarios(config))), *_rules(root)]
    return "\n".join(["| target | what |", "|---|---|", *(f"| {name} | {what} |" for name, what in rows)])


def _rows(found: Sequence[Target]) -> Iterator[tuple[str, str]]:
    """Yield the targets that are part of no other, each with its parts below."""
    wholes = {
        part.name: [whole.name for whole in found if set(part.outputs) < set(whole.outputs)][:1] for part in found
    }
    for target in found:
        if not wholes[target.name]:
            yield f"`{target.name}`", target.what
        if names := [name for name, whole in wholes.items() if whole == [target.name]]:
            yield ", ".join(f"`{name}`" for name in names), f"One part of `{target.name}` alone."


def _rules(root: Path) -> Iterator[tuple[str, str]]:
    """Yield the rules of `RULES` and what they make."""
    files = [root / "Snakefile", *sorted((root / "workflow/rules").glob("*.smk"))]
    text = "".join(path.read_text(encoding="utf-8") for path in files)
    said = {"page": PAGE, **dict(re.findall(r'^rule (\w+):\n    """(.*?)"""', text, re.MULTILINE | re.DOTALL))}
    yield from ((f"`{name}`", said[name]) for name in RULES)


def renewed(readme: str, made: str) -> str:
    """Return the README with this table between its two marks."""
    before, after = readme.partition(START)[0], readme.partition(END)[2]
    return f"{before}{START}\n{made}\n{END}{after}"


def main(arguments: list[str]) -> int:
    """Renew the README of a project, by default of the current folder."""
    root = Path(arguments[0] if arguments else ".")
    readme = root / "README.md"
    readme.write_text(renewed(readme.read_text(encoding="utf-8"), table(root)), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
