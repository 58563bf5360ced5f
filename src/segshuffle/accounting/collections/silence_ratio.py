r"""Bounds on the likelihood ratio of the victim's silence, as the rest of the histogram shows it.

Given the total c of the two counters in question, the rest of the histogram enters the divergence through one random
number, the likelihood ratio L of "silent" against "spoke" (`RatioLaw`, under "spoke"), and L enters through one convex
function, Psi(x) = E max(0, x - L). That makes the divergence a plain sum over the cells (c, a):

    D = lambda (e^eps - 1) sum_c Pr[C = c-1] rho_c sum_a binom(c, a)/2^c Psi( ((2a - c)/(c tanh(eps/2)) - 1)/rho_c ),
    rho_c = (1 - lambda)/lambda * Pr[C = c]/Pr[C = c-1].

Two facts turn every approximation of the law of L into a bound:

- Psi is convex in L: atoms merged into their mean give a lower bound, atoms split onto the ends of an interval an upper
  bound. Lost mass is dropped (lower) or put at L = 0 (upper).
- Let N be the number of blanket slots that do not fall on the two items. One more such slot is post-processing of the
  whole rest of the histogram, so E Psi falls in N. For a block of totals the law at the largest N gives a lower bound,
  and the law at the smallest N an upper bound.
"""

import math
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np

from segshuffle.accounting.numerics.laws import BinomialLaw, fft_convolution
from segshuffle.arrays import FloatArray, IntArray

#: Half width of the windows in standard deviations; what lies outside is counted (upper) or dropped (lower).
_REST_WIDTH = 8.5
#: Relative height under which a convolved point probability is left out: well above the round-off of the transform.
_FLOOR = 1e-12
_DIRECT_CONVOLUTION = 400_000
_FAR = 1e200


def window(mean: float, std: float, width: float, largest: float) -> tuple[int, int]:
    """Return integers within `width` standard deviations of the mean, with room for the skewness of small means."""
    reach = width * std + 12.0
    return max(0, math.floor(mean - reach)), min(math.ceil(mean + reach), int(largest))


class RatioLaw(NamedTuple):
    """A law of L on finitely many points, ascending; below total mass 1 where mass was dropped."""

    value: FloatArray
    mass: FloatArray

    def knots(self) -> tuple[FloatArray, FloatArray]:
        """Return Psi as a piecewise linear function: abscissae and values, 0 to the left."""
        mass = np.cumsum(self.mass)
        mean = np.cumsum(self.mass * self.value)
        at = np.append(self.value, _FAR)
        return at, np.maximum(at * np.append(mass, mass[-1]) - np.append(mean, mean[-1]), 0.0)


class SumLaw(NamedTuple):
    """Point probabilities from `start` on."""

    start: int
    pmf: FloatArray


@lru_cache(maxsize=256)
def _windowed(trials: int, probability: float) -> SumLaw:
    """Return Binomial(trials, probability) around its mean; splits, levels and both ends of an interval share them."""
    law = BinomialLaw(trials, probability)
    certain = probability == 1.0
    low, high = (trials, trials) if certain else window(law.mean, law.std, _REST_WIDTH, trials)
    pmf = law.pmf(np.arange(low, high + 1.0))
    pmf.setflags(write=False)
    return SumLaw(low, pmf)


@lru_cache(maxsize=4)
def sum_of_binomials(parts: tuple[tuple[int, float], ...]) -> SumLaw:
    """Return the law of the sum of independent Binomial(trials, rate)."""
    start, pmf = 0, np.ones(1)
    for trials, rate in parts:
        if rate > 0.0:
            part = _windowed(trials, rate)
            pmf = _convolve(pmf, part.pmf)
            start += part.start
    return SumLaw(start, pmf)


def _convolve(one: FloatArray, other: FloatArray) -> FloatArray:
    if one.size * other.size <= _DIRECT_CONVOLUTION:
        return np.asarray(np.convolve(one, other), dtype=float)
    return fft_convolution(one, other)


@dataclass(frozen=True)
class Rest:
    """Where the messages that are not on the two items can fall.

    Parameters
    ----------
    free : float
        Probability that a blanket slot that is not on the two items is empty or falls on a covered item, in [0, 1].
    covered : float
        Probability that such a slot falls on a covered item, in [0, 1].
    sent : SumLaw
        Law of the number of messages that users send on covered items.
    """

    free: float
    covered: float
    sent: SumLaw

    def blanket_share(self, slots: float) -> float:
        """Return the share of the blanket in the variance of the count on the covered items, about."""
        blanket = slots * self.free * self.covered * (1.0 - self.covered)
        mass = self.sent.pmf / self.sent.pmf.sum()
        place = np.arange(mass.size)
        users = mass @ (place - mass @ place) ** 2
        return blanket / (blanket + users) if blanket > 0 else 0.0

    def hidden(self, slots: int) -> RatioLaw:
        """Return the law of Pr[slots - 1 free slots, u]/Pr[slots free slots, u], with u the count on covered items."""
        base = _convolve(self.sent.pmf, _windowed(slots - 1, self.covered).pmf)
        fewer, shifted = np.append(base, 0.0), np.append(0.0, base)
        spoke = (1.0 - self.covered) * fewer + self.covered * shifted
        kept = np.flatnonzero(spoke > _FLOOR * spoke.max())
        inside = slice(kept[0], kept[-1] + 1)
        return _ascending(fewer[inside] / spoke[inside], spoke[inside])


