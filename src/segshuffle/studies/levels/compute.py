r"""Experiment fig-levels: what it costs to protect the privacy levels too, by epsilon_p of round 1.

The segmented protocol with a Poisson blanket runs as in Algorithm 1, at the level of counts, exact in distribution:

1. round 1: counter k is n_k + Poisson(mu), mu = n m_p/K, with the least m_p for (epsilon_p, delta_p), delta_p = delta;
2. m and all a_k are planned afresh *in every repetition*, from the noisy counts (`LevelEstimates.planning`);
3. round 2 is drawn with that plan, and the estimate divides by N_hat (`LevelEstimates.weight`).

A calibration per repetition would be too costly, and is not needed: the limits of the a_k over m depend on public
quantities only. `PlanGrid` calibrates them once, over a grid of m, with the same accountant as `ProvenSegmented`; a
repetition chooses from it. The exact histogram is planned in the same way, and a test compares the errors of these
plans with those of `ProvenSegmented`.

There are three errors (epsilon_p = inf: the exact histogram of Algorithm 1):

- `mse_mean`: mean squared error of the repetitions, against the sample's own frequencies;
- `mse_expected`: mean over the repetitions of the exact expected error *given* round 1. With plan and N_hat fixed,
  sum_j V_j / N_hat^2 + (N/N_hat - 1)^2 sum_j w_j^2, where V_j = Var[S_j]: the randomness of round 2 is averaged out;
- `mse_predicted`: closed form without any repetition, for the plan from exact counts, to first order in
  v = Var[N_hat]/N^2 (`noisy_level_moments`).

The estimates' relative bias is E[N/N_hat] - 1, the same for every item. To first order it is v for a plan that does not
depend on the noise (`bias_fixed_plan` measures that, `bias_predicted` is v). Planning with the same noisy counts makes
the a_k depend on the noise. This adds a second term of the order of the variance, of either sign, which is the larger
one if a plan reacts to the counts (`bias_mean` has both). For both measured biases, the first-order noise of N_hat,
which has mean 0, is subtracted.
"""

import math
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd

from segshuffle.accounting.collections.calibration import largest_copies, least_blanket_mean
from segshuffle.accounting.collections.levels import compose_rounds
from segshuffle.arrays import FloatArray
from segshuffle.blankets.base import BLANKET_MEAN_RANGE
from segshuffle.datasets.population import Population
from segshuffle.digits import rounded_down, rounded_up
from segshuffle.errors import ParameterError
from segshuffle.pipeline.design import Config, Scenario, Setting
from segshuffle.pipeline.progress import track
from segshuffle.pipeline.seeds import stream
from segshuffle.protocols.base import Plan, Problem, Sample, assignment_spread, collection_of, uniform_item_counts
from segshuffle.protocols.messages import LevelPrivacy
from segshuffle.protocols.messages.level_counts import (
    LevelEstimates,
    level_announcement,
    noisy_level_moments,
    weight_variance,
)
from segshuffle.protocols.planner import attained
from segshuffle.protocols.proven import ProvenSegmented
from segshuffle.protocols.scheme import Scheme
from segshuffle.protocols.weights import ErrorTerms, best_copies
from segshuffle.studies.planning import assuming, draw_levels, problem_of

_STEP = 0.03
_LEAST_SHARE = 0.01


class Choice(NamedTuple):
    """A plan for round 2."""

    blanket_per_user: float
    copies: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class PlanGrid:
    """What planning may choose from: the largest copies of every level, at every m of a grid.

    Parameters
    ----------
    blankets : ndarray of float, shape (points,)
        Expected blanket messages per user m, increasing: log-spaced, and the points where a level reaches one copy.
    limits : ndarray of float, shape (points, n_levels)
        Largest a_k <= 1, rounded down (kind: exact).
    """

    blankets: FloatArray
    limits: FloatArray

    @classmethod
    def of(cls, problem: Problem) -> Self:
        """Calibrate the grid; the problem's level counts are not used."""
        if problem.pairs == 0:
            raise ParameterError("set_size", problem.set_size, f"below domain_size = {problem.domain_size}")
        pairs, levels, delta = problem.pairs, problem.levels, problem.delta
        corners = [least_blanket_mean(copies=1.0, pairs=pairs, epsilon=level, delta=delta) for level in levels]
        low, high = math.log(_LEAST_SHARE * min(corners)), math.log(max(corners))
        points = np.exp(np.linspace(low, high, math.ceil((high - low) / _STEP) + 1))
        means = np.unique(np.clip([*points, *corners], BLANKET_MEAN_RANGE[0], max(corners))).tolist()
        limits = [
            [largest_copies(blanket_mean=mean, pairs=pairs, epsilon=level, delta=delta) for level in levels]
            for mean in means
        ]
        blankets = [rounded_up(mean * problem.domain_size / problem.honest_users) for mean in means]
        return cls(np.array(blankets), np.array(limits))

    def choose(self, problem: Problem) -> Choice:
        """Choose the plan with the least expected error for the level counts: first m, then copies within limits."""
        counts, n_users = np.asarray(problem.level_counts, dtype=float), problem.n_users
        spread = assignment_spread(uniform_item_counts(problem), n_users)
        noise: Any = n_users * self.blankets
        terms = ErrorTerms(noise=noise, own=float(problem.set_size), spread=spread)
        best = int(np.argmin(terms.error(self.limits, counts)))
        blanket = float(self.blankets[best])
        copies, _ = best_copies(self.limits[best], counts, replace(terms, noise=n_users * blanket))
        return Choice(blanket, tuple(map(rounded_down, copies)))


