"""What the proven protocols gain: one row per panel, errors relative to one another."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import pandas as pd

from segshuffle.pipeline.editions import remark
from segshuffle.studies.reproduction.aggregate import PANEL

#: What is not a competitor: the Poisson blanket, and whoever is trusted.
_OURS = ("poisson", "curator")


def proven_summary(table: pd.DataFrame, budgets: list[float]) -> pd.DataFrame:
    """One row per panel: errors at the best m and what they are relative to one another (closed-form errors).

    Parameters
    ----------
    table : DataFrame
        Rows of results/mse.csv, both accountings.
    budgets : list of float
        Budgets of messages per user whose errors are listed against the weighted curator's.
    """
    return pd.DataFrame(
        [
            {**dict(zip(PANEL, key, strict=True)), **_summary_of(panel, budgets)}
            for key, panel in table.groupby(PANEL, sort=False)
        ]
    )


def _summary_of(both: pd.DataFrame, budgets: list[float]) -> dict[str, Any]:
    panel, theirs = (both[both["accounting"] == accounting] for accounting in ("proven", "published"))
    best = panel[panel["role"] == "best"].set_index("method")
    error = best["mse_expected"]
    # the published protocol at its best m, on the grid or by optimizeParameter, whichever is lower
    drawn = theirs["role"].isin(["grid", "best"])
    published = float(theirs.loc[drawn & (theirs["method"] == "segmented"), "mse_expected"].min())
    spent = panel[(panel["role"] == "budget") & (panel["method"] == "poisson-copies")].set_index("max_messages")
    curators = error[[name for name in error.index if name.startswith("curator")]]
    rivals = error[[name for name in error.index if not name.startswith(_OURS)]]
    row: dict[str, Any] = {
        "published": published,
        "poisson_group": error["poisson-group"],
        "poisson": error["poisson"],
        "published_over_poisson": published / error["poisson"],
        "messages_poisson": best.loc["poisson", "messages_per_user"],
        "best_competitor": rivals.idxmin(),
        "competitor_over_poisson": rivals.min() / error["poisson"],
        "curator_weighted": error["curator-weighted"],
        "curator_uniform": error["curator-uniform"],
        "poisson_over_curator": error["poisson"] / error["curator-weighted"],
        "curator_best": float(curators.min()),
        "curator_best_over_weighted": float(curators.min()) / error["curator-weighted"],
        "recentred_over_poisson": _recentred(panel) / error["poisson"],
        "projected_over_poisson": _projection_effect(panel),
    }
    curator = float(error["curator-weighted"])
    for budget in budgets:
        row[f"copies_{budget:g}_over_curator"] = float(spent["mse_expected"][budget]) / curator
        row[f"messages_copies_{budget:g}"] = float(spent["messages_per_user"][budget])
    return row


def _recentred(panel: pd.DataFrame) -> float:
    """Closed-form error of our recentred estimate; nan if the run does without."""
    rows = panel[(panel["method"] == "poisson") & (panel["role"] == "recentred")]
    return float(rows["mse_expected"].item()) if len(rows) else math.nan


def _projection_effect(panel: pd.DataFrame) -> float:
    """Monte Carlo error after projection over the error before, on the same random draws."""
    poisson = panel[panel["method"] == "poisson"].set_index("role")["mse_mean"]
    return float(poisson["projected"] / poisson["best"])


def summary_markdown(summary: pd.DataFrame, budgets: list[float], *, edition: str, sources: Mapping[str, str]) -> str:
    """Readable form of the summary."""
    lines = ["# Proven accounting: errors at the same (epsilon, delta)", ""]
    if said := remark(edition):
        lines += [said, ""]
    lines += ["Data: " + ", ".join(f"{name} ({source})" for name, source in sources.items()) + ".", ""]
    lines += [
        "Closed-form expected squared errors, each method at its best m; the published protocol's guarantee is not "
        "proven, all others are. The curator that errors are divided by is Gaussian with a weight per level; best "
        "curator: the least error of all trusted curators, over its error. With copies: within a budget of "
        "messages per user. Recentred, projected: error of our estimate after moving it to sum to s (closed form), "
        "or after projection onto possible frequencies (Monte Carlo), over the error before; nothing else uses them.",
        "",
        "| panel | published | poisson | ratio | messages | best competitor | its ratio | recentred | projected "
        "| best curator | sampling / curator | "
        + " | ".join(f"copies, {budget:g} messages / curator" for budget in budgets)
        + " |",
        "|---|---|---|---|---|---|---|---|---|---|---|" + "---|" * len(budgets),
    ]
    for row in summary.to_dict("records"):
        spent = " | ".join(f"{row[f'copies_{budget:g}_over_curator']:.2f}" for budget in budgets)
        lines.append(
            f"| {row['dataset']} n={row['n_users']} s={row['set_size']} {row['split']} | {row['published']:.3g} | "
            f"{row['poisson']:.3g} | {row['published_over_poisson']:.2f}x | {row['messages_poisson']:.1f} | "
            f"{row['best_competitor']} | {row['competitor_over_poisson']:.2f}x | "
            f"{row['recentred_over_poisson']:.2f} | {row['projected_over_poisson']:.2f} | "
            f"{row['curator_best_over_weighted']:.2f} | {row['poisson_over_curator']:.2f} | {spent} |"
        )
    return "\n".join(lines) + "\n"


def readable(summary: pd.DataFrame, table: pd.DataFrame, *, budgets: list[float], edition: str) -> str:
    """Readable form of the summary, given the table of all panels."""
    sources = dict(zip(table["dataset"], table["source"], strict=True))
    return summary_markdown(summary, budgets, edition=edition, sources=sources)


def budgets_of(summary: pd.DataFrame) -> list[float]:
    """Budgets of messages per user in the columns of proven-summary.csv, ascending."""
    found = (re.fullmatch(r"copies_(.+)_over_curator", str(name)) for name in summary.columns)
    return sorted(float(match.group(1)) for match in found if match)
