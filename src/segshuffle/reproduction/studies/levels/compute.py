r"""Target fig_levels: what it costs to protect the privacy levels too, by epsilon_p of round 1 (docs/levels.md).

The segmented protocol with a Poisson blanket runs as in Algorithm 1. Only counts are drawn, exact in distribution:

1. round 1: counter k is n_k + Poisson(mu), mu = n m_p/K, with the least m_p for (epsilon_p, delta_p), delta_p = delta;
2. m and all copies a_k are planned afresh *in every repetition*, from the noisy counts (`LevelEstimates.planning`);
3. round 2 is drawn with this plan; the estimate divides by N_hat (`LevelEstimates.weight`), not by N = sum_k n_k a_k.

A calibration per repetition would be too costly, and is not needed: the limits of the a_k over m depend on public
quantities only. `PlanGrid` calibrates them once, over a grid of m, with the same accountant as `ProvenSegmented`; a
repetition chooses from it. Plans from the exact histogram are made in the same way, and a test compares their errors
with those of `ProvenSegmented`.

There are three errors, also at epsilon_p = inf (the exact histogram of Algorithm 1):

- `mse_mean`: mean squared error of the repetitions, against the sample's own frequencies w_j;
- `mse_expected`: mean over the repetitions of the exact expected error *given* round 1. With plan and N_hat fixed it
  is sum_j V_j / N_hat^2 + (N/N_hat - 1)^2 sum_j w_j^2, V_j the variance of counter j: round 2 is averaged out;
- `mse_predicted`: closed form without any repetition, for the plan from exact counts, to first order in
  v = Var[N_hat]/N^2 (`noisy_level_error`).

The estimates' relative bias is E[N/N_hat] - 1, the same for every item. To first order it is v for a plan that does not
depend on the noise (`bias_fixed_plan` measures that, `bias_predicted` is v). Planning with the same noisy counts makes
the a_k depend on the noise. This adds a second term of the same order, of either sign. Where plans change with the
counts, it is the larger one (`bias_mean` has both terms). From both measured biases, the first-order effect of
the noise of N_hat, which has mean 0, is subtracted.
"""

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from segshuffle.accounting.collections.calibration import largest_copies, least_blanket_mean
from segshuffle.accounting.collections.levels import compose_rounds
from segshuffle.arrays import FloatArray
from segshuffle.blankets.singles import SINGLES
from segshuffle.datasets.population import Population
from segshuffle.digits import rounded_down, rounded_up
from segshuffle.plans.level_counts import (
    LevelEstimates,
    LevelPrivacy,
    level_announcement,
    noisy_level_error,
    planning_counts,
    weight_variance,
)
from segshuffle.plans.plan import Plan, Problem, Sample, assignment_spread, collection_of, uniform_item_counts
from segshuffle.plans.scheme import Scheme
from segshuffle.plans.targets import attained
from segshuffle.plans.weights import ErrorTerms
from segshuffle.protocols.proven import ProvenSegmented
from segshuffle.reproduction.design import Config, Scenario, Setting
from segshuffle.reproduction.studies.planning import assuming, blocks_of, level_drawer, problem_of
from segshuffle.seeds import stream

_STEP = 0.03
_LEAST_SHARE = 0.01


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
        # the steps begin lower, but below the least corner all levels could send more if there were more dummies, and
        # the error would be lower
        means = np.unique(np.clip([*points, *corners], min(corners), max(corners))).tolist()
        limits = [
            # more dummies never need fewer copies
            [
                1.0 if mean >= corner else largest_copies(blanket_mean=mean, pairs=pairs, epsilon=level, delta=delta)
                for level, corner in zip(levels, corners, strict=True)
            ]
            for mean in means
        ]
        blankets = [rounded_up(mean * problem.domain_size / problem.honest_users) for mean in means]
        return cls(np.array(blankets), np.array(limits))

    def choose(self, problem: Problem, counts: ArrayLike) -> list[Plan]:
        """Choose the plan with the least expected error for each of several level counts, a row of `counts` each.

        Their estimates divide by the N of the problem's own level counts; their messages and error are not needed.

        Notes
        -----
        A level sends its limit or nothing: with at most one copy, the error's numerator minus the least error times
        N^2 is concave in the copies, so it is least at an end of the range of each. Low levels fall silent first.
        """
        n_users, limits = problem.n_users, self.limits[:, None]
        options = np.where(limits < self.limits[:, :, None], 0.0, limits).reshape(-1, limits.shape[-1])
        blankets = np.repeat(self.blankets, limits.shape[-1])
        spread = assignment_spread(uniform_item_counts(problem), n_users)
        terms = ErrorTerms(n_users * blankets[:, None], float(problem.set_size), spread)
        best = terms.error(options, np.asarray(counts, dtype=float).T).argmin(axis=0).tolist()
        plans = {option: _plan(problem, options[option], float(blankets[option])) for option in set(best)}
        return [plans[option] for option in best]


