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

from segshuffle.accounting.numerics.laws import BinomialLaw, convolution
from segshuffle.arrays import FloatArray, IntArray

#: Half width of the windows in standard deviations; what lies outside is counted (upper) or dropped (lower).
_REST_WIDTH = 8.5
#: Relative height under which a convolved point probability is left out: well above the round-off of the transform.
_FLOOR = 1e-12
_FAR = 1e200
#: Width of a block of merged points, in standard deviations, before any refinement.
_FIRST_STEP = 0.25


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
    reach = 8.5 * math.sqrt(rest.most * rest.free * (1.0 - rest.free)) + 12.0
    blanket = rest.most * rest.free * rest.covered * (1.0 - rest.covered)
    mass = rest.sent.pmf / rest.sent.pmf.sum()
    place = np.arange(mass.size)
    users = mass @ (place - mass @ place) ** 2
    # the less the users' messages vary on the covered items, the more the number of free slots matters
    share = blanket / (blanket + users) if blanket > 0 else 0.0
    count = 3 + math.ceil(48 * share) * 2**refinement
    inner = np.linspace(max(rest.least * rest.free - reach, 1.0), rest.most * rest.free + reach, count)
    return np.unique(np.append(inner.astype(np.int64), [1, rest.most + 1]))


@lru_cache(maxsize=64)
def _hidden(rest: Rest, slots: int) -> RatioLaw:
    """Return the law of Pr[u | slots - 1 free slots]/Pr[u | slots free slots], with u the count on covered items."""
    base = convolution(rest.sent.pmf, _windowed(slots - 1, rest.covered).pmf)
    fewer, shifted = np.append(base, 0.0), np.append(0.0, base)
    spoke = (1.0 - rest.covered) * fewer + rest.covered * shifted
    kept = spoke > _FLOOR * spoke.max()
    return _ascending(fewer[kept] / spoke[kept], spoke[kept])


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
    edges = np.concatenate([[0], np.searchsorted(law.value, mean + std * marks), [law.value.size]])
    return np.asarray(edges[np.diff(edges, prepend=-1) > 0], dtype=np.int64)


def _few(law: RatioLaw, edges: IntArray, upper: bool) -> RatioLaw:
    """Bound a law in convex order with few points: every block at its mean, or split onto its lower and upper end."""
    starts = edges[:-1]
    mass = np.add.reduceat(law.mass, starts)
    low, high = law.value[starts], law.value[edges[1:] - 1]
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(mass > 0, np.add.reduceat(law.mass * law.value, starts) / mass, low)
        share = np.where(high > low, np.clip((mean - low) / (high - low), 0.0, 1.0), 0.0)
    if not upper:
        return RatioLaw(mean, mass)
    return RatioLaw(np.stack([low, high], axis=1).ravel(), np.stack([mass * (1 - share), mass * share], axis=1).ravel())


@lru_cache(maxsize=512)
def _covered(rest: Rest, anchor: int, step: float) -> tuple[RatioLaw, RatioLaw]:
    """Return the law of the covered items at an anchor, on few points that bound it from below, and from above."""
    law = _hidden(rest, anchor)
    edges = _edges(law, step)
    return _few(law, edges, False), _few(law, edges, True)


def _mixed(rest: Rest, refinement: int, slots: int, upper: bool) -> RatioLaw:
    """Return the law of (K/E K) * (ratio of the covered items given K), K ~ Binomial(slots, free)."""
    free, step = _windowed(slots, rest.free), _FIRST_STEP / 2**refinement
    count = free.start + np.arange(float(free.pmf.size))
    seen = RatioLaw(count / (slots * rest.free), free.pmf)
    if not rest.covered:
        return seen
    edges, anchors = _edges(seen, step), _anchors(rest, refinement)
    mean, mass = _few(seen, edges, upper)
    # the nearest anchors on the safe side
    if upper:
        place = np.repeat(np.searchsorted(anchors, count[edges[:-1]], side="right") - 1, 2)
    else:
        place = np.searchsorted(anchors, count[edges[1:] - 1])
    used, row = np.unique(anchors[np.clip(place, 0, anchors.size - 1)], return_inverse=True)
    laws = [_covered(rest, int(anchor), step)[upper] for anchor in used]
    # a row for each anchor; shorter ones end with points without mass
    hidden = np.zeros((2, used.size, max(law.value.size for law in laws)))
    for i, law in enumerate(laws):
        hidden[:, i, : law.value.size] = law
    values, masses = mean[:, None] * hidden[0, row], mass[:, None] * hidden[1, row]
    return _ascending(values.ravel(), masses.ravel())


@lru_cache(maxsize=128)
def psi(rest: Rest, refinement: int, slots: int, upper: bool) -> tuple[FloatArray, FloatArray]:
    """Bound Psi from one side, if `slots` blanket slots are off the two items under "spoke".

    Returns
    -------
    abscissae, values : ndarray
        Knots of a piecewise linear function, 0 to the left.
    """
    if slots < 1:  # silence shows
        law = RatioLaw(np.zeros(1), np.ones(1))
    elif rest.free == 1.0 and rest.covered > 0.0:
        law = _hidden(rest, slots)
    else:
        law = _mixed(rest, refinement, slots, upper)
    lost = max(1.0 - law.mass.sum(), 0.0) + 1e-15 if upper else 0.0
    at = np.concatenate([[0.0], law.value, [_FAR]])
    mass = np.concatenate([[lost], law.mass, [0.0]])
    return at, np.maximum(at * np.cumsum(mass) - np.cumsum(mass * at), 0.0)
