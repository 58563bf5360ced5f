"""The figures of the amplification papers, drawn from their tidy tables: one look per accountant in all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from segshuffle.accounting.single_message.accountants.registry import ACCOUNTANT_LOOKS
from segshuffle.looks import DASHES, PALETTE, Look, looks_of, series_looks
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
    log_x, log_y : bool
        Logarithmic axes.
    mechanisms : bool
        Whether curves of a panel are mechanisms (a colour each) rather than accountants.
    nested : bool
        Whether marks shrink from curve to curve, because the curves coincide.
    ratio : str
        Label of the ordinate where it is a logarithm of a ratio.
    """

    height: float
    log_x: bool = True
    log_y: bool = True
    mechanisms: bool = False
    nested: bool = False
    ratio: str = ""


_AMPLIFICATION = "$\\log_2(\\varepsilon_0/\\varepsilon)$"
_EXTRA = "$\\log_2(\\varepsilon'/\\varepsilon)$"
LAYOUTS: dict[str, Layout] = {
    "decomposition2": Layout(height=1.75),
    "decomposition3": Layout(height=1.75),
    "decomposition4": Layout(height=2.6, mechanisms=True),
    "decomposition5": Layout(height=2.6, mechanisms=True, nested=True),
    "decomposition6": Layout(height=2.6, mechanisms=True),
    "decomposition7": Layout(height=2.6, mechanisms=True),
    "decomposition8": Layout(height=2.2, log_x=False, log_y=False),
    "variation1": Layout(log_x=False, log_y=False, height=2.5, ratio=_AMPLIFICATION),
    "variation2": Layout(log_x=False, log_y=False, height=2.6, ratio=_AMPLIFICATION),
    "variation3": Layout(log_y=False, height=2.4, ratio=_EXTRA),
    "variation4": Layout(log_y=False, height=2.4, ratio=_EXTRA),
    "variation5": Layout(log_x=False, log_y=False, height=2.4, ratio=_AMPLIFICATION),
    "personalized4": Layout(height=2.3),
}


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
    panels = list(table["panel"].drop_duplicates())
    figure, axes = panel_grid(len(panels), _COLUMNS, height=layout.height)
    looks = _looks(table["accountant"])
    for letter, axis, panel in zip(letters(), axes, panels):  # noqa: B905 - letters have no end
        _panel(axis, table[table["panel"] == panel], layout, looks)
        axis.set_title(f"({letter}) {panel}")
    _label(axes, table, layout)
    handles = _mechanism_handles(table, layout, looks) if layout.mechanisms else _accountant_handles(table, looks)
    if len(handles) > 1:
        fit_legend(figure, handles)
    mark_edition(figure, edition)
    return figure


def _looks(accountants: Iterable[str]) -> dict[str, Look]:
    """Look of every accountant of a table, under its name there, in the order of the legend."""
    known = {name: _SAME.get(name, name) for name in accountants}
    looks = looks_of(known.values(), ACCOUNTANT_LOOKS)
    return {name: look for other, look in looks.items() for name in known if known[name] == other}


def _curves(rows: pd.DataFrame) -> list[tuple[str, str]]:
    """(accountant, curve) in the order of the table."""
    return list(rows[["accountant", "curve"]].drop_duplicates().itertuples(index=False, name=None))


def _panel(axis: Axes, rows: pd.DataFrame, layout: Layout, looks: Mapping[str, Look]) -> None:
    """All curves of a panel, lower bounds last, on top of the upper ones they touch."""
    curves = _curves(rows)
    mechanisms = series_looks(dict.fromkeys(curve for _, curve in curves))
    place = {look.label: index for index, look in enumerate(mechanisms)}
    for accountant, curve in sorted(curves, key=lambda pair: pair[0].endswith("lower")):
        chosen = rows[(rows["accountant"] == accountant) & (rows["curve"] == curve)]
        if layout.mechanisms:
            index = place[curve]
            style = _mechanism_style(accountant, mechanisms[index], size=_size(layout, index, len(mechanisms)))
        else:
            style = _style(accountant, looks[accountant], first=_is_first(accountant, curve, curves))
        axis.plot(chosen["x"], chosen["y"], **style)
    axis.set_xscale("log" if layout.log_x else "linear")
    axis.set_yscale("log" if layout.log_y else "linear")
    if layout.log_x:
        log_ticks(axis.xaxis)
    if layout.log_y:
        log_ticks(axis.yaxis)


