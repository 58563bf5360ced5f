"""Exact accountant of a blanket of any law, by products of pairs of counters.

For the Poisson blanket each item's counter is an independent Poisson(mu), and a user sends each of its s items M times,
M in {floor(a), floor(a) + 1} with mean a. Exchanging one held item for another changes two counters::

    P = (X, Y),  Q = (Y, X),   X = Poisson(mu) + M,  Y = Poisson(mu),
    r(x) = Pr[X = x] / Pr[Y = x] = (x)_k / mu^k * (1 - f + f (x - k) / mu),   k = floor(a),  f = a - k,

(x)_k the falling factorial. The guarantee of a user with s items among d is the divergence of the product of t =
min(s, d - s) pairs; docs/proof.md says when no smaller delta is valid. The divergence does not decrease in a nor in t,
and does not increase in mu.

Every number is certified: bounds come from `numerics.loss_distribution`, calibrated values are rounded to the safe
side.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from segshuffle.arrays import FloatArray, IntArray
from segshuffle.blankets.atoms import SMALLEST_MASS, Atoms
from segshuffle.blankets.base import CounterPair
from segshuffle.digits import added
from segshuffle.numerics.gaussian import gaussian_log_delta, gaussian_ratio
from segshuffle.numerics.intervals import ZERO, DeltaInterval
from segshuffle.numerics.loss_distribution import (
    AccuracyError,
    LossTable,
    infinite_loss,
    log_delta_lower,
    log_delta_upper,
    split_masses,
)
from segshuffle.numerics.ranges import check_integer, check_within

#: A pair of counters, and how many such pairs a collection has: `Problem.pairs`.
RepeatedPair = tuple[CounterPair, int]
#: Log ratio and log mass of B at the values of one counter, and the number of pairs.
Law = tuple[FloatArray, FloatArray, int]

#: Largest epsilon and smallest target of delta.
EPSILON_LIMIT = 100.0
SMALLEST_TARGET = 1e-110

SMALLEST_DELTA = 1e-250
"""Smaller deltas are reported as the interval [0, 1e-250]."""

LARGEST_LOG_TAIL = -math.log(SMALLEST_MASS) - 10
"""Exponent beyond which hardly any mass of a tail is above `SMALLEST_MASS`."""

#: Twice the relative accuracy of an upper bound that is computed without a lower one.
BOUND_RTOL = 1e-3
#: Tables tried for an interval and for a bound, and how much coarser the next is where a transform would be too long.
_TABLES, _BOUND_TABLES, _COARSER = 8, 30, 4.0
_LOG_SMALLEST = math.log(SMALLEST_DELTA)
_ROUNDING = 1e-12
#: An interval is given up if two finer lattices in turn did not bring its width below this multiple. One is not enough:
#: it may be finer by little, or the lattice before it good by chance.
_HARDLY_LESS = 0.9


def check_product(*, pairs: int = 1, epsilon: float = 0.0, delta: float = SMALLEST_TARGET) -> None:
    """Refuse pairs < 1, epsilon > 100 and delta < 1e-110."""
    check_integer("pairs", pairs, 1)
    check_within("epsilon", epsilon, 0, EPSILON_LIMIT)
    check_within("delta", delta, SMALLEST_TARGET, 1, "[)")


class SaddlePoint(NamedTuple):
    """Saddle point of E[e^(tilt L - tilt epsilon)], deviation of a tilted pair's loss, estimate of log delta."""

    tilt: float
    deviation: float
    log_delta: float


def _tilted_pair(ratio: FloatArray, log_mass: FloatArray, tilt: float) -> tuple[float, float, float]:
    """Return the log of E_P[e^(tilt L)], mean and variance of the tilted loss, for one pair."""
    value = mean = variance = 0.0
    for exponent, sign in ((1 + tilt, 1), (-tilt, -1)):
        log_weight = log_mass + exponent * ratio
        top = float(log_weight.max())
        weight = np.exp(log_weight - top)
        total = float(weight.sum())
        centre = float(weight @ ratio) / total
        value += top + math.log(total)
        mean += sign * centre
        variance += float(weight @ (ratio - centre) ** 2) / total
    return value, mean, variance


