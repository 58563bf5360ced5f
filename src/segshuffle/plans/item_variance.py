"""The error of the estimate of one item: its variance as a function of the item's share, and intervals from it.

The n_k users of level k send a_k copies of a held item on average. With N = sum_k n_k a_k, the estimate of a share w
has the variance

    noise + own w + spread w (1 - w).

noise is the variance of the blanket's counter over N^2, own comes from the random rounding of copies, and spread from
the random levels. The formula is exact for plans with copies by level, with any blanket.

If the levels that users chose depend on their items, the estimate is biased. It weighs a user of level k by a_k/N. If
n_kj users of level k hold item j, the expectation of its estimate is sum_k a_k n_kj/N, and the true frequency is n_j/n.
The difference is the bias. It is 0 on average if levels do not depend on items. Otherwise it does not become smaller
with more users, unless all levels send equal copies.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from segshuffle.arrays import FloatArray, IntArray, Numbers
from segshuffle.digits import added
from segshuffle.numerics.laws import convolution
from segshuffle.numerics.ranges import check_within
from segshuffle.plans.method import variance_sources
from segshuffle.plans.plan import Plan

#: Largest correction of the number of standard deviations, as a share of it.
_MOST_CORRECTION = 0.2
#: e^-37 is below the round-off of a probability near 1.
_LOG_TAIL = 37.0
#: Most blocks of counts: a block is then below 10^-4 of a standard deviation.
_MOST_BLOCKS = 2**20


class ItemVariance(NamedTuple):
    """Coefficients of the variance of an estimated share, and skewness and kurtosis of the dummies' law."""

    noise: float
    own: float
    spread: float
    skewness: float = 0.0
    """Skewness of what the dummies add to a count; 0 for a normal law."""
    kurtosis: float = 0.0
    """Kurtosis of what the dummies add to a count, in excess of a normal law's."""

    @classmethod
    def of(cls, plan: Plan) -> ItemVariance:
        """Take the variance from a plan with copies by level, for the users of its problem.

        Raises
        ------
        ParameterError
            If the plan has no copies by level, or none is sent.
        """
        parts, noise = plan.scheme.parts, plan.scheme.noise
        # cumulants of a negative binomial number, which is Poisson for p = 0
        third = added(part.net**3 * part.mean * (1 + part.p) / (1 - part.p) ** 2 for part in parts)
        fourth = added(part.net**4 * part.mean * (1 + 4 * part.p + part.p**2) / (1 - part.p) ** 3 for part in parts)
        return cls(*variance_sources(plan), third / noise**1.5 if noise else 0.0, fourth / noise**2 if noise else 0.0)

    def at(self, shares: ArrayLike) -> FloatArray:
        """Return the variance of the estimates of some shares; a share outside [0, 1] counts as 0 or 1."""
        share = np.clip(np.asarray(shares, dtype=float), 0.0, 1.0)
        return np.asarray(self.noise + self.own * share + self.spread * share * (1.0 - share))

    def interval(self, estimates: ArrayLike, confidence: float) -> tuple[FloatArray, FloatArray]:
        """Return the interval of shares w at most z standard deviations (taken at w) away from an estimate.

        z is the quantile of a normal law, corrected for the dummies' skewness and kurtosis (Edgeworth, for both ends
        together).

        Parameters
        ----------
        estimates : array_like of float
            Estimated shares.
        confidence : float
            Probability, in (0, 1), that one interval contains its share.

        Returns
        -------
        low, high : ndarray of float
            They may be below 0 or above 1; the variance there is that at 0 or 1.
        """
        check_within("confidence", confidence, 0, 1, "()")
        estimated = np.asarray(estimates, dtype=float)
        return self.ends(estimated, self._deviations(estimated, float(special.ndtri(0.5 + confidence / 2))))

    def ends(self, estimated: FloatArray, z: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return the least and largest share w at most z standard deviations (taken at w) away from an estimate."""
        z2 = np.square(z)
        # (estimated - w)^2 = z^2 (noise + (own + spread) w - spread w^2) is quadratic in w
        lead, linear = 1.0 + z2 * self.spread, estimated + 0.5 * z2 * (self.own + self.spread)
        root = np.sqrt(np.maximum(linear**2 - lead * (estimated**2 - z2 * self.noise), 0.0))
        low = self._end(estimated, (linear - root) / lead, np.negative(z))
        return low, self._end(estimated, (linear + root) / lead, z)

    def _deviations(self, estimated: FloatArray, z: float) -> FloatArray:
        """Return how many standard deviations on each side give both tails together the probability 1 - confidence."""
        part = self.noise / self.at(estimated)
        more = part**2 * self.kurtosis / 24 * (z**3 - 3 * z)
        more = more + part**3 * self.skewness**2 / 72 * (z**5 - 10 * z**3 + 15 * z)
        # the series is useful only as a small correction
        return z + np.clip(more, -_MOST_CORRECTION * z, _MOST_CORRECTION * z)

    def _end(self, estimated: FloatArray, inside: FloatArray, z: ArrayLike) -> FloatArray:
        """Return one end of the intervals: the root if it is in [0, 1], otherwise with the variance at 0 or 1."""
        below = estimated + z * np.sqrt(self.noise)
        above = estimated + z * np.sqrt(self.noise + self.own)
        return np.where(below < 0.0, below, np.where(above > 1.0, above, inside))


def blanket_quantile(plan: Plan, tail: float) -> int:
    """Return the least whole number that the dummies of an item exceed with probability at most `tail`.

    Parameters
    ----------
    plan : Plan
        With copies by level.
    tail : float
        In (1e-15, 0.5).

    Returns
    -------
    int
        If messages have signs, the number with a plus minus the number with a minus.
    """
    law = NetLaw.of(plan)
    above = np.cumsum(law.masses[::-1])[::-1] - law.masses
    return law.least + law.step * int(np.argmax(above <= tail)) + law.width - 1


def coverage_of_nothing(plan: Plan, confidence: float) -> float:
    """Return the exact probability that the interval of an item that nobody holds contains 0.

    With few dummies it differs from the requested confidence, because counters are whole numbers. With more than about
    10^9 dummies of an item it is exact to 10^-4.

    Parameters
    ----------
    plan : Plan
        With copies by level.
    confidence : float
        As in `ItemVariance.interval`.
    """
    law = NetLaw.of(plan)
    middles = law.least + (law.width - 1) / 2 + law.step * np.arange(law.masses.size)
    lower, upper = ItemVariance.of(plan).interval(plan.scheme.estimate(middles, plan.problem.level_counts), confidence)
    return float(law.masses[(lower <= 0.0) & (upper >= 0.0)].sum())


class NetLaw(NamedTuple):
    """Law of what the dummies add to an item's count, in blocks of counts, so that no array grows with their number."""

    least: int
    """Least count of the first block."""
    step: int
    """Distance of the blocks' least counts: 1 unless there are very many dummies."""
    width: int
    """Number of different counts that a block may have; 1 if `step` is 1."""
    masses: FloatArray
    """Probabilities of the blocks."""

    @classmethod
    def of(cls, plan: Plan) -> NetLaw:
        """Compute the law for the users of a plan with copies by level."""
        parts = [part for part in plan.scheme.parts if part.net]
        windows = [part.window(_LOG_TAIL) for part in parts]
        step = 1 + sum(last - first for first, last in windows) // _MOST_BLOCKS
        # the law of a sum is a convolution, here of windows
        masses, least = np.ones(1), 0
        for part, window in zip(parts, windows, strict=True):
            own = part.block_masses(window, step)
            masses = convolution(masses, own if part.net > 0 else own[::-1])
            least += window[0] if part.net > 0 else 1 - window[0] - step * own.size
        return cls(least, step, 1 + len(parts) * (step - 1), masses)


def bias_given_levels(copies: FloatArray, level_items: Numbers, level_counts: IntArray) -> FloatArray:
    """Return the exact bias of every item's estimate, given the levels of the users.

    Parameters
    ----------
    copies : ndarray of float, shape (n_levels,)
        Expected copies a_k of a held item.
    level_items : ndarray of int, shape (..., n_levels, domain_size)
        Users n_kj of each level that hold each item.
    level_counts : ndarray of int64, shape (n_levels,)
        Users n_k of each level.

    Returns
    -------
    ndarray of float, shape (..., domain_size)
        sum_k a_k n_kj/N - n_j/n.
    """
    return np.asarray(copies @ level_items / (level_counts @ copies) - level_items.sum(axis=-2) / level_counts.sum())


def error_given_levels(plan: Plan, level_items: Numbers, divisor: float, truth: FloatArray | None = None) -> FloatArray:
    """Return the exact expected squared error of the estimates, given the users' levels and the denominator.

    sum_j { Var[S_j]/N_hat^2 + (E[S_j]/N_hat - w_j)^2 }, S_j = C_j - `Scheme.net_mean`.

    Parameters
    ----------
    plan : Plan
        Of `ProvenSegmented` or `Segmented`.
    level_items : ndarray of int, shape (..., n_levels, domain_size)
        Users of each level that hold each item.
    divisor : float
        N_hat, or N if the level counts are exact.
    truth : ndarray of float, shape (domain_size,), optional
        The shares w_j; by default those of the users in `level_items`.

    Returns
    -------
    ndarray of float, shape (...)
    """
    problem, copies = plan.problem, np.asarray(plan.scheme.copies)
    noise = problem.domain_size * plan.scheme.noise
    own = level_items.sum(axis=-1) @ plan.scheme.sampling
    true = level_items.sum(axis=-2) / problem.n_users if truth is None else truth
    misses = copies @ level_items / divisor - true
    return np.asarray((noise + own) / divisor**2 + (misses**2).sum(axis=-1))
