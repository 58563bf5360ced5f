"""Points to make plans with, near the best point of a search.

Searches compare rough estimates of the largest copies, and copies slightly below whole ones may cost much. So the
least variance that allows whole copies of a level is sought, and compared with the best point by fine estimates. The
same is done in another valley that is about as good. Among few dummies copies have many kinks: there, small steps lead
from two points to the best around each.
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

#: Whole copies farther away than this (relative) are not sought.
_NEAR = 0.1
#: With whole copies of more levels than that, only the variance that allows all of them is tried, to save time.
_MOST_POINTS = 3
#: First and last distance between points that are compared.
_FIRST_STEP, _LAST_STEP = 0.25, 0.006
#: Steps begin at multiples of this, so that points which hardly differ lead to the same end.
_GRID = 0.02
#: With more levels no steps are taken, to save time.
_FEW_LEVELS = 8
#: A valley elsewhere is compared, too, if the error of its point is above that of the best one by less than this share.
_ABOUT = 5e-3
#: Errors that differ by less than this share count as equal: more noise, or another valley, may take more messages.
_EQUAL = 2e-4
#: Below this variance's log there are few dummies.
_FEW = 2.0


def points_to_try(search: Surface | SingleDummies, best: Candidate, budget: float) -> list[FloatArray]:
    """Return the best point, or one with whole copies if its error is less; among few dummies, also where steps end."""
    limits: FloatArray | None = None

    def error_at(point: FloatArray) -> float:
        nonlocal limits
        law, mean = search.blanket(point) or (best.law, math.nan)
        if math.isnan(mean):
            return math.inf
        # the copies of the point before are good first guesses
        limits = search.rules.limits(law, mean, near=limits, rtol=FINE)
        # where a blanket allows just whole copies, the estimate may be slightly below them
        whole = np.maximum(np.rint(limits), 1.0)
        nearly = np.where(np.abs(limits / whole - 1) < 0.1 * FINE, whole, limits)
        return search.rules.least_error(law, mean, nearly, budget)

    def least_of(valley: Candidate) -> tuple[float, FloatArray]:
        # the point with the least noise among those of about the least error
        points = sorted([valley.point, *_whole_copies(search, valley)], key=lambda each: float(each[0]))
        errors = np.array([error_at(each) for each in points])
        first = int(np.argmax(errors <= errors.min() * (1 + _EQUAL)))
        return float(errors[first]), points[first]

    error, point = least_of(best)
    elsewhere = search.elsewhere(best.point, budget)
    for valley in elsewhere:
        if valley.error < best.error * (1 + _ABOUT):
            other_error, other = least_of(valley)
            if other_error < error * (1 - _EQUAL):
                error, point = other_error, other
    if best.point[0] > _FEW or len(search.rules.targets) > _FEW_LEVELS:
        return [point]
    # next to jumps of delta a certificate may allow much less than an estimate, so each is tried
    return [point, *(_descended(error_at, each) for each in [point, *(each.point for each in elsewhere)])]


def _whole_copies(search: Surface | SingleDummies, best: Candidate) -> list[FloatArray]:
    """Return points with the least variance that allows whole copies (or `copies_max`) of a level that is near these.

    There is one point for each level; with many levels, one allows whole copies of all.
    """
    variances, most = list[float](), search.rules.copies_max

    def pair_at(copies: float, log_variance: float) -> CounterPair:
        law, mean = search.blanket(np.append(log_variance, best.point[1:])) or (best.law, best.mean)
        return law.rough().pair(mean, copies)

    for target, copies in zip(search.rules.targets, best.copies.tolist(), strict=True):
        goal = most if abs(copies / most - 1) < _NEAR else min(max(round(copies), 1.0), most)
        if target.pairs and abs(copies / goal - 1) < _NEAR:
            pair_of_goal = functools.partial(pair_at, goal)
            variances.append(guided_noise(pair_of_goal, float(best.point[0]), **asdict(target)))
    found = [each for each in variances if math.isfinite(each)]
    if len(found) > _MOST_POINTS:
        found = [max(found)]
    return [np.append(each, best.point[1:]) for each in found]


def _descended(error_at: Callable[[FloatArray], float], point: FloatArray) -> FloatArray:
    """Go from the grid point below a point to less error, along axes in ever smaller steps; return the last point."""
    # not the nearest one, which may have more dummies than the budget allows
    point = _GRID * np.floor(point / _GRID)
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
