"""What readers see of the amplification papers' tables: figures, tables to read, and verdicts on their statements.

An accountant has one look in all figures. The statements are in config/reference/claims-amplification.yaml, the
measures here (`studies.verdicts`). A *saving* of one accountant over another is 1 - epsilon/epsilon'. Which numbers are
compared, published or proven, is part of what is printed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from segshuffle.accounting.single_message.accountants import ACCOUNTANT_LOOKS
from segshuffle.looks import DASHES, PALETTE, Look, looks_of, series_looks, stroke
from segshuffle.pipeline.rows import common
from segshuffle.pipeline.style import finished, letters, log_axes, mark_edition, panel_grid
from segshuffle.studies import verdicts
from segshuffle.studies.verdicts import Measured, NotRunError

_DOTS = DASHES[2]
#: Names of accountants in the figures' tables that stand for one of the registry.
_SAME = {
    "blanket-hoeffding": "hoeffding",
    "blanket-bennett": "bennett",
    "theorem": "personalized",
    "reduction": "personalized-reduction",
}
#: Drawn as outlines, so that what lies beneath stays visible: these almost coincide with proven bounds.
_OUTLINED = ("variation-ratio", "parallel-advanced")
#: Panels side by side.
_COLUMNS = 2
#: Size of a mark; of the marks of nested curves the largest, the least, and the step from one to the next at most.
_MARK, _NESTED, _LEAST, _NESTED_STEP = 3.4, 9.5, 1.0, 1.5
_NAMES = {
    "local_epsilon": "local $\\varepsilon_0$",
    "claimed_epsilon": "global $\\varepsilon'$ of the original analysis",
    "n_users": "number of users $n$",
    "value": "value of the amplification variable",
    "epsilon": "$\\varepsilon$ after shuffling",
    "probability": "distribution function",
}


class Layout(NamedTuple):
    """How a figure is laid out.

    Parameters
    ----------
    height : float
        Height of a panel in inches.
    log : str
        Axes that are logarithmic: "xy", "x" or "".
    mechanisms : bool
        Whether curves of a panel are mechanisms (a colour each) rather than accountants.
    nested : bool
        Whether marks shrink from curve to curve, because the curves coincide.
    ratio : str
        Label of the ordinate where it is a logarithm of a ratio.
    """

    height: float
    log: str = "xy"
    mechanisms: bool = False
    nested: bool = False
    ratio: str = ""


_AMPLIFICATION = "$\\log_2(\\varepsilon_0/\\varepsilon)$"
_EXTRA = "$\\log_2(\\varepsilon'/\\varepsilon)$"
LAYOUTS: dict[str, Layout] = {
    "decomposition2": Layout(1.75),
    "decomposition3": Layout(1.75),
    "decomposition4": Layout(2.6, mechanisms=True),
    "decomposition5": Layout(2.6, mechanisms=True, nested=True),
    "decomposition6": Layout(2.6, mechanisms=True),
    "decomposition7": Layout(2.6, mechanisms=True),
    "decomposition8": Layout(2.2, ""),
    "variation1": Layout(2.5, "", ratio=_AMPLIFICATION),
    "variation2": Layout(2.6, "", ratio=_AMPLIFICATION),
    "variation3": Layout(2.4, "x", ratio=_EXTRA),
    "variation4": Layout(2.4, "x", ratio=_EXTRA),
    "variation5": Layout(2.4, "", ratio=_AMPLIFICATION),
    "personalized4": Layout(2.3),
}


class _Curve(NamedTuple):
    """An accountant's curve in a panel, and which of its curves there it is."""

    accountant: str
    name: str
    place: int
    several: bool


