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

from segshuffle.accounting.numerics.hockey_stick import TERM_ERROR, CountPair
from segshuffle.accounting.numerics.laws import BinomialLaw, CountLaw
from segshuffle.accounting.numerics.ranges import check_within

#: Speaking probabilities this close to 1 are 1: 1 - speak would be round-off alone. Larger is the safe side.
_NEARLY_ALWAYS = 1e-15


def weights(*, log_ratio: float, difference: float) -> tuple[float, float]:
    """Return heads and tails with log(heads/tails) = log_ratio > 0 (+inf: tails = 0) and heads - tails = difference."""
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
    split : float
        Probability, in (0, 1), that a blanket message falls on the first item. D(P || Q) at `split` is D(Q || P) at
        1 - `split`: the two directions differ.
    """

    log_ratio: float
    difference: float
    split: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        check_within("split", self.split, 0, 1, "()")

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
        """Subtract tanh(epsilon/2) from the contrast as one product, to the digits of log_ratio - epsilon."""
        share = math.exp(-epsilon)
        return 2.0 * share * -math.expm1(epsilon - self.log_ratio) / ((1.0 + math.exp(-self.log_ratio)) * (1.0 + share))

    def headroom_terms(self, epsilon: float) -> float:
        """Return the headroom itself: a product has no terms that cancel."""
        return abs(self.headroom(epsilon))


def ratio_pair(*, log_ratio: float, difference: float, blanket: CountLaw, split: float = 0.5) -> RatioPair:
    """Make the pair of counts of log(heads/tails) > 0, heads - tails in (0, 1], a blanket and a split in (0, 1)."""
    heads, tails = weights(log_ratio=log_ratio, difference=difference)
    # heads + tails = difference / contrast may round to just above 1
    tails = min(tails, 1.0 - heads) if heads + tails < 1.0 + 1e-12 else tails
    return RatioPair(heads, tails, blanket, log_ratio, difference, split)


def clone_law(*, trials: int, probability: float) -> BinomialLaw:
    """Make the law of the number of clones, Binomial(trials, probability), for a divergence smooth in the probability.

    From 0.05 on the probability is moved by at most 1.2e-16 so that its complement is exact, and the law's tails are
    fast. The log of delta changes by about log(1/delta) times the relative move of 2e-15: less than the 1e-12 allowed
    for a single probability.
    """
    if not 0.05 <= probability < 1.0:
        return BinomialLaw(trials, probability)
    return BinomialLaw(trials, 1.0 - (1.0 - probability), by_failures=True)
