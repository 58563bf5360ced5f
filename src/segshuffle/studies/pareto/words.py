"""What the figures show, in words, for who does not see them."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pandas as pd

from segshuffle.studies.pareto.winners import label_of

_NAME = re.compile(r"pareto-n(\d+)-d(\d+)-(.+)")


def words(figure: str, tables: Mapping[str, pd.DataFrame]) -> str | None:
    """Who wins how often at one size and split, and the range of its error; nothing without the table."""
    found = _NAME.fullmatch(figure)
    table = tables.get("pareto-winners.csv")
    if found is None or table is None:
        return None
    here = table[
        (table["n_users"] == int(found[1])) & (table["domain_size"] == int(found[2])) & (table["split"] == found[3])
    ]
    panels = here.groupby(["set_size", "epsilon"]).ngroups
    said = [
        f"{label_of(str(name))} {len(rows)} times ({rows['error_ratio'].min():.2f} to "
        f"{rows['error_ratio'].max():.2f} times the Gaussian curator's)"
        for name, rows in sorted(here.groupby("winner"), key=lambda pair: (-len(pair[1]), pair[0]))
    ]
    nobody = int(here["winner"].isna().sum())
    none = f"; in {nobody} nobody plans" if nobody else ""
    return (
        f"{panels} line charts, one for every set size and ε, of error over messages per user for every protocol. "
        f"Least proven error, over {len(here)} budgets: {', '.join(said) or 'nobody'}{none}."
    )
