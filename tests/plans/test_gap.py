"""How near a plan is to the best one: a proven share of its error, against the errors of many other plans."""

from dataclasses import replace

import pytest
from commands import answer
from single_dummies import PROBLEMS, least_nearby, least_of_others, method_of, plan_of

from segshuffle.plans.gap import least_share
from segshuffle.protocols.proven import ProvenSegmented


@pytest.mark.quick("whole copies", "few dummies")
@pytest.mark.parametrize("name", ["whole copies", "few dummies", "nearly certain", "several levels"])
def test_no_plan_is_below_the_proven_share(name):
    rules, plan = method_of(name).searches(PROBLEMS[name][0])[0], plan_of(name)
    share = least_share(rules, plan)
    assert 0.75 < share < 1
    assert share * plan.mse_bound <= least_of_others(name)


def test_the_share_of_a_plan_that_is_not_near_the_best_one():
    problem, method = PROBLEMS["whole copies"][0], method_of("whole copies")
    worse = replace(method, blanket_per_user=3 * plan_of("whole copies").blanket_per_user).plan(problem)
    assert 0 < least_share(method.searches(problem)[0], worse) * worse.mse_bound <= least_of_others("whole copies")


@pytest.mark.parametrize(("name", "budget"), [("few dummies", 20.0), ("several levels", 4.0)])
def test_a_share_within_a_budget(name, budget):
    problem, method = PROBLEMS[name][0], ProvenSegmented(max_messages=budget)
    rules, plan = method.searches(problem)[0], method.plan(problem)
    share = least_share(rules, plan, budget)
    assert share * plan.mse_bound <= least_nearby(method, problem, plan.blanket_per_user)
    # with more messages there are better plans
    assert least_share(rules, plan) < 0.95 < share < 1


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ("--levels 1:5000", {"share_of_least_error", "share_of_curator_error"}),
        ("--levels 1:2500,2:2500", {"share_of_least_error", "share_of_curator_error"}),
        ("--levels 1:5000 --dummies signed --max-messages 20", {"share_of_curator_error"}),
        ("--levels 1:5000 --target-error 1e-3", set()),
    ],
)
def test_details_say_how_near_a_plan_is(capsys, options, told):
    """The share of the least error only where it is proven, and none without --details, because it takes a second."""
    asked = f"plan --items 17 --set-size 4 --delta 2e-6 --dummies poisson {options}"
    found = answer(capsys, f"{asked} --details")
    assert {name for name in found if name.startswith("share_of")} == told
    assert 0.5 < found.get("share_of_curator_error", 0.9) < 1
    assert 0.98 < found.get("share_of_least_error", 0.99) < 1
    assert not any(name.startswith("share_of") for name in answer(capsys, asked))
