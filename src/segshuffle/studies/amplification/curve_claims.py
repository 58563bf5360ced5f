"""What the tables of the amplification papers say: verdicts on the papers' statements, and tables to read.

The statements are in config/reference/claims-amplification.yaml, the measures here (`studies.verdicts`). A *saving* of
one accountant over another is 1 - epsilon/epsilon'. Which numbers are compared, published or proven, is part of what is
printed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from segshuffle.pipeline.rows import common
from segshuffle.studies import verdicts
from segshuffle.studies.amplification.exhibits import EXHIBITS, FIGURES, PAPERS
from segshuffle.studies.verdicts import Measured, NotRunError

#: Points of a curve from which on it is judged: what is said of it may hold between fewer only by chance.
LEAST_POINTS = 12
#: Columns that name a point.
PLACE = ("figure", "panel", "curve", "x")
#: What a curve is compared with where the other bound is its abscissa.
ORIGINAL = "the original analysis"


class Curves:
    """All tidy tables.

    Parameters
    ----------
    table : DataFrame
        Stacked tables of the figures, as `compute.compute` returns them.
    points : int
        Points of every curve: too few do not tell what is said of a whole curve.
    """

    def __init__(self, table: pd.DataFrame, points: int = LEAST_POINTS) -> None:
        known = [json.loads(text) for text in table["parameters"]]
        columns = {name: [each.get(name, np.nan) for each in known] for name in ("epsilon", "mechanism", "printed")}
        # of a panel of a composition, what is composed
        self._table = table.assign(**columns, randomizer=table["panel"].str.split(",").str[0])
        self._points = points

    def rows(self, figures: Sequence[str], where: Mapping[str, Any] | None = None) -> pd.DataFrame:
        """Rows of some figures with the given values in some columns."""
        for figure in figures:
            if figure not in set(self._table["figure"]):
                raise NotRunError(f"{figure} did not run")
            if figure in FIGURES and self._points < LEAST_POINTS:
                raise NotRunError(f"the curves of {figure} have {self._points} points, fewer than {LEAST_POINTS}")
        rows = self._table[self._table["figure"].isin(figures)]
        for column, value in (where or {}).items():
            rows = rows[rows[column] == value]
        return rows


def ratio(
    curves: Curves,
    *,
    figures: list[str],
    pairs: list[tuple[str, str | list[str]]],
    column: str = "accountant",
    by: list[str] | None = None,
    value: str = "epsilon",
    where: Mapping[str, Any] | None = None,
    from_x: float = 0.0,
) -> Measured:
    """Ratio of the first to the second (of several the least), point by point.

    Parameters
    ----------
    curves : Curves
        All tables.
    figures : list of str
        Figures whose points are compared.
    pairs : list of (str, str or list of str)
        Values of `column` whose rows are compared; `ORIGINAL` stands for the abscissa.
    column, value : str
        What tells the curves apart, and what is compared.
    by : list of str, optional
        Columns that the two points have in common; all of `PLACE` but `column` if not given.
    where : mapping, optional
        Columns and their values; other rows are left out.
    from_x : float
        Least abscissa.
    """
    rows = curves.rows(figures, where)
    shared = by or [name for name in PLACE if name != column]
    found = {}
    for one, others in pairs:
        names = [others] if isinstance(others, str) else list(others)
        own = rows[(rows[column] == one) & (rows["x"] >= from_x)]
        for name in names:
            if name == ORIGINAL:
                own = own.assign(**{name: own["x"]})
            else:
                theirs = rows[rows[column] == name].groupby(shared)[value].min()
                own = own.join(theirs.rename(name), on=shared, how="inner")
        if own.empty:
            raise NotRunError(f"no point of {', '.join(figures)} has all of {', '.join([one, *names])}")
        title = f"{one} over {'the least of ' * (len(names) > 1)}{', '.join(names)}"
        found[_plain(title)] = dict(
            zip(map(_place, own.to_dict("records")), own[value] / own[names].min(axis=1), strict=True)
        )
    return Measured(found, ".5g")


def saving(curves: Curves, **asked: Any) -> Measured:
    """1 - the first epsilon over the second (of several the least), point by point."""
    parts = ratio(curves, **asked).parts
    saved = {f"saving of {name}": {place: 1 - each for place, each in part.items()} for name, part in parts.items()}
    return Measured(saved, ".2%")


def outside(curves: Curves, *, figures: list[str], inner: str, outer: list[str], where: Mapping[str, Any]) -> Measured:
    """How far a curve leaves the range of two others, as a ratio: at most 1 inside, point by point."""
    rows = curves.rows(figures, where)
    wide = rows.pivot_table(index=["figure", "panel", "x"], columns="curve", values="epsilon")[[inner, *outer]].dropna()
    low, high = wide[outer].min(axis=1), wide[outer].max(axis=1)
    far = pd.concat([low / wide[inner], wide[inner] / high], axis=1).max(axis=1)
    places = [_place(dict(zip(("figure", "panel", "x"), place, strict=True), curve=inner)) for place in far.index]
    return Measured({f"{inner} outside of {' and '.join(outer)}": dict(zip(places, far, strict=True))}, ".4f")


def over_printed(curves: Curves, *, figures: list[str]) -> Measured:
    """Our value over the printed one, row by row."""
    rows = curves.rows(figures)
    places = map(_place, rows.to_dict("records"))
    return Measured({"here over printed": dict(zip(places, rows["y"] / rows["printed"], strict=True))}, ".4f")


def _place(row: Mapping[Any, Any]) -> str:
    return _plain(f"{row['figure']}, {row['panel']}, {row['curve']}, x = {row['x']:g}")


def _plain(text: str) -> str:
    """Without the marks of mathematics."""
    for mark, word in (("$", ""), ("\\varepsilon", "epsilon"), ("\\to \\infty", "to infinity"), ("\\in", "in")):
        text = text.replace(mark, word)
    return text


MEASURES = (ratio, saving, outside, over_printed)


def evaluate(table: pd.DataFrame, reference: list[dict[str, Any]], *, points: int = LEAST_POINTS) -> pd.DataFrame:
    """Judge every statement on the stacked tidy tables of all figures; see `verdicts.judge`."""
    return verdicts.judge(Curves(table, points), MEASURES, reference, keys=("id", "paper", "section", "statement"))


def to_markdown(claims: pd.DataFrame, *, edition: str) -> str:
    """Write the verdicts to read, a section per paper."""
    other = f"This is the **{edition}** configuration: curves of too few points are not evaluated."
    title = "# Statements of the amplification papers, and what came out"
    return verdicts.markdown(claims, title=title, remarks=("" if edition == "full" else other,), papers=PAPERS)


# --- tables to read --------------------------------------------------------------------------------------------------


def table_markdown(name: str, table: pd.DataFrame) -> str:
    """Write a table of the papers to read."""
    exhibit = EXHIBITS[name]
    lines = [f"# Table {exhibit.number}: {exhibit.shows}", "", f"*{PAPERS[exhibit.paper]}*", ""]
    return "\n".join([*lines, *(_table5 if exhibit.paper == "variation" else _table2)(table)]) + "\n"


def _table5(table: pd.DataFrame) -> list[str]:
    lines = ["| local epsilon | n | T | printed | here | here / printed | without bisection |", "|" + "---|" * 7]
    for row, known in zip(table.to_dict("records"), map(json.loads, table["parameters"]), strict=True):
        lines.append(
            f"| {known['local_epsilon']:g} | {row['x']:,.0f} | {known['iterations']} | {known['printed']:g} | "
            f"{row['y']:.6g} | {row['y'] / known['printed']:.4f} | {known['without_bisection']:.6g} |"
        )
    said = (
        "delta = 0.01/n. *Here* is the same bisection of [0, local epsilon] in T steps, upper end; every comparison is "
        "decided by certified intervals. Kind: {} ({})."
    )
    times = "Running times: `python benchmarks/variation_ratio.py`."
    return [*lines, "", said.format(*common(table, "kind", "status")), "", times]


def _table2(table: pd.DataFrame) -> list[str]:
    epsilons = sorted(table["x"].unique())
    head = " | ".join(f"epsilon = {x:g}" for x in epsilons)
    lines = [f"| bound | {head} | kind |", "|" + "---|" * (len(epsilons) + 2)]
    for name, rows in table.groupby("accountant", sort=False):
        values = rows.set_index("x")["y"]
        cells = " | ".join(f"{values[x]:.3g}" for x in epsilons)
        lines.append(f"| {name} | {cells} | {': '.join(common(rows, 'kind', 'status'))} |")
    (users,) = {json.loads(text)["n_users"] for text in table["parameters"]}
    (panel,) = common(table, "panel")
    return [*lines, "", f"Delta; n = {users:,}, {panel.replace('$', '')}. The printed values are not in our copy."]
