"""One interactive chart per panel: error over the blanket per user, in the colours of the printed figures."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import pandas as pd
import plotly.graph_objects as go

from segshuffle.looks import TINTS, Look
from segshuffle.pipeline.design import ACCOUNTINGS
from segshuffle.pipeline.numbers import mean_and_error, nearest
from segshuffle.studies.reproduction.report import Panel

_WIDTH = 2.0
#: matplotlib's markers in plotly's words.
_SYMBOLS = {
    "o": "circle",
    "v": "triangle-down",
    "s": "square",
    "^": "triangle-up",
    "D": "diamond",
    "P": "cross",
    "X": "x",
    "_": "line-ew-open",
    "|": "line-ns-open",
    "<": "triangle-left",
    ">": "triangle-right",
    "p": "pentagon",
    "h": "hexagon",
    "d": "diamond-tall",
    "*": "hexagram",
}
#: Symbol of markers that the page has no word for; label and dashes still tell such curves apart.
_OTHER_SYMBOL = "circle"
PAPER, PROVEN = ACCOUNTINGS
#: Proven methods that are drawn at first, beside all of the paper's.
_AT_FIRST = ("poisson", "poisson-copies", "curator-weighted")
_POINT = (
    "<b>%{fullData.name}</b><br>m = %{x:.4~g}<br>MSE %{y:.3g} ± %{customdata[0]:.1g} (2 standard errors)"
    "<br>closed form %{customdata[1]:.3g}<br>%{customdata[2]:.3g} messages per user<extra></extra>"
)


class Key(NamedTuple):
    """An entry of the legend, in the order of the traces."""

    label: str
    color: str
    dashes: str
    symbol: str
    group: str
    shown: bool


class Chart(NamedTuple):
    """A figure as plotly's JSON, and its legend."""

    figure: str
    keys: tuple[Key, ...]


def chart(panel: Panel) -> Chart:
    """Draw the chart of one panel.

    Parameters
    ----------
    panel : Panel
        Rows of results/mse.csv. Measured means are drawn, with two standard errors on curves;
        methods that choose their own m are level lines.

    Returns
    -------
    Chart
        Every trace has fixed names and no random identifier: the same rows give the same text.
    """
    figure = go.Figure()
    keys: list[Key] = []
    x = [float(value) for value in panel.curve["blanket_per_user"]]
    for group in ACCOUNTINGS:
        looks, points = panel.looks(group), panel.points(group)
        for method, rows in panel.curves(group).items():
            _curve(figure, keys, _key(looks[method], method, group), rows)
        if group == PAPER:
            _star(figure, keys, looks["segmented"], panel.optimum, x)
        for method in [method for method in looks if method in set(points["method"])]:
            _level(figure, keys, _key(looks[method], method, group), points[points["method"] == method], x)
    figure.update_layout(template="none", showlegend=False, **_layout(x))
    return Chart(str(figure.to_json(pretty=False, engine="json")), tuple(keys))


def _curve(figure: go.Figure, keys: list[Key], key: Key, rows: pd.DataFrame) -> None:
    """Draw a protocol over the grid of m, with two standard errors."""
    _add(
        figure,
        keys,
        key,
        x=_floats(rows["blanket_per_user"]),
        y=_floats(rows["mse_mean"]),
        mode="lines+markers",
        marker_size=6,
        error_y={"array": _floats(2 * rows["mse_stderr"]), "width": 0, "thickness": 1},
        customdata=_custom(rows),
        hovertemplate=_POINT,
    )


