"""A delta for each level: every level keeps its own, and accountants that take a single delta use the least."""

import pytest
from oracles.changes import counters_of_user, grid_divergence

from segshuffle.plans.plan import Assumptions, Problem
from segshuffle.protocols.capped import Capped
from segshuffle.protocols.central import WEIGHTED
from segshuffle.protocols.proven import ProvenSegmented

LEVELS, COUNTS = (0.5, 1.0, 2.0), (10, 30, 20)


def problem(*deltas):
    return Problem(2, 1, LEVELS, COUNTS, min(deltas), Assumptions(sets="at-most"), deltas if len(deltas) > 1 else ())


def sent(plan):
    return plan.scheme.copies


def test_every_level_meets_its_own_delta_by_enumeration():
    """A user's set is exchanged; at least one level comes within 1 % of its delta."""
    deltas = (0.2, 0.05, 0.002)
    plan = ProvenSegmented(copies_max=3).plan(problem(*deltas))
    mean = plan.problem.n_users * plan.blanket_per_user / 2
    closest = 0.0
    for epsilon, copies, delta, certified in zip(LEVELS, sent(plan), deltas, plan.certificate, strict=True):
        one, other = (counters_of_user(2, [item], copies, mean, int(mean + 60)) for item in (0, 1))
        low, high = grid_divergence(one, other, epsilon)
        assert certified["delta_lower"] * (1 - 1e-9) <= high
        assert low <= certified["delta_upper"] <= delta
        closest = max(closest, high / delta)
    assert closest > 0.99


def test_who_knows_of_one_delta_takes_the_least():
    apart, together = problem(0.05, 0.002, 0.01), problem(0.002)
    assert WEIGHTED.plan(apart).as_dict() == WEIGHTED.plan(together).as_dict()


def test_a_cap_spends_the_delta_of_every_level():
    """It spends a thousandth of the level's own delta on users with more dummies, and is below that delta."""
    apart = problem(0.05, 0.002, 0.01)
    capped = Capped(ProvenSegmented()).plan(apart)
    free = ProvenSegmented(blanket_per_user=capped.blanket_per_user).plan(apart)
    assert capped.problem == apart
    for found, exact, delta in zip(capped.certificate, free.certificate, apart.deltas, strict=True):
        assert found["delta_upper"] <= delta
        assert found["delta_upper"] == pytest.approx(exact["delta_upper"] + 1e-3 * delta, rel=0.01)
    assert capped.mse_bound == pytest.approx(free.mse_bound, rel=0.01)
