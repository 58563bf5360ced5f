r"""Bounds on the likelihood ratio of the victim's silence, as the rest of the histogram shows it (see `full_view`).

Given the total c of the two counters in question, the rest of the histogram enters the divergence through one random
number, the likelihood ratio L of "silent" against "spoke" (`RatioLaw`, under "spoke"), and L enters through one convex
function, Psi(x) = E max(0, x - L). Let a be the first of the two counters, C the number of blanket messages on the two
items, and lambda the sampling rate. Then the divergence is a plain sum over the cells (c, a):

    D = lambda (e^eps - 1) sum_c Pr[C = c-1] rho_c sum_a binom(c, a)/2^c Psi( ((2a - c)/(c tanh(eps/2)) - 1)/rho_c ),
    rho_c = (1 - lambda)/lambda * Pr[C = c]/Pr[C = c-1].

Two facts turn every approximation of the law of L into a bound:

- max(0, x - L) is convex in L: atoms merged into their mean give a lower bound, atoms split onto the ends of an
  interval an upper bound. Lost mass is dropped (lower) or put at L = 0 (upper).
- Let N be the number of blanket slots that do not fall on the two items. One more such slot is post-processing of the
  whole rest of the histogram, so Psi falls in N. For a block of totals the law at the largest N gives a lower bound,
  and the law at the smallest N an upper bound.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy import special

from segshuffle.arrays import FloatArray, IntArray
from segshuffle.numerics.laws import BinomialLaw, convolution

#: Half width of the windows in standard deviations; what lies outside is counted (upper) or dropped (lower).
_REST_WIDTH = 8.5
#: Relative height under which a convolved point probability is left out: well above the round-off of the transform.
_FLOOR = 1e-12
#: Number of blocks of merged points before any refinement.
_FIRST_BLOCKS = 40


def window(mean: float, std: float, width: float, largest: float) -> tuple[int, int]:
    """Return the ends of mean -+ `width` standard deviations, with room for the skewness of small means."""
    reach = width * std + 12.0
    return max(0, math.floor(mean - reach)), min(math.ceil(mean + reach), int(largest))


class RatioLaw(NamedTuple):
    """A law of L on finitely many points, ascending; its mass is below 1 if some was dropped."""

    value: FloatArray
    mass: FloatArray


class SumLaw(NamedTuple):
    """Point probabilities from `start` on."""

    start: int
    pmf: FloatArray


@lru_cache(maxsize=256)
def _windowed(trials: int, probability: float) -> SumLaw:
    """Return Binomial(trials, probability) around its mean; cached for all levels and both ends of an interval."""
    law = BinomialLaw(trials, probability)
    low, high = window(law.mean, law.std, _REST_WIDTH, trials)
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
            pmf = convolution(pmf, part.pmf)
            start += part.start
    return SumLaw(start, pmf)


@dataclass(frozen=True, eq=False)
class Rest:
    """Where the messages that are not on the two items can fall.

    Parameters
    ----------
    free : float
        Probability that a blanket slot that is not on the two items is *free*: empty, or on a covered item; in [0, 1].
    covered : float
        Probability that a free slot is on a covered item, in [0, 1].
    sent : SumLaw
        Law of the number of messages that users send on covered items.
    least, most : int
        Range of the number of blanket slots that are not on the two items; least >= 1.
    """

    free: float
    covered: float
    sent: SumLaw
    least: int
    most: int


@lru_cache(maxsize=64)
def _anchors(rest: Rest, refinement: int) -> IntArray:
    """Return the numbers of free slots at which the law of covered items is computed: likely ones, and both ends."""
    if rest.covered == 1.0:  # u is their number and the users' messages: all laws are the same
        return np.array([rest.most + 1])
    reach = 8.5 * math.sqrt(rest.most * rest.free * (1.0 - rest.free)) + 12.0
    blanket = rest.most * rest.free * rest.covered * (1.0 - rest.covered)
    mass = rest.sent.pmf / rest.sent.pmf.sum()
    place = np.arange(mass.size)
    users = mass @ (place - mass @ place) ** 2
    # the less the users' messages vary on the covered items, the more the number of free slots matters
    share = blanket / (blanket + users) if blanket > 0 else 0.0
    count = 3 + math.ceil(24 * share) * 2**refinement
    inner = np.linspace(max(rest.least * rest.free - reach, 1.0), rest.most * rest.free + reach, count)
    return np.unique(np.append(inner.astype(np.int64), [1, rest.most + 1]))


def _hidden(rest: Rest, slots: int) -> RatioLaw:
    """Return the law of Pr[u | slots - 1 free slots]/Pr[u | slots free slots], with u the count on covered items."""
    base = convolution(rest.sent.pmf, _windowed(slots - 1, rest.covered).pmf)
    fewer, shifted = np.append(base, 0.0), np.append(0.0, base)
    spoke = (1.0 - rest.covered) * fewer + rest.covered * shifted
    kept = spoke > _FLOOR * spoke.max()
    value, mass = fewer[kept] / spoke[kept], spoke[kept]
    order = np.argsort(value, kind="stable")
    return RatioLaw(value[order], mass[order])


def _edges(law: RatioLaw, blocks: int) -> IntArray:
    """Cut the points into at most so many intervals: ascending indices."""
    mass = law.mass.sum()
    mean = law.mass @ law.value / mass
    std = math.sqrt(max(law.mass @ (law.value - mean) ** 2 / mass, 1e-300))
    # a block costs its mass times its width squared; so the tails, on which small deltas hang, get wider ones
    marks = 2.0 * special.ndtri(np.arange(1.0, blocks) / blocks)
    return np.unique(np.concatenate([[0], np.searchsorted(law.value, mean + std * marks), [law.value.size]]))


def _few(law: RatioLaw, edges: IntArray, upper: bool) -> tuple[RatioLaw, IntArray]:
    """Bound a law in convex order with few points: every block at its mean, or split onto its lower and upper end.

    Returns the points and their blocks.
    """
    starts, lasts = edges[:-1], edges[1:] - 1
    low, high = law.value[starts], law.value[lasts]
    mass = np.add.reduceat(law.mass, starts)
    mean = np.divide(np.add.reduceat(law.mass * law.value, starts), mass, out=low.copy(), where=mass > 0)
    blocks = np.arange(mass.size)
    if not upper:
        return RatioLaw(mean, mass), blocks
    # each block keeps its mass and mean; a block of one value needs no second point
    wide = np.flatnonzero(high > low)
    share_at_high = np.zeros_like(mass)
    share_at_high[wide] = np.clip((mean - low)[wide] / (high - low)[wide], 0.0, 1.0)
    at_low, at_high = mass * (1 - share_at_high), mass * share_at_high
    ends = RatioLaw(np.append(low, high[wide]), np.append(at_low, at_high[wide]))
    return ends, np.append(blocks, wide)


def _free_law(slots: int, probability: float) -> RatioLaw:
    """Return the law of K/E K, K ~ Binomial(slots, probability)."""
    start, pmf = _windowed(slots, probability)
    return RatioLaw((start + np.arange(float(pmf.size))) / (slots * probability), pmf)


@lru_cache(maxsize=256)
def _few_free(slots: int, probability: float, blocks: int, upper: bool) -> tuple[RatioLaw, IntArray]:
    """Bound the law of K/E K with few points, each with the K behind it on the safe side; cached for all levels."""
    law = _free_law(slots, probability)
    edges = _edges(law, blocks)
    few, block = _few(law, edges, upper)
    ends = edges[:-1] if upper else edges[1:] - 1
    return few, _windowed(slots, probability).start + ends[block]


@lru_cache(maxsize=4)
def _few_covered(rest: Rest, refinement: int) -> list[RatioLaw]:
    """Bound the laws of the covered items at all anchors from below, and from above."""
    laws = [_hidden(rest, anchor) for anchor in _anchors(rest, refinement).tolist()]
    cut = [(law, _edges(law, _FIRST_BLOCKS * 2**refinement)) for law in laws]
    return [_rows([_few(*each, upper)[0] for each in cut]) for upper in (False, True)]


def _rows(laws: list[RatioLaw]) -> RatioLaw:
    """Make a row of each law; shorter ones repeat their last value, without mass."""
    value, mass = np.zeros((2, len(laws), max(law.value.size for law in laws)))
    for i, law in enumerate(laws):
        value[i], mass[i, : law.value.size] = law.value[-1], law.mass
        value[i, : law.value.size] = law.value
    return RatioLaw(value, mass)


def _mixed(rest: Rest, refinement: int, slots: int, upper: bool) -> RatioLaw:
    """Return the law of (K/E K) * (ratio of the covered items given K), K ~ Binomial(slots, free)."""
    free, count = _few_free(slots, rest.free, _FIRST_BLOCKS * 2**refinement, upper)
    anchors, hidden = _anchors(rest, refinement), _few_covered(rest, refinement)[upper]
    # the nearest anchors on the safe side
    place = np.searchsorted(anchors, count, side="right") - 1 if upper else np.searchsorted(anchors, count)
    place = np.clip(place, 0, anchors.size - 1)
    some = slice(np.count_nonzero(hidden.mass[place], axis=1).max())
    value = free.value[:, None] * hidden.value[place, some]
    return RatioLaw(value.ravel(), (free.mass[:, None] * hidden.mass[place, some]).ravel())


class SilenceLaw(NamedTuple):
    """Psi(x) = E max(0, x - L) of a law that bounds that of L from one side.

    It is linear between the knots, which ascend, and past the last one its slope is `total`, the mass of the law.
    """

    knot: FloatArray
    psi: FloatArray
    total: float

    def gain(self, excess: FloatArray, odds: FloatArray) -> FloatArray:
        """Return E max(0, excess - odds L), elementwise, for odds >= 0 and an excess of at most 1."""
        odds = np.maximum(odds, 1e-300)
        x = excess / odds
        psi: FloatArray = np.interp(x, self.knot, self.psi) + self.total * np.maximum(x - self.knot[-1], 0.0)
        return odds * psi


@lru_cache(maxsize=128)
def silence_law(rest: Rest, refinement: int, slots: int, upper: bool) -> SilenceLaw:
    """Bound the law of L from one side, if `slots` blanket slots are off the two items under "spoke"."""
    if slots < 1:  # silence shows
        law = RatioLaw(np.zeros(1), np.ones(1))
    elif not rest.covered:
        law = _free_law(slots, rest.free)
    elif rest.free == 1.0:
        law = _hidden(rest, slots)
    else:
        law = _mixed(rest, refinement, slots, upper)
    lost = max(1.0 - float(law.mass.sum()), 0.0) + 1e-15 if upper else 0.0
    order = np.argsort(law.value, kind="stable")  # quick for a law in order, as most are
    knot = np.append(0.0, law.value[order])
    below = np.cumsum(np.append(lost, law.mass[order]))
    return SilenceLaw(knot, np.append(0.0, np.cumsum(below[:-1] * np.diff(knot))), float(below[-1]))
