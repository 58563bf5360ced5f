"""clients/verify.py: against enumeration, against certificates, and against plans that are not private."""

import ast
import contextlib
import copy
import json
import random
import re
import sys
import time
from fractions import Fraction

import pytest
from clients.verifier import CLIENTS, closest_promises, saved, verifier
from given_plans import digest_of, edited, given_plan
from oracles.clusters import clustered_law, exchange_divergence, signed_law, with_copies

from segshuffle import Assumptions, Problem
from segshuffle.blankets.clustered import Clustered
from segshuffle.collection.planning.documents import read_plan, save_plan
from segshuffle.errors import DataError

SINGLE = {"name": "poisson"}
ALL = Assumptions(sets="exactly")
#: Plans that are made in moments: problem, and what is asked.
PLANS = {
    "three levels": (Problem(17, 4, (0.5, 1.0, 2.0), (1250, 2500, 1250), 2e-6, ALL), {}),
    "a cap": (Problem(5, 2, (0.5, 4.0), (1000, 5000), 1e-6), {"blanket_cap": "auto"}),
    "copies above one, few honest": (
        Problem(100, 2, (1.0,), (1000,), 1e-9, Assumptions(honest_fraction=0.5)),
        {"dummies": "poisson", "copies_max": 2.5},
    ),
    "seven rounds of clusters": (
        Problem(1000, 3, (1.5,), (20_000,), 1e-6, Assumptions(rounds=7)),
        {"dummies": "clustered"},
    ),
    "signs": (Problem(1000, 1, (1.0,), (5000,), 1e-6), {"dummies": "signed"}),
}


@pytest.fixture(scope="module")
def plans(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plans")
    made = {}
    for number, (name, (problem, asked)) in enumerate(PLANS.items()):
        saved(folder / f"{number}.json", problem, **asked)
        made[name] = folder / f"{number}.json"
    return made


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def check_bounds(plan):
    """Compare the bounds of a plan with its certificate; those of a cap have an upper end only."""
    found = verifier().verify(plan)
    assert len(found) == len(plan["problem"]["levels"])
    for (epsilon, promised, bound), certified in zip(found, plan["plan"]["certificate"], strict=True):
        assert epsilon == certified["epsilon"]
        assert certified["delta_lower"] <= bound <= promised
    least = closest_promises(plan)
    if any(bound > delta for (_, _, bound), delta in zip(found, least, strict=True)):
        # a bound is only as close as its promise needs it, so the same plan promises less
        assert all(bound <= promised for _, promised, bound in verifier().verify(promising(plan, least)))


def promising(plan, deltas):
    """Return a plan as if it promised other deltas."""
    changed = {**plan, "problem": {**plan["problem"], "level_deltas": deltas}}
    return {**changed, "digest": digest_of(changed)}


# --- the numbers -----------------------------------------------------------------------------------------------------


def grid_law(law, mean, size):
    """Return the law of a counter as a grid of counts below `size`, from the definition of clusters."""
    if law["name"] != "signed":
        return clustered_law(mean, law.get("p", 0), size)
    return signed_law(mean, law["p"], law["flood_p"], law["flood"], size)


@pytest.mark.quick(5)
@pytest.mark.parametrize(
    ("law", "mean", "copies", "pairs", "epsilon", "size"),
    [
        (SINGLE, 3.0, 0.7, 1, 0.5, 60),
        (SINGLE, 2.0, 0.5, 2, 0.7, 30),
        (SINGLE, 4.0, 2.25, 1, 1.0, 60),
        (SINGLE, 1.0, 1.0, 3, 0.25, 12),
        ({"name": "clustered", "p": 0.5}, 3.0, 0.75, 1, 0.5, 90),
        ({"name": "clustered", "p": 0.25}, 2.0, 1.5, 2, 1.0, 34),
        ({"name": "signed", "p": 0.0, "flood_p": 0.25, "flood": 0.5}, 3.0, 1.0, 1, 0.5, 22),
        ({"name": "signed", "p": 0.5, "flood_p": 0.0, "flood": 0.25}, 3.0, 0.6, 1, 1.0, 30),
    ],
)
def test_bounds_are_just_above_enumerated_deltas(law, mean, copies, pairs, epsilon, size):
    other = grid_law(law, mean, size)
    held = with_copies(other, 0, copies)
    least, most = exchange_divergence(held.ravel(), other.ravel(), epsilon, pairs)
    scheme = {"law": {name: value if name == "name" else Fraction(value) for name, value in law.items()}}
    given = [Fraction(mean), Fraction(copies), pairs, Fraction(epsilon), Fraction(1.05 * least), 1]
    bound = verifier().delta_bound({**scheme, "blanket_cap": None}, 1, *given)
    assert least * (1 - 1e-12) <= bound <= most * (1 + 1e-3)


def test_a_bound_far_above_its_promise_is_computed_again_more_finely():
    """Among few dummies the first bound is 28 times the promise, and delta is 10 orders of magnitude below it."""
    scheme = {"law": {"name": "clustered", "p": Fraction(0.151387)}, "blanket_cap": None}
    mean, promise = Fraction(0.016231) * 1100 / 100, Fraction(2.5e-15)
    bound = verifier().delta_bound(scheme, 1, mean, Fraction(0.0129867), 3, Fraction(0.25), promise, 1)
    assert 1.747e-25 <= bound <= promise


@pytest.mark.quick("three levels", "a cap", "signs")
@pytest.mark.parametrize("name", PLANS)
def test_bounds_agree_with_the_certificates_of_saved_plans(plans, name):
    check_bounds(read(plans[name]))


@pytest.mark.exhaustive
def test_small_deltas_keep_their_digits(tmp_path):
    plan = saved(tmp_path / "plan.json", Problem(10, 1, (1.0,), (10**5,), 1e-100))
    check_bounds(plan)


# --- plans that are not private --------------------------------------------------------------------------------------


def check_same_decision(path):
    """Let the package accept a plan if and only if this verifier does."""
    own = all(bound <= promised for _, promised, bound in verifier().verify(read(path)))
    with contextlib.nullcontext() if own else pytest.raises(DataError, match="promised"):
        read_plan(path)


@pytest.mark.quick("a cap-dummies", "copies above one, few honest-copies")
@pytest.mark.parametrize("change", ["dummies", "copies"])
@pytest.mark.parametrize("name", [name for name in PLANS if name != "signs"])
def test_a_thousandth_less_is_decided_as_the_package_decides_it(plans, tmp_path, name, change):
    path, plan = tmp_path / "plan.json", read(plans[name])
    path.write_text(json.dumps(plan), encoding="utf-8")
    scheme = plan["scheme"]
    if change == "dummies":
        edited(path, scheme={"blanket_per_user": 0.999 * scheme["blanket_per_user"]})
    else:
        edited(path, scheme={"copies": [1.001 * copies for copies in scheme["copies"]]})
    check_same_decision(path)


@pytest.mark.parametrize("delta", [9.6593e-10, 9.6644e-10])
def test_a_promise_just_around_the_delta_of_few_dummies_is_decided_as_the_package_decides_it(tmp_path, delta):
    problem = Problem(1000, 1, (2.0,), (100,), delta, Assumptions(rounds=7))
    save_plan(given_plan(problem, (0.0348275,), 1.2466, Clustered(0.078759)), tmp_path / "plan.json")
    check_same_decision(tmp_path / "plan.json")


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("scheme", {"blanket_per_user": 0.0}),
        ("scheme", {"law": {"name": "binomial"}}),
        ("scheme", {"law": {"name": "poisson", "p": 0.5}}),
        ("scheme", {"law": {"name": "clustered", "p": 0.999}}),
        ("scheme", {"blanket_cap": 0}),
        ("assumptions", {"private_levels": True}),
        ("assumptions", {"sets": "any"}),
        ("assumptions", {"rounds": True}),
        ("problem", {"set_size": 18}),
        ("problem", {"level_counts": [1250, 2500, float("nan")]}),
        ("problem", {"levels": "1"}),
        ("problem", {"levels": [], "level_counts": []}),
    ],
)
def test_a_plan_without_a_proof_is_refused_by_name(plans, tmp_path, capsys, part, change):
    path = tmp_path / "plan.json"
    path.write_text(plans["three levels"].read_text(encoding="utf-8"), encoding="utf-8")
    edited(path, **{part: change})
    assert verifier().main([str(path)]) == 2
    assert re.fullmatch(r"refused: .*(nothing is proven|is no (whole )?number from).*\n", capsys.readouterr().out)


