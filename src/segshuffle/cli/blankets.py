"""Plans as the options of `plan` ask for them, for any problem and law of the dummies; and all laws side by side."""

from __future__ import annotations

import argparse
import functools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from segshuffle.errors import InfeasibleError, SegshuffleError

if TYPE_CHECKING:
    from segshuffle.arrays import FloatArray
    from segshuffle.protocols.base import Plan, Problem
    from segshuffle.protocols.planner import ErrorMeasure
    from segshuffle.protocols.proven import ProvenSegmented

#: Seconds of a processor that one blanket may take beside a plan that was not asked for it.
PATIENCE = 4.0
#: Seconds of another law than single dummies, measured: times theirs, and for every level; the latter for a law that
#: has to be planned with one budget after the other.
_OTHER_LAWS, _BUDGETS = (2.0, 0.7), (5.0, 1.2)
#: How many of a guess's most frequent items are looked at where --top does not say.
TOP = 20


@dataclass(frozen=True)
class Relative:
    """An error as a share of what is estimated."""

    share: float


@dataclass(frozen=True)
class Planner:
    """What the options ask of a plan.

    Parameters
    ----------
    options : Namespace
        Of `plan`.
    spent : float
        Messages per user that round 1 takes.
    given : ndarray of float or None
        Shares of the users that hold each item, where --item-frequencies has them.
    """

    options: argparse.Namespace
    spent: float
    given: FloatArray | None = None

    @property
    def top(self) -> int:
        """How many of the most frequent items are looked at."""
        return self.options.top or TOP

    @property
    def ranks_top(self) -> bool:
        """Whether plans are for the most frequent items, and not for all together."""
        asked, target = self.options, self.options.target_error
        return isinstance(target, Relative) or (target is None and bool(asked.zipf is not None or asked.top))

    def shares(self, problem: Problem) -> FloatArray | None:
        """Guess of the items' shares of the users, if there is one."""
        if self.options.zipf is None:
            return self.given
        return _zipf_shares(self.options.mean_size or problem.set_size, problem.domain_size, self.options.zipf)

    def counts(self, problem: Problem) -> FloatArray:
        """Holders of every item, by the guess, or as equally frequent ones."""
        from segshuffle.protocols.base import uniform_item_counts

        shares = self.shares(problem)
        if shares is not None:
            return problem.n_users * shares
        return uniform_item_counts(problem) * ((self.options.mean_size or problem.set_size) / problem.set_size)

    def measure(self, problem: Problem) -> ErrorMeasure | None:
        """The error that is asked for; None for that of all items, equally frequent ones."""
        from segshuffle.protocols.base import assignment_spread
        from segshuffle.protocols.planner import ErrorMeasure
        from segshuffle.rehearsal.foresight import hardest_share

        shares = self.shares(problem)
        if self.ranks_top and shares is not None:
            return ErrorMeasure.of_item(hardest_share(shares, self.top), problem.n_users)
        if self.options.target_error is None:
            return None
        counts, n_users = self.counts(problem), problem.n_users
        return ErrorMeasure(problem.domain_size, float(counts.sum()) / n_users, assignment_spread(counts, n_users))

    def target(self, problem: Problem) -> float | None:
        """Largest error, if one is given."""
        from segshuffle.rehearsal.foresight import hardest_share

        target, shares = self.options.target_error, self.shares(problem)
        if isinstance(target, Relative):
            assert shares is not None
            return (target.share * hardest_share(shares, self.top)) ** 2
        return None if target is None else float(target)

    def plan(self, problem: Problem) -> Plan:
        """Plan for a problem with the law that is asked for; its levels may be others where the least epsilon is.

        Raises
        ------
        InfeasibleError
            If there is no such plan, or nobody can announce it.
        """
        law, target = self.options.blanket, self.target(problem)
        if self.options.least != "epsilon":
            return self.plan_with(law, problem, target)
        from segshuffle.rehearsal.foresight import least_epsilon

        def error(plan: Plan) -> float:
            return self._method(law, plan.problem, None).search(plan.problem).error_of(plan)

        assert target is not None
        try:
            return least_epsilon(
                lambda other: self.plan_with(law, other, None), problem, lambda plan: error(plan) <= target
            )
        except InfeasibleError as failed:
            raise InfeasibleError(
                f"target-error = {100 * self.options.target_error.share:g} % cannot be had for the top {self.top}: "
                f"{failed}. Raise it, the users, copies-max or max-messages."
            ) from failed

    def plan_with(self, law: str, problem: Problem, target: float | None) -> Plan:
        """Plan with a law of the dummies, with the fewest messages for an error or the least error."""
        from segshuffle.accounting.numerics.ranges import LARGEST_BLANKET
        from segshuffle.protocols.capped import Capped

        method: Any = self._method(law, problem, target)
        if self.options.blanket_cap is not None:
            method = Capped(method, None if self.options.blanket_cap == "auto" else self.options.blanket_cap)
        try:
            plan: Plan = method.plan(problem)
        except InfeasibleError as error:
            raise InfeasibleError(self._explained(error, law, problem, target)) from error
        if plan.blanket_per_user > LARGEST_BLANKET:
            raise InfeasibleError(
                f"the plan with the least error has {plan.blanket_per_user:.3g} dummy messages per user, and at most "
                f"{LARGEST_BLANKET:g} can be announced: set --max-messages, or raise the levels, delta or the users."
            )
        return plan

    def _explained(self, error: InfeasibleError, law: str, problem: Problem, target: float | None) -> str:
        """Why there is no plan, in the options' words."""
        from segshuffle.protocols.proven import SINGLE
        from segshuffle.rehearsal.planning import BEST

        budget, asked = self.options.max_messages, self.options.target_error
        if isinstance(asked, Relative) and target is not None:
            named = SINGLE if law == BEST else law  # nothing is best without an error
            least = self.numbers(self.plan_with(named, problem, None))["top_relative_deviation"]
            return (
                f"target-error = {100 * asked.share:g} % is below {100 * least:.3g} %, the least that was found for "
                f"the top {self.top} with any number of messages: raise it, the levels, users or copies-max, or ask "
                "for --least epsilon."
            )
        if budget is None:
            return str(error)
        return f"{error} (of max-messages = {budget:g} round 1, about the levels, takes {self.spent:g})"

    def _method(self, law: str, problem: Problem, target: float | None) -> ProvenSegmented:
        from segshuffle.protocols.messages.budget import left_for_items
        from segshuffle.rehearsal.planning import method

        asked = self.options
        made = method(
            law,
            copies_max=asked.copies_max,
            max_messages=None if asked.max_messages is None else left_for_items(asked.max_messages, self.spent),
            equal_copies=asked.equal_copies,
            target_error=target,
            measure=self.measure(problem),
        )
        return replace(made, blanket_per_user=asked.blanket_per_user)

    def seconds(self, law: str, problem: Problem) -> float:
        """About how long a law takes to plan, in seconds of a processor: within a factor of three."""
        from segshuffle.blankets.named import laws
        from segshuffle.protocols.cautions import expected_seconds
        from segshuffle.protocols.proven import SINGLE

        if law not in laws():
            return sum(self.seconds(each, problem) for each in laws())
        times, every_level = (1.0, 0.0) if law == SINGLE else _OTHER_LAWS
        if law != SINGLE and laws()[law].spends and self.options.target_error is not None:
            times, every_level = _BUDGETS
        return times * expected_seconds(problem) + every_level * len(problem.levels)

    # -- all laws side by side -----------------------------------------------------------------------------------------

    def compared(self, problem: Problem, made: Plan | None = None) -> list[dict[str, Any]]:
        """Every law's numbers; beside a plan of single dummies that is `made`, of those that do not take long."""
        from segshuffle.blankets.named import laws
        from segshuffle.protocols.proven import SINGLE

        return [
            {"blanket": law, **(self.numbers(made) if made and law == SINGLE else self._row(law, problem, bool(made)))}
            for law in laws()
        ]

    def _row(self, law: str, problem: Problem, beside: bool) -> dict[str, Any]:
        """One law; what stands beside a plan never costs the plan, so a law that has none says why."""
        seconds = self.seconds(law, problem)
        if beside and seconds > PATIENCE:
            return {"none": f"not tried, it takes about {seconds:.0f} s: --blanket {law}"}
        try:
            plan = self.plan_with(law, problem, self.target(problem))
        except SegshuffleError as error:
            return {"none": str(error)}
        except (ValueError, ArithmeticError, RuntimeError, MemoryError) as error:
            return {"none": f"its plan failed ({type(error).__name__}: {error})"}
        note = nothing_better(law, plan)
        return self.numbers(plan) | ({"note": note} if note else {})

    def numbers(self, plan: Plan) -> dict[str, Any]:
        """What is shown of a plan of any law."""
        from segshuffle.protocols.proven import ProvenSegmented, law_of
        from segshuffle.rehearsal.foresight import expected
        from segshuffle.rehearsal.wording import bytes_per_message

        worth = expected(plan, self.shares(plan.problem), self.top)
        return {
            "mse_sample": ProvenSegmented().expected_mse(plan, self.counts(plan.problem)),
            "deviation_users": worth.deviation * plan.problem.n_users,
            **({} if worth.relative is None else {"top_relative_deviation": worth.relative}),
            "messages_per_user": plan.messages_per_user + self.spent,
            "blanket_per_user": plan.blanket_per_user,
            "copies": list(plan.parameters["copies"]),
            "law": law_of(plan).as_dict(),
            "certificate": plan.parameters["certificate"],
            "bytes_per_message": bytes_per_message(plan),
            "kind": plan.kind,
        }


@functools.lru_cache(maxsize=4)
def _zipf_shares(size: float, domain_size: int, zipf: float) -> FloatArray:
    from segshuffle.protocols.padding import zipf_shares

    return zipf_shares(size, domain_size, zipf)


def nothing_better(law: str, plan: Plan) -> str | None:
    """Say so where a law was asked for and another one is planned."""
    from segshuffle.blankets.named import laws
    from segshuffle.protocols.proven import law_of

    found = law_of(plan).name
    if law not in laws() or found == law:
        return None
    return f"No {law} dummies were found that are better: the plan has the {found} ones."
