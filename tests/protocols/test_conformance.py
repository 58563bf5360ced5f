"""What every protocol promises of its plans and simulations, whatever it computes."""

import builtins
import inspect
import json
import math
from copy import deepcopy
from dataclasses import replace
from functools import cache, reduce
from operator import add

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from simulations import check_simulation, make_sample

from segshuffle.accounting.collections.published import item_target, published_item_delta
from segshuffle.accounting.single_message.decomposition import BlanketBound
from segshuffle.accounting.single_message.randomizers import subsets
from segshuffle.accounting.single_message.variation_ratio import VariationBound
from segshuffle.accounting.single_message.variation_ratio_tables import subset_exponential
from segshuffle.digits import rounded
from segshuffle.drawing.looks import label_of
from segshuffle.plans.listed import listed, schemas
from segshuffle.plans.plan import PLAIN, Plan, Problem
from segshuffle.plans.registry import every, made, paper_competitors
from segshuffle.protocols.balls_into_bins import BallsIntoBins
from segshuffle.protocols.segmented import Segmented
from segshuffle.protocols.subset_exponential import SubsetExponential
from segshuffle.protocols.subset_exponential_proven import ProvenSubsetExponential

PUBLISHED = [name for accounting, name in every() if accounting == "published" and name != "segmented"]
CLOSED_FORM = {"methods": [], "balls_into_bins": {"analysis": "closed-form"}}
PROBLEM = Problem(
    domain_size=9, set_size=2, levels=(0.5, 1.0, 2.0), level_counts=(60, 90, 50), delta=1e-4, assumptions=PLAIN
)
METHODS = {
    "segmented at 0.4": Segmented(0.4),
    "segmented at 1": Segmented(1.0),
    "segmented at 2.5": Segmented(2.5),
    "segmented, searched": Segmented(),
    **{name: made(every()["published", name], {}) for name in PUBLISHED},
    **{f"{name}, closed form": made(every()["published", name], CLOSED_FORM) for name in PUBLISHED if "mm" in name},
    "subexp-local, k = 3": SubsetExponential(local_epsilon=1.0, subset_size=3),
}
OPTIONS = {"copies_max": 2.0, "analysis": "numerical", "log_power": 1.0, "fakes_per_user": 4}
PROVEN = {
    f"{name}, proven": made(declared, {}, OPTIONS)
    for (accounting, name), declared in every().items()
    if accounting == "proven"
}


@cache
def plan_of(method):
    return method.plan(PROBLEM)


def accounting_of(method):
    return "proven" if method in PROVEN.values() else "published"


#: Methods whose tests are exhaustive: one takes seconds for a plan, and the proven ones are many.
LEFT_OUT = ("segmented, searched", *PROVEN)


@pytest.fixture(
    params=[pytest.param(name, marks=pytest.mark.exhaustive if name in LEFT_OUT else ()) for name in METHODS | PROVEN]
)
def method(request):
    return (METHODS | PROVEN)[request.param]


@pytest.mark.quick(3)
def test_plan_depends_on_the_problem_only(method):
    assert list(inspect.signature(method.plan).parameters) == ["problem"]
    np.random.seed(1)  # noqa: NPY002 - the global state must not matter
    first = plan_of(method)
    np.random.seed(2)  # noqa: NPY002
    assert method.plan(replace(PROBLEM)) == first


@pytest.mark.quick("sepmm, closed form", "inverse-variance-sepmm, closed form")
def test_plans_are_the_same_however_python_adds_floats(method, monkeypatch):
    """From Python 3.12 on `sum` compensates for round-off; before, it added from left to right."""
    levels = (0.5, 1.0, 2.0, 2.5)
    problem = replace(PROBLEM, levels=levels, level_counts=(61, 90, 47, 14))

    def compensated(values, start=0):
        values = list(values)
        return math.fsum(values) if all(type(value) is float for value in values) else reduce(add, values, start)

    monkeypatch.setattr(builtins, "sum", compensated)
    newer = json.dumps(method.plan(problem).as_dict())
    monkeypatch.setattr(builtins, "sum", lambda values, start=0: reduce(add, values, start))
    assert json.dumps(method.plan(problem).as_dict()) == newer


def test_what_is_drawn_with_has_ten_digits(method):
    """The last bits of a search differ between processors; weights are rounded where plans are written."""
    plan = plan_of(method)
    drawn = [np.ravel(value) for name, value in plan.parameters.items() if name != "weights"]
    for scheme in (each.announcement for each in plan.collections):
        drawn += [np.array([scheme.blanket_per_user, *scheme.copies])]
    for value in np.hstack(drawn or [0.0]):
        assert rounded(value) == value


