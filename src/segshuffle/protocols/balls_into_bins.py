"""Balls-into-bins, the multi-message protocol for one privacy level, alone (MM) or once per level (SepMM).

Every user sends each held item and m uniform blanket messages in expectation. Three analyses fix m:

- "numerical": the variation-ratio pair at sampling rate 1 with group privacy over the s items (kind: published);
- "closed-form": the original balls-into-bins bound per item, n m = 32 ln(2/delta') d/eps'^2, with the same group
  privacy (eps' = eps/s, delta' = delta/(s exp(eps)));
- "proven": the exact product of docs/proof.md, for a Poisson blanket (kind: exact).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from segshuffle.accounting.collections.calibration import least_blanket_mean
from segshuffle.accounting.collections.published import item_target, least_blanket_per_user
from segshuffle.blankets.base import BLANKET_MEAN_RANGE, Dummies
from segshuffle.blankets.binomial import BINOMIAL
from segshuffle.blankets.poisson import POISSON
from segshuffle.digits import rounded_up
from segshuffle.errors import ParameterError
from segshuffle.looks import DASHES, PALETTE, Look
from segshuffle.protocols.base import Plan, Problem, collection_of, exchanged_items
from segshuffle.protocols.collected import Collected
from segshuffle.protocols.declared import Declared

ANALYSES = ("numerical", "closed-form", "proven")
SMALLEST_MEAN = BLANKET_MEAN_RANGE[0]
WEIGHTS = ("plain", "published", "inverse-variance")


def least_blanket(
    *, domain_size: int, set_size: int, n_users: int, epsilon: float, delta: float, analysis: str
) -> float:
    """Least expected blanket per user that gives (epsilon, delta) with every item sent, by the named analysis.

    `n_users` are those whose blanket can be relied on.
    """
    if analysis == "numerical":
        blanket = least_blanket_per_user(
            domain_size=domain_size, set_size=set_size, n_users=n_users, epsilon=epsilon, delta=delta
        )
        return rounded_up(blanket)
    if analysis == "closed-form":
        item_epsilon, item_delta = item_target(epsilon=epsilon, delta=delta, set_size=set_size)
        return rounded_up(32.0 * math.log(2.0 / item_delta) * domain_size / (item_epsilon**2 * n_users))
    if analysis == "proven":
        pairs = exchanged_items(domain_size, set_size)
        mean = least_blanket_mean(copies=1.0, pairs=pairs, epsilon=epsilon, delta=delta) if pairs else SMALLEST_MEAN
        return rounded_up(mean * domain_size / n_users)
    raise ParameterError("analysis", analysis, f"one of {', '.join(ANALYSES)}")


@dataclass(frozen=True)
class BallsIntoBins(Collected):
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
        problem.assumptions.refuse_beyond_plain(self.name, covered=_covered(self.analysis))
        blanket = least_blanket(
            domain_size=problem.domain_size,
            set_size=problem.set_size,
            n_users=problem.honest_users,
            epsilon=problem.levels[0],
            delta=problem.delta,
            analysis=self.analysis,
        )
        return Plan(
            method=self.name,
            problem=problem,
            kind=_kind(self.analysis),
            blanket_per_user=blanket,
            messages_per_user=blanket + problem.set_size,
            collections=(collection_of(problem, (1.0,) * len(problem.levels), blanket, _law(self.analysis)),),
            mse_bound=(blanket + problem.set_size) / problem.n_users,
        )


def _covered(analysis: str) -> tuple[str, ...]:
    """Assumptions beyond plain ones: a blanket of the honest users alone is a smaller Poisson blanket."""
    return ("honest_fraction",) if analysis == "proven" else ()


def _kind(analysis: str) -> str:
    return "exact" if analysis == "proven" else "published"


def _law(analysis: str) -> Dummies:
    return POISSON if analysis == "proven" else BINOMIAL


@dataclass(frozen=True)
class SeparateBallsIntoBins(Collected):
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
    name: str = field(init=False)

    def __post_init__(self) -> None:
        names = {
            "plain": "sepmm",
            "published": "weighted-sepmm",
            "inverse-variance": "inverse-variance-sepmm",
        }
        if self.weights not in names:
            raise ParameterError("weights", self.weights, f"one of {', '.join(WEIGHTS)}")
        object.__setattr__(self, "name", names[self.weights])

    def plan(self, problem: Problem) -> Plan:
        """Fix m_k and the weight of every level; levels nobody chose get weight 0.

        An honest fraction is relied on within every level, which is more than is asked of all users together.
        """
        problem.assumptions.refuse_beyond_plain(self.name, covered=_covered(self.analysis))
        active = [k for k, count in enumerate(problem.level_counts) if count > 0]
        blankets = [0.0] * len(problem.levels)
        for k in active:
            blankets[k] = least_blanket(
                domain_size=problem.domain_size,
                set_size=problem.set_size,
                n_users=problem.assumptions.honest_of(problem.level_counts[k]),
                epsilon=problem.levels[k],
                delta=problem.delta,
                analysis=self.analysis,
            )
        raw = np.array([self._weight(problem, k, blankets[k]) if k in active else 0.0 for k in range(len(blankets))])
        weights = raw / raw.sum()
        counts = np.asarray(problem.level_counts, dtype=float)
        per_user = float(counts @ np.asarray(blankets)) / problem.n_users
        bound = sum(weights[k] ** 2 * (blankets[k] + problem.set_size) / counts[k] for k in active)
        everything, law = (1.0,) * len(problem.levels), _law(self.analysis)
        return Plan(
            method=self.name,
            problem=problem,
            kind=_kind(self.analysis),
            blanket_per_user=per_user,
            messages_per_user=per_user + problem.set_size,
            collections=tuple(
                collection_of(problem, everything, blankets[k], law, only=k, weight=float(weights[k])) for k in active
            ),
            mse_bound=float(bound),
        )

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
