"""What readers see of the amplification papers: figures, tables in Markdown, and verdicts on their statements.

An accountant has one look in all figures, unless colours tell mechanisms apart. The statements are in
config/reference/claims-amplification.yaml, the measures here; `studies.verdicts` judges. The *saving* of one accountant
against another is 1 - epsilon/epsilon', where epsilon' belongs to the other. Which numbers are compared, published or
proven, is part of what is printed.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from segshuffle.drawing.looks import ACCOUNTANTS, DASHES, PALETTE, Look, looks_of, series_looks, stroke
from segshuffle.drawing.style import finished, letters, log_axes, panel_grid
from segshuffle.reproduction.captions import Output
from segshuffle.reproduction.rows import common, table_of
from segshuffle.reproduction.studies.verdicts import Measured, NotRunError, Statements, judge

#: Drawn as outlines, so that what lies beneath stays visible: these almost coincide with proven bounds.
_OUTLINED = ("variation-ratio", "parallel-advanced")
#: Height of a panel in inches, the lower height if there are many panels, and how many are still few.
_HEIGHT, _LOW, _FEW = 2.5, 1.75, 4
#: Size of a mark. Where many curves coincide: the largest size, and a size below the smallest.
_MARK, _NESTED, _LEAST = 3.4, 9.5, 1.0
#: Up to so many mechanisms are told apart without nested marks.
_APART = 3
#: How the lower bound of a mechanism differs from its upper one.
_LOWER = {"ls": DASHES[2], "marker": "None", "lw": 1.6}
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
#: Names of curves in the legend of the decomposition paper's Figure 3.
_CURVES = {"single": "one randomizer alone", "2-joint": "composed", "3-joint": "composed"}


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
    looks = looks_of(table["accountant"], ACCOUNTANTS)
    most_curves = table.groupby(["panel", "accountant"])["curve"].nunique().max()
    mechanisms = _mechanisms(table["curve"].unique()) if most_curves > 2 else {}
    across, up, logarithmic = _AXES[common(table, "x_name", "y_name")]
    for i, (letter, axis, (panel, rows)) in enumerate(zip(letters(), axes, panels, strict=False)):
        # lower bounds on top
        for name in sorted(looks, key=_is_lower):
            curves: Any = rows[rows["accountant"] == name].groupby("curve", sort=False)
            for place, (curve, points) in enumerate(curves):
                if mechanisms:
                    style = mechanisms[curve] | (_LOWER if _is_lower(name) else {})
                else:
                    style = _of_accountant(name, looks[name], curve, place, len(curves))
                axis.plot(points["x"], points["y"], **style)
        log_axes(axis, logarithmic)
        axis.set_title(f"({letter}) {panel}")
        # the outer axes alone are named
        axis.set_xlabel(across if i + 2 >= len(axes) else "")
        axis.set_ylabel("" if i % 2 else up)
    drawn = [line for axis in axes for line in axis.lines]
    if mechanisms:
        # colours tell mechanisms here, so dashes tell accountants
        dashes = {look.label: DASHES[2] if _is_lower(name) else "-" for name, look in looks.items()}
        drawn += [Line2D([], [], color=PALETTE["black"], ls=each, label=label) for label, each in dashes.items()]
    return finished(figure, drawn) if len(axes[0].lines) > 1 else figure


def _is_lower(accountant: str) -> bool:
    return accountant.endswith("lower")


def _of_accountant(name: str, look: Look, curve: str, place: int, count: int) -> dict[str, Any]:
    """Style a curve like its accountant; of two in a panel the second has open marks."""
    outlined, label = name in _OUTLINED, look.label
    if curve == "largest budget":
        # outside its conditions a bound is not called proven
        label = label.split(" (", maxsplit=1)[0] + ", largest budget"
    elif count > 1:
        label += f": {_CURVES.get(curve, curve.rstrip('0123456789'))}"
    return stroke(
        look,
        label=label,
        marker=look.marker or None,
        ms=7.0 if outlined else _MARK,
        mfc="none" if outlined else "white" if place else look.color,
        mew=0.9,
        lw=1.0 if look.marker else 1.4,
        zorder=3 if outlined else 2,
    )


def _mechanisms(names: Collection[str]) -> dict[str, dict[str, Any]]:
    """Style mechanisms by colours and marks, which shrink where many curves coincide."""
    count = len(names)
    sizes = np.linspace(_NESTED, _LEAST, count, endpoint=False) if count > _APART else [_MARK] * count
    looks = zip(series_looks(names), sizes, strict=True)
    return {look.label: stroke(look, ls="-", ms=size, lw=1.0, mfc="none", mew=0.9) for look, size in looks}


# --- verdicts --------------------------------------------------------------------------------------------------------

#: Least number of points of a curve that is judged; with fewer a statement may hold by chance.
LEAST_POINTS = 12
#: Columns that name a point.
PLACE = ["figure", "panel", "curve", "x"]
#: What a curve is compared with, if it is not another curve -> its column.
OTHERS = {"the original analysis": "x", "the printed value": "printed"}


def curves_of(table: pd.DataFrame) -> pd.DataFrame:
    """Add columns to the stacked tables of the figures: some of the parameters, and what is composed in a panel."""
    known = pd.DataFrame(map(json.loads, table["parameters"]), table.index, ["epsilon", "mechanism", "printed"])
    return table.join(known).assign(randomizer=table["panel"].str.split(",").str[0])


def _rows(curves: pd.DataFrame, figures: Sequence[str], where: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows of some figures with the given values in some columns."""
    for figure in figures:
        points = curves[curves["figure"] == figure].groupby("accountant")["x"].nunique().max()
        if points < LEAST_POINTS and "-table" not in figure:
            raise NotRunError(f"the curves of {figure} have {points} points, fewer than {LEAST_POINTS}")
    return curves[curves["figure"].isin(figures) & (curves[list(where)] == list(where.values())).all(axis=1)]


