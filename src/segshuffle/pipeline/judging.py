"""Judging statements: a rule finds numbers and a verdict; tables of verdicts and their readable form."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from segshuffle.errors import ConfigError

REPRODUCED, PARTLY, NOT, OPEN = "reproduced", "partly reproduced", "not reproduced", "not evaluated"


class NotRunError(Exception):
    """A statement speaks of a panel or a method that the configuration left out; it stays unevaluated."""


class Finding(NamedTuple):
    """What a rule found: a sentence with the numbers, and the verdict."""

    found: str
    verdict: str


def judge(
    subject: Any, rules: Mapping[str, Callable[..., Finding]], reference: list[dict[str, Any]], *, keys: Sequence[str]
) -> pd.DataFrame:
    """Evaluate every statement.

    Parameters
    ----------
    subject : object
        What the rules look at; their first argument.
    rules : mapping of str to callable
        Rules by name.
    reference : list of dict
        Statements: `keys`, rule, arguments, and optionally note (the likely reason if the statement does not come out).
    keys : sequence of str
        What is taken over from a statement.

    Returns
    -------
    DataFrame
        Columns `keys`, verdict, found, note, rule. A statement about something that did not run has the verdict
        "not evaluated", and `found` says what is missing.

    Raises
    ------
    ConfigError
        If a statement names a rule that does not exist.
    """
    rows = []
    for entry in reference:
        if entry["rule"] not in rules:
            raise ConfigError(f"claims: {entry['id']}: rule {entry['rule']!r} is not one of {', '.join(rules)}")
        rule = rules[entry["rule"]]
        try:
            finding = rule(subject, **entry["arguments"])
        except NotRunError as error:
            finding = Finding(str(error), OPEN)
        rows.append(
            {
                **{key: entry[key] for key in keys},
                "verdict": finding.verdict,
                "found": finding.found,
                "note": entry.get("note", "") if finding.verdict in (PARTLY, NOT) else "",
                "rule": (rule.__doc__ or "").strip().splitlines()[0],
            }
        )
    return pd.DataFrame(rows)


def count_of(claims: pd.DataFrame) -> str:
    """How many statements there are, and how often each verdict fell."""
    counts = claims["verdict"].value_counts()
    shown = [REPRODUCED, PARTLY, NOT, *([OPEN] if OPEN in counts else [])]
    return f"{len(claims)} statements: " + ", ".join(f"{int(counts.get(each, 0))} {each}" for each in shown) + "."


def table_of(claims: pd.DataFrame) -> list[str]:
    """Lines of a Markdown table of the verdicts."""
    lines = ["| statement | verdict | found |", "|---|---|---|"]
    for row in claims.to_dict("records"):
        note = f" *{row['note']}*" if row["note"] else ""
        found = f"{row['found']}.{note}".replace("|", "\\|")
        lines.append(f"| **{row['id']}** ({row['section']}) {row['statement']} | {row['verdict']} | {found} |")
    return lines


def rules_of(claims: pd.DataFrame) -> list[str]:
    """Lines that say how each statement is judged."""
    groups = claims.groupby("rule", sort=False)
    return ["How each is judged:", "", *(f"- {', '.join(group['id'])}: {rule}" for rule, group in groups)]
