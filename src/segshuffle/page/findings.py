"""The run in short plain sentences; every number is taken from the run's tables when the page is made."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd

from segshuffle.page.results import Results
from segshuffle.page.tables import Verdict, tally, verdicts
from segshuffle.pipeline.numbers import at_least, at_most, count, nearest, percent
from segshuffle.studies.audit.report import audited, broken_promises, worst_over_splits
from segshuffle.studies.proven.report import budgets_of
from segshuffle.studies.reproduction.report import panels_of


class Chapter(NamedTuple):
    """One answer to one question of a reader."""

    title: str
    link: str
    link_text: str
    sentences: tuple[str, ...]
    statements: tuple[Verdict, ...] = ()


def chapters(results: Results) -> list[Chapter]:
    """List what was reproduced, what was not, what the audit found, and what the proven protocol gains."""
    chapters = [_came_out(results), _did_not(results), _audit(results), _proven(results)]
    return chapters if results.referee is None else [*chapters, _referee(results.referee)]


def _came_out(results: Results) -> Chapter:
    counts = tally(results.claims)
    sizes = (
        f"{counts['reproduced']} of {len(results.claims)} statements of the paper's evaluation were reproduced, "
        f"{counts['partly reproduced']} in part, and {counts['not reproduced']} not at all."
    )
    if counts.get("not evaluated") == len(results.claims):
        sizes = (
            f"None of the {len(results.claims)} statements of the paper's evaluation is about the data and sizes of "
            "this run, so none is judged."
        )
    elif "not evaluated" in counts:
        sizes += f" {counts['not evaluated']} could not be judged, because this run lacks their panels."
    panels = panels_of(results.errors)
    least = [float(panel.curve["mse_expected"].min()) for panel in panels]
    rivals = [
        float(rivals.loc[rivals["method"] != "inverse-variance-sepmm", "mse_expected"].min())
        for rivals in (panel.points("published") for panel in panels)
    ]
    saved = pd.Series([1.0 - ours / theirs for ours, theirs in zip(least, rivals, strict=True)])
    repetitions = count(results.errors["repetitions"].min())
    return Chapter(
        "What was reproduced",
        "#verdicts",
        "all verdicts",
        (
            sizes,
            f"At its best m the paper's protocol saves {percent(saved.mean())} of the strongest competitor's error on "
            f"average over {len(saved)} panels (from {percent(saved.min())} to {percent(saved.max())}).",
            f"Measured errors are means of {repetitions} repetitions; verdicts and ratios use their closed forms.",
        ),
    )


def _did_not(results: Results) -> Chapter:
    found = [row for row in verdicts(results.claims) if row.mark in ("no", "partly")]
    # the worst first
    found.sort(key=lambda row: row.mark != "no")
    judged = (results.claims["verdict"] != "not evaluated").any()
    every = "Every statement that was judged was reproduced." if judged else "No statement was judged."
    sentences = () if found else (every,)
    return Chapter("What was not reproduced", "#verdicts", "reasons, where known", sentences, tuple(found))


def _audit(results: Results) -> Chapter:
    points = audited(results.audit)
    views = {str(view): worst_over_splits(rows) for view, rows in points.groupby("view")}
    ratio = {view: table["actual_user_epsilon"] / table["claimed_user_epsilon"] for view, table in views.items()}
    alone = ratio["blanket-only"]
    finite = alone[alone < float("inf")]
    unbounded = len(alone) - len(finite)
    none = f", and no bound at all at {unbounded}" if unbounded else ""
    broken = broken_promises(points)
    sentences = [
        "The paper's proof follows two counters, but the server sees all of them and their sum. The guarantee is "
        "therefore called published here, not proven.",
        f"With the experiment's own users, all holding the same items, the ε of the paper's method reaches "
        f"{at_least(ratio['others-concentrated'].max(), digits=4)} times the claimed one, over {count(len(alone))} "
        "points (population, m, level).",
        f"A proof may count on the blanket alone, and the blanket alone gives up to {at_most(finite.max())} times the "
        f"claimed ε at some points{none}.",
    ]
    if len(broken):
        worst = (broken["proven_user_delta"] / broken["target_delta"]).max()
        sentences.append(
            f"At {count(len(broken))} points δ provably exceeds the promised δ, by a factor of up to "
            f"{at_least(worst)}; {count(broken['reachable'].sum())} of them with levels of the experiment, the others "
            "if other levels are allowed, as the theorem does."
        )
    else:
        sentences.append("No point was found at which δ provably exceeds the promised δ.")
    return Chapter("What the audit found", "#audit", "the audit", tuple(sentences))


def _proven(results: Results) -> Chapter:
    summary = results.summary
    gain, rival, curator = (
        summary[name] for name in ("published_over_poisson", "competitor_over_poisson", "poisson_over_curator")
    )
    # a competitor with the same plan differs by rounding only
    better = int((rival > 1.0 + 1e-6).sum())
    same = int(((rival - 1.0).abs() <= 1e-6).sum())
    worse = len(rival) - better - same
    sentences = [
        "A Poisson blanket makes the counters independent. Its accounting is exact and needs no group privacy.",
        f"At the same (ε, δ) the published protocol has {nearest(gain.min())} to {nearest(gain.max())} times the "
        f"error of ours ({len(summary)} panels).",
        f"Against the best proven competitor it has less error in {better} panels (up to {nearest(rival.max())} "
        f"times less) and the same in {same}{f'; in {worse} it has more' if worse else ''}.",
        f"A Gaussian curator would still be better: our error is {nearest(curator.min())} to "
        f"{nearest(curator.max())} times the curator's.",
    ]
    if budgets := budgets_of(summary):
        most = summary[f"copies_{budgets[-1]:g}_over_curator"]
        sentences.append(
            f"With whole copies and up to {budgets[-1]:g} messages per user that factor falls to "
            f"{nearest(most.min())} to {nearest(most.max())}."
        )
    return Chapter("What the proven protocol gains", "#proven", "the proven protocols", tuple(sentences))


def _referee(found: pd.DataFrame) -> Chapter:
    tried = found[found["verdict"] != "not applicable"]
    proven = tried[tried["kind"] == "upper"]
    refuted = []
    for accountant, rows in tried[tried["kind"] != "upper"].groupby("accountant", sort=False):
        broken = int((rows["verdict"] == "violated").sum())
        if broken:
            refuted.append(f"{accountant} ({broken} of {len(rows)})")
    listed = "; ".join(refuted) if refuted else "none"
    return Chapter(
        "What the referee found",
        "#referee",
        "the referee",
        (
            "Upper bounds for one shuffled message per user, proven and published, were held against proven lower "
            f"bounds on {count(found['case'].nunique())} mechanisms.",
            f"Bounds that are proven: {count(proven['violated'].sum())} violations in {count(proven['cells'].sum())} "
            f"comparisons; {count(proven['vacuous'].sum())} of them cannot fail, because the claim is no better than "
            "the local guarantee.",
            f"Published or asymptotic bounds that are refuted, with the number of mechanisms: {listed}.",
        ),
    )
