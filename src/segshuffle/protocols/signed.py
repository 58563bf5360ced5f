"""The segmented protocol with a signed blanket: less error than a Gaussian curator's, for more messages.

Messages are (item, +) or (item, -). Users send their own items with a plus, and dummies of both signs: noise, which
stays in the estimate N+ - N-, and a flood of as many pluses as minuses, which cancels there and hides the rest. With
few items per user, noise of geometric law has a fraction of the variance that any unsigned blanket needs.

The plan spends its budget on the flood: more of it is post-processing, so it can only help. What is searched is the
variance of the noise, for few shapes of it. Without a budget it has twice the messages of the Poisson plan.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace

import numpy as np

from segshuffle.accounting.collections.blankets.signed import Signed
from segshuffle.accounting.collections.poisson_calibration import largest_copies
from segshuffle.accounting.numerics.gaussian import gaussian_ratio
from segshuffle.arrays import FloatArray, IntArray
from segshuffle.digits import rounded_down
from segshuffle.errors import InfeasibleError, ParameterError
from segshuffle.looks import DASHES, PALETTE, Look
from segshuffle.protocols.base import Plan, Problem, Sample
from segshuffle.protocols.declared import Declared
from segshuffle.protocols.poisson import PoissonSegmented

#: Sizes r of the noise's law, and the flood's cluster parameter.
_SIZES = (1.02, 3.0)
_FLOOD_P = 0.85
#: Variance of the noise over a Gaussian curator's, at the most liberal level and at the most conservative one.
_LEAST_VARIANCE, _LARGEST_VARIANCE = 0.2, 1.3
#: Largest share of the budget that the first search keeps for the users' own messages.
_OWN = 0.5
_GRID, _HALVINGS = 7, 3
_GUIDE = 0.05
#: Variances above ask for tables that take seconds, and leave no room below the unsigned blankets.
_MOST_VARIANCE = 400.0
#: Messages over the Poisson plan's, where no budget is given.
_MORE = 2.0
_DOUBLINGS = 3


@dataclass(frozen=True)
class _Candidate:
    """A blanket, what is sent of it, and the error by rough limits on the copies."""

    blanket: Signed
    blanket_per_user: float
    copies: FloatArray
    error: float


@dataclass(frozen=True)
class SignedSegmented:
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

    copies_max: float = 1.0
    max_messages: float | None = None
    target_error: float | None = None

    name = "signed"

    def __post_init__(self) -> None:
        if self.max_messages is not None and self.target_error is not None:
            raise ParameterError("target_error", self.target_error, "left out beside max_messages")

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
        found = [each for size in _SIZES[: problem.pairs] if (each := self._search(problem, budget, size)) is not None]
        best = min(found, key=lambda each: each.error, default=None)
        if best is None or best.error >= single.mse_bound:
            return replace(single, method=self.name)
        method = PoissonSegmented(copies_max=self.copies_max, max_messages=budget, blanket=best.blanket)
        plan = min(method.plan_at(problem, best.blanket_per_user), single, key=lambda each: each.mse_bound)
        return replace(plan, method=self.name)

    def _fewest(self, problem: Problem, error: float) -> Plan:
        """Budgets are doubled until one reaches the error, then bisected."""
        low, plan = 0.0, SignedSegmented(self.copies_max).plan(problem)
        for _ in range(_DOUBLINGS):
            if plan.mse_bound <= error:
                break
            low = plan.messages_per_user
            plan = replace(self, max_messages=2 * low, target_error=None).plan(problem)
        if plan.mse_bound > error:
            raise InfeasibleError(
                f"target_error = {error:g} is below {plan.mse_bound:g}, the error with {plan.messages_per_user:g} "
                "messages per user: raise it."
            )
        low = max(low, 0.25 * plan.messages_per_user)
        while plan.messages_per_user > 1.1 * low:
            budget = math.sqrt(low * plan.messages_per_user)
            try:
                tried = replace(self, max_messages=budget, target_error=None).plan(problem)
            except InfeasibleError:
                tried = None
            if tried is not None and tried.mse_bound <= error:
                plan = tried
            else:
                low = budget
        return plan

    def _search(self, problem: Problem, budget: float, size: float) -> _Candidate | None:
        """The best variance of noise of one shape; then with what its copies leave to the flood."""
        gaussian = [
            2 * problem.pairs / gaussian_ratio(epsilon=level, delta=problem.delta) ** 2
            for level in (problem.levels[-1], problem.levels[0])
        ]
        low, high = math.log(_LEAST_VARIANCE * gaussian[0]), math.log(_LARGEST_VARIANCE * gaussian[1])
        high = min(high, math.log(_MOST_VARIANCE * self.copies_max**2))
        if low >= high:
            return None

        guess = min(problem.set_size * self.copies_max, _OWN * budget)

        @functools.cache
        def at(log_variance: float, own: float = guess) -> _Candidate | None:
            return self._candidate(problem, budget - own, math.exp(log_variance), size, budget)

        def error(log_variance: float) -> float:
            candidate = at(log_variance)
            return math.inf if candidate is None else candidate.error

        # several minima: a level may send everything, or the next one may
        points = [float(x) for x in np.linspace(low, high, _GRID)]
        best, gap = min(points, key=error), points[1] - points[0]
        for _ in range(_HALVINGS):
            gap *= 0.5
            best = min((best, best - gap, best + gap), key=error)
        first = at(best)
        if first is None:
            return None
        own = problem.set_size * float(np.dot(problem.level_counts, first.copies)) / problem.n_users
        second = at(best, own * 1.002)
        return first if second is None or second.error > first.error else second

    def _candidate(
        self, problem: Problem, blanket_per_user: float, variance: float, size: float, budget: float
    ) -> _Candidate | None:
        """Noise of a variance, the rest of the blanket its flood; None where the flood would have a size below 1."""
        if blanket_per_user <= 0:
            return None
        blanket_per_user = rounded_down(blanket_per_user)
        mean = problem.honest_mean(blanket_per_user)
        # the estimate has the noise of all users, the guarantee that of the honest ones
        half = 0.5 * variance * problem.honest_users / problem.n_users
        p = round(1 + size / (2 * half) - math.sqrt((1 + size / (2 * half)) ** 2 - 1), 6)  # size p = half (1 - p)^2
        noise = size * p / (1 - p)
        flood = round(1 - 2 * noise / mean, 8)
        if not 0 < p <= 0.99 or not 0 < flood < 1:
            return None
        blanket = Signed(p, _FLOOD_P, flood)
        try:
            limits = np.array([self._limit(problem, blanket, mean, level) for level in problem.levels])
        except (InfeasibleError, ParameterError):
            return None
        method = PoissonSegmented(copies_max=self.copies_max, max_messages=budget, blanket=blanket)
        copies, error = method.chosen(problem, blanket_per_user, limits)
        return _Candidate(blanket, blanket_per_user, copies, error)

    def _limit(self, problem: Problem, blanket: Signed, mean: float, level: float) -> float:
        return largest_copies(
            blanket_mean=mean,
            pairs=problem.pairs,
            epsilon=level,
            delta=problem.delta,
            copies_max=self.copies_max,
            rtol=_GUIDE,
            blanket=blanket,
        )

    def simulate(self, plan: Plan, sample: Sample, rng: np.random.Generator) -> FloatArray:
        """Estimates from counters: noise of both signs, and M copies of every held item; the flood cancels."""
        return PoissonSegmented().simulate(plan, sample, rng)

    def expected_mse(self, plan: Plan, item_counts: IntArray | FloatArray) -> float:
        """Closed form of `simulate`'s mean squared error."""
        return PoissonSegmented().expected_mse(plan, item_counts)

    def sum_variance(self, plan: Plan, item_counts: IntArray) -> float:
        """Variance of the sum of `simulate`'s estimates."""
        return PoissonSegmented().sum_variance(plan, item_counts)


METHODS = (
    Declared(
        "signed",
        Look("Signed blanket (ours, proven)", PALETTE["indigo"], "d", DASHES[4]),
        lambda options: SignedSegmented(copies_max=float(options["copies_max"])),
        accounting="proven",
        role="compared",
    ),
)
