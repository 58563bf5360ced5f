"""Calibration of a blanket of any law: epsilon, copies or blanket from a target, rounded to the safe side.

Also the epsilon of a plan if fewer users are honest than it relies on.

Every answer is a point at which the certified bound of `product` was evaluated and found within the target.
"""

import math
from collections.abc import Callable, Sequence

from segshuffle.accounting.collections.product import (
    BOUND_RTOL,
    EPSILON_LIMIT,
    SMALLEST_DELTA,
    RepeatedPair,
    check_product,
    delta_interval,
    gaussian_scale,
    log_delta_bound,
)
from segshuffle.blankets.base import COPIES_RANGE, Blanket, CounterPair
from segshuffle.blankets.pairs import check_copies
from segshuffle.blankets.singles import SINGLES
from segshuffle.digits import rounded_up
from segshuffle.errors import InfeasibleError
from segshuffle.numerics.gaussian import gaussian_log_delta
from segshuffle.numerics.loss_distribution import AccuracyError
from segshuffle.numerics.ranges import check_within
from segshuffle.numerics.search import Function, solve


def _root_and_slope(function: Function, low: float, high: float, change: float = 1e-3) -> tuple[float, float]:
    """Return about where an increasing function changes sign, and its slope just left of there, to start a search."""
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if function(middle) < 0 else (low, middle)
    root = 0.5 * (low + high)
    rise = function(root) - function(root - change)
    return root, max(rise / change, 1e-3) if rise > 0 else 1e-3  # the difference of two logarithms of 0 is nan


def _calibrate(
    pair_at: Callable[[float], CounterPair],
    ends: tuple[float, float],
    target: tuple[int, float, float],
    start: float,
    slope: float,
    nothing: str,
) -> float:
    """Find the value nearest to the second of `ends` whose pair meets the target (pairs, epsilon, delta).

    `solve` gets the log of (delta of the pair/delta of the target) as a function of x: the log of the value, or minus
    this log if `ends` are in falling order. `start` is an x, and `slope` a guess of the slope there. `nothing`
    is how the error begins if not even the first of `ends` meets it.

    `log_delta_bound` does not refine its lattice; where that was too coarse (few counts, small means), the answer is
    improved with the bound of `delta_interval`, which refines until both its bounds agree.
    """
    pairs, epsilon, delta = target
    sign = 1 if ends[0] < ends[1] else -1
    first, last = (sign * math.log(end) for end in ends)

    def value(x: float) -> float:
        return ends[1] if x >= last else min(max(math.exp(sign * x), min(ends)), max(ends))

    def excess(x: float) -> float:
        return log_delta_bound([(pair_at(value(x)), pairs)], epsilon) - math.log(delta)

    def sharp(x: float) -> float:
        try:
            upper = delta_interval(pair_at(value(x)), pairs=pairs, epsilon=epsilon).upper
        except AccuracyError:
            return excess(x)
        return math.log(max(upper, SMALLEST_DELTA) / delta)

    answer = solve(excess, start, slope, (first, last))
    if math.isnan(answer):
        raise InfeasibleError(f"{nothing} meets epsilon = {epsilon:g}, delta = {delta:g}: raise delta.")
    if answer < last and sharp(answer) < -math.log1p(BOUND_RTOL):
        # few steps: each takes long, and where delta jumps a search would go on to the last digit
        better = solve(sharp, answer, slope, (answer, last), steps=12)
        answer = answer if math.isnan(better) else better
    return value(answer)


def gaussian_start(epsilon: float, delta: float) -> tuple[float, float]:
    """Return the log of sensitivity/deviation at which Gaussian noise meets the target, and log delta's slope there."""

    def excess(log: float) -> float:
        return gaussian_log_delta(ratio=math.exp(log), epsilon=epsilon) - math.log(delta)

    return _root_and_slope(excess, -700.0, 8.0)


def epsilon_upper(collections: Sequence[RepeatedPair], *, delta: float, rtol: float = BOUND_RTOL) -> float:
    """Return the epsilon that the product of all collections' pairs is certified to have at `delta`, rounded up.

    Parameters
    ----------
    collections : sequence of (CounterPair, int)
        One exchanged item, and the number t >= 1 of exchanged items, by collection.
    delta : float
        Target in [1e-110, 1).
    rtol : float
        Relative accuracy of delta.

    Returns
    -------
    float
        Upper bound: an epsilon in [0, 100] whose certified delta is at most `delta` (and within rtol of it unless
        epsilon is 0); inf if there is none, for example if a loss of +inf is more likely than `delta`.

    Raises
    ------
    ParameterError
        If a parameter is outside its range.
    """
    check_product(delta=delta)
    for _, pairs in collections:
        check_product(pairs=pairs)
    if not any(pair.copies for pair, _ in collections):
        return 0.0
    # the search is over minus epsilon, in which delta grows; it starts where the Gaussian mechanism meets `delta`
    limits, scale = (-EPSILON_LIMIT, -0.0), gaussian_scale(collections)

    def guess(x: float) -> float:
        return gaussian_log_delta(ratio=scale, epsilon=-x) - math.log(delta)

    start, slope = _root_and_slope(guess, *limits, 1e-3 * scale)

    def excess(x: float) -> float:
        return log_delta_bound(collections, -x, rtol) - math.log(delta)

    answer = -solve(excess, start, slope, limits, rtol)
    return math.inf if math.isnan(answer) else answer + 0.0


