"""Closed-form squared errors: against exact enumeration on tiny cases, against simulation on small ones.

Simulation: a few thousand repetitions, means within 5 standard errors. By the normal approximation each comparison has
a false-alarm rate of 6e-7; there are about 14 methods with 8 items and 1 error each, so the file as a whole would raise
a false alarm in fewer than 1e-4 of its runs, had the seeds not been fixed. Levels are assigned at random with exact
counts by the tests themselves.
"""

import math
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import permutations

import numpy as np
import oracles as o
import pytest

from segshuffle.protocols.balls_into_bins import BallsIntoBins, SeparateBallsIntoBins
from segshuffle.protocols.base import Plan, Problem, Sample, assignment_variance, blanket_variance
from segshuffle.protocols.listed import competitor_names
from segshuffle.protocols.recentring import recentred, recentred_mse
from segshuffle.protocols.registry import competitor
from segshuffle.protocols.segmented import Segmented, plan_at
from segshuffle.protocols.subset_exponential import SubsetExponential, subset_error

F = Fraction
STANDARD_ERRORS = 5.0

# -- exact -----------------------------------------------------------------------------------------------------------

SETS = [(0,), (0,), (1,)]
PAIRS = [(0, 1), (0, 2), (0, 1)]


def problem_of(domain_size, sets, level_counts):
    levels = tuple(float(k + 1) for k in range(len(level_counts)))
    return Problem(domain_size, len(sets[0]), levels, tuple(level_counts), 1e-3)


def counts_of(domain_size, sets):
    return np.bincount([j for items in sets for j in items], minlength=domain_size)


@pytest.mark.parametrize(
    ("domain_size", "sets", "level_counts", "rates", "blanket"),
    [
        (3, SETS, (1, 2), (F(1, 4), F(1)), F(1)),
        (3, SETS, (2, 1), (F(1, 2), F(3, 4)), F(3, 2)),
        (3, PAIRS, (1, 2), (F(1, 4), F(1, 2)), F(1, 4)),
        (3, PAIRS, (1, 1, 1), (F(1, 4), F(1, 2), F(1)), F(3, 4)),
        (2, [(0,), (1,)], (2, 0), (F(1, 2), F(1)), F(5, 2)),
        (3, [(1,)], (1,), (F(1, 2),), F(2)),
    ],
)
def test_segmented(domain_size, sets, level_counts, rates, blanket):
    problem = problem_of(domain_size, sets, level_counts)
    plan = plan_at(problem, float(blanket), tuple(float(rate) for rate in rates))
    slots = math.ceil(blanket)
    exact = o.segmented_protocol_error_averaged(
        domain_size, sets, rates, level_counts, len(sets) * slots, blanket / slots
    )
    found = Segmented(float(blanket)).expected_mse(plan, counts_of(domain_size, sets))
    assert found == pytest.approx(float(exact), rel=1e-13, abs=0)


def bare_plan(method, problem, blanket, parameters):
    return Plan(method.name, problem, "published", blanket, 0.0, parameters, 0.0)


@pytest.mark.parametrize("blanket", [F(1), F(3, 4), F(3, 2)])
@pytest.mark.parametrize("sets", [SETS, PAIRS])
def test_balls_into_bins(sets, blanket):
    slots = math.ceil(blanket)
    exact = o.segmented_protocol_error(3, sets, [F(1)] * 3, 3 * slots, blanket / slots)
    plan = bare_plan(BallsIntoBins(), problem_of(3, sets, (1, 2)), float(blanket), {})
    found = BallsIntoBins().expected_mse(plan, counts_of(3, sets))
    assert found == pytest.approx(float(exact), rel=1e-13, abs=0)


