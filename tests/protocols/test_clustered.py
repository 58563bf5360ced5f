"""The search for a clustered blanket, step by step: least budgets, cluster parameters, hopeful guides."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from segshuffle.blankets.clustered import Clustered
from segshuffle.errors import InfeasibleError
from segshuffle.protocols.base import Plan, Problem
from segshuffle.protocols.clustered import ClusteredSegmented, _least
from segshuffle.protocols.poisson import PoissonSegmented

PROBLEM = Problem(9, 2, (0.5, 2.0), (60, 140), 1e-3)
CLOSE = 0.003


def least(ratio, low=1.0, high=100.0):
    """The budget that is found, and those that were asked for."""
    asked = []

    def counted(budget):
        asked.append(budget)
        return ratio(budget)

    return _least(counted, low, high, ratio(high)), asked


@pytest.mark.parametrize("root", [1.5, 8.0, 40.0, 99.0])
@pytest.mark.parametrize("power", [0.5, 1.2, 3.0])
def test_the_least_budget_of_a_power_law_is_found_by_secants(power, root):
    """The first guess has the slope -1.2, the next one the law's own; both are a little on the safe side."""
    found, asked = least(lambda budget: (root / budget) ** power)
    assert root <= found <= root * (1 + CLOSE) * (1 + 1e-12)
    assert len(asked) <= 14
    guess = 100.0 * math.exp(power * math.log(root / 100.0) / 1.2 + 0.4 * CLOSE)
    assert asked[0] == pytest.approx(guess if 1.0 < guess < 100.0 else 10.0, rel=1e-12)
    if len(asked) > 1 and asked[0] != found:
        assert asked[1] == pytest.approx(root * math.exp(0.4 * CLOSE), rel=1e-9)
    if len(asked) > 3:  # every fourth point is the middle of what is left
        low = max([1.0, *(budget for budget in asked[:3] if budget < root)])
        high = min([100.0, *(budget for budget in asked[:3] if budget >= root)])
        assert asked[3] == pytest.approx(math.sqrt(low * high), rel=1e-9)


def stairs(budget):
    return 2.0 if budget < 17.0 else 0.5


def cliff(budget):
    return math.inf if budget < 30.0 else 30.0 / budget


def bent(budget):
    """Falls fast, then hardly: secants from above are far too hopeful."""
    return 1.0 + (5.0 - budget) * (3.0 if budget < 5.0 else 1e-4)


def rises(budget):
    return 0.9 if budget > 3.0 else 1.2


@pytest.mark.parametrize(("ratio", "root"), [(stairs, 17.0), (cliff, 30.0), (bent, 5.0), (rises, 3.0)])
def test_the_least_budget_of_any_falling_ratio_is_bisected(ratio, root):
    found, asked = least(ratio)
    assert ratio(found) <= 1
    assert root <= found <= root * (1 + CLOSE) * (1 + 1e-12) or ratio(found) >= 1 - CLOSE / 10
    assert all(1.0 < budget < 100.0 for budget in asked)
    assert len(asked) <= 30


def test_where_any_budget_will_do_the_least_is_that_which_is_allowed():
    found, asked = least(lambda budget: 0.5)
    assert 1.0 < found <= 1.0 + 2 * CLOSE
    assert len(asked) <= 30


@pytest.mark.parametrize(
    ("best", "first"),
    [
        (0.0, (0.0, 0.3, 0.5, 0.7)),
        (0.46, (0.0, 0.3, 0.5, 0.7, 0.8)),
        (0.95, (0.0, 0.3, 0.5, 0.7, 0.8, 0.9, 0.96)),
    ],
)
def test_a_few_cluster_parameters_then_those_beside_the_best(best, first):
    """The first round ends with one that is worse than three smaller ones; then twice the middles beside the best."""
    asked = []

    def value(p):
        asked.append(p)
        return abs(p - best)

    found = ClusteredSegmented()._best(value)
    tried = list(first)
    assert asked[: len(first)] == tried
    for _ in range(2):
        tried.sort()
        at = min(range(len(tried)), key=lambda i: abs(tried[i] - best))
        beside = [tried[i] for i in (at - 1, at, at + 1) if 0 <= i < len(tried)]
        tried += [round(0.5 * (a + b), 4) for a, b in pairwise(beside)]
    assert sorted(asked) == sorted(tried)
    assert found == min(tried, key=lambda p: abs(p - best))


def test_a_parameter_that_is_given_is_the_only_one():
    asked = []
    assert ClusteredSegmented(cluster=0.37)._best(lambda p: asked.append(p) or 1.0) == 0.37
    assert asked == [0.37]


# -- plans, with guides and certificates replaced ----------------------------------------------------------------------


def plan_for(messages, error, name="poisson"):
    return Plan(name, PROBLEM, "exact", messages, messages, {}, error)


