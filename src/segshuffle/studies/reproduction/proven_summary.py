"""What the proven protocols gain: one row per panel, errors relative to one another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

PANEL = ["dataset", "n_users", "set_size", "split"]
OURS = ("sound-group", "tight", "tight-copies")


def summarise_tight(tight: pd.DataFrame, published: pd.DataFrame, budgets: list[float]) -> pd.DataFrame:
    """One row per panel: errors at the best m and what they are relative to one another (closed-form errors).

    Parameters
    ----------
    tight : DataFrame
        Rows of results/tight.csv.
    published : DataFrame
        Rows of results/mse.csv.
    budgets : list of float
        Budgets of messages per user whose errors are listed against the weighted curator's.
    """
    rows = []
    for key, panel in tight.groupby(PANEL, sort=False):
        theirs = published[(published[PANEL] == list(key)).all(axis=1)]
        rows.append({**dict(zip(PANEL, key, strict=True)), **_summary_of(panel, theirs, budgets)})
    return pd.DataFrame(rows)


def _summary_of(panel: pd.DataFrame, theirs: pd.DataFrame, budgets: list[float]) -> dict[str, Any]:
    best = panel[panel["role"] == "best"].set_index("method")
    error = best["mse_expected"]
    # the published protocol at its best m, on the grid or by optimizeParameter, whichever is lower
    published = float(theirs.loc[theirs["method"] == "segmented", "mse_expected"].min())
    spent = panel[(panel["role"] == "budget") & (panel["method"] == "tight-copies")].set_index("max_messages")
    rivals = error[[name for name in error.index if name not in OURS and not name.startswith("curator")]]
    row: dict[str, Any] = {
        "published": published,
        "sound_group": error["sound-group"],
        "tight": error["tight"],
        "published_over_tight": published / error["tight"],
        "messages_tight": best.loc["tight", "messages_per_user"],
        "best_competitor": rivals.idxmin(),
        "competitor_over_tight": rivals.min() / error["tight"],
        "curator_weighted": error["curator-weighted"],
        "curator_uniform": error["curator-uniform"],
        "tight_over_curator": error["tight"] / error["curator-weighted"],
        "projected_over_tight": _projection_effect(panel),
    }
    curator = float(error["curator-weighted"])
    for budget in budgets:
        row[f"copies_{budget:g}_over_curator"] = float(spent["mse_expected"][budget]) / curator
        row[f"messages_copies_{budget:g}"] = float(spent["messages_per_user"][budget])
    return row


def _projection_effect(panel: pd.DataFrame) -> float:
    """Monte Carlo error after projection over the error before, on the same random draws."""
    tight = panel[panel["method"] == "tight"].set_index("role")["mse_mean"]
    return float(tight["projected"] / tight["best"])


def summary_markdown(summary: pd.DataFrame, budgets: list[float], *, edition: str, sources: Mapping[str, str]) -> str:
    """Readable form of the summary."""
    lines = ["# Proven and tight: errors at the same (epsilon, delta)", ""]
    if edition != "full":
        lines += [f"This is a **{edition}** run, not a result.", ""]
    lines += ["Data: " + ", ".join(f"{name} ({source})" for name, source in sources.items()) + ".", ""]
    lines += [
        "Closed-form expected squared errors, each method at its best m; the published protocol's guarantee is not "
        "proven, all others are. With copies: the error over the weighted trusted curator's, within a budget of "
        "messages per user. Projected: error of the tight estimate after projection onto possible frequencies, over "
        "the error before (Monte Carlo; an extra that no other number uses).",
        "",
        "| panel | published | tight | ratio | messages | best competitor | its ratio | projected "
        "| sampling / curator | " + " | ".join(f"copies, {budget:g} messages / curator" for budget in budgets) + " |",
        "|---|---|---|---|---|---|---|---|---|" + "---|" * len(budgets),
    ]
    for row in summary.to_dict("records"):
        spent = " | ".join(f"{row[f'copies_{budget:g}_over_curator']:.2f}" for budget in budgets)
        lines.append(
            f"| {row['dataset']} n={row['n_users']} s={row['set_size']} {row['split']} | {row['published']:.3g} | "
            f"{row['tight']:.3g} | {row['published_over_tight']:.2f}x | {row['messages_tight']:.1f} | "
            f"{row['best_competitor']} | {row['competitor_over_tight']:.2f}x | "
            f"{row['projected_over_tight']:.2f} | {row['tight_over_curator']:.2f} | "
            f"{spent} |"
        )
    return "\n".join(lines) + "\n"
