"""What the figure shows, in words for readers who do not see it, and how its table is read for that."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from segshuffle.pipeline.numbers import at_most

SETTING = ["dataset", "n_users", "set_size", "domain_size"]


def words(figure: str, tables: Mapping[str, pd.DataFrame]) -> str | None:
    """Describe where the audited epsilon lies, population by population."""
    if figure != "audit":
        return None
    said = []
    points = audited(tables["audit.csv"])
    for (dataset, n_users, set_size, _), rows in points[points["view"] == "blanket-only"].groupby(SETTING, sort=False):
        alone = worst_over_splits(rows)
        ratio = alone["actual_user_epsilon"] / alone["claimed_user_epsilon"]
        worst = alone.iloc[int(ratio.where(ratio < float("inf")).argmax())]
        said.append(
            f"{dataset}, n = {n_users:,}, s = {set_size}: at most {at_most(worst['actual_user_epsilon'])} where "
            f"{worst['claimed_user_epsilon']:g} is claimed, at m = {worst['blanket_per_user']:g}."
        )
    return (
        "Dot chart of user-level epsilon, logarithmic, a column per level, a row per population and whole m, "
        "and one row for all other m. A line marks the claimed level. With the blanket alone epsilon is the claimed "
        "one except at whole m, where it lies above. Its largest finite excess: " + " ".join(said)
    )


def audited(audit: pd.DataFrame) -> pd.DataFrame:
    """Points of the grid where the victim may stay silent: elsewhere the guarantee is not in question."""
    return audit[~audit["optimum"] & (audit["sampling_rate"] < 1.0)]


def worst_over_splits(rows: pd.DataFrame) -> pd.DataFrame:
    """One row per population, m and level: the split on which the view is worst."""
    key = [*SETTING, "blanket_per_user", "level", "claimed_user_epsilon", "target_delta"]
    grouped = rows.groupby(key, sort=False, as_index=False)
    return grouped.agg(
        actual_user_epsilon=("actual_user_epsilon", "max"),
        proven_user_delta=("proven_user_delta", "max"),
        reachable=("reachable", "max"),
    )


def broken_promises(points: pd.DataFrame) -> pd.DataFrame:
    """Points where the user-level delta provably exceeds the promised one, without group privacy."""
    return worst_over_splits(points[points["proven_user_delta"] > points["target_delta"]])
