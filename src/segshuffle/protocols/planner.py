"""One planner for every law of dummies: the blanket and the copies of least error within a budget, certified.

`curves` searches the blanket by quick guides. Here it is certified: where the certificate allows fewer copies than the
guides promised, the promises are corrected and the search goes on. What a plan says is certified, whatever the guides
were.
"""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from segshuffle.accounting.collections.calibration import largest_copies, least_blanket_mean
from segshuffle.accounting.collections.guides import guided_copies, guided_log_delta
from segshuffle.accounting.collections.product import SMALLEST_DELTA, delta_interval, log_delta_bound
from segshuffle.accounting.collections.published import item_target
from segshuffle.accounting.numerics.gaussian import gaussian_ratio
from segshuffle.accounting.numerics.loss_distribution import AccuracyError
from segshuffle.accounting.numerics.ranges import LARGEST_BLANKET
from segshuffle.arrays import FloatArray
from segshuffle.blankets.base import BLANKET_MEAN_RANGE, COPIES_RANGE, Blanket
from segshuffle.blankets.singles import SINGLES
from segshuffle.digits import rounded, rounded_down, rounded_up
from segshuffle.errors import InfeasibleError, ParameterError
from segshuffle.protocols.base import Plan, Problem, assignment_spread, collection_of
from segshuffle.protocols.surface import Surface
from segshuffle.protocols.weights import ErrorTerms, best_copies, simple_copies

#: Blankets that are certified, as long as the guides promised an error so much smaller, before the best is taken.
_TRIES, _WORTHWHILE = 4, 0.01
#: Relative accuracy of the fewest messages for an error, and doublings of a budget that is too small for it.
_CLOSE, _DOUBLINGS = 3e-3, 4
#: A delta so much below its target is not told from 0, where its table would be dear.
_FAR = 1e-6
#: Where a guide promised too much, delta is aimed so much below the target, as an exponent; and how often.
_MARGIN, _LOWERED = 5e-3, 6
#: Widths of a certificate, until one can be had: a plan has no accuracy that its user could lower.
_WIDTHS = (1e-3, 1e-2, 0.1, 1.0)


@dataclass(frozen=True)
class Target:
    """What one level must meet, without anything that depends on who chose it: equal targets share a calibration."""

    pairs: int
    epsilon: float
    delta: float

    @classmethod
    def of(cls, problem: Problem, level: float, group_privacy: bool = False) -> Target:
        """Take the product's own target, or the single item's after group privacy."""
        pairs, delta = problem.pairs, problem.deltas[problem.levels.index(level)]
        if not group_privacy or pairs == 0:
            return cls(pairs, level, delta)
        epsilon, delta = item_target(epsilon=level, delta=delta, set_size=pairs)
        return cls(1, epsilon, delta)

    def gaussian_copies(self, variance: float) -> float:
        """Return the copies that noise of a normal law and this variance would allow."""
        return gaussian_ratio(epsilon=self.epsilon, delta=self.delta) * math.sqrt(variance / (2 * self.pairs))

    def gaussian_variance(self, copies: float) -> float:
        """Variance of a normal law that would allow these copies."""
        return 2 * self.pairs * (copies / gaussian_ratio(epsilon=self.epsilon, delta=self.delta)) ** 2


def error_of_all(problem: Problem) -> ErrorTerms:
    """Coefficients of the squared error of all items together, equally frequent ones, at dummies of variance 1."""
    d, s, n = problem.sizes
    return ErrorTerms(d, s, assignment_spread(np.array([n * s / d]), n) * d)


def error_of_item(share: float, n_users: int) -> ErrorTerms:
    """Return those of the variance of the estimate of one item that so large a share of the users hold."""
    return ErrorTerms(1.0, share, share * (1 - share) * n_users / max(n_users - 1, 1))