def saddle_point(
    laws: Sequence[Law], epsilon: float, *, start: float = 0.0, log_smallest: float = _LOG_SMALLEST
) -> SaddlePoint:
    """Find the saddle point, starting at the tilt `start`. A poor approximation makes bounds slower, not wrong."""
    pairs = sum(law[2] for law in laws)
    tilt, low, high = start, 0.0, math.inf
    for _ in range(80):
        value = mean = variance = 0.0
        for ratio, log_mass, count in laws:
            tilted = _tilted_pair(ratio, log_mass, tilt)
            sums = zip((value, mean, variance), tilted, strict=True)
            value, mean, variance = (before + count / pairs * more for before, more in sums)
        error, chernoff = mean - epsilon / pairs, pairs * value - tilt * epsilon
        # A delta below e^log_smallest is not told from 0, and its saddle point may be at infinity: any tilt that shows
        # this will do.
        if log_smallest - 40 < chernoff < log_smallest - 10:
            break
        if abs(error) <= 0.02 * math.sqrt(variance / pairs) or (tilt == 0 and error >= 0):
            break
        if chernoff < log_smallest - 10:
            # Chernoff's exponent is convex in the tilt, so it is still small enough at the guess
            high, guess = tilt, tilt * (log_smallest - 25) / chernoff
        else:
            low, high = (low, tilt) if error > 0 else (tilt, high)
            # a variance near the smallest floats would make the next tilt overflow
            guess = tilt - error / variance if variance > 1e-200 else math.nan
        tilt = guess if low < guess < high else (0.5 * (low + high) if math.isfinite(high) else 2 * tilt + 1)
    deviation = math.sqrt(max(variance, 1e-280))
    total = math.sqrt(pairs) * deviation
    spread = max(math.sqrt(2 * math.pi) * total * tilt * (1 + tilt), 2.5 / total, 1.0)
    return SaddlePoint(tilt, deviation, min(chernoff - math.log(spread), 0.0))


def _saddle_point_of(
    collections: Sequence[RepeatedPair], epsilon: float, rtol: float, log_smallest: float = _LOG_SMALLEST
) -> SaddlePoint:
    """Find the saddle point from a window of the loss that is neither too narrow for delta nor much too wide.

    In a window that is far too wide, e^(tilt L) can give most of the weight to far tails, which do not matter to delta.
    """
    pairs = sum(count for _, count in collections)
    log_tail = log_tail_for(gaussian_log_delta(ratio=gaussian_scale(collections), epsilon=epsilon), pairs, rtol)
    low, high = 0.0, math.inf
    for _ in range(12):
        laws = [(*pair.coarse_law(log_tail), count) for pair, count in collections]
        saddle = saddle_point(laws, epsilon, log_smallest=log_smallest)
        needed = log_tail_for(max(saddle.log_delta, log_smallest), pairs, rtol)
        if 0.98 * needed - 5 <= log_tail <= 1.15 * needed + 10:
            break
        # A wider window can only enlarge the estimated delta, so `needed` does not increase in `log_tail`.
        low, high = (log_tail, high) if needed > log_tail else (low, log_tail)
        log_tail = needed if low < needed < high else 0.5 * (low + high)
    return saddle


def _cell_step(saddle: SaddlePoint, pairs: int, rtol: float, steepest: float = 0.0) -> float:
    """Return the lattice step at which both bounds together are about 0.8 rtol apart.

    Rounding adds a variance of h^2 / 6 to each of 2 t factors in the upper bound and costs half as much in the lower;
    near epsilon the density falls like e^(-tilt l), so the relative effect is tilt (1 + tilt) t h^2 (1 / 6 + 1 / 12).
    The density may fall as fast as with the tilt `steepest`.
    """
    if saddle.log_delta < _LOG_SMALLEST:
        return saddle.deviation / 6
    variance = pairs * saddle.deviation**2
    # For a law with one peak, tilt^2 variance <= 2 |log delta|; a heavy tail breaks this and needs no such fine
    # lattice.
    curvature = min(saddle.tilt * (1 + saddle.tilt), saddle.tilt + (10 - 2 * saddle.log_delta) / variance)
    # 3: losses with shorter tails than the Gaussian's fall faster, and a finer lattice is cheaper than a second one
    curvature = max(curvature, 3 * steepest * (1 + steepest), 1 / variance)
    return min(math.sqrt(3.2 * rtol / (pairs * curvature)), saddle.deviation / 6)


def rounded_delta(log_delta: float) -> float:
    """Return the delta of a logarithm, rounded up."""
    return min(math.exp(log_delta) * (1 + 1e-13), 1.0)