def _ascending(value: FloatArray, mass: FloatArray) -> RatioLaw:
    order = np.argsort(value, kind="stable")
    return RatioLaw(value[order], mass[order])


def _edges(law: RatioLaw, step: float) -> IntArray:
    """Cut the points into intervals, `step` standard deviations wide inside, more in the tails: ascending indices."""
    mass = law.mass.sum()
    mean = law.mass @ law.value / mass
    std = math.sqrt(max(law.mass @ (law.value - mean) ** 2 / mass, 1e-300))
    outer = 4.0 + np.cumsum(np.arange(2.0, 12.0) * step)
    marks = np.concatenate([-outer[::-1], np.arange(-4.0, 4.0 + step, step), outer])
    cuts = np.searchsorted(law.value, mean + std * marks)
    return np.unique(np.concatenate([[0], cuts, [law.value.size]])).astype(np.int64)


def _few(law: RatioLaw, edges: IntArray, upper: bool) -> RatioLaw:
    """Bound in convex order with few points: every block at its mean, or on all lower ends, then all upper ones."""
    starts = edges[:-1]
    mass = np.add.reduceat(law.mass, starts)
    low, high = law.value[starts], law.value[edges[1:] - 1]
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(mass > 0, np.add.reduceat(law.mass * law.value, starts) / mass, low)
        share = np.where(high > low, np.clip((mean - low) / (high - low), 0.0, 1.0), 0.0)
    if not upper:
        return RatioLaw(mean, mass)
    return RatioLaw(np.append(low, high), np.append(mass * (1 - share), mass * share))


@dataclass
class RestLaws:
    """Bounding laws of L, kept per number of slots.

    Parameters
    ----------
    rest : Rest
        Where the messages fall.
    anchors : array of int
        Numbers of free slots at which the law of the covered items is computed, ascending, from 1 to the largest.
    step : float
        Width of a block of merged points in standard deviations.
    """

    rest: Rest
    anchors: IntArray
    step: float

    def __post_init__(self) -> None:
        hidden, step = cache(self.rest.hidden), self.step

        @cache
        def covered(anchor: int, upper: bool) -> RatioLaw:
            """Return the law of the covered items at an anchor, on few points that bound it from one side."""
            law = hidden(anchor)
            return _ascending(*_few(law, _edges(law, step), upper))

        # no method, which would keep these laws alive by a cycle
        self._covered = covered

    def bound(self, slots: int, *, upper: bool) -> RatioLaw:
        """Return the law of L with `slots` blanket slots off the two items (spoke), bounding Psi from one side."""
        rest = self.rest
        if slots < 1:  # silence shows
            return RatioLaw(np.zeros(1), np.ones(1))
        if rest.free == 1.0:
            law = rest.hidden(slots) if rest.covered else RatioLaw(np.ones(1), np.ones(1))
        else:
            law = self._mixed(slots, upper)
        if not upper:
            return law
        lost = max(1.0 - law.mass.sum(), 0.0) + 1e-15
        return RatioLaw(np.append(0.0, law.value), np.append(lost, law.mass))

    def _mixed(self, slots: int, upper: bool) -> RatioLaw:
        """Return the law of (K/E K) * (ratio of the covered items given K), K ~ Binomial(slots, free)."""
        law = _windowed(slots, self.rest.free)
        count = law.start + np.arange(float(law.pmf.size))
        seen = RatioLaw(count / (slots * self.rest.free), law.pmf)
        if not self.rest.covered:
            return seen
        edges = _edges(seen, self.step)
        mean, mass = _few(seen, edges, upper)
        # the nearest anchors on the safe side
        if upper:
            place = np.tile(np.searchsorted(self.anchors, count[edges[:-1]], side="right") - 1, 2)
        else:
            place = np.searchsorted(self.anchors, count[edges[1:] - 1])
        at = self.anchors[np.clip(place, 0, self.anchors.size - 1)]
        values, masses = [], []
        for anchor in np.unique(at):
            hidden, here = self._covered(int(anchor), upper), at == anchor
            values.append(np.multiply.outer(mean[here], hidden.value).ravel())
            masses.append(np.multiply.outer(mass[here], hidden.mass).ravel())
        return _ascending(np.concatenate(values), np.concatenate(masses))