def draw(name: str, table: pd.DataFrame, *, edition: str) -> Figure:
    """Draw a figure of an amplification paper.

    Parameters
    ----------
    name : str
        One of `LAYOUTS`.
    table : DataFrame
        Its tidy table.
    edition : str
        Which results these are; "quick" is written across the figure.
    """
    layout = LAYOUTS[name]
    panels = list(table.groupby("panel", sort=False))
    figure, axes = panel_grid(len(panels), _COLUMNS, height=layout.height)
    looks = _looks(table["accountant"])
    mechanisms = _nested(table["curve"], layout)
    handles: dict[str, tuple[tuple[int, int], Line2D]] = {}
    x, y = common(table, "x_name", "y_name")
    for i, (letter, axis, (panel, rows)) in enumerate(zip(letters(), axes, panels, strict=False)):
        for curve in sorted(_curves(rows), key=lambda curve: curve.accountant.endswith("lower")):
            look = looks[curve.accountant]
            style = mechanisms[curve.name] if layout.mechanisms else _style(curve, look)
            if layout.mechanisms and curve.accountant.endswith("lower"):
                style = {"color": style["color"], "ls": _DOTS, "lw": 1.6}
            chosen = (rows["accountant"] == curve.accountant) & (rows["curve"] == curve.name)
            axis.plot(rows["x"][chosen], rows["y"][chosen], **style)
            label = _entry(look.label, curve)
            handles.setdefault(
                label, ((list(looks).index(curve.accountant), curve.place), Line2D([], [], label=label, **style))
            )
        log_axes(axis, layout.log)
        axis.set_title(f"({letter}) {panel}")
        # the outer axes alone are named
        axis.set_xlabel(_NAMES[x] if i + _COLUMNS >= len(axes) else "")
        axis.set_ylabel("" if i % _COLUMNS else layout.ratio or _NAMES[y])
    entries = [handle for _, handle in sorted(handles.values(), key=lambda each: each[0])]
    if layout.mechanisms:
        entries = _mechanism_handles(mechanisms, looks)
    if len(entries) > 1:
        return finished(figure, edition, entries)
    mark_edition(figure, edition)
    return figure


def _looks(accountants: Iterable[str]) -> dict[str, Look]:
    """Return the look of every accountant of a table, under its name there, in the order of the legend."""
    known = {name: _SAME.get(name, name) for name in accountants}
    looks = looks_of(known.values(), ACCOUNTANT_LOOKS)
    return {name: look for other, look in looks.items() for name in known if known[name] == other}


def _curves(rows: pd.DataFrame) -> list[_Curve]:
    """List the curves of a panel, in the order of the table."""
    pairs = list(rows[["accountant", "curve"]].drop_duplicates().itertuples(index=False, name=None))
    names = {accountant: [curve for other, curve in pairs if other == accountant] for accountant, _ in pairs}
    return [_Curve(who, curve, names[who].index(curve), len(names[who]) > 1) for who, curve in pairs]


def _style(curve: _Curve, look: Look) -> dict[str, Any]:
    """Style the line of an accountant; its second curve in a panel has open marks."""
    outlined = curve.accountant in _OUTLINED
    face = "none" if outlined else "white" if curve.place else look.color
    style = stroke(look, marker=look.marker or None, ms=7.0 if outlined else _MARK, mfc=face, mew=0.9)
    del style["label"]
    return {**style, "lw": 1.0 if look.marker else 1.4, "zorder": 3 if outlined else 2}


def _nested(curves: pd.Series, layout: Layout) -> dict[str, dict[str, Any]]:
    """Style the lines of mechanisms: solid with open marks, which shrink where the curves coincide."""
    looks = series_looks(curves.drop_duplicates())
    step = min(_NESTED_STEP, (_NESTED - _LEAST) / len(looks))
    return {
        look.label: {
            "color": look.color,
            "marker": look.marker,
            "ls": "-",
            "ms": _NESTED - step * i if layout.nested else _MARK,
            "lw": 1.0,
            "mfc": "none",
            "mew": 0.9,
        }
        for i, look in enumerate(looks)
    }


def _entry(label: str, curve: _Curve) -> str:
    """Write the legend text of a curve; a bound that is used outside its conditions is not called proven."""
    if curve.name == "largest budget":
        return label.split(" (", maxsplit=1)[0] + ", largest budget"
    if not curve.several:
        return label
    if curve.name.startswith(("Uniform", "Gauss")):
        return f"{label}: {curve.name.rstrip('0123456789')}"
    return f"{label}: {'one randomizer alone' if curve.name == 'single' else 'composed'}"


