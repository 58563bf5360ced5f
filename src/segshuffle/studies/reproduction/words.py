"""What the figures of the panels show, in words for readers who do not see them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from segshuffle.pipeline.design import ACCOUNTINGS
from segshuffle.pipeline.numbers import nearest
from segshuffle.studies.reproduction.named_panels import Panel, panels_by_figure, panels_of
from segshuffle.studies.reproduction.summary import budgets_of


def words(figure: str, tables: Mapping[str, pd.DataFrame]) -> str | None:
    """Describe least errors panel by panel, or what the summaries say of all of them."""
    if figure == "messages-proven":
        return _messages(tables["proven-summary.csv"])
    errors = tables["mse.csv"]
    if figure == "summary":
        return _summary(panels_of(errors))
    describe = _least_proven if figure.endswith("-proven") else _least
    panels = panels_by_figure(errors).get(figure.removesuffix("-proven"))
    if panels is None:
        return None
    head = "Line charts of squared error over blanket messages per user m, both axes logarithmic. "
    return head + " ".join(describe(panel) for panel in panels)


def _least(panel: Panel) -> str:
    curve = panel.curve
    best = curve.iloc[int(curve["mse_expected"].argmin())]
    (first, m_first), (least, m_least), (last, m_last) = (
        (nearest(row["mse_mean"], digits=2), f"m = {row['blanket_per_user']:g}")
        for row in (curve.iloc[0], best, curve.iloc[-1])
    )
    return (
        f"({panel.letter}) {panel.name}. The segmented protocol's error goes from {first} at {m_first} to its least, "
        f"{least} at {m_least}, and to {last} at {m_last}. Level lines, lowest first: {_rivals(panel, 'published')}."
    )


def _rivals(panel: Panel, accounting: str) -> str:
    looks = panel.looks(accounting)
    return ", ".join(
        f"{looks[row['method']].label} {nearest(row['mse_mean'], digits=2)}"
        for row in panel.points(accounting).to_dict("records")
    )


def _least_proven(panel: Panel) -> str:
    parts = []
    for accounting in ACCOUNTINGS:
        for name, rows in panel.curves(accounting).items():
            best = rows.iloc[int(rows["mse_expected"].argmin())]
            label = panel.looks(accounting)[name].label
            parts.append(f"{label}: {nearest(best['mse_mean'], digits=2)} at m = {best['blanket_per_user']:g}")
    said, rivals = "; ".join(parts), _rivals(panel, "proven")
    return f"({panel.letter}) {panel.name}. Least errors: {said}. Level lines, lowest first: {rivals}."


def _summary(panels: Sequence[Panel]) -> str:
    ratios = {
        panel.name: float(panel.points("published")["mse_expected"].iloc[0] / panel.curve["mse_expected"].min())
        for panel in panels
    }
    ordered = sorted(ratios, key=lambda name: ratios[name])
    low, high = (f"{name} ({nearest(ratios[name])})" for name in (ordered[0], ordered[-1]))
    return (
        f"Dot chart with a row for each of {len(panels)} panels: error of every competitor over the least error of the "
        f"segmented protocol, logarithmic. The strongest competitor's ratio is smallest on {low} and largest on {high}."
    )


def _messages(summary: pd.DataFrame) -> str:
    said = []
    for budget in budgets_of(summary):
        ratio = summary[f"copies_{budget:g}_over_curator"]
        said.append(f"{budget:g} messages: {nearest(ratio.min())} to {nearest(ratio.max())}")
    return (
        f"Line charts of error over the Gaussian curator's, against messages per user, {len(summary)} panels. All "
        "curves fall towards 1. With copies, range over the panels: " + "; ".join(said) + "."
    )
