"""What the commands are told about who takes part, how often, and with how many items."""

from __future__ import annotations

import re
from dataclasses import fields

import numpy as np
import pytest
from commands import answer, printed, run

from segshuffle.cli import build_parser
from segshuffle.errors import InfeasibleError
from segshuffle.plans.level_counts import LevelPrivacy, level_announcement
from segshuffle.plans.plan import Assumptions, Problem
from segshuffle.plans.public import PUBLIC_INPUTS
from segshuffle.protocols.proven import ProvenSegmented

PLAN = "plan --items 10 --set-size 2 --levels 0.5:100,1:200,2:100 --delta 2.5e-5"


def test_a_plan_is_made_for_what_is_assumed(capsys):
    found = answer(capsys, f"{PLAN} --honest-fraction 0.8 --rounds 3 --sets at-most")
    problem = Problem(10, 2, (0.5, 1.0, 2.0), (100, 200, 100), 2.5e-5, Assumptions("at-most", 0.8, rounds=3))
    plan = ProvenSegmented().plan(problem)
    assert found["blanket_per_user"] == plan.blanket_per_user
    assert found["certificate"] == list(plan.certificate)
    assert (found["sets"], found["rounds"], found["honest_users"]) == ("at-most", 3, 320)
    shares = {entry["share"]: entry["epsilons"] for entry in found["epsilon_if_honest"]}
    assert shares[0.8][0] == pytest.approx(0.5, rel=1e-3)
    assert shares[1.0][0] < 0.5 < shares[0.5][0]


def test_a_plan_says_what_liars_can_do(capsys):
    without = answer(capsys, PLAN)
    assert without["blanket_cap"] is without["most_item_messages"] is without["influence"][0]["item"] is None
    found = answer(capsys, f"{PLAN} --blanket-cap auto")
    assert found["most_item_messages"] == found["blanket_cap"] + 2
    one, four, forty = found["influence"]
    weight = np.dot(found["copies"], found["level_counts"])
    assert one["item"] == pytest.approx((found["blanket_cap"] + 2 - found["blanket_per_user"] / 10) / weight)
    assert (four["corrupt_users"], forty["corrupt_users"]) == (4, 40)
    assert forty["all_items"] == pytest.approx(40 * one["all_items"])
    # the promised epsilons hold with the cap, at the honest share that was assumed
    shares = {entry["share"]: entry["epsilons"] for entry in found["epsilon_if_honest"]}
    assert shares[1.0][0] == pytest.approx(0.5, rel=2e-3)
    assert shares[1.0][0] <= 0.5 < shares[0.95][0]
    given = answer(capsys, f"{PLAN} --blanket-cap {found['blanket_cap'] + 5}")
    assert given["blanket_cap"] == found["blanket_cap"] + 5


@pytest.mark.quick(1)
@pytest.mark.parametrize(("privacy", "budget"), [("", 2.5), ("--hide-level 1", 3.5)])
def test_a_plan_counts_the_first_round_too(capsys, privacy, budget):
    found = answer(capsys, f"{PLAN} {privacy} --max-messages {budget}")
    items = found["blanket_per_user"] + 2 * float(np.dot(found["copies"], found["level_counts"])) / 400
    assert found["messages_per_user"] == pytest.approx(found["level_messages_per_user"] + items, rel=1e-12)
    assert budget - 0.1 < found["messages_per_user"] <= budget * (1 + 1e-12)
    # without hidden levels nobody sends a message about its level
    blanket = level_announcement(400, 3, LevelPrivacy(1.0, 2.5e-5)).blanket_per_user
    assert found["level_messages_per_user"] == (1 + blanket if privacy else 0)


def test_every_input_of_a_plan_is_marked_public(capsys):
    inputs = {field.name for kind in (Problem, Assumptions) for field in fields(kind)} - {"assumptions"}
    assert set(PUBLIC_INPUTS) == inputs | {"item_frequencies", "mean_size"}
    named = {"domain_size": "items", "level_counts": "levels", "private_levels": "hide_level", "level_deltas": "delta"}
    named |= {"item_frequencies": "guess"}
    options = build_parser("plan").commands["plan"].flags
    assert {f"--{named.get(name, name).replace('_', '-')}" for name in PUBLIC_INPUTS} <= set(options)
    text = " ".join(printed(capsys, f"{PLAN} --details").split())
    assert "a value computed from users' items breaks the guarantee" in text
    assert all(PUBLIC_INPUTS[name] in text for name in inputs)


def test_minutes_of_work_are_said_before_they_start(capsys, monkeypatch):
    def planned(*_):
        raise InfeasibleError("planned")

    monkeypatch.setattr(ProvenSegmented, "plan", planned)
    _, _, err = run(capsys, "plan --items 1e7 --set-size 5e6 --levels 1:1e6,2:1e6 --delta 1e-8")
    said, stopped = err.splitlines()
    assert re.search(
        r": 2 levels and sets of 5000000 of 10000000 items take about \d\d seconds of a processor to plan", said
    )
    assert "planned" in stopped
