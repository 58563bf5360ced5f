"""The segmented protocol with a signed blanket: less error than a Gaussian curator's, for more messages.

Messages are (item, +) or (item, -). Users send their own items with a plus, and dummies of both signs: noise, which
stays in the estimate N+ - N-, and a flood of as many pluses as minuses, which cancels there and hides the rest. With
few items per user, noise of geometric law has a fraction of the variance that any unsigned blanket needs.

The plan spends its budget on the flood: more of it is post-processing, so it can only help. What is searched is the
variance of the noise, the shapes of noise and flood, and what is left to the users' own messages. Without a budget it
has twice the messages of the Poisson plan.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from segshuffle.accounting.collections.guides import guided_copies
from segshuffle.accounting.numerics.gaussian import gaussian_ratio
from segshuffle.arrays import FloatArray
from segshuffle.blankets.signed import Signed, table_work
from segshuffle.digits import rounded_down
from segshuffle.errors import InfeasibleError
from segshuffle.looks import DASHES, PALETTE, Look
from segshuffle.protocols.base import Plan, Problem
from segshuffle.protocols.clustered import ClusteredSegmented
from segshuffle.protocols.declared import Declared
from segshuffle.protocols.poisson import PoissonSegmented
from segshuffle.protocols.searched import Searched

#: Variance of the noise over a Gaussian curator's, at the most liberal level and at the most conservative one.
_LEAST_VARIANCE, _LARGEST_VARIANCE = 0.2, 1.3
#: Largest share of the budget that is kept for the users' own messages.
_OWN = 0.9
#: Variances tried, and sizes r of the noise for one pair and for more.
_GRID, _SIZE_OF_ONE, _SIZE = 8, 1.15, 3.0
_FLOOD_P = 0.93
_LEAST_SIZE, _LARGEST_P = 1.02, 0.98
#: Steps of the search in all coordinates, halved where none helps; candidates looked at.
_STEPS, _FINEST, _MOST = (0.2, 0.5, 0.4, 0.06), 0.06, 50
#: Exponent of the room that a promise counts with, and the largest room that it counts.
_HOPE, _MOST_ROOM = 0.2, 0.3
#: More than what users' own messages need, and how often it is asked for again.
_ROOM, _SETTLED = 1.003, 3
#: Variances above ask for tables that take seconds, and leave no room below the unsigned blankets.
_MOST_VARIANCE = 600.0
#: Products that the certificate's table may take, and its tails; shares of the blanket that are tried to keep to that.
_MOST_WORK, _TAIL = 4e9, 18.0
_THINNED = 0.7 ** np.arange(13.0)
#: Logarithms of the noise that is added where copies were certified for fewer, and the error that is as guided.
_MORE_NOISE, _AS_GUIDED = (0.0, 0.01, 0.02, 0.04), 1.003
#: Messages over the Poisson plan's, where no budget is given.
_MORE = 2.0
_DOUBLINGS = 3


class _Point(NamedTuple):
    """What is searched."""

    log_variance: float
    """Of the noise in the estimate of an item."""
    log_flood_tail: float
    """Log of 1 - p of the flood."""
    log_size: float
    """Log of the size r of the noise."""
    log_share: float = 0.0
    """Log of the messages that are left to the users' own, over those that they would send if they were free."""


@dataclass(frozen=True)
class _Candidate:
    """A blanket, what is sent of it, and the error by guided limits on the copies."""

    blanket: Signed
    blanket_per_user: float
    limits: FloatArray
    copies: FloatArray
    error: float
    own: float
    """Messages that are left to the users' own."""
    wanted: float
    """Those that they would send with these limits, if they were free."""

    @property
    def promise(self) -> float:
        """The error, less for limits above the whole copies that are sent: there is room for less noise."""
        sent = self.copies > 0
        room = np.minimum(np.log(self.limits[sent] / self.copies[sent]), _MOST_ROOM)
        return self.error * math.exp(-_HOPE * float(room.sum()) / self.copies.size)