def _is_first(accountant: str, curve: str, curves: list[tuple[str, str]]) -> bool:
    return curve == next(other for name, other in curves if name == accountant)


def _style(accountant: str, look: Look, *, first: bool) -> dict[str, Any]:
    """Line of an accountant; its second curve in a panel has open marks."""
    outlined = accountant in _OUTLINED
    return {
        "color": look.color,
        "marker": look.marker or None,
        "ls": look.dashes,
        "ms": 7.0 if outlined else _MARK,
        "mfc": "none" if outlined else (look.color if first else "white"),
        "lw": 1.0 if look.marker else 1.4,
        "mew": 0.9,
        "zorder": 3 if outlined else 2,
    }


def _size(layout: Layout, index: int, count: int) -> float:
    step = min(_NESTED_STEP, (_NESTED - _LEAST) / count)
    return _NESTED - step * index if layout.nested else _MARK


def _mechanism_style(accountant: str, look: Look, *, size: float) -> dict[str, Any]:
    """Line of a mechanism: solid with marks for the upper bound, dots for the lower one."""
    if accountant.endswith("lower"):
        return {"color": look.color, "ls": _DOTS, "lw": 1.6}
    return {"color": look.color, "marker": look.marker, "ls": "-", "ms": size, "lw": 1.0, "mfc": "none", "mew": 0.9}


def _accountant_handles(table: pd.DataFrame, looks: Mapping[str, Look]) -> list[Line2D]:
    """One entry per accountant, or per accountant and kind of curve where a panel has several."""
    handles: dict[str, Line2D] = {}
    order: dict[str, tuple[int, bool]] = {}
    places = list(looks)
    for _, rows in table.groupby("panel", sort=False):
        curves = _curves(rows)
        for accountant, curve in curves:
            several = sum(name == accountant for name, _ in curves) > 1
            label = _entry(looks[accountant].label, curve, several=several)
            first = _is_first(accountant, curve, curves)
            style = _style(accountant, looks[accountant], first=first)
            handles.setdefault(label, Line2D([], [], label=label, **style))
            order.setdefault(label, (places.index(accountant), not first))
    return [handles[label] for label in sorted(handles, key=lambda label: order[label])]


def _entry(label: str, curve: str, *, several: bool) -> str:
    """Legend text of a curve; a bound that is used outside its conditions is not called proven."""
    if curve == "largest budget":
        return label.split(" (")[0] + ", largest budget"
    return f"{label}: {_role(curve)}" if several else label


def _role(curve: str) -> str:
    """What a curve stands for in a legend that serves several panels."""
    if curve.startswith(("Uniform", "Gauss")):
        return curve.rstrip("0123456789")
    return "one randomizer alone" if curve == "single" else "composed"


def _mechanism_handles(table: pd.DataFrame, layout: Layout, looks: Mapping[str, Look]) -> list[Line2D]:
    """Colours and marks are mechanisms, strokes are accountants."""
    mechanisms = series_looks(table["curve"].drop_duplicates())
    handles = []
    for i, look in enumerate(mechanisms):
        style = _mechanism_style("", look, size=_size(layout, i, len(mechanisms)))
        handles.append(Line2D([], [], label=look.label, **style))
    for accountant, look in looks.items():
        dashes = _DOTS if accountant.endswith("lower") else "-"
        handles.append(Line2D([], [], color=PALETTE["black"], ls=dashes, label=look.label))
    return handles


def _label(axes: Sequence[Axes], table: pd.DataFrame, layout: Layout) -> None:
    """Name the outer axes only."""
    x, y = common(table, "x_name", "y_name")
    for i, axis in enumerate(axes):
        if i + _COLUMNS >= len(axes):
            axis.set_xlabel(_NAMES[x])
        if i % _COLUMNS == 0:
            axis.set_ylabel(layout.ratio or _NAMES[y])
