"""Points to make plans with, near the best point of a search.

Searches compare rough estimates of the largest copies, and copies slightly below whole ones may cost much. So the
least variance that allows whole copies is sought. Where slightly more copies would lower the error much, points around
the best one are compared by fine estimates; among few dummies always, as copies have many kinks there.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict

import numpy as np

from segshuffle.accounting.collections.guides import CLOSE, FINE, guided_noise
from segshuffle.arrays import FloatArray
from segshuffle.blankets.base import CounterPair
from segshuffle.plans.copy_rules import Candidate
from segshuffle.plans.single_dummies import SingleDummies
from segshuffle.plans.surface import Surface

#: Relative distances at which copies count as near to whole ones: always, and where the error is steep.
_VERY_NEAR, _NEAR = 2 * FINE, 0.1
#: First and last distance between points that are compared.
_FIRST_STEP, _LAST_STEP = 0.25, CLOSE
#: With more levels only the usual variance is tried, to save time.
_FEW_LEVELS = 8
#: Below this variance's log there are few dummies.
_FEW = 2.0
#: The error is steep if its relative change is more than this multiple of that of the copies.
_STEEP = 4
#: Least relative gain for which another plan is made: where the error is flat, a lower one may take many more messages.
_GAIN = 0.001


def points_to_try(search: Surface | SingleDummies, best: Candidate, budget: float) -> list[FloatArray]:
    """Return the best point, or one that allows whole copies; and perhaps a better one, too."""
    near = _with_whole_copies(search, best, _VERY_NEAR)
    usual = near if abs(near[0] - best.point[0]) < CLOSE else best.point
    is_rough = best.point[0] < _FEW or _is_steep(search, best)
    if (usual is near and not is_rough) or len(search.rules.targets) > _FEW_LEVELS:
        return [usual]

    def error_at(point: FloatArray) -> float:
        law, mean = search.blanket(point) or (best.law, math.nan)
        if math.isnan(mean):
            return math.inf
        limits = search.rules.limits(law, mean, near=best.copies, rtol=FINE)
        return search.rules.least_error(law, mean, limits, budget)

    starts = [best.point, near]
    axes = np.eye(best.point.size)[:1]
    if is_rough:
        starts.append(_with_whole_copies(search, best, _NEAR))
        axes = np.eye(best.point.size)
    point, error = _descended(error_at, starts, [*axes, *-axes])
    return [usual, point] if error < error_at(usual) * (1 - _GAIN) else [usual]


def _with_whole_copies(search: Surface | SingleDummies, best: Candidate, tolerance: float) -> FloatArray:
    """Return the point with the least variance that allows all whole copies (or `copies_max`) that are near."""
    point, needed = best.point.copy(), list[float]()

    def pair_at(copies: float, log_variance: float) -> CounterPair:
        law, mean = search.blanket(np.append(log_variance, point[1:])) or (best.law, best.mean)
        return law.rough().pair(mean, copies)

    for target, copies in zip(search.rules.targets, best.copies.tolist(), strict=True):
        goal = min(max(round(copies), 1.0), search.rules.copies_max)
        if target.pairs and abs(copies / goal - 1) < tolerance:
            needed.append(guided_noise(functools.partial(pair_at, goal), float(point[0]), **asdict(target)))
    point[0] = max(filter(math.isfinite, needed), default=point[0])
    return point


def _is_steep(search: Surface | SingleDummies, best: Candidate) -> bool:
    """Return whether slightly more copies would lower the error by a multiple of that."""
    copies = np.array([best.copies, best.copies * (1 + FINE)])
    error, less = search.rules.terms(best.law.variance(best.mean)).error(copies, search.rules.counts)
    return bool(less < error * (1 - _STEEP * FINE))


def _descended(
    error_at: Callable[[FloatArray], float], starts: Sequence[FloatArray], ways: Sequence[FloatArray]
) -> tuple[FloatArray, float]:
    """Go from the best of some points to less error, in ever smaller steps; return the last point and its error."""
    errors = [error_at(start) for start in starts]
    error = min(errors)
    point, step = starts[errors.index(error)], _FIRST_STEP
    while step > _LAST_STEP:
        tried = [point + step * way for way in ways]
        errors = [error_at(each) for each in tried]
        if min(errors) < error:
            error = min(errors)
            point = tried[errors.index(error)]
        else:
            step /= 2
    return point, error
