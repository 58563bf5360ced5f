"""Quick estimates about a pair of counters, for searches whose results are certified afterwards.

Nothing here is a bound. Cells of a fixed width, a given tilt, and a root found by secants cause an error of about one
per cent in delta, and less in the copies.
"""

import math
from collections.abc import Callable

import numpy as np

from segshuffle.accounting.collections.product import saddle_point
from segshuffle.accounting.numerics.gaussian import gaussian_ratio
from segshuffle.accounting.numerics.loss_distribution import AccuracyError, LossTable, log_delta_upper
from segshuffle.arrays import FloatArray
from segshuffle.blankets.base import Blanket, CounterPair

#: Cells within one standard deviation of a pair's loss.
_CELLS = 24.0
#: Mass given away, over delta, as an exponent.
_TAIL = 7.0
#: Distances from which on the rest is a straight line, and from which on there is none.
_NEAR, _CLOSE = 0.015, 5e-4
_STEPS = 12
#: Least slope that is believed: far below the answer the given-away mass is all of delta, which no longer falls.
_FLATTEST = 0.5
#: How far below the top a search looks at all, and at most in one step where secants do not help.
_DEPTH, _STRIDE = 50.0, 1.0
_SMALLEST, _LARGEST = 1e-200, 1 - 1e-9


def _log_delta_of_one(table: LossTable, epsilon: float) -> float:
    """Both laws of a single pair on the cells, sorted by their ratios: no lattice, no transform."""
    log_ratio, log_mass = _law_of(table)
    q = np.append(table.zero_mass, np.exp(log_mass))
    p = np.append(0.0, np.exp(log_mass + log_ratio))
    below = np.searchsorted(log_ratio, log_ratio - epsilon) + 1
    delta = float(p[1:] @ np.cumsum(q)[below - 1] - math.exp(epsilon) * (q[1:] @ np.cumsum(p)[below - 1]))
    # with many copies nearly all of A is beyond the values of B
    return math.log(max(delta + table.truncated, _SMALLEST))


def guided_log_delta(pair: CounterPair, pairs: int, epsilon: float, delta: float) -> float:
    """Log of the delta of a product of pairs, where it is not far from `delta`; 0 where nothing can be tabulated."""
    ratio = gaussian_ratio(epsilon=epsilon, delta=delta)
    try:
        table = pair.loss_table(ratio / math.sqrt(pairs) / _CELLS, _TAIL - math.log(delta / pairs))
    except AccuracyError:
        return 0.0  # what cannot be tabulated is far from private: delta is about 1
    if pairs == 1:
        return _log_delta_of_one(table, epsilon)
    # the loss of a Gaussian mechanism of that delta is about as wide, but may have shorter tails
    start = max(epsilon / ratio**2 - 0.5, 0.0)
    point = saddle_point(*_law_of(table), pairs, epsilon, start=start)
    if point.log_delta < math.log(_SMALLEST):
        return point.log_delta  # next to no loss is above epsilon, and a transform has no room for so large a tilt
    return log_delta_upper([(table, pairs)], epsilon, point.tilt)


def _law_of(table: LossTable) -> tuple[FloatArray, FloatArray]:
    """Log ratio and log mass of the cells that have any."""
    kept = table.mass > 0
    log_ratio = (table.first + np.arange(table.mass.size)) * table.step + np.log1p(table.excess)
    return np.asarray(log_ratio[kept]), np.asarray(np.log(table.mass[kept]))


def guided_copies(
    blanket: Blanket,
    mean: float,
    *,
    pairs: int,
    epsilon: float,
    delta: float,
    copies_max: float,
    start: float | None = None,
) -> float:
    """About the largest copies that keep the guarantee; 0 where none were found.

    Parameters
    ----------
    blanket, mean : Blanket, float
        Law, and messages per item.
    pairs, epsilon, delta, copies_max
        As for `calibration.largest_copies`.
    start : float or None
        A first guess; None takes a Gaussian curator's.
    """
    normal = gaussian_ratio(epsilon=epsilon, delta=delta) * math.sqrt(blanket.pair(mean, 0.0).variance / (2 * pairs))
    start = normal if start is None else min(start, 2 * normal)

    def excess(log_copies: float) -> float:
        copies = min(math.exp(log_copies), copies_max)
        # a hair below a whole number, the ratio of the least count is lost in round-off
        whole = float(round(copies))
        return _excess(blanket.pair(mean, whole if abs(copies - whole) < 1e-9 else copies), pairs, epsilon, delta)

    try:
        return min(math.exp(_largest(excess, math.log(start), math.log(copies_max))), copies_max)
    except AccuracyError:
        return 0.0


def _excess(pair: CounterPair, pairs: int, epsilon: float, delta: float) -> float:
    """How much too wide the loss is: log of the ratio of a Gaussian mechanism with the pair's delta, over the allowed.

    Nearly a straight line of slope 1 in the log of the copies, where the log of delta is a bent one.
    """
    found = math.exp(guided_log_delta(pair, pairs, epsilon, delta))
    wide = gaussian_ratio(epsilon=epsilon, delta=min(max(found, _SMALLEST), _LARGEST))
    return math.log(wide / gaussian_ratio(epsilon=epsilon, delta=delta))


def _largest(excess: Callable[[float], float], start: float, top: float) -> float:
    """About the largest x <= top at which an increasing function, of slope about 1, is not above 0.

    By secants; where they are slow, in the middle, or at a logarithm of a whole number, where the slope changes most.
    """
    low, high = top - _DEPTH, math.inf
    x, slope = min(start, top), 1.0
    before: tuple[float, float] | None = None
    for step in range(_STEPS):
        found = excess(x)
        if found <= 0 and x >= top:
            return top
        low, high = (max(x, low), high) if found <= 0 else (low, min(x, high))
        if before is not None and (found - before[1]) * (x - before[0]) > 0:
            slope = max((found - before[1]) / (x - before[0]), _FLATTEST)
            if max(abs(found), abs(found / slope)) < _NEAR:
                return min(x - found / slope, top)
        if abs(found) < _CLOSE:
            return x
        before = (x, found)
        guess = min(x - found / slope, top)
        if step % 3 == 2 or not (low < guess < high or guess == top):
            whole = math.log(math.floor(math.exp(low) * (1 + 1e-9)) + 1)
            guess = whole if whole < high else 0.5 * (max(low, x - _STRIDE) + min(high, x + _STRIDE))
            guess = min(guess, top)
        x = guess
    return low