def _plan(problem: Problem, limits: FloatArray, blanket: float) -> Plan:
    """Make the plan in which every level sends its limit; its messages and error are not needed."""
    copies = tuple(map(rounded_down, limits))
    return Plan(
        method=ProvenSegmented().name,
        problem=problem,
        kind="exact" if attained(problem, copies) else "upper",
        blanket_per_user=blanket,
        messages_per_user=math.nan,
        collections=(collection_of(problem, copies, blanket, SINGLES),),
        mse_bound=math.nan,
    )


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
    grid, rounds = PlanGrid.of(any_split), round_1_schemes(any_split, config["private_levels"]["epsilons"])
    rows = []
    for split, problem in problems.items():
        scenario, fixed = Scenario(setting, split), grid.choose(problem, [problem.level_counts])[0]
        outcomes_by_epsilon: dict[float, list[pd.DataFrame]] = defaultdict(list)
        draw = level_drawer(config, scenario, population)
        for block in blocks_of(config, population):
            sample = draw(block)
            for epsilon, round_1 in rounds.items():
                role = (scenario.id, repr(epsilon), block.start)
                outcomes_by_epsilon[epsilon].append(_simulate(grid, fixed, round_1, sample, config["seed"], role))
        for epsilon, round_1 in rounds.items():
            outcomes = pd.concat(outcomes_by_epsilon[epsilon])
            rows.append({**setting._asdict(), "split": split, **_row(fixed, round_1, epsilon, population, outcomes)})
    return pd.DataFrame(rows)


def round_1_schemes(problem: Problem, epsilons: Iterable[float]) -> dict[float, Scheme]:
    """Return round 1 by epsilon_p, increasing, the exact histogram (inf) last; delta_p is the delta of round 2."""
    users, levels, delta = problem.honest_users, len(problem.levels), problem.delta
    blankets = {
        epsilon: level_announcement(users, levels, LevelPrivacy(epsilon, delta)).blanket_per_user
        for epsilon in sorted(map(float, epsilons))
    }
    blankets[math.inf] = 0.0
    return {epsilon: Scheme(levels, 1, problem.n_users, (1.0,), blanket) for epsilon, blanket in blankets.items()}


def _simulate(
    grid: PlanGrid, fixed: Plan, round_1: Scheme, sample: Sample, seed: int, role: tuple[Any, ...]
) -> pd.DataFrame:
    """Simulate round 1, planning and round 2 for a block of repetitions; `role` names their random streams.

    Returns
    -------
    DataFrame
        A row per repetition: squared_error; expected_error, given round 1; bias: N/N_hat - 1 of its plan, plus
        (N_hat - N)/N of the plan from exact counts (with N_hat not limited to its range, so that the mean is 0);
        bias_fixed: the same with both terms of the plan from exact counts.
    """
    problem, copies, method = fixed.problem, fixed.scheme.copies, ProvenSegmented()
    noise, rng = stream(seed, "private levels", *role), stream(seed, "protocol", "private levels", *role)
    counts = np.asarray(problem.level_counts)
    received = round_1.count(np.broadcast_to(counts, (sample.repetitions, 1, counts.size)), noise)
    estimated = LevelEstimates(received, problem.n_users, round_1.mean)
    plans = grid.choose(problem, [planning_counts(each, problem.n_users) for each in estimated.estimates])
    # repetitions with the same plan are simulated together
    alike = defaultdict(list)
    for repetition, plan in enumerate(plans):
        alike[plan.scheme].append(repetition)
    squared, expected, ratio = np.empty((3, sample.repetitions))
    for scheme, chosen in alike.items():
        plan = plans[chosen[0]]
        # `simulate` divides by N, the server by N_hat
        ratio[chosen] = scheme.weight(counts) / estimated.weight(scheme.copies)[chosen]
        expected[chosen] = method.expected_mse(plan, sample.item_counts) * ratio[chosen] ** 2
        errors = method.simulate(plan, replace(sample, level_item_counts=sample.level_item_counts[chosen]), rng)
        errors *= ratio[chosen, None]
        errors -= sample.frequencies
        errors *= errors
        squared[chosen] = errors.sum(axis=1)
    expected += (ratio - 1.0) ** 2 * float(sample.frequencies @ sample.frequencies)
    weight = counts @ copies
    deviation = (estimated.balanced - counts) @ copies / weight
    outcomes = {"squared_error": squared, "expected_error": expected, "bias": ratio - 1.0 + deviation}
    return pd.DataFrame({**outcomes, "bias_fixed": weight / estimated.weight(copies) - 1.0 + deviation})


def _row(plan: Plan, round_1: Scheme, epsilon: float, population: Population, outcomes: pd.DataFrame) -> dict[str, Any]:
    """Sum up the outcomes of all repetitions, beside what is predicted for the plan from exact counts."""
    problem, scheme = plan.problem, plan.scheme
    delta_levels = problem.delta if math.isfinite(epsilon) else 0.0
    guarantees = compose_rounds(
        levels=problem.levels,
        deltas=[problem.delta] * len(problem.levels),
        kind=plan.kind,
        levels_epsilon=epsilon,
        levels_delta=delta_levels,
    )
    error, shares = (
        ProvenSegmented().expected_mse(plan, population.item_counts),
        population.item_counts / problem.n_users,
    )
    relative_variance = weight_variance(scheme.copies, round_1.mean) / scheme.weight(problem.level_counts) ** 2
    mean = outcomes.mean()
    return {
        "epsilon_levels": epsilon,
        "delta_levels": delta_levels,
        "blanket_levels": round_1.blanket_per_user,
        "mse_mean": mean["squared_error"],
        "mse_stderr": outcomes["squared_error"].sem(),
        "mse_expected": mean["expected_error"],
        "mse_predicted": noisy_level_error(error, shares, relative_variance),
        "bias_mean": mean["bias"],
        "bias_fixed_plan": mean["bias_fixed"],
        "bias_predicted": relative_variance,
        "total_epsilon": max(each.total_epsilon for each in guarantees),
        "total_delta": max(each.total_delta for each in guarantees),
        "repetitions": len(outcomes),
        "kind": plan.kind,
        "source": population.source,
    }
