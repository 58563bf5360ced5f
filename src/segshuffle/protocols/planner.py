"""The planner for every law of dummies: it finds the blanket and copies with the least error, and certifies them.

`surface` searches for the blanket with quick estimates of the largest copies (`guides`). Here the result is certified.
If the certificate allows fewer copies than estimated, the plan gets more dummies or fewer copies. The numbers of a plan
are certified, however wrong the estimates were.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import math
import time
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from segshuffle.accounting.collections.guides import CLOSE, FINE, guided_copies
from segshuffle.accounting.collections.product import SMALLEST_DELTA, closest_interval, log_delta_bound, rounded_delta
from segshuffle.accounting.collections.published import item_target
from segshuffle.accounting.numerics.gaussian import gaussian_ratio
from segshuffle.accounting.numerics.ranges import LARGEST_BLANKET
from segshuffle.accounting.numerics.search import safe_edge
from segshuffle.arrays import FloatArray
from segshuffle.blankets.base import BLANKET_MEAN_RANGE, COPIES_RANGE, Blanket
from segshuffle.blankets.singles import SINGLES
from segshuffle.digits import rounded, rounded_down, rounded_up
from segshuffle.errors import InfeasibleError, ParameterError
from segshuffle.protocols.base import Plan, Problem, assignment_spread, collection_of
from segshuffle.protocols.surface import Surface
from segshuffle.protocols.variances import log_variances
from segshuffle.protocols.weights import ErrorTerms, best_copies, simple_copies

#: Most budgets that are tried until one is enough, each twice the last.
_DOUBLINGS = 4
#: Relative increases to try if estimates were too good: of the noise for a budget, or of the budget for an error.
_MORE = (0.0, FINE, 3 * FINE, 7 * FINE, 15 * FINE, 31 * FINE)
#: Relative widths of a certificate that are tried after `FINE`, until one is reached or the target is met or missed.
_WIDTHS = (10 * FINE, 100 * FINE, 1.0)

#: Processor second of this process at which searches give up.
_deadline = ContextVar("_deadline", default=math.inf)


@contextlib.contextmanager
def within(seconds: float) -> Iterator[None]:
    """Let searches raise a `TimeoutError` once they took so many seconds of a processor."""
    token = _deadline.set(time.process_time() + seconds)
    try:
        yield
    finally:
        _deadline.reset(token)


def _check_time() -> None:
    if time.process_time() > _deadline.get():
        raise TimeoutError


@dataclass(frozen=True)
class Target:
    """The guarantee that one level must meet. It does not depend on the users, so equal targets share a calibration."""

    pairs: int
    epsilon: float
    delta: float

    @classmethod
    def of(cls, problem: Problem, level: float, group_privacy: bool = False) -> Target:
        """Take the target for the product of all pairs, or, with group privacy, for one item."""
        pairs, delta = problem.pairs, problem.deltas[problem.levels.index(level)]
        if not group_privacy or pairs == 0:
            return cls(pairs, level, delta)
        epsilon, delta = item_target(epsilon=level, delta=delta, set_size=pairs)
        return cls(1, epsilon, delta)

    @property
    def gaussian_copies(self) -> float:
        """Copies that Gaussian noise with variance 1 would allow; they grow with the root of the variance."""
        return gaussian_ratio(epsilon=self.epsilon, delta=self.delta) / math.sqrt(2 * self.pairs)


def error_of_all(problem: Problem) -> ErrorTerms:
    """Return coefficients of the squared error of all items, if these are equally frequent and noise has variance 1."""
    d, s, n = problem.sizes
    return ErrorTerms(d, s, assignment_spread(np.array([n * s / d]), n) * d)


def error_of_item(share: float, n_users: int) -> ErrorTerms:
    """Return the coefficients of the variance of the estimate of one item, held by this share of the users."""
    return ErrorTerms(1.0, share, share * (1 - share) * n_users / max(n_users - 1, 1))


@dataclass(frozen=True)
class Search:
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

    @functools.cached_property
    def surface(self) -> Surface:
        """The quick estimates, with all that were made so far."""
        return Surface(self)

    @functools.cached_property
    def found(self) -> dict[float, Plan]:
        """The best plan of every budget that was searched."""
        return {}

    @functools.cached_property
    def plans(self) -> list[Plan]:
        """Every plan that was made for a budget so far."""
        return []

    # -- a blanket and what may be sent in it --------------------------------------------------------------------------

    def guess(
        self, variance: FloatArray, blanket_per_user: FloatArray, limits: FloatArray, budget: float
    ) -> tuple[FloatArray, FloatArray]:
        """Return nearly the best copies, and their errors, for many variances; `limits` has a row for each."""
        copies, errors = simple_copies(*self._choice(variance, blanket_per_user, limits, budget))
        return np.broadcast_to(copies, (len(copies), self.counts.size)), errors

    def _choice(self, variance: Any, blanket_per_user: Any, limits: FloatArray, budget: float) -> tuple[Any, ...]:
        """Return what choosing copies needs: limits, users by level, the error, and the budget of all users' copies.

        `variance` is that of the honest users' dummies about one item. With equal copies all levels count as one.
        """
        problem, counts, limits = self.problem, self.counts, np.minimum(limits, self.copies_max)
        if self.equal_copies:
            limits, counts = limits.min(axis=-1, keepdims=True), counts.sum(keepdims=True)
        room = (budget - blanket_per_user) * problem.n_users / problem.set_size
        return limits, counts, self.terms(variance), np.maximum(room, 0.0)

    def messages(self, blanket_per_user: float, copies: FloatArray) -> Any:
        """Return the expected messages per user, dummies and copies (shape (..., n_levels)) together."""
        return blanket_per_user + self.problem.set_size * (copies @ self.counts) / self.problem.n_users

    def per_user(self, mean: Any) -> Any:
        """Return the dummies per user, such that honest users send `mean` dummies per item."""
        return mean * self.problem.domain_size / self.problem.honest_users

    def limits(self, law: Blanket, mean: float, near: FloatArray | None = None, rtol: float = CLOSE) -> FloatArray:
        """Estimate the largest copies of every level, up to 64; `near` are first guesses."""
        _check_time()
        return np.array(
            [
                guided_copies(
                    law.rough(),
                    mean,
                    **asdict(target),
                    copies_max=COPIES_RANGE[1],
                    start=None if near is None else float(near[i]),
                    rtol=rtol,
                )
                if target.pairs
                else self.copies_max
                for i, target in enumerate(self.targets)
            ]
        )

    def terms(self, variance: Any) -> ErrorTerms:
        """Return the coefficients of `measure` for honest users' dummies with this variance about one item."""
        return self.measure.at(variance * self.problem.n_users / self.problem.honest_users)

    def least_error(self, law: Blanket, mean: float, limits: FloatArray, budget: float) -> float:
        """Return the least error of copies within limits and a budget; inf if nothing can be sent."""
        return best_copies(*self._choice(law.variance(mean), self.per_user(mean), limits, budget))[1]

    def error_of(self, plan: Plan) -> float:
        """Return the error `measure` of a plan for the same problem."""
        return float(self.measure.at(plan.scheme.noise).error(np.asarray(plan.scheme.copies), self.counts))

    def plan_at(self, law: Blanket, blanket_per_user: float, budget: float = math.inf) -> Plan:
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
        if _has_large_tables(law):
            limits *= 1 - 0.1 * FINE  # certificates take long: slightly lower limits mostly pass at once
        for i, target in enumerate(self.targets):
            whole = round(limits[i])
            if whole and abs(limits[i] / whole - 1) < FINE and _is_certified(law, mean, target, whole):
                limits[i] = whole
        for tries in itertools.count():
            choice = self._choice(law.variance(mean), blanket_per_user, limits, budget)
            found, error = best_copies(*choice)
            if not math.isfinite(error):
                raise InfeasibleError(
                    f"With {blanket_per_user:g} dummies per user nothing else can be sent: either they use up "
                    f"max_messages = {budget:g}, or no number of copies meets the target. Raise max_messages or delta."
                )
            chosen = np.broadcast_to(found, self.counts.shape)
            kept = [_is_certified(law, mean, each, a) for each, a in zip(self.targets, chosen, strict=True)]
            if all(kept):
                break
            # hardly lower at first: most estimates are nearly right
            limits = np.where(kept, limits, chosen * max(1 - 0.1 * FINE * 4**tries, 0.0))
        copies = np.array([rounded_down(each) for each in chosen])
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


