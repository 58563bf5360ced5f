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
from collections.abc import Iterable
from dataclasses import asdict, replace
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd

from segshuffle.accounting.collections.calibration import largest_copies, least_blanket_mean
from segshuffle.accounting.collections.levels import compose_rounds
from segshuffle.arrays import FloatArray
from segshuffle.blankets.base import BLANKET_MEAN_RANGE
from segshuffle.datasets.population import Population
from segshuffle.digits import rounded_down, rounded_up
from segshuffle.pipeline.design import Config, Scenario, Setting
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


class PlanGrid(NamedTuple):
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
    # a neighbour may have another level as well
    problems = {
        split: assuming(problem_of(config, setting, split, "proven"), private_levels=True) for split in config["splits"]
    }
    any_split = next(iter(problems.values()))
    grid, blankets = PlanGrid.of(any_split), least_blankets(any_split, config["private_levels"]["epsilons"])
    block, rows = config["repetition_block"], []
    for split, problem in problems.items():
        scenario, choice = Scenario(setting, split), grid.choose(problem)
        drawn = draw_levels(config, scenario, population)
        for epsilon, blanket in blankets.items():
            case = _Case(scenario, problem, choice, epsilon, blanket)
            blocks = []
            for first in range(0, config["repetitions"], block):
                sample = Sample(population.items, population.domain_size, drawn[first : first + block])
                blocks.append(_simulate(grid, case, sample, config["seed"], first))
            rows.append(_row(case, population, pd.concat(blocks)))
    return pd.DataFrame(rows)


def least_blankets(problem: Problem, epsilons: Iterable[float]) -> dict[float, float]:
    """Return m_p by epsilon_p, increasing, the exact histogram (inf: 0) last; delta_p is the delta of round 2."""
    users, levels, delta = problem.honest_users, len(problem.levels), problem.delta
    ordered = sorted(set(map(float, epsilons)))
    return {e: level_announcement(users, levels, LevelPrivacy(e, delta)).blanket_per_user for e in ordered} | {
        math.inf: 0.0
    }


def _simulate(grid: PlanGrid, case: _Case, sample: Sample, seed: int, first: int) -> pd.DataFrame:
    """Simulate round 1, planning and round 2 for a block of repetitions that starts at `first`.

    Returns
    -------
    DataFrame
        A row per repetition: squared_error; expected_error, given round 1; bias, N/N_hat - 1 + (N_hat - N)/N of the
        plan from exact counts, which has mean 0 before it is kept in range; bias_fixed, the same with N/N_hat of the
        plan from exact counts.
    """
    problem, fixed, method = case.problem, case.choice.copies, ProvenSegmented()
    role = (case.scenario.id, repr(case.epsilon), first)
    noise, rng = stream(seed, "private levels", *role), stream(seed, "protocol", "private levels", *role)
    counts = np.asarray(problem.level_counts)
    announced = Scheme(counts.size, 1, problem.n_users, (1.0,), case.blanket)
    received = announced.count(np.broadcast_to(counts, (sample.repetitions, 1, counts.size)), noise)
    levels = [LevelEstimates(counters, problem.n_users, case.mean) for counters in received]
    choices = [grid.choose(replace(problem, level_counts=found.planning)) for found in levels]
    parts = []
    # the repetitions that made the same choice have the same round 2
    for choice in dict.fromkeys(choices):
        chosen = [repetition for repetition, each in enumerate(choices) if each == choice]
        plan, part = _plan(problem, choice), Sample(sample.items, sample.domain_size, sample.level_item_counts[chosen])
        # `simulate` divides by N, the server by N_hat
        ratio = counts @ choice.copies / np.array([levels[i].weight(choice.copies) for i in chosen])
        estimates = method.simulate(plan, part, rng) * ratio[:, None]
        squared = ((estimates - sample.frequencies) ** 2).sum(axis=1)
        own = method.expected_mse(plan, sample.item_counts) * ratio**2
        shifted = (ratio - 1.0) ** 2 * float(sample.frequencies @ sample.frequencies)
        outcomes = {"squared_error": squared, "expected_error": own + shifted, "ratio": ratio}
        parts.append(pd.DataFrame(outcomes, index=chosen))
    found = pd.concat(parts).sort_index()
    deviation = np.array([(each.balanced - counts) @ fixed for each in levels]) / (counts @ fixed)
    ratio_fixed = counts @ fixed / np.array([each.weight(fixed) for each in levels])
    return found.assign(bias=found["ratio"] - 1.0 + deviation, bias_fixed=ratio_fixed - 1.0 + deviation)


def _plan(problem: Problem, choice: Choice) -> Plan:
    """Turn the choice into a plan whose estimates divide by the true N; its messages and error are not needed."""
    return Plan(
        method=ProvenSegmented().name,
        problem=problem,
        kind="exact" if attained(problem, choice.copies) else "upper",
        blanket_per_user=choice.blanket_per_user,
        messages_per_user=math.nan,
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
