"""Trusted curators with the same levels: references for the errors of the shuffle protocols.

A *curator* sees all items, and publishes noisy counts. Two sets differ in at most t items each way, so 2 t counters
change. The curator adds noise to every counter:

- Gaussian, calibrated by the analytic Gaussian mechanism at sensitivity sqrt(2 t);
- with density exp(-|x/scale|^q), calibrated by the product of t pairs, for the q in [1, 2] with the least error;
- discrete Laplace, with all users at the lowest level.

Curators usually have Gaussian noise, but it is the best of the three only if 2 t is large.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from segshuffle.accounting.collections.shifted_noise import discrete_laplace_epsilon, largest_shift, noise_variance
from segshuffle.arrays import FloatArray, IntArray
from segshuffle.digits import rounded_down, rounded_up
from segshuffle.numerics.gaussian import gaussian_ratio
from segshuffle.plans.method import MethodEntry
from segshuffle.plans.plan import Plan, Problem, Sample, assignment_spread, uniform_item_counts
from segshuffle.plans.weights import ErrorTerms, best_copies

#: Exponents q that are tried in turn, until the error rises; between two of them it hardly changes.
EXPONENTS = tuple(round(1.0 + 0.1 * i, 1) for i in range(11))


#: A choice of noise: the largest weight that it allows every level, and its parameters.
Choices = Iterable[tuple[FloatArray, dict[str, float]]]


@dataclass(frozen=True)
class Curator:
    """A trusted curator who adds noise of one law to every weighted count.

    Parameters
    ----------
    name : str
        Identifier of the method.
    kind : str
        Kind of its privacy numbers.
    choices : callable
        Returns choices of noise for a problem and a number of pairs; the plan takes the one with the least error.
    variance : callable
        Variance of the noise of one counter, given its parameters.
    noise : callable
        Draws an array of noise, given its parameters.
    """

    name: str
    kind: str
    # names of files contain a digest of a method's repr, and the repr of a function differs between processes
    choices: Callable[[Problem, int], Choices] = field(repr=False)
    variance: Callable[..., float] = field(repr=False)
    noise: Callable[..., FloatArray] = field(repr=False)

    def plan(self, problem: Problem) -> Plan:
        """Choose the noise, and the weights with the least error within the limit of every level."""
        counts, plans = np.asarray(problem.level_counts, dtype=float), list[Plan]()
        for limits, parameters in self.choices(problem, max(problem.pairs, 1)):
            terms = self._terms(problem, parameters, uniform_item_counts(problem))
            one_row = replace(terms, noise=np.array([terms.noise]))
            best, _ = best_copies(limits[None], counts, one_row, np.array([math.inf]), thorough=False)
            weights = np.array([rounded_down(weight) for weight in best[0]])
            plans.append(
                Plan(
                    method=self.name,
                    problem=problem,
                    kind=self.kind,
                    blanket_per_user=0.0,
                    messages_per_user=float(problem.set_size),
                    parameters={"weights": tuple(weights.tolist()), **parameters},
                    mse_bound=float(terms.error(weights, counts)),
                )
            )
            if len(plans) > 1 and plans[-1].mse_bound > plans[-2].mse_bound:
                break  # the error falls along the choices, and then rises
        return min(plans, key=lambda plan: plan.mse_bound)

    def _terms(self, problem: Problem, parameters: dict[str, float], item_counts: FloatArray | IntArray) -> ErrorTerms:
        spread = assignment_spread(item_counts, problem.n_users)
        return ErrorTerms(problem.domain_size * self.variance(**parameters), 0.0, spread)

    def simulate(self, plan: Plan, sample: Sample, rng: np.random.Generator) -> FloatArray:
        """Simulate weighted counts plus noise."""
        weights, parameters = _chosen(plan)
        counts = np.einsum("rkd,k->rd", sample.level_item_counts, weights)
        counts += self.noise(rng, counts.shape, **parameters)
        counts /= float(np.dot(plan.problem.level_counts, weights))
        return np.asarray(counts)

    def expected_mse(self, plan: Plan, item_counts: IntArray) -> float:
        """Return the closed form of `simulate`'s mean squared error."""
        weights, parameters = _chosen(plan)
        counts = np.asarray(plan.problem.level_counts, dtype=float)
        return float(self._terms(plan.problem, parameters, item_counts).error(weights, counts))

    def sum_variance(self, plan: Plan) -> float:
        """Return the variance of the sum of all estimates, which only noise causes."""
        weights, parameters = _chosen(plan)
        noise = plan.problem.domain_size * self.variance(**parameters)
        return noise / float(np.dot(plan.problem.level_counts, weights)) ** 2


