"""What a trusted curator could do with the same levels: the reference that the shuffle protocols are held against.

The curator adds Gaussian noise to every counter, calibrated by the analytic Gaussian mechanism: two users' sets differ
in at most t = min(s, d - s) items each way, so the sensitivity of the counts is sqrt(2 t).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from segshuffle.accounting.numerics.gaussian import gaussian_ratio
from segshuffle.arrays import FloatArray, IntArray
from segshuffle.digits import rounded_down
from segshuffle.looks import PALETTE, Look
from segshuffle.protocols.base import Plan, Problem, Sample, assignment_spread, uniform_item_counts
from segshuffle.protocols.declared import Declared
from segshuffle.protocols.weights import ErrorTerms, best_copies


@dataclass(frozen=True)
class GaussianCurator:
    """Trusted curator with the Gaussian mechanism.

    Parameters
    ----------
    weighted : bool
        True: a weight per level, as large as its own guarantee allows or smaller where that is better. False: everyone
        at the lowest level.
    """

    weighted: bool = True

    @property
    def name(self) -> str:
        """Identifier of the variant."""
        return "curator-weighted" if self.weighted else "curator-uniform"

    def plan(self, problem: Problem) -> Plan:
        """Weights per level for noise of deviation 1 per counter (the scale is free)."""
        pairs = problem.pairs
        ratios = [gaussian_ratio(epsilon=level, delta=problem.delta) for level in problem.levels]
        limits = np.array(ratios) / math.sqrt(2 * max(pairs, 1))
        if not self.weighted:
            limits = np.full_like(limits, limits[0])
        counts = np.asarray(problem.level_counts, dtype=float)
        terms = self._terms(problem, uniform_item_counts(problem))
        chosen = best_copies(limits, counts, terms)[0] if self.weighted else limits
        weights = np.array([rounded_down(weight) for weight in chosen])
        return Plan(
            method=self.name,
            problem=problem,
            kind="exact",
            blanket_per_user=0.0,
            messages_per_user=float(problem.set_size),
            parameters={"weights": tuple(weights.tolist())},
            mse_bound=terms.error(weights, counts),
        )

    def _terms(self, problem: Problem, item_counts: FloatArray | IntArray) -> ErrorTerms:
        spread = assignment_spread(item_counts, problem.n_users)
        return ErrorTerms(noise=float(problem.domain_size), own=0.0, spread=spread)

    def simulate(self, plan: Plan, sample: Sample, rng: np.random.Generator) -> FloatArray:
        """Weighted counts plus noise."""
        weights = np.asarray(plan.parameters["weights"])
        total = float(np.dot(plan.problem.level_counts, weights))
        counts = np.einsum("rkd,k->rd", sample.level_item_counts, weights)
        return np.asarray((counts + rng.standard_normal(counts.shape)) / total)

    def expected_mse(self, plan: Plan, item_counts: IntArray) -> float:
        """Closed form of `simulate`'s mean squared error."""
        weights = np.asarray(plan.parameters["weights"])
        counts = np.asarray(plan.problem.level_counts, dtype=float)
        return self._terms(plan.problem, item_counts).error(weights, counts)

    def sum_variance(self, plan: Plan, item_counts: IntArray) -> float:
        """Variance of the noise of all counters."""
        return plan.problem.domain_size / float(np.dot(plan.problem.level_counts, plan.parameters["weights"])) ** 2


METHODS = (
    Declared(
        "curator-uniform",
        Look("Trusted curator, all at the lowest level", PALETTE["dark-grey"], "_", (0, (1.0, 1.0))),
        lambda _: GaussianCurator(weighted=False),
        accounting="proven",
        role="reference",
    ),
    Declared(
        "curator-weighted",
        Look("Trusted curator, weight per level", PALETTE["black"], "|", (0, (8.0, 2.0))),
        lambda _: GaussianCurator(weighted=True),
        accounting="proven",
        role="reference",
    ),
)
