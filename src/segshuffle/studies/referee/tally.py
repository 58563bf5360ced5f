"""One verdict per accountant and case, from the rows of the trials."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

#: Deltas below this are left out where the largest ratio of deltas is named: in the far tails it has no limit.
LEAST_DELTA = 1e-6

#: Columns of results/referee-verdicts.csv, in order.
COLUMNS = (
    "accountant",
    "case",
    "kind",
    "verdict",
    "cells",
    "violated",
    "vacuous",
    "few_delta_ratio",
    "many_delta_ratio",
    "many_epsilon_ratio",
    "worst_local_epsilon",
    "worst_n_users",
    "worst_claimed",
    "worst_proven",
    "smallest_n_users",
    "smallest_claimed",
    "smallest_proven",
    "command",
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


def overall(found: pd.DataFrame) -> pd.DataFrame:
    """One row per accountant: in how many cases it is violated, sound so far, vacuous or not applicable."""
    counts = pd.crosstab(found["accountant"], found["verdict"])
    counts = counts.reindex(columns=["violated", "sound so far", "vacuous", "not applicable"], fill_value=0)
    return counts.reindex(list(dict.fromkeys(found["accountant"]))).reset_index()


def _verdict(accountant: str, case: str, rows: pd.DataFrame) -> dict[str, Any]:
    tried = rows[rows["outcome"] != "not applicable"]
    broken = tried[tried["outcome"] == "violated"]
    kinds = list(dict.fromkeys(rows["kind"]))
    row: dict[str, Any] = dict.fromkeys(COLUMNS)
    row |= {
        "accountant": accountant,
        "case": case,
        "kind": kinds[0],
        "verdict": _word(tried, broken),
        "cells": len(tried),
        "violated": len(broken),
        "vacuous": int(tried["vacuous"].sum()),
    }
    few = tried[(tried["asked"] == "delta") & (tried["proven"] >= LEAST_DELTA)]
    many = tried[tried["asked"] == "epsilon"]
    row["few_delta_ratio"] = few["ratio"].max()
    row["many_delta_ratio"] = many["delta_ratio"].max()
    row["many_epsilon_ratio"] = many["ratio"].max()
    if len(many):
        worst = many.iloc[int(np.argmax(many["ratio"]))]
        row |= {f"worst_{name}": worst[name] for name in ("local_epsilon", "n_users", "claimed", "proven")}
    shown = broken[broken["by_equal_others"]]
    if len(shown):
        fewest = shown[shown["n_users"] == shown["n_users"].min()]
        smallest = fewest.iloc[int(np.argmax(fewest["proven"] - fewest["claimed"]))]
        row |= {f"smallest_{name}": smallest[name] for name in ("n_users", "claimed", "proven")}
        row["command"] = smallest["command"]
    return {name: np.nan if value is None and name != "command" else value for name, value in row.items()}


def _word(tried: pd.DataFrame, broken: pd.DataFrame) -> str:
    if tried.empty:
        return "not applicable"
    if len(broken):
        return "violated"
    return "vacuous" if tried["vacuous"].all() else "sound so far"
