"""Points to make plans with, near the best point of a search.

Searches compare rough estimates of the largest copies, and copies slightly below whole ones may cost much. So the
least variance that allows whole copies is sought, and compared with the best point by fine estimates if it is not very
near. Among few dummies copies have many kinks: there, small steps lead from two points to the best around each.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import asdict

import numpy as np

from segshuffle.accounting.collections.guides import FINE, guided_noise
from segshuffle.arrays import FloatArray
from segshuffle.blankets.base import CounterPair
from segshuffle.plans.copy_rules import Candidate
from segshuffle.plans.single_dummies import SingleDummies
from segshuffle.plans.surface import Surface

#: Whole copies at most this far away (relative) replace those that were found; farther ones only if they are better.
_VERY_NEAR, _NEAR = 2 * FINE, 0.1
#: First and last distance between points that are compared.
_FIRST_STEP, _LAST_STEP = 0.25, 0.03
#: With more levels only the usual variance is tried, to save time.
_FEW_LEVELS = 8
#: Below this variance's log there are few dummies.
_FEW = 2.0
#: Least relative gain for which another plan is made: where the error is flat, a lower one may take many more messages.
_GAIN = 0.001


def points_to_try(search: Surface | SingleDummies, best: Candidate, budget: float) -> list[FloatArray]:
    """Return the best point, or one that allows whole copies; and perhaps better ones, too."""
    whole = _whole_copies(search, best)
    very_near = _moved(best.point, whole, _VERY_NEAR)
    usual = very_near if abs(very_near[0] - best.point[0]) < _LAST_STEP else best.point
    if len(search.rules.targets) > _FEW_LEVELS:
        return [usual]
    near, has_few = _moved(best.point, whole, _NEAR), best.point[0] <= _FEW
    if np.array_equal(usual, near) and not has_few:
        return [usual]
    limits: FloatArray | None = None

    def error_at(point: FloatArray) -> float:
        nonlocal limits
        law, mean = search.blanket(point) or (best.law, math.nan)
        if math.isnan(mean):
            return math.inf
        # the copies of the point before are good first guesses
        limits = search.rules.limits(law, mean, near=limits, rtol=FINE)
        return search.rules.least_error(law, mean, limits, budget)

    point = min([best.point, very_near, near], key=error_at)
    if has_few:
        # next to jumps of delta a certificate may allow much less than an estimate, so each is tried
        return [usual, *(_descended(error_at, each) for each in [point, *search.elsewhere(best.point, budget)])]
    return [usual, point] if error_at(point) < error_at(usual) * (1 - _GAIN) else [usual]


def _whole_copies(search: Surface | SingleDummies, best: Candidate) -> list[tuple[float, float]]:
    """Return how far the copies of levels are from whole ones (or `copies_max`), and which variance allows these.

    Levels that are not near to whole copies are left out. The variance is the log of the least one.
    """
    found = list[tuple[float, float]]()

    def pair_at(copies: float, log_variance: float) -> CounterPair:
        law, mean = search.blanket(np.append(log_variance, best.point[1:])) or (best.law, best.mean)
        return law.rough().pair(mean, copies)

    for target, copies in zip(search.rules.targets, best.copies.tolist(), strict=True):
        goal = min(max(round(copies), 1.0), search.rules.copies_max)
        distance = abs(copies / goal - 1)
        if target.pairs and distance < _NEAR:
            variance = guided_noise(functools.partial(pair_at, goal), float(best.point[0]), **asdict(target))
            if math.isfinite(variance):
                found.append((distance, variance))
    return found


def _moved(point: FloatArray, whole: list[tuple[float, float]], tolerance: float) -> FloatArray:
    """Return the point with the least variance that allows all whole copies that are so near."""
    variance = max((each for distance, each in whole if distance < tolerance), default=point[0])
    return np.append(variance, point[1:])


def _descended(error_at: Callable[[FloatArray], float], point: FloatArray) -> FloatArray:
    """Go from a point to less error, along one axis after the other in ever smaller steps; return the last point."""
    error, step = error_at(point), _FIRST_STEP
    while step > _LAST_STEP:
        before = error
        for way in step * np.eye(point.size):
            for tried in (point + way, point - way):
                there = error_at(tried)
                if there < error:
                    point, error = tried, there
                    break
        if error == before:
            step /= 2
    return point
