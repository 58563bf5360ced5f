"""How copies are chosen: one blanket of a law, what may be sent in it, and the certified plan with it."""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from segshuffle.accounting.collections.guides import CLOSE, FINE, guided_copies
from segshuffle.arrays import FloatArray
from segshuffle.blankets.base import COPIES_RANGE, Blanket
from segshuffle.digits import rounded_down, rounded_up
from segshuffle.errors import InfeasibleError
from segshuffle.plans.plan import Plan, Problem, collection_of
from segshuffle.plans.targets import (
    Target,
    announced,
    attained,
    certified_delta,
    checked_mean,
    error_of_all,
    is_certified,
)
from segshuffle.plans.weights import ErrorTerms, best_copies, beyond_best


class Candidate(NamedTuple):
    """The blanket with the least error, its copies, shape (n_levels,), and an estimate of the error."""

    point: FloatArray
    law: Blanket
    mean: float
    copies: FloatArray
    error: float


@dataclass(frozen=True)
class CopyRules:
    """A problem, one law of dummies, and the rules for choosing copies.

    Parameters
    ----------
    problem : Problem
        Public quantities.
    law : type
        Law of the dummies.
    copies_max : float
        Largest expected copies a_k per held item, in [1e-120, 64]; 1 is the sampling of the paper.
    measure : ErrorTerms
        The error that is minimised, for dummies with variance 1.
    equal_copies : bool
        Whether all levels send the same number of copies.
    group_privacy : bool
        Whether the guarantee comes from that of one item by group privacy (sound, not tight).
    """

    problem: Problem
    law: type[Blanket]
    copies_max: float
    measure: ErrorTerms
    equal_copies: bool
    group_privacy: bool

    @functools.cached_property
    def targets(self) -> list[Target]:
        """The guarantee that every level must meet."""
        return [Target.of(self.problem, level, self.group_privacy) for level in self.problem.levels]

    @functools.cached_property
    def counts(self) -> FloatArray:
        """Number of users of every level."""
        return np.asarray(self.problem.level_counts, dtype=float)

    @property
    def enough_variance(self) -> float:
        """A variance that allows `copies_max`, as far as Gaussian noise tells."""
        copies, least_delta = self.copies_max, min(each.delta for each in self.targets)
        gaussian = (copies / min(each.gaussian_copies for each in self.targets)) ** 2
        # there are hardly ever fewer dummies than copies
        return 2 * max(gaussian, copies - math.log(least_delta))

    # -- a blanket and what may be sent in it --------------------------------------------------------------------------

    def best_copies(
        self,
        variance: FloatArray,
        blanket_per_user: FloatArray,
        limits: FloatArray,
        budget: float,
        thorough: bool = False,
    ) -> tuple[FloatArray, FloatArray]:
        """Return the copies of least error within a budget, and these errors, for many blankets.

        Parameters
        ----------
        variance, blanket_per_user : ndarray, shape (n_blankets,)
            Variance of the honest users' dummies about one item, and dummies per user.
        limits : ndarray, shape (n_blankets, n_levels)
            Largest copies of every level. With equal copies all levels count as one.
        budget : float
            Messages per user.
        thorough : bool
            As for `weights.best_copies`.
        """
        limits, counts = np.minimum(limits, self.copies_max), self.counts
        if self.equal_copies:
            limits, counts = limits.min(axis=-1, keepdims=True), counts.sum(keepdims=True)
        room = self._room(blanket_per_user, budget)
        copies, errors = best_copies(limits, counts, self.terms(variance), room, thorough)
        return np.broadcast_to(copies, (len(copies), self.counts.size)), errors

    def _room(self, blanket_per_user: Any, budget: float) -> Any:
        """Return the copies of all users together that a budget of messages per user leaves room for."""
        # hardly less, so that no plan is above its budget by round-off
        left = (1 - 1e-12) * (budget - blanket_per_user)
        return np.maximum(left * self.problem.n_users / self.problem.set_size, 0.0)

    def messages(self, blanket_per_user: float, copies: FloatArray) -> Any:
        """Return the expected messages per user, dummies and copies (shape (..., n_levels)) together."""
        return blanket_per_user + self.problem.set_size * (copies @ self.counts) / self.problem.n_users

    def per_user(self, mean: Any) -> Any:
        """Return the dummies per user, such that honest users send `mean` dummies per item."""
        return mean * self.problem.domain_size / self.problem.honest_users

    def limits(self, law: Blanket, mean: float, near: FloatArray | None = None, rtol: float = CLOSE) -> FloatArray:
        """Estimate the largest copies of every level, up to 64; `near` are first guesses."""
        if not self.problem.pairs:  # nothing to hide
            return np.full(len(self.targets), float(self.copies_max))
        limits = np.empty(len(self.targets))
        start: float | None = None
        for i, target in enumerate(self.targets):
            if near is not None:
                start = float(near[i])
            elif start:
                # as many times what Gaussian noise allows as at the level before
                start *= target.gaussian_copies / self.targets[i - 1].gaussian_copies
            start = limits[i] = guided_copies(
                law.rough(), mean, **asdict(target), copies_max=COPIES_RANGE[1], start=start, rtol=rtol
            )
        return limits

    def terms(self, variance: Any) -> ErrorTerms:
        """Return the coefficients of `measure` for honest users' dummies with this variance about one item."""
        return self.measure.at(variance * self.problem.n_users / self.problem.honest_users)

    def least_error(self, law: Blanket, mean: float, limits: FloatArray, budget: float) -> float:
        """Return the least error of copies within limits and a budget; inf if nothing can be sent."""
        return self._best_copies_of(law, mean, limits, budget)[1]

    def error_bound(self, law: Blanket, mean: float, limits: FloatArray, budget: float) -> float:
        """Bound the errors of all copies within limits and a budget from below; inf if nothing can be sent."""
        error, room = self.least_error(law, mean, limits, budget), float(self._room(self.per_user(mean), budget))
        if math.isinf(error) or self.equal_copies:
            return error
        return error - beyond_best(self.counts, self.measure, room)

    def _best_copies_of(self, law: Blanket, mean: float, limits: FloatArray, budget: float) -> tuple[FloatArray, float]:
        """Return the copies of least error for one blanket, shape (n_levels,), and this error."""
        variance, per_user = np.array([law.variance(mean)]), np.array([self.per_user(mean)])
        copies, errors = self.best_copies(variance, per_user, limits[None], budget, thorough=True)
        return copies[0], float(errors[0])

    def error_of(self, plan: Plan) -> float:
        """Return the error `measure` of a plan for the same problem."""
        return float(self.measure.at(plan.scheme.noise).error(np.asarray(plan.scheme.copies), self.counts))

    def certified_plan(self, law: Blanket, blanket_per_user: float, budget: float = math.inf) -> Plan:
        """Calibrate every level for a given blanket, choose the copies, and certify them.

        Raises
        ------
        InfeasibleError
            If nothing can be sent with this blanket within the budget.
        ParameterError
            If the accountant does not allow such a blanket.
        """
        problem = self.problem
        mean = checked_mean(problem, law, blanket_per_user)
        limits = self.limits(law, mean, rtol=FINE)
        for i, target in enumerate(self.targets):
            whole = round(limits[i])
            if (1 - FINE) * whole < limits[i] < whole and is_certified(law, mean, target, whole):
                limits[i] = whole
        for tries in itertools.count():
            chosen, error = self._best_copies_of(law, mean, limits, budget)
            if not math.isfinite(error):
                raise InfeasibleError(
                    f"With {blanket_per_user:g} dummies per user nothing else can be sent: either they use up "
                    f"max_messages = {budget:g}, or no number of copies meets the target. Raise max_messages or delta."
                )
            kept = [is_certified(law, mean, each, a) for each, a in zip(self.targets, chosen, strict=True)]
            if all(kept):
                break
            # hardly lower at first: most estimates are nearly right, and slightly fewer copies may cost much
            limits = np.where(kept, limits, chosen * max(1 - 0.02 * FINE * 2**tries, 0.0))
        copies = np.array([announced(each) for each in chosen])
        reached, certificate = attained(problem, copies), list[dict[str, float]]()
        for level, delta, value in zip(problem.levels, problem.deltas, copies.tolist(), strict=True):
            lower, upper = certified_delta(law, mean, Target.of(problem, level), value)
            lower = lower if reached else 0.0  # the lower end is the product's, which perhaps no neighbours attain
            upper = min(rounded_up(upper), delta)  # only rounding can take it beyond the target
            certificate.append({"epsilon": level, "delta_lower": rounded_down(lower), "delta_upper": upper})
        collection = collection_of(problem, copies, blanket_per_user, law)
        return Plan(
            method=law.name,
            problem=problem,
            kind="exact" if reached and not self.group_privacy else "upper",
            blanket_per_user=blanket_per_user,
            messages_per_user=float(self.messages(blanket_per_user, copies)),
            collections=(collection,),
            certificate=tuple(certificate),
            mse_bound=float(error_of_all(problem).at(collection.announcement.noise).error(copies, self.counts)),
        )
