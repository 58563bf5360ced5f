"""What the figure shows, in words, for who does not see it."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from segshuffle.pipeline.numbers import nearest


def words(figure: str, tables: Mapping[str, pd.DataFrame]) -> str | None:
    """What private levels cost, at each epsilon of theirs."""
    if figure != "levels":
        return None
    table = pd.concat([rows for path, rows in tables.items() if path.startswith("levels/")], ignore_index=True)
    exact = table[table["epsilon_levels"].isna()].set_index(["dataset", "n_users", "set_size", "split"])["mse_mean"]
    said = []
    for epsilon, rows in table.dropna(subset=["epsilon_levels"]).groupby("epsilon_levels"):
        ratio = rows.set_index(exact.index.names)["mse_mean"] / exact
        said.append(f"{epsilon:g}: {nearest(ratio.min())} to {nearest(ratio.max())}")
    return (
        "Charts of squared error over the privacy of the levels, a panel per population, three splits each. Measured "
        "error over the error with the exact histogram of levels, range over populations and splits, at each ε of the "
        f"levels: {'; '.join(said)}."
    )
