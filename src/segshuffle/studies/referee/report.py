"""The referee's table as Markdown: what is violated, by how much, and a command that shows it."""

from __future__ import annotations

import math
from collections.abc import Iterable

import pandas as pd

from segshuffle.studies.referee.tally import LEAST_DELTA, overall
from segshuffle.studies.referee.trial import MARGIN

_INTRO = f"""Upper bounds, published and proven, each against a proven lower bound of the same mechanism, n, epsilon and
delta: the divergence of two neighbouring datasets, rounded down. A claim is called violated only if its safe side lies
below the proven number by more than a relative {MARGIN:g}. "Sound so far" means that nothing on this grid refutes it,
no more. "Vacuous": never below the local guarantee on the grid."""
_MANY = "At many users delta = delta_times_n/n (of the configuration); ratios of deltas are at the claimed epsilon."
_COUNTEREXAMPLES = """Fewest users for which the command's output shows the violation: the accountant's number beside
`blanket-lower`, the proven one."""
_UPPER_BROKEN = "**Proven upper bounds that fail here, so that either their code or their proof is wrong: {}.**"
_UPPER_HOLDS = "No proven upper bound fails on the grid."


def report(found: pd.DataFrame, *, edition: str) -> str:
    """Markdown text of the verdicts.

    Parameters
    ----------
    found : DataFrame
        As `tally.tally` returns it.
    edition : str
        "full" or "quick".
    """
    lines = ["# The referee", ""]
    if edition != "full":
        lines += [f"This is a **{edition}** run: a coarse grid over a few mechanisms.", ""]
    lines += [_INTRO, "", _upper(found), "", "## Accountants", "", *_table(_overall_rows(found)), ""]
    broken = found[found["verdict"] == "violated"]
    lines += [
        "## Violations",
        "",
        f"Ratios are proven over claimed; of deltas below {LEAST_DELTA:g} none is named for few users.",
    ]
    lines += [_MANY, ""]
    lines += [*_table(_violation_rows(broken)), "", "## Counterexamples", "", _COUNTEREXAMPLES, ""]
    lines += [line for row in broken.itertuples() for line in _counterexample(row)]
    lines += ["## Every accountant and mechanism", "", *_table(_all_rows(found))]
    return "\n".join(lines) + "\n"


def _upper(found: pd.DataFrame) -> str:
    wrong = found[(found["kind"] == "upper") & (found["verdict"] == "violated")]
    names = ", ".join(f"{row.accountant} for {row.case}" for row in wrong.itertuples())
    return _UPPER_BROKEN.format(names) if names else _UPPER_HOLDS


def _overall_rows(found: pd.DataFrame) -> Iterable[list[str]]:
    yield ["accountant", "violated for", "sound so far for", "vacuous for", "not applicable to"]
    for row in overall(found).itertuples(index=False):
        yield [str(value) for value in row]


def _violation_rows(broken: pd.DataFrame) -> Iterable[list[str]]:
    yield [
        "accountant",
        "case",
        "kind",
        "cells violated",
        "delta, few users",
        "delta, many users",
        "epsilon, many users",
        "largest at",
        "claimed epsilon",
        "proven epsilon",
    ]
    for row in broken.to_dict("records"):
        where = "" if pd.isna(row["worst_n_users"]) else f"{row['worst_local_epsilon']:.4g}, n = {row['worst_n_users']}"
        yield [
            row["accountant"],
            row["case"],
            row["kind"],
            f"{row['violated']} of {row['cells']}",
            *(_number(row[name]) for name in ("few_delta_ratio", "many_delta_ratio", "many_epsilon_ratio")),
            where and f"eps0 = {where}",
            _number(row["worst_claimed"]),
            _number(row["worst_proven"]),
        ]


def _counterexample(row: object) -> list[str]:
    """Heading, numbers and command of one violation."""
    who, case = row.accountant, row.case  # type: ignore[attr-defined]
    if not isinstance(row.command, str):  # type: ignore[attr-defined]
        return [f"**{who}, {case}**: only at the claimed epsilon, or with other users who differ; see referee.csv.", ""]
    claimed, proven = row.smallest_claimed, row.smallest_proven  # type: ignore[attr-defined]
    head = f"**{who}, {case}**, n = {row.smallest_n_users}: claimed {claimed!r}, proven at least {proven!r}."  # type: ignore[attr-defined]
    return [head, "", "```bash", row.command, "```", ""]  # type: ignore[attr-defined]


def _all_rows(found: pd.DataFrame) -> Iterable[list[str]]:
    yield ["accountant", "case", "kind", "verdict", "cells", "violated", "vacuous", "largest proven/claimed epsilon"]
    for row in found.to_dict("records"):
        counts = (str(row[name]) for name in ("cells", "violated", "vacuous"))
        yield [row["accountant"], row["case"], row["kind"], row["verdict"], *counts, _number(row["many_epsilon_ratio"])]


def _number(value: float) -> str:
    """Six digits, so that 1.00002 does not become 1; nothing for a missing number."""
    return "" if value is None or math.isnan(value) else f"{value:.6g}"


def _table(rows: Iterable[list[str]]) -> list[str]:
    head, *body = rows
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *body)]
