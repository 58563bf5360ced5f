"""Who has the least error within a number of messages: the front of a case, and who is on it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from segshuffle.pipeline.editions import remark
from segshuffle.protocols.registry import look_of

CASE = ["n_users", "domain_size", "set_size", "epsilon", "split"]


def filled(table: pd.DataFrame) -> pd.DataFrame:
    """A table as it was before it was written: what was not refused has an empty reason."""
    return table.fillna({"refused": "", "kind": "", "parameters": ""})


def front(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows that no other row beats in messages and error, fewest messages first."""
    ordered = rows.sort_values(["messages_per_user", "mse_expected"], kind="stable")
    best = ordered["mse_expected"].cummin()
    return ordered[(ordered["mse_expected"] <= best) & ~ordered["mse_expected"].duplicated()]


def winners(table: pd.DataFrame, budgets: Sequence[float]) -> pd.DataFrame:
    """Per case and budget: the proven protocol of the shuffle model with the least error within that many messages.

    Parameters
    ----------
    table : DataFrame
        As `compute.table` returns it.
    budgets : sequence of float
        Messages per item of a user.

    Returns
    -------
    DataFrame
        Columns of the case, budget (messages per user), winner, error_ratio (over the weighted Gaussian curator's),
        second: the best other protocol, and its error over the winner's. Empty where nobody plans within the budget.
    """
    rows = []
    shuffled = table[(table["accounting"] == "proven") & (table["role"] != "reference") & (table["refused"] == "")]
    shuffled = shuffled[shuffled["method"] != "augmented-shuffling"]
    for key, case in shuffled.groupby(CASE, sort=False):
        sizes: dict[str, Any] = dict(zip(CASE, key, strict=True))
        for share in budgets:
            budget = share * sizes["set_size"]
            within = case[case["messages_per_user"] <= budget * (1 + 1e-9)]
            best = within.groupby("method")["mse_expected"].min().sort_values(kind="stable")
            row = {**sizes, "budget": budget}
            if len(best):
                measure = case["mse_expected"].iloc[0] / case["error_ratio"].iloc[0]
                row |= {"winner": best.index[0], "error_ratio": float(best.iloc[0] / measure)}
            if len(best) > 1:
                row |= {"second": best.index[1], "second_ratio": float(best.iloc[1] / best.iloc[0])}
            rows.append(row)
    columns = [*CASE, "budget", "winner", "error_ratio", "second", "second_ratio"]
    return pd.DataFrame(rows, columns=columns)


def markdown(found: pd.DataFrame, *, edition: str) -> str:
    """Readable form: one line per case, a column per budget."""
    lines = ["# Who has the least error within a number of messages", ""]
    if said := remark(edition):
        lines += [said, ""]
    shares = sorted({row["budget"] / row["set_size"] for row in found.to_dict("records")})
    lines += [
        "Protocols of the shuffle model with proven accounting, at equal (epsilon, delta). In a cell: who has the "
        "least error within so many messages per item held, its error over that of the Gaussian curator with a weight "
        "per level, and by what factor the next protocol is worse. Split one: everybody at epsilon; else half, once "
        "and twice epsilon. Closed forms for uniform frequencies. A message of fake users is a vector of d bits; each "
        "user sends one for every item held, and fake ones.",
        "",
        "| n | d | s | epsilon | split | " + " | ".join(f"{share:g} messages" for share in shares) + " |",
        "|---|---|---|---|---|" + "---|" * len(shares),
    ]
    for key, rows in found.groupby(CASE, sort=False):
        cells = " | ".join(_cell(row) for row in rows.sort_values("budget").to_dict("records"))
        n_users, domain_size, set_size, epsilon, split = key
        lines.append(f"| {n_users} | {domain_size} | {set_size} | {epsilon:g} | {split} | {cells} |")
    return "\n".join(lines) + "\n"


def _cell(row: Mapping[Any, Any]) -> str:
    if not isinstance(row["winner"], str):
        return "nobody"
    lead = "" if math.isnan(row["second_ratio"]) else f", next {row['second_ratio']:.2f}x"
    return f"{label_of(row['winner'])}: {row['error_ratio']:.2f}{lead}"


def label_of(method: str) -> str:
    """Label of a proven method, where all are proven."""
    return look_of(method, accounting="proven").label.removesuffix(" (proven)").removesuffix(" (ours, proven)")