@pytest.mark.parametrize("sets", [SETS, PAIRS])
@pytest.mark.parametrize(
    ("level_counts", "weights", "blankets"),
    [
        ((1, 2), (F(1, 2), F(1, 2)), (F(3, 2), F(1))),
        ((2, 1), (F(1, 8), F(7, 8)), (F(1, 4), F(2))),
        ((3, 0), (F(1), F(0)), (F(3, 4), F(0))),
    ],
)
def test_separate_balls_into_bins(sets, level_counts, weights, blankets):
    """Given the assignment: weighted independent noises, and the bias of the weighted level frequencies."""
    truth = o.item_frequencies(3, sets)
    labels = [k for k, n in enumerate(level_counts) for _ in range(n)]
    assignments = sorted(set(permutations(labels)))
    exact = F(0)
    for assignment in assignments:
        mean = [F(0)] * 3
        for k, n in enumerate(level_counts):
            if n == 0:
                continue
            mine = [items for items, level in zip(sets, assignment, strict=True) if level == k]
            slots = math.ceil(blankets[k])
            noise = o.segmented_protocol_error(3, mine, [F(1)] * n, n * slots, blankets[k] / slots)
            exact += weights[k] ** 2 * noise
            shares = o.item_frequencies(3, mine)
            mean = [m + weights[k] * share for m, share in zip(mean, shares, strict=True)]
        exact += sum((m - w) ** 2 for m, w in zip(mean, truth, strict=True))
    exact /= len(assignments)
    method = SeparateBallsIntoBins()
    parameters = {"blankets": [float(m) for m in blankets], "weights": [float(w) for w in weights]}
    plan = bare_plan(method, problem_of(3, sets, level_counts), 1.0, parameters)
    assert method.expected_mse(plan, counts_of(3, sets)) == pytest.approx(float(exact), rel=1e-13, abs=0)


@pytest.mark.parametrize(
    ("domain_size", "sets", "k", "gain"),
    [(3, SETS, 1, F(3)), (4, [(0, 1), (0, 2)], 2, F(5, 2)), (4, [(0,), (3,), (3,)], 3, F(2)), (4, [(0, 3)], 1, F(7))],
)
def test_subset_exponential(domain_size, sets, k, gain):
    exact = o.subset_exponential_error(domain_size, sets, k, gain)
    method = SubsetExponential(local_epsilon=math.log(gain), subset_size=k)
    plan = method.plan(problem_of(domain_size, sets, (len(sets),)))
    found = method.expected_mse(plan, counts_of(domain_size, sets))
    assert found == pytest.approx(float(exact), rel=1e-12, abs=0)
    assert plan.mse_bound == found
    held, not_held = (float(rate) for rate in o.subset_exponential_rates(domain_size, len(sets[0]), k, gain))
    again = subset_error(
        n_users=len(sets), domain_size=domain_size, set_size=len(sets[0]), held=held, not_held=not_held
    )
    assert again == pytest.approx(float(exact), rel=1e-12, abs=0)


def test_assignment_variance_by_enumeration():
    holders, level_counts, weights = [0, 1, 2, 4], (2, 1, 1), np.array([0.25, 0.5, 2.0])
    labels = [0, 0, 1, 2]
    expected = 0.0
    for n_j in holders:
        sums = [sum(weights[level] for level in order[:n_j]) for order in permutations(labels)]
        expected += np.var(sums)
    found = assignment_variance(np.array(holders), level_counts, weights)
    assert found == pytest.approx(expected, rel=1e-13, abs=0)
    assert assignment_variance(np.array([1, 0]), (1,), np.array([0.5])) == 0.0


@pytest.mark.parametrize(
    ("m", "expected"), [(1.0, 10 * (1 - 1 / 4)), (1.5, 15 * (1 - 0.75 / 4)), (0.5, 5 * (1 - 1 / 8))]
)
def test_blanket_variance(m, expected):
    assert blanket_variance(10, m, 4) == pytest.approx(expected, rel=1e-14)


# -- simulated -------------------------------------------------------------------------------------------------------

COMPETITORS = competitor_names()
CLOSED_FORM = {"methods": [], "balls_into_bins": {"analysis": "closed-form"}}
REPETITIONS = 3000
PROBLEM = Problem(domain_size=8, set_size=2, levels=(0.5, 1.0, 2.0), level_counts=(30, 50, 40), delta=1e-3)
METHODS = {
    "segmented at 0.3": Segmented(0.3),
    "segmented at 1": Segmented(1.0),
    "segmented at 2.5": Segmented(2.5),
    "segmented, searched": Segmented(),
    **{name: competitor(name) for name in COMPETITORS},
    **{f"{name}, closed form": competitor(name, CLOSED_FORM) for name in COMPETITORS if "mm" in name},
}


@cache
def plan_of(name):
    return METHODS[name].plan(PROBLEM)


