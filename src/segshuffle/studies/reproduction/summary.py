"""What the proven protocols gain: one row per panel, errors relative to one another."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from segshuffle.pipeline.design import ACCOUNTINGS
from segshuffle.pipeline.editions import remark

_PANEL = ["dataset", "n_users", "set_size", "split"]
#: What is not a competitor: the Poisson blanket, and whoever is trusted.
_OURS = ("poisson", "curator")


def proven_summary(table: pd.DataFrame, budgets: list[float]) -> pd.DataFrame:
    """Compare errors at the best m, one row per panel (closed forms, except after the projection).

    Parameters
    ----------
    table : DataFrame
        Rows of results/mse.csv, both accountings.
    budgets : list of float
        Budgets of messages per user whose errors are listed against the weighted curator's.
    """
    rows = []
    for key, both in table.groupby(_PANEL, sort=False):
        theirs, panel = (both[both["accounting"] == accounting] for accounting in ACCOUNTINGS)
        best = panel[panel["role"] == "best"].set_index("method")
        error = best["mse_expected"]
        ours, curator = error["poisson"], float(error["curator-weighted"])
        # the published protocol at its best m, on the grid or by optimizeParameter, whichever is lower
        drawn = theirs["role"].isin(["grid", "best"]) & (theirs["method"] == "segmented")
        published = float(theirs.loc[drawn, "mse_expected"].min())
        trusted = float(error[error.index.str.startswith("curator")].min())
        rivals = error[~error.index.str.startswith(_OURS)]
        roles = panel[panel["method"] == "poisson"].drop_duplicates("role").set_index("role")
        row: dict[str, Any] = {
            **dict(zip(_PANEL, key, strict=True)),
            "published": published,
            "poisson": ours,
            "published_over_poisson": published / ours,
            "messages_poisson": best.loc["poisson", "messages_per_user"],
            "best_competitor": rivals.idxmin(),
            "competitor_over_poisson": rivals.min() / ours,
            "poisson_over_curator": ours / curator,
            "curator_best_over_weighted": trusted / curator,
            # nan where a run does without recentring
            "recentred_over_poisson": roles["mse_expected"].get("recentred", math.nan) / ours,
            # Monte Carlo, after the projection over before, on the same random draws
            "projected_over_poisson": float(roles["mse_mean"]["projected"] / roles["mse_mean"]["best"]),
        }
        spent = panel[(panel["role"] == "budget") & (panel["method"] == "poisson-copies")].set_index("max_messages")
        for budget in budgets:
            row[f"copies_{budget:g}_over_curator"] = float(spent["mse_expected"][budget]) / curator
        rows.append(row)
    return pd.DataFrame(rows)


#: Column of the readable table -> what is in it, of a row of the summary.
_CELLS = {
    "panel": "{dataset} n={n_users} s={set_size} {split}",
    "published": "{published:.3g}",
    "poisson": "{poisson:.3g}",
    "ratio": "{published_over_poisson:.2f}x",
    "messages": "{messages_poisson:.1f}",
    "best competitor": "{best_competitor}",
    "its ratio": "{competitor_over_poisson:.2f}x",
    "recentred": "{recentred_over_poisson:.2f}",
    "projected": "{projected_over_poisson:.2f}",
    "best curator": "{curator_best_over_weighted:.2f}",
    "sampling / curator": "{poisson_over_curator:.2f}",
}
_READING = (
    "Closed-form expected squared errors, each method at its best m; the published protocol's guarantee is not proven, "
    "all others are. The curator that errors are divided by is Gaussian with a weight per level; best curator: the "
    "least error of all trusted curators, over its error. With copies: within a budget of messages per user. "
    "Recentred, projected: error of our estimate after moving it to sum to s (closed form), or after projection onto "
    "possible frequencies (Monte Carlo), over the error before; nothing else uses them."
)


def readable(summary: pd.DataFrame, table: pd.DataFrame, *, budgets: list[float], edition: str) -> str:
    """Write the summary to read, given the table of all panels, which names the sources of the data."""
    said, sources = remark(edition), dict(zip(table["dataset"], table["source"], strict=True))
    lines = ["# Proven accounting: errors at the same (epsilon, delta)", "", *([said, ""] if said else [])]
    lines += ["Data: " + ", ".join(f"{name} ({source})" for name, source in sources.items()) + ".", "", _READING, ""]
    copies = {f"copies, {budget:g} messages / curator": f"copies_{budget:g}_over_curator" for budget in budgets}
    lines += [f"| {' | '.join([*_CELLS, *copies])} |", "|" + "---|" * (len(_CELLS) + len(copies))]
    for row in summary.to_dict("records"):
        cells = [cell.format_map(row) for cell in _CELLS.values()] + [f"{row[name]:.2f}" for name in copies.values()]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