@dataclass(frozen=True)
class Search:
    """What is planned for with one law of dummies, and how the copies may be chosen.

    Parameters
    ----------
    problem : Problem
        Public quantities.
    law : type
        Law of the dummies.
    copies_max : float
        Largest expected copies a_k per held item, in [1e-120, 64]; 1 is the sampling of the paper.
    measure : ErrorTerms or None
        The error that is least, at dummies of variance 1; None for that of all items.
    equal_copies : bool
        Whether all levels send the same number of copies.
    group_privacy : bool
        Whether the items are accounted for by group privacy over one (sound, not tight).
    """

    problem: Problem
    law: type[Blanket]
    copies_max: float
    measure: ErrorTerms | None
    equal_copies: bool
    group_privacy: bool

    @functools.cached_property
    def targets(self) -> list[Target]:
        """What every level must meet."""
        return [Target.of(self.problem, level, self.group_privacy) for level in self.problem.levels]

    @functools.cached_property
    def counts(self) -> FloatArray:
        """Users of every level."""
        return np.asarray(self.problem.level_counts, dtype=float)

    @functools.cached_property
    def surface(self) -> Surface:
        """What is known of the law by quick guides."""
        return Surface(self, self.law)

    # -- a blanket and what may be sent in it --------------------------------------------------------------------------

    def guess(
        self, variance: FloatArray, blanket_per_user: FloatArray, limits: FloatArray, budget: float
    ) -> tuple[FloatArray, FloatArray]:
        """Return about the best copies and their errors for many variances, whose limits are the rows."""
        copies, errors = simple_copies(*self._choice(variance, blanket_per_user, limits, budget))
        return np.broadcast_to(copies, (len(copies), self.counts.size)), errors

    def _choice(self, variance: Any, blanket_per_user: Any, limits: FloatArray, budget: float) -> tuple[Any, ...]:
        """Say what copies are chosen by: limits and users of levels, the error, all users' copies within the budget.

        `variance` is that of the honest users' dummies about one item. Levels that send the same are one level.
        """
        problem, counts, limits = self.problem, self.counts, np.minimum(limits, self.copies_max)
        if self.equal_copies:
            limits, counts = limits.min(axis=-1, keepdims=True), counts.sum(keepdims=True)
        terms = (self.measure or error_of_all(problem)).at(variance * problem.n_users / problem.honest_users)
        room = (budget - blanket_per_user) * problem.n_users / problem.set_size
        return limits, counts, terms, np.maximum(room, 0.0)

    def messages(self, blanket_per_user: float, copies: FloatArray) -> Any:
        """Return the expected messages per user, blanket and copies of shape (..., n_levels)."""
        return blanket_per_user + self.problem.set_size * (copies @ self.counts) / self.problem.n_users

    def per_user(self, mean: Any) -> Any:
        """Dummies per user of which the honest ones make `mean` per item."""
        return mean * self.problem.domain_size / self.problem.honest_users

    def limits(self, law: Blanket, mean: float, near: FloatArray | None = None) -> FloatArray:
        """Return about the largest copies of every level, up to 64; `near` are first guesses."""
        return np.array(
            [
                guided_copies(
                    law.rough(),
                    mean,
                    pairs=target.pairs,
                    epsilon=target.epsilon,
                    delta=target.delta * math.exp(-_MARGIN),
                    copies_max=COPIES_RANGE[1],
                    start=None if near is None else float(near[i]),
                )
                if target.pairs
                else self.copies_max
                for i, target in enumerate(self.targets)
            ]
        )

    def error_of(self, plan: Plan) -> float:
        """Return the error that is asked for, of a plan for the same problem."""
        terms = (self.measure or error_of_all(self.problem)).at(plan.scheme.noise)
        return float(terms.error(np.asarray(plan.scheme.copies), self.counts))

    def plan_at(self, law: Blanket, blanket_per_user: float, budget: float = math.inf) -> Plan:
        """Calibrate every level in a given blanket, choose the copies, and certify them.

        Raises
        ------
        InfeasibleError
            If the budget of messages is used up by the blanket alone.
        ParameterError
            If the accountant has no numbers for such a blanket.
        """
        problem = self.problem
        mean = problem.honest_mean(blanket_per_user)
        least, most = law.means
        if not least <= mean <= most:
            allowed = f"such that n m/d of the honest users is in [{least:g}, {most:g}] (it is {mean:g})"
            raise ParameterError("blanket_per_user", blanket_per_user, allowed)
        sure = law.rough() is law
        certified = (_largest(law, mean, each, self.copies_max) for each in self.targets)
        limits = np.array(list(certified)) if sure else self.limits(law, mean)
        for _ in range(_LOWERED):
            choice = self._choice(law.variance(mean), blanket_per_user, limits, budget)
            found, error = best_copies(*choice)
            if not math.isfinite(error):
                raise InfeasibleError(
                    f"max_messages = {budget:g} is used up by {blanket_per_user:g} dummies per user: raise it."
                )
            chosen = np.full(self.counts.size, found) if self.equal_copies else found
            lowered = [self._lowered(law, mean, each, a) for each, a in zip(self.targets, chosen, strict=True)]
            if sure or all(a == b for a, b in zip(lowered, chosen, strict=True)):
                break
            limits = np.where(np.array(lowered) < chosen, lowered, limits)
        copies = np.array([rounded_down(each) for each in chosen])
        reached = attained(problem, copies)
        collection = collection_of(problem, copies, blanket_per_user, law)
        return Plan(
            method=law.name,
            problem=problem,
            kind="exact" if reached and not self.group_privacy else "upper",
            blanket_per_user=blanket_per_user,
            messages_per_user=float(self.messages(blanket_per_user, copies)),
            collections=(collection,),
            certificate=self._certificate(law, mean, copies, reached),
            mse_bound=float(error_of_all(problem).at(collection.announcement.noise).error(copies, self.counts)),
        )

    def _lowered(self, law: Blanket, mean: float, target: Target, copies: float) -> float:
        """Lower copies by as much as their certificate is above the target; keep them, if it is met."""
        if copies == 0:
            return copies
        excess = math.log(max(_delta(law, mean, target, rounded_down(copies))[1], SMALLEST_DELTA) / target.delta)
        if excess <= 0:
            return copies
        one, other = (
            guided_log_delta(law.rough().pair(mean, a), target.pairs, target.epsilon, target.delta)
            for a in (copies, 0.99 * copies)
        )
        return copies * math.exp(-(excess + _MARGIN) / max(100 * (one - other), 1.0))

    def _certificate(
        self, law: Blanket, mean: float, copies: FloatArray, reached: bool
    ) -> tuple[dict[str, float], ...]:
        """Certified delta interval of every level at its own epsilon (user level)."""
        certificate = []
        for level, value in zip(self.problem.levels, copies, strict=True):
            lower, upper = _delta(law, mean, Target.of(self.problem, level), float(value))
            lower = lower if reached else 0.0  # the lower end is about the product, which nobody may reach
            certificate.append({"epsilon": level, "delta_lower": rounded_down(lower), "delta_upper": rounded_up(upper)})
        return tuple(certificate)


