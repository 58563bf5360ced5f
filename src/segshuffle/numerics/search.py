"""Monotone searches that end on the safe side: at an argument where the condition was seen to hold.

`safe_edge` finds where a monotone function crosses zero, and so does `solve`, from a good start. `edge_epsilon` finds
the epsilon at which a bound of delta meets its target, to a relative accuracy in delta, and `certified_root` to one in
epsilon. A `Bound` gives delta at an epsilon and epsilon at a delta. `largest_local_epsilon` finds the largest local
epsilon that shuffling makes private enough.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from segshuffle.errors import InfeasibleError, ParameterError
from segshuffle.numerics.intervals import DeltaInterval
from segshuffle.numerics.ranges import (
    LARGEST_EPSILON,
    LARGEST_LOCAL_EPSILON,
    SMALLEST_LOG_RATIO,
    check_epsilon,
    check_target,
)

#: A number as a function of another.
Function = Callable[[float], float]
_MAX_STEPS = 200
#: After this many steps an unproven search narrows its bracket, if it has one, as `safe_edge` does.
_MANY = 3
#: An unproven search ends if its next step, or its bracket, is smaller than these shares of `rtol`.
_SHORT, _NARROW = 0.1, 0.03
#: Width of the narrowest intervals, and distance from the target, in log(delta), below which narrow ones are used.
_FINEST, _NEAR = 1e-9, 0.03
#: Relative width of the intervals asked for far away from a target.
_COARSE = 0.02
#: Epsilons below this share of the ceiling are not told apart from 0.
_SMALLEST_SHARE = 1e-9
#: Epsilons closer than this to the ceiling, relative to it, are not told apart from it.
_SMALLEST_GAP = 1e-12
#: Brackets narrower than this are not halved further, because the function may jump: relative to the argument, and in
#: searches of epsilon relative to the upper end of the first bracket.
_RESOLUTION, _SMALLEST_STEP = 1e-13, 1e-10
#: The same for lower bounds, which jump only where they are mostly round-off.
_LOWER_STEP = 1e-7
#: Points that the Gaussian mechanism suggests, and how far beyond its second answer the second one lies, by the step.
_STEPS, _BEYOND = 2, 1.25
#: Factor by which a search lowers epsilon while delta underflows to 0.
_DESCENT = 8.0


def log_excess(value: float, target: float) -> float:
    """Return log(value/target): at most 0 where the target is met; -inf for value = 0, +inf (never safe) for nan."""
    if math.isnan(value):
        return math.inf
    return math.log(value / target) if value > 0 else -math.inf


def gaussian_excess(value: float, target: float, epsilon: float) -> float:
    """Return about log(value/target) near 0, with its sign, bent to be linear in the log of a Gaussian's sensitivity.

    Up to a factor that varies slowly, delta of a Gaussian mechanism is exp(-z^2/2) where its sensitivity is
    sqrt(z^2 + 2 epsilon) - z, in deviations.
    """
    excess = log_excess(value, target)
    if math.isinf(excess):
        return excess
    square = -2 * math.log(target)
    z, z_there = math.sqrt(square), math.sqrt(max(square - 2 * excess, 0.0))
    w, w_there = math.sqrt(square + 2 * epsilon), math.hypot(z_there, math.sqrt(2 * epsilon))
    # the log of the ratio of the sensitivities, without a difference that could lose the sign
    change = 2 * excess * (1 / (z + z_there) + 1 / (w + w_there)) / (z_there + w_there)
    return z * w * math.log1p(change)


def safe_edge(excess: Function, *, safe: float, unsafe: float, tolerance: float = 5e-4) -> float:
    """Find where a monotone function crosses zero and return a point on the side where it is <= 0.

    Regula falsi with the Illinois rule, on a log scale of the argument, aimed at the middle of the tolerance band:
    for the log of a delta this converges in about five evaluations.

    Parameters
    ----------
    excess : callable
        Monotone in its argument between `safe` and `unsafe`: the log of a privacy number over its target.
    safe, unsafe : float
        Positive points; ``excess(safe) <= 0``. If ``excess(unsafe) <= 0`` too, `unsafe` is returned.
    tolerance : float
        Stop at a safe point whose excess is at least ``-tolerance``.

    Returns
    -------
    float
        A point where `excess` was evaluated and found <= 0.

    Raises
    ------
    InfeasibleError
        If ``excess(safe) > 0``.
    """
    at_unsafe = excess(unsafe)
    if at_unsafe <= 0:
        return unsafe
    at_safe = excess(safe)
    if at_safe > 0:
        factor = math.exp(min(at_safe, 700.0))
        raise InfeasibleError(
            f"the target is missed by a factor {factor:.3g} even at {safe:g}, the safest value: raise epsilon or delta."
        )
    low, high = _End(math.log(safe), at_safe), _End(math.log(unsafe), at_unsafe)
    best = _edge(lambda log: excess(math.exp(log)), low, high, lambda height: height, tolerance, _RESOLUTION)
    return safe if best == low.argument else math.exp(best)


def solve(
    log_excess: Function,
    start: float,
    slope: float,
    limits: tuple[float, float],
    rtol: float = 1e-3,
    steps: int = 120,
    proven: bool = True,
) -> float:
    """Find x with ``-0.9 rtol <= log_excess(x) <= 0``, or the upper limit if ``log_excess`` is not above 0 there.

    `log_excess` is nondecreasing up to its own error; `slope` > 0 is a guess. The answer is a point where the bound was
    evaluated, so it is safe even if `log_excess` falls somewhere. It is NaN if even the lower limit is not safe.
    Without `proven` the search ends once the next point is near the last one, and returns this next point unevaluated,
    or once the answer is known to lie in a narrow bracket.
    """
    low, high = limits
    tried: dict[float, float] = {}
    x, safe = min(max(start, low), high), math.nan
    for iteration in range(steps):
        value = tried[x] = log_excess(x)
        if value <= 0:
            safe, low = x, x
            if value >= -0.9 * rtol or x == limits[1]:
                return x
        else:
            high = x
            if x == limits[0]:
                return math.nan
        # Secant through the last two points, to the middle of the accepted interval; now and then a bisection.
        (x0, value0), (x1, value1) = [(x, value), *tried.items()][-2:]
        slope = _secant(x1 - x0, value1 - value0, slope)
        guess = x - (value + 0.4 * rtol) / slope
        if not proven and abs(guess - x) < _SHORT * rtol:
            return min(max(guess, low), high)
        has_bracket = low in tried and high in tried
        if has_bracket and not proven and iteration >= _MANY:
            ends = _End(low, tried[low]), _End(high, tried[high])
            return _edge(log_excess, *ends, lambda height: height, rtol, _NARROW * rtol)
        if has_bracket and (iteration % 4 == 3 or not low < guess < high):
            guess = 0.5 * (low + high)
        x = min(max(guess, low), high)
        if x in tried:
            break
    return safe


def _secant(run: float, rise: float, slope: float) -> float:
    """Return the slope of the last step; on a plateau half of `slope`, so that the next step is twice as long."""
    if rise * run > 0:
        return rise / run
    return slope / 2 if run else slope


class _End(NamedTuple):
    """An argument, and the excess found there."""

    argument: float
    excess: float


def _edge(
    excess: Function,
    safe: _End,
    unsafe: _End,
    height: Function,
    tolerance: float,
    resolution: float,
) -> float:
    """Do the search of `safe_edge` from two evaluated ends; `height` turns the excess into a nearly linear function."""
    aim = height(-0.5 * tolerance)
    best = safe
    z_safe, z_unsafe = safe.argument, unsafe.argument
    f_safe, f_unsafe = height(safe.excess), height(unsafe.excess)
    # the Illinois rule halves the height of an end that stays while the other moves twice in a row
    previous_safe: bool | None = None
    widths = [abs(z_unsafe - z_safe)]
    for _ in range(_MAX_STEPS):
        if best.excess >= -tolerance or widths[-1] < resolution:
            break
        z = _next_point(z_safe, z_unsafe, f_safe - aim, f_unsafe - aim)
        # at a jump the secant crawls: bisect when three steps did not halve the bracket
        if len(widths) > 3 and widths[-1] > 0.5 * widths[-4]:
            z = 0.5 * (z_safe + z_unsafe)
        end = _End(z, excess(z))
        if end.excess <= 0:
            best, z_safe, f_safe = end, z, height(end.excess)
            f_unsafe = 0.5 * f_unsafe if previous_safe is True else f_unsafe
        else:
            z_unsafe, f_unsafe = z, height(end.excess)
            f_safe = 0.5 * f_safe if previous_safe is False else f_safe
        previous_safe = end.excess <= 0
        widths.append(abs(z_unsafe - z_safe))
    return best.argument


def _gaussian_height(excess: float, delta: float, sign: int) -> float:
    """Scale sign * log(bound/delta): for a Gaussian the square root of log(1/bound) is nearly linear in epsilon."""
    target = -math.log(delta)
    return sign * (math.sqrt(target) - math.sqrt(max(target - sign * excess, 0.0)))


def _answers(end: _End, sign: int) -> bool:
    """Return whether the answer is at `end` or below it."""
    return (end.excess <= 0) == (sign > 0)


def _gaussian_bracket(excess: Function, inner: _End, most: float, delta: float, sign: int) -> tuple[_End, _End]:
    """Enclose the root near that of a Gaussian mechanism, or between 0 (`inner`) and `most` where this misleads.

    Its delta is about delta(0) e^(-z^2/2)/(1 + z^2), where z = epsilon/r - r/2, and r = sqrt(2 pi) delta(0) is the
    ratio of its sensitivity to its deviation.
    """
    room = 2 * sign * inner.excess  # z^2 without the fraction, which takes one step of Newton's method
    z = math.sqrt(room - math.log1p(room) / (0.5 + 1 / (1 + room)))
    ratio = math.sqrt(2 * math.pi) * delta * math.exp(0.5 * room)
    start, slope = ratio * (z + 0.5 * ratio), (z + 4 / (3 + z)) / ratio
    low, high = inner, _End(most, math.nan)
    for _ in range(_STEPS):
        if max(low.argument, _SMALLEST_SHARE * most) < start < high.argument:
            end = _End(start, excess(start))
            low, high = (low, end) if _answers(end, sign) else (end, high)
            start += _BEYOND * sign * end.excess / slope
    return low, _End(most, excess(most)) if high.argument == most else high


def _next_point(z_safe: float, z_unsafe: float, f_safe: float, f_unsafe: float) -> float:
    """Return the zero of the secant through the bracket's ends, or the bracket's middle if the secant is of no use."""
    if not (math.isfinite(f_safe) and f_safe < 0 < f_unsafe < 700):
        return 0.5 * (z_safe + z_unsafe)
    share = f_safe / (f_safe - f_unsafe)
    return z_safe + min(max(share, 0.01), 0.99) * (z_unsafe - z_safe)


def edge_epsilon(
    bound: Callable[[float, float], float], *, ceiling: float, delta: float, rtol: float, lower: bool = False
) -> float:
    """Find the epsilon from which on a bound of delta meets its target, within about rtol in terms of delta.

    Parameters
    ----------
    bound : callable
        (epsilon, width) -> delta, non-increasing in epsilon; one end of an interval about `width` wide, relatively.
    ceiling : float
        The local epsilon, a guarantee without shuffling, from which on the divergence has vanished; +inf if there is
        none. The search ends at the ceiling or at 300, whichever is less.
    delta, rtol : float
        Target and its relative tolerance.
    lower : bool
        Whether the bound is a lower one.

    Returns
    -------
    float
        For an upper bound the least epsilon that meets `delta`, rounded up: the ceiling if no smaller one does, and
        +inf if none up to 300 does. For a lower bound the largest one at which it still exceeds `delta`, rounded down;
        0 if there is none.
    """
    sign, top = -1 if lower else 1, min(ceiling, LARGEST_EPSILON)
    excess = _staged(bound, delta, rtol, sign)

    answers = partial(_answers, sign=sign)
    half, gap, tolerance = 0.5 * top, _SMALLEST_GAP * top, 2 * rtol
    if top == 0.0 or answers(inner := _End(0.0, excess(0.0))):
        return 0.0
    inner, outer = _gaussian_bracket(excess, inner, half, delta, sign)
    if answers(outer):
        # where delta has underflowed, nothing says how far down to look
        while outer.excess == -sign * math.inf and outer.argument > _SMALLEST_SHARE * top:
            below = max(outer.argument / _DESCENT, _SMALLEST_SHARE * top)
            end = _End(below, excess(below))
            if not answers(end):
                inner = end
                break
            outer = end
        safe, unsafe = (outer, inner) if sign > 0 else (inner, outer)
        step = (_SMALLEST_STEP if sign > 0 else _LOWER_STEP) * outer.argument
        return _edge(excess, safe, unsafe, partial(_gaussian_height, delta=delta, sign=sign), tolerance, step)
    if sign > 0 and excess(top - gap) > 0:
        return ceiling if ceiling == top else math.inf  # where only the range ends, nothing is proven
    # near the ceiling delta is often proportional to the distance from it
    near, far = (gap, half) if sign > 0 else (half, gap)
    return top - safe_edge(lambda distance: excess(top - distance), safe=near, unsafe=far, tolerance=tolerance)


def _staged(bound: Callable[[float, float], float], delta: float, rtol: float, sign: int) -> Function:
    """Make the excess of a bound, with wide intervals until the target is near, then narrow ones; nan is never safe."""
    near = False

    def excess(epsilon: float) -> float:
        nonlocal near
        for width in (rtol,) if near else (_COARSE, rtol):
            ratio = log_excess(bound(epsilon, width), delta)
            if abs(ratio) > 10 * _COARSE:
                break
            near = True
        return math.inf if ratio == math.inf else sign * ratio

    return excess


def largest_local_epsilon(bound: Function, *, epsilon: float, delta: float) -> float:
    """Find the largest local epsilon at which shuffling is proven (epsilon, delta)-private, rounded down.

    Never below `epsilon`, for local privacy is not lost by shuffling, and never above 50.

    Parameters
    ----------
    bound : callable
        Maps a local epsilon to the upper end of delta at `epsilon`; non-decreasing.
    epsilon, delta : float
        The target.
    """

    def excess(local_epsilon: float) -> float:
        return log_excess(bound(local_epsilon), delta)

    # at local_epsilon = epsilon the divergence is 0, which safe_edge has no use for
    lowest = epsilon * (1 + 1e-6)
    if lowest >= LARGEST_LOCAL_EPSILON or excess(lowest) > 0:
        return min(epsilon, LARGEST_LOCAL_EPSILON)
    return safe_edge(excess, safe=lowest, unsafe=LARGEST_LOCAL_EPSILON)


class Bound(ABC):
    """A bound of delta over epsilon: made once, asked for many deltas or epsilons.

    Attributes
    ----------
    ceiling : float
        Epsilon that needs no bound: the local guarantee.
    local_delta : float
        Failure probability of the local guarantee.
    rtol : float
        Relative accuracy in delta.
    """

    ceiling: float
    local_delta = 0.0
    rtol = 1e-4

    @abstractmethod
    def interval(self, epsilon: float, rtol: float) -> DeltaInterval:
        """Enclose the bound's delta."""

    def lower(self, epsilon: float, rtol: float) -> float:
        """Return the lower end alone."""
        return self.interval(epsilon, rtol).lower

    def upper(self, epsilon: float, rtol: float) -> float:
        """Return the upper end alone."""
        return self.interval(epsilon, rtol).upper

    def delta(self, *, epsilon: float, rtol: float | None = None) -> DeltaInterval:
        """Enclose the bound's delta at epsilon in [0, 300]."""
        check_epsilon(epsilon)
        return self.interval(epsilon, self.rtol if rtol is None else rtol)

    def epsilon(self, *, delta: float) -> float:
        """Return the least epsilon at `delta` in [1e-280, 1), rounded up; +inf if none up to 300 is known to reach it.

        Raises
        ------
        ParameterError
            If delta is not above the local failure probability: then the local epsilon may be no guarantee either.
        """
        check_target(delta)
        if delta <= self.local_delta:
            raise ParameterError("delta", delta, f"above local_delta = {self.local_delta:g}, which no epsilon removes")
        return edge_epsilon(self.upper, ceiling=self.ceiling, delta=delta, rtol=self.rtol)