class World:
    """Errors that fall with the budget, faster for some p; what is certified may be worse than what the guide says."""

    def __init__(self, monkeypatch, *, optimism=1.0, hopeless=()):
        self.planned, self.optimism, self.hopeless = [], optimism, hopeless
        world = self

        def guided_error(method, problem):
            return world.error(world.p_of(method), method.max_messages)

        def plan(method, problem):
            p, budget = world.p_of(method), method.max_messages
            if budget is None:
                return plan_for(100.0, 1.0)
            world.planned.append((p, budget))
            worse = 100.0 if p in world.hopeless else world.optimism
            return plan_for(budget, world.error(p, budget) * (worse if p else 1.0))

        monkeypatch.setattr(PoissonSegmented, "guided_error", guided_error)
        monkeypatch.setattr(PoissonSegmented, "plan", plan)

    @staticmethod
    def p_of(method):
        return method.blanket.p if isinstance(method.blanket, Clustered) else 0.0

    @staticmethod
    def error(p, budget):
        return (100.0 / budget) * (0.5 + 2 * (p - 0.7) ** 2) if p else 100.0 / budget


def test_the_fewest_messages_for_five_percent_more_error(monkeypatch):
    """At p = 0.7 half of 100/1.05 messages."""
    world = World(monkeypatch)
    plan = ClusteredSegmented().plan(PROBLEM)
    assert 100 / 1.05 / 2 <= plan.messages_per_user <= 100 / 1.05 / 2 * (1 + CLOSE)
    assert plan.mse_bound <= 1.05
    assert plan.method == "clustered"
    assert world.planned[-1][0] == 0.7
    given = ClusteredSegmented(target_error=2.0).plan(PROBLEM)
    assert 25.0 <= given.messages_per_user <= 25.0 * (1 + CLOSE)
    single = ClusteredSegmented(target_error=2.0, cluster=0.0).plan(PROBLEM)
    assert 50.0 <= single.messages_per_user <= 50.0 * (1 + CLOSE)


def test_a_guide_that_is_a_little_hopeful_is_asked_for_more(monkeypatch):
    """Budgets are raised by 0.3 % at a time, fifteen times at most."""
    world = World(monkeypatch, optimism=1.02)
    plan = ClusteredSegmented(target_error=2.0).plan(PROBLEM)
    assert 25.0 * 1.02 <= plan.messages_per_user <= 25.0 * 1.02 * (1 + CLOSE) ** 2
    budgets = [budget for p, budget in world.planned if p == 0.7]
    np.testing.assert_allclose(np.diff(np.log(budgets)), math.log(1 + CLOSE), rtol=1e-9)
    assert 6 <= len(budgets) <= 9


def test_a_parameter_of_which_the_guide_is_far_too_hopeful_is_left_out(monkeypatch):
    world = World(monkeypatch, hopeless=(0.7,))
    plan = ClusteredSegmented(target_error=2.0).plan(PROBLEM)
    others = [p for p, _ in world.planned if p not in (0.0, 0.7)]
    assert sum(p == 0.7 for p, _ in world.planned) == 16
    assert plan.mse_bound <= 2.0
    assert 25.0 < plan.messages_per_user < 29.1
    assert others
    every = tuple(np.round(np.arange(1, 10_000) / 10_000, 4).tolist())
    World(monkeypatch, hopeless=every)
    plan = ClusteredSegmented(target_error=2.0).plan(PROBLEM)
    assert 50.0 <= plan.messages_per_user <= 50.0 * (1 + CLOSE) or plan.messages_per_user == 100.0


def test_a_budget_has_the_plan_of_least_error(monkeypatch):
    world = World(monkeypatch)
    plan = ClusteredSegmented(max_messages=40.0).plan(PROBLEM)
    assert (plan.method, plan.messages_per_user, plan.mse_bound) == ("clustered", 40.0, 100 / 40 / 2)
    assert world.planned == [(0.0, 40.0), (0.7, 40.0)]
    World(monkeypatch, optimism=2.5)
    assert ClusteredSegmented(max_messages=40.0).plan(PROBLEM).mse_bound == 2.5, "single dummies are better"


def test_an_error_below_that_of_any_number_of_messages_is_refused(monkeypatch):
    World(monkeypatch)
    with pytest.raises(InfeasibleError, match=r"target_error = 0.999 is below 1, the least with any number"):
        ClusteredSegmented(target_error=0.999).plan(PROBLEM)
    assert ClusteredSegmented(target_error=1.0).plan(PROBLEM).mse_bound <= 1.0


def test_where_all_users_hold_everything_nothing_is_searched():
    plan = ClusteredSegmented().plan(Problem(2, 2, (1.0,), (20,), 1e-3))
    assert (plan.method, plan.parameters["copies"]) == ("clustered", (1.0,))


def test_a_budget_whose_error_is_hardly_below_ends_the_search():
    """Falling so slowly, a little on the safe side is within a tenth of the accuracy."""
    found, asked = least(lambda budget: (40.0 / budget) ** 0.1)
    assert asked[-1] == found
    assert len(asked) == 2


def test_secants_go_through_the_last_two_budgets():
    def ratio(budget):
        return math.exp(2.6 - 0.1 * math.log(budget) - 0.15 * math.log(budget) ** 2)

    _, asked = least(ratio)
    assert len(asked) > 2
    (a, one), (b, other) = ((math.log(budget), math.log(ratio(budget))) for budget in asked[:2])
    assert math.log(asked[2]) == pytest.approx(b - other * (b - a) / (other - one) + 0.4 * CLOSE, rel=1e-9)
