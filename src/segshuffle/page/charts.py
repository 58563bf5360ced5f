"""One interactive chart per panel: error over the blanket per user, in the colours of the printed figures."""

import math
from typing import Any

import pandas as pd

from segshuffle.looks import TINTS, Look
from segshuffle.pipeline.design import ACCOUNTINGS
from segshuffle.pipeline.numbers import mean_and_error, nearest
from segshuffle.studies.reproduction.report import Panel

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
#: Proven methods that are drawn at first, beside all of the paper's.
_AT_FIRST = ("poisson", "poisson-copies", "curator-weighted")
_POINT = (
    "<b>%{fullData.name}</b><br>m = %{x:.4~g}<br>MSE %{y:.3g} ± %{customdata[0]:.1g} (2 standard errors)"
    "<br>closed form %{customdata[1]:.3g}<br>%{customdata[2]:.3g} messages per user<extra></extra>"
)


def chart(panel: Panel) -> dict[str, Any]:
    """Draw the chart of one panel, as plotly's JSON.

    Measured means are drawn, with two standard errors on curves; methods that choose their own m are level lines. The
    legend of the page is made of the traces: `legendgroup` is the accounting of a method.

    Parameters
    ----------
    panel : Panel
        Rows of results/mse.csv.
    """
    traces: list[dict[str, Any]] = []
    x = _floats(panel.curve["blanket_per_user"])
    for group in ACCOUNTINGS:
        looks = panel.looks(group)
        points: Any = panel.points(group).set_index("method")
        for method, rows in panel.curves(group).items():
            errors = {"array": _floats(2 * rows["mse_stderr"]), "width": 0, "thickness": 1}
            traces.append(_trace(looks[method], group, method, {"size": 6}, error_y=errors, **_measured(rows)))
        optimum = panel.optimum[panel.optimum["blanket_per_user"].between(x[0], x[-1])]
        if group == "published" and len(optimum):
            star = {"symbol": "star", "color": TINTS["white"], "size": 14}
            drawn = {"name": "m from optimizeParameter", "mode": "markers", **_measured(optimum)}
            traces.append(_trace(looks["segmented"], group, "segmented", star, **drawn))
        for method in [method for method in looks if method in points.index]:
            level = _level(points.loc[method], x)
            traces.append(_trace(looks[method], group, method, {"size": 8, "maxdisplayed": 4}, **level))
    return {"data": traces, "layout": _layout(x)}


def _trace(look: Look, group: str, method: str, marker: dict[str, Any], **drawn: Any) -> dict[str, Any]:
    """Draw a method in its look, with a circle for a marker that the page has no symbol for."""
    dashes = "solid" if look.dashes == "-" else ",".join(f"{_WIDTH * float(length):g}px" for length in look.dashes[1])
    marker = {"symbol": SYMBOLS.get(look.marker, "circle"), "color": look.color} | marker
    outlined = marker["symbol"].startswith(("line", "star"))
    return {
        "type": "scatter",
        "name": look.label,
        "legendgroup": group,
        "visible": True if group == "published" or method in _AT_FIRST else "legendonly",
        "mode": "lines+markers",
        "line": {"color": look.color, "width": _WIDTH, "dash": dashes},
        "marker": {**marker, "line": {"color": look.color, "width": 1.5 if outlined else 0}},
        **drawn,
    }


def _measured(rows: pd.DataFrame) -> dict[str, Any]:
    """Return points at their m, with all that is shown under the pointer."""
    shown = (2 * rows["mse_stderr"], rows["mse_expected"], rows["messages_per_user"])
    return {
        "x": _floats(rows["blanket_per_user"]),
        "y": _floats(rows["mse_mean"]),
        "customdata": list(zip(*map(_floats, shown), strict=True)),
        "hovertemplate": _POINT,
    }


def _level(row: pd.Series, x: list[float]) -> dict[str, Any]:
    """Return a horizontal line that shows its value under the pointer everywhere."""
    own = "" if row["blanket_per_user"] == 0 else f"<br>its own m = {nearest(row['blanket_per_user'])}"
    return {
        "x": x,
        "y": _floats([row["mse_mean"]] * len(x)),
        "hovertemplate": f"<b>%{{fullData.name}}</b>{own}<br>MSE {mean_and_error(row['mse_mean'], row['mse_stderr'])} "
        f"(2 standard errors)<br>closed form {nearest(row['mse_expected'])}<br>"
        f"{nearest(row['messages_per_user'])} messages per user<extra></extra>",
    }


def _layout(x: list[float]) -> dict[str, Any]:
    grid = {"gridcolor": TINTS["grid"], "linecolor": TINTS["frame"], "mirror": True, "showline": True, "type": "log"}
    ticks = [value for power in range(-4, 6) for value in (10.0**power, 3 * 10.0**power) if x[0] <= value <= x[-1]]
    return {
        "showlegend": False,
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
            "tickvals": ticks,
            "tickformat": "~g",
        },
        "yaxis": {**grid, "title": {"text": "MSE"}, "tickformat": ".0e", "dtick": "D2"},
    }


def _floats(values: Any) -> list[float]:
    """Return five digits: more than the text that is shown has, and less than the page would carry otherwise."""
    return [float(f"{value:.5g}") for value in values]