def least_error(searches: Sequence[Search], budget: float = math.inf) -> Plan:
    """Plan with one of several laws, the simplest first, for the least error within a budget of messages per user.

    Raises
    ------
    InfeasibleError
        If nothing can be sent within it.
    """
    plans = list[Plan]()
    for search in searches:
        allowed = budget
        if math.isinf(budget) and search.law.spends and plans:
            allowed = search.law.spends * plans[0].messages_per_user
        try:
            plans.append(_best(search, allowed))
        except InfeasibleError as error:
            failure = error
    if not plans:
        raise failure
    # of equals the first, which is the simplest
    return min(plans, key=searches[0].error_of)


def fewest_messages(searches: Sequence[Search], error: float) -> Plan:
    """Plan of about the fewest messages whose error is at most `error`.

    Raises
    ------
    InfeasibleError
        If no number of messages reaches it.
    """
    first, best = searches[0], None
    for search in searches:
        best = _fewest_of(search, error, first, best) or best
    if best is None:
        least = least_error(searches)
        raise InfeasibleError(
            f"target_error = {error:g} is below {first.error_of(least):g}, the least that was found, with "
            f"{least.messages_per_user:.4g} messages per user: raise it, or copies_max."
        )
    return best


def _fewest_of(search: Search, error: float, first: Search, best: Plan | None) -> Plan | None:
    """Find the plan of a law with about the fewest messages, and fewer than the best one; None if there is none."""
    most = best.messages_per_user if best else math.inf

    def suffices(log_budget: float) -> bool:
        found = search.surface.best(math.exp(log_budget))
        return found is not None and found.error <= error

    def certified(budget: float) -> Plan | None:
        with contextlib.suppress(InfeasibleError):
            plan = _best(search, budget)
            return plan if search.error_of(plan) <= error and plan.messages_per_user < most else None
        return None

    if search.problem.pairs == 0:  # nothing to hide: there are hardly any dummies to save
        return certified(math.inf)
    doublings, top = 1, most
    if best is None:
        doublings = _DOUBLINGS if search.law.spends else 1
        top = (search.law.spends or 1.0) * _best(first, math.inf).messages_per_user
    high = next((end for end in math.log(top) + math.log(2) * np.arange(doublings) if suffices(end)), None)
    if high is None:
        return None
    low = high - math.log(2)
    while suffices(low):
        high, low = low, low - math.log(2)
    while high - low > _CLOSE:
        middle = (low + high) / 2
        low, high = (low, middle) if suffices(middle) else (middle, high)
    # guides may promise a little too much
    budgets = (math.exp(high + _CLOSE * (2**more - 1)) for more in range(_TRIES))
    return next(filter(None, map(certified, budgets)), None)


