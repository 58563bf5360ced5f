"""Fake users (Cheu and Zhilyaev): the exact privacy loss of one item among vectors of flipped bits.

The vectors of other users only hide more, so they are left out. A user's vector hides among K fake ones, all bits
flipped with probability q. Once they are shuffled, their likelihood given the user's item x is proportional to the sum
over the vectors of one number each: a = (1 - q)/q if bit x is set, b = q/(1 - q) if not. So it depends on x through the
count of column x alone, and an exchanged item is a pair of independent counters, A = Bin(K, q) + Ber(1 - q) and B =
Bin(K + 1, q), with

    dA/dB (N) = (a N + b (K + 1 - N))/(K + 1).

A user with several items sends a vector for each, and t exchanged items are t such pairs, each with K of the fakes.
"""

import math
from dataclasses import dataclass

import numpy as np

from segshuffle.accounting.collections.product import log_delta_bound
from segshuffle.blankets.atoms import AtomPair, Atoms
from segshuffle.numerics.laws import binomial_pmf
from segshuffle.numerics.ranges import check_integer, check_within
from segshuffle.numerics.search import safe_edge

#: Relative error of a mass, except what the rounding of the mean adds; ten times that of `laws`.
_MASS_ERROR = 1e-11
_LARGEST_FLIP = 0.4999
_SMALLEST_FLIP = 1e-9
_TOLERANCE = 1e-3


@dataclass(frozen=True)
class FlippedPair(AtomPair):
    """The two columns that change if an item is exchanged.

    Parameters
    ----------
    fakes : int
        Fake vectors K >= 1 that hide the item.
    flip : float
        Probability q of a flip, in [1e-9, 0.4999].

    Raises
    ------
    ParameterError
        If a value is outside its range.
    """

    fakes: int
    flip: float
    zero_mass = 0.0  # a count of 0 may be a flip

    def __post_init__(self) -> None:
        check_integer("fakes", self.fakes, 1)
        check_within("flip", self.flip, _SMALLEST_FLIP, _LARGEST_FLIP)

    @property
    def copies(self) -> float:
        """What holding the item adds to a column's mean."""
        return 1 - 2 * self.flip

    @property
    def variance(self) -> float:
        """Variance of a column's count."""
        return (self.fakes + 1) * self.flip * (1 - self.flip)

    def _atoms(self, log_tail: float) -> Atoms:
        vectors = self.fakes + 1
        mean = vectors * self.flip
        # Bennett's inequality for either tail
        reach = math.sqrt(2 * log_tail * self.variance) + log_tail
        low, high = max(math.floor(mean - reach), 0), min(math.ceil(mean + reach) + 1, vectors)
        count = np.arange(low, high + 1, dtype=float)
        odds = self.flip / (1 - self.flip)
        ratio = np.log((count / odds + odds * (vectors - count)) / vectors)
        # not SciPy's log of the mass, which has 9 digits at a million trials
        mass = binomial_pmf(vectors, count, self.flip)
        error = _MASS_ERROR + 1e-15 * (reach + 2)
        return Atoms(ratio, mass, 0.0, 4 * math.exp(-log_tail), error, 1e-14)


def least_flip(*, fakes: int, pairs: int, epsilon: float, delta: float) -> float:
    """Find the least probability of a flip that gives (epsilon, delta) to `pairs` exchanged items, rounded up.

    Delta does not increase in it: flipping more is post-processing.

    Parameters
    ----------
    fakes : int
        Fake vectors among which each exchanged item hides, at least 1.
    pairs : int
        Exchanged items t >= 1, each with fakes of its own.
    epsilon, delta : float
        Target; epsilon in [0, 100], delta in [1e-110, 1).

    Raises
    ------
    InfeasibleError
        If flips of 0.4999 are not enough.
    """

    def excess(flip: float) -> float:
        return log_delta_bound([(FlippedPair(fakes, flip), pairs)], epsilon) - math.log(delta)

    return safe_edge(excess, safe=_LARGEST_FLIP, unsafe=_SMALLEST_FLIP, tolerance=2 * _TOLERANCE)


def published_flips(
    n_users: int, epsilon: float, delta: float, *, least: int = 1, largest_flip: float = 0.5
) -> tuple[int, float]:
    """Return the fakes k of every user and the flip probability q of the published condition (kind: published).

    The condition is q (1 - q) >= 33/(5 n k) ((e^eps + 1)/(e^eps - 1))^2 ln(4/delta); q meets it with equality.

    Parameters
    ----------
    n_users : int
        Users n.
    epsilon, delta : float
        Target for one exchanged item.
    least : int
        Fewest fakes of a user; more are used if q would not be below `largest_flip`.
    largest_flip : float
        In (0, 0.5].
    """
    needed = 33 / (5 * n_users) / math.tanh(epsilon / 2) ** 2 * math.log(4 / delta)
    fakes = max(least, math.floor(needed / (largest_flip * (1 - largest_flip))) + 1)
    share = needed / fakes
    # the smaller root of q (1 - q) = share, without cancellation
    return fakes, 2 * share / (1 + math.sqrt(1 - 4 * share))
