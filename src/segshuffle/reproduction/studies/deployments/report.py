"""The page and the figure of this study, and what the figure shows in words."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from segshuffle.drawing.looks import PALETTE
from segshuffle.drawing.style import log_axes, panel_grid
from segshuffle.reproduction.numbers import at_least, at_most, nearest
from segshuffle.reproduction.rows import table_of

_PICTURE = "![Stated and certified ε](figures/deployments.png)"
#: How a parameter is called in the table.
_NOISE = {"local_epsilon": "ε0", "threshold": "threshold", "mean": "dummies", "deviation": "deviation"}
_INTRODUCTION = """# What published constants are worth

Each row has constants that somebody has published, and the guarantee (ε, δ) that is stated with them. We certify what
these constants give in the view that is named below: proven bounds, rounded to the safe side. The rows are about
constants in a view, not about servers: what a server really keeps, or how many users are honest, no public text can
show. What the source does not say is called unknown. `segshuffle account` gives such an answer for any other constants
([account.md](account.md)), and [proof.md](proof.md) has the proofs.

*Certified ε* is at the stated δ, *certified δ* at the stated ε. *Enough* is the value of the noise's parameter that is
certified for the stated (ε, δ) with the least noise, all else as it is, and *variance* is how many times larger the
variance of the published noise is (below 1: it is too small). A dash means that there is no ε, no such value near the
published one, no variance to compare, or no constant in the source. An ε of twice ε0 is what a user's own flips give
without any other user.
"""


def page(table: pd.DataFrame, deployments: list[dict[str, Any]]) -> str:
    """Return the page: a table, then view, unknowns and source of every row."""
    head = ("constants", "stated ε, δ", "certified ε", "certified δ", "published", "enough", "variance")
    rows = table_of(head, map(_cells, table.to_dict("records")))
    return "\n".join([_INTRODUCTION, rows, "", _PICTURE, "", "## Views and sources", "", *_notes(deployments), ""])


def _cells(row: Mapping[Any, Any]) -> tuple[str, ...]:
    if pd.isna(row["value"]):
        return (row["label"], *6 * [nearest(math.nan)])
    return (
        row["label"],
        f"{row['stated_epsilon']:g}, {row['stated_delta']:g}",
        at_most(row["epsilon_upper"], digits=4),
        f"{at_least(row['delta_lower'])} to {at_most(row['delta_upper'])}",
        f"{_NOISE[row['noise']]} {row['value']:g}",
        nearest(row["least"], digits=4),
        nearest(row["variance_ratio"]),
    )


def _notes(deployments: list[dict[str, Any]]) -> Iterator[str]:
    for each in deployments:
        yield f"* **{each['label']}** ([source]({each['source']}), {each['date']}). View: {each['view']}."
        yield f"  Unknown: {each['unknown']}."


def draw(table: pd.DataFrame) -> Figure:
    """Draw the stated and the certified epsilon of every row; rows without one say so."""
    figure, (axis,) = panel_grid(1, height=0.3 * len(table) + 0.9, width=6.0, foot=0.0)
    places = range(len(table) - 1, -1, -1)
    ends = table[["stated_epsilon", "epsilon_upper"]]
    axis.hlines(places, ends.min(axis=1), ends.max(axis=1), color=PALETTE["grey"], lw=1.0, zorder=1)
    axis.plot(table["stated_epsilon"], places, "o", ms=8, mfc="white", color=PALETTE["black"], label="stated")
    axis.plot(table["epsilon_upper"], places, "D", ms=4, color=PALETTE["blue"], label="certified")
    for place, row in zip(places, table.to_dict("records"), strict=True):
        if pd.isna(row["value"]):
            said, beside = "no constants", table["stated_epsilon"].min()
        elif pd.isna(row["epsilon_upper"]):
            said, beside = f"none: here δ ≥ {at_least(row['delta_lower'])}", row["stated_epsilon"]
        else:
            continue
        axis.annotate(said, (beside, place), (8, 0), textcoords="offset points", va="center")
    axis.set_yticks(places, table["label"])
    axis.set(xlabel=r"$\epsilon$ at the stated $\delta$", ylim=(-0.6, len(table) - 0.4))
    log_axes(axis, "x")
    axis.legend(loc="lower right")
    return figure


def description(figure: str, tables: Mapping[str, pd.DataFrame]) -> str | None:
    """Say both numbers of every row."""
    if figure != "deployments":
        return None
    said = []
    for row in tables["deployments.csv"].to_dict("records"):
        certified = "none" if pd.isna(row["epsilon_upper"]) else at_most(row["epsilon_upper"], digits=4)
        numbers = "no constants" if pd.isna(row["value"]) else f"{row['stated_epsilon']:g}, {certified}"
        said.append(f"{row['label']}: {numbers}")
    return f"Dot chart of ε, stated and certified, of {len(said)} deployments and drafts. {'; '.join(said)}."