def _level(figure: go.Figure, keys: list[Key], key: Key, rows: pd.DataFrame, x: list[float]) -> None:
    """Draw a method with one number as a horizontal line that shows its value under the pointer everywhere."""
    row = rows.iloc[0]
    own = "" if row["blanket_per_user"] == 0 else f"<br>its own m = {nearest(row['blanket_per_user'])}"
    _add(
        figure,
        keys,
        key,
        x=x,
        y=_floats([row["mse_mean"]] * len(x)),
        mode="lines+markers",
        marker_size=8,
        marker_maxdisplayed=4,
        hovertemplate=f"<b>%{{fullData.name}}</b>{own}<br>MSE {mean_and_error(row['mse_mean'], row['mse_stderr'])} "
        f"(2 standard errors)<br>closed form {nearest(row['mse_expected'])}<br>"
        f"{nearest(row['messages_per_user'])} messages per user<extra></extra>",
    )


def _star(figure: go.Figure, keys: list[Key], look: Look, rows: pd.DataFrame, x: list[float]) -> None:
    """Where optimizeParameter puts m, if that is inside the panel."""
    rows = rows[(rows["blanket_per_user"] >= x[0]) & (rows["blanket_per_user"] <= x[-1])]
    if not rows.empty:
        _add(
            figure,
            keys,
            Key("m from optimizeParameter", look.color, "none", "star", PAPER, True),
            x=_floats(rows["blanket_per_user"]),
            y=_floats(rows["mse_mean"]),
            mode="markers",
            marker_size=14,
            customdata=_custom(rows),
            hovertemplate=_POINT,
        )


def _add(figure: go.Figure, keys: list[Key], key: Key, **trace: Any) -> None:
    line = {} if key.dashes == "none" else {"line": {"color": key.color, "width": _WIDTH, "dash": key.dashes}}
    figure.add_trace(
        go.Scatter(
            name=key.label,
            visible=True if key.shown else "legendonly",
            marker_color=TINTS["white"] if key.symbol == "star" else key.color,
            marker_symbol=key.symbol,
            marker_line={"color": key.color, "width": 1.5 if key.symbol.startswith(("line", "star")) else 0},
            **line,
            **trace,
        )
    )
    keys.append(key)


def _key(look: Look, method: str, group: str) -> Key:
    dashes = "solid" if look.dashes == "-" else ",".join(f"{_WIDTH * float(length):g}px" for length in look.dashes[1])
    return Key(
        look.label,
        look.color,
        dashes,
        _SYMBOLS.get(look.marker, _OTHER_SYMBOL),
        group,
        group == PAPER or method in _AT_FIRST,
    )


def _layout(x: list[float]) -> dict[str, Any]:
    grid = {"gridcolor": TINTS["grid"], "linecolor": TINTS["frame"], "mirror": True, "showline": True, "type": "log"}
    return {
        "height": 430,
        "margin": {"l": 62, "r": 12, "t": 12, "b": 48},
        "font": {"family": "DejaVu Sans, Verdana, system-ui, sans-serif", "size": 12, "color": TINTS["ink"]},
        "paper_bgcolor": TINTS["white"],
        "plot_bgcolor": TINTS["white"],
        "hovermode": "closest",
        "hoverlabel": {"align": "left", "bgcolor": TINTS["white"], "font": {"color": TINTS["ink"]}},
        "dragmode": False,
        "xaxis": {
            **grid,
            "title": {"text": "blanket messages per user m"},
            "range": [math.log10(x[0] * 0.93), math.log10(x[-1] * 1.07)],
            "tickvals": _ticks(x),
            "tickformat": "~g",
        },
        "yaxis": {**grid, "title": {"text": "MSE"}, "tickformat": ".0e", "dtick": "D2"},
    }


def _ticks(x: list[float]) -> list[float]:
    return [value for power in range(-4, 6) for value in (10.0**power, 3 * 10.0**power) if x[0] <= value <= x[-1]]


def _custom(rows: pd.DataFrame) -> list[list[float]]:
    columns = (2 * rows["mse_stderr"], rows["mse_expected"], rows["messages_per_user"])
    return [list(values) for values in zip(*map(_floats, columns), strict=True)]


def _floats(values: Any) -> list[float]:
    """Five digits: more than the text that is shown has, and less than the page would carry otherwise."""
    return [float(f"{value:.5g}") for value in values]
