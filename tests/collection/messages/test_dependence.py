"""Levels that depend on items: what is estimated then, and the plan that has no bias."""

import math
from fractions import Fraction

import numpy as np
import pytest
from given_plans import MSNBC, given_plan
from simulations import assert_mean

from segshuffle.plans.item_variance import bias_given_levels, error_given_levels
from segshuffle.plans.plan import PLAIN, Problem, Sample
from segshuffle.plans.registry import every
from segshuffle.protocols.proven import ProvenSegmented
from segshuffle.protocols.segmented import Segmented, plan_at
from segshuffle.reproduction.config import whole_schema
from segshuffle.reproduction.studies.planning import lineup


def test_bias_is_the_difference_of_two_shares():
    """3 of 4 conservative and 1 of 6 liberal users hold the first item, and 1 of 4 and 5 of 6 the second one."""
    bias = bias_given_levels(np.array([0.5, 2.0]), np.array([[3, 1], [1, 5]]), np.array([4, 6]))
    expected = [Fraction(3, 2) + 2, Fraction(1, 2) + 10]
    shares = [Fraction(4, 10), Fraction(6, 10)]
    assert bias.tolist() == pytest.approx([float(e / 14 - w) for e, w in zip(expected, shares, strict=True)], rel=1e-12)
    assert bias_given_levels(np.array([2.0, 2.0]), np.array([[3, 1], [1, 5]]), np.array([4, 6])).tolist() == [0, 0]


@pytest.mark.quick(1)
@pytest.mark.parametrize("options", [{}, {"copies_max": 8.0, "max_messages": 16.0}, {"blanket_per_user": 1.0}], ids=str)
def test_equal_copies_are_the_lowest_level_for_all(options):
    method = ProvenSegmented(**options, equal_copies=True)
    plan = method.plan(MSNBC)
    (copies,) = set(plan.scheme.copies)
    (alone,) = ProvenSegmented(**options).plan(Problem(17, 4, (0.5,), (5000,), 2e-6, PLAIN)).scheme.copies
    assert copies == pytest.approx(alone, rel=1e-3)
    assert all(entry["delta_upper"] <= 2e-6 for entry in plan.certificate)
    assert [entry["epsilon"] for entry in plan.certificate] == list(MSNBC.levels)
    assert plan.messages_per_user <= options.get("max_messages", math.inf)
    unequal = ProvenSegmented(**options).plan(MSNBC)
    assert unequal.mse_bound < plan.mse_bound


def test_variants_run_where_the_configuration_names_them(schema):
    variants = {each.name for each in every().values() if each.role == "variant"}
    allowed = whole_schema(schema)["properties"]["proven"]["properties"]["variants"]["items"]["enum"]
    assert sorted(variants) == sorted(allowed)
    for chosen in ([], sorted(variants)):
        section = {"copies_max": 4, "honest_fraction": 1.0, "variants": chosen}
        assert variants & set(lineup({"proven": section}, "proven")) == set(chosen)


@pytest.mark.parametrize("method", [ProvenSegmented(), Segmented(0.7)], ids=["copies", "published"])
def test_bias_and_error_given_levels_are_those_of_simulated_counters(method):
    """Two assignments of levels are computed at once, with a denominator that is 5 % too large."""
    problem, runs = Problem(4, 2, (0.5, 1.0), (30, 50), 0.01, PLAIN), 4000
    copies, plan = (0.4, 1.75), given_plan(problem, (0.4, 1.75), 0.7)
    if method.name == "segmented":
        copies, plan = (0.4, 0.75), plan_at(problem, 0.7, (0.4, 0.75))
    held = np.array([[[20, 20, 15, 5], [10, 30, 30, 30]], [[5, 15, 20, 20], [25, 35, 25, 15]]])
    found = error_given_levels(plan, held, 1.05 * (30 * copies[0] + 50 * copies[1]))
    assert found.shape == (2,)
    for level_items, expected in zip(held, found, strict=True):
        holders = level_items.sum(axis=0)
        items = np.repeat(np.arange(4), holders).reshape(2, 80).T  # nobody holds an item twice
        sample = Sample(items, 4, np.tile(level_items, (runs, 1, 1)))
        errors = method.simulate(plan, sample, np.random.default_rng(3)) - holders / 80
        assert_mean(errors, bias_given_levels(np.array(copies), level_items, np.array([30, 50])))
        squares = ((errors / 1.05 - holders / 80 * (1 - 1 / 1.05)) ** 2).sum(axis=1)
        assert assert_mean(squares, expected) < 0.1 * expected
