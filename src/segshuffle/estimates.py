"""Estimated shares of the users with intervals: as arrays, as a table, and as a plot."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from segshuffle.accounting.numerics.ranges import check_integer
from segshuffle.arrays import BoolArray, FloatArray, IntArray
from segshuffle.extras import require
from segshuffle.looks import PALETTE
from segshuffle.notebooks import axes_of_rows, html_table
from segshuffle.planning.foresight import CONFIDENCE, threshold_of
from segshuffle.protocols.base import Plan
from segshuffle.protocols.item_variance import ItemVariance

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

#: Rows in a notebook, and most letters of a name.
_ROWS, _LETTERS = 10, 24


@dataclass(frozen=True, eq=False, repr=False)
class Estimate:
    """Estimated shares of the users, item by item.

    Parameters
    ----------
    frequencies : ndarray of float, shape (domain_size,)
        Estimated shares. They are unbiased if levels do not depend on items, and may be below 0 or above 1.
    plan : Plan
        The plan of the users who took part.
    names : sequence of str or None
        Names of the items; None for the numbers 0..domain_size - 1.
    """

    frequencies: FloatArray
    plan: Plan
    names: Sequence[str] | None = None

    @functools.cached_property
    def variance(self) -> ItemVariance:
        """Variance of an estimate as a function of the share.

        It comes from the dummies, from random choices of how many messages are sent about a held item, and from random
        levels.
        """
        return ItemVariance.of(self.plan)

    @property
    def standard_errors(self) -> FloatArray:
        """Standard deviation of every estimate, at the estimated share, shape (domain_size,)."""
        return np.asarray(np.sqrt(self.variance.at(self.frequencies)))

    @functools.cached_property
    def threshold(self) -> float:
        """The share above which estimates are told from zero."""
        return threshold_of(self.plan)

    @property
    def told_from_zero(self) -> BoolArray:
        """Which items are told from zero, shape (domain_size,).

        With probability 0.95 none of them is held by nobody.
        """
        return self.frequencies > self.threshold

    @property
    def order(self) -> IntArray:
        """Items from the largest to the smallest estimate, shape (domain_size,)."""
        return np.argsort(-self.frequencies, kind="stable")

    def name(self, item: int) -> str:
        """Return the name of an item."""
        return str(item) if self.names is None else self.names[item]

    def interval(self, confidence: float = CONFIDENCE) -> tuple[FloatArray, FloatArray]:
        """Return the lower and upper ends of an interval for every item's share, each of shape (domain_size,).

        Parameters
        ----------
        confidence : float
            Probability, in (0, 1), that one item's interval contains its share. The ends are from a normal law,
            corrected for the dummies' distribution. Counts are whole numbers, so the actual probability differs, at
            0.95 by about 0.06 divided by their standard deviation.
        """
        return self.variance.interval(self.frequencies, confidence)

    def to_frame(self, confidence: float = CONFIDENCE) -> pd.DataFrame:
        """Return a pandas table with a row for every item, in the order of the items.

        Parameters
        ----------
        confidence : float
            As for `interval`.

        Returns
        -------
        DataFrame
            Columns item (its name, or its number), estimate, low, high, standard_error and told_from_zero.
        """
        require("pipeline", "A pandas table", "pandas")
        import pandas as pd

        low, high = self.interval(confidence)
        return pd.DataFrame(
            {
                "item": range(self.frequencies.size) if self.names is None else list(self.names),
                "estimate": self.frequencies,
                "low": low,
                "high": high,
                "standard_error": self.standard_errors,
                "told_from_zero": self.told_from_zero,
            }
        )

    def plot(self, top: int = 20, *, confidence: float = CONFIDENCE, ax: Axes | None = None) -> Axes:
        """Draw the largest estimates with their intervals; items that are not told from zero are hollow.

        Parameters
        ----------
        top : int
            Number of items.
        confidence : float
            As for `interval`.
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default on a new figure.

        Returns
        -------
        matplotlib.axes.Axes
        """
        check_integer("top", top, 1)
        items, told = self.order[:top], self.told_from_zero
        ax = axes_of_rows(ax, [_short(self.name(item)) for item in items.tolist()])
        shares, low, high = (100 * each for each in (self.frequencies, *self.interval(confidence)))
        rows = np.arange(items.size)
        for shown, label, face in (
            (told[items], "told from zero", PALETTE["blue"]),
            (~told[items], "not told from zero", "none"),
        ):
            if shown.any():
                drawn = items[shown]
                ax.errorbar(
                    shares[drawn],
                    rows[shown],
                    xerr=[shares[drawn] - low[drawn], high[drawn] - shares[drawn]],
                    fmt="o",
                    color=PALETTE["blue"],
                    markerfacecolor=face,
                    capsize=2,
                    label=f"{label}, {100 * confidence:g} % interval",
                )
        ax.axvline(100 * self.threshold, color=PALETTE["vermilion"], linestyle="--", label="told from zero above this")
        ax.set_xlabel("share of the users in %")
        ax.legend()
        return ax

    def __repr__(self) -> str:
        """Say how many items there are and are told from zero, and which is the largest, in one line."""
        largest = int(self.order[0])
        found = f"{self.frequencies.size} items, {np.count_nonzero(self.told_from_zero)} told from zero"
        return f"Estimate({found}; largest: {_short(self.name(largest))!r} {self._percent(largest)[0]} %)"

    def _repr_html_(self) -> str:
        """Return the largest estimates as a table."""
        columns = ("item", "estimate %", f"{100 * CONFIDENCE:g} % from", "to", "told from zero")
        told = self.told_from_zero
        rows = [
            (self.name(item), *self._percent(item), "yes" if told[item] else "no")
            for item in self.order[:_ROWS].tolist()
        ]
        return html_table(repr(self), columns, rows)

    def _percent(self, item: int) -> list[str]:
        """Return an estimate and the ends of its interval in per cent, to two digits of its standard error."""
        error = 100 * float(self.standard_errors[item])
        places = max(1 - math.floor(math.log10(error)), 0) if error > 0.0 else 2
        ends = (each[item] for each in self.interval())
        return [f"{100 * share:.{places}f}" for share in (self.frequencies[item], *ends)]


def _short(name: str) -> str:
    return name if len(name) <= _LETTERS else name[: _LETTERS - 1] + "…"
