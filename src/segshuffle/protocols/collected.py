"""One simulation and one closed form of the error for all protocols whose users send copies of their items."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from segshuffle.arrays import FloatArray, IntArray
from segshuffle.protocols.base import Plan, Sample, assignment_variance
from segshuffle.protocols.scheme import Scheme


class _Share(NamedTuple):
    """What one collection adds to the estimates."""

    scheme: Scheme
    counts: FloatArray
    """Users of every level who take part, shape (n_levels,)."""
    weight: float
    """Of its estimates in those of all."""

    @property
    def factor(self) -> float:
        """What one message about an item adds to its estimated share."""
        return self.weight / self.scheme.weight(self.counts)

    @property
    def sampling(self) -> float:
        """Variance of the users' own sampling, summed over users who all hold one item."""
        fraction = np.asarray(self.scheme.copies) % 1.0
        return float(self.counts @ (fraction * (1.0 - fraction)))


def _shares(plan: Plan) -> Iterator[_Share]:
    for each in plan.collections:
        counts = np.zeros(len(plan.problem.levels))
        counts[list(each.levels)] = np.array(plan.problem.level_counts)[list(each.levels)]
        yield _Share(each.announcement, counts, each.weight)


class Collected:
    """A protocol of `Plan.collections`: the server adds the collections' estimates up, each in its weight."""

    def simulate(self, plan: Plan, sample: Sample, rng: np.random.Generator) -> FloatArray:
        """Estimates from counters: copies of every held item, and the dummies of all users."""
        estimate = np.zeros((sample.repetitions, sample.domain_size))
        for share in _shares(plan):
            counted = share.scheme.count(sample.level_item_counts * (share.counts > 0)[:, None], rng)
            estimate += share.weight * share.scheme.estimate(counted, share.counts)
        return estimate

    def expected_mse(self, plan: Plan, item_counts: IntArray | FloatArray) -> float:
        """Return the closed form of `simulate`'s mean squared error, levels at random with exact counts.

        The dummies', the users' own sampling, and the imbalance between levels and items.
        """
        problem, per_user = plan.problem, np.zeros(len(plan.problem.levels))
        held = problem.set_size if problem.assumptions.sets == "exactly" else item_counts.sum() / problem.n_users
        noise = 0.0
        for share in _shares(plan):
            noise += share.factor**2 * (problem.domain_size * share.scheme.noise + held * share.sampling)
            per_user += share.factor * np.asarray(share.scheme.copies) * (share.counts > 0)
        return float(noise + assignment_variance(item_counts, problem.level_counts, per_user))

    def sum_variance(self, plan: Plan, item_counts: IntArray) -> float:
        """Variance of the sum of all estimates: levels sum to nothing, and some dummies have a fixed number."""
        held = plan.problem.set_size
        return sum(each.factor**2 * (each.scheme.total_noise + held * each.sampling) for each in _shares(plan))
