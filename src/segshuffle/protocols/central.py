"""What a trusted curator could do with the same levels: the references that the shuffle protocols are held against.

Two users' sets differ in at most t items each way, so 2 t counters change. The curator adds noise to every counter:

- Gaussian, calibrated by the analytic Gaussian mechanism at sensitivity sqrt(2 t);
- of density exp(-|x/scale|^q), q between 1 and 2, calibrated by the product of t pairs, with the q of least error;
- discrete Laplace, everybody at the lowest level.

Gaussian noise is what curators are usually given, but it is the best of the three only where 2 t is large.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from segshuffle.accounting.collections.shifted_noise import discrete_laplace_epsilon, largest_shift, noise_variance
from segshuffle.accounting.numerics.gaussian import gaussian_ratio
from segshuffle.arrays import FloatArray, IntArray
from segshuffle.digits import rounded_down, rounded_up
from segshuffle.looks import PALETTE, Look
from segshuffle.protocols.base import Plan, Problem, Sample, assignment_spread, uniform_item_counts
from segshuffle.protocols.method import Declared
from segshuffle.protocols.weights import ErrorTerms, best_copies

#: Exponents that are tried; the error is flat between two of them.
EXPONENTS = tuple(round(1.0 + 0.1 * i, 1) for i in range(11))


class _WeightedSum:
    """A curator who adds noise of a common law to every weighted count."""

    def _variance(self, plan: Plan) -> float:
        """Variance of the noise of one counter."""
        raise NotImplementedError

    def _noise(self, plan: Plan, shape: tuple[int, ...], rng: np.random.Generator) -> FloatArray:
        raise NotImplementedError

    def simulate(self, plan: Plan, sample: Sample, rng: np.random.Generator) -> FloatArray:
        """Weighted counts plus noise."""
        weights = np.asarray(plan.parameters["weights"])
        total = float(np.dot(plan.problem.level_counts, weights))
        counts = np.einsum("rkd,k->rd", sample.level_item_counts, weights)
        return np.asarray((counts + self._noise(plan, counts.shape, rng)) / total)

    def expected_mse(self, plan: Plan, item_counts: IntArray) -> float:
        """Return the closed form of `simulate`'s mean squared error."""
        weights = np.asarray(plan.parameters["weights"])
        counts = np.asarray(plan.problem.level_counts, dtype=float)
        return _terms(plan.problem, self._variance(plan), item_counts).error(weights, counts)

    def sum_variance(self, plan: Plan, item_counts: IntArray) -> float:
        """Variance of the noise of all counters."""
        total = float(np.dot(plan.problem.level_counts, plan.parameters["weights"]))
        return plan.problem.domain_size * self._variance(plan) / total**2


def _terms(problem: Problem, variance: float, item_counts: FloatArray | IntArray) -> ErrorTerms:
    spread = assignment_spread(item_counts, problem.n_users)
    return ErrorTerms(noise=problem.domain_size * variance, own=0.0, spread=spread)


def _plan(name: str, problem: Problem, limits: FloatArray, variance: float, *, kind: str, **parameters: float) -> Plan:
    """Weights of least error within the limits of every level, for noise of the given variance."""
    counts = np.asarray(problem.level_counts, dtype=float)
    terms = _terms(problem, variance, uniform_item_counts(problem))
    weights = np.array([rounded_down(weight) for weight in best_copies(limits, counts, terms)[0]])
    return Plan(
        method=name,
        problem=problem,
        kind=kind,
        blanket_per_user=0.0,
        messages_per_user=float(problem.set_size),
        parameters={"weights": tuple(weights.tolist()), **parameters},
        mse_bound=terms.error(weights, counts),
    )