def checked_mean(problem: Problem, law: Blanket, blanket_per_user: float) -> float:
    """Return how many dummies per item honest users send, if the law allows as many; else raise an error."""
    mean, (least, most) = problem.honest_mean(blanket_per_user), law.means
    if not least <= mean <= most:
        allowed = f"such that honest users send {least:g} to {most:g} dummies per item (they send {mean:g})"
        raise ParameterError("blanket_per_user", blanket_per_user, allowed)
    return mean


def least_error(searches: Sequence[Search], budget: float = math.inf) -> Plan:
    """Plan with one of several laws, the simplest first, for the least error within a budget of messages per user.

    Raises
    ------
    InfeasibleError
        If nothing can be sent within the budget.
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
    # among equals this is the first, which is the simplest
    return min(plans, key=searches[0].error_of)


def fewest_messages(searches: Sequence[Search], error: float) -> Plan:
    """Plan with about the fewest messages such that the error is at most `error`.

    Raises
    ------
    InfeasibleError
        If no number of messages is enough.
    """
    first, plans = searches[0], list[Plan]()
    single = _best(first, math.inf).messages_per_user
    for search in searches:
        tops = (search.law.spends or 1.0) * single * 2.0 ** np.arange(_DOUBLINGS)
        plan = _fewest_of(search, error, [plans[-1].messages_per_user] if plans else tops.tolist())
        if plan and (not plans or plan.messages_per_user < plans[-1].messages_per_user):
            plans.append(plan)
    if plans:
        return plans[-1]
    least = least_error(searches)
    if first.error_of(least) <= error:  # estimates were too bad for targets that are hardly above it
        return least
    raise InfeasibleError(
        f"target_error = {error:g} is below {first.error_of(least):g}, the least that was found, with "
        f"{least.messages_per_user:.4g} messages per user: raise it, or copies_max."
    )


def _fewest_of(search: Search, error: float, tops: Sequence[float]) -> Plan | None:
    """Find the plan with about the fewest messages for one law, within the first of some budgets that is enough."""

    @functools.cache
    def excess(budget: float) -> float:
        found = search.surface.best(budget, quick=True)
        return math.log(found.error / error) if found else math.inf

    if search.problem.pairs == 0:  # nothing to hide, and so hardly any dummies
        budgets = [math.inf]
    else:
        high = next((top for top in tops if excess(top) <= 0), None)
        if high is None:
            return None
        while excess(high / 2) <= 0:
            high /= 2
        enough = safe_edge(excess, safe=high, unsafe=high / 2, tolerance=FINE)
        # estimates may be slightly too good
        budgets = [enough * (1 + more) for more in _MORE]
    for budget in budgets:
        with contextlib.suppress(InfeasibleError):
            plan = _best(search, budget)
            if search.error_of(plan) <= error:
                return plan
    return None


def _best(search: Search, budget: float) -> Plan:
    """Plan for the least error within a budget, with one law; a plan that was found for a smaller one may be better."""
    if budget not in search.found:
        plans = _tried(search, budget)
        earlier = [each for each in search.plans if each.messages_per_user <= budget]
        search.plans.extend(plans)
        search.found[budget] = min([*earlier, *plans], key=search.error_of)
    return search.found[budget]


def _tried(search: Search, budget: float) -> tuple[Plan, ...]:
    """Return the plans around the best point of a law's surface, within a budget."""
    if search.problem.pairs == 0:  # nothing to hide: any blanket will do
        return (search.plan_at(SINGLES, rounded(search.per_user(2 * BLANKET_MEAN_RANGE[0])), budget),)
    best = search.surface.best(budget)
    if best is None:
        raise InfeasibleError(f"max_messages = {budget:g} is too small: raise it, or lower the domain size.")
    if (dummies := search.per_user(best.mean)) > LARGEST_BLANKET:
        raise InfeasibleError(
            f"The plan with the least error has {dummies:.3g} dummy messages per user, and at most {LARGEST_BLANKET:g} "
            "can be announced: set max_messages, or raise the levels, delta or the number of users."
        )
    plans = list[Plan]()
    for log_variance in log_variances(search, best, budget):
        least = math.inf
        for more in _MORE:
            law, mean = search.surface.at(log_variance + more, best)
            try:
                plans.append(search.plan_at(law, rounded_up(search.per_user(mean)), budget))
            except (InfeasibleError, ParameterError) as error:
                failure = error
                continue
            before, least = least, search.error_of(plans[-1])
            # copies slightly below whole ones may cost much, and yet more noise may allow these
            missed = (best.copies % 1 == 0) & (best.copies > plans[-1].scheme.copies)
            if least <= best.error * (1 + FINE) or (least >= before and not missed.any()):
                break
    if not plans:
        raise failure
    return tuple(plans)


