"""The search of the planner for the number of single dummies with the least error within a budget.

More dummies never allow fewer copies, and never add less noise (docs/proof.md). So between two numbers of dummies, none
has less error than the noise of the smaller one would give to the copies that the larger one allows. A *part* of all
numbers is left out if this bound is hardly below the least error that was met. Else the copies in its middle are
computed, and it is halved. Where they are nearly those that interpolation gives, the rest of the part is interpolated.

Computed copies are estimates that depend on the level's target alone, so one search leaves them for others.
"""

from __future__ import annotations

import functools
import heapq
import math
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np

from segshuffle.accounting.collections.guides import guided_copies
from segshuffle.arrays import FloatArray
from segshuffle.blankets.base import BLANKET_MEAN_RANGE, COPIES_RANGE, Blanket
from segshuffle.blankets.singles import SINGLES
from segshuffle.plans.copy_rules import Candidate, CopyRules
from segshuffle.plans.targets import Target

#: A part is left out if its bound is at least this share of the least error.
_SHARE = 0.997
#: Of the numbers whose error is the least but for this, the smallest is taken: where the error is flat, a slightly
#: lower one may take many more messages.
_EQUAL = 2e-4
#: Log of a variance below all variances. All parts come from halving the range from here to a power of two above, so
#: that all searches compute copies at the same variances.
_LOWEST = -8.0
#: Parts narrower than this are not halved: the budget ends between their ends.
_NARROWEST = 1e-6
#: In narrower parts copies may be interpolated, if that changes them and the error in the middle by less than this...
_NARROW, _SMOOTH = 1.0, 2e-3
#: ... but only in still narrower ones below this variance's log: among few dummies the copies have many kinks.
_SOME_DUMMIES, _VERY_NARROW = 2.0, 0.125
#: ... and then variances at this distance (of their logs) are compared.
_STEP = 2e-3
#: Variances at this distance (of their logs) from the best one are in another valley.
_FAR = 0.05
#: Width of parts from whose ends the copies in the middle may be guessed.
_INFORMATIVE = 2.0


class _Part(NamedTuple):
    """Blankets between two logs of variances, a bound below their errors, and the log copies at both ends."""

    bound: float
    low: float
    high: float
    at_low: FloatArray
    at_high: FloatArray


class _Compared(NamedTuple):
    """Numbers of dummies that were compared: their errors, the logs of their variances, and those of their copies."""

    errors: FloatArray
    variances: FloatArray
    copies: FloatArray


