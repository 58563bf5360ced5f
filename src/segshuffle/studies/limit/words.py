"""What the figure shows, in words, for who does not see it."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from segshuffle.pipeline.numbers import at_most, nearest


def words(figure: str, tables: Mapping[str, pd.DataFrame]) -> str | None:
    """Where the ratio begins and ends."""
    if figure != "limit":
        return None
    table = tables["limit.csv"].dropna(subset=["error_ratio"])
    large = table[table["blanket_mean"] >= 100.0]["error_ratio"]
    curves = table.groupby(["set_size", "delta"]).ngroups
    from_100 = f" From 100 messages per item on it is at most {at_most(large.max(), digits=4)}." if len(large) else ""
    return (
        f"Line chart of error over a Gaussian curator's against blanket messages per item, {curves} curves (set size "
        f"and δ). The ratio falls from {nearest(table['error_ratio'].max())} towards 1.{from_100}"
    )
