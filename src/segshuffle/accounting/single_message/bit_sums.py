r"""Sums of symmetric bits: a user sends a bit for every item, flipped with probability q, and only sums are seen.

If u of the n - 1 others hold an item, its column has the noise f_u = Bin(u, 1 - q) + Bin(n - 1 - u, q), and a user who
holds it or not adds Ber(1 - q) or Ber(q): the pair (A_u, B_u). f_u is log-concave, so the best test is a threshold, and
with S_u(k) the mass of f_u from k on

    D(A_u || B_u) = max_k [(1 - q - e^eps q) f_u(k - 1) - (e^eps - 1) S_u(k)].

H(eps) = max_u D(A_u || B_u) bounds both directions, and exchanging s items costs at most 2 s pairs that dominate H
(docs/proof.md). No single u is always the worst. D does not increase in the number of others with bit 1, nor in that of
others with bit 0, so on an interval [a, b] of u it is at most the D of a others that hold the item and n - 1 - b who
do not. Intervals are split until the largest bound is close to a D that is attained.
"""

import functools
import math
from typing import NamedTuple

import numpy as np

from segshuffle.accounting.single_message.accountants.interface import Accountant, of_bound
from segshuffle.accounting.single_message.rounds import RoundsBound
from segshuffle.arrays import FloatArray
from segshuffle.numerics.intervals import DeltaInterval
from segshuffle.numerics.laws import binomial_pmf, binomial_tail, round_off
from segshuffle.numerics.ranges import SMALLEST_LOCAL_EPSILON, check_integer, check_target, check_within
from segshuffle.numerics.search import Bound, edge_epsilon

#: -log of the mass that a window of flips leaves out at either end.
_LOG_TAIL = 70.0
#: Relative error of a mass, except what the rounding of the mean adds; ten times that of `laws`.
_MASS_ERROR = 1e-11
#: Smaller masses are not tabulated.
_UNDERFLOW = 1e-290
#: Largest variance of a sum of flips, number of users and local epsilon for which tables of sums are short enough.
_LARGEST_VARIANCE, LARGEST_BIT_USERS, _LARGEST_LOCAL = 300_000.0, 10**9, 30.0
#: Splitting ends when the bound is this close, relatively, to a divergence that is attained, or at so many intervals.
_CLOSE, _MOST_PRODUCTS, _FEWEST = 1.5e-3, 3_000_000_000, 60
#: With fewer others every u has a column of its own.
_FEW = 200
#: Where intervals are compared, as shares of the epsilon from which on less than this divergence is left.
_SHARES, _NEGLIGIBLE = np.array([0.0, 0.1, 0.2, 0.3, 0.4, 0.6]), 1e-28
#: Points at which H is tabulated.
_GRID = 3000
#: Atoms of several columns in a lower bound; how much closer points of a product may be.
_CELLS, _FINER = 1200, 4


