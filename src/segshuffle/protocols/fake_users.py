"""Histograms from fake users (Cheu and Zhilyaev, IEEE S&P 2022): vectors of flipped bits, some of them fake.

A user sends a vector for every held item: the d bits of its one-hot code, each flipped with probability q. It also
sends k fake vectors, zeros flipped in the same way. A counter N_j is the sum of a column. The estimate of a frequency
is (N_j - n (k + s) q)/(n (1 - 2 q)), with variance (k + s) q (1 - q)/(n (1 - 2 q)^2). The paper has s = 1, and the
condition q (1 - q) >= 33/(5 n k) ((e^eps + 1)/(e^eps - 1))^2 ln(4/delta), as a public program states it.

One vector for a whole set would be less private: the items that two sets share would mark the vector in which they
differ. With one vector per item (docs/proof.md), t = min(s, d - s) exchanged items count as

- published: t exchanges of one item among all fakes, by group privacy;
- proven: t independent pairs of columns (`flipped_bits`), each among its own share of the fakes.

All users have the guarantee of the lowest level. A vector has d bits.
"""

import math
from dataclasses import dataclass

import numpy as np

from segshuffle.accounting.collections.flipped_bits import least_flip, published_flips
from segshuffle.accounting.collections.published import exchange_target
from segshuffle.arrays import FloatArray
from segshuffle.digits import rounded_up
from segshuffle.numerics.ranges import check_integer
from segshuffle.plans.method import IndependentCounters, Influence, MethodEntry
from segshuffle.plans.plan import Plan, Problem, Sample


@dataclass(frozen=True)
class FakeUsers(IndependentCounters):
    """The protocol with everybody at the lowest level.

    Parameters
    ----------
    fakes_per_user : int
        k >= 1. If k vectors are too few for the guarantee, more are used.
    accounting : {"published", "proven"}
        Which flip probability is used.
    """

    fakes_per_user: int = 1
    accounting: str = "published"
    name = "fake-users"

    def __post_init__(self) -> None:
        check_integer("fakes_per_user", self.fakes_per_user, 1, most=1_000_000)

    def plan(self, problem: Problem) -> Plan:
        """Fix k and q for the lowest level and all users."""
        problem.assumptions.refuse_beyond_plain(self.name)
        epsilon, delta, pairs = problem.levels[0], problem.delta, max(problem.pairs, 1)
        if self.accounting == "proven":
            fakes = max(self.fakes_per_user, math.ceil(pairs / problem.n_users))
            share = fakes * problem.n_users // pairs
            flip = least_flip(fakes=share, pairs=pairs, epsilon=epsilon, delta=delta)
        else:
            target = exchange_target(epsilon=epsilon, delta=delta, pairs=pairs)
            fakes, flip = published_flips(problem.n_users, *target, least=self.fakes_per_user)
        flip, vectors = rounded_up(flip), fakes + problem.set_size
        error = problem.domain_size * vectors * flip * (1 - flip) / (problem.n_users * (1 - 2 * flip) ** 2)
        return Plan(
            method=self.name,
            problem=problem,
            # not exact: the flips of the other users' vectors also hide a little, and are left out
            kind="upper" if self.accounting == "proven" else "published",
            blanket_per_user=float(fakes),
            messages_per_user=float(vectors),
            parameters={"epsilon": epsilon, "flip": flip, "bits_per_message": problem.domain_size},
            mse_bound=error,
        )

    def simulate(self, plan: Plan, sample: Sample, rng: np.random.Generator) -> FloatArray:
        """Draw each column on its own: the vectors of its holders, of all others, and the fakes."""
        flip, n_users, shape = plan.parameters["flip"], sample.n_users, (sample.repetitions, sample.domain_size)
        vectors = n_users * int(plan.messages_per_user)
        held = rng.binomial(sample.item_counts, 1 - flip, size=shape)
        ones = held + rng.binomial(vectors - sample.item_counts, flip, size=shape)
        return np.asarray((ones - vectors * flip) / (n_users * (1 - 2 * flip)))

    def influence(self, plan: Plan) -> Influence:
        """Return the influence of a liar who chooses every bit of every vector."""
        (d, s, n), flip = plan.problem.sizes, plan.parameters["flip"]
        vectors, weight = plan.messages_per_user, n * (1 - 2 * flip)
        free, held = vectors * flip, 1 - flip + (vectors - 1) * flip
        moved = [max(vectors - mean, mean) for mean in (free, held)]
        return Influence(vectors, max(moved) / weight, ((d - s) * moved[0] + s * moved[1]) / weight)


OPTIONS = {
    "fakes_per_user": {
        "description": "Fake vectors k of every user; more are sent if the guarantee needs more.",
        "type": "integer",
        "minimum": 1,
        "maximum": 1000000,
        "default": 1,
    }
}
#: What comparisons of all protocols try.
_COMPARED = tuple({"fakes_per_user": fakes} for fakes in (1, 2, 4, 8, 16))

METHODS = (
    MethodEntry(
        "fake-users",
        lambda options: FakeUsers(options["fakes_per_user"]),
        compared=_COMPARED,
    ),
    MethodEntry(
        "fake-users",
        lambda options: FakeUsers(options.get("fakes_per_user", 1), "proven"),
        accounting="proven",
        role="compared",
        compared=_COMPARED,
    ),
)
