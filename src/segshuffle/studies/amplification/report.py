"""What readers see of the amplification papers' tables: figures, tables to read, and verdicts on their statements.

An accountant has one look in all figures. The statements are in config/reference/claims-amplification.yaml, the
measures here (`studies.verdicts`). The *saving* of one accountant against another is 1 - epsilon/epsilon', where
epsilon' belongs to the other. Which numbers are compared, published or proven, is part of what is printed.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from segshuffle.accounting.single_message.accountants import ACCOUNTANT_LOOKS
from segshuffle.looks import DASHES, PALETTE, Look, looks_of, series_looks, stroke
from segshuffle.pipeline.rows import common, table_of
from segshuffle.pipeline.style import finished, letters, log_axes, panel_grid
from segshuffle.studies.verdicts import Measured, NotRunError, judge

#: Drawn as outlines, so that what lies beneath stays visible: these almost coincide with proven bounds.
_OUTLINED = ("variation-ratio", "parallel-advanced")
#: Inches of a panel's height where there are few panels, and where there are more than so many.
_HEIGHT, _LOW, _FEW = 2.5, 1.75, 4
#: Size of a mark; of the marks of nested curves the largest, and a bound on the least.
_MARK, _NESTED, _LEAST = 3.4, 9.5, 1.0
#: Up to so many mechanisms are told apart without nested marks.
_APART = 3
#: What is drawn over what -> labels of both axes, and which of them are logarithmic.
_AXES: dict[tuple[Any, ...], tuple[str, str, str]] = {
    ("local_epsilon", "epsilon"): ("local $\\varepsilon_0$", "$\\varepsilon$ after shuffling", "xy"),
    ("local_epsilon", "log2_ratio"): ("local $\\varepsilon_0$", "$\\log_2(\\varepsilon_0/\\varepsilon)$", ""),
    ("claimed_epsilon", "log2_ratio"): (
        "global $\\varepsilon'$ of the original analysis",
        "$\\log_2(\\varepsilon'/\\varepsilon)$",
        "x",
    ),
    ("n_users", "epsilon"): ("number of users $n$", "$\\varepsilon$ after shuffling", "xy"),
    ("value", "probability"): ("value of the amplification variable", "distribution function", ""),
}
#: How the curves of Figure 3 of the decomposition paper are called in its legend.
_CURVES = {"single": "one randomizer alone", "2-joint": "composed", "3-joint": "composed"}

#: (accountant, curve) -> how it is drawn.
Styles = dict[tuple[str, str], dict[str, Any]]


def draw(table: pd.DataFrame) -> Figure:
    """Draw a figure of an amplification paper.

    A curve looks like its accountant. Where an accountant has more than two curves in a panel, they are mechanisms with
    colours of their own.

    Parameters
    ----------
    table : DataFrame
        Its tidy table.
    """
    panels = list(table.groupby("panel", sort=False))
    figure, axes = panel_grid(len(panels), 2, height=_LOW if len(panels) > _FEW else _HEIGHT)
    looks = looks_of(table["accountant"], ACCOUNTANT_LOOKS)
    curves = table[["panel", "accountant", "curve"]].drop_duplicates()
    of_one = curves.groupby(["panel", "accountant"])["curve"]
    curves = curves.assign(place=of_one.cumcount(), count=of_one.transform("size"))
    alike = curves["count"].max() <= 2
    styles = _by_accountant(curves, looks) if alike else _by_mechanism(curves["curve"].unique(), looks)
    order = list(looks)
    across, up, logarithmic = _AXES[common(table, "x_name", "y_name")]
    for i, (letter, axis, (panel, rows)) in enumerate(zip(letters(), axes, panels, strict=False)):
        lines: Any = rows.groupby(["accountant", "curve"], sort=False)
        # lower bounds on top
        for curve, points in sorted(lines, key=lambda line: (_is_lower(line[0][0]), order.index(line[0][0]))):
            axis.plot(points["x"], points["y"], **styles[curve])
        log_axes(axis, logarithmic)
        axis.set_title(f"({letter}) {panel}")
        # the outer axes alone are named
        axis.set_xlabel(across if i + 2 >= len(axes) else "")
        axis.set_ylabel("" if i % 2 else up)
    # colours that are a mechanism's do not tell accountants
    dashes = {} if alike else {look.label: DASHES[2] if _is_lower(name) else "-" for name, look in looks.items()}
    handles = [Line2D([], [], color=PALETTE["black"], ls=each, label=label) for label, each in dashes.items()]
    drawn = [line for axis in axes for line in axis.lines]
    return finished(figure, [*drawn, *handles]) if len(styles) > 1 else figure


def _is_lower(accountant: str) -> bool:
    return accountant.endswith("lower")


def _by_accountant(curves: pd.DataFrame, looks: Mapping[str, Look]) -> Styles:
    """Style curves by their accountants; of two in a panel the second has open marks."""
    styles: Styles = {}
    for _, name, curve, place, count in curves.itertuples(index=False):
        look, outlined = looks[name], name in _OUTLINED
        styles[name, curve] = stroke(
            look,
            label=_entry(look.label, curve, count),
            marker=look.marker or None,
            ms=7.0 if outlined else _MARK,
            mfc="none" if outlined else "white" if place else look.color,
            mew=0.9,
            lw=1.0 if look.marker else 1.4,
            zorder=3 if outlined else 2,
        )
    return styles


def _entry(label: str, curve: str, count: Any) -> str:
    """Write the legend text of a curve; a bound that is used outside its conditions is not called proven."""
    if curve == "largest budget":
        return label.split(" (", maxsplit=1)[0] + ", largest budget"
    return f"{label}: {_CURVES.get(curve, curve.rstrip('0123456789'))}" if count > 1 else label


def _by_mechanism(names: Collection[str], looks: Mapping[str, Look]) -> Styles:
    """Give mechanisms colours and marks, which shrink where many curves coincide, and lower bounds dots."""
    count = len(names)
    sizes = np.linspace(_NESTED, _LEAST, count, endpoint=False) if count > _APART else [_MARK] * count
    styles: Styles = {}
    for each, size in zip(series_looks(names), sizes, strict=True):
        solid = stroke(each, ls="-", ms=size, lw=1.0, mfc="none", mew=0.9)
        dotted = stroke(each, ls=DASHES[2], marker="None", lw=1.6)
        styles |= {(name, each.label): dotted if _is_lower(name) else solid for name in looks}
    return styles


# --- verdicts --------------------------------------------------------------------------------------------------------

#: Least number of points of a curve that is judged; with fewer a statement may hold by chance.
LEAST_POINTS = 12
#: Columns that name a point.
PLACE = ("figure", "panel", "curve", "x")
#: What a curve is compared with, if it is not another curve -> its column.
OTHERS = {"the original analysis": "x", "the printed value": "printed"}


class Curves:
    """All tidy tables.

    Parameters
    ----------
    table : DataFrame
        Stacked tables of the figures, as `compute.compute` returns them.
    points : int
        Number of points of every curve; curves with too few are not judged.
    """

    def __init__(self, table: pd.DataFrame, points: int = LEAST_POINTS) -> None:
        known = [json.loads(text) for text in table["parameters"]]
        columns = {name: [each.get(name, np.nan) for each in known] for name in ("epsilon", "mechanism", "printed")}
        # of a panel of a composition, what is composed
        self._table = table.assign(**columns, randomizer=table["panel"].str.split(",").str[0])
        self._points = points

    def rows(self, figures: Sequence[str], where: Mapping[str, Any] | None = None) -> pd.DataFrame:
        """Return the rows of some figures with the given values in some columns."""
        for figure in figures:
            if figure not in set(self._table["figure"]):
                raise NotRunError(f"{figure} did not run")
            if self._points < LEAST_POINTS and "-table" not in figure:
                raise NotRunError(f"the curves of {figure} have {self._points} points, fewer than {LEAST_POINTS}")
        rows = self._table[self._table["figure"].isin(figures)]
        return rows[(rows[list(where)] == list(where.values())).all(axis=1)] if where else rows


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
    """Divide the first number by the second (or the least of several), at each point.

    Parameters
    ----------
    curves : Curves
        All tables.
    figures : list of str
        Figures whose points are compared.
    pairs : list of (str, str or list of str)
        Values of `column` whose rows are compared; the second may be one of `OTHERS`.
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
            if name in OTHERS:
                own = own.assign(**{name: own[OTHERS[name]]})
            else:
                theirs = rows[rows[column] == name].groupby(shared)[value].min()
                own = own.join(theirs.rename(name), on=shared, how="inner")
        if own.empty:
            raise NotRunError(f"no point of {', '.join(figures)} has all of {', '.join([one, *names])}")
        title = f"{one} divided by {'the least of ' * (len(names) > 1)}{', '.join(names)}"
        own = own.set_index(list(PLACE))
        found[_plain(title)] = _placed(own[value] / own[names].min(axis=1))
    return Measured(found, ".5g")


