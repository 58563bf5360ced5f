r"""Pairs of counts given by a ratio and a difference, and pairs whose blanket prefers one of the two items.

`CountPair` takes the victim's two probabilities, and their difference loses its digits where the local epsilon is
small (at 1e-6 ten of sixteen). Here the difference beta and log(heads/tails) come first:

    contrast = tanh(log_ratio/2),   speak = beta/contrast,
    contrast - tanh(eps/2) = sinh((log_ratio - eps)/2) / (cosh(log_ratio/2) cosh(eps/2)).

With A ~ Binomial(C, split) the sum over one total c has the same shape as in `hockey_stick`. In units of
speak (1 + e^eps)/2 the summand is A1 a - B1 (c - a) - 2 tanh(eps/2) rho with

    A1 = (contrast - tanh(eps/2))/(c split),   B1 = (contrast + tanh(eps/2))/(c (1 - split)),
    shift = 2 tanh(eps/2) (1 + rho)/(A1 + B1),   t = floor(c split + shift) + 1,
    E[(a - c split - shift)^+] = c split (1 - split) Pr[Bin(c-1, split) = t-1] - shift Pr[Bin(c, split) >= t].

The blocks of `hockey_stick` stay valid: adding a message that prefers the first item with probability `split` turns
the pair of total c into that of total c + 1, so h falls in c, and every summand falls and is convex in rho.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from segshuffle.accounting.numerics.hockey_stick import TERM_ERROR, CountPair, tail_within
from segshuffle.accounting.numerics.laws import BinomialLaw, CountLaw, binomial_pmf, binomial_tail, round_off
from segshuffle.arrays import FloatArray
from segshuffle.errors import ParameterError

#: Speaking probabilities this close to 1 are 1: 1 - speak would be round-off alone. Larger is the safe side.
_NEARLY_ALWAYS = 1e-15
_COMPLEMENT_FROM = 0.05


def weights(*, log_ratio: float, difference: float) -> tuple[float, float]:
    """Heads and tails with log(heads/tails) = log_ratio > 0 (+inf: tails = 0) and heads - tails = difference."""
    heads = min(difference / -math.expm1(-log_ratio), 1.0)
    return heads, heads * math.exp(-log_ratio)


@dataclass(frozen=True)
class RatioPair(CountPair):
    """A pair of counts whose heads/tails and heads - tails are known to all digits; build it with `ratio_pair`.

    Parameters
    ----------
    heads, tails, blanket
        As for `CountPair`.
    log_ratio : float
        log(heads/tails), positive, may be +inf.
    difference : float
        heads - tails, positive.
    """

    log_ratio: float
    difference: float

    @property
    def contrast(self) -> float:
        """(heads - tails)/(heads + tails)."""
        return math.tanh(0.5 * self.log_ratio)

    @property
    def speak(self) -> float:
        """Probability that the victim adds to one of the two counts."""
        speak = self.difference / self.contrast
        return speak if speak < 1.0 - _NEARLY_ALWAYS else 1.0

    @property
    def silence(self) -> float:
        """Probability that the victim adds nothing."""
        return 1.0 - self.speak

    @property
    def odds_error(self) -> float:
        """Relative error of silence/speak times a ratio of the blanket's law: that of `speak` counts in full."""
        return TERM_ERROR * (1.0 + 1.0 / self.silence) if self.silence > 0.0 else TERM_ERROR

    def headroom(self, epsilon: float) -> float:
        """Contrast less tanh(epsilon/2) as one product, to the digits of log_ratio - epsilon."""
        share = math.exp(-epsilon)
        return 2.0 * share * -math.expm1(epsilon - self.log_ratio) / ((1.0 + math.exp(-self.log_ratio)) * (1.0 + share))

    def headroom_terms(self, epsilon: float) -> float:
        """The headroom itself: a product has no terms that cancel."""
        return abs(self.headroom(epsilon))


