"""What the sweep says: who has the least error within a number of messages, and verdicts on the literature.

The statements of the literature about its own protocols are in config/reference/claims-pareto.yaml, the measures here
(`studies.verdicts`). These papers treat one item per user and one level, so rows with set_size = 1 and split "one" are
judged. Errors are mean squared ones, in closed form.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import pandas as pd

from segshuffle.pipeline.editions import remark
from segshuffle.protocols.registry import look_of
from segshuffle.studies import verdicts
from segshuffle.studies.verdicts import Measured, NotRunError

CASE = ["n_users", "domain_size", "set_size", "epsilon", "split"]


def filled(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table as it was before it was written: what was not refused has an empty reason."""
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


def _judged(table: pd.DataFrame, accounting: str, method: str = "") -> pd.DataFrame:
    """Plans for one item and one level, under one accounting; of one method if it is given."""
    rows = table[(table["set_size"] == 1) & (table["split"] == "one") & (table["refused"] == "")]
    rows = rows[(rows["accounting"] == accounting) & (rows["method"].isin([method]) if method else True)]
    if rows.empty:
        raise NotRunError(f"{method or 'no protocol'} ({accounting}) has no plan for one item and one level")
    sizes = rows[["n_users", "domain_size", "epsilon"]].itertuples(index=False)
    return rows.assign(case=[f"n = {n:,}, d = {d:,}, epsilon = {epsilon:g}" for n, d, epsilon in sizes])


def error_within(table: pd.DataFrame, *, method: str, accounting: str, messages: float) -> Measured:
    """Least error within the stated messages per user over the Gaussian curator's, case by case."""
    rows = _judged(table, accounting, method)
    within = rows[rows["messages_per_user"] <= messages * (1 + 1e-9)]
    least = within.groupby("case")["error_ratio"].min().reindex(rows["case"].unique())
    return Measured({f"error within {messages:g} messages": least.to_dict()}, ".3g")


def change_of_extra(table: pd.DataFrame, *, method: str, accounting: str) -> Measured:
    """Messages beyond a user's own, per item of the domain, over those of the next smaller number of users."""
    rows = _judged(table, accounting, method)
    if rows["n_users"].nunique() < 2:
        raise NotRunError("what is said of many users needs two numbers of users")
    rows = rows.assign(extra=(rows["messages_per_user"] - 1) / rows["domain_size"])
    extra = rows.pivot_table(index="n_users", columns="epsilon", values="extra", aggfunc="min")
    found = {
        f"epsilon = {epsilon:g}, n = {few:,} to {many:,}": column[many] / column[few]
        for epsilon, column in extra.items()
        for few, many in pairwise(extra.index)
    }
    return Measured({"change of the further messages per item": found}, ".3g")


def error_over_published(table: pd.DataFrame, *, method: str, accounting: str) -> Measured:
    """Least error over that of the best published protocol of the shuffle model, case by case."""
    own, best = (
        rows.groupby("case", sort=False)["mse_expected"].min()
        for rows in (_judged(table, accounting, method), _judged(table, "published"))
    )
    return Measured({"error over the best published one's": (own / best.reindex(own.index)).to_dict()}, ".3g")


MEASURES = (error_within, change_of_extra, error_over_published)


def evaluate(table: pd.DataFrame, reference: list[dict[str, Any]]) -> pd.DataFrame:
    """Judge every statement on all rows of the sweep; see `verdicts.judge`."""
    return verdicts.judge(table, MEASURES, reference, keys=("id", "paper", "section", "statement"))


def claims_markdown(claims: pd.DataFrame) -> str:
    """Write the verdicts to read: a section of the study's table."""
    return verdicts.markdown(claims, title="## What these papers say of their protocols")


def readable(found: pd.DataFrame, claims: pd.DataFrame, *, edition: str) -> str:
    """Write who wins where, and the verdicts, to read."""
    return markdown(found, edition=edition) + "\n" + claims_markdown(claims)