class Column:
    """The pair (A, B) of a column to which `ones` others with bit 1 and `zeros` with bit 0 add flipped bits."""

    def __init__(self, ones: int, zeros: int, local_epsilon: float) -> None:
        self.local_epsilon = local_epsilon
        flip = 1 / (math.exp(local_epsilon) + 1)
        laws, error = [], 0.0
        for trials in (ones, zeros):
            mean = trials * flip
            # Bennett's inequality for either tail
            reach = math.sqrt(2 * _LOG_TAIL * mean * (1 - flip)) + _LOG_TAIL
            flips = np.arange(max(math.floor(mean - reach), 0), min(math.ceil(mean + reach), trials) + 1, dtype=float)
            laws.append(binomial_pmf(trials, flips, flip))
            error += _MASS_ERROR + 1e-15 * (reach + flips.size)
        # sums of positive terms only; f at the counts from some count on
        mass = np.convolve(laws[0][::-1], laws[1])
        self.mass = mass[mass > _UNDERFLOW]
        self.tail = np.append(np.cumsum(self.mass[::-1])[::-1], 0.0)
        self.error, self.lost = error, 4 * math.exp(-_LOG_TAIL) + mass.size * _UNDERFLOW
        # f is log-concave; what rounding changes is covered where a threshold is looked up
        self.falls = -np.minimum.accumulate(self.mass[1:] / self.mass[:-1])

    def divergence(self, epsilon: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Enclose D(A || B) at epsilons below the local one, shape (n,); both ends have this shape."""
        # (1 - q) - e^eps q without cancellation
        gain = -np.expm1(epsilon - self.local_epsilon) / (1 + math.exp(-self.local_epsilon))
        loss = np.expm1(epsilon)
        # the best threshold is the first count k with f(k)/f(k - 1) below this number
        least = gain / (gain + loss)
        first, last = (
            np.searchsorted(self.falls, -least * (1 + side * 4 * self.error), side="left") for side in (1, -1)
        )
        low, high = np.zeros_like(epsilon), np.zeros_like(epsilon)
        for step in range(int(np.max(last - first)) + 1):
            place = np.minimum(first + step, last)
            won, lost = gain * self.mass[place], loss * self.tail[place + 1]
            rounding = (self.error + 1e-15) * (won + lost)
            low, high = np.maximum(low, won - lost - rounding), np.maximum(high, won - lost + rounding)
        return np.maximum(low - self.lost * np.exp(epsilon), 0.0), np.minimum(high + self.lost, 1.0)


class WorstColumn:
    """H: an upper bound of a column's divergence at any epsilon, in both directions and for all data of the others.

    Parameters
    ----------
    n_users : int
        Users n, the one in question included.
    local_epsilon : float
        log((1 - q)/q) of the bits, in [1e-6, 30].
    """

    def __init__(self, n_users: int, local_epsilon: float) -> None:
        self.others, self.local_epsilon = n_users - 1, local_epsilon
        self.flip = 1 / (math.exp(local_epsilon) + 1)
        self.all_hold = Column(self.others, 0, local_epsilon)
        grid = local_epsilon * np.linspace(0, 1, _GRID, endpoint=False)
        end = local_epsilon
        for _ in range(4):  # where nothing is left, nothing needs to be tabulated
            left = int(np.count_nonzero(self.all_hold.divergence(grid)[1] > _NEGLIGIBLE))
            end = float(grid[min(left, _GRID - 1)])
            grid = np.linspace(0, max(end, 1e-3 * grid[-1]), _GRID)
        self.compared = _SHARES * end
        self.columns = self._covering()
        self.ratios, self.deltas = np.exp(grid), self._worst(grid) * (1 + 1e-12)

    def _covering(self) -> list[Column]:
        """Return a column for every interval of u that bounds all of its columns; the bounds are close to the worst."""
        best = self.all_hold.divergence(self.compared)[0]
        close = 1 + _CLOSE if self.others >= _FEW else 0.0
        cost = max(self.all_hold.mass.size**2 // 4, 1)
        most = max(_MOST_PRODUCTS // cost, _FEWEST)
        intervals, columns = [(0, self.others)], []
        built = 1
        while intervals:
            halves: list[tuple[int, int]] = []
            for first, last in intervals:
                column = Column(first, self.others - last, self.local_epsilon)
                bound = column.divergence(self.compared)[1]
                built += 1
                if first == last:
                    best = np.maximum(best, column.divergence(self.compared)[0])
                if first == last or built + 3 * len(halves) > most or np.all(bound <= close * best):
                    columns.append(column)
                    continue
                middle = (first + last) // 2
                halves += [(first, middle), (middle + 1, last)]
                attained = Column(middle, self.others - middle, self.local_epsilon)
                best = np.maximum(best, attained.divergence(self.compared)[0])
                built += 1
            intervals = halves
        return columns

    def _worst(self, epsilon: FloatArray) -> FloatArray:
        return np.asarray(np.max([each.divergence(epsilon)[1] for each in self.columns], axis=0))

    def delta(self, epsilon: float) -> float:
        """Return H at epsilon, rounded up."""
        return float(self._worst(np.array([epsilon]))[0]) if epsilon < self.local_epsilon else 0.0

    def chord(self, epsilon: float) -> float:
        """Return a bound of H that is quick: H is convex in e^epsilon, so lines between its points are above it."""
        return float(np.interp(math.exp(epsilon), self.ratios, self.deltas)) if epsilon < self.local_epsilon else 0.0


class BitSums(Bound):
    """What a user's set of items is worth if only sums of flipped bits are seen: enclosed.

    The upper end holds for whatever the others hold. Its lower end is a test if all others hold the items of one of the
    two sets, and none the others.

    Parameters
    ----------
    n_users : int
        Users n who send honest bits, the one in question included; at least 1, and at most about 300,000/(q (1 - q)).
    local_epsilon : float
        log((1 - q)/q) of one bit, q the probability of a flip; in [1e-6, 30].
    set_size : int
        Items s >= 1 of a user.
    exchanged : bool
        Whether neighbours replace items, so that 2 s columns change; otherwise the items are taken away from s columns.
    rounds : int
        Collections K >= 1 of the same users.
    rejected : float
        Bound on the probability that an honest report is rejected for its bits: `rejection`.
    """

    def __init__(
        self,
        *,
        n_users: int,
        local_epsilon: float,
        set_size: int = 1,
        exchanged: bool = True,
        rounds: int = 1,
        rejected: float = 0.0,
    ) -> None:
        check_within("local_epsilon", local_epsilon, SMALLEST_LOCAL_EPSILON, _LARGEST_LOCAL)
        most = int(min(_LARGEST_VARIANCE * (math.exp(local_epsilon) + 2), LARGEST_BIT_USERS))
        check_integer("n_users", n_users, 1, f"an integer in [1, {most:,}] at this local epsilon", most=most)
        check_integer("set_size", set_size, 1, most=1000)
        check_integer("rounds", rounds, 1, most=10_000)
        check_within("rejected", rejected, 0, 1)
        self.columns = (1 + bool(exchanged)) * set_size * rounds
        self.failure = rounds * n_users * rejected * (1 + 1e-14)  # a report may be rejected in any collection
        self.ceiling = self.columns * local_epsilon
        self.worst = worst_column(n_users, local_epsilon)

    @functools.cached_property
    def product(self) -> RoundsBound:
        """The bound of all columns together."""
        ceiling = self.worst.local_epsilon
        return RoundsBound(self.worst.chord, ceiling=ceiling, rounds=self.columns, finer=_FINER)

    def interval(self, epsilon: float, rtol: float) -> DeltaInterval:
        """Enclose delta; a rejection costs at most (1 + e^epsilon) n times its probability."""
        failure = (1 + math.exp(epsilon)) * self.failure
        upper = self._unrejected(epsilon)
        lower = max(self._test(epsilon) - failure, 0.0)
        # nan must never pass for a small delta
        return DeltaInterval(lower, min(upper + failure, 1.0)) if lower <= upper else DeltaInterval(0.0, 1.0)

    def epsilon(self, *, delta: float) -> float:
        """Return the least epsilon at delta, rounded up, as `Bound` does; +inf if rejections alone cost more."""
        check_target(delta)
        inner, most = delta, math.inf
        if self.failure:
            # what rejections cost grows with epsilon, so the search takes the cost at a larger one
            most = 1.05 * edge_epsilon(self._unrejected, ceiling=self.ceiling, delta=delta, rtol=self.rtol) + 0.01
            inner -= (1 + math.exp(most)) * self.failure
        if inner <= 0:
            return math.inf
        epsilon = edge_epsilon(self._unrejected, ceiling=self.ceiling, delta=inner, rtol=self.rtol)
        return epsilon if epsilon <= most else math.inf

    def _unrejected(self, epsilon: float, width: float = 0.0) -> float:
        """Return an upper bound of delta if no report is rejected."""
        return self.worst.delta(epsilon) if self.columns == 1 else self.product.interval(epsilon, width).upper

    @functools.cached_property
    def _tested(self) -> tuple["_Atoms", "_Atoms"]:
        """Return the pair of two halves of the columns if all others hold their items."""
        noise, flip = self.worst.all_hold, self.worst.flip
        without, held = np.append(noise.mass, 0.0), np.append(0.0, noise.mass)
        one = _Atoms.sorted((1 - flip) * held + flip * without, flip * held + (1 - flip) * without)
        parts = [_Atoms(np.ones(1), np.ones(1)), _Atoms(np.ones(1), np.ones(1))]
        for place, columns in enumerate((self.columns // 2, self.columns - self.columns // 2)):
            for bit in bin(columns)[2:] if columns else "":
                parts[place] = parts[place].times(parts[place])
                parts[place] = parts[place].times(one) if bit == "1" else parts[place]
        return parts[0], parts[1]

    def _test(self, epsilon: float) -> float:
        """Return P(event) - e^epsilon Q(event), rounded down, of the event "P > e^epsilon Q" of merged atoms."""
        (p, q), (other_p, other_q) = self._tested
        place = np.searchsorted(np.log(other_p / other_q), epsilon - np.log(p / q))
        above = (np.append(np.cumsum(law[::-1])[::-1], 0.0)[place] for law in (other_p, other_q))
        won, lost = (float(law @ tail) for law, tail in zip((p, q), above, strict=True))
        gain, noise = math.exp(epsilon), self.worst.all_hold
        error = self.columns * (noise.error + 4e-16 * noise.mass.size + 4e-13)
        return max(won * (1 - error) - gain * (lost * (1 + error) + self.columns * noise.lost), 0.0)


class _Atoms(NamedTuple):
    """Masses of a pair of laws at their values, sorted by ratio; values may be merged, which only loses."""

    p: FloatArray
    q: FloatArray

    @classmethod
    def sorted(cls, p: FloatArray, q: FloatArray) -> "_Atoms":
        """Sort atoms by their ratio, and merge neighbours if there are too many."""
        order = np.argsort(p / q)
        p, q = p[order], q[order]
        if p.size > _CELLS:
            loss = np.log(p / q)
            # cells of one width where the losses are, not where a window ends
            low, high = loss[np.maximum(p, q) > _NEGLIGIBLE][[0, -1]]
            share = np.clip((loss - low) / max(high - low, 1e-300), 0.0, 1.0)
            cell = np.floor((_CELLS - 1) * share).astype(np.intp)
            starts = np.flatnonzero(np.diff(cell, prepend=-1))
            p, q = np.add.reduceat(p, starts), np.add.reduceat(q, starts)
        return cls(p, q)

    def times(self, other: "_Atoms") -> "_Atoms":
        """Return the product of two pairs; atoms that underflow are left out."""
        p, q = (np.multiply.outer(one, two).ravel() for one, two in zip(self, other, strict=True))
        kept = np.minimum(p, q) > _UNDERFLOW
        return _Atoms.sorted(p[kept], q[kept])


#: Several questions about the same bits.
worst_column = functools.lru_cache(maxsize=4)(WorstColumn)


def rejection(*, local_epsilon: float, set_size: int, domain_size: int, most_ones: int) -> float:
    """Bound the probability that an honest report has more than `most_ones` ones, rounded up.

    Parameters
    ----------
    local_epsilon, set_size
        As for `BitSums`.
    domain_size : int
        Bits of a report, at least `set_size`.
    most_ones : int
        Largest number of ones that is accepted, at least 0.
    """
    check_integer("domain_size", domain_size, set_size)
    check_integer("most_ones", most_ones, 0)
    others = domain_size - set_size
    # as if all held items were sent as ones
    above = np.array([most_ones - set_size + 1.0])
    tail = binomial_tail(float(others), above, 1 / (math.exp(local_epsilon) + 1))
    return min(float(tail[0] * (1 + round_off(np.array(others)))), 1.0)


ACCOUNTANT = Accountant(
    "bit-sums",
    "upper",
    "proven, for binary randomized response: within 0.2 % in delta of a pair of datasets, in most cases",
    "docs/proof.md, Sums of symmetric bits",
    order=12,
    part="local_epsilon",
    asked=("krr",),
    **of_bound(functools.partial(BitSums, exchanged=False)),
)