def test_plan_says_what_it_is(method):
    plan = plan_of(method)
    assert plan.method == method.name
    assert plan.problem is PROBLEM
    said = every()[accounting_of(method), method.name].plan(method, PROBLEM)
    assert said == plan if accounting_of(method) == "proven" else said == replace(plan, kind=said.kind)
    kinds = ("exact", "upper") if accounting_of(method) == "proven" else ("published",)
    assert said.kind in (("exact",) if method.name == "subexp-local" else kinds)
    assert plan.messages_per_user > plan.blanket_per_user >= 0
    # the bound leaves out the assignment of levels
    assert 0 < method.expected_mse(plan, np.zeros(9, dtype=np.int64)) <= plan.mse_bound * (1 + 1e-12)
    assert label_of(method.name, accounting_of(method), json.dumps(plan.chosen))


def test_numbers_are_only_proven_if_the_declaration_says_so():
    """A copied file may still write another kind into its plans."""
    copied = replace(every()["proven", "augmented-shuffling"], accounting="published")
    method = made(copied, {})
    assert method.plan(PROBLEM).kind == "upper"
    assert copied.plan(method, PROBLEM).kind == "published"


def test_plan_survives_json(method):
    plan = plan_of(method)
    restored = Plan.from_dict(PROBLEM, json.loads(json.dumps(plan.as_dict())))
    assert "problem" not in plan.as_dict()
    assert json.dumps(restored.as_dict()) == json.dumps(plan.as_dict())
    sample = make_sample(PROBLEM, 2)
    assert method.expected_mse(restored, sample.item_counts) == method.expected_mse(plan, sample.item_counts)
    one, other = (method.simulate(p, sample, np.random.default_rng(3)) for p in (plan, restored))
    np.testing.assert_array_equal(one, other)


def test_simulation_is_reproducible_and_has_the_shape(method):
    plan, sample = plan_of(method), make_sample(PROBLEM, 3)
    frozen = deepcopy(sample)
    one, again, other = (method.simulate(plan, sample, np.random.default_rng(seed)) for seed in (7, 7, 8))
    assert one.shape == (3, PROBLEM.domain_size)
    assert one.dtype == np.float64
    np.testing.assert_array_equal(one, again)
    assert not np.array_equal(one, other) or (one == one[0]).all(), "a method that draws uses its stream"
    np.testing.assert_array_equal(frozen.items, sample.items)
    np.testing.assert_array_equal(frozen.level_item_counts, sample.level_item_counts)


@pytest.fixture(scope="module")
def large_sample():
    return make_sample(PROBLEM, 3000)


@pytest.mark.quick(
    "segmented at 2.5",
    "weighted-sepmm, closed form",
    "correlated-noise",
    "fake-users",
    "almost-single",
    "augmented-shuffling, proven",
    "curator-weighted, proven",
    "mm, proven",
)
@pytest.mark.parametrize("name", METHODS | PROVEN)
def test_simulation_is_unbiased_and_has_the_expected_error(name, large_sample):
    method = (METHODS | PROVEN)[name]
    check_simulation(method, plan_of(method), large_sample)


@pytest.mark.quick(7)
@pytest.mark.parametrize(
    ("levels", "counts"),
    [
        ((0.5, 1.0, 2.0), (0, 120, 80)),
        ((0.5, 1.0, 2.0), (200, 0, 0)),
        ((0.3, 0.5, 0.8, 1.0, 1.4, 1.8, 2.2), (0, 60, 0, 0, 70, 80, 0)),
    ],
)
def test_levels_that_nobody_chose(method, levels, counts):
    problem = replace(PROBLEM, levels=levels, level_counts=counts)
    plan, sample = method.plan(problem), make_sample(problem, 2)
    assert all(entry["delta_upper"] <= problem.delta for entry in plan.certificate)
    assert np.all(np.isfinite(method.simulate(plan, sample, np.random.default_rng(1))))
    assert 0 < method.expected_mse(plan, sample.item_counts) < math.inf
    if len(plan.collections) > 1:
        assert [each.levels for each in plan.collections] == [(k,) for k, count in enumerate(counts) if count]
        assert sum(each.weight for each in plan.collections) == pytest.approx(1.0, rel=1e-14)


# -- privacy of the plans --------------------------------------------------------------------------------------------

SLACK = 1 + 1e-5  # the searches certify intervals of 2e-4, the checks narrower ones


def item_delta(problem, level, blanket, rate, n_users):
    epsilon, target = item_target(epsilon=level, delta=problem.delta, set_size=problem.set_size)
    found = published_item_delta(
        domain_size=problem.domain_size,
        n_users=n_users,
        blanket_per_user=blanket,
        sampling_rate=rate,
        epsilon=epsilon,
        rtol=1e-5,
    )
    return found.upper / target


@pytest.mark.parametrize("blanket", [0.4, 1.0, 2.5, 7.0])
def test_segmented_rates_are_the_largest_allowed(blanket):
    plan = Segmented(blanket).plan(PROBLEM)
    rates = plan.scheme.copies
    assert rates == tuple(sorted(rates))
    for level, rate in zip(PROBLEM.levels, rates, strict=True):
        ratio = item_delta(PROBLEM, level, blanket, rate, 200)
        assert ratio <= SLACK
        assert rate == 1.0 or ratio >= 0.999
    own = 2 * np.dot(PROBLEM.level_counts, rates) / 200
    assert plan.messages_per_user == pytest.approx(blanket + own, rel=1e-14)