def reached_epsilon(delta_of: Function, epsilon: float, delta: float, *, most: float = LARGEST_EPSILON) -> float:
    """Return the epsilon, raised until the delta that is told there is at most `delta`; +inf above `most`.

    What is told of delta may be wider than what a search has seen, or rounded up.
    """
    step = 1e-9
    while epsilon <= most and delta_of(epsilon) > delta:
        epsilon, step = max(epsilon, SMALLEST_LOG_RATIO) * (1 + step), 2 * step
    return epsilon if epsilon <= most else math.inf


def certified_root(
    measure: Callable[[float, float], DeltaInterval],
    *,
    target: float,
    first: float,
    last: float,
    guess: float,
    slope: float,
    rtol: float,
) -> float:
    """Find the smallest epsilon with delta(epsilon) <= target, to relative accuracy rtol, rounded up.

    First it takes secant steps in log(delta) against log(epsilon), through the middles of wide, cheap intervals; the
    middles are far more accurate than the width suggests. Then it takes one narrow interval, at an epsilon slightly
    above the guessed root: the upper end is to be below the target, and the lower end to show that the root is at most
    a relative rtol lower. It bisects wherever the secant does not help.

    Parameters
    ----------
    measure : callable
        measure(epsilon, width) encloses delta(epsilon), falling in epsilon, with relative width `width` if it can.
    target : float
        Positive.
    first, last : float
        Bracket, 0 < first < last, with measure(last).upper <= target.
    guess, slope : float
        A starting point, and d log(delta)/d log(epsilon) < 0 near it.
    rtol : float
        Accuracy asked of epsilon.

    Returns
    -------
    float
        An epsilon at which the certified upper end was found to be at most `target`.
    """
    low, high, best = math.log(first), math.log(last), last
    z, width = math.log(guess), _COARSE
    before = (z, math.nan, 0.0)
    for step in range(_MAX_STEPS):
        epsilon = math.exp(z)
        interval = measure(epsilon, width)
        upper, lower = log_excess(interval.upper, target), log_excess(interval.lower, target)
        if upper <= 0 and epsilon <= best:
            best, high = epsilon, z
        elif lower > 0:
            low = max(low, z)
        middle = log_excess(0.5 * (interval.lower + interval.upper), target)
        if abs(middle - before[1]) > 2 * (upper - lower + before[2]):
            trial = (middle - before[1]) / (z - before[0])
            slope = trial if trial < 0 else slope
        allowed = -slope * rtol
        narrow = min(max(0.6 * allowed, _FINEST), _COARSE)
        if upper <= 0 and (lower >= -allowed or (width <= narrow and upper >= -allowed)):
            return epsilon
        # a narrow interval leaves 0.6 rtol of the bracket undecided: less than that may never be reached
        if high - low <= rtol:
            break
        before = (z, middle, upper - lower)
        z -= (middle + 0.5 * allowed) / slope
        if not low < z < high or step % 5 == 4:
            z = 0.5 * (low + high)
        width = narrow if abs(middle) < _NEAR or high - low <= 2 * rtol else _COARSE
    return best
