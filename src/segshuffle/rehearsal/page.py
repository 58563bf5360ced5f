"""One self-contained page on a rehearsal."""

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

import polars as pl

from segshuffle.page.inline import data_uri, style
from segshuffle.rehearsal.tables import COLUMNS


def build(
    headline: Sequence[str],
    answer: Mapping[str, Any],
    *,
    figures: Iterable[tuple[str, str]],
    tables: Mapping[str, pl.DataFrame],
    command: str,
) -> str:
    """Build the page as HTML text.

    Parameters
    ----------
    headline : sequence of str
        The main results, in sentences.
    answer : mapping
        Name of the data, and what explains the numbers: lists of sentences.
    figures : iterable of (str, str)
        SVG text of each figure, and its description.
    tables : mapping of str to polars.DataFrame
        Items, groups and recovery.
    command : str
        The command that was entered.
    """
    title = escape(f"Rehearsal on {answer['data']}")
    sections = {
        "Notes": [*(f"Assumed: {each}." for each in answer["assumed"]), *answer["notes"], *answer["warnings"]],
        "What users send": answer["sending"],
        "What they are promised": answer["promises"],
        "What this relies on": answer["rests_on"],
    }
    parts = [
        f"<h1>{title}</h1>",
        *(f'<p class="lead">{escape(each)}</p>' for each in headline),
        *(part for title, sentences in sections.items() for part in _listed(title, sentences)),
        "<h2>Figures</h2>",
        *(_figure(svg, sentence) for svg, sentence in figures),
        "<h2>Items</h2>",
        _table(tables["items"]),
        "<h2>Items by their share</h2>",
        _table(tables["groups"]),
        "<h2>The most frequent items</h2>",
        _table(tables["recovery"]),
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
        f"<title>{title}</title>\n<style>\n{style()}</style>\n</head>\n<body>\n<main>\n"
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


#: Columns that are not shares.
_COUNTS = ("rank", "users", "items", "k")


def _cell(name: str, value: bool | str | float) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if name in _COUNTS:
        return f"{value:,}"
    return f"{100 * value:.4g} %" if math.isfinite(value) else "-"
