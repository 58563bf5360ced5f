"""The tables of the page: text cells made from the run's files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from segshuffle.datasets.registry import dataset_label, hashed_as
from segshuffle.page.results import Results
from segshuffle.pipeline.design import ACCOUNTINGS
from segshuffle.pipeline.numbers import NONE, at_least, at_most, count, mean_and_error, nearest
from segshuffle.protocols.registry import look_of
from segshuffle.studies.audit.report import audited, broken_promises, worst_over_splits
from segshuffle.studies.drawing import POPULATION
from segshuffle.studies.proven.report import budgets_of
from segshuffle.studies.reproduction.report import Panel

#: Verdict -> class of its badge; the last is for panels that did not run.
VERDICTS = {"reproduced": "yes", "partly reproduced": "partly", "not reproduced": "no", "not evaluated": "open"}


@dataclass(frozen=True)
class Table:
    """A table as the page shows it.

    Parameters
    ----------
    id : str
        Unique in the page.
    caption : str
        What the rows are, and the kind of the numbers.
    header : tuple of str
        Column titles; the first column heads its row.
    rows : tuple of tuple of str
        Cells.
    """

    id: str
    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Verdict:
    """A statement of a paper and what came out."""

    id: str
    section: str
    statement: str
    verdict: str
    mark: str
    found: str
    note: str


def verdicts(claims: pd.DataFrame) -> list[Verdict]:
    """Rows of claims.csv (or of the amplification papers' claims), in their order."""
    return [
        Verdict(
            id=row["id"],
            section=f"{row['paper']}, {row['section']}" if "paper" in row else row["section"],
            statement=row["statement"],
            verdict=row["verdict"],
            mark=VERDICTS[row["verdict"]],
            found=row["found"],
            note=row["note"],
        )
        for row in claims.to_dict("records")
    ]


def tally(claims: pd.DataFrame) -> dict[str, int]:
    """How often each verdict fell, best first; "not evaluated" only if it did."""
    counts = claims["verdict"].value_counts()
    found = {verdict: int(counts.get(verdict, 0)) for verdict in VERDICTS}
    return {verdict: number for verdict, number in found.items() if number or verdict != "not evaluated"}


def curve_table(panel: Panel) -> Table:
    """Tabulate the curves of a panel over m: the numbers of the chart."""
    columns = {
        panel.looks(accounting)[method].label: rows
        for accounting in ACCOUNTINGS
        for method, rows in panel.curves(accounting).items()
    }
    cells = {
        label: {
            row["blanket_per_user"]: mean_and_error(row["mse_mean"], row["mse_stderr"])
            for row in rows.to_dict("records")
        }
        for label, rows in columns.items()
    }
    grid = sorted(set().union(*cells.values()))
    return Table(
        f"curves-{panel.id}",
        f"{panel.name}: measured squared error (mean ± 2 standard errors) over m",
        ("m", *columns),
        tuple((f"{m:g}", *(column.get(m, NONE) for column in cells.values())) for m in grid),
    )


def point_table(panel: Panel) -> Table:
    """Tabulate the methods of a panel that have one number, lowest closed-form error first."""
    shown = [panel.optimum.assign(label="Segmented, m from optimizeParameter")]
    for accounting in ACCOUNTINGS:
        points, looks = panel.points(accounting), panel.looks(accounting)
        shown.append(points.assign(label=[looks[method].label for method in points["method"]]))
    both = pd.concat(shown, ignore_index=True)
    rows = both.sort_values("mse_expected", kind="stable").to_dict("records")
    return Table(
        f"points-{panel.id}",
        f"{panel.name}: methods that choose their own m, lowest error first",
        ("method", "privacy numbers", "own m", "messages per user", "error, measured", "error, closed form"),
        tuple(
            (
                row["label"],
                row["kind"],
                NONE if row["blanket_per_user"] == 0 else nearest(row["blanket_per_user"]),
                nearest(row["messages_per_user"]),
                mean_and_error(row["mse_mean"], row["mse_stderr"]),
                nearest(row["mse_expected"]),
            )
            for row in rows
        ),
    )


def proven_table(results: Results) -> Table:
    """Tabulate what the proven protocol gains, one row per panel."""
    summary = results.summary
    head = (
        "panel",
        "published error",
        "our error",
        "published / ours",
        "messages",
        "best proven competitor",
        "its error / ours",
        "ours / curator",
    )
    rows = (
        (
            _panel_name(row, results),
            nearest(row["published"]),
            nearest(row["poisson"]),
            nearest(row["published_over_poisson"]),
            nearest(row["messages_poisson"]),
            look_of(row["best_competitor"], accounting="proven").label.removesuffix(" (proven)"),
            nearest(row["competitor_over_poisson"]),
            nearest(row["poisson_over_curator"]),
        )
        for row in summary.to_dict("records")
    )
    caption = (
        "Closed-form expected squared errors, each method at its best m and the same (ε, δ). The published protocol's "
        "guarantee is not proven; all others are. Curator: the Gaussian one with a weight per level."
    )
    return Table("proven-summary", caption, head, tuple(rows))


def copies_table(results: Results) -> Table:
    """Tabulate what whole copies gain within each budget of messages, one row per panel."""
    budgets = budgets_of(results.summary)
    rows = (
        (_panel_name(row, results), *(nearest(row[f"copies_{budget:g}_over_curator"]) for budget in budgets))
        for row in results.summary.to_dict("records")
    )
    caption = (
        "With whole copies instead of sampling: error over the weighted Gaussian curator's, within a budget of "
        "expected messages per user. Proven; closed forms."
    )
    return Table("copies-summary", caption, ("panel", *(f"≤ {budget:g}" for budget in budgets)), tuple(rows))


def audit_table(results: Results) -> Table:
    """Tabulate what the audit found, one row per population."""
    rows = []
    for key, points in audited(results.audit).groupby(POPULATION, sort=False):
        views = {view: worst_over_splits(found) for view, found in points.groupby("view")}
        ratio = {view: table["actual_user_epsilon"] / table["claimed_user_epsilon"] for view, table in views.items()}
        broken = broken_promises(points)
        rows.append(
            (
                _setting_name(dict(zip(POPULATION, key, strict=True)), results),
                count(len(ratio["published"])),
                at_least(ratio["others-concentrated"].max()),
                _ends(ratio["blanket-only"]),
                count(len(broken)),
                count(broken["reachable"].sum()),
                at_least((broken["proven_user_delta"] / broken["target_delta"]).max()) if len(broken) else NONE,
            )
        )
    head = (
        "population",
        "points (m, level)",
        "ε / claimed, the experiment's others (lower)",
        "ε / claimed, blanket alone (upper)",
        "points where δ provably exceeds the promise",
        "of these with the experiment's levels",
        "largest δ / promised δ there (lower)",
    )
    caption = (
        "The worst split of every point with sampling rate below 1. The two ε columns apply the paper's own group "
        "privacy to a view: the blanket alone is a proven upper bound, the experiment's others (all holding the same "
        "items) a lower view. Only the last three columns state that the guarantee itself fails."
    )
    return Table("audit-summary", caption, head, tuple(rows))


def referee_table(referee: pd.DataFrame) -> Table:
    """Tabulate what the referee found, one row per accountant and kind."""
    rows = []
    for (accountant, kind), found in referee.groupby(["accountant", "kind"], sort=False):
        tried = found[found["verdict"] != "not applicable"]
        fell = {word: int((tried["verdict"] == word).sum()) for word in ("violated", "sound so far", "vacuous")}
        worst = tried["many_epsilon_ratio"].max()
        rows.append((str(accountant), str(kind), count(len(tried)), *map(count, fell.values()), at_least(worst)))
    head = (
        "bound",
        "kind",
        "mechanisms tried",
        "violated in",
        "sound so far in",
        "never below the local guarantee in",
        "largest proven / claimed ε at large n (lower)",
    )
    caption = (
        "Every bound against a proven lower bound, by mechanism. Violated: the claim lies below what is proven. Sound "
        "so far: nothing on this grid refutes it, no more. A ratio above 1 is a violation."
    )
    return Table("referee-summary", caption, head, tuple(rows))


def runtime_table(results: Results) -> Table:
    """Time and memory per rule, slowest first."""
    rows = results.runtimes.sort_values(["seconds_total", "rule"], ascending=[False, True]).to_dict("records")
    head = ("rule", "jobs", "seconds in all", "longest job, seconds", "peak memory, MB")
    return Table(
        "runtimes",
        "Measured by Snakemake's benchmarks on the machine of the run; jobs too short to be sampled have no memory",
        head,
        tuple(
            (
                row["rule"],
                count(row["jobs"]),
                f"{row['seconds_total']:.1f}",
                f"{row['seconds_longest']:.1f}",
                NONE if pd.isna(row["peak_rss_mb"]) else count(row["peak_rss_mb"]),
            )
            for row in rows
        ),
    )


def provenance_tables(results: Results) -> tuple[Table, Table]:
    """Tabulate what the run was made of, and the hash of every figure, table and verdict."""
    record = results.provenance
    facts = [
        ("edition", record["edition"]),
        ("commit", record["commit"]),
        ("seed", str(record["seed"])),
        *(fact for name, data in record["data"].items() for fact in _data_facts(name, data)),
        *((f"version of {name}", version) for name, version in record["versions"].items()),
    ]
    made_of = Table("made-of", "What the run was made of", ("what", "value"), _text(facts))
    hashes = Table(
        "hashes", "SHA-256 of every figure, table and verdict", ("file", "SHA-256"), _text(record["outputs"].items())
    )
    return made_of, hashes


def _data_facts(name: str, data: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    label = dataset_label(name, "real")
    kind = "real" if data["kind"] == "real" else f"STAND-IN: {str(data['reason']).splitlines()[0]}"
    return (
        (f"{label} data", kind),
        (f"origin of the {label} data", data["origin"]),
        (f"SHA-256 of the {hashed_as(name)}{label} file", data["sha256"] or NONE),
    )


def _text(pairs: Iterable[tuple[Any, Any]]) -> tuple[tuple[str, ...], ...]:
    return tuple((str(name), str(value)) for name, value in pairs)


def _ends(ratio: pd.Series[float]) -> str:
    """Largest ratio, an upper bound; points without any finite bound are counted apart."""
    finite = ratio[ratio < float("inf")]
    unbounded = len(ratio) - len(finite)
    text = at_most(finite.max()) if len(finite) else NONE
    return f"{text}; no bound at {unbounded}" if unbounded else text


def _setting_name(row: dict[Any, Any], results: Results) -> str:
    name = dataset_label(str(row["dataset"]), results.sources[str(row["dataset"])])
    return f"{name}: n = {row['n_users']:,}, s = {row['set_size']}"


def _panel_name(row: dict[Any, Any], results: Results) -> str:
    return f"{_setting_name(row, results)}, {row['split']}"
