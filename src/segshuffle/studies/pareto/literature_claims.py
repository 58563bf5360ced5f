"""Verdicts on what the papers of the literature say of their own protocols, from the table of the sweep alone.

Every statement is an entry of config/reference/claims-pareto.yaml. The papers treat one item per user and one level, so
rows with set_size = 1 and split "one" are judged. Errors are mean squared ones, in closed form.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd

from segshuffle.pipeline import judging
from segshuffle.pipeline.judging import NOT, PARTLY, REPRODUCED, Finding, NotRunError
from segshuffle.studies.pareto import winners

_CASE = ["n_users", "domain_size", "epsilon"]
_KEYS = ("id", "paper", "section", "statement")


def _rows(table: pd.DataFrame, method: str, accounting: str) -> pd.DataFrame:
    """Plans of a method for one item and one level."""
    chosen = (table["set_size"] == 1) & (table["split"] == "one") & (table["refused"] == "")
    rows = table[chosen & (table["method"] == method) & (table["accounting"] == accounting)]
    if rows.empty:
        raise NotRunError(f"{method} ({accounting}) has no plan for one item and one level")
    return rows


def _verdict(held: pd.Series[bool]) -> str:
    return REPRODUCED if held.all() else PARTLY if held.any() else NOT


def _each(values: pd.Series[float]) -> str:
    """Values per epsilon."""
    return ", ".join(f"{value:.3g} at epsilon = {epsilon:g}" for epsilon, value in values.items())


def messages_at_most(table: pd.DataFrame, *, method: str, accounting: str, stated: float, error: float) -> Finding:
    """Some plan has at most the stated messages and error over the Gaussian curator's, in every case; partly in some.

    The error is our reading of "close to". What is printed is the least error within the messages.
    """
    rows = _rows(table, method, accounting)
    cases = rows[_CASE].drop_duplicates()
    within = rows[rows["messages_per_user"] <= stated * (1 + 1e-9)]
    reached = within.groupby(_CASE)["error_ratio"].min().reindex(pd.MultiIndex.from_frame(cases))
    held = reached <= error
    least = "" if reached.isna().all() else f", least {reached.min():.3g} times the curator's error"
    return Finding(f"in {held.sum()} of {len(held)} cases with at most {stated:g} messages{least}", _verdict(held))


def extra_falls(table: pd.DataFrame, *, method: str, accounting: str) -> Finding:
    """Messages beyond the own, per item of the domain, fall at every epsilon whenever n grows; partly at some."""
    rows = _rows(table, method, accounting)
    if rows["n_users"].nunique() < 2:
        raise NotRunError("what is said of many users needs two numbers of users")
    rows = rows.assign(extra=(rows["messages_per_user"] - 1) / rows["domain_size"])
    by_users = rows.pivot_table(index="epsilon", columns="n_users", values="extra", aggfunc="min")
    held = (by_users.diff(axis=1).iloc[:, 1:] < 0).all(axis=1)
    few, many = by_users.columns[0], by_users.columns[-1]
    found = f"n = {few:,}: {_each(by_users[few])}; n = {many:,}: {_each(by_users[many])}"
    return Finding(found, _verdict(held))


def below_all(table: pd.DataFrame, *, method: str, accounting: str) -> Finding:
    """Its least error is below that of every published protocol of the shuffle model, in every case; partly in some."""
    own = _rows(table, method, accounting).groupby(_CASE)["mse_expected"].min()
    others = table[(table["accounting"] == "published") & (table["set_size"] == 1) & (table["split"] == "one")]
    rivals = others[others["refused"] == ""].groupby(_CASE)["mse_expected"].min().reindex(own.index)
    if rivals.isna().all():
        raise NotRunError("no published protocol of the shuffle model has a plan")
    ratio = own / rivals
    found = f"its error over the best published one's, in {len(ratio)} cases: {ratio.min():.3g} to {ratio.max():.3g}"
    return Finding(found, _verdict(ratio < 1))


RULES: dict[str, Callable[..., Finding]] = {rule.__name__: rule for rule in (messages_at_most, extra_falls, below_all)}


def evaluate(table: pd.DataFrame, reference: list[dict[str, Any]]) -> pd.DataFrame:
    """Evaluate every statement.

    Parameters
    ----------
    table : DataFrame
        As `compute.table` returns it, all cases.
    reference : list of dict
        Entries of config/reference/claims-pareto.yaml.

    Returns
    -------
    DataFrame
        Columns id, paper, section, statement, verdict, found, note, rule.
    """
    return judging.judge(table, RULES, reference, keys=_KEYS)


def markdown(claims: pd.DataFrame) -> str:
    """Section of the study's readable table."""
    lines = ["## What these papers say of their protocols", "", judging.count_of(claims), "", *judging.table_of(claims)]
    return "\n".join([*lines, "", *judging.rules_of(claims)]) + "\n"


def readable(found: pd.DataFrame, claims: pd.DataFrame, *, edition: str) -> str:
    """Markdown text of who wins where, and of the verdicts."""
    return winners.markdown(found, edition=edition) + "\n" + markdown(claims)
