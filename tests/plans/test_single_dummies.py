"""The number of single dummies with the least error, against other numbers."""

from dataclasses import replace

import pytest
from single_dummies import PROBLEMS, errors, least_nearby, least_of_others, method_of, plan_of

from segshuffle.blankets.singles import SINGLES
from segshuffle.plans.plan import Assumptions, Problem
from segshuffle.plans.planner import Search, least_error
from segshuffle.plans.targets import error_of_all
from segshuffle.protocols.proven import ProvenSegmented

#: A search compares estimates, and rounds its number of dummies.
NEARLY = 1.001


@pytest.mark.parametrize("name", PROBLEMS)
def test_no_other_number_of_dummies_is_better(name):
    """Everywhere, and close by; also within a budget that is just enough for less than the best number."""
    problem, best = PROBLEMS[name][0], plan_of(name)
    assert best.mse_bound <= NEARLY * least_of_others(name)
    method = replace(method_of(name), max_messages=0.95 * best.messages_per_user)
    plan = method.plan(problem)
    assert plan.mse_bound <= NEARLY * least_nearby(method, problem, plan.blanket_per_user)


def test_where_the_error_is_flat_the_plan_has_few_messages():
    """For these users half as many dummies make the error hardly larger."""
    problem = Problem(50_072, 4, (0.074,), (772,), 4.880895362285853e-06, Assumptions("at-most", honest_fraction=0.7))
    method = ProvenSegmented(copies_max=2.0)
    plan = method.plan(problem)
    fewer, more = errors(method, problem, [plan.blanket_per_user / 1.2, 1.5 * plan.blanket_per_user])
    assert fewer > plan.mse_bound
    assert more > 0.9995 * plan.mse_bound


class Further(type(SINGLES)):
    """A law of one's own, without choices: it has no order that the planner knows."""

    name = "further"


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_further_law_without_choices_is_planned_as_well(name):
    problem, copies_max = PROBLEMS[name]
    plan = least_error([Search(problem, Further, copies_max, error_of_all(problem), False, False)])
    assert plan.method == "further"
    assert plan.mse_bound == pytest.approx(plan_of(name).mse_bound, rel=0.03)