@pytest.fixture(scope="module")
def sample():
    rng = np.random.default_rng(20240607)
    popularity = 0.6 ** np.arange(8)
    items = np.sort([rng.choice(8, size=2, replace=False, p=popularity / popularity.sum()) for _ in range(120)], axis=1)
    member = np.zeros((120, 8), dtype=np.int64)
    np.put_along_axis(member, items, 1, axis=1)
    labels = np.repeat(np.arange(3), PROBLEM.level_counts)
    assignments = rng.permuted(np.tile(labels, (REPETITIONS, 1)), axis=1)
    counts = np.stack([(assignments == level).astype(np.int64) @ member for level in range(3)], axis=1)
    made = Sample(items=items, domain_size=8, level_item_counts=counts)
    assert made.item_counts.max() > 4 * made.item_counts.min()  # far from uniform
    return made


@pytest.mark.quick(
    "correlated-noise",
    "fake-users",
    "almost-single",
    "inverse-variance-sepmm, closed form",
    "weighted-sepmm, closed form",
)
@pytest.mark.parametrize("name", METHODS)
def test_simulation_is_unbiased_and_has_the_expected_error(name, sample):
    method, plan = METHODS[name], plan_of(name)
    estimates = method.simulate(plan, sample, np.random.default_rng(11))
    deviation = estimates - sample.frequencies
    standard_error = deviation.std(axis=0, ddof=1) / math.sqrt(REPETITIONS)
    assert np.all(np.abs(deviation.mean(axis=0)) <= STANDARD_ERRORS * standard_error)
    squared = (deviation**2).sum(axis=1)
    expected = method.expected_mse(plan, sample.item_counts)
    error_of_mean = squared.std(ddof=1) / math.sqrt(REPETITIONS)
    assert abs(squared.mean() - expected) <= STANDARD_ERRORS * error_of_mean
    # 10 % off would be seen: the comparison has power
    assert error_of_mean * STANDARD_ERRORS < 0.1 * expected
    check_recentring(method, plan, sample, estimates)


def check_recentring(method, plan, sample, estimates):
    """The closed form after recentring on the same draws, and the variance of the sum that it takes away."""
    moved = recentred(estimates, set_size=2)
    np.testing.assert_allclose(moved.sum(axis=1), 2.0, rtol=1e-9)
    squared = ((moved - sample.frequencies) ** 2).sum(axis=1)
    limit = STANDARD_ERRORS * squared.std(ddof=1) / math.sqrt(REPETITIONS)
    assert abs(squared.mean() - recentred_mse(method, plan, sample.item_counts)) <= limit
    spread = (estimates.sum(axis=1) - 2) ** 2
    limit = STANDARD_ERRORS * spread.std(ddof=1) / math.sqrt(REPETITIONS)
    assert abs(spread.mean() - method.sum_variance(plan, sample.item_counts)) <= limit + 1e-20


def test_one_fixed_assignment_is_biased_by_its_imbalance(sample):
    """The third term of the error is real: with one assignment throughout, the estimates miss the frequencies."""
    method = METHODS["segmented at 0.3"]
    plan = method.plan(PROBLEM)
    # levels follow the items
    order = np.argsort(sample.items[:, 0], kind="stable")
    level = np.empty(120, dtype=int)
    level[order] = np.repeat(np.arange(3), PROBLEM.level_counts)
    counts = np.zeros((3, 8), dtype=np.int64)
    np.add.at(counts, (level[:, None], sample.items), 1)
    sorted_sample = replace(sample, level_item_counts=np.tile(counts, (REPETITIONS, 1, 1)))
    deviation = method.simulate(plan, sorted_sample, np.random.default_rng(12)) - sample.frequencies
    standard_error = deviation.std(axis=0, ddof=1) / math.sqrt(REPETITIONS)
    assert np.any(np.abs(deviation.mean(axis=0)) > 10 * standard_error)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.exhaustive if "searched" in name else ()) for name in METHODS]
)
def test_bound_is_what_the_figures_assume(name, sample):
    """The bound leaves out the assignment of levels and is at least the rest of the error."""
    method, plan = METHODS[name], plan_of(name)
    imbalance_free = method.expected_mse(plan, np.zeros(8, dtype=np.int64))
    assert imbalance_free <= plan.mse_bound * (1 + 1e-12)
