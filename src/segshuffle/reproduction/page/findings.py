"""The run in short plain sentences; every number is taken from the run's tables when the page is made."""

from typing import Any

import pandas as pd

from segshuffle.plans.registry import paper_competitors
from segshuffle.reproduction.numbers import at_least, count, nearest
from segshuffle.reproduction.page.tables import audit_numbers
from segshuffle.reproduction.studies.audit.report import audited
from segshuffle.reproduction.studies.panels.report import budgets_of, panels_of
from segshuffle.reproduction.studies.verdicts import counted


def missed(claims: pd.DataFrame) -> list[dict[Any, Any]]:
    """Return the rows of statements that were not reproduced, and then of those that were in part."""
    failed = claims[claims["verdict"].isin(["not reproduced", "partly reproduced"])]
    return failed.sort_values("verdict", kind="stable").to_dict("records")


def reproduced(claims: pd.DataFrame, errors: pd.DataFrame) -> list[str]:
    """Say how many statements were reproduced, and what the paper's protocol saves if one of its competitors ran."""
    saved = []
    for panel in panels_of(errors):
        points = panel.points("published")
        rivals = points[points["method"].isin(paper_competitors())]["mse_expected"]
        if len(rivals):
            saved.append(1.0 - float(panel.curve["mse_expected"].min()) / float(rivals.min()))
    story = [f"{len(claims)} statements of the paper's evaluation: {counted(claims)}."]
    if saved:
        story.append(
            f"At its best m the paper's protocol saves {sum(saved) / len(saved):.1%} of the error of "
            f"the paper's strongest competitor, on average over {len(saved)} panels (from {min(saved):.1%} to "
            f"{max(saved):.1%})."
        )
    repetitions = count(errors["repetitions"].min())
    return [*story, f"Measured errors are means of {repetitions} repetitions; verdicts and savings use closed forms."]


def audit(audit: pd.DataFrame) -> list[str]:
    """Say what the audit found."""
    numbers = audit_numbers(audited(audit))
    excess = ""
    if numbers["broken"]:
        excess = (
            f", by a factor of up to {at_least(numbers['excess'])}. Number of these points with the levels of the "
            f"experiment: {count(numbers['reachable'])}. The others need other levels, which the theorem allows"
        )
    return [
        "The paper's proof is about the counts of two items, but the server sees the counts of all items and their "
        "sum. So the guarantee is called published here, not proven.",
        f"At {count(numbers['broken'])} of {count(numbers['points'])} points (population, m, level) δ provably exceeds "
        f"the promised δ{excess}.",
    ]


def proven(summary: pd.DataFrame) -> list[str]:
    """Say what the proven protocol gains."""

    def times(column: str) -> str:
        return f"{nearest(summary[column].min())} to {nearest(summary[column].max())} times"

    return [
        "A Poisson blanket makes the counts of items independent. Its accounting is exact and needs no group privacy.",
        f"At the same (ε, δ) the published protocol has {times('published_over_poisson')} the error of ours, and the "
        f"best proven competitor {times('competitor_over_poisson')} ({len(summary)} panels of "
        f"{', '.join(summary['dataset'].unique())}).",
        f"A trusted curator with Gaussian noise is still better: our error is {times('poisson_over_curator')} the "
        "curator's.",
        *(
            f"With copies (several messages about a held item) and up to {budget:g} messages per user our error is "
            f"{times(f'copies_{budget:g}_over_curator')} the curator's."
            for budget in budgets_of(summary)[-1:]
        ),
    ]


def referee(verdicts: pd.DataFrame) -> list[str]:
    """Say which bounds for one message the referee refuted."""
    tried = verdicts[verdicts["verdict"] != "not applicable"]
    proven = tried[tried["kind"] == "upper"]
    refuted = tried[(tried["kind"] != "upper") & (tried["verdict"] == "violated")]["accountant"]
    broken = [f"{accountant} ({number})" for accountant, number in refuted.value_counts(sort=False).items()]
    return [
        "Upper bounds for one shuffled message per user, proven and published, were compared with proven lower "
        f"bounds for {count(verdicts['case'].nunique())} mechanisms.",
        f"Proven bounds have {count(proven['violated'].sum())} violations in {count(proven['cells'].sum())} "
        "comparisons.",
        "Published or asymptotic bounds that are refuted, with the number of mechanisms: "
        f"{'; '.join(broken) or 'none'}.",
    ]
