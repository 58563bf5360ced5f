"""clients/segshuffle.mjs in node: it decides like verify.py, draws what docs/wire.md says, and keeps its account."""

import json
import re
import shutil
import subprocess
import tarfile
import tomllib

import pytest
from clients.verifier import CLIENTS, closest_promises, saved, verifier

from segshuffle import Assumptions, Demand, Problem
from segshuffle.collection.messages.verification import guaranteed_delta
from segshuffle.plans.scheme import Scheme

CALLS = CLIENTS.parent / "tests/clients/calls.mjs"
PROBLEM = Problem(17, 4, (0.5, 1.0, 2.0), (1250, 2500, 1250), 2e-6, Assumptions(sets="exactly"))


def call(*calls, faults=()):
    """Call functions of the module, in which some texts may be replaced; return a dict for every call."""
    if shutil.which("node") is None:
        pytest.skip("node is not installed (Debian: apt-get install nodejs)")
    command = ["node", CALLS, CLIENTS / "segshuffle.mjs", *faults]
    done = subprocess.run(command, input=json.dumps(calls), capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def demands(plan):
    """Return what a user of each level demands to be promised no less than by the plan."""
    problem, assumed = plan["problem"], plan["assumptions"]
    honest = verifier().honest_of(assumed["honest_fraction"], sum(problem["level_counts"]))
    deltas = problem["level_deltas"] or [problem["delta"]] * len(problem["levels"])
    same = {"honestUsers": honest, "sets": assumed["sets"], "rounds": assumed["rounds"], "mostMessages": 1e9}
    return [
        {"level": level, "epsilon": epsilon, "delta": delta, **same}
        for level, (epsilon, delta) in enumerate(zip(problem["levels"], deltas, strict=True))
    ]


def check_as_certified(plan):
    asked = demands(plan)
    found = [result["value"] for result in call(*[("check", [plan, demand]) for demand in asked])]
    for result, demand, certified in zip(found, asked, plan["plan"]["certificate"], strict=True):
        assert result["accepted"], result
        assert certified["delta_lower"] <= result["delta"] <= demand["delta"]
    least = closest_promises(plan)
    if any(result["delta"] > delta for result, delta in zip(found, least, strict=True)):
        # a bound is only as close as the demand needs it, so users demand more
        more = [{**demand, "delta": delta} for demand, delta in zip(asked, least, strict=True)]
        assert all(result["value"]["accepted"] for result in call(*[("check", [plan, demand]) for demand in more]))


@pytest.fixture(scope="module")
def plan(tmp_path_factory):
    return saved(tmp_path_factory.mktemp("plan") / "plan.json", PROBLEM, blanket_cap="auto")


def test_the_promises_of_a_plan_are_confirmed(plan):
    check_as_certified(plan)


def test_every_vector_is_drawn_or_refused(root):
    vectors = json.loads((root / "docs/vectors.json").read_text(encoding="utf-8"))
    calls = []
    for each in vectors:
        announced = {"problem": each["scheme"], "scheme": each["scheme"]}
        calls.append(("draw", [announced, each["level"], each["items"], {"hex": each["bytes"]}]))
    for each, result in zip(vectors, call(*calls), strict=True):
        if each["messages"] is None:
            assert any(name in result["error"] for name in ("law", "flood", "cap")), (each["name"], result)
        else:
            assert result.get("value") == each["messages"], (each["name"], result)
            assert result["left"] == [0]


# --- the demands of a user -------------------------------------------------------------------------------------------


MORE = [
    ({"honestUsers": 4000}, "with 4000 honest users delta is"),
    ({"epsilon": 0.4}, "delta is"),
    ({"rounds": 2}, "delta is"),
    ({"mostMessages": 1}, "messages on average"),
    ({"levelBudget": {"epsilon": 0.6, "delta": 2e-6}}, "for a user who may be of level 1"),
    ({"level": 3}, "level is 3"),
    ({"honestUsers": None}, "honestUsers is"),
    ({"sets": "any"}, "sets must be"),
]


def test_a_user_who_demands_more_is_refused(plan):
    demand = {"level": 0, "epsilon": 0.5, "delta": 2e-6, "honestUsers": 5000}
    good = [demand, {**demand, "levelBudget": {"epsilon": 2.0, "delta": 2e-6}}]
    calls = [("check", [plan, each]) for each in [*good, *({**demand, **change} for change, _ in MORE)]]
    accepted, hidden, *refused = (result["value"] for result in call(*calls))
    assert accepted["accepted"]
    assert hidden["level"]["epsilon"] == 2.0
    for result, (change, reason) in zip(refused, MORE, strict=True):
        assert not result["accepted"], change
        assert reason in result["reason"]


def test_broken_plans_are_refused_in_words(plan):
    odd = [None, True, -1, 0, 1e308, "1", [], {}, "poisson", 0.5, 3, [1.0], {"name": "signed"}, {"name": "__proto__"}]
    demand = {"level": 0, "epsilon": 0.5, "delta": 2e-6, "honestUsers": 5000}
    changes = [("problem", key) for key in ("domain_size", "set_size", "level_counts")]
    changes += [("scheme", key) for key in plan["scheme"]]
    broken = [{**plan, part: {**plan[part], key: value}} for part, key in changes for value in odd]
    broken += [{**plan, part: odd_part} for part in ("format", "version", "problem", "scheme") for odd_part in odd]
    for each, result in zip(broken, call(*[("check", [each, demand]) for each in broken]), strict=True):
        assert result["milliseconds"] < 5000
        if result["value"]["accepted"]:
            sizes = {name: each["problem"][name] for name in ("domain_size", "set_size")}
            told = Scheme.from_dict({**each["scheme"], **sizes, "n_users": sum(each["problem"]["level_counts"])})
            assert guaranteed_delta(told, Demand(0.5, 2e-6, 5000), 0) <= 2e-6


# --- the account -----------------------------------------------------------------------------------------------------


def sent(plan, items, *, collection=1, budget=0.5, **change):
    demand = {"level": 0, "epsilon": 0.5, "delta": 2e-6, "honestUsers": 5000, **change}
    options = {"collection": collection, "budget": {"epsilon": budget, "delta": 1e-5}}
    return "send", [{"shared": "account"}, plan, demand, items, options]


def test_the_same_collection_is_answered_once_and_the_same_again(plan):
    first, again, other, level = call(
        sent(plan, [0, 3]), sent(plan, [0, 3]), sent(plan, [0, 4]), sent(plan, [0, 3], level=1)
    )
    assert first["value"]["lines"][0] == f"#{plan['digest'][:16]}-1"
    assert again["value"] == first["value"]
    assert "other items or another level" in other["error"]
    assert "other items or another level" in level["error"]


def test_the_losses_of_collections_add_up_to_the_budget(plan):
    results = call(*[sent(plan, [1], collection=each, budget=1.0) for each in (1, 2, 3)])
    assert ["value" in result for result in results] == [True, True, False]
    assert "more than the budget of 1" in results[2]["error"]


def test_the_losses_about_the_level_add_up_to_what_is_hidden(plan):
    hide = {"epsilon": 3.0, "delta": 1e-5}
    results = call(*[sent(plan, [1], collection=each, budget=5.0, levelBudget=hide) for each in (1, 2)])
    assert ["value" in result for result in results] == [True, False]
    assert "about the level, more than the budget of 3" in results[1]["error"]


def test_one_epsilon_covers_the_rounds_that_were_demanded(tmp_path):
    plan = saved(tmp_path / "plan.json", Problem(17, 1, (0.5,), (5000,), 2e-6, Assumptions(rounds=2)))
    results = call(*[sent(plan, [1], collection=each, rounds=2) for each in (1, 2, 3)])
    assert ["value" in result for result in results] == [True, True, False]
    assert "Only 2 collections" in results[2]["error"]
    other = {**plan, "scheme": {**plan["scheme"], "blanket_per_user": 2 * plan["scheme"]["blanket_per_user"]}}
    _, changed = call(sent(plan, [1], rounds=2), sent(other, [1], collection=2, rounds=2))
    assert "Another plan had the same digest" in changed["error"]


def test_a_refused_plan_spends_and_sends_nothing(plan):
    refused, accepted = call(sent(plan, [1], honestUsers=10), sent(plan, [1]))
    assert "The plan is refused" in refused["error"]
    assert "value" in accepted


def test_drawing_refuses_what_is_no_set_of_items(plan):
    results = call(*[("draw", [plan, 0, items]) for items in ([17], [-1], [1, 1], [0.5], ["1"])])
    assert all("error" in result for result in results)


# --- the package -----------------------------------------------------------------------------------------------------


def test_npm_packs_the_module_its_types_and_the_demo(tmp_path):
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed (Debian: apt-get install npm)")
    command = ["npm", "pack", "--json", "--offline", "--pack-destination", tmp_path]
    done = subprocess.run(command, cwd=CLIENTS, capture_output=True, text=True, timeout=120, check=True)
    (packed,) = json.loads(done.stdout)
    files = {"demo.html", "package.json", "segshuffle.d.ts", "segshuffle.mjs"}
    assert {each["path"] for each in packed["files"]} == files
    with tarfile.open(tmp_path / packed["filename"]) as archive:
        archive.extractall(tmp_path / "node_modules", filter="data")
    (tmp_path / "node_modules/package").rename(tmp_path / "node_modules/segshuffle")
    program = "import * as client from 'segshuffle'; console.log(Object.keys(client).join())"
    run = ["node", "--input-type=module", "--eval", program]
    names = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True).stdout.strip()
    types = (CLIENTS / "segshuffle.d.ts").read_text(encoding="utf-8")
    assert names == "browserStore,check,draw,send"
    assert sorted(re.findall(r"export function (\w+)", types)) == names.split(",")


def test_the_package_has_the_version_of_the_project(root):
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert json.loads((CLIENTS / "package.json").read_text(encoding="utf-8"))["version"] == project["version"]
