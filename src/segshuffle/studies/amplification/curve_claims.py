"""Verdicts on the statements of the amplification papers, from the tidy tables and nothing else.

Every statement is an entry of config/reference/claims-amplification.yaml: paper, place, what it says, the rule that
evaluates it and the rule's arguments. A *saving* of one accountant over another is 1 - epsilon/epsilon'. Which numbers
are compared, published or proven, is part of the arguments and of what is printed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from segshuffle.pipeline import judging
from segshuffle.pipeline.judging import NOT, PARTLY, REPRODUCED, Finding, NotRunError
from segshuffle.studies.amplification.exhibits import FIGURES, PAPERS

#: Points of a curve from which on it is judged: what is said of it may hold between fewer only by chance.
LEAST_POINTS = 12

Values = np.ndarray[Any, np.dtype[np.float64]]


class Curves:
    """All tidy tables; epsilons of accountants side by side, point by point.

    `points` is the number of points of every curve: too few do not tell what is said of a whole curve.
    """

    def __init__(self, table: pd.DataFrame, points: int = LEAST_POINTS) -> None:
        self._points = points
        known = [json.loads(text) for text in table["parameters"]]
        self._table = table.assign(epsilon=[each.get("epsilon", np.nan) for each in known], known=known)

    def rows(self, figure: str) -> pd.DataFrame:
        """Rows of one figure."""
        rows = self._table[self._table["figure"] == figure]
        if rows.empty:
            raise NotRunError(f"{figure} did not run")
        if figure in FIGURES and self._points < LEAST_POINTS:
            raise NotRunError(f"the curves of {figure} have {self._points} points, fewer than {LEAST_POINTS}")
        return rows

    def side_by_side(self, figures: Sequence[str], accountants: Sequence[str]) -> pd.DataFrame:
        """Epsilon of each accountant at every point where all were asked: one row per (figure, panel, curve, x)."""
        parts = []
        for figure in figures:
            rows = self.rows(figure)
            wide = rows[rows["accountant"].isin(accountants)].pivot_table(
                index=["figure", "panel", "curve", "x"], columns="accountant", values="epsilon", sort=False
            )
            parts.append(wide.reindex(columns=list(accountants)).dropna())
        found = pd.concat(parts)
        if found.empty:
            raise NotRunError(f"no point of {', '.join(figures)} has all of {', '.join(accountants)}")
        return found

    def savings(self, figures: Sequence[str], ours: str, against: Sequence[str]) -> pd.Series[float]:
        """1 - epsilon of `ours` over the least epsilon of `against`, point by point."""
        wide = self.side_by_side(figures, [ours, *against])
        return 1 - wide[ours] / wide[list(against)].min(axis=1)


def _by_share(held: Values | list[bool]) -> str:
    return REPRODUCED if all(held) else (PARTLY if any(held) else NOT)


def _where(series: pd.Series[float], *, largest: bool) -> str:
    """Value and place of an extreme."""
    place: Any = series.idxmax() if largest else series.idxmin()
    figure, panel, curve, x = place
    return f"{float(series[place]):.2%} ({figure}, {str(panel).replace('$', '')}, {curve}, x = {x:g})"


def saving_at_least(curves: Curves, *, figures: list[str], ours: str, against: list[str], stated: float) -> Finding:
    """The saving over the best of the others reaches the stated share at every point; partly at some points."""
    saved = curves.savings(figures, ours, against)
    held = saved >= stated
    found = (
        f"{ours} against the best of {', '.join(against)}: {int(held.sum())} of {len(held)} points; least "
        f"{_where(saved, largest=False)}, median {saved.median():.1%}"
    )
    return Finding(found, _by_share(list(held)))


def saving_up_to(
    curves: Curves, *, figures: list[str], ours: str, against: list[str], stated: float, tolerance: float
) -> Finding:
    """The largest saving over the best of the others is within the tolerance of the stated one; partly if above it."""
    saved = curves.savings(figures, ours, against)
    top = float(saved.max())
    verdict = REPRODUCED if abs(top - stated) <= tolerance else (PARTLY if top > stated else NOT)
    return Finding(f"{ours} against the best of {', '.join(against)}: largest {_where(saved, largest=True)}", verdict)


def saving_about(
    curves: Curves, *, figures: list[str], ours: str, against: list[str], stated: float, tolerance: float
) -> Finding:
    """The median saving is within the tolerance of the stated one; partly if the saving at some point is."""
    saved = curves.savings(figures, ours, against)
    return _about(saved, f"{ours} against the best of {', '.join(against)}", stated, tolerance)


def _about(saved: pd.Series[float], what: str, stated: float, tolerance: float) -> Finding:
    near = (saved - stated).abs() <= tolerance
    median = float(saved.median())
    verdict = REPRODUCED if abs(median - stated) <= tolerance else (PARTLY if near.any() else NOT)
    found = (
        f"{what}: median {median:.1%}, from {_where(saved, largest=False)} to {_where(saved, largest=True)}; "
        f"{int(near.sum())} of {len(near)} points within {tolerance:.0%} of it"
    )
    return Finding(found, verdict)


def saving_between(
    curves: Curves, *, figures: list[str], ours: str, against: list[str], low: float, high: float
) -> Finding:
    """The saving over each of the others lies in the stated range at every point; partly at some points."""
    parts, held = [], []
    for other in against:
        saved = curves.savings(figures, ours, [other])
        inside = (saved >= low) & (saved <= high)
        held += list(inside)
        parts.append(
            f"against {other} {int(inside.sum())} of {len(inside)} points, from {saved.min():.1%} to {saved.max():.1%}"
        )
    return Finding(f"{ours}: " + "; ".join(parts), _by_share(held))


def claimed_saving_about(curves: Curves, *, figures: list[str], ours: str, stated: float, tolerance: float) -> Finding:
    """The median saving over the original analysis is within the tolerance of the stated one; partly if some is."""
    return _about(_claimed(curves, figures, ours), f"{ours} against the original analysis", stated, tolerance)


def claimed_saving_above(curves: Curves, *, figures: list[str], ours: list[str], stated: float) -> Finding:
    """The saving over the original analysis is above the stated one at every point; partly at some points."""
    parts, held = [], []
    for name in ours:
        saved = _claimed(curves, figures, name)
        held += list(saved > stated)
        parts.append(
            f"{name}: {int((saved > stated).sum())} of {len(saved)} points, least {_where(saved, largest=False)}"
        )
    return Finding("; ".join(parts), _by_share(held))


def _claimed(curves: Curves, figures: list[str], ours: str) -> pd.Series[float]:
    """Saving over the epsilon of the abscissa, which is what the original analysis proves."""
    wide = curves.side_by_side(figures, [ours])[ours]
    return 1 - wide / wide.index.get_level_values("x")


def gap_small(
    curves: Curves, *, figures: list[str], upper: str, lower: str, within: float, share: float, x_from: float = 0.0
) -> Finding:
    """Upper over lower bound is within the stated distance of 1 at the stated share of the points; partly at some."""
    wide = curves.side_by_side(figures, [upper, lower])
    wide = wide[wide.index.get_level_values("x") >= x_from]
    gap = wide[upper] / wide[lower] - 1
    small = gap <= within
    verdict = REPRODUCED if small.mean() >= share else (PARTLY if small.any() else NOT)
    found = f"{upper} over {lower}: {int(small.sum())} of {len(small)} points within {100 * within:g} %"
    return Finding(f"{found}; median {gap.median():.2%}, largest {_where(gap, largest=True)}", verdict)


def never_excluded(curves: Curves, *, figures: list[str], claimed: str, lower: str) -> Finding:
    """The claimed upper bound, rounded up, is nowhere below a proven lower one, rounded down; one point refutes it."""
    wide = curves.side_by_side(figures, [claimed, lower])
    excess = wide[lower] / wide[claimed] - 1
    refuted = int((excess > 0).sum())
    found = f"{claimed} is below {lower} at {refuted} of {len(excess)} points"
    if refuted:
        found += f"; most by {_where(excess, largest=True)}"
    return Finding(found, NOT if refuted else REPRODUCED)


def ordered(curves: Curves, *, figures: list[str], accountant: str, order: list[str], tolerance: float) -> Finding:
    """Epsilon does not fall from one curve to the next, up to the tolerance, at every x; partly at some."""
    held, least = [], np.inf
    for figure in figures:
        rows = curves.rows(figure)
        rows = rows[rows["accountant"] == accountant]
        wide = rows.pivot_table(index=["panel", "x"], columns="curve", values="epsilon")[order].dropna()
        for low, high in pairwise(order):
            ratio = wide[high] / wide[low]
            held += list(ratio >= 1 - tolerance)
            least = min(least, float(ratio.min()))
    return Finding(
        f"{accountant}, {' <= '.join(order)}: {sum(held)} of {len(held)} comparisons; least ratio {least:.4f}",
        _by_share(held),
    )


def composition_helps(curves: Curves, *, figure: str, sizes: list[str], accountant: str) -> Finding:
    """At equal total budget epsilon falls with the number of composed randomizers, at every x; partly at some."""
    rows = curves.rows(figure)
    rows = rows[rows["accountant"] == accountant]
    rows = rows.assign(name=[panel.split(",")[0] for panel in rows["panel"]])
    wide = rows.pivot_table(index=["name", "x"], columns="curve", values="epsilon")[sizes].dropna()
    held, ratios = [], []
    for fewer, more in pairwise(sizes):
        ratio = wide[more] / wide[fewer]
        held += list(ratio < 1)
        place: Any = ratio.idxmax()
        worst = f"{ratio.max():.3f} ({place[0]}, x = {place[1]:g})"
        ratios.append(f"{fewer} to {more}: ratio {ratio.median():.3f} in the median, at most {worst}")
    return Finding(f"{sum(held)} of {len(held)} comparisons; " + ", ".join(ratios), _by_share(held))


def between(curves: Curves, *, figure: str, accountant: str, inner: str, outer: list[str], tolerance: float) -> Finding:
    """The inner curve lies between the outer two, up to the tolerance, at every x; partly at some."""
    rows = curves.rows(figure)
    rows = rows[rows["accountant"] == accountant]
    wide = rows.pivot_table(index=["panel", "x"], columns="curve", values="epsilon")[[inner, *outer]].dropna()
    low, high = wide[outer].min(axis=1), wide[outer].max(axis=1)
    held = (wide[inner] >= low * (1 - tolerance)) & (wide[inner] <= high * (1 + tolerance))
    return Finding(
        f"{inner} between {' and '.join(outer)}: {int(held.sum())} of {len(held)} points", _by_share(list(held))
    )


def converges(curves: Curves, *, figure: str, accountant: str, limit: str, sizes: list[str], within: float) -> Finding:
    """The named curves are within the share of the limit at every x."""
    rows = curves.rows(figure)
    rows = rows[rows["accountant"] == accountant]
    wide = rows.pivot_table(index=["panel", "x"], columns="curve", values="epsilon")
    worst = {size: float((wide[size] / wide[limit] - 1).abs().max()) for size in sizes}
    listed = ", ".join(f"{size.replace('$', '')} {value:.2g}" for size, value in worst.items())
    return Finding(
        f"largest relative distance from the limit: {listed}", _by_share([v <= within for v in worst.values()])
    )


def printed_values(curves: Curves, *, figure: str, within: float) -> Finding:
    """Every value of the printed table is met within the share; partly if some are."""
    rows = curves.rows(figure)
    printed = np.array([known["printed"] for known in rows["known"]])
    ratio = rows["y"].to_numpy() / printed
    held = np.abs(ratio - 1) <= within
    found = f"{int(held.sum())} of {held.size} values within {within:.1%}; here over printed from {ratio.min():.4f} to "
    return Finding(f"{found}{ratio.max():.4f}", _by_share(held))


def finer_is_tighter(curves: Curves, *, figure: str, fine: str, coarse: str) -> Finding:
    """The finer bisection gives an epsilon that is no larger, in every row."""
    rows = curves.rows(figure)
    wide = rows.pivot_table(index=["curve", "x"], columns="panel", values="y")
    ratio = wide[fine] / wide[coarse]
    held = list(ratio <= 1)
    return Finding(
        f"{sum(held)} of {len(held)} rows; {fine} over {coarse} from {ratio.min():.3f} to {ratio.max():.3f}",
        _by_share(held),
    )


def smallest(curves: Curves, *, figure: str, ours: str, against: list[str]) -> Finding:
    """The named bound is below every other at every point of a panel; partly at some."""
    rows = curves.rows(figure)
    mine = rows[rows["accountant"] == ours].set_index(["panel", "x"])
    held, ratios = [], []
    for other in against:
        theirs = rows[rows["accountant"] == other].groupby(["panel", "x"])["y"].min()
        both = mine.join(theirs.rename("other"), how="inner")
        if both.empty:
            continue
        ratio = both["y"] / both["other"]
        held += list(ratio < 1)
        ratios.append(f"over {other} from {ratio.min():.3g} to {ratio.max():.3g}")
    if not held:
        raise NotRunError(f"none of {', '.join(against)} ran")
    return Finding(f"{ours}: {sum(held)} of {len(held)} comparisons; ratio " + ", ".join(ratios), _by_share(held))


def mechanism_order(curves: Curves, *, figure: str, accountant: str, smaller: str, larger: str) -> Finding:
    """With equal budgets the bound is smaller for one mechanism than for the other, at every point."""
    rows = curves.rows(figure)
    rows = rows[rows["accountant"] == accountant]
    rows = rows.assign(mechanism=[known["mechanism"] for known in rows["known"]])
    wide = rows.pivot_table(index=["curve", "x"], columns="mechanism", values="y")
    ratio = wide[smaller] / wide[larger]
    held = list(ratio < 1)
    found = f"{smaller} over {larger} from {ratio.min():.3g} to {ratio.max():.3g}"
    return Finding(f"{accountant}: {sum(held)} of {len(held)} points; {found}", _by_share(held))


RULES: dict[str, Callable[..., Finding]] = {
    rule.__name__: rule
    for rule in (
        saving_at_least,
        saving_up_to,
        saving_about,
        saving_between,
        claimed_saving_about,
        claimed_saving_above,
        gap_small,
        never_excluded,
        ordered,
        composition_helps,
        between,
        converges,
        printed_values,
        finer_is_tighter,
        smallest,
        mechanism_order,
    )
}


def evaluate(table: pd.DataFrame, reference: list[dict[str, Any]], *, points: int = LEAST_POINTS) -> pd.DataFrame:
    """Evaluate every statement on the stacked tidy tables of all figures; see `judging.judge`."""
    return judging.judge(Curves(table, points), RULES, reference, keys=("id", "paper", "section", "statement"))


def to_markdown(claims: pd.DataFrame, *, edition: str) -> str:
    """Readable table of the verdicts, a section per paper."""
    lines = ["# Statements of the amplification papers, and what came out", "", judging.count_of(claims), ""]
    if edition != "full":
        lines += [f"This is the **{edition}** configuration: curves of too few points are not evaluated.", ""]
    for paper, rows in claims.groupby("paper", sort=False):
        lines += [f"## {PAPERS[str(paper)]}", "", *judging.table_of(rows), ""]
    return "\n".join([*lines, *judging.rules_of(claims)]) + "\n"
