"""The planner for every law of dummies: the blanket and the copies with the least error, or the fewest messages.

*What is estimated.* The largest copies that a level may send in a blanket (`guides`). For any such limits the best
copies of all levels are known by a proof (`weights`).

*Which order is used.* More single dummies never allow fewer copies, and never add less noise (docs/proof.md). So no
number of dummies between two others has less error than a bound from these two. `single_dummies` leaves out what cannot
be better, and finds the best number. `gap` proves with certificates how near it is to the best of all.

*Where an order does not help.* Other laws have more choices than a number. `surface` estimates the copies in a few
blankets, predicts the error of all others, and computes the one that is predicted to be best, until a prediction was
right.

*The last step.* Just below whole copies the error may be far larger. `nearby` moves to the blanket that just allows
whole copies, and goes on in small steps among few dummies.

*What is announced.* `copy_rules` calibrates all levels for this blanket, whose numbers have few digits, chooses the
copies (`weights`), and certifies them (`targets`). If fewer copies are certified than were estimated, or these are next
to a jump of delta, the plan gets more noise or fewer copies. So the numbers of a plan are proven, however wrong the
estimates were, and a plan depends on nothing that was asked for before.
"""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from segshuffle.accounting.collections.guides import FINE
from segshuffle.arrays import FloatArray
from segshuffle.blankets.base import BLANKET_MEAN_RANGE, Blanket
from segshuffle.blankets.singles import SINGLES
from segshuffle.digits import DIGITS, rounded, rounded_up
from segshuffle.errors import InfeasibleError, ParameterError
from segshuffle.numerics.ranges import LARGEST_BLANKET
from segshuffle.numerics.search import safe_edge
from segshuffle.plans.copy_rules import Candidate, CopyRules
from segshuffle.plans.nearby import points_to_try
from segshuffle.plans.plan import Plan
from segshuffle.plans.single_dummies import SingleDummies
from segshuffle.plans.surface import Surface

#: Most budgets that are tried until one is enough, each twice the last.
_DOUBLINGS = 4
#: Estimates may be too good, so these relative increases are tried in turn: of the noise if a budget is given, of the
#: budget if an error is given.
_MORE = (0.0, FINE, 3 * FINE, 7 * FINE, 15 * FINE, 31 * FINE)

#: Least relative gain for which a plan replaces the one that was found first, or one with a simpler law.
_GAIN = 0.001
#: Rounding the number of dummies may raise the error by this share.
_ROUNDING = 2e-4


@dataclass(frozen=True)
class Search(CopyRules):
    """The search with one law of dummies, with all that it has computed; it has the parameters of `CopyRules`."""

    @functools.cached_property
    def blankets(self) -> Surface | SingleDummies:
        """The search for the best blanket by quick estimates, with all that were made so far."""
        return SingleDummies(self) if self.law is type(SINGLES) else Surface(self)

    @functools.cached_property
    def best_plans(self) -> dict[float, Plan]:
        """The best plan of every budget that was searched."""
        return {}

    @functools.cached_property
    def plans(self) -> list[Plan]:
        """Every plan that was made for a budget so far."""
        return []


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
        if plan and (not plans or plan.messages_per_user < plans[-1].messages_per_user * (1 - _GAIN)):
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
        best = search.blankets.best(budget, quick=True)
        return math.log(best.error / error) if best else math.inf

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
    """Plan for the least error within a budget, with one law; a plan for a smaller one may be better."""
    if budget not in search.best_plans:
        plans = _tried(search, budget)
        earlier = [each for each in search.plans if each.messages_per_user <= budget]
        search.plans.extend(plans)
        search.best_plans[budget] = min([*earlier, *plans], key=search.error_of)
    return search.best_plans[budget]


def _tried(search: Search, budget: float) -> tuple[Plan, ...]:
    """Return the plans around the best blanket of a law within a budget."""
    if search.problem.pairs == 0:  # nothing to hide: any blanket will do
        return (search.certified_plan(SINGLES, rounded(search.per_user(2 * BLANKET_MEAN_RANGE[0])), budget),)
    best = search.blankets.best(budget)
    if best is None:
        raise InfeasibleError(f"max_messages = {budget:g} is too small: raise it, or lower the domain size.")
    if (dummies := search.per_user(best.mean)) > LARGEST_BLANKET:
        raise InfeasibleError(
            f"The plan with the least error has {dummies:.3g} dummy messages per user, and at most {LARGEST_BLANKET:g} "
            "can be announced: set max_messages, or raise the levels, delta or the number of users."
        )
    plans, least = list[Plan](), math.inf
    for point in points_to_try(search.blankets, best, budget):
        try:
            made = _plans_at(search, point, best, budget)
        except (InfeasibleError, ParameterError) as error:
            failure = error
            continue
        # where the error is flat, a slightly lower one may take many more messages
        if min(map(search.error_of, made)) < least * (1 - _GAIN):
            plans.extend(made)
            least = min(map(search.error_of, plans))
    if not plans:
        raise failure
    return tuple(plans)


def _plans_at(search: Search, point: FloatArray, best: Candidate, budget: float) -> list[Plan]:
    """Return certified plans with the blanket of a point, with ever more noise until one is about as good as `best`."""
    plans = list[Plan]()
    for more in _MORE:
        noisier = np.append(point[0] + more, point[1:])
        law, mean = search.blankets.blanket(noisier) or (best.law, best.mean)
        try:
            plans.append(search.certified_plan(law, _short(search, law, mean, best.copies, budget), budget))
        except (InfeasibleError, ParameterError) as error:
            failure = error
            continue
        # fewer copies than estimated may be certified, and copies slightly below whole ones may cost much
        misses_copies = (plans[-1].scheme.copies < best.copies).any()
        if not misses_copies or search.error_of(plans[-1]) <= best.error * (1 + FINE):
            break
    if not plans:
        raise failure
    return plans


def _short(search: Search, law: Blanket, mean: float, copies: FloatArray, budget: float) -> float:
    """Round the dummies per user up to as few digits as hardly raise the error, at least three."""
    per_user = search.per_user(mean)
    most = search.least_error(law, mean, copies, budget) * (1 + _ROUNDING)
    for digits in range(3, DIGITS):
        short = rounded_up(per_user, digits)
        if search.least_error(law, mean * short / per_user, copies, budget) <= most:
            return short
    return rounded_up(per_user)
