"""What all accountants say about one question: as a list, as a table, and as a plot."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from segshuffle.accounting.single_message.amplification import Entry
from segshuffle.collection.notebooks import axes_of_rows, frame_of, html_of
from segshuffle.digits import rounded_down, rounded_up
from segshuffle.drawing.looks import ACCOUNTANTS, PALETTE, looks_of
from segshuffle.numerics.typed import typed

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

#: Significant digits on the screen.
_DIGITS = 4


class Account(list[Entry]):
    """The answers of all accountants to one question: a list of `Entry`.

    Parameters
    ----------
    entries : iterable of Entry
        The answers.
    measure : {"epsilon", "delta"}
        What the values are.
    question : str
        What was asked: the randomizer and its parameters, n_users, the given delta or epsilon, and rounds.
    left_out : mapping of str to str
        Accountants that apply but give no number, with the reason.
    """

    @typed
    def __init__(self, entries: Iterable[Entry], measure: str, question: str, left_out: Mapping[str, str]) -> None:
        super().__init__(entries)
        self.measure, self.question, self.left_out = measure, question, left_out

    @property
    def names(self) -> list[str]:
        """Names of the accountants."""
        return [each.accountant for each in self]

    @property
    def proven(self) -> tuple[float, float]:
        """The largest proven lower bound (0 without one), and the smallest proven upper bound (inf without one)."""
        lower = (each.value for each in self if each.kind in ("lower", "exact"))
        upper = (each.value for each in self if each.guarantee)
        return max(lower, default=0.0), min(upper, default=math.inf)

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas table: columns accountant, value, kind, status, source and guarantee."""
        return frame_of(list(self))

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw all values, and the interval between the proven bounds; the axis of deltas is logarithmic, without 0.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default on a new figure.

        Returns
        -------
        matplotlib.axes.Axes
        """
        looks = looks_of(self.names, ACCOUNTANTS)
        ax = axes_of_rows(ax, [looks[name].label for name in self.names])
        lower, upper = self.proven
        if lower < upper < math.inf:
            ax.axvspan(
                lower,
                upper,
                facecolor=PALETTE["sky"],
                edgecolor=PALETTE["blue"],
                alpha=0.35,
                label="between the proven bounds",
            )
            ax.legend()
        for row, each in enumerate(self):
            look = looks[each.accountant]
            ax.plot(each.value, row, color=look.color, marker=look.marker or "|", markersize=9, markeredgewidth=1.5)
        if self.measure == "delta" and any(each.value for each in self):
            ax.set_xscale("log")
        else:
            ax.set_xlim(left=0.0)
        ax.set_xlabel(self.measure)
        ax.set_title(self.question, fontsize="medium", wrap=True)
        return ax

    def __repr__(self) -> str:
        """Say what was asked, and the proven bounds, rounded to the safe side, in one line."""
        lower, upper = self.proven
        return (
            f"Account({self.question}: {self.measure} is proven to be at least {rounded_down(lower, _DIGITS):g} "
            f"and at most {rounded_up(upper, _DIGITS):g}; {len(self)} accountants)"
        )

    def _repr_html_(self) -> str | None:
        """Return the answers as a table; lower bounds are rounded down, all other values up."""

        def frame() -> pd.DataFrame:
            values = [(rounded_down if each.kind == "lower" else rounded_up)(each.value, _DIGITS) for each in self]
            return self.to_frame().assign(value=values).drop(columns="source")

        return html_of(repr(self), frame)
