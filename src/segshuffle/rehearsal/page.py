"""One self-contained page on a rehearsal."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape

import polars as pl

from segshuffle.page.inline import data_uri, style
from segshuffle.planning.wording import promises, resting_on, sending
from segshuffle.rehearsal.run import Rehearsal
from segshuffle.rehearsal.tables import COLUMNS, groups_table, items_table, top_table

#: Items on the page; the tables beside it have all.
_MOST_ROWS = 200


def build(
    found: Rehearsal,
    *,
    headline: Sequence[str],
    notes: Iterable[str],
    figures: Iterable[tuple[str, str]],
    command: str,
    top: int,
) -> str:
    """Build the page as HTML text.

    Parameters
    ----------
    found : Rehearsal
        What came out.
    headline : sequence of str
        Sentences that say it in short, the first one of them the title.
    notes : iterable of str
        What was assumed, and what is odd about the data.
    figures : iterable of (str, str)
        SVG text of each, and a sentence on it.
    command : str
        What makes the same again.
    top : int
        How many of the most frequent items the table shows.
    """
    plan = found.plan
    parts = [
        f"<h1>{escape(headline[0])}</h1>",
        *(f'<p class="lead">{escape(each)}</p>' for each in headline[1:]),
        *_listed("Notes", notes),
        *_listed("What users send", sending(plan)),
        *_listed("What they are promised", promises(plan)),
        *_listed("What this relies on", resting_on(plan)),
        "<h2>Figures</h2>",
        *(_figure(svg, sentence) for svg, sentence in figures),
        "<h2>Items</h2>",
        _table(items_table(found).head(min(max(top, 1), _MOST_ROWS))),
        "<h2>Items by their share</h2>",
        _table(groups_table(found)),
        "<h2>The most frequent items</h2>",
        _table(top_table(found)),
        "<h2>What the columns mean</h2>",
        '<dl class="words">',
        *(f"<div><dt>{escape(name)}</dt><dd>{escape(text)}</dd></div>" for name, text in COLUMNS.items()),
        "</dl>",
        "<h2>The command</h2>",
        f"<pre>{escape(command)}</pre>",
    ]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(headline[0])}</title>\n<style>\n{style()}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(parts)
        + "\n</main>\n</body>\n</html>\n"
    )


def _listed(title: str, sentences: Iterable[str]) -> list[str]:
    items = [f"<li>{escape(each)}</li>" for each in sentences]
    return [f"<h2>{escape(title)}</h2>", "<ul>", *items, "</ul>"] if items else []


def _figure(svg: str, sentence: str) -> str:
    return (
        f'<figure><div class="paper"><img src="{escape(data_uri(svg))}" alt="{escape(sentence)} The numbers are in the '
        f'tables below."></div><figcaption>{escape(sentence)}</figcaption></figure>'
    )


def _table(table: pl.DataFrame) -> str:
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in table.columns)
    rows = [
        "<tr>"
        + "".join(f"<td>{escape(_cell(name, value))}</td>" for name, value in zip(table.columns, row, strict=True))
        + "</tr>"
        for row in table.iter_rows()
    ]
    # a table that scrolls must be reached by the keyboard
    return (
        f'<div class="scroll" tabindex="0"><table class="numeric"><thead><tr>{head}</tr></thead><tbody>'
        + "\n".join(rows)
        + "</tbody></table></div>"
    )


#: Columns that are no shares.
_COUNTS = ("rank", "users", "items", "k")


def _cell(name: str, value: bool | str | float) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if name in _COUNTS:
        return f"{value:,}"
    return f"{100 * value:.4g} %" if math.isfinite(value) else "-"
