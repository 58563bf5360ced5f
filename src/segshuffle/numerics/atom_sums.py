"""Sums of samples of a law with finitely many atoms: tilts, and the mean positive part where few samples matter.

Few samples matter if there are few, or if few are *away* from the most likely atom. Then the multinomial counts of the
atoms are enumerated.
"""

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, combinations_with_replacement, pairwise
from typing import Literal

import numpy as np
from scipy import special

from segshuffle.arrays import FloatArray, IntArray

EPS = math.ulp(1.0)
#: Largest exponent x for which a formula with e^x - 1 may be more accurate than one with e^x.
_LARGEST_CHANGE = 50.0
#: How near to the saddle is near enough, in log theta and in what is minimised there; how many steps to get there.
_SADDLE_ACCURACY, _SADDLE_EXCESS, _SADDLE_STEPS = 0.02, 1.0, 100
_EXACT_STATES = 100_000
"""Up to this many outcomes of the multinomial counts, the sum is enumerated."""
_LARGEST_COUNT = 5000
_DEVIATIONS, _MORE = 9, 20
"""The largest number of samples away is above its mean by this many deviations, plus this many samples."""
_RATES = np.log(np.array([1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 1e2, 1e3, 1e5, 1e8]))
"""Rates of the Chernoff bounds on samples away that are not enumerated."""


#: A value is often asked for twice in a row: in a wide and in a narrow interval, of the few laws of one mechanism.
_shared = lru_cache(maxsize=8)


Side = Literal["lower", "upper"]
"""Which end of a certified interval: upper ends are rounded up, lower ends down."""


@dataclass(frozen=True, eq=False)
class AtomLaw:
    """Law with finitely many atoms.

    Parameters
    ----------
    value : ndarray, shape (m,)
        The atoms.
    mass : ndarray, shape (m,)
        Their probabilities; the sum is 1 up to a relative rounding error of each.
    """

    value: FloatArray
    mass: FloatArray

    @cached_property
    def largest(self) -> float:
        """Largest atom."""
        return float(self.value.max())

    @property
    def spread(self) -> float:
        """Distance of the largest from the smallest atom."""
        return float(np.ptp(self.value))

    @property
    def size(self) -> float:
        """Largest absolute value of an atom."""
        return float(np.max(np.abs(self.value)))


@dataclass(frozen=True, eq=False)
class Tilted:
    """The law of G tilted by e^{theta G}; `count` samples are added; `log_mgf` is K(theta) = log E e^{theta G}."""

    law: AtomLaw
    count: int
    theta: float
    log_mgf: float
    log_mgf_error: float
    mass: FloatArray
    std: float

    @property
    def value(self) -> FloatArray:
        """The atoms."""
        return self.law.value

    @property
    def deviation(self) -> float:
        """Standard deviation of the sum."""
        return self.std * math.sqrt(self.count)

    @property
    def chernoff(self) -> float:
        """Logarithm of a bound on the sum's mean positive part, by max(0, x) <= e^{theta x}/(e theta)."""
        return self.count * (self.log_mgf + self.log_mgf_error) - 1 - math.log(self.theta)


def _moments(law: AtomLaw, theta: float) -> tuple[FloatArray, float, float]:
    """Return the masses, mean and standard deviation of the law tilted by `theta` >= 0."""
    weight = law.mass * np.exp(theta * law.value - theta * law.largest)
    mass = weight / weight.sum()
    mean = float(mass @ law.value)
    return mass, mean, math.sqrt(mass @ (law.value - mean) ** 2)


