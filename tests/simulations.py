"""Checks of simulated numbers: means within five standard errors, laws by chi-square.

By the normal approximation a comparison of means has a false-alarm rate of 6e-7; seeds are fixed.
"""

import math

import numpy as np
from scipy import stats

from segshuffle.plans.plan import Sample
from segshuffle.reproduction.studies.panels.postprocessing import recentred, recentred_mse

STANDARD_ERRORS = 5.0
#: Cells of a smaller expectation are pooled, so that the law of chi-square holds far out.
POOL_BELOW = 20.0


def make_sample(problem, repetitions, seed=5):
    """Make non-uniform items, and levels at random with the problem's exact counts."""
    rng = np.random.default_rng(seed)
    popularity = 1.0 / np.arange(1, problem.domain_size + 1)
    keys = rng.exponential(size=(problem.n_users, problem.domain_size)) / popularity
    items = np.sort(np.argsort(keys, axis=1)[:, : problem.set_size], axis=1)
    labels = np.repeat(np.arange(len(problem.levels)), problem.level_counts)
    counts = np.zeros((repetitions, len(problem.levels), problem.domain_size), dtype=np.int64)
    for repetition in range(repetitions):
        np.add.at(counts[repetition], (rng.permutation(labels)[:, None], items), 1)
    return Sample(items=items, domain_size=problem.domain_size, level_item_counts=counts)


def assert_mean(values, expected):
    """Check that means over the first axis are as expected, and return how far off they may be."""
    allowed = STANDARD_ERRORS * values.std(axis=0, ddof=1) / math.sqrt(len(values))
    assert np.all(np.abs(values.mean(axis=0) - expected) <= allowed + 1e-20)
    return allowed


def check_simulation(method, plan, sample, seed=11):
    """Check bias, squared error, the variance of the sum of all estimates, and the error after recentring."""
    estimates = method.simulate(plan, sample, np.random.default_rng(seed))
    deviation = estimates - sample.frequencies
    assert_mean(deviation, 0.0)
    expected = method.expected_mse(plan, sample.item_counts)
    # 10 % off would be seen: the comparison has power
    assert assert_mean((deviation**2).sum(axis=1), expected) < 0.1 * expected
    variance = method.sum_variance(plan)
    if variance is None:
        return
    assert_mean(deviation.sum(axis=1) ** 2, variance)
    if plan.problem.assumptions.sets == "exactly":
        moved = recentred(estimates, set_size=plan.problem.set_size)
        np.testing.assert_allclose(moved.sum(axis=1), plan.problem.set_size, rtol=1e-9)
        assert_mean(((moved - sample.frequencies) ** 2).sum(axis=1), recentred_mse(method, plan, sample.item_counts))


def law_p_value(observed, law):
    """Return the p-value of outcomes under an exact law by chi-square, rare cells pooled; refuse impossible ones."""
    assert set(observed) <= set(law)
    runs = sum(observed.values())
    law = {cell: float(p) for cell, p in law.items()}
    frequent = [cell for cell, p in law.items() if p * runs >= POOL_BELOW]
    assert len(frequent) > 1
    expected = [law[cell] * runs for cell in frequent]
    seen = [observed.get(cell, 0) for cell in frequent]
    rest = runs - sum(expected)
    if rest < POOL_BELOW:  # the remaining cells join the rarest of the others
        rarest = int(np.argmin(expected))
        expected[rarest] += rest
        seen[rarest] += runs - sum(seen)
    else:
        expected.append(rest)
        seen.append(runs - sum(seen))
    return float(stats.chisquare(seen, expected, sum_check=False).pvalue)