@dataclass(frozen=True)
class UnevenPair(RatioPair):
    """A pair of counts whose blanket messages fall on the first item with probability `split`.

    D(P || Q) at `split` is D(Q || P) at 1 - `split`: the two directions differ.

    Parameters
    ----------
    heads, tails, blanket, log_ratio, difference
        As for `RatioPair`.
    split : float
        In (0, 1).
    """

    split: float

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0.0 < self.split < 1.0:
            raise ParameterError("split", self.split, "in (0, 1)")

    def conditional(
        self, epsilon: float, total: FloatArray, rho: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Value of h(c, rho), its derivative in rho and a bound on the value's round-off; 0 at c = +inf."""
        finite = np.isfinite(total)
        c = np.where(finite, total, 2.0)
        one, slope, headroom = self.split, math.tanh(0.5 * epsilon), self.headroom(epsilon)
        other = 1.0 - one
        # c times the slope of the summand in a
        steep = (headroom * other + (self.contrast + slope) * one) / (one * other)
        shift = np.minimum(2.0 * slope * c * (1.0 + rho) / steep, c)
        signed_room = c * (headroom / one - 2.0 * slope * rho) / steep
        room = np.maximum(signed_room, 0.0)
        threshold = c - np.ceil(room) + 1.0
        tail = binomial_tail(c, threshold, one)
        # what the round-off of headroom and of rho moves room by
        terms = TERM_ERROR * self.headroom_terms(epsilon) / one + 2.0 * (TERM_ERROR + self.odds_error) * slope * rho
        move = c * terms / steep
        moved = move * tail_within(signed_room + move, c, threshold, tail, lambda n, t: binomial_tail(n, t, one))
        gain = one * other * c * binomial_pmf(c - 1.0, threshold - 1.0, one)
        loss = shift * tail
        # near the end of the range the same sum, counted from its upper end
        near_end = room < 0.25 * other * c
        loss_end = np.where(threshold < c, other * c * binomial_tail(c - 1.0, threshold, one), 0.0)
        gain, loss = np.where(near_end, room * tail, gain), np.where(near_end, loss_end, loss)
        growth = 0.5 * (1.0 + math.exp(epsilon)) / self.contrast
        factor = np.where(finite, growth * steep / c, 0.0)
        fall = np.where(finite, -2.0 * growth * slope * tail, 0.0)
        return np.maximum(factor * (gain - loss), 0.0), fall, factor * ((gain + loss) * round_off(c) + moved)


def ratio_pair(*, log_ratio: float, difference: float, blanket: CountLaw, split: float = 0.5) -> RatioPair:
    """Pair of counts with the given log(heads/tails) > 0, heads - tails in (0, 1], blanket and split in (0, 1)."""
    heads, tails = weights(log_ratio=log_ratio, difference=difference)
    # heads + tails = difference / contrast may round to just above 1
    tails = min(tails, 1.0 - heads) if heads + tails < 1.0 + 1e-12 else tails
    if split == 0.5:
        return RatioPair(heads, tails, blanket, log_ratio, difference)
    return UnevenPair(heads, tails, blanket, log_ratio, difference, split)


@dataclass(frozen=True)
class ComplementedBinomial(BinomialLaw):
    """A binomial law whose 1 - probability is exact in double precision; build it with `clone_law`.

    Its lower tail is an upper tail of failures, which scipy evaluates several times faster than a complement.
    """

    def at_most(self, count: FloatArray) -> FloatArray:
        """Pr[C <= count], elementwise."""
        return binomial_tail(self.trials, self.trials - count, 1.0 - self.probability)


def clone_law(*, trials: int, probability: float) -> BinomialLaw:
    """Law of the number of clones, Binomial(trials, probability), for a divergence that is smooth in the probability.

    From 0.05 on the probability is moved by at most 1.2e-16 so that its complement is exact. The log of delta changes
    by about log(1/delta) times the relative move of 2e-15: less than the 1e-12 allowed for a single probability.
    """
    if not _COMPLEMENT_FROM <= probability < 1.0:
        return BinomialLaw(trials, probability)
    return ComplementedBinomial(trials, 1.0 - (1.0 - probability))
