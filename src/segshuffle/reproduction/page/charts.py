"""One interactive chart per panel: error over the blanket per user, in the colours of the printed figures."""

from typing import Any

import pandas as pd

from segshuffle.drawing.looks import AT_FIRST, TINTS, Look
from segshuffle.reproduction.design import ACCOUNTINGS
from segshuffle.reproduction.studies.panels.report import OPTIMUM, Panel

_WIDTH = 2.0
#: matplotlib's markers in plotly's words.
SYMBOLS = {
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
_POINT = (
    "<b>%{fullData.name}</b><br>at m = %{customdata[0]:.4~g}<br>MSE %{y:.3g} ± %{customdata[1]:.1g} (2 standard errors)"
    "<br>closed form %{customdata[2]:.3g}<br>%{customdata[3]:.3g} messages per user<extra></extra>"
)


def chart(panel: Panel) -> dict[str, Any]:
    """Draw the chart of one panel, as plotly's JSON.

    Measured means are drawn, with two standard errors on curves; methods that choose their own m are horizontal lines.
    The legend of the page is made of the traces: `legendgroup` is the accounting of a method.

    Parameters
    ----------
    panel : Panel
        Rows of results/mse.csv.
    """
    traces: list[dict[str, Any]] = []
    x = _floats(panel.curve["blanket_per_user"])
    # points of a horizontal line that show its value under the pointer: close enough for `hoverdistance`
    places = [*x[::4], x[-1]]
    for accounting in ACCOUNTINGS:
        looks = panel.looks(accounting)
        for method, rows in panel.curves(accounting).items():
            errors = {"array": _floats(2 * rows["mse_stderr"]), "width": 0, "thickness": 1}
            traces.append(_trace(looks[method], rows, {"size": 6}, error_y=errors))
        if accounting == "published":
            star = {"symbol": "star", "color": TINTS["white"], "size": 14}
            drawn = {"name": OPTIMUM, "mode": "markers"}
            traces.append(_trace(looks["segmented"], panel.optimum, star, **drawn))
        for name, row in panel.points(accounting).groupby("method", sort=False):
            level = pd.concat([row] * len(places))
            traces.append(_trace(looks[str(name)], level, {"size": 8, "maxdisplayed": 4}, x=places))
    return {"data": traces, "layout": _layout()}


def _trace(look: Look, rows: pd.DataFrame, marker: dict[str, Any], **drawn: Any) -> dict[str, Any]:
    """Draw rows of a method in its look, with a circle for a marker that the page has no symbol for."""
    dashes = "solid" if look.dashes == "-" else ",".join(f"{_WIDTH * float(length):g}px" for length in look.dashes[1])
    marker = {"symbol": SYMBOLS.get(look.marker, "circle"), "color": look.color} | marker
    outlined = marker["symbol"].startswith(("line", "star"))
    accounting, method = map(str, rows[["accounting", "method"]].iloc[0])
    shown = (rows["blanket_per_user"], 2 * rows["mse_stderr"], rows["mse_expected"], rows["messages_per_user"])
    return {
        "type": "scatter",
        "name": look.label,
        "legendgroup": accounting,
        "visible": True if accounting == "published" or method in AT_FIRST else "legendonly",
        "mode": "lines+markers",
        "line": {"color": look.color, "width": _WIDTH, "dash": dashes},
        "marker": {**marker, "line": {"color": look.color, "width": 1.5 if outlined else 0}},
        "x": _floats(rows["blanket_per_user"]),
        "y": _floats(rows["mse_mean"]),
        "customdata": list(zip(*map(_floats, shown), strict=True)),
        "hovertemplate": _POINT,
        **drawn,
    }


def _layout() -> dict[str, Any]:
    frame = {"gridcolor": TINTS["grid"], "linecolor": TINTS["frame"], "mirror": True, "showline": True}
    axis = {**frame, "type": "log", "dtick": "D2"}
    return {
        "showlegend": False,
        "height": 430,
        "margin": {"l": 62, "r": 12, "t": 12, "b": 48},
        "font": {"family": "DejaVu Sans, Verdana, system-ui, sans-serif", "size": 12, "color": TINTS["ink"]},
        "hovermode": "closest",
        "hoverdistance": 60,
        "hoverlabel": {"align": "left", "bgcolor": TINTS["white"], "font": {"color": TINTS["ink"]}},
        "dragmode": False,
        "xaxis": {
            **axis,
            "title": {"text": "blanket messages per user m"},
            "tickformat": "~g",
        },
        "yaxis": {**axis, "title": {"text": "MSE"}, "tickformat": ".0e"},
    }


def _floats(values: Any) -> list[float]:
    """Round to five digits: the page shows fewer, and more would make it larger."""
    return [float(f"{value:.5g}") for value in values]
