r"""Hockey-stick divergence of a pair of counts, certified, at a cost that does not grow with the number of messages.

The object (math of Theorem 4.8 of "Privacy Amplification via Shuffling: Unified, Simplified, and Tightened" and of
Theorem 3 of "Segmented Private Data Aggregation in the Multi-message Shuffle Model"): C blanket messages fall on the
two items that distinguish the neighbouring datasets, A ~ Binomial(C, 1/2) of them on the first. The *victim*, the user
whose input changes, adds one message to the first count with probability `heads`, to the second with probability
`tails`, and is silent otherwise:

    P = (A + D1, C - A + D2),   Q = (A + D2, C - A + D1),   Pr[D1 = 1] = heads,  Pr[D2 = 1] = tails.

Given the total c of both counts the divergence is a sum over one binomial(c, 1/2), and one threshold decides it:

    D = sum_c speak * contrast * Pr[C = c-1] * h(c, rho_c),
    h(c, rho) = 2 (1 + e^eps)/c * [ (c/4) Pr[Bin(c-1, 1/2) = t-1] - shift * Pr[Bin(c, 1/2) >= t] ],
    shift = (c/2) (tanh(eps/2)/contrast) (1 + rho),   t = floor(c/2 + shift) + 1,
    rho_c = (1 - speak)/speak * Pr[C = c]/Pr[C = c-1],

with speak = heads + tails and contrast = (heads - tails)/(heads + tails). The bracket is
sum_{a >= t} (a - c/2 - shift) binom(c, a)/2^c, by the recursion of the binomial tail. Its two terms are all that
cancels, as with Mills' ratio.

A pair is given by heads - tails and log(heads/tails), because the difference of two probabilities loses digits where
the local epsilon is small (at 1e-6 ten of sixteen are left):

    contrast = tanh(log_ratio/2),   speak = difference/contrast,
    contrast - tanh(eps/2) = sinh((log_ratio - eps)/2) / (cosh(log_ratio/2) cosh(eps/2)).

With A ~ Binomial(C, split), for a blanket that prefers one of the two items, the sum over one total c has the same
shape. In units of speak (1 + e^eps)/2 the summand is A1 a - B1 (c - a) - 2 tanh(eps/2) rho with

    A1 = (contrast - tanh(eps/2))/(c split),   B1 = (contrast + tanh(eps/2))/(c (1 - split)),
    shift = 2 tanh(eps/2) (1 + rho)/(A1 + B1),   t = floor(c split + shift) + 1,
    E[(a - c split - shift)^+] = c split (1 - split) Pr[Bin(c-1, split) = t-1] - shift Pr[Bin(c, split) >= t].

Not every total c is evaluated: blocks of totals suffice, for three reasons. First, h falls in c for a fixed rho. One
more message of the blanket, on the first item with probability `split`, turns the pair of total c into the pair of
total c + 1, and processing data never raises a divergence. Second, h is convex and falling in rho, as every summand is.
Third, rho_c falls in c. A block of totals [c1, c2) has a mass W and mean odds rho', both known from the law of C alone.
So on this block

    h(c2, rho_c2) + h_rho(c2, rho_c2) (rho' - rho_c2)  <=  mean of h  <=  chord of h(c1, .) on [rho_c2, rho_c1] at rho',

with h_rho the derivative in rho. The gap is of first order in the width of the block through c, and of second order
through rho. Blocks are split where the gap is widest until the whole interval is as narrow as asked. Nothing is
truncated: the blocks cover the whole support.
"""

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from segshuffle.arrays import BoolArray, FloatArray
from segshuffle.numerics.intervals import SMALLEST_DELTA, DeltaInterval
from segshuffle.numerics.laws import BinomialLaw, binomial_pmf, binomial_tail, round_off
from segshuffle.numerics.poisson_binomial import PoissonBinomialLaw
from segshuffle.numerics.ranges import check_epsilon, check_within

