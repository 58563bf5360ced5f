"""A plan for people: the decision and the alternatives on one screen, and all the rest on request."""

from __future__ import annotations

import io
import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from segshuffle.cli.terminal import shown
from segshuffle.protocols.public import IN_GENERAL

if TYPE_CHECKING:
    from segshuffle.protocols.base import Plan

_WIDTH = 80
#: Levels that are shown; a plan with more has the lowest and the highest of them.
_LEVELS = 6


def table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Rows below the names of their columns, 80 characters wide; the first column is text, the others are numbers."""
    from rich.console import Console
    from rich.table import Table

    made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for k, name in enumerate(columns):
        made.add_column(name, justify="right" if k else "left", overflow="fold")
    for row in rows:
        made.add_row(*map(_cell, row))
    console = Console(file=io.StringIO(), width=_WIDTH, color_system=None, markup=False, highlight=False, emoji=False)
    console.print(made)
    text: str = console.file.getvalue()  # type: ignore[attr-defined]
    return "\n".join(line.rstrip() for line in text.rstrip().splitlines())


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


def paragraphs(sentences: Sequence[str]) -> str:
    """Sentences one below the other, with their further lines indented."""
    return "\n".join(textwrap.fill(each, _WIDTH, initial_indent="  ", subsequent_indent="    ") for each in sentences)


def decision(plan: Plan, found: Mapping[str, Any], notes: Sequence[str]) -> str:
    """What is sent, what is promised, how far off that is, and what it rests on."""
    from segshuffle.protocols.proven import law_of

    words, problem = found["words"], plan.problem
    dummies = f"And {plan.blanket_per_user:.4g} dummy messages of everybody, on average, {law_of(plan).words}."
    levels = list(zip(problem.levels, problem.level_counts, plan.parameters["copies"], problem.deltas, strict=True))
    rows = [
        (f"{level:g}", users, float(f"{copies:.4g}"), f"{_factor(level)} times as likely", f"{delta:g}")
        for level, users, copies, delta in levels
    ]
    hidden = len(rows) - _LEVELS
    if hidden > 0:
        rows = [*rows[: _LEVELS // 2], *rows[-(_LEVELS // 2) :]]
    columns = ("level", "users", "messages per held item", "makes nothing more than", "but for")
    more = [f"{hidden} levels between them are in --details."] if hidden > 0 else []
    errors = [each for each in words["How far off estimates are"] if not each.startswith("The 95 % interval")]
    # a sentence for every level is in the table already
    changes = words["What they are promised"][len(levels) :]
    parts = {
        "What users of each level send, and are promised": [
            *more,
            dummies,
            words["What users send"][-1],
            *changes,
        ],
        "How far off estimates are": errors,
        "What that rests on": words["What that rests on"],
    }
    titled = [f"{title}:\n{paragraphs(sentences)}" for title, sentences in parts.items()]
    first, rest = titled[0].split("\n", 1)
    text = [f"{first}\n{table(columns, rows)}\n{rest}", *titled[1:]]
    return "\n\n".join([*text, *(textwrap.fill(f"Note: {note}", _WIDTH) for note in notes)])


def _factor(epsilon: float) -> str:
    """exp(epsilon) with three digits, rounded up."""
    factor = math.exp(epsilon)
    scale = 10.0 ** (math.floor(math.log10(factor)) - 2)
    return f"{math.ceil(factor / scale) * scale:.3g}"


def laws_table(rows: Sequence[Mapping[str, Any]], top: int) -> str:
    """Every law of the dummies: how far off, and for how many messages; what has no plan says why."""
    planned = [row for row in rows if "none" not in row]
    guessed = any("top_relative_deviation" in row for row in planned)
    columns = (
        "dummies",
        "+/- users",
        *([f"top {top}"] if guessed else []),
        "messages",
        "dummies a user",
        "bytes",
        "delta <=",
    )
    shown_rows = [
        (
            row["blanket"],
            f"{row['deviation_users']:.3g}",
            *([f"{100 * row['top_relative_deviation']:.3g} %"] if guessed else []),
            f"{row['messages_per_user']:.4g}",
            f"{row['blanket_per_user']:.4g}",
            str(row["bytes_per_message"]),
            f"{max(level['delta_upper'] for level in row['certificate']):.3g}",
        )
        for row in planned
    ]
    said = [f"{row['blanket']}: {row.get('none') or row['note']}" for row in rows if row.get("none") or row.get("note")]
    parts = [table(columns, shown_rows)] if planned else []
    return "\n".join([*parts, *(textwrap.fill(each, _WIDTH, subsequent_indent="  ") for each in said)])


def further(found: Mapping[str, Any], n_users: int) -> list[str]:
    """The tables that were asked for beside the plan."""
    parts = []
    if "what_if" in found:
        rows = found["what_if"]
        columns = list(dict.fromkeys(name for row in rows for name in row if name != "none"))
        reasons = list(dict.fromkeys(row["none"] for row in rows if row["none"]))
        said = (
            "error: standard deviation of a rare item's estimate; top_error: largest of the top items, of their share"
        )
        numbers = [[row.get(name) for name in columns] for row in rows]
        parts.append("\n".join([table(columns, numbers), paragraphs([said, *reasons])]))
    if "alternatives" in found:
        rows = found["alternatives"]
        planned = [
            (_fit(row["label"]), f"{row['deviation'] * n_users:.4g}", f"{row['messages_per_user']:.4g}", row["kind"])
            for row in rows
            if row["none"] is None
        ]
        without = [_fit(row["label"]) for row in rows if row["none"] is not None]
        said = "+/-: root of the mean squared error of an item, in users. Only exact and upper are proven."
        missing = [f"no plan (--json says why): {', '.join(without)}"] if without else []
        parts.append(
            "\n".join([table(("protocol", "+/- users", "messages", "kind"), planned), paragraphs([*missing, said])])
        )
    return parts


def _fit(label: str) -> str:
    return label if len(label) <= 46 else label[:45] + "…"


def details(found: Mapping[str, Any], values: Mapping[str, Any], public: Mapping[str, str]) -> str:
    """Every sentence and every number, what the names mean, and which inputs are public."""
    width = max(map(len, public))
    words = [f"{title}:\n{paragraphs(sentences)}" for title, sentences in found.get("words", {}).items()]
    inputs = [IN_GENERAL, *(f"  {name:<{width}}  {how}" for name, how in public.items())]
    return "\n\n".join([*words, shown(dict(values), as_json=False), "\n".join(inputs)])
