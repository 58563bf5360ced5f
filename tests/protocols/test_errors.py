"""Closed-form squared errors against exact enumeration on tiny cases."""

import math
from fractions import Fraction
from itertools import permutations

import numpy as np
import oracles as o
import pytest
from given_plans import separate_plan

from segshuffle.plans.plan import PLAIN, Problem
from segshuffle.protocols.balls_into_bins import BallsIntoBins
from segshuffle.protocols.segmented import Segmented, plan_at
from segshuffle.protocols.subset_exponential import SubsetExponential

F = Fraction


SETS = [(0,), (0,), (1,)]
PAIRS = [(0, 1), (0, 2), (0, 1)]


def problem_of(domain_size, sets, level_counts):
    levels = tuple(float(k + 1) for k in range(len(level_counts)))
    return Problem(domain_size, len(sets[0]), levels, tuple(level_counts), 1e-3, PLAIN)


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
    """Given an assignment, the error is that of weighted independent noises, and the bias of weighted frequencies."""
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
    method = BallsIntoBins(name="sepmm")
    plan = separate_plan(problem_of(3, sets, level_counts), blankets, weights)
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