def _has_large_tables(law: Blanket) -> bool:
    """Return whether certificates take long, so that the law has a rough form for searches."""
    return law.rough() is not law


def _is_certified(law: Blanket, mean: float, target: Target, copies: float) -> bool:
    """Return whether copies, rounded down, are certified to meet the target."""
    _check_time()
    return copies == 0 or certified_delta(law, mean, target, rounded_down(copies))[1] <= target.delta


@functools.lru_cache(maxsize=65536)
def certified_delta(law: Blanket, mean: float, target: Target, copies: float) -> tuple[float, float]:
    """Return a certified interval of delta (lower, upper), narrow enough to compare it with the target if possible."""
    if target.pairs == 0 or copies == 0:
        return 0.0, 0.0
    pair, lower, upper = law.pair(mean, copies), 0.0, 1.0
    far_below = max(FINE * target.delta, SMALLEST_DELTA)
    # large tables take long, and need not tell a delta far below the target from 0
    smallest = far_below if _has_large_tables(law) else SMALLEST_DELTA
    for rtol, least in dict.fromkeys([(FINE, smallest), (FINE, far_below), *((each, smallest) for each in _WIDTHS)]):
        found, failure = closest_interval(
            pair, pairs=target.pairs, epsilon=target.epsilon, rtol=rtol, smallest=least, expected=target.delta
        )
        lower, upper = max(lower, found.lower), min(upper, found.upper)
        if not failure or (lower > 0 and upper <= target.delta) or lower > target.delta:
            return lower, upper
    return lower, min(upper, rounded_delta(log_delta_bound([(pair, target.pairs)], target.epsilon)))


def attained(problem: Problem, copies: Sequence[float] | FloatArray) -> bool:
    """Return whether some neighbours attain the bound with `Problem.pairs` pairs, so that no smaller delta is valid.

    This needs two sets that differ in all these pairs, and other users who shift those counters by a known number, or
    not at all (docs/proof.md, step 6).
    """
    d, s, n_users = problem.sizes
    if problem.assumptions.sets == "at-most":
        return d >= 2 * s  # the others may hold nothing
    if problem.assumptions.private_levels and d < 2 * s:
        return False
    others_are_known = all(a == math.floor(a) for a, n in zip(copies, problem.level_counts, strict=True) if n)
    return d >= 3 * s or d == s or n_users == 1 or others_are_known
