"""Levels that depend on items: what is estimated then, and the plan that has no bias."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from segshuffle.pipeline.config import whole_schema
from segshuffle.protocols.balls_into_bins import BallsIntoBins
from segshuffle.protocols.base import Plan, Problem, Sample
from segshuffle.protocols.messages.dependence import bias_given_levels, error_given_levels
from segshuffle.protocols.proven import ProvenSegmented
from segshuffle.protocols.registry import every, proven_curves
from segshuffle.protocols.segmented import Segmented

MSNBC = Problem(17, 4, (0.5, 1.0, 2.0), (1250, 2500, 1250), 2e-6)


def drawn(rng: np.random.Generator, problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """Items of every user, and users of each level that hold each item; small items go with the lowest level."""
    d, s = problem.domain_size, problem.set_size
    shares = np.stack([np.arange(d, 0, -1.0) ** 2, *np.ones((len(problem.levels) - 1, d))])
    shares /= shares.sum(axis=1, keepdims=True)
    levels = np.repeat(np.arange(len(problem.levels)), problem.level_counts)
    rows = np.stack([rng.choice(d, s, replace=False, p=shares[level]) for level in levels])
    held = np.zeros((len(problem.levels), d), dtype=np.int64)
    np.add.at(held, (levels[:, None], rows), 1)
    return rows, held


def test_bias_is_the_difference_of_two_shares():
    """Whole numbers and fractions: 3 of 4 conservative and 1 of 6 liberal users hold the item."""
    bias = bias_given_levels(np.array([0.5, 2.0]), np.array([[3, 1], [1, 5]]), np.array([4, 6]))
    expected = [Fraction(3, 2) + 2, Fraction(1, 2) + 10]
    shares = [Fraction(4, 10), Fraction(6, 10)]
    assert bias.tolist() == pytest.approx([float(e / 14 - w) for e, w in zip(expected, shares, strict=True)], rel=1e-12)
    assert bias_given_levels(np.array([2.0, 2.0]), np.array([[3, 1], [1, 5]]), np.array([4, 6])).tolist() == [0, 0]


@pytest.mark.quick(0)
@pytest.mark.parametrize(
    "method",
    [ProvenSegmented(), ProvenSegmented(copies_max=3.0), pytest.param(Segmented(), marks=pytest.mark.exhaustive)],
    ids=["sampling", "copies", "published"],
)
def test_bias_and_error_are_the_simulated_ones(method):
    """5 standard errors: a false alarm in 10^5 or so, for all items together."""
    problem, runs, rng = Problem(6, 2, (0.3, 1.5), (60, 90), 1e-3), 2000, np.random.default_rng(9)
    plan, (rows, held) = method.plan(problem), drawn(rng, problem)
    copies = np.asarray(plan.parameters.get("copies", plan.parameters.get("sampling_rates")))
    sample = Sample(rows, 6, np.tile(held, (runs, 1, 1)))
    errors = method.simulate(plan, sample, rng) - sample.frequencies
    bias = bias_given_levels(copies, held, np.array(problem.level_counts))
    assert abs(bias).max() > 0.02
    assert np.all(np.abs(errors.mean(axis=0) - bias) <= 5 * errors.std(axis=0, ddof=1) / math.sqrt(runs))
    squares = (errors**2).sum(axis=1)
    expected = error_given_levels(plan, held, float(copies @ problem.level_counts))
    assert abs(squares.mean() - expected) <= 5 * squares.std(ddof=1) / math.sqrt(runs)


@pytest.mark.quick(1)
@pytest.mark.parametrize("options", [{}, {"copies_max": 8.0, "max_messages": 16.0}, {"blanket_per_user": 1.0}], ids=str)
def test_equal_copies_are_the_lowest_level_for_all(options):
    method = ProvenSegmented(**options, equal_copies=True)
    plan = method.plan(MSNBC)
    (copies,) = set(plan.parameters["copies"])
    (alone,) = ProvenSegmented(**options).plan(Problem(17, 4, (0.5,), (5000,), 2e-6)).parameters["copies"]
    assert copies == pytest.approx(alone, rel=1e-3)
    assert all(entry["delta_upper"] <= 2e-6 for entry in plan.parameters["certificate"])
    assert [entry["epsilon"] for entry in plan.parameters["certificate"]] == list(MSNBC.levels)
    assert plan.messages_per_user <= options.get("max_messages", math.inf)
    unequal = ProvenSegmented(**options).plan(MSNBC)
    assert unequal.mse_bound < plan.mse_bound


def test_equal_copies_are_at_least_as_good_as_one_copy_of_everything():
    equal, one = ProvenSegmented(equal_copies=True), BallsIntoBins("proven")
    counts = np.full(17, 5000 * 4 // 17)
    errors = [method.expected_mse(method.plan(MSNBC), counts) for method in (equal, one)]
    assert errors[0] <= errors[1] * (1 + 1e-6)


def test_variants_run_where_the_configuration_names_them(schema):
    variants = {each.name for each in every().values() if each.role == "variant"}
    allowed = whole_schema(schema)["properties"]["proven"]["properties"]["variants"]["items"]["enum"]
    assert sorted(variants) == sorted(allowed)
    options = {"copies_max": 4, "honest_fraction": 1.0, "variants": []}
    assert not variants & set(proven_curves(options))
    assert variants < set(proven_curves({**options, "variants": sorted(variants)}))


@pytest.mark.parametrize("kind", ["copies", "sampling_rates"])
def test_the_error_given_levels_is_that_of_simulated_counters(kind):
    """Two assignments of levels at once, and a denominator that is 5 % too large; within 6 standard errors."""
    problem, runs = Problem(4, 2, (0.5, 1.0), (30, 50), 0.01), 4000
    rates = (0.4, 1.75) if kind == "copies" else (0.4, 0.75)
    plan = Plan("any", problem, "exact" if kind == "copies" else "published", 0.7, 0.0, {kind: rates}, 0.0)
    held = np.array([[[20, 20, 15, 5], [10, 30, 30, 30]], [[5, 15, 20, 20], [25, 35, 25, 15]]])
    weight = 30 * rates[0] + 50 * rates[1]
    found = error_given_levels(plan, held, 1.05 * weight)
    assert found.shape == (2,)
    rng = np.random.default_rng(3)
    for level_items, expected in zip(held, found, strict=True):
        each = zip(level_items, rates, strict=True)
        sent = sum(int(rate) * n + rng.binomial(n, rate % 1, size=(runs, 4)) for n, rate in each)
        if kind == "copies":
            dummies = rng.poisson(80 * 0.7 / 4, size=(runs, 4))
        else:
            dummies = rng.multinomial(rng.binomial(80, 0.7, size=runs), [0.25] * 4)
        estimates = (sent + dummies - 80 * 0.7 / 4) / (1.05 * weight)
        squares = ((estimates - level_items.sum(axis=0) / 80) ** 2).sum(axis=1)
        assert abs(squares.mean() - expected) <= 6 * squares.std(ddof=1) / math.sqrt(runs) < 0.1 * expected
