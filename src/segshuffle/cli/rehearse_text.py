"""The text of a rehearsal: the main results in sentences, what was assumed, and the most frequent items."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from segshuffle.cli.terminal import table, wrapped

if TYPE_CHECKING:
    import polars as pl


def headline(said: Mapping[str, Any], set_size: int) -> list[str]:
    """Say the main results: the summary in sentences."""
    top = said["top"]
    lines = [f"{said['users']:,} users, {said['items']:,} items, of which {said['items_held']:,} are held."]
    if top:
        lines.append(
            f"Each of the top {top} is off by at most {100 * said['top_error']:.3g} % of its share (expected root mean "
            f"square). For item {said['top_worst']}, where this is largest, the simulations gave "
            f"{100 * said['top_error_simulated']:.3g} %; cutting sets to {set_size} alone, without noise, gives "
            f"{100 * said['top_error_from_cutting']:.3g} %."
        )
    if said["top_found"] is not None:
        lines.append(f"Of the true top {top}, {100 * said['top_found']:.0f} % are among the estimated top {top}.")
    lines += [
        f"Estimates below {100 * said['told_from_zero_above']:.3g} % of the users cannot be told from zero (with "
        f"probability 0.95 for all items at once). On average {said['told_from_zero']:.4g} items are told from zero, "
        f"{said['told_from_zero_but_held_by_nobody']:.3g} of them held by nobody, and "
        f"{said['held_but_not_told_from_zero']:.4g} items are held but not told from zero.",
        f"Of the 95 % intervals, {100 * said['covered_sent']:.1f} % contain the share that is sent, and "
        f"{100 * said['covered']:.1f} % the share in the data.",
    ]
    return lines


def told(items: pl.DataFrame, answer: Mapping[str, Any]) -> list[str]:
    """Return the parts of the text below the headline, 80 columns wide."""
    parts = []
    if answer["assumed"]:
        parts.append("Assumed, because no option says otherwise:\n" + wrapped(answer["assumed"], "- "))
    if answer["warnings"] or answer["notes"]:
        parts.append("Notes:\n" + wrapped([*answer["notes"], *answer["warnings"]], "- "))
    parts.append(wrapped([*answer["sending"], *answer["promises"]]))
    if "by_message" in answer:
        parts.append("Message by message:\n" + wrapped(_messages_told(answer["by_message"]), "- "))
    return [*parts, _items(items)]


def _messages_told(run: dict[str, Any]) -> list[str]:
    counted = ", ".join(f"{each:.1f}" for each in run["level_estimates"])
    return [
        f"{run['participants']:,} users sent items. Estimated users by level after round 1: {counted}.",
        f"A user sends {run['messages_per_user']:.4g} messages in both rounds, all users together "
        f"{run['bytes'] / 1e6:.3g} MB. {run['level_messages'] / run['users']:.4g} of them are about the level.",
        f"The squared error of all items is {run['squared_error']:.3g}; {run['expected_error']:.3g} was expected. "
        f"With these users at these levels, the expected estimates are off by up to "
        f"{100 * max(map(abs, run['bias'])):.2g} % of the users.",
    ]


def _items(rows: pl.DataFrame) -> str:
    """Return the table of the most frequent items."""
    names = {"true": "true %", "sent": "sent %", "estimate": "estimate %", "low": "95 % from", "high": "to"}
    shares = [
        {"item": row["item"], **{said: f"{100 * row[name]:.3f}" for name, said in names.items()}}
        for row in rows.filter(rows["true"] > 0).to_dicts()
    ]
    return f"{table(shares)}\nsent: the share after cutting sets; the estimates are those of one collection"
