"""The referee's verdicts: one per accountant and case, and the same as Markdown."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from segshuffle.studies.referee.trial import MARGIN

#: Deltas below this are left out where the largest ratio of deltas is named: in the far tails it has no limit.
LEAST_DELTA = 1e-6
_WORDS = ("violated", "sound so far", "vacuous", "not applicable")
#: Columns of results/referee-verdicts.csv, in order.
COLUMNS = (
    *("accountant", "case", "kind", "verdict", "cells", "violated", "vacuous"),
    *("few_delta_ratio", "many_delta_ratio", "many_epsilon_ratio"),
    *("worst_local_epsilon", "worst_n_users", "worst_claimed", "worst_proven"),
    *("smallest_n_users", "smallest_claimed", "smallest_proven", "command"),
)


def tally(table: pd.DataFrame) -> pd.DataFrame:
    """Sum up the trials.

    Parameters
    ----------
    table : DataFrame
        Rows of `trial.COLUMNS`, any number of cases.

    Returns
    -------
    DataFrame
        `COLUMNS`, one row per accountant and case in the table's order. ``few_delta_ratio``: largest true over claimed
        delta among points that ask for a delta (few users) and where the proven delta is at least `LEAST_DELTA`.
        ``many_delta_ratio`` and ``many_epsilon_ratio``: the same at delta = delta_times_n/n, for the delta at the
        claimed epsilon and for the epsilon; ``worst_*`` is the point of the latter. ``smallest_*`` is the violation
        with the fewest users that ``command`` shows, the widest gap among those.
    """
    order = list(dict.fromkeys(table["accountant"]))
    groups = dict(iter(table.groupby(["accountant", "case"], sort=False)))
    names = [(who, case) for who in order for case in dict.fromkeys(table["case"]) if (who, case) in groups]
    found = pd.DataFrame([_verdict(who, case, groups[who, case]) for who, case in names], columns=list(COLUMNS))
    return found.astype({"worst_n_users": "Int64", "smallest_n_users": "Int64"})


def _verdict(accountant: str, case: str, rows: pd.DataFrame) -> dict[str, Any]:
    tried = rows[rows["outcome"] != "not applicable"]
    broken = tried[tried["outcome"] == "violated"]
    few = tried[(tried["asked"] == "delta") & (tried["proven"] >= LEAST_DELTA)]
    many = tried[tried["asked"] == "epsilon"]
    word = "not applicable" if tried.empty else "vacuous" if tried["vacuous"].all() else "sound so far"
    row: dict[str, Any] = dict.fromkeys(COLUMNS[:-1], np.nan) | {
        "accountant": accountant,
        "case": case,
        "kind": rows["kind"].iloc[0],
        "verdict": "violated" if len(broken) else word,
        "cells": len(tried),
        "violated": len(broken),
        "vacuous": int(tried["vacuous"].sum()),
        "few_delta_ratio": few["ratio"].max(),
        "many_delta_ratio": many["delta_ratio"].max(),
        "many_epsilon_ratio": many["ratio"].max(),
        "command": None,
    }
    if len(many):
        worst = many.iloc[int(np.argmax(many["ratio"]))]
        row |= {f"worst_{name}": worst[name] for name in ("local_epsilon", "n_users", "claimed", "proven")}
    shown = broken[broken["by_equal_others"]]
    if len(shown):
        fewest = shown[shown["n_users"] == shown["n_users"].min()]
        smallest = fewest.iloc[int(np.argmax(fewest["proven"] - fewest["claimed"]))]
        row |= {f"smallest_{name}": smallest[name] for name in ("n_users", "claimed", "proven")}
        row["command"] = smallest["command"]
    return row


def overall(found: pd.DataFrame) -> pd.DataFrame:
    """Count, for every accountant, the cases with each verdict."""
    counts = pd.crosstab(found["accountant"], found["verdict"]).reindex(columns=list(_WORDS), fill_value=0)
    return counts.reindex(list(dict.fromkeys(found["accountant"]))).reset_index()


_INTRO = f"""Upper bounds, published and proven, each against a proven lower bound of the same mechanism, n, epsilon and
delta: the divergence of two neighbouring datasets, rounded down. A claim is called violated only if its safe side lies
below the proven number by more than a relative {MARGIN:g}. "Sound so far" means that nothing on this grid refutes it,
no more. "Vacuous": never below the local guarantee on the grid."""
_READING = f"""Ratios are proven over claimed; of deltas below {LEAST_DELTA:g} none is named for few users.
At many users delta = delta_times_n/n (of the configuration); ratios of deltas are at the claimed epsilon."""
_COUNTEREXAMPLES = """Fewest users for which the command's output shows the violation: the accountant's number beside
`blanket-lower`, the proven one."""
_UPPER_BROKEN = "**Proven upper bounds that fail here, so that either their code or their proof is wrong: {}.**"
_UPPER_HOLDS = "No proven upper bound fails on the grid."


def report(found: pd.DataFrame, *, edition: str) -> str:
    """Write the verdicts as Markdown.

    Parameters
    ----------
    found : DataFrame
        As `tally` returns it.
    edition : str
        "full" or "quick".
    """
    every = found.to_dict("records")
    broken = [row for row in every if row["verdict"] == "violated"]
    wrong = ", ".join(f"{row['accountant']} for {row['case']}" for row in broken if row["kind"] == "upper")
    lines = ["# The referee", ""]
    if edition != "full":
        lines += [f"This is a **{edition}** run: a coarse grid over a few mechanisms.", ""]
    lines += [_INTRO, "", _UPPER_BROKEN.format(wrong) if wrong else _UPPER_HOLDS, "", "## Accountants", ""]
    head = ["accountant", "violated for", "sound so far for", "vacuous for", "not applicable to"]
    lines += [*_table(head, overall(found).itertuples(index=False)), "", "## Violations", "", _READING, ""]
    head = ["accountant", "case", "kind", "cells violated", "delta, few users", "delta, many users"]
    head += ["epsilon, many users", "largest at", "claimed epsilon", "proven epsilon"]
    lines += [*_table(head, map(_violation, broken)), "", "## Counterexamples", "", _COUNTEREXAMPLES, ""]
    lines += [line for row in broken for line in _counterexample(row)]
    head = ["accountant", "case", "kind", "verdict", "cells", "violated", "vacuous", "largest proven/claimed epsilon"]
    cells = ([*(row[name] for name in head[:-1]), _number(row["many_epsilon_ratio"])] for row in every)
    return "\n".join([*lines, "## Every accountant and mechanism", "", *_table(head, cells)]) + "\n"


def _violation(row: Mapping[Any, Any]) -> list[str]:
    known = not pd.isna(row["worst_n_users"])
    return [
        *(row[name] for name in ("accountant", "case", "kind")),
        f"{row['violated']} of {row['cells']}",
        *(_number(row[name]) for name in ("few_delta_ratio", "many_delta_ratio", "many_epsilon_ratio")),
        f"eps0 = {row['worst_local_epsilon']:.4g}, n = {row['worst_n_users']}" if known else "",
        *(_number(row[name]) for name in ("worst_claimed", "worst_proven")),
    ]


def _counterexample(row: Mapping[Any, Any]) -> list[str]:
    """Heading, numbers and command of one violation."""
    head = f"**{row['accountant']}, {row['case']}**"
    if not isinstance(row["command"], str):
        return [f"{head}: only at the claimed epsilon, or with other users who differ; see referee.csv.", ""]
    claimed, proven = row["smallest_claimed"], row["smallest_proven"]
    head += f", n = {row['smallest_n_users']}: claimed {claimed!r}, proven at least {proven!r}."
    return [head, "", "```bash", row["command"], "```", ""]


def _number(value: float) -> str:
    """Six digits, so that 1.00002 does not become 1; nothing for a missing number."""
    return "" if value is None or math.isnan(value) else f"{value:.6g}"


def _table(head: list[str], rows: Iterable[Sequence[Any]]) -> list[str]:
    return [f"| {' | '.join(map(str, row))} |" for row in (head, ["---"] * len(head), *rows)]