#: Law of a count C >= 0: its mean, deviation and largest value, point and tail probabilities, and their ratios.
CountLaw = BinomialLaw | PoissonBinomialLaw
_MAX_ROUNDS = 24
_MAX_BLOCKS = 2_000_000
#: Gap reduction asked of one round of splitting: gaps are linear in the width only when they are small.
_SHRINK = 12.0
#: Share of the allowed width that a round of splitting aims at.
_AIM = 0.7
#: Where a table of totals is cut at first, in standard deviations from the mean.
_FIRST_EDGES = np.concatenate([np.arange(-38.0, -12.0, 2.0), np.arange(-12.0, 12.0, 0.25), np.arange(12.0, 40.0, 2.0)])
#: Pieces that one block is split into at most.
_MOST_PIECES = 4096.0
#: Laws with a smaller standard deviation are cut as if they had this one.
_LEAST_DEVIATION = 1.0
_LARGEST_ODDS = 1e200
#: Relative error of a product of a few terms: nine roundings.
TERM_ERROR = 2e-15
#: If `CountPair.speak` is this close to 1, it counts as 1: 1 - speak would be round-off, and a larger `speak` is safe.
_NEARLY_ALWAYS = 1e-15


#: Lower and upper end of a divergence, and how much each block adds to their gap.
_Bounds = tuple[float, float, FloatArray]