def _mechanism_handles(mechanisms: Mapping[str, dict[str, Any]], looks: Mapping[str, Look]) -> list[Line2D]:
    """Make a legend in which colours and marks are mechanisms, and strokes are accountants."""
    handles = [Line2D([], [], label=name, **style) for name, style in mechanisms.items()]
    for accountant, look in looks.items():
        dashes = _DOTS if accountant.endswith("lower") else "-"
        handles.append(Line2D([], [], color=PALETTE["black"], ls=dashes, label=look.label))
    return handles


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
        """Return the rows of some figures with the given values in some columns."""
        for figure in figures:
            if figure not in set(self._table["figure"]):
                raise NotRunError(f"{figure} did not run")
            if self._points < LEAST_POINTS and "-table" not in figure:
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
    """Divide the first by the second (of several, by the least), point by point.

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
    """Subtract from 1 the first epsilon over the second (of several, over the least), point by point."""
    parts = ratio(curves, **asked).parts
    saved = {f"saving of {name}": {place: 1 - each for place, each in part.items()} for name, part in parts.items()}
    return Measured(saved, ".2%")


def outside(curves: Curves, *, figures: list[str], inner: str, outer: list[str], where: Mapping[str, Any]) -> Measured:
    """Measure how far a curve leaves the range of two others, as a ratio: at most 1 inside, point by point."""
    rows = curves.rows(figures, where)
    wide = rows.pivot_table(index=["figure", "panel", "x"], columns="curve", values="epsilon")[[inner, *outer]].dropna()
    low, high = wide[outer].min(axis=1), wide[outer].max(axis=1)
    far = pd.concat([low / wide[inner], wide[inner] / high], axis=1).max(axis=1)
    places = [_place(dict(zip(("figure", "panel", "x"), place, strict=True), curve=inner)) for place in far.index]
    return Measured({f"{inner} outside of {' and '.join(outer)}": dict(zip(places, far, strict=True))}, ".4f")


def over_printed(curves: Curves, *, figures: list[str]) -> Measured:
    """Divide our value by the printed one, row by row."""
    rows = curves.rows(figures)
    places = map(_place, rows.to_dict("records"))
    return Measured({"here over printed": dict(zip(places, rows["y"] / rows["printed"], strict=True))}, ".4f")


def _place(row: Mapping[Any, Any]) -> str:
    return _plain(f"{row['figure']}, {row['panel']}, {row['curve']}, x = {row['x']:g}")


def _plain(text: str) -> str:
    """Remove the marks of mathematics."""
    for mark, word in (("$", ""), ("\\varepsilon", "epsilon"), ("\\to \\infty", "to infinity"), ("\\in", "in")):
        text = text.replace(mark, word)
    return text


MEASURES = (ratio, saving, outside, over_printed)


def evaluate(table: pd.DataFrame, reference: list[dict[str, Any]], *, points: int = LEAST_POINTS) -> pd.DataFrame:
    """Judge every statement on the stacked tidy tables of all figures; see `verdicts.judge`."""
    return verdicts.judge(Curves(table, points), MEASURES, reference, keys=("id", "paper", "section", "statement"))


def to_markdown(claims: pd.DataFrame, *, papers: Mapping[str, str], edition: str) -> str:
    """Write the verdicts to read, a section per paper."""
    other = f"This is the **{edition}** configuration: curves of too few points are not evaluated."
    title = "# Statements of the amplification papers, and what came out"
    return verdicts.markdown(claims, title=title, remarks=("" if edition == "full" else other,), papers=papers)


# --- tables to read --------------------------------------------------------------------------------------------------


def table_markdown(table: pd.DataFrame, *, title: str, paper: str) -> str:
    """Write a table of the papers to read."""
    rows = (_table5 if "printed" in table["parameters"].iloc[0] else _table2)(table)
    return "\n".join([f"# {title}", "", f"*{paper}*", "", *rows]) + "\n"


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
