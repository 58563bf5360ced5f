"""Augmented shuffling (Murakami, Sei and Eriguchi, 2025), protocol S1Geo: the shuffler also adds noise.

Users send their items unchanged, encrypted. Before the server sees anything, the *shuffler* keeps each item with
probability beta, and adds a geometric number of dummies, Pr[z] = (1 - q) q^z, to every item's counter. Users must trust
it to do this, and not only to shuffle. A counter's law changes by a factor of at most e^eps' in either direction for

    beta = 1 - e^(-eps'),  q = 1/(1 + e^eps').

Two users' sets differ in at most 2 t counters, t = min(s, d - s), so eps' = eps/(2 t) gives pure epsilon. The expected
squared error is s (1 - beta)/(beta n) + d q/((1 - q)^2 beta^2 n^2). All users have the lowest level.
"""

import math
from dataclasses import dataclass

import numpy as np

from segshuffle.arrays import FloatArray
from segshuffle.digits import rounded_down, rounded_up
from segshuffle.plans.method import IndependentCounters, Influence, MethodEntry
from segshuffle.plans.plan import Plan, Problem, Sample


@dataclass(frozen=True)
class AugmentedShuffling(IndependentCounters):
    """S1Geo: the shuffler samples and adds dummies."""

    name = "augmented-shuffling"

    def plan(self, problem: Problem) -> Plan:
        """Fix beta and q for the lowest level; delta is not used."""
        problem.assumptions.refuse_beyond_plain(self.name)
        share = problem.levels[0] / (2 * max(problem.pairs, 1))
        kept, odds = rounded_down(-math.expm1(-share)), rounded_up(1 / (1 + math.exp(share)))
        d, s, n = problem.sizes
        dummies = rounded_up(d * odds / (1 - odds) / n)
        return Plan(
            method=self.name,
            problem=problem,
            # pure epsilon: the allowed delta is not used
            kind="upper",
            blanket_per_user=dummies,
            messages_per_user=float(s),
            parameters={"epsilon": problem.levels[0], "kept": kept, "odds": odds},
            mse_bound=(n * s * kept * (1 - kept) + d * odds / (1 - odds) ** 2) / (kept * n) ** 2,
        )

    def simulate(self, plan: Plan, sample: Sample, rng: np.random.Generator) -> FloatArray:
        """Draw how many messages of each item are kept, and its dummies."""
        kept, odds, shape = plan.parameters["kept"], plan.parameters["odds"], (sample.repetitions, sample.domain_size)
        counts = rng.binomial(sample.item_counts, kept, size=shape) + rng.geometric(1 - odds, size=shape) - 1
        return np.asarray((counts - odds / (1 - odds)) / (kept * sample.n_users))

    def influence(self, plan: Plan) -> Influence:
        """Return the influence of a liar who sends all s messages about one item; dummies come from the shuffler."""
        return Influence.of_messages(plan.problem, plan.problem.n_users, plan.problem.set_size, 0.0, 1.0)


METHODS = (
    MethodEntry(
        "augmented-shuffling",
        lambda _: AugmentedShuffling(),
        accounting="proven",
        role="compared",
        shuffle_model=False,
    ),
)
