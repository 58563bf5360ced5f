"""Balls into bins: a multi-message protocol for one privacy level, used for all users (MM) or per level (SepMM).

Every user sends each held item, and m uniform blanket messages on average. Two published analyses determine m
(`balls_into_bins_proven` has a proven one):

- "numerical": the variation-ratio pair at sampling rate 1 with group privacy over the s items;
- "closed-form": the original balls-into-bins bound per item, n m = 32 ln(2/delta') d/eps'^2, with the same group
  privacy (eps' = eps/s, delta' = delta/(s exp(eps))).
"""

import math
from dataclasses import dataclass, replace
from typing import ClassVar

from segshuffle.accounting.collections.published import item_target, least_blanket_per_user
from segshuffle.blankets.base import Blanket
from segshuffle.blankets.binomial import BINOMIAL
from segshuffle.digits import added, rounded_up
from segshuffle.errors import ParameterError
from segshuffle.numerics.ranges import check_choice
from segshuffle.plans.method import CopiesAndDummies, MethodEntry
from segshuffle.plans.plan import Plan, Problem, collection_of
from segshuffle.plans.scheme import Collection

_NAMES = ("mm", "sepmm", "weighted-sepmm", "inverse-variance-sepmm")


@dataclass(frozen=True)
class BallsIntoBins(CopiesAndDummies):
    """MM: all users have the lowest level. SepMM: one collection per level, with the delta of the whole population.

    Parameters
    ----------
    analysis : str
        "numerical" or "closed-form".
    name : str
        "mm", or how SepMM averages the levels' estimates: all alike ("sepmm"), by 1/sqrt(d s^2 ln(1/delta)/(n E_k)^2
        + s/n) ("weighted-sepmm"), or by the inverse of the variance, the sampling of the level's users included
        ("inverse-variance-sepmm", not in the paper).
    weight_users : str
        What n is in the weights of "weighted-sepmm": the users of the "level", or "all" users.
    """

    analysis: str = "numerical"
    name: str = "mm"
    weight_users: str = "level"
    #: Kind of the numbers, what the analysis covers beyond plain assumptions, and the law of the dummies.
    kind: ClassVar[str] = "published"
    covered: ClassVar[tuple[str, ...]] = ()
    law: ClassVar[Blanket] = BINOMIAL

    def __post_init__(self) -> None:
        check_choice("analysis", self.analysis, ("numerical", "closed-form"))
        check_choice("name", self.name, _NAMES)
        check_choice("weight_users", self.weight_users, ("level", "all"))

    def plan(self, problem: Problem) -> Plan:
        """Fix m, and the weight of every collection if there are several.

        The honest fraction is assumed within every collection, a stronger assumption than for all users together.
        """
        problem.assumptions.refuse_beyond_plain(self.name, covered=self.covered)
        if problem.assumptions.private_levels and self.name != "mm":
            # who changes the level changes the collection, which no analysis covers
            raise ParameterError("private_levels", True, f"False for {self.name}, with a collection for every level")
        levels = range(len(problem.levels))
        groups = [tuple(levels)] if self.name == "mm" else [(level,) for level in levels if problem.level_counts[level]]
        unscaled = [self._collection(problem, group) for group in groups]
        total = added(each.weight for each in unscaled)
        collections = tuple(replace(each, weight=each.weight / total) for each in unscaled)
        sent = [(each.weight, each.announcement.n_users, each.announcement.blanket_per_user) for each in collections]
        blanket = added(m * (n / problem.n_users) for _, n, m in sent)
        return Plan(
            method=self.name,
            problem=problem,
            kind=self.kind,
            blanket_per_user=blanket,
            messages_per_user=blanket + problem.set_size,
            collections=collections,
            mse_bound=added(weight**2 * (m + problem.set_size) / n for weight, n, m in sent),
        )

    def _collection(self, problem: Problem, levels: tuple[int, ...]) -> Collection:
        """Return the collection of some levels, all with the lowest of them; its weight is right up to a factor."""
        n, epsilon = sum(problem.level_counts[level] for level in levels), problem.levels[levels[0]]
        m = self.least_blanket(problem, epsilon, problem.assumptions.honest_of(n))
        d, s, _ = problem.sizes
        weight = n / (m + s) if self.name == "inverse-variance-sepmm" else 1.0
        if self.name == "weighted-sepmm":
            users = n if self.weight_users == "level" else problem.n_users
            weight = 1.0 / math.sqrt(d * s**2 * math.log(1 / problem.delta) / (users * epsilon) ** 2 + s / users)
        return collection_of(problem, (1.0,) * len(problem.levels), m, self.law, levels, weight)

    def least_blanket(self, problem: Problem, epsilon: float, n_users: int) -> float:
        """Return the least expected blanket per user that gives epsilon if every item is sent, rounded up.

        `n_users` is the number of users who certainly send their blanket.
        """
        (d, s, _), delta = problem.sizes, problem.delta
        if self.analysis == "numerical":
            blanket = least_blanket_per_user(domain_size=d, set_size=s, n_users=n_users, epsilon=epsilon, delta=delta)
            return rounded_up(blanket)
        item_epsilon, item_delta = item_target(epsilon=epsilon, delta=delta, set_size=s)
        return rounded_up(32.0 * math.log(2.0 / item_delta) * d / (item_epsilon**2 * n_users))


OPTIONS = {
    "analysis": {
        "description": "Analysis that fixes the blanket of the published methods",
        "enum": ["numerical", "closed-form"],
        "default": "numerical",
    },
    "weight_users": {
        "description": "What n is in the weights of weighted-sepmm: the users of the level, or all users",
        "enum": ["level", "all"],
        "default": "level",
    },
}
METHODS = (
    MethodEntry(
        "mm",
        lambda options: BallsIntoBins(options["analysis"]),
        in_paper=True,
    ),
    MethodEntry(
        "sepmm",
        lambda options: BallsIntoBins(options["analysis"], "sepmm"),
        in_paper=True,
    ),
    MethodEntry(
        "weighted-sepmm",
        lambda options: BallsIntoBins(options["analysis"], "weighted-sepmm", options["weight_users"]),
        in_paper=True,
    ),
    MethodEntry(
        "inverse-variance-sepmm",
        lambda options: BallsIntoBins(options["analysis"], "inverse-variance-sepmm"),
    ),
)
