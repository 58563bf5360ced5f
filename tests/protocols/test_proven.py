"""The protocol with a Poisson blanket: errors and counters as simulated, certificates used up."""

import itertools
from functools import cache

import numpy as np
import pytest
from given_plans import SMALL, given_plan
from simulations import check_simulation, make_sample

from segshuffle.accounting.collections.product import delta_interval
from segshuffle.blankets.poisson import ItemPair
from segshuffle.errors import InfeasibleError
from segshuffle.plans.plan import PLAIN, Problem
from segshuffle.plans.shares import level_counts
from segshuffle.protocols.proven import ProvenSegmented

LEVELS = (0.5, 1.0, 2.0)
SPLITS = {"S1": [0.25, 0.5, 0.25], "S3": [0.25, 0.25, 0.5]}


def panel(d, s, n, split):
    return Problem(d, s, LEVELS, level_counts(n, SPLITS[split]), 0.01 / n, PLAIN)


@cache
def planned(method, problem):
    return method.plan(problem)


# -- errors ----------------------------------------------------------------------------------------------------------


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    "copies", [(0.2, 0.6, 0.95), (1.0, 2.0, 3.0), (1.3, 2.5, 3.7), (0.4, 1.0, 2.2), (0.0, 1.0, 1.0)]
)
def test_simulation_has_the_expected_error_and_no_bias(copies):
    check_simulation(ProvenSegmented(), given_plan(SMALL, copies, 0.4), make_sample(SMALL, 6000))


# -- certificates ----------------------------------------------------------------------------------------------------

CERTIFIED = {
    "sampling": ProvenSegmented(),
    "sampling at 0.7": ProvenSegmented(blanket_per_user=0.7),
    "copies, 16 messages": ProvenSegmented(copies_max=16.0, max_messages=16.0),
    "copies": ProvenSegmented(copies_max=4.0),
}


@pytest.mark.quick(1)
@pytest.mark.parametrize("name", CERTIFIED)
@pytest.mark.parametrize("problem", [SMALL, panel(17, 4, 5000, "S1"), panel(128, 8, 5000, "S3")], ids=str)
def test_every_level_keeps_its_guarantee_and_uses_it_up(name, problem):
    """Its delta is within 0.1 % of the target, unless more copies are forbidden or would only raise the error."""
    method = CERTIFIED[name]
    plan = planned(method, problem)
    copies, counts = np.array(plan.scheme.copies), np.array(problem.level_counts)
    items = np.full(problem.domain_size, problem.n_users * problem.set_size // problem.domain_size)
    assert plan.kind == "exact"
    used_up = 0
    for k, entry in enumerate(plan.certificate):
        assert entry["epsilon"] == problem.levels[k]
        assert entry["delta_lower"] <= entry["delta_upper"] <= problem.delta
        assert entry["delta_upper"] <= 1.001 * entry["delta_lower"] + 1e-200
        if entry["delta_upper"] >= 0.999 * problem.delta:
            used_up += 1
        elif copies[k] < method.copies_max:
            raised = copies.copy()
            raised[k] *= 1.0002
            spent = plan.messages_per_user + problem.set_size * counts[k] * (raised[k] - copies[k]) / problem.n_users
            costs = method.expected_mse(given_plan(problem, raised, plan.blanket_per_user), items)
            over_budget = method.max_messages is not None and spent > method.max_messages
            assert over_budget or costs >= method.expected_mse(plan, items)
    assert used_up >= 1


@pytest.mark.parametrize("copies_max", [1.0, 3.0])
def test_nothing_to_hide_when_everybody_holds_everything(copies_max):
    problem = Problem(5, 5, (0.5, 1.0), (100, 100), 1e-4, PLAIN)
    plan = ProvenSegmented(copies_max=copies_max).plan(problem)
    assert plan.scheme.copies == (copies_max, copies_max)
    assert all(entry["delta_upper"] == 0 for entry in plan.certificate)
    assert plan.mse_bound < 1e-6


# -- budgets ---------------------------------------------------------------------------------------------------------


def test_budgets_without_room():
    with pytest.raises(InfeasibleError, match="max_messages = 2"):
        ProvenSegmented(blanket_per_user=3.0, max_messages=2.0).plan(SMALL)
    with pytest.raises(InfeasibleError, match="max_messages = 1e-06"):
        ProvenSegmented(max_messages=1e-6).plan(SMALL)


# -- group privacy ---------------------------------------------------------------------------------------------------


@pytest.mark.quick(0)
@pytest.mark.parametrize(("d", "s"), [(17, 4), (128, 8), (9, 1)])
def test_group_privacy_is_sound_and_never_better(d, s):
    for level, blanket in itertools.product((0.5, 1.0, 2.0), (0.02, 0.1, 0.4)):
        problem = Problem(d, s, (level,), (5000,), 2e-6, PLAIN)
        group, product = (
            ProvenSegmented(blanket_per_user=blanket, group_privacy=by_group).plan(problem)
            for by_group in (True, False)
        )
        assert group.kind == "upper"
        assert group.scheme.copies[0] <= product.scheme.copies[0] * (1 + 1e-12)
        exact = delta_interval(ItemPair(5000 * blanket / d, group.scheme.copies[0]), pairs=s, epsilon=level)
        assert exact.upper <= 2e-6
        assert group.certificate[0]["delta_upper"] <= 2e-6
    problem = panel(d, s, 5000, "S1")
    errors = [planned(ProvenSegmented(group_privacy=by_group), problem).mse_bound for by_group in (True, False)]
    assert errors[0] > (2 if s > 1 else 1) * errors[1]
