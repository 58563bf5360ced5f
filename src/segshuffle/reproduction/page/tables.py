"""The tables of the page: text cells made from the run's files."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from segshuffle.datasets.registry import dataset_label
from segshuffle.reproduction.design import ACCOUNTINGS
from segshuffle.reproduction.numbers import NONE, at_least, at_most, count, mean_and_error, nearest
from segshuffle.reproduction.rows import common
from segshuffle.reproduction.studies.audit.report import audited, broken_promises, worst_over_splits
from segshuffle.reproduction.studies.drawing import POPULATION
from segshuffle.reproduction.studies.panels.report import Panel

#: Verdict -> class of its badge.
VERDICTS = {"reproduced": "yes", "partly reproduced": "partly", "not reproduced": "no", "not evaluated": "open"}
#: A table as the page shows it: the cells of every row by their titles.
Rows = list[dict[str, str]]


def point_table(panel: Panel) -> Rows:
    """Tabulate what the chart of a panel shows: every method over m, and at the m that it chooses itself."""
    looks = {accounting: panel.looks(accounting) for accounting in ACCOUNTINGS}
    shown = panel.errors[panel.errors["role"].isin(["grid", "best"])]
    return [
        {
            "method": looks[row["accounting"]][row["method"]].label,
            "privacy numbers": row["kind"],
            "m": NONE if row["blanket_per_user"] == 0 else nearest(row["blanket_per_user"]),
            "chosen by the method": "yes" if row["role"] == "best" else "",
            "messages per user": nearest(row["messages_per_user"]),
            "error, measured": mean_and_error(row["mse_mean"], row["mse_stderr"]),
            "error, closed form": nearest(row["mse_expected"]),
        }
        for row in shown.to_dict("records")
    ]


def audit_numbers(points: pd.DataFrame) -> dict[str, Any]:
    """Sum up some points of the audit, each on its worst split.

    Returns
    -------
    dict
        points : number of points (population, m, level); concentrated : largest epsilon divided by the claimed one, for
        the experiment's other users; alone : the same for the blanket alone, where it is finite; unbounded : points
        where it is not; broken : points where delta provably exceeds the promise; reachable : how many of these need no
        other levels than the experiment's; excess : largest delta divided by the promised one. NaN where there is no
        such number.
    """
    worst = {view: worst_over_splits(rows) for view, rows in points.groupby("view")}
    concentrated, alone = (
        worst[view]["actual_user_epsilon"] / worst[view]["claimed_user_epsilon"]
        for view in ("others-concentrated", "blanket-only")
    )
    broken = broken_promises(points)
    return {
        "points": len(alone),
        "concentrated": concentrated.max(),
        "alone": alone[alone < np.inf].max(),
        "unbounded": int((alone == np.inf).sum()),
        "broken": len(broken),
        "reachable": broken["reachable"].sum(),
        "excess": (broken["proven_user_delta"] / broken["target_delta"]).max(),
    }


def audit_table(audit: pd.DataFrame, sources: Mapping[str, str]) -> Rows:
    """Tabulate what the audit found, one row per population, given which data are real."""
    rows = []
    for _, points in audited(audit).groupby(POPULATION, sort=False):
        dataset, n_users, set_size = common(points, "dataset", "n_users", "set_size")
        numbers = audit_numbers(points)
        none = f"; no bound at {numbers['unbounded']}" if numbers["unbounded"] else ""
        rows.append(
            {
                "population": f"{dataset_label(dataset, sources[dataset])}: n = {n_users:,}, s = {set_size}",
                "points (m, level)": count(numbers["points"]),
                "ε / claimed, the experiment's others (upper)": at_most(numbers["concentrated"]),
                "ε / claimed, blanket alone (upper)": at_most(numbers["alone"]) + none,
                "points where δ provably exceeds the promise": count(numbers["broken"]),
                "of these with the experiment's levels": count(numbers["reachable"]),
                "largest δ / promised δ there (lower)": at_least(numbers["excess"]),
            }
        )
    return rows


def referee_table(referee: pd.DataFrame) -> Rows:
    """Tabulate what the referee found, one row per accountant and kind."""
    rows = []
    for (accountant, kind), cases in referee.groupby(["accountant", "kind"], sort=False):
        fell = cases["verdict"].value_counts()
        rows.append(
            {
                "bound": str(accountant),
                "kind": str(kind),
                "mechanisms tried": count(len(cases) - fell.get("not applicable", 0)),
                "violated in": count(fell.get("violated", 0)),
                "sound so far in": count(fell.get("sound so far", 0)),
                "never below the local guarantee in": count(fell.get("vacuous", 0)),
                "largest proven / claimed ε at large n (lower)": at_least(cases["many_epsilon_ratio"].max()),
            }
        )
    return rows


def runtime_table(runtimes: pd.DataFrame) -> Rows:
    """Tabulate time and memory per rule, slowest first."""
    ordered = runtimes.sort_values(["seconds_total", "rule"], ascending=[False, True])
    return [
        {
            "rule": row["rule"],
            "jobs": count(row["jobs"]),
            "seconds in all": f"{row['seconds_total']:.1f}",
            "longest job, seconds": f"{row['seconds_longest']:.1f}",
            "peak memory, MB": NONE if pd.isna(row["peak_rss_mb"]) else count(row["peak_rss_mb"]),
        }
        for row in ordered.to_dict("records")
    ]
