"""Variances to make plans with, near that of the best point of a surface.

The points of a surface have rough estimates of the largest copies, and copies slightly below whole ones may cost much.
So the least variance that allows whole copies is sought. Where slightly more copies would lower the error much,
variances around the best one are compared by fine estimates.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import asdict

import numpy as np

from segshuffle.accounting.collections.guides import CLOSE, FINE, guided_noise
from segshuffle.blankets.base import CounterPair
from segshuffle.plans.surface import Candidate, Surface

#: Relative distances at which copies count as near to whole ones: always, and where the error is steep.
_VERY_NEAR, _NEAR = 2 * FINE, 0.1
#: First and last distance between logs of variances that are compared.
_FIRST_STEP, _LAST_STEP = 0.25, 2 * CLOSE
#: With more levels only the usual variance is tried, to save time.
_FEW_LEVELS = 8
#: The error is steep if its relative change is more than this multiple of that of the copies.
_STEEP = 4
#: Least relative gain for which another plan is made: where the error is flat, a lower one may take many more messages.
_GAIN = 0.01


def log_variances(surface: Surface, best: Candidate, budget: float) -> list[float]:
    """Return logs of variances to try: the best one, or one that allows whole copies; perhaps a better one, too."""
    known = float(best.point[0])
    near = _with_whole_copies(surface, best, _VERY_NEAR)
    usual = near if abs(near - known) < CLOSE else known
    steep = _is_steep(surface, best)
    if (usual == near and not steep) or len(surface.rules.targets) > _FEW_LEVELS:
        return [usual]

    @functools.cache
    def error_at(log_variance: float) -> float:
        law, mean = surface.at(log_variance, best)
        return surface.rules.least_error(
            law, mean, surface.rules.limits(law, mean, near=best.copies, rtol=FINE), budget
        )

    starts = (known, near, _with_whole_copies(surface, best, _NEAR)) if steep else (known, near)
    descended = _descended(error_at, min(starts, key=error_at))
    return [usual, descended] if error_at(descended) < error_at(usual) * (1 - _GAIN) else [usual]


def _with_whole_copies(surface: Surface, best: Candidate, tolerance: float) -> float:
    """Return the log of the least variance that allows all whole copies (or `copies_max`) that are near."""
    known, least = float(best.point[0]), list[float]()

    def pair_at(copies: float, log_variance: float) -> CounterPair:
        law, mean = surface.at(log_variance, best)
        return law.rough().pair(mean, copies)

    for target, copies in zip(surface.rules.targets, best.copies.tolist(), strict=True):
        goal = min(max(round(copies), 1.0), surface.rules.copies_max)
        if target.pairs and abs(copies / goal - 1) < tolerance:
            least.append(guided_noise(functools.partial(pair_at, goal), known, **asdict(target)))
    return max(filter(math.isfinite, least), default=known)


def _is_steep(surface: Surface, best: Candidate) -> bool:
    """Return whether slightly more copies would lower the error by a multiple of that."""
    copies = np.array([best.copies, best.copies * (1 + FINE)])
    error, less = surface.rules.terms(best.law.variance(best.mean)).error(copies, surface.rules.counts)
    return bool(less < error * (1 - _STEEP * FINE))


def _descended(error_at: Callable[[float], float], start: float) -> float:
    """Go from one log of a variance towards less error, in ever smaller steps."""
    place, step = start, _FIRST_STEP
    while step > _LAST_STEP:
        closer = min(place - step, place + step, key=error_at)
        if error_at(closer) < error_at(place):
            place = closer
        else:
            step /= 2
    return place