class _Case(NamedTuple):
    """One point: a scenario at one epsilon_p, with m_p and the choice from exact counts."""

    scenario: Scenario
    problem: Problem
    choice: Choice
    epsilon: float
    blanket: float

    @property
    def mean(self) -> float:
        """Blanket messages per level mu = n m_p/K."""
        return self.problem.n_users * self.blanket / len(self.problem.levels)


def levels_table(config: Config, setting: Setting, population: Population) -> pd.DataFrame:
    """Tabulate the error over epsilon_p of one population, for all splits.

    Parameters
    ----------
    config : dict
        Keys seed, repetitions, repetition_block, delta_times_n, levels, splits, proven (its honest_fraction), and
        private_levels, whose "epsilons" are the values of epsilon_p (the exact histogram is added to them).
    setting : Setting
        Names the population and gives its public sizes.
    population : Population
        Who holds what.

    Returns
    -------
    DataFrame
        A row per split and epsilon_p, the exact histogram (epsilon_levels = inf) last. (total_epsilon,
        total_delta) hold against any change of items and level, for users of every level.
    """
    grid = PlanGrid.of(_problem(config, setting, next(iter(config["splits"]))))
    blankets = least_blankets(config, setting)
    repetitions, block = config["repetitions"], config["repetition_block"]
    rows = []
    for split in track(config["splits"], total=len(config["splits"]), label=f"private levels of {setting.id}"):
        scenario, problem = Scenario(setting, split), _problem(config, setting, split)
        choice = grid.choose(problem)
        drawn = draw_levels(config, scenario, population)
        for epsilon, blanket in blankets.items():
            case = _Case(scenario, problem, choice, epsilon, blanket)
            blocks = []
            for first in range(0, repetitions, block):
                sample = Sample(population.items, population.domain_size, drawn[first : first + block])
                blocks.append(_simulate(grid, case, sample, config["seed"], first))
            rows.append(_row(case, population, pd.concat(blocks)))
    return pd.DataFrame(rows)


def _problem(config: Config, setting: Setting, split: str) -> Problem:
    """Return the public quantities of a scenario in which a neighbour may have another level as well."""
    return assuming(problem_of(config, setting, split, "proven"), private_levels=True)


def least_blankets(config: Config, setting: Setting) -> dict[float, float]:
    """Return m_p by epsilon_p, increasing, the exact histogram (inf: 0) last; delta_p is the delta of round 2."""
    problem, levels = _problem(config, setting, next(iter(config["splits"]))), len(config["levels"])
    epsilons = sorted({float(value) for value in config["private_levels"]["epsilons"]})
    return {
        **{
            e: level_announcement(problem.honest_users, levels, LevelPrivacy(e, problem.delta)).blanket_per_user
            for e in epsilons
        },
        math.inf: 0.0,
    }


def _simulate(grid: PlanGrid, case: _Case, sample: Sample, seed: int, first: int) -> pd.DataFrame:
    """Simulate round 1, planning and round 2 for a block of repetitions that starts at `first`, a row each."""
    role = (case.scenario.id, repr(case.epsilon), first)
    noise, rng = stream(seed, "private levels", *role), stream(seed, "protocol", "private levels", *role)
    exact = np.asarray(case.problem.level_counts, dtype=np.int64)
    announced = Scheme(exact.size, 1, case.problem.n_users, (1.0,), case.blanket)
    received = announced.count(np.broadcast_to(exact, (sample.repetitions, 1, exact.size)), noise)
    levels = [LevelEstimates(counters, case.problem.n_users, case.mean, 0) for counters in received]
    choices = [grid.choose(replace(case.problem, level_counts=found.planning)) for found in levels]
    parts = []
    for choice in dict.fromkeys(choices):
        chosen = [repetition for repetition, each in enumerate(choices) if each == choice]
        part = Sample(sample.items, sample.domain_size, sample.level_item_counts[chosen])
        outcomes = _second_round(case, choice, [levels[i] for i in chosen], part, rng)
        parts.append(pd.DataFrame(outcomes, index=chosen))
    return pd.concat(parts).sort_index()