def log_tail_for(log_delta: float, pairs: int, rtol: float) -> float:
    """Return the exponent at which the mass given away by all pairs is below rtol / 100 of delta."""
    return min(math.log(400 * pairs / rtol) - log_delta, LARGEST_LOG_TAIL)


def gaussian_scale(collections: Sequence[RepeatedPair]) -> float:
    """Return sensitivity/deviation of Gaussian noise as large as that of all collections together."""
    ratio = math.hypot(*(pair.copies * math.sqrt(2 * pairs / pair.variance) for pair, pairs in collections))
    return min(max(ratio, 1e-130), 100.0)


def _trivial(collections: Sequence[RepeatedPair]) -> float | None:
    """Return log delta if no computation is needed: without copies, or if the loss is +inf almost surely (bound 1)."""
    if not any(pair.copies for pair, _ in collections):
        return -math.inf
    return 0.0 if infinite_loss(*((pair.zero_mass, pairs) for pair, pairs in collections)) > 1 - 1e-9 else None


def delta_interval(
    pair: CounterPair,
    *,
    pairs: int,
    epsilon: float,
    rtol: float = 1e-3,
    smallest: float = SMALLEST_DELTA,
    expected: float | None = None,
) -> DeltaInterval:
    """Return a certified interval of the delta of a product of item pairs.

    Parameters
    ----------
    pair : CounterPair
        One exchanged item.
    pairs : int
        Number t >= 1 of exchanged items; min(s, d - s) for the guarantee of a user with s of d items.
    epsilon : float
        Privacy loss in [0, 100].
    rtol : float, default 1e-3
        Largest relative width, ``upper <= (1 + rtol) lower``, in [1e-8, 1].
    smallest : float, default 1e-250
        Deltas below this number, in [1e-250, 1], need not be told from 0, which would take the largest tables.
    expected : float, optional
        A guess of delta, in [1e-250, 1). A good guess needs fewer tables, a bad one more.

    Returns
    -------
    DeltaInterval
        ``lower <= delta <= upper``. A delta below `smallest` is reported as ``(0, smallest)``, one below the least
        tails of a pair's tables (1e-30 for a signed blanket) as ``(0, upper)``.

    Raises
    ------
    ParameterError
        If a parameter is outside its range.
    AccuracyError
        If the width cannot be reached: finer lattices do not narrow the interval, or are too large. Seen for a blanket
        mean below 0.01 with hardly any copies and epsilon near 0, for epsilon of 3 and more with delta of about 1e-100
        and less, and for a million pairs, whose sum needs too long a transform.
    """
    interval, failure = closest_interval(
        pair, pairs=pairs, epsilon=epsilon, rtol=rtol, smallest=smallest, expected=expected
    )
    if failure:
        raise failure
    return interval


def _first_lattice(
    pair: CounterPair, pairs: int, epsilon: float, rtol: float, log_smallest: float, expected: float | None
) -> tuple[SaddlePoint, float]:
    """Return the saddle point and the step of the first table of `closest_interval`."""
    saddle, steepest = _saddle_point_of([(pair, pairs)], epsilon, rtol, log_smallest), 0.0
    if expected is not None:
        saddle = saddle._replace(log_delta=min(saddle.log_delta, math.log(expected)))
        steepest = max(epsilon / gaussian_ratio(epsilon=epsilon, delta=expected) ** 2 - 0.5, 0.0) if epsilon else 0.0
    return saddle, _cell_step(saddle, pairs, rtol, steepest)