@dataclass(frozen=True)
class GaussianCurator(_WeightedSum):
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
        ratios = [gaussian_ratio(epsilon=level, delta=problem.delta) for level in problem.levels]
        limits = np.array(ratios) / math.sqrt(2 * max(problem.pairs, 1))
        if not self.weighted:
            limits = np.full_like(limits, limits[0])
        return _plan(self.name, problem, limits, 1.0, kind="exact")

    def _variance(self, plan: Plan) -> float:
        return 1.0

    def _noise(self, plan: Plan, shape: tuple[int, ...], rng: np.random.Generator) -> FloatArray:
        return rng.standard_normal(shape)


@dataclass(frozen=True)
class PowerCurator(_WeightedSum):
    """Trusted curator with noise of density exp(-|x|^q), a weight per level, and the q of least error."""

    name: str = "curator-best"

    def plan(self, problem: Problem) -> Plan:
        """Weights per level for noise of scale 1, for every q; the best plan is taken."""
        return min((self._at(problem, q) for q in EXPONENTS), key=lambda plan: plan.mse_bound)

    def _at(self, problem: Problem, exponent: float) -> Plan:
        pairs, delta = max(problem.pairs, 1), problem.delta
        limits = [largest_shift(exponent=exponent, pairs=pairs, epsilon=level, delta=delta) for level in problem.levels]
        variance = noise_variance(exponent)
        return _plan(self.name, problem, np.array(limits), variance, kind="upper", exponent=exponent)

    def _variance(self, plan: Plan) -> float:
        return noise_variance(plan.parameters["exponent"])

    def _noise(self, plan: Plan, shape: tuple[int, ...], rng: np.random.Generator) -> FloatArray:
        exponent = plan.parameters["exponent"]
        size = rng.standard_gamma(1 / exponent, size=shape) ** (1 / exponent)
        return np.asarray(np.where(rng.random(shape) < 0.5, -size, size))


@dataclass(frozen=True)
class DiscreteLaplaceCurator(_WeightedSum):
    """Trusted curator with noise of law odds^|k| on the integers, everybody at the lowest level."""

    name: str = "curator-discrete-laplace"

    def plan(self, problem: Problem) -> Plan:
        """Return the least noise for the lowest level."""
        pairs = max(problem.pairs, 1)
        loss = discrete_laplace_epsilon(pairs=pairs, epsilon=problem.levels[0], delta=problem.delta)
        odds = rounded_up(math.exp(-loss))
        limits = np.ones(len(problem.levels))
        return _plan(self.name, problem, limits, _laplace_variance(odds), kind="exact", odds=odds)

    def _variance(self, plan: Plan) -> float:
        return _laplace_variance(plan.parameters["odds"])

    def _noise(self, plan: Plan, shape: tuple[int, ...], rng: np.random.Generator) -> FloatArray:
        plus, minus = rng.geometric(1 - plan.parameters["odds"], size=(2, *shape))
        return np.asarray(plus - minus, dtype=float)


def _laplace_variance(odds: float) -> float:
    return 2 * odds / (1 - odds) ** 2


METHODS = (
    Declared(
        "curator-uniform",
        Look("Gaussian curator, all at the lowest level", PALETTE["dark-grey"], "_", (0, (1.0, 1.0))),
        lambda _: GaussianCurator(weighted=False),
        accounting="proven",
        role="reference",
    ),
    Declared(
        "curator-weighted",
        Look("Gaussian curator, weight per level", PALETTE["black"], "|", (0, (8.0, 2.0))),
        lambda _: GaussianCurator(weighted=True),
        accounting="proven",
        role="reference",
    ),
    Declared(
        "curator-discrete-laplace",
        Look("Discrete Laplace curator, all at the lowest level", PALETTE["teal"], "_", (0, (1.0, 2.5))),
        lambda _: DiscreteLaplaceCurator(),
        accounting="proven",
        role="reference",
    ),
    Declared(
        "curator-best",
        Look("Best curator found, weight per level", PALETTE["indigo"], "|", (0, (8.0, 1.5, 1.0, 1.5))),
        lambda _: PowerCurator(),
        accounting="proven",
        role="reference",
    ),
)