def _second_round(
    case: _Case, choice: Choice, levels: list[LevelEstimates], sample: Sample, rng: np.random.Generator
) -> dict[str, Any]:
    """Simulate round 2 in the repetitions that made the same choice.

    Returns
    -------
    dict
        Of each repetition, by name: `squared_error`; `expected_error`, given round 1; `bias`, N/N_hat - 1 +
        (N_hat - N)/N of the plan from exact counts, which has mean 0 before it is kept in range; `bias_fixed`, the same
        with N/N_hat of the plan from exact counts.
    """
    plan, fixed = _plan(case.problem, choice), case.choice.copies
    weight, weight_fixed = (float(np.dot(case.problem.level_counts, copies)) for copies in (choice.copies, fixed))
    ratio = weight / np.array([found.weight(choice.copies) for found in levels])
    counts = np.asarray(case.problem.level_counts, dtype=float)
    noise = np.array([(found.balanced - counts) @ fixed for found in levels]) / weight_fixed
    # `simulate` divides by N, the server by N_hat
    estimates = ProvenSegmented().simulate(plan, sample, rng) * ratio[:, None]
    error = ProvenSegmented().expected_mse(plan, sample.item_counts)
    squares = float(sample.frequencies @ sample.frequencies)
    return {
        "squared_error": ((estimates - sample.frequencies) ** 2).sum(axis=1),
        "expected_error": error * ratio**2 + (ratio - 1.0) ** 2 * squares,
        "bias": ratio - 1.0 + noise,
        "bias_fixed": weight_fixed / np.array([found.weight(fixed) for found in levels]) - 1.0 + noise,
    }


def _plan(problem: Problem, choice: Choice) -> Plan:
    """Turn the choice into a plan whose estimates divide by the true N; its error is not needed."""
    sent = problem.set_size * float(np.dot(problem.level_counts, choice.copies)) / problem.n_users
    return Plan(
        method=ProvenSegmented().name,
        problem=problem,
        kind="exact" if attained(problem, choice.copies) else "upper",
        blanket_per_user=choice.blanket_per_user,
        messages_per_user=choice.blanket_per_user + sent,
        collections=(collection_of(problem, choice.copies, choice.blanket_per_user),),
        mse_bound=math.nan,
    )


def _row(case: _Case, population: Population, found: pd.DataFrame) -> dict[str, Any]:
    """Sum up the outcomes of all repetitions, beside what is predicted for the plan from exact counts."""
    problem, plan = case.problem, _plan(case.problem, case.choice)
    delta_levels = problem.delta if math.isfinite(case.epsilon) else 0.0
    guarantees = compose_rounds(
        levels=problem.levels,
        delta=problem.delta,
        kind=plan.kind,
        levels_epsilon=case.epsilon,
        levels_delta=delta_levels,
    )
    error = ProvenSegmented().expected_mse(plan, population.item_counts)
    weight = float(np.dot(problem.level_counts, case.choice.copies))
    means = weight * population.item_counts / problem.n_users
    noise = weight_variance(case.choice.copies, case.mean)
    # only the sum of the variances enters, so it may be spread evenly over the items
    variances = np.full(means.shape, error * weight**2 / means.size)
    bias, variance = noisy_level_moments(means, variances, weight=weight, weight_variance=noise)
    mean = found.mean()
    return {
        **asdict(case.scenario.setting),
        "split": case.scenario.split,
        "epsilon_levels": case.epsilon,
        "delta_levels": delta_levels,
        "blanket_levels": case.blanket,
        "mse_mean": mean["squared_error"],
        "mse_stderr": found["squared_error"].sem(),
        "mse_expected": mean["expected_error"],
        "mse_predicted": float(variance.sum() + (bias**2).sum()),
        "bias_mean": mean["bias"],
        "bias_fixed_plan": mean["bias_fixed"],
        "bias_predicted": noise / weight**2,
        "total_epsilon": max(each.total_epsilon for each in guarantees),
        "total_delta": max(each.total_delta for each in guarantees),
        "repetitions": len(found),
        "kind": plan.kind,
        "source": population.source,
    }
