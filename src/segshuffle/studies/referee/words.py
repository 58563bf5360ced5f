"""What the figure shows, in words, for who does not see it."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd


def words(figure: str, tables: Mapping[str, pd.DataFrame]) -> str | None:
    """Which claims are refuted."""
    if figure != "referee":
        return None
    head = (
        "Charts of the claimed epsilon over the proven lower bound, in per cent, against the number of users; a row "
        "per mechanism, a column per local epsilon. Points below zero are refuted claims."
    )
    if "referee-verdicts.csv" not in tables:
        return head
    verdicts = tables["referee-verdicts.csv"]
    broken = verdicts[verdicts["verdict"] == "violated"]
    said = ", ".join(f"{row['accountant']} on {row['case']}" for row in broken.to_dict("records"))
    return f"{head} Violated: {said or 'none'}."
