"""The segmented protocol with proven accounting: a blanket of any law, and optionally copies instead of sampling.

With a Poisson blanket each user draws Poisson(m) uniform dummies. So the counters of the d items are independent: each
is Poisson(n m/d) plus the messages about held items. Counters are independent with the other laws, too. A user of level
k sends every held item M times, M = floor(a_k) or floor(a_k) + 1 with mean a_k (a_k <= 1 is sampling at rate a_k). By
default the guarantee is the exact product of docs/proof.md. For the Poisson blanket the server estimates w_j =
(C_j - n m/d)/N with N = sum_k n_k a_k.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from segshuffle.accounting.collections.product import check_product
from segshuffle.blankets.base import COPIES_RANGE
from segshuffle.blankets.named import laws
from segshuffle.blankets.singles import SINGLES
from segshuffle.errors import ParameterError
from segshuffle.numerics.ranges import (
    LARGEST_BLANKET,
    check_choice,
    check_flag,
    check_positive,
    check_within,
)
from segshuffle.plans.method import CopiesAndDummies, MethodEntry
from segshuffle.plans.plan import Plan, Problem
from segshuffle.plans.planner import Search, fewest_messages, least_error
from segshuffle.plans.targets import error_of_all
from segshuffle.plans.weights import ErrorTerms

#: The simplest law: single dummies.
SINGLE = SINGLES.name
#: Largest error of a law with fewer messages, divided by the error with single dummies.
SLACK = 1.05


@dataclass(frozen=True)
class ProvenSegmented(CopiesAndDummies):
    """The segmented protocol with proven accounting.

    Parameters
    ----------
    blanket_per_user : float or None
        Expected dummies per user m, of the first law; None searches for m and the law.
    copies_max : float
        Largest expected copies a_k per held item, in [1e-120, 64]; 1 is the sampling of the paper.
    max_messages : float or None
        Budget of expected messages per user, dummies and copies together; the plan has the least error within it.
    group_privacy : bool
        Compute the guarantee from that of one item by group privacy (sound, not tight), not by the exact product.
    equal_copies : bool
        Let users of all levels send the same number of copies. The estimates are then unbiased even if levels depend on
        items (`plans.item_variance`), but have the error of the lowest level.
    target_error : float or None
        Largest error; the plan has about the fewest messages for it.
    laws : tuple of str
        Names of the laws of dummies to choose from, the simplest first.
    measure : ErrorTerms or None
        The error that is minimised or bounded, for dummies with variance 1; None for the squared error of all items,
        which are then taken as equally frequent.

    Raises
    ------
    ParameterError
        If an option is outside its range, both a budget and an error are given, or m for a law with parameters.
    """

    blanket_per_user: float | None = None
    copies_max: float = 1.0
    max_messages: float | None = None
    group_privacy: bool = False
    equal_copies: bool = False
    target_error: float | None = None
    laws: tuple[str, ...] = (SINGLE,)
    measure: ErrorTerms | None = None

    def __post_init__(self) -> None:
        check_within("copies_max", self.copies_max, *COPIES_RANGE)
        check_flag("equal_copies", self.equal_copies)
        if self.blanket_per_user is not None:
            check_within("blanket_per_user", self.blanket_per_user, 0, LARGEST_BLANKET, "(]")
        for name in ("max_messages", "target_error"):
            if (value := getattr(self, name)) is not None:
                check_positive(name, value)
        if self.max_messages is not None and self.target_error is not None:
            raise ParameterError("target_error", self.target_error, "left out if max_messages is given")
        for name in self.laws:
            check_choice("dummies", name, laws())
        if self.blanket_per_user is not None and laws()[self.laws[0]].parameters():
            allowed = f"left out for {self.laws[0]} dummies: the search chooses it with their other parameters"
            raise ParameterError("blanket_per_user", self.blanket_per_user, allowed)

    @property
    def name(self) -> str:
        """Identifier of the variant."""
        law = self.laws[-1]
        if len(self.laws) > 1:
            return law if len(self.laws) == 2 else "best"
        if self.group_privacy:
            return f"{law}-group"
        if self.equal_copies:
            return f"{law}-equal"
        return law if self.copies_max <= 1 else f"{law}-copies"

    def searches(self, problem: Problem) -> list[Search]:
        """Return a search for each law."""
        measure = self.measure or error_of_all(problem)
        options = (self.copies_max, measure, self.equal_copies, self.group_privacy)
        return [Search(problem, laws()[name], *options) for name in self.laws]

    def plan(self, problem: Problem) -> Plan:
        """Fix m and all a_k jointly, and certify every level.

        Raises
        ------
        InfeasibleError
            If nothing can be sent within the budget, or no number of messages reaches the error.
        ParameterError
            If a delta is below 1e-110.
        """
        for delta in problem.deltas:
            check_product(delta=delta)
        return replace(self._plan(self.searches(problem)), method=self.name)

    def plans_within(self, problem: Problem, budgets: Sequence[float]) -> list[Plan]:
        """Plan for the least error within each of several budgets, in any order: what one needs serves larger ones."""
        searches = self.searches(problem)
        plans = {budget: replace(least_error(searches, budget), method=self.name) for budget in sorted(budgets)}
        return [plans[budget] for budget in budgets]

    def _plan(self, searches: list[Search]) -> Plan:
        first, budget = searches[0], self.max_messages or math.inf
        if self.blanket_per_user is not None:
            return first.certified_plan(first.law(), self.blanket_per_user, budget)
        if self.target_error is not None:
            return fewest_messages(searches, self.target_error)
        if self.max_messages is None and len(searches) == 2 and not searches[-1].law.spends:
            return fewest_messages(searches, SLACK * first.error_of(least_error(searches[:1])))
        return least_error(searches, budget)


def expected_seconds(problem: Problem) -> float:
    """Estimate how long a plan with the Poisson blanket takes, in seconds of a processor (AMD EPYC).

    The formula is fitted to measured runs. A level is calibrated on a lattice that grows with the number of pairs.
    """
    return len(problem.levels) * (0.022 + 0.003 * math.sqrt(problem.pairs))


METHODS = (
    MethodEntry(
        "poisson-group",
        lambda _: ProvenSegmented(group_privacy=True),
        accounting="proven",
        role="curve",
        rows=("grid", "best"),
        # poisson-copies has no larger error
        compared=(),
    ),
    MethodEntry(
        "poisson",
        lambda _: ProvenSegmented(),
        accounting="proven",
        role="curve",
        rows=("grid", "best", "budget", "projected"),
        compared=(),
    ),
    MethodEntry(
        "poisson-copies",
        lambda options: ProvenSegmented(copies_max=float(options["copies_max"])),
        accounting="proven",
        role="curve",
        # no "best": without a budget a plan would take as many copies as are allowed
        rows=("grid", "budget"),
    ),
    MethodEntry(
        "poisson-equal",
        lambda _: ProvenSegmented(equal_copies=True),
        accounting="proven",
        role="variant",
        rows=("grid", "best"),
        compared=(),
    ),
    *(
        MethodEntry(
            name,
            lambda options, name=name: ProvenSegmented(  # type: ignore[misc]
                copies_max=float(options["copies_max"]), laws=(SINGLE, name)
            ),
            accounting="proven",
            role="compared",
        )
        for name in list(laws())[1:]
    ),
)