def ratio(
    curves: pd.DataFrame,
    *,
    figures: list[str],
    pairs: list[tuple[str, str | list[str]]],
    column: str = "accountant",
    by: list[str] | None = None,
    value: str = "epsilon",
    where: Mapping[str, Any] | None = None,
    from_x: float = 0.0,
) -> Measured:
    """Divide one curve by another (or by the least of several), at each point.

    Parameters
    ----------
    curves : DataFrame
        All tables, as `curves_of` returns them.
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
    rows = _rows(curves, figures, where or {})
    shared = by or [name for name in PLACE if name != column]
    ratios = {}
    for one, others in pairs:
        names = [others] if isinstance(others, str) else others
        own = rows[(rows[column] == one) & (rows["x"] >= from_x)]
        if names[0] in OTHERS:
            own = own.assign(other=own[OTHERS[names[0]]])
        else:
            least = rows[rows[column].isin(names)].groupby(shared)[value].min()
            own = own.join(least.rename("other"), on=shared, how="inner")
        if own.empty:
            raise NotRunError(f"no point of {', '.join(figures)} has both {one} and {' or '.join(names)}")
        title = f"{one} divided by {'the least of ' * (len(names) > 1)}{', '.join(names)}"
        places = [_plain("{}, {}, {}, x = {:g}".format(*place)) for place in own[PLACE].itertuples(index=False)]
        ratios[_plain(title)] = (own[value] / own["other"]).set_axis(places)
    return Measured(ratios, ".5g")


def saving(curves: pd.DataFrame, **asked: Any) -> Measured:
    """Divide one epsilon by another (or by the least of several), and subtract the ratio from 1, at each point."""
    return Measured(
        {
            f"saving of {name.replace(' divided by ', ' against ')}": 1 - pd.Series(part)
            for name, part in ratio(curves, **asked).parts.items()
        },
        ".2%",
    )


def outside(curves: pd.DataFrame, *, inner: str, outer: list[str], **asked: Any) -> Measured:
    """Measure how far a curve leaves the range of two others, as a ratio (at most 1 inside), at each point."""
    parts = ratio(curves, column="curve", pairs=[(inner, name) for name in outer], **asked).parts
    over = pd.DataFrame(parts)
    # above both, compare with the larger of the two; below both, with the smaller
    far = over.min(axis=1).combine(1 / over.max(axis=1), max)
    return Measured({f"{inner} outside of {' and '.join(outer)}": far}, ".4f")


def _plain(text: str) -> str:
    """Remove the marks of mathematics."""
    for mark, word in (("$", ""), ("\\varepsilon", "epsilon"), ("\\to \\infty", "to infinity"), ("\\in", "in")):
        text = text.replace(mark, word)
    return text


MEASURES = (ratio, saving, outside)


def evaluate(table: pd.DataFrame, reference: Statements) -> pd.DataFrame:
    """Judge every statement on the stacked tidy tables of all figures; see `verdicts.judge`."""
    return judge(curves_of(table), MEASURES, reference)


# --- tables to read --------------------------------------------------------------------------------------------------


#: Columns that name a row of a table.
_ROW = ["panel", "curve", "accountant", "kind", "status"]


def table_markdown(table: pd.DataFrame, said: Output) -> str:
    """Write a table of the papers as Markdown, a column per abscissa, printed values beside ours."""
    known = pd.DataFrame(map(json.loads, table["parameters"]))
    shown = table["y"].map("{:.6g}".format)
    for name in known.columns.intersection(["printed", "without_bisection"]):
        shown += f"; {name.replace('_', ' ')} " + known[name].map("{:.6g}".format)
    wide = table.assign(shown=shown).pivot_table(index=_ROW, columns="x", values="shown", aggfunc="first", sort=False)
    over, what = common(table, "x_name", "y_name")
    head = [*_ROW, *(f"{what} at {over} = {x:,.6g}" for x in wide.columns)]
    rows = table_of(head, (map(_plain, row) for row in wide.reset_index().itertuples(index=False)))
    return f"# {said.title}\n\n*{said.group.title}*\n\n{rows}\n\n{said.caption}\n"
