"""The figures of this study: fewer honest users, liars, levels that depend on items, and several rounds."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from segshuffle.drawing.looks import METHODS, PALETTE, label_of, looks_of
from segshuffle.drawing.style import finished, log_axes, log_ticks
from segshuffle.reproduction.rows import common
from segshuffle.reproduction.studies.drawing import POPULATION, draw_measured, draw_series, population_panels, series_of

_PANEL = [*POPULATION, "split"]
_CURVE: dict[str, Any] = {"ms": 2.5, "lw": 0.9}
#: Height of the room for the legend above curves, divided by the height of the curves.
_LEGEND_ROOM = 0.4
#: Number of points at which the curve 1 / assumed share is drawn.
_POINTS = 50
#: Column of the influence -> what is drawn of it: label, marker, filled or not.
_SHIFTS = {
    "item": ("shift of one frequency", "o", "full"),
    "all_items": ("shift of all frequencies together", "o", "none"),
    "item_error": ("standard error of one frequency, nobody lies", "|", "full"),
}


def draw_participation(epsilons: pd.DataFrame, errors: pd.DataFrame) -> Figure:
    """Draw two panels for every population: epsilons at the left, errors at the right.

    Parameters
    ----------
    epsilons, errors : DataFrame
        As `compute.epsilon_table` and `compute.error_table` return them.
    """
    figure, panels = population_panels(epsilons, each=2, height=2.7, foot=0.0)
    for rows, (left, right) in panels:
        _epsilons(left, rows)
        _errors(right, errors.merge(rows[_PANEL].drop_duplicates()))
        for axis in (left, right):
            axis.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
            axis.legend()
    return figure


def _epsilons(axis: Axes, rows: pd.DataFrame) -> None:
    """Draw a colour per plan and a line per level, on top of the levels that were promised."""
    for level in rows["level"].unique():
        axis.axhline(level, color=PALETTE["grey"], lw=0.6, zorder=1)
    plans = rows[np.isfinite(rows["epsilon"])].assign(label=rows["assumed"].map("plan assumes {:.0%}".format))
    for i, (_, points) in enumerate(plans.groupby("level")):
        looks = {name: look._replace(label="_" * (i > 0) + name) for name, look in series_of(plans["label"]).items()}
        draw_series(axis, points, "really", "epsilon", looks, **_CURVE)
    axis.set(yscale="log", xlabel="users who really are honest", ylabel=r"$\epsilon$ at $\delta$")
    low, high = axis.get_ylim()
    axis.set_ylim(low, high * (high / low) ** _LEGEND_ROOM)
    log_ticks(axis.yaxis)


def _errors(axis: Axes, rows: pd.DataFrame) -> None:
    """Draw a curve per method and budget, and the dotted curve 1 / assumed share."""
    rows = rows.assign(label=list(map(_sent, rows["max_messages"])))
    draw_series(axis, rows, "assumed", "error_ratio", series_of(rows["label"]), **_CURVE)
    shares = np.linspace(rows["assumed"].min(), rows["assumed"].max(), _POINTS)
    axis.plot(shares, 1 / shares, color=PALETTE["dark-grey"], lw=0.9, ls=":", label="1 / assumed share")
    axis.set(xlabel="users assumed to be honest", ylabel="MSE / MSE if all are assumed honest")


def _sent(max_messages: float) -> str:
    """Say in short what users send; all plans in these figures have a Poisson blanket."""
    return "sampling" if np.isnan(max_messages) else f"copies, {max_messages:g} messages"


def draw_influence(table: pd.DataFrame) -> Figure:
    """Draw one panel per population and one row per method, with a text where there is no bound.

    Parameters
    ----------
    table : DataFrame
        As `compute.influence_table` returns it.
    """
    most = max(len(rows) for _, rows in table.groupby(_PANEL))
    figure, panels = population_panels(table, 1, height=0.75 + 0.2 * most, foot=0.4)
    for rows, (axis,) in panels:
        places = np.arange(len(rows))[::-1]
        for column, (label, marker, fill) in _SHIFTS.items():
            axis.plot(rows[column], places, marker, color=PALETTE["blue"], fillstyle=fill, label=label)
        axis.set(yticks=places, yticklabels=[_sender(row) for _, row in rows.iterrows()], ylim=(-0.6, len(rows) - 0.4))
        log_axes(axis, "x")
        for place, shift in zip(places, rows["item"], strict=True):
            if not np.isfinite(shift):
                text = "no bound" if np.isinf(shift) else "not known"
                axis.text(0.99, place, text, transform=axis.get_yaxis_transform(), ha="right", va="center")
        axis.set_xlabel(f"share of the users; {common(rows, 'corrupt')[0]:.0%} of them lie")
    return finished(figure)


def _sender(row: pd.Series) -> str:
    """Name the method, and say how many messages one of its users may send."""
    label = label_of(row["method"], row["accounting"], row["parameters"])
    if np.isfinite(row["max_messages"]):
        label += f", budget {row['max_messages']:g}"
    return f"{label}: {row['most_messages']:g}" if np.isfinite(row["most_messages"]) else label


def draw_dependence(table: pd.DataFrame) -> Figure:
    """Draw two panels for every population: the bias of one item at the left, the squared error at the right.

    Parameters
    ----------
    table : DataFrame
        As `compute.dependence_table` returns it.
    """
    looks = looks_of(table["method"], METHODS["proven"])
    figure, panels = population_panels(table, each=2, height=2.5, foot=0.4)
    for rows, (left, right) in panels:
        left.axhline(0.0, color=PALETTE["dark-grey"], lw=0.6, zorder=1)
        for axis, what, label in ((left, "bias", "bias of the most frequent item"), (right, "mse", "MSE")):
            # exact values as lines, simulated ones as marks
            for name, curve in rows.groupby("method", sort=False):
                look, x = looks[str(name)], curve["strength"]
                axis.plot(x, curve[f"{what}_expected"], color=look.color, ls=look.dashes, lw=0.9, zorder=2)
                draw_measured(axis, x, curve, what, look, label=look.label)
            axis.set(xlabel="dependence of levels on that item", ylabel=label)
        log_axes(right, "y")
    return finished(figure)


def draw_rounds(table: pd.DataFrame) -> Figure:
    """Draw the error of each of T collections within one epsilon and delta, one panel for every population.

    Parameters
    ----------
    table : DataFrame
        As `compute.rounds_table` returns it.
    """
    apart = ", each round within ($\\epsilon/T$, $\\delta/T$)"
    labels = [
        _sent(messages) + apart * (accounting != "product")
        for messages, accounting in zip(table["max_messages"], table["accounting"], strict=True)
    ]
    looks = series_of(labels)
    figure, panels = population_panels(table.assign(label=labels), height=2.6, foot=0.6)
    for rows, (axis,) in panels:
        draw_series(axis, rows, "rounds", "mse_expected", looks, **_CURVE)
        axis.set(xlabel="rounds $T$", ylabel="MSE of each round")
        log_axes(axis)
        log_ticks(axis.xaxis, rows["rounds"].unique())
    return finished(figure)
