"""Estimated shares of the users with intervals: as arrays, as a table, and as a plot."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from segshuffle.arrays import BoolArray, FloatArray, IntArray
from segshuffle.collection.notebooks import ROWS, axes_of_rows, frame_of, html_of
from segshuffle.collection.planning.foresight import CONFIDENCE, threshold_of
from segshuffle.drawing.looks import PALETTE, TINTS
from segshuffle.numerics.ranges import check_integer, check_kind, name_of_number
from segshuffle.plans.item_variance import ItemVariance
from segshuffle.plans.plan import Plan

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

#: Most letters of a name.
_LETTERS = 24


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
        return np.sqrt(self.variance.at(self.frequencies))

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
        return name_of_number(item, self.names, self.frequencies.size)

    def label(self, item: int) -> str:
        """Return a short label of an item; where the name is cut, its number keeps items apart."""
        name = self.name(item)
        return name if len(name) <= _LETTERS else f"{name[:_LETTERS]}… ({item})"

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
        low, high = self.interval(confidence)
        return frame_of(
            {
                "item": self.names or range(self.frequencies.size),
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
        ax = self.plot_items(self.order[:top], confidence=confidence, ax=ax)
        ax.legend()
        return ax

    def plot_items(self, items: IntArray, *, confidence: float = CONFIDENCE, ax: Axes | None = None) -> Axes:
        """Draw the estimates of some items from the top, in their order, without a legend; otherwise as `plot`."""
        check_kind("items", items, np.ndarray)
        ax = axes_of_rows(ax, list(map(self.label, items.tolist())))
        shares, low, high = (100 * each[items] for each in (self.frequencies, *self.interval(confidence)))
        rows, blue = range(items.size), PALETTE["blue"]
        interval = f"{100 * confidence:g} % interval"
        ax.errorbar(shares, rows, xerr=[shares - low, high - shares], fmt="none", color=blue, capsize=2, label=interval)
        faces = np.where(self.told_from_zero[items], blue, TINTS["white"])
        ax.scatter(
            shares,
            rows,
            s=16,
            facecolors=faces.tolist(),
            edgecolors=blue,
            zorder=3,
            label="estimate, hollow if not told from zero",
        )
        ax.axvline(100 * self.threshold, color=PALETTE["vermilion"], linestyle="--", label="told from zero above this")
        ax.set_xlabel("share of the users in %")
        return ax

    def __repr__(self) -> str:
        """Say how many items there are and are told from zero, and which is the largest, in one line."""
        item = int(self.order[0])
        return (
            f"Estimate({self.frequencies.size} items, {np.count_nonzero(self.told_from_zero)} told from zero; largest: "
            f"{self.label(item)!r} {100 * self.frequencies[item]:.3g} %)"
        )

    def _repr_html_(self) -> str | None:
        """Return the largest estimates as a table."""
        return html_of(repr(self), lambda: self.to_frame().iloc[self.order[:ROWS]])
