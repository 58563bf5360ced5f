"""The figures of the amplification papers, drawn from their tidy tables: one look per accountant in all of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from segshuffle.accounting.single_message.looks import ACCOUNTANT_LOOKS
from segshuffle.looks import Look
from segshuffle.pipeline.style import mark_edition, use_style

_DOTS = (0, (1.0, 1.2))
#: The personalised figure's names of bounds that have a look already.
_SAME = {
    "blanket-hoeffding": "hoeffding",
    "blanket-bennett": "bennett",
    "theorem": "personalized",
    "reduction": "personalized-reduction",
}
#: Drawn as outlines, so that what lies beneath stays visible: these almost coincide with proven bounds.
_OUTLINED = ("variation-ratio", "parallel-advanced")
#: Order of the legend where the table is in another one.
_ORDER = tuple(ACCOUNTANT_LOOKS)
#: Curves of figures that compare mechanisms under one accountant: colour and marker per mechanism.
_MECHANISMS = (
    ("#000000", "o"),
    ("#D55E00", "s"),
    ("#56B4E9", "^"),
    ("#009E73", "D"),
    ("#CC79A7", "v"),
    ("#0072B2", "P"),
)
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_NAMES = {
    "local_epsilon": "local $\\varepsilon_0$",
    "claimed_epsilon": "global $\\varepsilon'$ of the original analysis",
    "n_users": "number of users $n$",
    "value": "value of the amplification variable",
    "epsilon": "$\\varepsilon$ after shuffling",
    "probability": "distribution function",
}


@dataclass(frozen=True)
class Layout:
    """How a figure is laid out.

    Parameters
    ----------
    columns : int
        Panels side by side.
    log_x, log_y : bool
        Logarithmic axes.
    height : float
        Height of a panel in inches.
    mechanisms : bool
        Whether curves of a panel are mechanisms (a colour each) rather than accountants.
    nested : bool
        Whether marks shrink from curve to curve, because the curves coincide.
    ratio : str
        Label of the ordinate where it is a logarithm of a ratio.
    """

    columns: int = 2
    log_x: bool = True
    log_y: bool = True
    height: float = 1.9
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
        "full" or "quick"; anything but "full" is written across the figure.
    """
    use_style()
    layout = LAYOUTS[name]
    panels = list(table["panel"].drop_duplicates())
    lines = math.ceil(len(panels) / layout.columns)
    size = (7.0, layout.height * lines + 0.9)
    figure, axes = plt.subplots(lines, layout.columns, figsize=size, squeeze=False, layout="constrained")
    for letter, axis, panel in zip(_LETTERS, axes.flat, panels, strict=False):
        rows = table[table["panel"] == panel]
        _panel(axis, rows, layout)
        axis.set_title(f"({letter}) {panel}")
    for axis in axes.flat[len(panels) :]:
        axis.set_visible(False)
    _label(axes, table, layout, len(panels))
    handles = _mechanism_handles(table, layout) if layout.mechanisms else _accountant_handles(table)
    if len(handles) > 1:
        longest = max(len(str(handle.get_label())) for handle in handles)
        figure.legend(handles=handles, loc="outside lower center", ncols=min(3 if longest <= 38 else 2, len(handles)))
    mark_edition(figure, edition)
    return figure


def _curves(rows: pd.DataFrame) -> list[tuple[str, str]]:
    """(accountant, curve) in the order of the table."""
    return list(rows[["accountant", "curve"]].drop_duplicates().itertuples(index=False, name=None))


def _panel(axis: Axes, rows: pd.DataFrame, layout: Layout) -> None:
    """All curves of a panel, lower bounds last, on top of the upper ones they touch."""
    curves = _curves(rows)
    mechanisms = list(dict.fromkeys(curve for _, curve in curves))
    for accountant, curve in sorted(curves, key=lambda pair: pair[0].endswith("lower")):
        chosen = rows[(rows["accountant"] == accountant) & (rows["curve"] == curve)]
        if layout.mechanisms:
            color, marker = _MECHANISMS[mechanisms.index(curve)]
            style = _mechanism_style(accountant, color, marker, size=_size(layout, mechanisms.index(curve)))
        else:
            style = _style(accountant, first=_is_first(accountant, curve, curves))
        axis.plot(chosen["x"], chosen["y"], **style)
    axis.set_xscale("log" if layout.log_x else "linear")
    axis.set_yscale("log" if layout.log_y else "linear")
    if layout.log_x:
        _plain_ticks(axis.xaxis, rows["x"], steps=(1, 2, 5))
    if layout.log_y:
        _plain_ticks(axis.yaxis, rows["y"], steps=(1, 3))


