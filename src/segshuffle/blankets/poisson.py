"""The Poisson blanket: single dummies at uniform items.

Every counter is Poisson(mu), so its variance equals its expected number of messages. The loss of a pair is tabulated
count by count. For large means each cell has one block of counts, so the time does not grow with the mean.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from segshuffle.arrays import FloatArray
from segshuffle.blankets.atoms import MOST_CELLS
from segshuffle.blankets.base import BLANKET_MEAN_RANGE, Blanket
from segshuffle.blankets.pairs import CountPair
from segshuffle.blankets.parts import Part
from segshuffle.numerics.laws import log_poisson
from segshuffle.numerics.loss_distribution import LossTable

#: Least mean for blocks of counts; least counts of a block, on average: fewer would not save time.
_LARGE_MEAN = 1e5
_LEAST_COUNTS = 4

_GAUSS_NODES, _GAUSS_WEIGHTS = np.polynomial.legendre.leggauss(4)


@dataclass(frozen=True)
class Poisson(Blanket):
    """Single dummies: every counter is Poisson(mean)."""

    name = "poisson"
    phrase = "about random items"
    means = BLANKET_MEAN_RANGE
    can_be_capped = True

    def parts(self, mean: float) -> tuple[Part, ...]:
        """Return the single units."""
        return (Part(mean, 0.0),)

    def pair(self, mean: float, copies: float) -> ItemPair:
        """Return the counters of an exchanged item."""
        return ItemPair(mean, copies)


LAW = Poisson
POISSON = LAW()


@dataclass(frozen=True)
class ItemPair(CountPair):
    """The two counters that tell one item of a user from another, among single dummies."""

    blanket: Blanket = POISSON

    def coarse_law(self, log_tail: float) -> tuple[FloatArray, FloatArray]:
        """Return log ratio and log mass of B on at most 257 counts, each weighted by their spacing."""
        low, high = self.window(log_tail)
        spacing = max((high - low) / 256, 1.0)
        count = np.minimum(low + spacing * np.arange(math.floor((high - low) / spacing) + 1), high)
        return self.log_ratio(count), log_poisson(count - self.blanket_mean, self.blanket_mean) + math.log(spacing)

    def loss_table(self, step: float, log_tail: float) -> LossTable:
        """Make the loss table of one pair, with cells about `step` wide; e^-log_tail of each tail counts as truncated.

        Cells are wider if there would be more than `MOST_CELLS`. The bounds from the table include the effect.
        """
        window = self.window(log_tail)
        low, high = self.log_ratio(np.array(window, dtype=float))
        range_of_loss = float(high - low)
        step = max(step, range_of_loss / MOST_CELLS)
        # The Gauss rule is accurate to 1e-10 while the mass changes by a factor below e^0.8 within a block.
        block = min(step, 0.2 * range_of_loss / log_tail)
        if self.blanket_mean >= _LARGE_MEAN and window[1] - window[0] > _LEAST_COUNTS * range_of_loss / block:
            return block_table(self, block, log_tail)
        return super().loss_table(step, log_tail)


def _first_counts(pair: ItemPair, levels: FloatArray) -> tuple[FloatArray, float]:
    """Return the least count whose log ratio is >= each level (for mu >= 1e5), and by how much this fails at most."""
    mu = pair.blanket_mean
    deviation = mu * np.expm1(levels / pair.copies)
    for _ in range(4):  # Newton's method with the slope of copies * log1p(deviation / mu), nearly the log ratio
        deviation -= (pair.log_ratio(mu + deviation) - levels) * (mu + deviation) / pair.copies
    count = np.ceil(mu + deviation) - 1
    for _ in range(2):
        count += pair.log_ratio(count) < levels
    violation = max(
        float((levels - pair.log_ratio(count)).max()), float((pair.log_ratio(count - 1) - levels).max()), 0.0
    )
    return count, violation


def block_masses(pair: ItemPair, last: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return B's mass of the blocks (last_k, last_(k+1)] and A's mass minus B's, for mu >= 1e5.

    B's mass is the Euler-Maclaurin sum with a four-point Gauss rule for the integral: SciPy's incomplete gamma
    function is off by 1e-8 and more in the tails above mu = 1e6. A's surplus telescopes to values of B's mass
    function at the ends.
    """
    mu = pair.blanket_mean
    deviation, width = last - mu, np.diff(last)
    nodes = deviation[:-1] + np.outer(_GAUSS_NODES + 1, width / 2)
    integral = width / 2 * (_GAUSS_WEIGHTS @ np.exp(log_poisson(nodes, mu)))
    value = np.exp(log_poisson(deviation, mu))
    # first and third derivative of the mass, divided by the mass, up to terms of order 1 / last^2
    slope = -np.log1p(deviation / mu) - 1 / (2 * last)
    third = slope**3 - 3 * slope / last
    mass = integral + np.diff(value * (1 / 2 + slope / 12 - third / 720))
    surplus = np.zeros_like(mass)
    for i, share in enumerate([1.0] * pair.floor + [pair.fraction]):
        surplus -= share * np.diff(value)
        value = value * ((last - i) / mu)
    return mass, surplus


def block_table(pair: ItemPair, step: float, log_tail: float) -> LossTable:
    """Build the table from one block of counts per cell, at a cost that does not grow with mu."""
    low, high = pair.log_ratio(np.array(pair.window(log_tail), dtype=float))
    first, end = math.floor(low / step), math.floor(high / step) + 1
    edges, violation = _first_counts(pair, np.arange(first, end + 1) * step)
    mass, surplus = block_masses(pair, edges - 1)
    log_mean = np.log1p(surplus / mass)
    excess = np.clip(np.expm1(log_mean - np.arange(first, end) * step), 0.0, math.expm1(step))
    largest = float(np.abs(log_mean).max())
    error = 1e-13 * (pair.floor + 1) * (largest + 10 / float(np.diff(edges).min())) + 1e-10 * largest + 2 * violation
    return LossTable(first, step, mass, excess, pair.zero_mass, 4 * math.exp(-log_tail), 1e-10, error)
