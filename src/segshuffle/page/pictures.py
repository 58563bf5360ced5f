"""The figures of a run in the groups of their declarations, and in words what each shows, for who does not see it."""

from __future__ import annotations

from collections.abc import Iterable

from segshuffle.page.results import Results
from segshuffle.pipeline import manifest
from segshuffle.pipeline.manifest import Group, Output


def words_of(output: Output, results: Results) -> str:
    """Describe what a figure shows, in the words of its study or else by its declaration."""
    for words in manifest.words():
        if (said := words(output.name, results.tables)) is not None:
            return said
    details = f" {'; '.join(output.details)}." if output.details else ""
    return f"{output.title}. {output.caption}{details} The numbers are in the tables of its study."


def groups(declared: Iterable[Output]) -> dict[Group, list[Output]]:
    """All declared figures, by group in the order of the page."""
    found: dict[Group, list[Output]] = {}
    for output in declared:
        if output.is_figure:
            found.setdefault(output.group, []).append(output)
    return dict(sorted(found.items(), key=lambda item: item[0].rank))


def groups_of(names: Iterable[str], declared: Iterable[Output]) -> dict[Group, list[Output]]:
    """Return the groups with those of their figures that exist.

    Raises
    ------
    KeyError
        Names the unknown files.
    """
    given, listed = set(names), groups(declared)
    if unknown := given - {output.name for outputs in listed.values() for output in outputs}:
        raise KeyError(f"no study declares the figures {sorted(unknown)}")
    kept = {group: [output for output in outputs if output.name in given] for group, outputs in listed.items()}
    return {group: outputs for group, outputs in kept.items() if outputs}
