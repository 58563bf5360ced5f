"""The study for readers: figures, the protocol with the least error within a number of messages, and verdicts.

The statements of the literature about its own protocols are in config/reference/claims-pareto.yaml, the measures here;
`studies.verdicts` judges. These papers treat one item per user and one level, so rows with set_size = 1 and split "one"
are judged. Errors are mean squared ones, in closed form.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from segshuffle.drawing.looks import label_of, looks_in, stroke
from segshuffle.drawing.style import finished, letters, log_axes, panel_grid, panel_title
from segshuffle.reproduction.rows import table_of
from segshuffle.reproduction.studies.verdicts import Measured, NotRunError, Statements, judge, markdown

CASE = ["n_users", "domain_size", "set_size", "epsilon", "split"]


def front(rows: pd.DataFrame) -> pd.DataFrame:
    """Keep the plans that no other plan beats in messages and error, fewest messages first."""
    ordered = rows.sort_values(["messages_per_user", "mse_expected"], kind="stable")
    best = ordered["mse_expected"].cummin()
    return ordered[(ordered["mse_expected"] <= best) & ~ordered["mse_expected"].duplicated()]


def winners(table: pd.DataFrame, budgets: Sequence[float]) -> pd.DataFrame:
    """Find the proven protocol of the shuffle model with the least error, per case and budget of messages.

    Parameters
    ----------
    table : DataFrame
        As `compute.size_table` returns it, of all sizes.
    budgets : sequence of float
        Messages per item of a user.

    Returns
    -------
    DataFrame
        Columns of the case, budget (messages per user), winner, error_ratio (error divided by the weighted Gaussian
        curator's), second (the next protocol) and its error divided by the winner's. Empty if no protocol has a plan
        within the budget.
    """
    from segshuffle.plans.registry import every  # not at the top: figures need no protocol

    rows, others = [], [each.name for each in every().values() if not each.shuffle_model]
    shuffled = table[(table["accounting"] == "proven") & ~table["method"].isin(others)]
    for key, case in shuffled.dropna(subset=["mse_expected"]).groupby(CASE, sort=False):
        sizes: dict[str, Any] = dict(zip(CASE, key, strict=True))
        measure = case["mse_expected"].iloc[0] / case["error_ratio"].iloc[0]
        for share in budgets:
            budget = share * sizes["set_size"]
            within = case[case["messages_per_user"] <= budget * (1 + 1e-9)]
            best = within.groupby("method")["mse_expected"].min().sort_values(kind="stable")
            # perhaps no protocol, or only one, has a plan within the budget
            (winner, error), (second, other) = [*best.items(), (None, math.nan), (None, math.nan)][:2]
            row = {"winner": winner, "error_ratio": error / measure, "second": second, "second_ratio": other / error}
            rows.append({**sizes, "budget": budget, **row})
    return pd.DataFrame(rows)


_READING = (
    "The table compares protocols of the shuffle model with proven accounting, at equal (epsilon, delta). There are n "
    "users, each of whom holds s of d items. The last columns are limits on the messages of a user (none of them "
    "about levels), divided by the items that the user holds. A cell names the protocol with the least error within "
    "this limit. The first number is its error, divided by that of a trusted curator with Gaussian noise and a weight "
    "per level. The number after *next* is the error of the second-best protocol, divided by that of the best. With "
    "split *one* all users have level epsilon; in other splits the levels double, with epsilon in the middle. Errors "
    "are closed forms for uniform frequencies. *Clustered* and *signed blanket* are our protocol with other dummy "
    "messages (docs/plan.md). In the protocol *Fake users* a message is a vector of d bits. A user sends one for "
    "every item that it holds, and fake ones."
)


def readable(plans: pd.DataFrame, claims: pd.DataFrame) -> str:
    """Write the winners as a table, with one line per case and one column per budget, and the verdicts."""
    shares = sorted({row["budget"] / row["set_size"] for row in plans.to_dict("records")})
    rows = (
        [*sizes, f"{epsilon:g}", split, *map(_cell, case.sort_values("budget").to_dict("records"))]
        for (*sizes, epsilon, split), case in plans.groupby(CASE, sort=False)
    )
    table = table_of(["n", "d", "s", "epsilon", "split", *(f"{share:g} messages" for share in shares)], rows)
    title = "# Who has the least error within a number of messages"
    return "\n\n".join([title, _READING, table, markdown(claims, title="## What the literature says of its protocols")])


def _cell(row: Mapping[Any, Any]) -> str:
    if not isinstance(row["winner"], str):
        return "nobody"
    lead = "" if math.isnan(row["second_ratio"]) else f", next {row['second_ratio']:.2f}x"
    # all are proven
    label = label_of(row["winner"], "proven").removesuffix(" (proven)").removesuffix(" (ours, proven)")
    return f"{label}: {row['error_ratio']:.2f}{lead}"


def _judged(table: pd.DataFrame, accounting: str, method: str = "") -> pd.DataFrame:
    """Choose the plans for one item and one level, under one accounting; of one method if it is given."""
    rows = table[(table["set_size"] == 1) & (table["split"] == "one")].dropna(subset=["mse_expected"])
    rows = rows[(rows["accounting"] == accounting) & (rows["method"].isin([method]) if method else True)]
    if rows.empty:
        raise NotRunError(f"{method or 'no protocol'} ({accounting}) has no plan for one item and one level")
    sizes = rows[["n_users", "domain_size", "epsilon"]].itertuples(index=False)
    return rows.assign(case=[f"n = {n:,}, d = {d:,}, epsilon = {epsilon:g}" for n, d, epsilon in sizes])


def error_within(table: pd.DataFrame, *, method: str, accounting: str, messages: float) -> Measured:
    """Divide the least error within the stated messages per user by the Gaussian curator's, for each case."""
    rows = _judged(table, accounting, method)
    within = rows[rows["messages_per_user"] <= messages * (1 + 1e-9)]
    least = within.groupby("case")["error_ratio"].min().reindex(rows["case"].unique())
    return Measured({f"error within {messages:g} messages": least.to_dict()}, ".3g")


def change_of_extra(table: pd.DataFrame, *, method: str, accounting: str) -> Measured:
    """Divide the dummies of a user, per item of the domain, by those for the next smaller number of users."""
    rows = _judged(table, accounting, method)
    if rows["n_users"].nunique() < 2:
        raise NotRunError("a statement about many users needs two numbers of users")
    rows = rows.assign(extra=(rows["messages_per_user"] - 1) / rows["domain_size"])
    extra = rows.pivot_table(index="n_users", columns="epsilon", values="extra", aggfunc="min")
    ratios = {
        f"epsilon = {epsilon:g}, n = {few:,} to {many:,}": column[many] / column[few]
        for epsilon, column in extra.items()
        for few, many in pairwise(extra.index)
    }
    return Measured({"ratio of dummies per item": ratios}, ".3g")


def error_over_published(table: pd.DataFrame, *, method: str, accounting: str) -> Measured:
    """Divide the least error by that of the best published protocol of the shuffle model, for each case."""
    own, best = (
        rows.groupby("case")["mse_expected"].min()
        for rows in (_judged(table, accounting, method), _judged(table, "published"))
    )
    return Measured({"error divided by the best published one's": (own / best.reindex(own.index)).to_dict()}, ".3g")


MEASURES = (error_within, change_of_extra, error_over_published)


def evaluate(table: pd.DataFrame, reference: Statements) -> pd.DataFrame:
    """Judge every statement on all rows of the table; see `verdicts.judge`."""
    return judge(table, MEASURES, reference)


def draw(table: pd.DataFrame, n_users: int, domain_size: int, split: str) -> Figure:
    """Draw the fronts of all methods of one size and split; open marks where the guarantee is not proven.

    Parameters
    ----------
    table : DataFrame
        Rows of results/pareto.csv.
    n_users, domain_size, split : int, int, str
        Which of them are drawn.
    """
    table = table[(table[["n_users", "domain_size", "split"]] == [n_users, domain_size, split]).all(axis=1)]
    looks = {accounting: looks_in(table, accounting) for accounting in ("published", "proven")}
    panels = list(table.groupby(["set_size", "epsilon"], sort=True))
    figure, axes = panel_grid(len(panels), min(table["epsilon"].nunique(), 3), height=2.3, foot=1.5)
    for letter, axis, ((set_size, epsilon), rows) in zip(letters(), axes, panels, strict=False):
        each: Any = rows.groupby(["method", "accounting", "role"], sort=False)
        for (method, accounting, role), plans in each:
            best = front(plans)
            look = looks[accounting][method]
            if role == "reference":
                axis.axhline(best["error_ratio"].min(), color=look.color, ls=look.dashes, lw=0.9, label=look.label)
            elif len(best):
                face = "none" if accounting == "published" else look.color
                axis.plot(best["messages_per_user"], best["error_ratio"], **stroke(look, mfc=face, ms=3, lw=0.8))
        sizes = f"$n$ = {n_users:,}, $d$ = {domain_size:,}, $s$ = {set_size}"
        panel_title(axis, f"({letter}) $\\epsilon$ = {epsilon:g}", sizes)
        axis.set(xlabel="messages per user", ylabel="MSE / Gaussian curator's")
        log_axes(axis)
    return finished(figure)
