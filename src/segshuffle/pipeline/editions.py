"""What a reader is told of results that are not the shipped configuration's."""

from __future__ import annotations


def remark(edition: str) -> str:
    """Return one sentence in Markdown; empty for the full edition, whose results need no remark."""
    if edition == "full":
        return ""
    if edition == "quick":
        return "This is a **quick** run: it shows that everything works, and is not a result."
    return f"This is the edition **{edition}**, with data or settings of its own."