def test_clusters_below_r_one_are_refused_by_name(tmp_path, capsys):
    problem = Problem(10, 1, (1.0,), (1000,), 1e-6)
    save_plan(given_plan(problem, (0.1,), 0.1, Clustered(0.99), kind="upper"), tmp_path / "plan.json")
    assert verifier().main([str(tmp_path / "plan.json")]) == 2
    assert "clusters with r < 1" in capsys.readouterr().out


def test_an_edited_plan_is_refused(plans, tmp_path, capsys):
    path = tmp_path / "plan.json"
    path.write_text(plans["a cap"].read_text(encoding="utf-8"), encoding="utf-8")
    edited(path, signed=False, problem={"delta": 1e-3})
    assert verifier().main([str(path)]) == 2
    assert "digest" in capsys.readouterr().out


def test_what_the_program_prints_and_its_exit_status(plans, tmp_path, capsys):
    assert verifier().main([str(plans["three levels"])]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == ["accepted"] * 3
    assert verifier().main([str(plans["three levels"]), "--honest-users", "4000"]) == 1
    assert capsys.readouterr().out.startswith("REFUSED: at epsilon 0.5 delta is at most 1.2")
    assert verifier().main([str(tmp_path / "none.json")]) == 2
    assert verifier().main([]) == 2


@pytest.mark.parametrize("many", [pytest.param(20), pytest.param(1000, marks=pytest.mark.exhaustive)])
def test_broken_plans_are_refused_in_moments(plans, tmp_path, many):
    draw, path = random.Random(5), tmp_path / "plan.json"
    odd = [None, True, -1, 0, 1e308, 10**400, "1", [], {}, "poisson", float("nan"), 0.5, 3, [1.0], {"name": "signed"}]
    parts = ["problem", "assumptions", "scheme"]
    for name in draw.choices([name for name in PLANS if name != "signs"], k=many):
        plan = copy.deepcopy(read(plans[name]))
        part = draw.choice(parts)
        key = draw.choice(sorted(plan[part]))
        plan[part][key] = draw.choice(odd)
        path.write_text(json.dumps(plan), encoding="utf-8")
        edited(path)
        started = time.process_time()
        status = verifier().main([str(path)])
        assert time.process_time() - started < 5
        if status == 0:
            read_plan(path)


def test_the_verifier_stands_alone_and_is_short():
    text = (CLIENTS / "verify.py").read_text(encoding="utf-8")
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [node.module] if isinstance(node, ast.ImportFrom) else [name.name for name in node.names]
            assert {name.partition(".")[0] for name in names} <= sys.stdlib_module_names
    code = re.sub(r'""".*?"""', "", text, flags=re.DOTALL)
    assert len([line for line in code.splitlines() if line.strip() and not line.strip().startswith("#")]) <= 180