def _chosen(plan: Plan) -> tuple[FloatArray, dict[str, float]]:
    """Return the weights of the levels, and the parameters of the noise."""
    own = dict(plan.parameters)
    return np.asarray(own.pop("weights")), own


def _gaussian(problem: Problem, pairs: int) -> Choices:
    """Return noise of deviation 1 per counter: only its ratio to the weights matters."""
    ratios = np.array([gaussian_ratio(epsilon=level, delta=problem.delta) for level in problem.levels])
    yield ratios / math.sqrt(2 * pairs), {}


def _gaussian_alike(problem: Problem, pairs: int) -> Choices:
    """Return Gaussian noise for all users at the lowest level."""
    for limits, parameters in _gaussian(problem, pairs):
        yield np.full_like(limits, limits[0]), parameters


def _powers(problem: Problem, pairs: int) -> Choices:
    """Return noise of density exp(-|x|^q) for every q."""
    for q in EXPONENTS:
        limits = [largest_shift(exponent=q, pairs=pairs, epsilon=e, delta=problem.delta) for e in problem.levels]
        yield np.array(limits), {"exponent": q}


def _discrete_laplace(problem: Problem, pairs: int) -> Choices:
    """Return the least noise of law odds^|k| for the lowest level."""
    loss = discrete_laplace_epsilon(pairs=pairs, epsilon=problem.levels[0], delta=problem.delta)
    yield np.ones(len(problem.levels)), {"odds": rounded_up(math.exp(-loss))}


def _unit_variance() -> float:
    return 1.0


def _laplace_variance(odds: float) -> float:
    return 2 * odds / (1 - odds) ** 2


def _power_noise(rng: np.random.Generator, shape: tuple[int, ...], exponent: float) -> FloatArray:
    size = rng.standard_gamma(1 / exponent, size=shape) ** (1 / exponent)
    return np.negative(size, out=size, where=rng.random(shape) < 0.5)


def _laplace_noise(rng: np.random.Generator, shape: tuple[int, ...], odds: float) -> FloatArray:
    noise = rng.geometric(1 - odds, size=shape)
    noise -= rng.geometric(1 - odds, size=shape)
    return noise.astype(float)


_NORMAL = np.random.Generator.standard_normal
UNIFORM = Curator("curator-uniform", "exact", _gaussian_alike, _unit_variance, _NORMAL)
WEIGHTED = Curator("curator-weighted", "exact", _gaussian, _unit_variance, _NORMAL)
DISCRETE_LAPLACE = Curator("curator-discrete-laplace", "exact", _discrete_laplace, _laplace_variance, _laplace_noise)
BEST = Curator("curator-best", "upper", _powers, noise_variance, _power_noise)
METHODS = (
    MethodEntry(
        "curator-uniform",
        lambda _: UNIFORM,
        accounting="proven",
        role="reference",
        shuffle_model=False,
        # curator-weighted has no larger error
        compared=(),
    ),
    MethodEntry(
        "curator-weighted",
        lambda _: WEIGHTED,
        accounting="proven",
        role="reference",
        shuffle_model=False,
    ),
    MethodEntry(
        "curator-discrete-laplace",
        lambda _: DISCRETE_LAPLACE,
        accounting="proven",
        role="reference",
        shuffle_model=False,
    ),
    MethodEntry(
        "curator-best",
        lambda _: BEST,
        accounting="proven",
        role="reference",
        shuffle_model=False,
    ),
)
