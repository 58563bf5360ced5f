"""Verdicts on the statements of the amplification papers, from the tidy tables and nothing else.

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

from segshuffle.studies import verdicts
from segshuffle.studies.amplification.exhibits import FIGURES, PAPERS
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
    common = by or [name for name in PLACE if name != column]
    found = {}
    for one, others in pairs:
        names = [others] if isinstance(others, str) else list(others)
        own = rows[(rows[column] == one) & (rows["x"] >= from_x)]
        for name in names:
            if name == ORIGINAL:
                own = own.assign(**{name: own["x"]})
            else:
                theirs = rows[rows[column] == name].groupby(common)[value].min()
                own = own.join(theirs.rename(name), on=common, how="inner")
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
