"""Quick estimates about a pair of counters, for searches whose results are certified afterwards.

Nothing here is a bound. The error of delta is at most about the accuracy that is asked for, unless the law is a rough
one (`Blanket.rough`). The error of the copies is smaller.
"""

import functools
import math
from collections.abc import Callable

import numpy as np

from segshuffle.accounting.collections.calibration import gaussian_start
from segshuffle.accounting.collections.product import saddle_point
from segshuffle.arrays import FloatArray
from segshuffle.blankets.base import COPIES_RANGE, Blanket, CounterPair
from segshuffle.numerics.gaussian import gaussian_ratio
from segshuffle.numerics.loss_distribution import AccuracyError, LossTable, infinite_loss, log_delta_upper
from segshuffle.numerics.search import solve

#: Cells per standard deviation of the loss, for several pairs and an accuracy of 1 (the error of delta falls with the
#: square of the width), and for one pair.
_CELLS, _FINE_CELLS = 4.0, 400.0
#: A tail that is left out has mass e^-_TAIL delta/pairs times the accuracy.
_TAIL = 3.5
#: Relative accuracy of delta: for single dummies and the first points of other laws, for their other points, and in
#: final searches (also of a plan's error). Most steps of a search.
ROUGH, CLOSE, FINE, _STEPS = 1e-2, 3e-3, 1e-3, 20
#: Log of a factor: how far a search goes from the Gaussian mechanism's answer, or from its start.
REACH = 5.0
_SMALLEST, _LARGEST = 1e-200, 1 - 1e-9


def _log_delta_of_one(table: LossTable, epsilon: float) -> float:
    """Return the log of the delta of a single pair, from its sorted ratios: no lattice, no transform."""
    log_ratio, log_mass = _law_of(table)
    q = np.append(table.zero_mass, np.exp(log_mass))
    p = np.append(0.0, np.exp(log_mass + log_ratio))
    below = np.searchsorted(log_ratio, log_ratio - epsilon) + 1
    delta = float(p[1:] @ np.cumsum(q)[below - 1] - math.exp(epsilon) * (q[1:] @ np.cumsum(p)[below - 1]))
    # with many copies nearly all mass of the law with copies is truncated
    return math.log(max(delta + table.truncated, _SMALLEST))


def guided_log_delta(pair: CounterPair, pairs: int, epsilon: float, delta: float, rtol: float = ROUGH) -> float:
    """Estimate the log of the delta of a product of pairs, if it is near log `delta`; 0 if there is no table."""
    ratio = gaussian_ratio(epsilon=epsilon, delta=delta)
    step = ratio / (_CELLS * math.sqrt(pairs / rtol) if pairs > 1 else _FINE_CELLS)
    try:
        table = pair.loss_table(step, _TAIL - math.log(rtol * delta / pairs))
    except AccuracyError:
        return 0.0  # what cannot be tabulated is far from private: delta is about 1
    if pairs == 1:
        return _log_delta_of_one(table, epsilon)
    log_ratio, log_mass = _law_of(table)
    # delta is at least 1 - e^(epsilon/2) (sum of sqrt(p q))^(2 pairs): far from private, a transform would be long
    overlap = float(np.exp(log_mass + log_ratio / 2).sum())
    if epsilon / 2 + 2 * pairs * math.log(overlap) < math.log(1 - _LARGEST):
        return 0.0
    # a first guess: the saddle point of a Gaussian mechanism with that delta, whose loss is about as wide
    start = max(epsilon / ratio**2 - 0.5, 0.0)
    point = saddle_point([(log_ratio, log_mass, pairs)], epsilon, start=start)
    if point.log_delta < math.log(_SMALLEST):
        # next to no finite loss is above epsilon, and a transform has no room for so large a tilt
        return math.log(max(infinite_loss((table.zero_mass, pairs)) + pairs * table.truncated, _SMALLEST))
    return log_delta_upper([(table, pairs)], epsilon, point.tilt)


def _law_of(table: LossTable) -> tuple[FloatArray, FloatArray]:
    """Return the log ratio and log mass of every cell that has any mass."""
    kept = table.mass > 0
    log_ratio = (table.first + np.arange(table.mass.size)) * table.step + np.log1p(table.excess)
    return np.asarray(log_ratio[kept]), np.asarray(np.log(table.mass[kept]))


# a search asks for the same few targets again and again
_gaussian_start = functools.cache(gaussian_start)


# a plan with another law starts with the searches for single dummies
@functools.lru_cache(maxsize=65536)
def guided_copies(
    blanket: Blanket,
    mean: float,
    *,
    pairs: int,
    epsilon: float,
    delta: float,
    copies_max: float,
    start: float | None = None,
    rtol: float = ROUGH,
) -> float:
    """Estimate the largest copies that keep the guarantee; 0 where none were found.

    Parameters
    ----------
    blanket, mean : Blanket, float
        Law, and messages per item.
    pairs, epsilon, delta, copies_max
        As for `calibration.largest_copies`.
    start : float or None
        A first guess; None takes the copies that Gaussian noise would allow.
    rtol : float
        Relative accuracy of delta.
    """
    log_scale, slope = _gaussian_start(epsilon, delta)
    normal = log_scale + 0.5 * math.log(blanket.pair(mean, 0.0).variance / (2 * pairs))
    near = normal if start is None else math.log(max(start, COPIES_RANGE[0]))

    def pair_at(log_copies: float) -> CounterPair:
        copies = min(max(math.exp(log_copies), COPIES_RANGE[0]), copies_max)
        # a hair below a whole number, the ratio of the least count is lost in round-off
        whole = float(round(copies))
        return blanket.pair(mean, whole if abs(copies - whole) < 1e-9 else copies)

    top = math.log(copies_max)
    answer = _solved(pair_at, near, slope, (min(normal, top) - REACH, top), (pairs, epsilon, delta), rtol)
    return 0.0 if math.isnan(answer) else min(math.exp(answer), copies_max)


def guided_noise(
    pair_at: Callable[[float], CounterPair], start: float, *, pairs: int, epsilon: float, delta: float
) -> float:
    """Estimate the least log of a variance whose pair keeps the guarantee, near `start`; nan if none was found.

    Parameters
    ----------
    pair_at : callable
        Turns the log of a variance into a pair.
    start : float
        A first guess.
    pairs, epsilon, delta
        As for `guided_copies`.
    """
    slope = _gaussian_start(epsilon, delta)[1] / 2
    limits = (-start - REACH, -start + REACH)
    return -_solved(lambda x: pair_at(-x), -start, slope, limits, (pairs, epsilon, delta), FINE)


def _solved(
    pair_at: Callable[[float], CounterPair],
    start: float,
    slope: float,
    limits: tuple[float, float],
    target: tuple[int, float, float],
    rtol: float,
) -> float:
    """Estimate the largest x for which `pair_at(x)` meets the target (pairs, epsilon, delta); nan if none was found."""
    pairs, epsilon, delta = target
    wanted = gaussian_ratio(epsilon=epsilon, delta=delta)

    def excess(x: float) -> float:
        delta_there = math.exp(guided_log_delta(pair_at(x), pairs, epsilon, delta, rtol))
        ratio = gaussian_ratio(epsilon=epsilon, delta=min(max(delta_there, _SMALLEST), _LARGEST))
        return slope * math.log(ratio / wanted)

    try:
        return solve(excess, start, slope, limits, rtol, _STEPS, proven=False)
    except AccuracyError:
        return math.nan