def saving(curves: Curves, **asked: Any) -> Measured:
    """Divide the first epsilon by the second or the least of several, and subtract the ratio from 1, at each point."""
    parts = ratio(curves, **asked).parts
    saved = {
        f"saving of {name.replace(' divided by ', ' against ')}": {place: 1 - each for place, each in part.items()}
        for name, part in parts.items()
    }
    return Measured(saved, ".2%")


def outside(curves: Curves, *, figures: list[str], inner: str, outer: list[str], where: Mapping[str, Any]) -> Measured:
    """Measure how far a curve leaves the range of two others, as a ratio (at most 1 inside), at each point."""
    rows = curves.rows(figures, where)
    wide = rows.pivot_table(index=["figure", "panel", "x"], columns="curve", values="epsilon")[[inner, *outer]].dropna()
    far: Any = np.maximum(wide[outer].min(axis=1) / wide[inner], wide[inner] / wide[outer].max(axis=1))
    found = _placed({(figure, panel, inner, x): value for (figure, panel, x), value in far.items()})
    return Measured({f"{inner} outside of {' and '.join(outer)}": found}, ".4f")


def _placed(values: Any) -> dict[str, float]:
    """Name every value by its place."""
    return {_plain("{}, {}, {}, x = {:g}".format(*place)): value for place, value in values.items()}