def largest_copies(
    *,
    blanket_mean: float,
    pairs: int,
    epsilon: float,
    delta: float,
    copies_max: float = 1.0,
) -> float:
    """Return the largest number of expected copies that keeps the guarantee with single dummies, rounded down.

    Delta does not decrease in the copies (their random number grows stochastically, and the optimal test is monotone in
    the counters), so a root search is sound; for ``copies_max = 1`` this is the largest sampling rate.

    Parameters
    ----------
    blanket_mean : float
        Expected dummies per item, in `Blanket.means`.
    pairs : int
        Number t >= 1 of exchanged items.
    epsilon, delta : float
        Target; epsilon in [0, 100], delta in [1e-110, 1).
    copies_max : float, default 1.0
        Upper limit, in [1e-120, 64].

    Returns
    -------
    float
        Lower bound of the largest copies: its certified delta is at most `delta`, and at least 0.999 `delta`
        unless the answer is `copies_max`.

    Raises
    ------
    ParameterError
        If a parameter is outside its range.
    InfeasibleError
        If no positive number of copies was found.
    """
    variance = SINGLES.pair(blanket_mean, 0.0).variance
    check_product(pairs=pairs, epsilon=epsilon, delta=delta)
    check_within("copies_max", copies_max, *COPIES_RANGE)
    log_scale, slope = gaussian_start(epsilon, delta)
    near = log_scale + 0.5 * math.log(variance / (2 * pairs))
    ends, target = (COPIES_RANGE[0], copies_max), (pairs, epsilon, delta)
    return _calibrate(
        lambda copies: SINGLES.pair(blanket_mean, copies), ends, target, near, slope, "No number of copies"
    )


def least_blanket_mean(*, copies: float, pairs: int, epsilon: float, delta: float) -> float:
    """Find the least mean of single dummies that gives the guarantee to a user with `copies` copies, rounded up.

    Delta does not increase in this mean: adding more dummies to every counter is post-processing.

    Parameters
    ----------
    copies : float
        Expected copies of a held item, 0 or in [1e-120, 64].
    pairs : int
        Number t >= 1 of exchanged items.
    epsilon, delta : float
        Target; epsilon in [0, 100], delta in [1e-110, 1).

    Returns
    -------
    float
        Upper bound of the least mu in `Blanket.means`: its certified delta is at most `delta`, and at least 0.999
        `delta` unless the answer is the least of them.

    Raises
    ------
    ParameterError
        If a parameter is outside its range.
    InfeasibleError
        If the largest of `Blanket.means` is not enough.
    """
    check_copies(copies)
    check_product(pairs=pairs, epsilon=epsilon, delta=delta)
    least, most = SINGLES.means
    if copies == 0:
        return least
    per_message = SINGLES.pair(least, 0.0).variance / least
    log_scale, slope = gaussian_start(epsilon, delta)
    near = 2 * (log_scale - math.log(copies)) - math.log(2 * pairs / per_message)
    ends, target = (most, least), (pairs, epsilon, delta)
    nothing = f"No blanket mean up to {most:g}"
    return _calibrate(lambda mean: SINGLES.pair(mean, copies), ends, target, near, slope / 2, nothing)


def epsilon_over_honesty(
    *,
    blanket_mean: float,
    copies: float,
    pairs: int,
    delta: float,
    fractions: Sequence[float],
    blanket: Blanket = SINGLES,
) -> tuple[float, ...]:
    """Return the epsilon that a user really has at `delta`, by the fraction of users who really are honest, rounded up.

    With n' honest users of n the blanket's mean is n' m/d, all else as before (docs/proof.md). So a user who drops out
    and one who tells the server of its blanket cost the same.

    Parameters
    ----------
    blanket_mean : float
        Expected blanket messages per item if everybody is honest, n m/d, in `blanket.means`.
    copies : float
        Expected copies of a held item, 0 or in [1e-120, 64].
    pairs : int
        Pairs t >= 1, `Problem.pairs`.
    delta : float
        In [1e-110, 1).
    fractions : sequence of float
        Honest shares of the n users, each in (0, 1].
    blanket : Blanket
        Law of the blanket.

    Returns
    -------
    tuple of float
        By fraction; +inf where no epsilon up to 100 is certified, or what is left is below `blanket.means` (kind:
        upper).

    Raises
    ------
    ParameterError
        If a parameter is outside its range.
    """
    epsilons = []
    for fraction in fractions:
        check_within("fractions", fraction, 0, 1, "(]")
        mean = math.nextafter(fraction * blanket_mean, 0.0)
        known = mean >= blanket.means[0]
        epsilon = epsilon_upper([(blanket.pair(mean, copies), pairs)], delta=delta) if known else math.inf
        epsilons.append(rounded_up(epsilon))
    return tuple(epsilons)
