"""Balls-into-bins, the multi-message protocol for one privacy level, alone (MM) or once per level (SepMM).

Every user sends each held item and m uniform blanket messages in expectation. Three analyses fix m:

- "numerical": the variation-ratio pair at sampling rate 1 with group privacy over the s items (kind: published);
- "closed-form": the original balls-into-bins bound per item, n m = 32 ln(2/delta') d/eps'^2, with the same group
  privacy (eps' = eps/s, delta' = delta/(s exp(eps)));
- "proven": the exact product of docs/proof.md, for a Poisson blanket (kind: exact).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from segshuffle.accounting.collections.calibration import least_blanket_mean
from segshuffle.accounting.collections.published import item_target, least_blanket_per_user
from segshuffle.accounting.numerics.ranges import check_choice
from segshuffle.blankets.base import BLANKET_MEAN_RANGE
from segshuffle.blankets.binomial import BINOMIAL
from segshuffle.blankets.poisson import POISSON
from segshuffle.digits import rounded_up
from segshuffle.looks import DASHES, PALETTE, Look
from segshuffle.protocols.base import Plan, Problem, collection_of, exchanged_items
from segshuffle.protocols.method import Collected, Declared

#: How the levels' estimates are weighed, and what that is called.
_NAMES = {"plain": "sepmm", "published": "weighted-sepmm", "inverse-variance": "inverse-variance-sepmm"}


def least_blanket(problem: Problem, epsilon: float, n_users: int, analysis: str) -> float:
    """Least expected blanket per user that gives epsilon with every item sent, by the named analysis.

    `n_users` are those whose blanket can be relied on.
    """
    check_choice("analysis", analysis, ("numerical", "closed-form", "proven"))
    domain_size, set_size, delta = problem.domain_size, problem.set_size, problem.delta
    if analysis == "numerical":
        blanket = least_blanket_per_user(
            domain_size=domain_size, set_size=set_size, n_users=n_users, epsilon=epsilon, delta=delta
        )
        return rounded_up(blanket)
    if analysis == "closed-form":
        item_epsilon, item_delta = item_target(epsilon=epsilon, delta=delta, set_size=set_size)
        return rounded_up(32.0 * math.log(2.0 / item_delta) * domain_size / (item_epsilon**2 * n_users))
    pairs = exchanged_items(domain_size, set_size)
    mean = least_blanket_mean(copies=1.0, pairs=pairs, epsilon=epsilon, delta=delta) if pairs else BLANKET_MEAN_RANGE[0]
    return rounded_up(mean * domain_size / n_users)


class _EveryItem(Collected):
    """Users who send every item, one way or another."""

    name: str
    analysis: str

    def refuse(self, problem: Problem) -> None:
        """Refuse assumptions beyond plain ones, but that a blanket of honest users alone is a smaller Poisson one."""
        covered = ("honest_fraction",) if self.analysis == "proven" else ()
        problem.assumptions.refuse_beyond_plain(self.name, covered=covered)

    def planned(
        self, problem: Problem, blanket: float, sent: Iterable[tuple[int | None, float, float]], bound: float
    ) -> Plan:
        """Return the plan of collections of one level or all, with so many dummies per user and that weight."""
        proven, everything = self.analysis == "proven", (1.0,) * len(problem.levels)
        law = POISSON if proven else BINOMIAL
        return Plan(
            method=self.name,
            problem=problem,
            kind="exact" if proven else "published",
            blanket_per_user=blanket,
            messages_per_user=blanket + problem.set_size,
            collections=tuple(
                collection_of(problem, everything, m, law, only=level, weight=weight) for level, m, weight in sent
            ),
            mse_bound=bound,
        )


@dataclass(frozen=True)
class BallsIntoBins(_EveryItem):
    """MM: all users at the most conservative level.

    Parameters
    ----------
    analysis : str
        "numerical" or "closed-form" (published), or "proven".
    """

    analysis: str = "numerical"
    name = "mm"

    def plan(self, problem: Problem) -> Plan:
        """Fix m for the lowest level and all users."""
        self.refuse(problem)
        blanket = least_blanket(problem, problem.levels[0], problem.honest_users, self.analysis)
        bound = (blanket + problem.set_size) / problem.n_users
        return self.planned(problem, blanket, [(None, blanket, 1.0)], bound)


@dataclass(frozen=True)
class SeparateBallsIntoBins(_EveryItem):
    """SepMM: balls-into-bins inside each level, with delta of the whole population; the estimates are averaged.

    Parameters
    ----------
    weights : str
        "plain" (SepMM), "published" (Weighted SepMM: 1/sqrt(d s^2 ln(1/delta)/(n_k E_k)^2 + s/n_k), normalised), or
        "inverse-variance" (not in the paper: the variance includes the sampling of the level's users).
    analysis : str
        "numerical" or "closed-form" (published), or "proven".
    """

    weights: str = "plain"
    analysis: str = "numerical"

    def __post_init__(self) -> None:
        check_choice("weights", self.weights, _NAMES)

    @property
    def name(self) -> str:  # type: ignore[override]
        """Identifier of the variant."""
        return _NAMES[self.weights]

    def plan(self, problem: Problem) -> Plan:
        """Fix m_k and the weight of every level; levels nobody chose have no collection.

        An honest fraction is relied on within every level, which is more than is asked of all users together.
        """
        self.refuse(problem)
        found = [
            (k, n, least_blanket(problem, level, problem.assumptions.honest_of(n), self.analysis))
            for k, (level, n) in enumerate(zip(problem.levels, problem.level_counts, strict=True))
            if n
        ]
        raw = np.array([self._weight(problem, k, m) for k, _, m in found])
        weights = (raw / raw.sum()).tolist()
        bound = sum(w**2 * (m + problem.set_size) / n for w, (_, n, m) in zip(weights, found, strict=True))
        sent = [(k, m, w) for w, (k, _, m) in zip(weights, found, strict=True)]
        return self.planned(problem, sum(n * m for _, n, m in found) / problem.n_users, sent, bound)

    def _weight(self, problem: Problem, level: int, blanket: float) -> float:
        n_k, s = problem.level_counts[level], problem.set_size
        if self.weights == "plain":
            return 1.0
        if self.weights == "published":
            noise = problem.domain_size * s**2 * math.log(1 / problem.delta) / (n_k * problem.levels[level]) ** 2
            return 1.0 / math.sqrt(noise + s / n_k)
        return n_k / (blanket + s)


OPTIONS = {
    "analysis": {
        "description": "Analysis that fixes the blanket of the published methods",
        "enum": ["numerical", "closed-form"],
        "default": "numerical",
    }
}
METHODS = (
    Declared(
        "mm",
        Look("MM, shuffle", PALETTE["sky"], "^", DASHES[3]),
        lambda options: BallsIntoBins(options["analysis"]),
        in_paper=True,
    ),
    Declared(
        "sepmm",
        Look("SepMM, shuffle", PALETTE["green"], "D", DASHES[4]),
        lambda options: SeparateBallsIntoBins("plain", options["analysis"]),
        in_paper=True,
    ),
    Declared(
        "weighted-sepmm",
        Look("Weighted SepMM, shuffle", PALETTE["vermilion"], "P", DASHES[5]),
        lambda options: SeparateBallsIntoBins("published", options["analysis"]),
        in_paper=True,
    ),
    Declared(
        "inverse-variance-sepmm",
        Look("SepMM, inverse variance (not in the paper)", PALETTE["blue"], "X", DASHES[6]),
        lambda options: SeparateBallsIntoBins("inverse-variance", options["analysis"]),
    ),
    Declared(
        "mm",
        Look("MM (proven)", PALETTE["sky"], "^", DASHES[3]),
        lambda _: BallsIntoBins("proven"),
        accounting="proven",
    ),
    Declared(
        "sepmm",
        Look("SepMM (proven)", PALETTE["green"], "D", DASHES[4]),
        lambda _: SeparateBallsIntoBins("plain", "proven"),
        accounting="proven",
    ),
    Declared(
        "weighted-sepmm",
        Look("Weighted SepMM (proven)", PALETTE["vermilion"], "P", DASHES[5]),
        lambda _: SeparateBallsIntoBins("published", "proven"),
        accounting="proven",
    ),
    Declared(
        "inverse-variance-sepmm",
        Look("SepMM, inverse variance (proven)", PALETTE["olive"], "X", DASHES[6]),
        lambda _: SeparateBallsIntoBins("inverse-variance", "proven"),
        accounting="proven",
    ),
)