def _plain_ticks(axis: Axis, values: pd.Series[float], *, steps: tuple[int, ...]) -> None:
    """Plain numbers at `steps` times powers of ten on a short axis, at powers of ten on a long one; no minor ticks.

    Few ticks also make the layout several times faster.
    """
    low, high = float(values.min()), float(values.max())
    if high / low > 200 or high > 1000:
        steps = (1,)
    exponents = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1)
    ticks = [step * 10.0**k for k in exponents for step in steps]
    axis.set_major_locator(FixedLocator([tick for tick in ticks if low * 0.99 <= tick <= high * 1.01]))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}" if value < 1e6 else f"{value:g}"))


def _look(accountant: str) -> Look:
    return ACCOUNTANT_LOOKS[_SAME.get(accountant, accountant)]


def _is_first(accountant: str, curve: str, curves: list[tuple[str, str]]) -> bool:
    return curve == next(other for name, other in curves if name == accountant)


def _style(accountant: str, *, first: bool) -> dict[str, Any]:
    """Line of an accountant; its second curve in a panel has open marks."""
    look = _look(accountant)
    outlined = accountant in _OUTLINED
    return {
        "color": look.color,
        "marker": look.marker or None,
        "ls": look.dashes,
        "ms": 7.0 if outlined else 3.4,
        "mfc": "none" if outlined else (look.color if first else "white"),
        "lw": 1.0 if look.marker else 1.4,
        "mew": 0.9,
        "zorder": 3 if outlined else 2,
    }


def _size(layout: Layout, index: int) -> float:
    return 9.5 - 1.5 * index if layout.nested else 3.4


def _mechanism_style(accountant: str, color: str, marker: str, *, size: float = 3.4) -> dict[str, Any]:
    """Line of a mechanism: solid with marks for the upper bound, dots for the lower one."""
    if accountant.endswith("lower"):
        return {"color": color, "ls": _DOTS, "lw": 1.6}
    return {"color": color, "marker": marker, "ls": "-", "ms": size, "lw": 1.0, "mfc": "none", "mew": 0.9}


def _accountant_handles(table: pd.DataFrame) -> list[Line2D]:
    """One entry per accountant, or per accountant and kind of curve where a panel has several."""
    handles: dict[str, Line2D] = {}
    order: dict[str, int] = {}
    for _, rows in table.groupby("panel", sort=False):
        curves = _curves(rows)
        for accountant, curve in curves:
            several = sum(name == accountant for name, _ in curves) > 1
            label = _entry(accountant, curve, several=several)
            first = _is_first(accountant, curve, curves)
            handles.setdefault(label, Line2D([], [], label=label, **_style(accountant, first=first)))
            order.setdefault(label, 2 * _ORDER.index(_SAME.get(accountant, accountant)) + (not first))
    return [handles[label] for label in sorted(handles, key=lambda label: order[label])]


def _entry(accountant: str, curve: str, *, several: bool) -> str:
    """Legend text of a curve; a bound that is used outside its conditions is not called proven."""
    label = _look(accountant).label
    if curve == "largest budget":
        return label.split(" (")[0] + ", largest budget"
    return f"{label}: {_role(curve)}" if several else label


def _role(curve: str) -> str:
    """What a curve stands for in a legend that serves several panels."""
    if curve.startswith(("Uniform", "Gauss")):
        return curve.rstrip("0123456789")
    return "one randomizer alone" if curve == "single" else "composed"


def _mechanism_handles(table: pd.DataFrame, layout: Layout) -> list[Line2D]:
    """Colours and marks are mechanisms, strokes are accountants."""
    mechanisms = list(table["curve"].drop_duplicates())
    handles = []
    for i, (name, (color, marker)) in enumerate(zip(mechanisms, _MECHANISMS, strict=False)):
        style = _mechanism_style("", color, marker, size=_size(layout, i))
        handles.append(Line2D([], [], label=name, **style))
    for accountant in table["accountant"].drop_duplicates():
        dashes = _DOTS if accountant.endswith("lower") else "-"
        handles.append(Line2D([], [], color="#000000", ls=dashes, label=_look(accountant).label))
    return handles


def _label(axes: object, table: pd.DataFrame, layout: Layout, count: int) -> None:
    """Name the outer axes only."""
    x, y = str(table["x_name"].iloc[0]), str(table["y_name"].iloc[0])
    grid = axes.tolist()  # type: ignore[attr-defined]
    for i, line in enumerate(grid):
        for j, axis in enumerate(line):
            below = (i + 1) * layout.columns + j
            if below >= count:
                axis.set_xlabel(_NAMES[x])
            if j == 0:
                axis.set_ylabel(layout.ratio or _NAMES[y])