class SingleDummies:
    """The search for the number of single dummies.

    Parameters
    ----------
    rules : CopyRules
        The problem, and the rules for choosing copies.
    """

    def __init__(self, rules: CopyRules) -> None:
        self.rules = rules
        self.compared: dict[float, _Compared] = {}

    def best(self, budget: float, quick: bool = False) -> Candidate | None:
        """Return the best blanket for a budget of messages per user; None if nothing can be sent."""
        found = self._compared(budget)
        equal = np.flatnonzero(found.errors <= found.errors.min() * (1 + _EQUAL))
        return self._candidate(found, equal[found.variances[equal].argmin()], budget)

    def elsewhere(self, point: FloatArray, budget: float) -> list[Candidate]:
        """Return the number with the least error of those that are far from a point, if there is one."""
        found = self._compared(budget)
        errors = np.where(np.abs(found.variances - point[0]) > _FAR, found.errors, math.inf)
        candidate = self._candidate(found, errors.argmin(), budget) if np.isfinite(errors).any() else None
        return [candidate] if candidate else []

    def _candidate(self, found: _Compared, at: Any, budget: float) -> Candidate | None:
        """Return one of the numbers that were compared, with its best copies; None if nothing can be sent."""
        if not math.isfinite(found.errors[at]):
            return None
        point = found.variances[at, None]
        mean = _mean(point)
        copies, error = self.rules.best_copies(mean, self.rules.per_user(mean), np.exp(found.copies[at, None]), budget)
        return Candidate(point, SINGLES, float(mean[0]), copies[0], float(error[0]))

    def _compared(self, budget: float) -> _Compared:
        """Compute or interpolate copies, until no part can have clearly less error; return all compared numbers."""
        if budget in self.compared:
            return self.compared[budget]
        errors_of = functools.partial(self._errors, budget=budget)
        top = _LOWEST + 2.0
        while top < math.log(self.rules.enough_variance):
            top = _LOWEST + 2 * (top - _LOWEST)
        at_top = np.array([_log_copies(target, top, None) for target in self.rules.targets])
        parts = [_Part(0.0, _LOWEST, top, np.full(at_top.size, -math.inf), at_top)]
        least, seen = math.inf, list[tuple[FloatArray, FloatArray, FloatArray]]()
        while parts and parts[0].bound < _SHARE * least:
            part = heapq.heappop(parts)
            if part.high - part.low < _NARROWEST:
                continue
            halves, is_smooth = self._halved(part, errors_of)
            for half in halves:
                if is_smooth:
                    variances, copies = _between(half)
                else:
                    variances, copies = np.array([half.high]), half.at_high[None]
                    heapq.heappush(parts, half)
                errors = errors_of(variances, copies)
                seen.append((errors, variances, copies))
                least = min(least, float(errors.min()))
        self.compared[budget] = _Compared(*(np.concatenate(each) for each in zip(*seen, strict=True)))
        return self.compared[budget]

    def blanket(self, point: FloatArray) -> tuple[Blanket, float] | None:
        """Return the law and the mean of a point, which is the log of a variance."""
        return SINGLES, float(_mean(point[0]))

    def _copies_within(self, part: _Part) -> FloatArray:
        """Compute the log copies in the middle of a part, shape (n_levels,), unless its low end allows the most."""
        middle, between = (part.low + part.high) / 2, (part.at_low + part.at_high) / 2
        has_most = part.at_low >= math.log(self.rules.copies_max)
        is_informed = part.high - part.low <= _INFORMATIVE
        copies = between.copy()
        for level in np.flatnonzero(~has_most):
            near = float(between[level]) if is_informed and math.isfinite(between[level]) else None
            copies[level] = _log_copies(self.rules.targets[level], middle, near)
        return copies

    def _halved(self, part: _Part, errors_of: Callable[..., FloatArray]) -> tuple[tuple[_Part, _Part], bool]:
        """Return the halves of a part, and whether copies within them may be interpolated."""
        low, high, middle = part.low, part.high, (part.low + part.high) / 2
        between, copies = (part.at_low + part.at_high) / 2, self._copies_within(part)
        noise, allowed = np.array([low, middle, middle, middle]), np.array([copies, part.at_high, copies, between])
        below, above, error, guess = errors_of(noise, allowed).tolist()
        narrow = _NARROW if low >= _SOME_DUMMIES else _VERY_NARROW
        is_smooth = high - low <= narrow and math.isfinite(error) and abs(guess / error - 1) < _SMOOTH
        is_smooth = is_smooth and bool((np.abs(between - copies) < _SMOOTH).all())
        return (
            _Part(below, low, middle, part.at_low, copies),
            _Part(above, middle, high, copies, part.at_high),
        ), is_smooth

    def _errors(self, log_variances: FloatArray, log_copies: FloatArray, budget: float) -> FloatArray:
        """Return the errors of copies, shape (n_points, n_levels), with the noise of some variances."""
        means = _mean(log_variances)
        per_user = self.rules.per_user(means)
        errors, fits = np.full(means.size, math.inf), per_user < budget
        if fits.any():
            errors[fits] = self.rules.best_copies(means[fits], per_user[fits], np.exp(log_copies[fits]), budget)[1]
        return errors


def _mean(log_variance: Any) -> Any:
    """Return the expected dummies per item, which are also their variance, within the range of plans."""
    return np.clip(np.exp(log_variance), *BLANKET_MEAN_RANGE)


def _between(part: _Part) -> tuple[FloatArray, FloatArray]:
    """Return variances within a part, and copies that are interpolated."""
    share = np.linspace(0, 1, math.ceil((part.high - part.low) / _STEP) + 1)
    return part.low + share * (part.high - part.low), part.at_low + share[:, None] * (part.at_high - part.at_low)


@functools.lru_cache(maxsize=65536)
def _log_copies(target: Target, log_variance: float, near: float | None) -> float:
    """Estimate the log of the largest copies, up to 64; `near` is a first guess."""
    mean, start = float(_mean(log_variance)), None if near is None else math.exp(near)
    copies = guided_copies(SINGLES, mean, **asdict(target), copies_max=COPIES_RANGE[1], start=start)
    return math.log(max(copies, COPIES_RANGE[0]))
