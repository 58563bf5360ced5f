r"""Sample and threshold (Nebula, STAR): each holder takes part with probability p, and a count below K is not shown.

T_m is Bin(m, p), or "none" below K. With g = 1 - (1 - p) e^-eps, the largest D(T_{m+1} || T_m) is attained in
K - 1 <= m <= ceil(K/g), where it is, with t = max(K, floor((m + 1) g) + 1),

    D = p Pr[Bin(m, p) = t - 1] - (e^eps - 1) Pr[Bin(m, p) >= t].

The largest D(T_m || T_{m+1}) is 0 from eps = -log(1 - p) on, and else attained in m <= ceil(K/g'), with
g' = 1 - (1 - p) e^eps; there it is, with t = max(K, ceil((m + 1) g')),

    D = e^eps p Pr[Bin(m, p) = t - 1] - (e^eps - 1) Pr[Bin(m, p) < t].

Replacing an item removes it from one count, whose loss is at most -log(1 - p), and adds it to another. If the server
also sees the tags of hidden reports, it sees whether two of them have the same: delta is at least p^2 at every epsilon,
and at most p, the probability that the user takes part (docs/proof.md).
"""

import math
from typing import NamedTuple

import numpy as np

from segshuffle.arrays import FloatArray
from segshuffle.numerics.intervals import ZERO, DeltaInterval
from segshuffle.numerics.laws import binomial_pmf, binomial_tail, round_off
from segshuffle.numerics.ranges import check_choice, check_integer, check_within
from segshuffle.numerics.search import Bound

#: Largest number of holders that is looked at.
_LARGEST = 1_000_000
VIEWS = ("hidden", "visible")


class Worst(NamedTuple):
    """The divergence of the worst group, and how many others are in it."""

    delta: DeltaInterval
    others: int


class SampleThreshold(Bound):
    """What one user's item is worth: enclosed.

    Parameters
    ----------
    rate : float
        Probability p of taking part, in [1e-6, 1).
    threshold : int
        Least count K >= 1 that is shown; K/p is at most a million.
    neighbours : {"replace-one", "add-or-remove-one"}
        Whether another value of the user, or no value, is the alternative.
    tags : {"hidden", "visible"}
        Whether the server sees which of the reports that are not shown have equal values.
    """

    def __init__(
        self, *, rate: float, threshold: int, neighbours: str = "add-or-remove-one", tags: str = "hidden"
    ) -> None:
        check_within("rate", rate, 1e-6, 1, "[)")
        check_integer("threshold", threshold, 1, most=int(_LARGEST * rate))
        check_choice("neighbours", neighbours, ("replace-one", "add-or-remove-one"))
        check_choice("tags", tags, VIEWS)
        self.rate, self.threshold, self.replaced = rate, threshold, neighbours == "replace-one"
        self.ceiling, self.visible = math.inf, tags == "visible"

    def add(self, epsilon: float) -> Worst:
        """Return the worst D(T_{m+1} || T_m), and its m."""
        share = -math.expm1(math.log1p(-self.rate) - epsilon)
        m = np.arange(self.threshold - 1, math.ceil(self.threshold / share) + 2, dtype=float)
        best = np.maximum(np.floor((m + 1) * share) + 1, self.threshold)
        tails = []
        for t in (best, best + 1, np.maximum(best - 1, self.threshold)):  # wherever rounding puts the best count
            tails.append((self.rate * binomial_pmf(m, t - 1, self.rate), binomial_tail(m, t, self.rate)))
        return _worst(m, tails, 1.0, math.expm1(epsilon))

    def remove(self, epsilon: float) -> Worst:
        """Return the worst D(T_m || T_{m+1}), and its m."""
        # where groups would be too large, a smaller epsilon has no less
        most = math.log1p(-self.threshold / _LARGEST) - math.log1p(-self.rate)
        if epsilon >= -math.log1p(-self.rate):
            return Worst(ZERO, self.threshold - 1)
        at = min(epsilon, max(most, 0.0))
        share = -math.expm1(math.log1p(-self.rate) + at)
        m = np.arange(self.threshold - 1, math.ceil(self.threshold / share) + 2, dtype=float)
        best = np.maximum(np.ceil((m + 1) * share), self.threshold)
        tails = []
        for t in (best, best + 1, np.maximum(best - 1, self.threshold)):
            # failures have the lower tail, without cancellation
            below = binomial_tail(m, m - t + 1, 1 - self.rate)
            tails.append((self.rate * binomial_pmf(m, t - 1, self.rate), below))
        worst = _worst(m, tails, math.exp(at), math.expm1(at))
        return worst if at == epsilon else Worst(DeltaInterval(0.0, worst.delta.upper), worst.others)

    def worst(self, epsilon: float) -> Worst:
        """Return the worst group if a user is added or removed."""
        return max(self.add(epsilon), self.remove(epsilon), key=lambda each: each.delta.upper)

    def interval(self, epsilon: float, rtol: float) -> DeltaInterval:
        """Enclose delta; the ends are equal, but for round-off, if tags are hidden and a user is added or removed."""
        if self.visible:
            return DeltaInterval(self.rate**2 * (1 - 1e-15), self.rate)
        worst = self.worst(epsilon).delta
        if not self.replaced:
            return worst
        less = epsilon + math.log1p(-self.rate)
        if less >= 0:
            upper = self.add(less * (1 - 1e-14)).delta.upper
        else:  # total variations add up
            upper = self.add(0.0).delta.upper + self.remove(0.0).delta.upper
        # a group of one beside the worst group shows nothing
        return DeltaInterval(worst.lower if self.threshold > 1 else 0.0, min(upper, 1.0))


def _worst(m: FloatArray, tails: list[tuple[FloatArray, FloatArray]], gain: float, loss: float) -> Worst:
    """Return the largest of gain times the first minus loss times the second, with its round-off."""
    error = 2 * round_off(m + 1) + 1e-15 * (m + 1)
    low, high = np.zeros_like(m), np.zeros_like(m)
    for won, lost in tails:
        noise = error * (gain * won + loss * lost)
        low, high = (np.maximum(end, gain * won - loss * lost + sign * noise) for end, sign in ((low, -1), (high, 1)))
    place = int(np.argmax(high))
    return Worst(DeltaInterval(float(low.max()), min(float(high[place]) + 1e-300, 1.0)), int(m[place]))
