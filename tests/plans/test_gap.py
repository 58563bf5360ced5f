"""How near a plan is to the best one: a proven share of its error, against the errors of many other plans."""

from dataclasses import replace

import numpy as np
import pytest
from commands import answer
from single_dummies import PROBLEMS, errors

from segshuffle.plans.gap import least_share
from segshuffle.protocols.proven import ProvenSegmented


@pytest.mark.parametrize("name", ["whole copies", "many copies", "few dummies", "nearly certain"])
def test_no_plan_is_below_the_proven_share(name):
    problem, copies_max = PROBLEMS[name]
    method = ProvenSegmented(copies_max=copies_max)
    rules, plan = method.searches(problem)[0], method.plan(problem)
    share = least_share(rules, plan)
    assert 0.75 < share < 1
    least = min(errors(method, problem, plan.blanket_per_user * np.geomspace(0.1, 10, 24)))
    assert share * plan.mse_bound <= least
    # the same holds of a plan that is not near the best one
    worse = replace(method, blanket_per_user=3 * plan.blanket_per_user).plan(problem)
    assert 0 < least_share(rules, worse) * worse.mse_bound <= least


def test_a_share_within_a_budget():
    problem, method = PROBLEMS["few dummies"][0], ProvenSegmented(max_messages=20.0)
    rules, plan = method.searches(problem)[0], method.plan(problem)
    share = least_share(rules, plan, 20.0)
    # with more messages there are better plans
    assert least_share(rules, plan) < 0.95 < share < 1


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ("--levels 1:5000", {"share_of_least_error", "share_of_curator_error"}),
        ("--levels 1:2500,2:2500", {"share_of_curator_error"}),
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
