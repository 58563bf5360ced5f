"""The tables of the page: text cells made from the run's files."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from segshuffle.datasets.registry import dataset_label, hashed_as
from segshuffle.page.results import Results
from segshuffle.pipeline.design import ACCOUNTINGS
from segshuffle.pipeline.numbers import NONE, at_least, at_most, count, mean_and_error, nearest
from segshuffle.protocols.registry import look_of
from segshuffle.studies.audit.report import audited, broken_promises, worst_over_splits
from segshuffle.studies.drawing import POPULATION
from segshuffle.studies.reproduction.report import Panel, budgets_of

#: Verdict -> class of its badge; the last is for panels that did not run.
VERDICTS = {"reproduced": "yes", "partly reproduced": "partly", "not reproduced": "no", "not evaluated": "open"}
#: A table as the page shows it: the cells of every row by their titles.
Rows = list[dict[str, str]]


def tally(claims: pd.DataFrame) -> dict[str, int]:
    """Count each verdict, best first; "not evaluated" is included only if it occurs."""
    counts = claims["verdict"].value_counts().reindex(list(VERDICTS), fill_value=0)
    return {str(verdict): int(number) for verdict, number in counts.items() if number or verdict != "not evaluated"}


def curve_table(panel: Panel) -> Rows:
    """Tabulate the curves of a panel over m: the numbers of the chart."""
    cells = pd.DataFrame(
        {
            panel.looks(accounting)[method].label: pd.Series(
                list(map(mean_and_error, rows["mse_mean"], rows["mse_stderr"])), rows["blanket_per_user"]
            )
            for accounting in ACCOUNTINGS
            for method, rows in panel.curves(accounting).items()
        }
    )
    by_blanket: dict[Any, Any] = cells.sort_index().fillna(NONE).to_dict("index")
    return [{"m": f"{m:g}", **row} for m, row in by_blanket.items()]


def point_table(panel: Panel) -> Rows:
    """Tabulate the methods of a panel that have one number, lowest closed-form error first."""
    shown = [panel.optimum.assign(label="Segmented, m from optimizeParameter")]
    for accounting in ACCOUNTINGS:
        points, looks = panel.points(accounting), panel.looks(accounting)
        shown.append(points.assign(label=[looks[method].label for method in points["method"]]))
    both = pd.concat(shown, ignore_index=True).sort_values("mse_expected", kind="stable")
    return [
        {
            "method": row["label"],
            "privacy numbers": row["kind"],
            "own m": NONE if row["blanket_per_user"] == 0 else nearest(row["blanket_per_user"]),
            "messages per user": nearest(row["messages_per_user"]),
            "error, measured": mean_and_error(row["mse_mean"], row["mse_stderr"]),
            "error, closed form": nearest(row["mse_expected"]),
        }
        for row in both.to_dict("records")
    ]


def proven_tables(results: Results) -> tuple[Rows, Rows]:
    """Tabulate the error of the proven protocol, and that of whole copies within each budget, one row per panel."""
    summary = results.tables["proven-summary.csv"]
    budgets, gains, copies = budgets_of(summary), [], []
    for row in summary.to_dict("records"):
        panel = f"{_setting_name(row, results)}, {row['split']}"
        gains.append(
            {
                "panel": panel,
                "published error": nearest(row["published"]),
                "our error": nearest(row["poisson"]),
                "published / ours": nearest(row["published_over_poisson"]),
                "messages": nearest(row["messages_poisson"]),
                "best proven competitor": look_of(row["best_competitor"], accounting="proven").label.removesuffix(
                    " (proven)"
                ),
                "its error / ours": nearest(row["competitor_over_poisson"]),
                "ours / curator": nearest(row["poisson_over_curator"]),
            }
        )
        within = {f"≤ {budget:g}": nearest(row[f"copies_{budget:g}_over_curator"]) for budget in budgets}
        copies.append({"panel": panel, **within})
    return gains, copies


def audit_numbers(points: pd.DataFrame) -> dict[str, Any]:
    """Sum up some points of the audit, each on its worst split.

    Returns
    -------
    dict
        points : number of points (population, m, level); concentrated, alone : largest finite epsilon divided by the
        claimed one, for the experiment's other users and for the blanket alone; unbounded : points where the latter is
        not finite; broken : points where delta provably exceeds the promise; reachable : how many of these need no
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


def audit_table(results: Results) -> Rows:
    """Tabulate what the audit found, one row per population."""
    rows = []
    for key, points in audited(results.tables["audit.csv"]).groupby(POPULATION, sort=False):
        found = audit_numbers(points)
        none = f"; no bound at {found['unbounded']}" if found["unbounded"] else ""
        rows.append(
            {
                "population": _setting_name(dict(zip(POPULATION, key, strict=True)), results),
                "points (m, level)": count(found["points"]),
                "ε / claimed, the experiment's others (lower)": at_least(found["concentrated"]),
                "ε / claimed, blanket alone (upper)": at_most(found["alone"]) + none,
                "points where δ provably exceeds the promise": count(found["broken"]),
                "of these with the experiment's levels": count(found["reachable"]),
                "largest δ / promised δ there (lower)": at_least(found["excess"]),
            }
        )
    return rows


def referee_table(referee: pd.DataFrame) -> Rows:
    """Tabulate what the referee found, one row per accountant and kind."""
    rows = []
    for (accountant, kind), found in referee.groupby(["accountant", "kind"], sort=False):
        fell = found["verdict"].value_counts()
        rows.append(
            {
                "bound": str(accountant),
                "kind": str(kind),
                "mechanisms tried": count(len(found) - fell.get("not applicable", 0)),
                "violated in": count(fell.get("violated", 0)),
                "sound so far in": count(fell.get("sound so far", 0)),
                "never below the local guarantee in": count(fell.get("vacuous", 0)),
                "largest proven / claimed ε at large n (lower)": at_least(found["many_epsilon_ratio"].max()),
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


def made_of(provenance: Mapping[str, Any]) -> Rows:
    """Tabulate what the run was made of."""
    facts = [(what, provenance[what]) for what in ("edition", "commit", "seed")]
    for name, data in provenance["data"].items():
        label = dataset_label(name, "real")
        facts += [
            (f"{label} data", "real" if data["kind"] == "real" else f"STAND-IN: {data['reason'].splitlines()[0]}"),
            (f"origin of the {label} data", data["origin"]),
            (f"SHA-256 of the {hashed_as(name)}{label} file", data["sha256"] or NONE),
        ]
    facts += [(f"version of {name}", version) for name, version in provenance["versions"].items()]
    return [{"what": what, "value": str(value)} for what, value in facts]


def hashes(provenance: Mapping[str, Any]) -> Rows:
    """Tabulate the hash of every figure, table and verdict."""
    return [{"file": file, "SHA-256": found} for file, found in provenance["outputs"].items()]


def _setting_name(row: dict[Any, Any], results: Results) -> str:
    name = dataset_label(str(row["dataset"]), results.sources[str(row["dataset"])])
    return f"{name}: n = {row['n_users']:,}, s = {row['set_size']}"