@dataclass(frozen=True)
class CountPair:
    """The pair of counts (P, Q) that dominates what the server sees of one victim, or equals it.

    Parameters
    ----------
    difference : float
        heads - tails, in (0, 1].
    log_ratio : float
        log(heads/tails), positive; +inf where a message names its item for certain.
    blanket : CountLaw
        Law of the number C of blanket messages on the two items together.
    split : float
        Probability, in (0, 1), that a blanket message falls on the first item. D(P || Q) at `split` is D(Q || P) at
        1 - `split`: the two directions differ.
    """

    difference: float
    log_ratio: float
    blanket: CountLaw
    split: float = 0.5

    def __post_init__(self) -> None:
        check_within("log_ratio", self.log_ratio, 0, math.inf, "(]")
        # the difference may round to just above the contrast
        check_within("difference", self.difference, 0, min(self.contrast * (1 + 1e-12), 1.0), "(]")
        check_within("split", self.split, 0, 1, "()")

    @cached_property
    def contrast(self) -> float:
        """(heads - tails)/(heads + tails): 1 when a message names its item for certain."""
        return math.tanh(0.5 * self.log_ratio)

    @cached_property
    def speak(self) -> float:
        """Probability that the victim adds to one of the two counts."""
        speak = self.difference / self.contrast
        return speak if speak < 1.0 - _NEARLY_ALWAYS or self.log_ratio == math.inf else 1.0

    @property
    def silence(self) -> float:
        """Probability that the victim adds nothing."""
        return 1.0 - self.speak

    @property
    def odds_error(self) -> float:
        """Relative error of silence/speak times a ratio of the blanket's law; silence has speak's absolute error."""
        exact = self.log_ratio == math.inf or self.silence == 0.0
        return TERM_ERROR if exact else TERM_ERROR * (1.0 + 1.0 / self.silence)

    def headroom(self, epsilon: float) -> float:
        """Return contrast - tanh(epsilon/2), computed as one product: as accurate as log_ratio - epsilon."""
        share = math.exp(-epsilon)
        return 2.0 * share * -math.expm1(epsilon - self.log_ratio) / ((1.0 + math.exp(-self.log_ratio)) * (1.0 + share))

    def conditional(
        self, epsilon: float, total: FloatArray, rho: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return h(total, rho), its derivative in rho and a bound on the value's round-off, elementwise."""
        c, one, slope, headroom = total, self.split, math.tanh(0.5 * epsilon), self.headroom(epsilon)
        other = 1.0 - one
        # c times the slope of the summand in a; at an even split without headroom, which may have lost digits
        uneven = (headroom * other + (self.contrast + slope) * one) / (one * other)
        steep = 4.0 * self.contrast if one == 0.5 else uneven
        shift = np.minimum(2.0 * slope * c * (1.0 + rho) / steep, c)
        # how far the threshold stays below c
        signed_room = c * (headroom / one - 2.0 * slope * rho) / steep
        room = np.maximum(signed_room, 0.0)
        threshold = c - np.ceil(room) + 1.0
        tail = binomial_tail(c, threshold, one)
        gain = one * other * c * binomial_pmf(c - 1.0, threshold - 1.0, one)
        loss = shift * tail
        # near the end of the range the same sum, counted from its upper end
        end = room < 0.25 * other * c
        if end.any():
            gain[end] = room[end] * tail[end]
            loss[end] = other * c[end] * binomial_tail(c[end] - 1.0, threshold[end], one)
        # by how much the round-off of headroom and of rho moves room
        terms = TERM_ERROR * abs(headroom) / one + 2.0 * (TERM_ERROR + self.odds_error) * slope * rho
        move = c * terms / steep
        moved = move * _tail_within(signed_room + move, c, threshold, tail, one)
        growth = 0.5 * (1.0 + math.exp(epsilon)) / self.contrast
        factor = growth * steep / c
        error = factor * ((gain + loss) * round_off(c) + moved)
        return np.maximum(factor * (gain - loss), 0.0), -2.0 * growth * slope * tail, error


def _tail_within(
    room: FloatArray, total: FloatArray, threshold: FloatArray, tail: FloatArray, split: float
) -> FloatArray:
    """Bound the slope of E[(a - total + r)^+] for r up to `room`: what an error of r is at most multiplied by.

    The expectation is convex in r with the slope Pr[a >= total - ceil(r) + 1]. `threshold` and `tail` belong to the r
    that was computed; only where an integer lies between it and `room` does the slope grow.
    """
    lowest = total + 1.0 - np.ceil(room)
    crossed = lowest < threshold
    if not crossed.any():
        return tail
    return np.where(crossed, binomial_tail(total, lowest, split), tail)


class _Edges(NamedTuple):
    """Totals that begin a block, ascending, the last one past the support; all arrays of one shape (n_blocks + 1,)."""

    total: FloatArray
    rho: FloatArray
    point: FloatArray
    """Pr[C = total - 1]."""
    tail: FloatArray
    """Pr[C <= total - 2] up to the mean, Pr[C >= total - 1] above it."""
    value: FloatArray
    """h(total, rho)."""
    slope: FloatArray
    """Derivative of h in rho (<= 0)."""
    error: FloatArray
    """Round-off bound of value."""
    cross: FloatArray
    """Upper bound of h at this total and the rho of the next edge."""


def hockey_stick(pair: CountPair, epsilon: float, rtol: float = 1e-4) -> DeltaInterval:
    """Enclose D_{e^epsilon}(P || Q) of a pair of counts.

    Parameters
    ----------
    pair : CountPair
        The pair. If its split is 1/2, it is symmetric, so the other direction has the same value.
    epsilon : float
        In [0, 300].
    rtol : float
        Relative width asked of the interval, in (0, 1).

    Returns
    -------
    DeltaInterval
        lower <= D <= upper, round-off included. Values below 1e-290 come back as [0, 1e-290].

    Raises
    ------
    ParameterError
        If epsilon is outside its range.
    """
    check_epsilon(epsilon)
    total, bounds = _first_bounds(pair, epsilon)
    gap = math.inf
    for _ in range(_MAX_ROUNDS):
        lower, upper, gaps = bounds
        if upper < SMALLEST_DELTA:
            return DeltaInterval(0.0, SMALLEST_DELTA)
        # round-off does not fall with the width of the blocks: stop when splitting no longer helps
        if upper - lower <= rtol * lower or upper - lower > 0.9 * gap or total.size > _MAX_BLOCKS:
            break
        gap = upper - lower
        fresh = _split(total, gaps, max(_AIM * rtol * lower, gap / _SHRINK))
        if fresh.size == 0:
            break
        total = np.sort(np.append(total, fresh))
        bounds = _bounds(pair, _at_totals(pair, epsilon, total))
    if not lower <= upper:  # a nan must never pass for a small delta
        return DeltaInterval(0.0, 1.0)
    return DeltaInterval(max(lower, 0.0), min(upper, 1.0))


class _LawTable:
    """What the law of the blanket alone says of totals, which a search asks for again and again."""

    def __init__(self, blanket: CountLaw) -> None:
        self.blanket = blanket
        #: Totals, ascending; point and tail of `_Edges`; Pr[C = total]/Pr[C = total - 1]. The last total is +inf.
        self._known = np.array([[math.inf], [0.0], [0.0], [0.0]])
        # the first edges: from total 1 to past the largest one, closer together around the mean
        inner, end = np.floor(blanket.mean + 1 + _FIRST_EDGES * max(blanket.std, _LEAST_DEVIATION)), blanket.largest + 2
        self.first = np.unique(np.concatenate([[1.0], inner[(inner > 1) & (inner < end)], [end]]))

    def at(self, total: FloatArray) -> FloatArray:
        """Return ascending totals and what is known of them, shape (4, n_totals)."""
        known = self._known
        place = np.searchsorted(known[0], total)
        new = total[known[0, place] != total]
        if new.size:
            known = np.append(known, self._evaluated(new), axis=1)
            known = self._known = known[:, np.argsort(known[0])]
            place = np.searchsorted(known[0], total)
        return known[:, place]

    def _evaluated(self, total: FloatArray) -> FloatArray:
        law, count = self.blanket, total - 1
        above = np.searchsorted(count, law.mean, side="right")
        tail = np.append(law.at_most(count[:above] - 1), law.at_least(count[above:]))
        return np.array([total, law.pmf(count), tail, law.ratio(total)])


_table = lru_cache(maxsize=1)(_LawTable)  # a search asks for one law


@lru_cache(maxsize=1)  # a search asks for a wide interval, and then perhaps for a narrow one
def _first_bounds(pair: CountPair, epsilon: float) -> tuple[FloatArray, _Bounds]:
    """Choose the first edges, and bound the divergence with them."""
    total = _table(pair.blanket).first
    return total, _bounds(pair, _at_totals(pair, epsilon, total))


def _at_totals(pair: CountPair, epsilon: float, totals: FloatArray) -> _Edges:
    """Evaluate everything that belongs to ascending totals."""
    total, point, tail, ratio = _table(pair.blanket).at(totals)
    rho, wide = np.zeros_like(total), np.empty(0, dtype=np.int64)
    if pair.silence > 0.0:
        rho = np.minimum(pair.silence / pair.speak * ratio, _LARGEST_ODDS)
        wide = np.flatnonzero(np.diff(total) > 1)  # a block of one total has one rho
    # h at all edges and across blocks in one call: short arrays cost by the call
    conditional = pair.conditional(epsilon, np.append(total, total[wide]), np.append(rho, rho[wide + 1]))
    value, slope, error = (each[: total.size] for each in conditional)
    cross = value + error
    cross[wide] = (conditional[0] + conditional[2])[total.size :]
    return _Edges(total, rho, point, tail, value, slope, error, cross)


def _bounds(pair: CountPair, edges: _Edges) -> _Bounds:
    """Bound the divergence from the blocks [total[i], total[i+1])."""
    left, right = _Edges(*(a[:-1] for a in edges)), _Edges(*(a[1:] for a in edges))
    single = right.total == left.total + 1
    mass = np.where(single, left.point, _masses(pair, left, right))
    high, low = left.value + left.error, left.value - left.error
    if not single.all():
        chord, tangent = _chord_and_tangent(pair, left, right, mass)
        high, low = np.where(single, high, chord), np.where(single, low, tangent)
    low = np.maximum(low, 0.0)
    scale = pair.speak * pair.contrast
    upper = math.fsum((mass * high).tolist()) + _mass_error(edges, single, high)
    lower = math.fsum((mass * low).tolist()) - _mass_error(edges, single, low)
    return scale * lower, scale * upper, scale * mass * (high - low)


def _chord_and_tangent(pair: CountPair, left: _Edges, right: _Edges, mass: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Bound the mean of h over every block: chord in rho at its first total, tangent in rho at its last."""
    odds = pair.silence / pair.speak
    relative = round_off(right.total) + pair.odds_error
    with np.errstate(divide="ignore", invalid="ignore"):
        # sum of Pr[C = c] over the block, relative to the sum of Pr[C = c - 1], less 1
        growth = (right.point - left.point) / mass
        error = np.abs(growth) * np.maximum(left.tail, right.tail) + right.point + left.point
        error = odds * relative * (2.0 * error / mass + 1.0)
        # first order in the mass's error: if it may exceed mass/4, the mean odds are anywhere in the block
        known = mass > 4.0 * relative * (left.tail + right.tail)
        rho = np.where(known, odds * (1.0 + growth), left.rho)
        error = np.where(known, error, math.inf)
        rho = np.minimum(np.maximum(rho, right.rho), left.rho)
        # both lines fall in rho: the chord is taken at the least rho within the error, the tangent at the largest
        least = np.maximum(rho - error, right.rho)
        share = np.where(left.rho > right.rho, (least - right.rho) / (left.rho - right.rho), 0.0)
    chord = left.cross + (left.value + left.error - left.cross) * share
    tangent = right.value - right.error + right.slope * (np.minimum(rho + error, left.rho) - right.rho) * (1 + 1e-9)
    return np.minimum(chord, left.cross), tangent


def _masses(pair: CountPair, left: _Edges, right: _Edges) -> FloatArray:
    """Return Pr[left <= C + 1 < right] of every block, as differences of tails on the side where they are small."""
    left_below, right_below = left.total - 1 <= pair.blanket.mean, right.total - 1 <= pair.blanket.mean
    mass = np.where(right_below, right.tail - left.tail, left.tail - right.tail)
    return np.where(left_below & ~right_below, 1.0 - left.tail - right.tail, mass)


def _mass_error(edges: _Edges, single: BoolArray, value: FloatArray) -> float:
    """Bound the effect of the masses' round-off on sum(mass * value).

    The error of an edge's tail moves mass from one neighbouring block to the other, so it costs the difference of their
    values only; a block of one total takes its mass from the point probability instead.
    """
    relative = round_off(edges.total)
    steps = np.abs(np.diff(np.concatenate([[0.0], np.where(single, 0.0, value), [0.0]])))
    points = np.where(single, edges.point[:-1] * value, 0.0)
    return float(relative @ (edges.tail * steps) + relative[1:] @ points + 1e-15 * (edges.tail @ steps))


def _split(total: FloatArray, gap: FloatArray, budget: float) -> FloatArray:
    """Choose new edges that bring the gaps down to about `budget` in all.

    A block's gap shrinks like the inverse of its number of pieces, so pieces in proportion to the root of the gap
    reach a given sum of gaps with the fewest blocks.
    """
    first, width = total[:-1], np.diff(total)
    chosen = (width > 1) & (gap > 0.01 * budget / gap.size)
    root = np.sqrt(gap[chosen])
    limit = np.minimum(width[chosen], _MOST_PIECES)
    pieces = np.minimum(np.maximum(np.ceil(root * root.sum() / budget), 2), limit).astype(np.int64)
    cuts = pieces - 1
    owner = np.repeat(np.flatnonzero(chosen), cuts)
    position = np.arange(1, owner.size + 1) - np.repeat(np.cumsum(cuts) - cuts, cuts)
    return np.asarray(first[owner] + np.floor(width[owner] * position / np.repeat(pieces, cuts)))