@dataclass(frozen=True)
class SignedSegmented(Searched):
    """The segmented protocol with a signed blanket.

    Parameters
    ----------
    copies_max : float
        Largest expected copies a_k per held item, in [1e-120, 64].
    max_messages : float or None
        Budget of expected messages per user: the plan has the least error found within it, and is the Poisson plan
        where that has less.
    target_error : float or None
        Largest expected squared error, for uniform item frequencies: the plan has, within a tenth, the fewest messages
        for it that were found.

    Raises
    ------
    ParameterError
        If both a budget and an error are given.
    """

    name = "signed"

    def plan(self, problem: Problem) -> Plan:
        """Choose noise, flood and all a_k, and certify every level.

        Raises
        ------
        InfeasibleError
            If nothing can be sent within the budget, or no budget that was tried reaches the error.
        """
        if self.target_error is not None:
            return self._fewest(problem, self.target_error)
        single = PoissonSegmented(copies_max=self.copies_max, max_messages=self.max_messages).plan(problem)
        if problem.pairs == 0:
            return replace(single, method=self.name)
        budget = _MORE * single.messages_per_user if self.max_messages is None else self.max_messages
        found = self._search(problem, budget, single)
        plans = [single] if found is None else [single, *self._certified(problem, budget, *found)]
        return replace(min(plans, key=lambda each: each.mse_bound), method=self.name)

    def _certified(self, problem: Problem, budget: float, best: _Point, near: _Candidate) -> Iterator[Plan]:
        """Plans of the point, and of a little more noise where the guide was too hopeful of its copies."""
        least = math.inf
        for more in _MORE_NOISE:
            candidate = self._candidate(problem, best._replace(log_variance=best.log_variance + more), budget, near)
            if candidate is None:
                return
            method = PoissonSegmented(copies_max=self.copies_max, max_messages=budget, blanket=candidate.blanket)
            try:
                plan = method.plan_at(problem, candidate.blanket_per_user)
            except InfeasibleError:
                continue
            yield plan
            if plan.mse_bound <= candidate.error * _AS_GUIDED or plan.mse_bound >= least:
                return
            least = plan.mse_bound

    def _fewest(self, problem: Problem, error: float) -> Plan:
        """Budgets are doubled until one reaches the error, then bisected; single dummies where they need no more."""
        low, plan = 0.0, self._without_signs(problem, error)
        budget = _MORE * PoissonSegmented(copies_max=self.copies_max).plan(problem).messages_per_user
        for _ in range(_DOUBLINGS + 1):
            if plan is not None:
                break
            found = SignedSegmented(self.copies_max, budget).plan(problem)
            if found.mse_bound <= error:
                plan = found
            low, budget = (low, budget) if plan else (budget, 2 * budget)
        if plan is None:
            raise InfeasibleError(
                f"target_error = {error:g} is below {found.mse_bound:g}, the error with {found.messages_per_user:g} "
                "messages per user: raise it."
            )
        low = max(low, 0.25 * plan.messages_per_user)
        while plan.messages_per_user > 1.1 * low:
            budget = math.sqrt(low * plan.messages_per_user)
            try:
                tried = SignedSegmented(self.copies_max, budget).plan(problem)
            except InfeasibleError:
                tried = None
            if tried is not None and tried.mse_bound <= error:
                plan = tried
            else:
                low = budget
        return replace(plan, method=self.name)

    def _without_signs(self, problem: Problem, error: float) -> Plan | None:
        """The fewest single dummies for an error; None if no number of them reaches it."""
        try:
            return ClusteredSegmented(self.copies_max, target_error=error, cluster=0.0).plan(problem)
        except InfeasibleError:
            return None

    def _search(self, problem: Problem, budget: float, single: Plan) -> tuple[_Point, _Candidate] | None:
        """The best of some variances; from there, steps in all coordinates until none helps."""
        gaussian = [
            2 * problem.pairs / gaussian_ratio(epsilon=level, delta=delta) ** 2
            for level, delta in zip(problem.levels, problem.deltas, strict=True)
        ]
        low, high = _LEAST_VARIANCE * min(gaussian), _LARGEST_VARIANCE * max(gaussian)
        high = min(high, _MOST_VARIANCE * self.copies_max**2)
        if low >= high:
            return None
        tried = dict[_Point, _Candidate | None]()

        def promise(point: _Point) -> float:
            if point not in tried:
                near = min(
                    (each for each in tried.values() if each is not None), key=lambda each: each.error, default=None
                )
                tried[point] = None if point.log_share > 0 else self._candidate(problem, point, budget, near)
            candidate = tried[point]
            return math.inf if candidate is None else candidate.promise

        def error(point: _Point) -> float:
            candidate = tried[point]
            return math.inf if candidate is None else candidate.error

        size = math.log(_SIZE_OF_ONE if problem.pairs == 1 else _SIZE)
        grid = np.linspace(math.log(low), math.log(high), _GRID)
        # several minima: a level may send everything, or the next one may
        points = [_Point(float(x), math.log(1 - _FLOOD_P), size) for x in grid]
        for start in _lowest([promise(point) for point in points]):
            _descend(points[start], promise)
        best = min(tried, key=error)
        candidate = tried[best]
        return None if candidate is None or candidate.error >= single.mse_bound else (best, candidate)

    def _candidate(self, problem: Problem, point: _Point, budget: float, near: _Candidate | None) -> _Candidate | None:
        """What users' own messages do not need of the budget goes to the flood, as often as that changes much."""
        own = problem.set_size * self.copies_max if near is None else near.wanted * math.exp(point.log_share)
        for _ in range(_SETTLED):
            near = self._candidate_at(problem, point, budget, min(own, _OWN * budget), near)
            if near is None:
                return None
            own = near.wanted * math.exp(point.log_share) * _ROOM
            if abs(math.log(min(own, _OWN * budget) / near.own)) <= _ROOM - 1:
                break
        return near

    def _candidate_at(
        self, problem: Problem, point: _Point, budget: float, own: float, near: _Candidate | None
    ) -> _Candidate | None:
        """The rest of the blanket is flood, or as much of it as a table can have; None where there is no such law."""
        for share in _THINNED:
            blanket_per_user = rounded_down(share * (budget - own))
            mean = problem.honest_mean(blanket_per_user)
            law = _law(problem, point, mean)
            if law is None:
                return None
            if table_work(law, mean, _TAIL - math.log(problem.delta)) <= _MOST_WORK:
                break
        else:
            return None
        guide = law.rough()
        starts = [None] * len(problem.levels) if near is None else [each or None for each in near.limits]
        limits = np.array(
            [
                guided_copies(
                    guide,
                    mean,
                    pairs=problem.pairs,
                    epsilon=level,
                    delta=delta,
                    copies_max=self.copies_max,
                    start=start,
                )
                for level, delta, start in zip(problem.levels, problem.deltas, starts, strict=True)
            ]
        )
        method = PoissonSegmented(copies_max=self.copies_max, max_messages=budget, blanket=law)
        copies, error = method.chosen(problem, blanket_per_user, limits)
        free, _ = replace(method, max_messages=None).chosen(problem, blanket_per_user, limits)
        wanted = problem.set_size * float(np.dot(problem.level_counts, free)) / problem.n_users
        return _Candidate(law, blanket_per_user, limits, copies, error, own, wanted) if math.isfinite(error) else None


