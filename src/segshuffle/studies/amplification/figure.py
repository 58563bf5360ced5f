"""The figures of the amplification papers, drawn from their tidy tables: one look per accountant in all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from segshuffle.accounting.single_message.accountants import ACCOUNTANT_LOOKS
from segshuffle.looks import DASHES, PALETTE, Look, looks_of, series_looks, stroke
from segshuffle.pipeline.rows import common
from segshuffle.pipeline.style import fit_legend, letters, log_ticks, mark_edition, panel_grid

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
    for i, (letter, axis, (panel, rows)) in enumerate(zip(letters(), axes, panels)):  # noqa: B905 - letters have no end
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
        axis.set(xscale="log" if "x" in layout.log else "linear", yscale="log" if "y" in layout.log else "linear")
        for scale in layout.log:
            log_ticks(getattr(axis, f"{scale}axis"))
        axis.set_title(f"({letter}) {panel}")
        # the outer axes alone are named
        axis.set_xlabel(_NAMES[x] if i + _COLUMNS >= len(axes) else "")
        axis.set_ylabel("" if i % _COLUMNS else layout.ratio or _NAMES[y])
    entries = [handle for _, handle in sorted(handles.values(), key=lambda each: each[0])]
    if layout.mechanisms:
        entries = _mechanism_handles(mechanisms, looks)
    if len(entries) > 1:
        fit_legend(figure, entries)
    mark_edition(figure, edition)
    return figure


def _looks(accountants: Iterable[str]) -> dict[str, Look]:
    """Look of every accountant of a table, under its name there, in the order of the legend."""
    known = {name: _SAME.get(name, name) for name in accountants}
    looks = looks_of(known.values(), ACCOUNTANT_LOOKS)
    return {name: look for other, look in looks.items() for name in known if known[name] == other}


def _curves(rows: pd.DataFrame) -> list[_Curve]:
    """Curves of a panel, in the order of the table."""
    pairs = list(rows[["accountant", "curve"]].drop_duplicates().itertuples(index=False, name=None))
    names = {accountant: [curve for other, curve in pairs if other == accountant] for accountant, _ in pairs}
    return [_Curve(who, curve, names[who].index(curve), len(names[who]) > 1) for who, curve in pairs]


def _style(curve: _Curve, look: Look) -> dict[str, Any]:
    """Line of an accountant; its second curve in a panel has open marks."""
    outlined = curve.accountant in _OUTLINED
    face = "none" if outlined else "white" if curve.place else look.color
    style = stroke(look, marker=look.marker or None, ms=7.0 if outlined else _MARK, mfc=face, mew=0.9)
    del style["label"]
    return {**style, "lw": 1.0 if look.marker else 1.4, "zorder": 3 if outlined else 2}


def _nested(curves: pd.Series, layout: Layout) -> dict[str, dict[str, Any]]:
    """Lines of mechanisms: solid with open marks, which shrink where the curves coincide."""
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
    """Legend text of a curve; a bound that is used outside its conditions is not called proven."""
    if curve.name == "largest budget":
        return label.split(" (")[0] + ", largest budget"
    if not curve.several:
        return label
    if curve.name.startswith(("Uniform", "Gauss")):
        return f"{label}: {curve.name.rstrip('0123456789')}"
    return f"{label}: {'one randomizer alone' if curve.name == 'single' else 'composed'}"


def _mechanism_handles(mechanisms: Mapping[str, dict[str, Any]], looks: Mapping[str, Look]) -> list[Line2D]:
    """Colours and marks are mechanisms, strokes are accountants."""
    handles = [Line2D([], [], label=name, **style) for name, style in mechanisms.items()]
    for accountant, look in looks.items():
        dashes = _DOTS if accountant.endswith("lower") else "-"
        handles.append(Line2D([], [], color=PALETTE["black"], ls=dashes, label=look.label))
    return handles