def closest_interval(
    pair: CounterPair, *, pairs: int, epsilon: float, rtol: float, smallest: float, expected: float | None
) -> tuple[DeltaInterval, AccuracyError | None]:
    """Return the narrowest certified interval that was found, and why it is wider than asked for, if it is.

    The parameters are those of `delta_interval`.
    """
    check_product(pairs=pairs, epsilon=epsilon)
    if expected is not None:
        check_within("expected", expected, SMALLEST_DELTA, 1, "[)")
    trivial = _trivial([(pair, pairs)])
    if trivial is not None:
        return (ZERO if trivial < 0 else DeltaInterval(1 - 1e-9, 1.0)), None
    log_smallest, low, high = math.log(smallest), -math.inf, 0.0
    try:
        saddle, step = _first_lattice(pair, pairs, epsilon, rtol, log_smallest, expected)
        log_delta = max(saddle.log_delta, log_smallest)
        widths, lost = [math.inf, math.inf], math.inf
        for _ in range(_TABLES):
            cut = lost
            table = pair.loss_table(step, log_tail_for(log_delta, pairs, rtol))
            upper = log_delta_upper([(table, pairs)], epsilon, saddle.tilt)
            # the rounding of the logarithm is on the safe side
            if upper < log_smallest - _ROUNDING:
                return DeltaInterval(0.0, smallest), None
            lost = table.truncated
            # a pair may have no table that leaves out less
            asked = lost == cut or log_delta <= log_smallest
            if asked and lost > 0 and upper < math.log(4 * pairs * lost):
                return DeltaInterval(0.0, rounded_delta(upper)), None
            lower = log_delta_lower(table, pairs, epsilon, saddle.tilt)
            width = math.expm1(min(upper - lower, 700.0))
            if width <= rtol:
                return DeltaInterval(math.exp(lower), rounded_delta(upper)), None
            low, high = max(low, lower), min(high, upper)
            if lower < log_delta - 2 and log_delta > log_smallest:
                log_delta = max(lower, log_smallest)  # too much mass was given away: a finer lattice would not help
            elif table.step > step or width > _HARDLY_LESS * widths[-2] or lower == -math.inf:
                break  # the finest lattice there is, or that round-off and missing mass allow
            else:
                # the width goes with the square of the step
                step = table.step * min(max(math.sqrt(0.6 * rtol / width), 0.02), 0.8)
            widths.append(width)
        failure = AccuracyError(
            f"The interval of delta stayed {width:.1e} wide, more than rtol = {rtol:g}: raise rtol."
        )
    except AccuracyError as error:
        failure = error
    return DeltaInterval(math.exp(low), rounded_delta(high)), failure


def log_delta_bound(collections: Sequence[RepeatedPair], epsilon: float, rtol: float = BOUND_RTOL) -> float:
    """Return a certified upper bound of log delta of all collections together, within about `rtol` / 2 of it."""
    trivial = _trivial(collections)
    if trivial is not None:
        return trivial
    counts: dict[CounterPair, int] = {}
    for pair, number in collections:
        if pair.copies:
            counts[pair] = counts.get(pair, 0) + number
    sent, pairs = list(counts.items()), sum(counts.values())
    try:
        saddle = _saddle_point_of(sent, epsilon, rtol)
    except AccuracyError:
        return 0.0  # no table, no bound but 1
    step, log_tail = _cell_step(saddle, pairs, rtol), log_tail_for(saddle.log_delta, pairs, rtol)
    best, lost = 0.0, math.inf
    for _ in range(_BOUND_TABLES):
        try:
            tables = on_one_lattice(sent, step, log_tail)
        except AccuracyError:
            return best
        try:
            value = log_delta_upper(tables, epsilon, saddle.tilt)
        except AccuracyError:
            step = _COARSER * tables[0][0].step  # a wider bound is still a bound
            continue
        best, cut = min(best, value), lost
        lost = added(number * table.truncated for table, number in tables)
        # a pair may have no table that leaves out less
        if value < _LOG_SMALLEST or lost == cut or math.log(lost) < value - 5:
            return max(best, _LOG_SMALLEST)  # below that, it is mostly lost mass, which grows with the window
        log_tail = log_tail_for(value, pairs, rtol) + 10
    return best


def on_one_lattice(collections: Sequence[RepeatedPair], step: float, log_tail: float) -> list[tuple[LossTable, int]]:
    """Return tables of all pairs with one step, which is larger than `step` if a pair cannot have that."""
    tables = [(pair.loss_table(step, log_tail), pairs) for pair, pairs in collections]
    common = max(table.step for table, _ in tables)
    if all(table.step == common for table, _ in tables):
        return tables
    return [(on_step(pair.loss_table(common, log_tail), common), pairs) for pair, pairs in collections]


def on_step(table: LossTable, step: float) -> LossTable:
    """Move a table from a finer lattice to that of `step`: its divergence can only grow. Return others unchanged."""
    if table.step >= step:
        return table
    index, mass = ends_of(table)
    errors = (table.zero_mass, table.truncated, table.mass_error, table.ratio_error, table.missing)
    return Atoms(np.asarray(index * table.step, dtype=float), mass, *errors).table(step)


def ends_of(table: LossTable) -> tuple[IntArray, FloatArray]:
    """Return the lattice points between which `split_masses` splits the cells, as indices, and B's mass there."""
    mass = split_masses(table)
    kept = mass > 0
    return (table.first + np.arange(mass.size, dtype=np.int64))[kept], mass[kept]