def _plain(text: str) -> str:
    """Remove the marks of mathematics."""
    for mark, word in (("$", ""), ("\\varepsilon", "epsilon"), ("\\to \\infty", "to infinity"), ("\\in", "in")):
        text = text.replace(mark, word)
    return text


MEASURES = (ratio, saving, outside)


def evaluate(table: pd.DataFrame, reference: list[dict[str, Any]], *, points: int = LEAST_POINTS) -> pd.DataFrame:
    """Judge every statement on the stacked tidy tables of all figures; see `verdicts.judge`."""
    return judge(Curves(table, points), MEASURES, reference)


# --- tables to read --------------------------------------------------------------------------------------------------


#: Columns that name a row of a table.
_ROW = ["panel", "curve", "accountant", "kind", "status"]


def table_markdown(table: pd.DataFrame, *, title: str, paper: str, remark: str) -> str:
    """Write a table of the papers to read: a column per abscissa, and beside every value what is known of it."""
    known = pd.DataFrame(map(json.loads, table["parameters"]))
    shown = table["y"].map("{:.6g}".format)
    for name in known.columns.intersection(["printed", "without_bisection"]):
        shown += f"; {name.replace('_', ' ')} " + known[name].map("{:.6g}".format)
    wide = table.assign(shown=shown).pivot_table(index=_ROW, columns="x", values="shown", aggfunc="first", sort=False)
    over, what = common(table, "x_name", "y_name")
    head = [*_ROW, *(f"{what} at {over} = {x:,.6g}" for x in wide.columns)]
    lines = table_of(head, (map(_plain, row) for row in wide.reset_index().itertuples(index=False)))
    return "\n".join([f"# {title}", "", f"*{paper}*", "", *lines, "", remark]) + "\n"