def _law(problem: Problem, point: _Point, mean: float) -> Signed | None:
    """Noise of the point's variance and size, and flood; None where one of them would have a size below 1."""
    # the estimate has the noise of all users, the guarantee that of the honest ones
    half = 0.5 * math.exp(point.log_variance) * problem.honest_users / problem.n_users
    size = max(math.exp(point.log_size), _LEAST_SIZE)
    p = round(1 + size / (2 * half) - math.sqrt((1 + size / (2 * half)) ** 2 - 1), 6)  # size p = half (1 - p)^2
    noise = size * p / (1 - p)
    flood = round(1 - 2 * noise / mean, 8)
    # the flood's size r is at least 1, too
    top = 0.5 * flood * mean
    flood_p = round(min(1 - math.exp(point.log_flood_tail), _LARGEST_P, 0.999 * top / (1 + top)), 4)
    # p that is rounded to 0 leaves a share of 1 to the flood
    if p > _LARGEST_P or not 0 < flood < 1 or flood_p <= 0:
        return None
    law = Signed(p, flood_p, flood)
    return law if law.means[0] <= mean <= law.means[1] else None


def _descend(best: _Point, error: Callable[[_Point], float]) -> None:
    """Steps in all coordinates until none helps; `error` remembers what was looked at."""
    scale, seen = 1.0, {best}
    while scale > _FINEST and len(seen) < _MOST:
        before = best
        for axis, step in enumerate(_STEPS):
            for sign in (1, -1):
                moved = best._replace(**{_Point._fields[axis]: best[axis] + sign * scale * step})
                seen.add(moved)
                if error(moved) < error(best):
                    best = moved
                    break
        if best == before:
            scale *= 0.5


def _lowest(errors: Sequence[float]) -> list[int]:
    """Places of the two lowest local minima."""
    padded = [math.inf, *errors, math.inf]
    minima = [i for i, e in enumerate(errors) if e <= padded[i] and e <= padded[i + 2] and math.isfinite(e)]
    return sorted(minima, key=lambda i: errors[i])[:2]


METHODS = (
    Declared(
        "signed",
        Look("Signed blanket (ours, proven)", PALETTE["indigo"], "d", DASHES[4]),
        lambda options: SignedSegmented(copies_max=float(options["copies_max"])),
        accounting="proven",
        role="compared",
    ),
)