@pytest.mark.quick("mm", "sepmm")
@pytest.mark.parametrize("name", ["mm", "sepmm", "weighted-sepmm", "inverse-variance-sepmm"])
def test_balls_into_bins_meet_the_lowest_level_with_all_users_or_every_level_with_its_own(name):
    plan = BallsIntoBins(name=name).plan(PROBLEM)
    blankets = [each.announcement.blanket_per_user for each in plan.collections]
    counts = (200,) if name == "mm" else PROBLEM.level_counts
    for level, blanket, n in zip(PROBLEM.levels, blankets, counts, strict=name != "mm"):
        assert item_delta(PROBLEM, level, blanket, 1.0, n) <= SLACK
        assert item_delta(PROBLEM, level, 0.998 * blanket, 1.0, n) > 1
    assert plan.blanket_per_user == pytest.approx(np.dot(counts, blankets) / 200, rel=1e-14)
    assert plan.messages_per_user == plan.blanket_per_user + 2


def test_shuffled_subset_exponential_meets_the_lowest_level():
    plan = SubsetExponential().plan(PROBLEM)
    local, size = plan.parameters["local_epsilon"], plan.parameters["subset_size"]
    randomizer = subset_exponential(domain_size=9, set_size=2, subset_size=size, local_epsilon=local)
    found = VariationBound(variation=randomizer, n_users=200).delta(epsilon=0.5, rtol=1e-5)
    assert found.upper <= 1e-4 * SLACK
    assert found.lower >= 0.999 * 1e-4


def test_among_few_users_shuffling_gains_little_and_no_less():
    """Ten users have local epsilon 1.348 instead of the level, 1. Above 1.348 the proven bound fails."""
    few = Problem(domain_size=8, set_size=2, levels=(1.0,), level_counts=(10,), delta=1e-2, assumptions=PLAIN)
    local = ProvenSubsetExponential(subset_size=2).plan(few).parameters["local_epsilon"]

    def delta(local_epsilon):
        randomizer = subsets.SubsetExponential(local_epsilon=local_epsilon, domain_size=8, set_size=2, subset_size=2)
        return BlanketBound(randomizer=randomizer, n_users=10, rtol=1e-6).delta(epsilon=1.0).upper

    assert delta(local) <= 1e-2 * SLACK
    assert delta(local * 1.001) > 1e-2


# -- what files declare ------------------------------------------------------------------------------------------------


def test_the_paper_has_these_competitors_and_no_others():
    paper = {"subexp-local", "subexp-shuffle", "mm", "sepmm", "weighted-sepmm"}
    assert {name for (_, name), each in every().items() if each.in_paper} == paper == set(paper_competitors())
    assert {accounting for (accounting, _), each in every().items() if each.in_paper} == {"published"}
    roles = {name: each.role for (accounting, name), each in every().items() if accounting == "published"}
    assert {name for name, role in roles.items() if role == "curve"} == {"segmented"}


@pytest.mark.parametrize(
    ("file", "option", "fits", "does_not"),
    [
        ("almost_single_message", "log_power", (0, 1.0, 9.5), (-0.01, "1")),
        ("balls_into_bins", "analysis", ("numerical", "closed-form"), ("proven", "")),
        ("correlated_noise", "flood_share", (1e-9, 0.1, 0.999), (0, 1, -0.5, 1.5)),
        ("fake_users", "fakes_per_user", (1, 2, 1_000_000), (0, 1_000_001, 1.5)),
        ("subset_exponential", "local_epsilon", (1e-12, 2.0, 50), (0, 9e-13, 50.001)),
    ],
)
def test_the_configuration_takes_what_the_methods_take(file, option, fits, does_not):
    """It takes nothing else: an unknown option or method is refused before any job starts."""
    sections = schemas()["competitors"]
    check = Draft202012Validator({"type": "object", "properties": sections}).is_valid
    assert all(check({file: {option: value}}) for value in fits)
    assert not any(check({file: {option: value}}) for value in does_not)
    default = sections[file]["properties"][option]["default"]
    assert check({file: {option: default}})
    for name in {name for side, _, name in listed()[file].methods if side == "published"} - {"subexp-shuffle"}:
        both = [made(every()["published", name], section) for section in ({}, {file: {option: fits[-1]}})]
        assert [getattr(method, option) for method in both] == [default, fits[-1]]
    assert not check({file: {f"{option}s": fits[0]}})
    assert check({"methods": ["mm", "sepmm"]})
    assert not check({"methods": ["mm", "mm"]})
    assert not check({"methods": ["mmm"]})
