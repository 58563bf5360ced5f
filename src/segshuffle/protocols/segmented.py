"""Algorithm 2 of the segmented-aggregation paper, with the published accountant.

A user of level k sends each held item with probability lambda_k, and m uniform blanket messages on average (ceil(m)
slots, each filled with probability m/ceil(m)). The server estimates w_j = (C_j - n m/d)/N with N = sum_k n_k lambda_k.

This file picks m and the rates lambda_k. In a plan the rates are the expected copies of a held item, and so
`CopiesAndDummies` (plans/method.py) simulates the protocol and has the formula of its error.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from segshuffle.accounting.collections.published import largest_sampling_rate, least_blanket_per_user
from segshuffle.blankets.binomial import BINOMIAL
from segshuffle.digits import rounded, rounded_down, rounded_up
from segshuffle.plans.method import CopiesAndDummies, MethodEntry
from segshuffle.plans.plan import Plan, Problem, collection_of

_BRACKET_POINTS = 16
#: How near the search comes to the best log m.
_LOG_TOLERANCE = 1e-3


def sampling_rates(problem: Problem, blanket_per_user: float) -> tuple[float, ...]:
    """Return every level's largest sampling rate for a given blanket (Equation 6), rounded down (kind: published)."""
    public = {**_public(problem), "blanket_per_user": blanket_per_user}
    return tuple(rounded_down(largest_sampling_rate(**public, epsilon=level)) for level in problem.levels)


def least_blankets(problem: Problem) -> tuple[float, ...]:
    """Return m_k of every level: the least blanket with which it may send every item, rounded up (kind: published)."""
    return tuple(rounded_up(least_blanket_per_user(**_public(problem), epsilon=level)) for level in problem.levels)


def _public(problem: Problem) -> dict[str, Any]:
    sizes = {"domain_size": problem.domain_size, "set_size": problem.set_size, "n_users": problem.n_users}
    return {**sizes, "delta": problem.delta}


@dataclass(frozen=True)
class Segmented(CopiesAndDummies):
    """The segmented protocol.

    Parameters
    ----------
    blanket_per_user : float or None
        Expected blanket messages per user m; None searches for the m with the least error bound.
    """

    blanket_per_user: float | None = None
    name = "segmented"

    def plan(self, problem: Problem) -> Plan:
        """Fix m and every lambda_k."""
        problem.assumptions.refuse_beyond_plain(self.name)
        if self.blanket_per_user is None:
            return optimize_parameters(problem)
        return plan_at(problem, self.blanket_per_user)


def plan_at(problem: Problem, blanket_per_user: float, rates: tuple[float, ...] | None = None) -> Plan:
    """Plan with given m and rates (by default the largest); the error bound is the paper's, (n m + s N)/N^2."""
    rates = sampling_rates(problem, blanket_per_user) if rates is None else rates
    _, s, n = problem.sizes  # the first is d
    weight = float(np.dot(problem.level_counts, rates))
    messages = blanket_per_user + s * weight / n
    return Plan(
        method="segmented",
        problem=problem,
        kind="published",
        blanket_per_user=blanket_per_user,
        messages_per_user=messages,
        collections=(collection_of(problem, rates, blanket_per_user, BINOMIAL),),
        mse_bound=n * messages / weight**2,
    )


def optimize_parameters(problem: Problem) -> Plan:
    """Search for the m and the lambda_k with the least error bound (optimizeParameter of Algorithm 2).

    m is between the smallest and the largest m_k of `least_blankets`. The paper writes (m_1, m_K], although m_1, that
    of the lowest level, is the largest. A log grid brackets the minimum, and scipy's bounded scalar minimiser refines
    it. Where the bound is flat, m may be a percent or two from the best one; the bound was then seen to be at most
    about 1e-4 above the least. Every rate is calibrated again at the returned m.
    """
    from scipy import optimize  # not at the top: it would delay every job by a fifth of a second

    ends = sorted(least_blankets(problem))
    if math.isclose(ends[0], ends[-1]):
        return plan_at(problem, ends[-1])

    def bound(log_blanket: float) -> float:
        return plan_at(problem, math.exp(log_blanket)).mse_bound

    grid = np.linspace(math.log(ends[0]), math.log(ends[-1]), _BRACKET_POINTS)
    values = [bound(z) for z in grid]
    best = int(np.argmin(values))
    bracket = (grid[max(best - 1, 0)], grid[min(best + 1, grid.size - 1)])
    minimum = optimize.minimize_scalar(bound, bounds=bracket, method="bounded", options={"xatol": _LOG_TOLERANCE})
    # the published bound jumps where ceil(m) grows, so the best point of the grid may be better
    log_blanket = float(minimum.x) if minimum.fun <= values[best] else float(grid[best])
    # the rates are calibrated at the rounded m
    return plan_at(problem, rounded(math.exp(log_blanket)))


METHODS = (MethodEntry("segmented", lambda _: Segmented(), role="curve", rows=("grid", "best")),)
