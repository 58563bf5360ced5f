"""The run in short plain sentences; every number is taken from the run's tables when the page is made."""

from typing import Any

import pandas as pd

from segshuffle.page.tables import audit_numbers, tally
from segshuffle.pipeline.numbers import at_least, at_most, count, nearest, percent
from segshuffle.studies.audit.report import audited
from segshuffle.studies.reproduction.report import budgets_of, panels_of


def missed(claims: pd.DataFrame) -> list[dict[Any, Any]]:
    """Return the rows of statements that were not reproduced, and then of those that were in part."""
    found = pd.concat(claims[claims["verdict"] == verdict] for verdict in ("not reproduced", "partly reproduced"))
    return found.to_dict("records")


def reproduced(claims: pd.DataFrame, errors: pd.DataFrame) -> list[str]:
    """Say how many statements came out, and what the paper's protocol saves."""
    counts = tally(claims)
    sizes = (
        f"{counts['reproduced']} of {len(claims)} statements of the paper's evaluation were reproduced, "
        f"{counts['partly reproduced']} in part, and {counts['not reproduced']} not at all."
    )
    if counts.get("not evaluated") == len(claims):
        sizes = (
            f"None of the {len(claims)} statements of the paper's evaluation is about the data and sizes of this run, "
            "so none is judged."
        )
    elif "not evaluated" in counts:
        sizes += f" {counts['not evaluated']} could not be judged, because this run lacks their panels."
    saved = []
    for panel in panels_of(errors):
        rivals = panel.points("published").query("method != 'inverse-variance-sepmm'")
        saved.append(1.0 - float(panel.curve["mse_expected"].min()) / float(rivals["mse_expected"].min()))
    return [
        sizes,
        f"At its best m the paper's protocol saves {percent(sum(saved) / len(saved))} of the strongest competitor's "
        f"error on average over {len(saved)} panels (from {percent(min(saved))} to {percent(max(saved))}).",
        f"Measured errors are means of {count(errors['repetitions'].min())} repetitions; verdicts and ratios use "
        "closed forms.",
    ]


def audit(audit: pd.DataFrame) -> list[str]:
    """Say what the audit found."""
    found = audit_numbers(audited(audit))
    none = f", and no bound at all at {found['unbounded']}" if found["unbounded"] else ""
    broken = "No point was found at which δ provably exceeds the promised δ."
    if found["broken"]:
        broken = (
            f"At {count(found['broken'])} points δ provably exceeds the promised δ, by a factor of up to "
            f"{at_least(found['excess'])}. Number of these points with the levels of the experiment: "
            f"{count(found['reachable'])}. The others need other levels, which the theorem allows."
        )
    return [
        "The paper's proof is about two counters, but the server sees all of them and their sum. So the guarantee "
        "is called published here, not proven.",
        f"If the experiment's users all hold the same items, the ε of the paper's method reaches "
        f"{at_least(found['concentrated'], digits=4)} times the claimed one, over {count(found['points'])} points "
        "(population, m, level).",
        f"A proof for all other users can rely on the blanket alone, which gives up to {at_most(found['alone'])} times "
        f"the claimed ε at some points{none}.",
        broken,
    ]


def proven(summary: pd.DataFrame) -> list[str]:
    """Say what the proven protocol gains."""
    gain, rival, curator = (
        summary[name] for name in ("published_over_poisson", "competitor_over_poisson", "poisson_over_curator")
    )
    # a competitor with the same plan differs by rounding only
    better, worse = int((rival > 1.0 + 1e-6).sum()), int((rival < 1.0 - 1e-6).sum())
    sentences = [
        "A Poisson blanket makes the counters independent. Its accounting is exact and needs no group privacy.",
        f"At the same (ε, δ) the published protocol has {nearest(gain.min())} to {nearest(gain.max())} times the "
        f"error of ours ({len(summary)} panels).",
        f"Against the best proven competitor ours has less error in {better} panels (up to {nearest(rival.max())} "
        f"times less) and the same in {len(rival) - better - worse}{f'; in {worse} it has more' if worse else ''}.",
        f"A Gaussian curator would still be better: our error is {nearest(curator.min())} to "
        f"{nearest(curator.max())} times the curator's.",
    ]
    if budgets := budgets_of(summary):
        most = summary[f"copies_{budgets[-1]:g}_over_curator"]
        sentences.append(
            f"With whole copies and up to {budgets[-1]:g} messages per user this factor falls to "
            f"{nearest(most.min())} to {nearest(most.max())}."
        )
    return sentences


def referee(verdicts: pd.DataFrame) -> list[str]:
    """Say which bounds for one message the referee refuted."""
    tried = verdicts[verdicts["verdict"] != "not applicable"]
    proven = tried[tried["kind"] == "upper"]
    refuted = [
        f"{accountant} ({broken} of {len(rows)})"
        for accountant, rows in tried[tried["kind"] != "upper"].groupby("accountant", sort=False)
        if (broken := int((rows["verdict"] == "violated").sum()))
    ]
    return [
        "Upper bounds for one shuffled message per user, proven and published, were compared with proven lower "
        f"bounds for {count(verdicts['case'].nunique())} mechanisms.",
        f"Proven bounds have {count(proven['violated'].sum())} violations in {count(proven['cells'].sum())} "
        f"comparisons. {count(proven['vacuous'].sum())} of these comparisons cannot fail, because the claim is no "
        "better than the local guarantee.",
        "Published or asymptotic bounds that are refuted, with the number of mechanisms: "
        f"{'; '.join(refuted) or 'none'}.",
    ]
