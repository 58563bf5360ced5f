"""One simulation and one closed form of the error for all protocols whose users send copies of their items."""

from __future__ import annotations

import numpy as np

from segshuffle.arrays import FloatArray, IntArray
from segshuffle.protocols.base import Plan, Sample


def variance_sources(plan: Plan) -> tuple[float, float, float]:
    """Return what the variance of an estimated share w comes from, noise + own w + spread w (1 - w).

    The dummies', the users' own sampling, and the imbalance between levels and items, levels at random with exact
    counts: the users of a level who hold an item are a draw without replacement.
    """
    counts = np.array(plan.problem.level_counts, dtype=float)
    n_users, noise, own, per_user = counts.sum(), 0.0, 0.0, np.zeros(counts.size)
    for each in plan.collections:
        scheme, users, factor = each.announcement, each.users(counts), each.factor(counts)
        noise += factor**2 * scheme.noise
        own += factor**2 * float(users @ scheme.sampling)
        per_user += factor * np.array(scheme.copies) * (users > 0)
    uneven = float(counts @ (per_user - counts @ per_user / n_users) ** 2)
    return noise, own, uneven * n_users / max(n_users - 1, 1)


class Collected:
    """A protocol of `Plan.collections`: the server adds the collections' estimates up, each in its weight."""

    def simulate(self, plan: Plan, sample: Sample, rng: np.random.Generator) -> FloatArray:
        """Estimates from counters: copies of every held item, and the dummies of all users."""
        estimate, counts = np.zeros((sample.repetitions, sample.domain_size)), plan.problem.level_counts
        for each in plan.collections:
            users = each.users(counts)
            counted = each.announcement.count(sample.level_item_counts * (users > 0)[:, None], rng)
            estimate += each.weight * each.announcement.estimate(counted, users)
        return estimate

    def expected_mse(self, plan: Plan, item_counts: IntArray | FloatArray) -> float:
        """Return the closed form of `simulate`'s mean squared error."""
        problem, (noise, own, spread) = plan.problem, variance_sources(plan)
        shares = np.asarray(item_counts) / problem.n_users
        held = problem.set_size if problem.assumptions.sets == "exactly" else shares.sum()
        return float(problem.domain_size * noise + held * own + spread * (shares @ (1 - shares)))

    def sum_variance(self, plan: Plan, item_counts: IntArray) -> float:
        """Variance of the sum of all estimates: levels sum to nothing, and some dummies have a fixed number."""
        counts, (_, own, _) = plan.problem.level_counts, variance_sources(plan)
        noise = sum(each.factor(counts) ** 2 * each.announcement.total_noise for each in plan.collections)
        return noise + plan.problem.set_size * own