def log_mgfs(law: AtomLaw, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return K(theta) and a bound on its error, for every entry of `theta`, by the more accurate of two formulas.

    The second one is log1p(E[e^{theta G} - 1]), where that is small.
    """
    exponent = np.multiply.outer(theta, law.value)
    top = exponent.max(axis=1)
    weight = law.mass * np.exp(exponent - top[:, None])
    scaled = weight.sum(axis=1)
    direct = np.log(scaled) + top
    rounding = EPS * (law.value.size + 8)
    mean_exponent = (weight * np.abs(exponent)).sum(axis=1) / scaled
    direct_error = rounding * (1 + np.abs(direct)) + 2 * EPS * (mean_exponent + np.abs(top))
    small = top <= _LARGEST_CHANGE
    exponent = np.where(small[:, None], exponent, 0.0)
    change = np.expm1(exponent)
    mean_change = np.maximum((change * law.mass).sum(axis=1), -0.5)
    spread = ((np.abs(change) + np.abs(exponent) * (1 + change)) * law.mass).sum(axis=1)
    error = rounding * spread / (1 + mean_change)
    better = small & (mean_change > -0.5) & (error < direct_error)
    return np.where(better, np.log1p(mean_change), direct), np.where(better, error, direct_error)


@_shared
def saddle(law: AtomLaw, count: int) -> Tilted:
    """Tilt near the least value of n K(theta) - 2 log theta, where `tilted_inversion`'s integrand oscillates least.

    Newton's steps for the zero of its slope in log theta, kept within the bracket seen so far. Any tilt is valid.
    """
    spread = _moments(law, 0.0)[2] or law.size * math.sqrt(count)  # equal atoms have a saddle too
    log_theta = math.log(1.4 / (spread * math.sqrt(count)))
    low, high = -math.inf, math.inf
    for _ in range(_SADDLE_STEPS):
        theta = math.exp(log_theta)
        _, mean, std = _moments(law, theta)
        slope, curvature = count * theta * mean - 2.0, count * theta * (mean + theta * std**2)
        low, high = (log_theta, high) if slope < 0 else (low, log_theta)
        step = -slope / curvature if curvature > 0 else 1.0
        fresh = log_theta + min(max(step, -1.0), 1.0)
        log_theta, before = (fresh if low < fresh < high else 0.5 * (low + high)), log_theta
        # far above the saddle of a rare large atom every step of log theta is short, and the way still long
        if abs(log_theta - before) < _SADDLE_ACCURACY and abs(slope * step) < 2 * _SADDLE_EXCESS:
            break
    theta = math.exp(log_theta)
    mass, _, std = _moments(law, theta)
    (log_mgf,), (error,) = log_mgfs(law, np.array([theta]))
    return Tilted(law, count, theta, float(log_mgf), float(error), mass, std)


# -- enumeration -----------------------------------------------------------------------------------------------------


def enumerable(tilted: Tilted) -> int:
    """Return up to how many samples away from the likeliest atom to enumerate; -1 if that would miss too much."""
    count = tilted.count
    limit = _affordable(count, tilted.value.size - 1)
    rare = count * (1.0 - np.max(tilted.mass))
    return limit if limit == count or limit > rare + _DEVIATIONS * math.sqrt(rare) + _MORE else -1


@lru_cache(maxsize=256)
def _affordable(count: int, kinds: int) -> int:
    """Return the largest number of samples away, up to `count`, for which all states can be listed."""
    limit = 0
    while limit < min(count, _LARGEST_COUNT) and math.comb(limit + 1 + kinds, kinds) <= _EXACT_STATES:
        limit += 1
    return limit


@_shared
def enumerated(tilted: Tilted, limit: int, side: Side) -> float:
    """Bound the log of E[max(0, S)]/count by a sum over the multinomial counts with at most `limit` samples away.

    If J > `limit` samples are away, then e^{lambda (J - limit - 1)} >= 1: Chernoff in J and in the sum at once.
    """
    law, count, common = tilted.law, tilted.count, int(np.argmax(tilted.mass))
    mass, value = np.delete(law.mass, common), np.delete(law.value, common)
    rest = np.sum(mass)
    log_mass = math.log1p(-rest) if rest < 0.5 else math.log(law.mass[common])
    states = _states(mass.size, limit)
    # no term of a weight's logarithm is positive: nothing cancels
    log_weight = states.total(np.log(mass)) - states.log_factorials
    falling = np.concatenate([[0.0], np.cumsum(np.log(count - np.arange(float(limit))))])[states.number]
    log_common = (count - states.number) * log_mass
    total = states.total(value) + (count - states.number) * law.value[common]
    slack = EPS * (law.value.size + 8) * (states.total(np.abs(value)) + count * abs(law.value[common]))
    log_total = _log_sum(log_weight + falling + log_common, total + (slack if side == "upper" else -slack))
    largest = float(np.max(np.abs(log_weight) + falling + np.abs(log_common)))
    error = EPS * (law.value.size + limit + 16) * (largest + 16)
    if side == "lower":
        return log_total - math.log(count) - error
    if limit < count:
        log_total = float(np.logaddexp(log_total, _rest(tilted, limit)))
    return log_total - math.log(count) + error


@dataclass(frozen=True, eq=False)
class _States:
    """Vectors of counts c_1, ..., c_kinds, in the shorter of two forms: the counts, or the kind of every sample."""

    table: IntArray | FloatArray
    """Counts, shape (kinds, states); or kinds, ascending, with the number `kinds` for none, shape (limit, states)."""
    listed: bool
    """Whether the table lists kinds."""
    number: IntArray
    """Sum of the counts, shape (states,)."""
    log_factorials: FloatArray
    """log prod_i c_i!, shape (states,)."""

    def total(self, value: FloatArray) -> FloatArray:
        """Return sum_i c_i value_i, shape (states,)."""
        if self.listed:
            return np.asarray(np.append(value, 0.0)[self.table].sum(axis=0))
        return np.asarray(np.einsum("ks,k->s", self.table, value))


@lru_cache(maxsize=8)
def _states(kinds: int, limit: int) -> _States:
    """Return all vectors of `kinds` counts with sum <= limit; the same for every law and epsilon."""
    if not 0 < limit < kinds:
        # partial sums of each vector
        sums = _ascending(limit + 1, kinds)
        counts = np.diff(sums, axis=0, prepend=0).astype(float)
        return _States(counts, False, counts.sum(axis=0).astype(np.int64), special.gammaln(counts + 1).sum(axis=0))
    table = _ascending(kinds + 1, limit)
    log_factorials, run = np.zeros(table.shape[1]), np.ones(table.shape[1])
    for before, here in pairwise(table):
        run = np.where((here == before) & (here < kinds), run + 1, 1.0)
        log_factorials += np.log(run)
    return _States(table, True, np.count_nonzero(table < kinds, axis=0), log_factorials)


def _ascending(below: int, length: int) -> IntArray:
    """Return all ascending tuples of `length` whole numbers in [0, `below`), shape (length, tuples)."""
    size = math.comb(below + length - 1, length)
    chosen = chain.from_iterable(combinations_with_replacement(range(below), length))
    return np.fromiter(chosen, dtype=np.int64, count=size * length).reshape(size, length).T.copy()


def _rest(tilted: Tilted, limit: int) -> float:
    """Return the log of a bound on E[max(0, S); J > `limit`], J samples away from the tilted law's most likely atom."""
    likely = np.max(tilted.mass)
    growth = tilted.count * np.log1p(np.expm1(_RATES) * (1 - likely)) - _RATES * (limit + 1)
    return tilted.chernoff + float(np.min(growth)) + 1e-6


def _log_sum(log_weight: FloatArray, value: FloatArray) -> float:
    """Return the logarithm of sum e^{log_weight} max(0, value)."""
    positive = (value > 0) & np.isfinite(log_weight)
    if not np.any(positive):
        return -math.inf
    terms = log_weight[positive] + np.log(value[positive])
    top = float(np.max(terms))
    return top + math.log(np.sum(np.exp(terms - top)))
