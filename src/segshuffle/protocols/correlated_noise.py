"""Private counting by correlated noise (Ghazi, Kumar, Manurangsi and Pagh, 2020; Ghazi et al., ICML 2021).

Every item has its own counter. A user sends (item, +) for every item that it holds. For every item of the domain it
also sends its share of negative-binomial noise: NB(1/n, p) messages +, and independently NB(1/n, p) messages -.
Over all users their difference has the discrete Laplace law exp(-eps* |z|). In addition it sends NB(r/n, p') pairs of
one + and one -, a *flood* that cancels in the estimate and hides N+ and N-, the numbers of + and of -. The estimate is
(N+ - N-)/n.

Published: with eps_c = eps/(2 t) and delta_c = delta/(2 t) for each of the 2 t counters in which two sets differ, and a
share gamma of epsilon for the flood, eps* = (1 - gamma) eps_c, p = e^(-eps*), r = 3 (1 + ln(1/delta_c)),
p' = e^(-0.2 min(1, gamma eps_c)). These are the 2021 paper's numbers for sums of bits, as a public program states them.
All users have the lowest level.
"""

import math
from dataclasses import dataclass

import numpy as np

from segshuffle.arrays import FloatArray
from segshuffle.digits import rounded_up
from segshuffle.numerics.ranges import check_within
from segshuffle.plans.method import IndependentCounters, Influence, MethodEntry
from segshuffle.plans.plan import Plan, Problem, Sample


@dataclass(frozen=True)
class CorrelatedNoise(IndependentCounters):
    """The protocol with everybody at the lowest level.

    Parameters
    ----------
    flood_share : float
        gamma in (0, 1), the share of epsilon for the flood. A smaller share gives a smaller error and more messages.
    """

    flood_share: float = 0.1
    name = "correlated-noise"

    def __post_init__(self) -> None:
        check_within("flood_share", self.flood_share, 0, 1, "()")

    def plan(self, problem: Problem) -> Plan:
        """Fix both noises for the lowest level and all users."""
        problem.assumptions.refuse_beyond_plain(self.name)
        changed = 2 * max(problem.pairs, 1)
        epsilon, delta = problem.levels[0] / changed, problem.delta / changed
        odds = rounded_up(math.exp(-(1 - self.flood_share) * epsilon))
        flood_odds = rounded_up(math.exp(-0.2 * min(1.0, self.flood_share * epsilon)))
        flood_shape = rounded_up(3 * (1 + math.log(1 / delta)))
        # twice the means of two negative binomial laws, of noise and of flood
        per_item = 2 * odds / (1 - odds) + 2 * flood_shape * flood_odds / (1 - flood_odds)
        blanket = rounded_up(problem.domain_size * per_item / problem.n_users)
        return Plan(
            method=self.name,
            problem=problem,
            kind="published",
            blanket_per_user=blanket,
            messages_per_user=blanket + problem.set_size,
            parameters={
                "epsilon": problem.levels[0],
                "odds": odds,
                "flood_odds": flood_odds,
                "flood_shape": flood_shape,
                "bits_per_message": 1 + math.ceil(math.log2(problem.domain_size)),
            },
            mse_bound=problem.domain_size * 2 * odds / ((1 - odds) * problem.n_users) ** 2,
        )

    def simulate(self, plan: Plan, sample: Sample, rng: np.random.Generator) -> FloatArray:
        """Draw counts plus the difference of two geometric counts; the flood cancels."""
        shape = (2, sample.repetitions, sample.domain_size)
        plus, minus = rng.geometric(1 - plan.parameters["odds"], size=shape)
        return np.asarray((sample.item_counts + plus - minus) / sample.n_users)

    def influence(self, _plan: Plan) -> Influence:
        """Return infinity: the number of dummies has no maximum."""
        return Influence(math.inf, math.inf, math.inf)


OPTIONS = {
    "flood_share": {
        "description": "Share of epsilon for the flood: a smaller share gives a smaller error and more messages.",
        "type": "number",
        "exclusiveMinimum": 0,
        "exclusiveMaximum": 1,
        "default": 0.1,
    }
}
METHODS = (
    MethodEntry(
        "correlated-noise",
        lambda options: CorrelatedNoise(options["flood_share"]),
        compared=tuple({"flood_share": share} for share in (0.03, 0.1, 0.3, 0.6)),
    ),
)