@functools.lru_cache(maxsize=1024)
def _best(search: Search, budget: float) -> Plan:
    """Plan for the least error within a budget, with one law."""
    if search.problem.pairs == 0:  # nothing to hide: any blanket will do
        return search.plan_at(SINGLES, rounded(search.per_user(2 * BLANKET_MEAN_RANGE[0])), budget)
    best = search.surface.best(budget)
    if best is None:
        raise InfeasibleError(f"max_messages = {budget:g} is too small: raise it, or lower the domain size.")
    if (dummies := search.per_user(best.mean)) > LARGEST_BLANKET:
        raise InfeasibleError(
            f"The plan with the least error has {dummies:.3g} dummy messages per user, and at most "
            f"{LARGEST_BLANKET:g} can be announced: set max_messages, or raise the levels, delta or the users."
        )
    plans = list[Plan]()
    for _ in range(_TRIES):
        plans.append(search.plan_at(best.law, rounded(search.per_user(best.mean)), budget))
        reached = np.array(plans[-1].scheme.copies)
        if search.error_of(plans[-1]) <= best.error * (1 + _WORTHWHILE):
            break
        best = search.surface.corrected(best, reached, budget) or best
    if best.law.rough() is best.law:
        # exactly the dummies that the whole numbers next to these copies need
        means = [
            _least_mean(copies=float(round(a)), blanket=best.law, **asdict(target))
            for target, a in zip(search.targets, best.copies.tolist(), strict=True)
            if round(a) and abs(a - round(a)) < _WORTHWHILE
        ]
        if means:
            with contextlib.suppress(InfeasibleError):
                plans.append(search.plan_at(best.law, rounded_up(search.per_user(max(means))), budget))
    return min(plans, key=search.error_of)


_least_mean = functools.lru_cache(maxsize=4096)(least_blanket_mean)


@functools.lru_cache(maxsize=65536)
def _largest(law: Blanket, mean: float, target: Target, copies_max: float) -> float:
    """Largest certified copies, rounded down; copies_max if nothing to hide."""
    if target.pairs == 0:
        return copies_max
    copies = largest_copies(blanket_mean=mean, copies_max=copies_max, blanket=law, **asdict(target))
    # that search stops within 0.1 % of delta; a whole number just above costs no sampling noise
    whole = float(math.ceil(copies))
    if 0.998 * whole < copies < whole <= copies_max:
        bound = log_delta_bound(law.pair(mean, whole), target.pairs, target.epsilon)
        return whole if bound <= math.log(target.delta) else rounded_down(copies)
    return rounded_down(copies)


@functools.lru_cache(maxsize=65536)
def _delta(law: Blanket, mean: float, target: Target, copies: float) -> tuple[float, float]:
    """Certified interval of delta (lower, upper), as narrow as can be had."""
    if target.pairs == 0 or copies == 0:
        return 0.0, 0.0
    pair = law.pair(mean, copies)
    sure = law.rough() is law  # its copies were calibrated by the certificate's own lattice
    smallest, expected = (SMALLEST_DELTA, None) if sure else (max(_FAR * target.delta, SMALLEST_DELTA), target.delta)
    asked: dict[str, Any] = {"pairs": target.pairs, "epsilon": target.epsilon, "smallest": smallest}
    bound = 1.0
    for rtol in _WIDTHS:
        with contextlib.suppress(AccuracyError):
            interval = delta_interval(pair, rtol=rtol, expected=expected, **asked)
            return interval.lower, min(interval.upper, bound)
        # the upper bound that the copies were calibrated by
        bound = min(math.exp(log_delta_bound(pair, target.pairs, target.epsilon)) * (1 + 1e-13), 1.0)
    return 0.0, bound


def attained(problem: Problem, copies: Sequence[float] | FloatArray) -> bool:
    """Whether some neighbouring users reach the bound by `Problem.pairs`, so that no smaller delta is valid.

    That takes sets that differ in all these pairs, and others who leave those counters alone or shift them by a known
    number (docs/proof.md, step 6).
    """
    d, s, n_users = problem.sizes
    if problem.assumptions.sets == "at-most":
        return d >= 2 * s  # the others may hold nothing
    if problem.assumptions.private_levels and d < 2 * s:
        return False
    others_are_known = all(a == math.floor(a) for a, n in zip(copies, problem.level_counts, strict=True) if n)
    return d >= 3 * s or d == s or n_users == 1 or others_are_known
