"""Plans with clustered and signed blankets: certified, never worse than the Poisson plan, simulated as they say."""

import functools
import json
import math
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
from commands import answer, printed
from simulations import check_simulation, make_sample

from segshuffle.accounting.collections.product import delta_interval
from segshuffle.blankets.clustered import Clustered
from segshuffle.blankets.signed import Signed
from segshuffle.blankets.singles import SINGLES
from segshuffle.collection.planning import answer as answering
from segshuffle.collection.planning.question import Question
from segshuffle.digits import rounded_up
from segshuffle.errors import InfeasibleError, ParameterError
from segshuffle.plans.plan import PLAIN, Assumptions, Problem
from segshuffle.plans.targets import Target, certified_delta, error_of_item, is_certified
from segshuffle.protocols.proven import SINGLE, ProvenSegmented

ONE = Problem(domain_size=17, set_size=1, levels=(1.0,), level_counts=(5000,), delta=2e-6, assumptions=PLAIN)
EIGHT = Problem(domain_size=128, set_size=8, levels=(0.5,), level_counts=(50_000,), delta=2e-7, assumptions=PLAIN)
HONEST = Problem(17, 2, (0.5, 2.0), (200, 300), 1e-4, Assumptions("exactly", honest_fraction=0.8, rounds=2))


clustered = functools.partial(ProvenSegmented, laws=(SINGLE, "clustered"))
signed = functools.partial(ProvenSegmented, laws=(SINGLE, "signed"))


@functools.cache
def plan_of(method, problem):
    return method.plan(problem)


CASES = [
    (clustered(max_messages=4.0), HONEST),
    (clustered(max_messages=9.0), EIGHT),
    (signed(max_messages=2.0), ONE),
    (signed(max_messages=1.1), ONE),
    # blankets without any copies that are private enough
    (
        signed(copies_max=64.0, max_messages=18.8),
        Problem(449_232, 15, (0.0213, 0.2302, 10.6804), (7, 3, 3_722_357), 3e-7, PLAIN),
    ),
]


@pytest.mark.quick("method2-problem2")
@pytest.mark.parametrize(("method", "problem"), CASES)
def test_plans_keep_their_word(method, problem):
    plan = plan_of(method, problem)
    assert plan.method == method.name
    assert plan.messages_per_user <= method.max_messages * (1 + 1e-9)
    assert plan.mse_bound <= ProvenSegmented(max_messages=method.max_messages).plan(problem).mse_bound
    blanket = plan.scheme.law
    mean = problem.honest_mean(plan.blanket_per_user)
    assert all(part.mean >= part.p / (1 - part.p) for part in blanket.parts(mean))
    for level, copies, row in zip(problem.levels, plan.scheme.copies, plan.certificate, strict=True):
        found = delta_interval(blanket.pair(mean, copies), pairs=problem.pairs, epsilon=level, rtol=1e-2)
        assert row["epsilon"] == level
        assert found.lower <= row["delta_upper"] <= problem.delta


def random_problem(seed):
    """Any sizes, levels, honesty and rounds; and the least error of single dummies with any number of messages."""
    rng = np.random.default_rng(seed)
    d, levels = (
        int(rng.integers(4, 40)),
        np.sort(rng.choice([0.3, 0.5, 0.8, 1.2, 2.0], rng.integers(1, 4), replace=False)),
    )
    honest = Assumptions("exactly", honest_fraction=float(rng.choice([1.0, 0.8])), rounds=int(rng.integers(1, 3)))
    counts = tuple(int(n) for n in rng.integers(200, 5000, levels.size))
    delta = float(10.0 ** -rng.integers(4, 8))
    problem = Problem(d, int(rng.integers(1, 4)), tuple(levels.tolist()), counts, delta, honest)
    return problem, ProvenSegmented().plan(problem), rng


@pytest.mark.quick(0)
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("make", [clustered, signed])
def test_never_worse_than_single_dummies(make, seed):
    """In both directions: the least error within a budget, and the fewest messages for an error."""
    problem, free, rng = random_problem(seed)
    budget = float(rng.uniform(0.8, 3.0)) * free.messages_per_user
    plan = make(max_messages=budget).plan(problem)
    assert plan.mse_bound <= ProvenSegmented(max_messages=budget).plan(problem).mse_bound
    assert plan.messages_per_user <= budget * (1 + 1e-9)
    assert all(row["delta_upper"] <= problem.delta for row in plan.certificate)
    error = float(rng.uniform(1.01, 1.6)) * free.mse_bound
    fewest = make(target_error=error).plan(problem)
    single = ProvenSegmented(target_error=error).plan(problem)
    assert fewest.mse_bound <= error
    assert fewest.messages_per_user <= single.messages_per_user


#: Searches compare estimates, and round numbers of dummies.
SEARCHED = 1.001
AT_MOST = Assumptions("at-most")
SHARED = Assumptions("at-most", honest_fraction=0.7)
RARE = Problem(4912, 1, (5.06,), (540,), 1.85e-5)
HIGH = Problem(445, 1, (7.18, 8.58), (684, 684), 1.4664046227750657e-08)
MANY = Problem(1922, 1, (1.89, 6.76), (216, 99505), 2.82e-11)


@pytest.mark.parametrize(
    ("problem", "less", "more"),
    [
        pytest.param(RARE, {"copies_max": 1.0}, {"copies_max": 16.0}, id="16 copies"),
        pytest.param(RARE, {"copies_max": 1.0}, {"copies_max": 64.0}, id="64 copies"),
        pytest.param(HIGH, {"max_messages": 10.0}, {"max_messages": 100.0}, id="100 messages"),
        pytest.param(HIGH, {"max_messages": 10.0}, {"max_messages": 1500.0}, id="1500 messages"),
        pytest.param(MANY, {"copies_max": 1.0, "max_messages": 105.0}, {"max_messages": 105.0}, id="two minima"),
    ],
)
def test_a_larger_class_of_plans_that_was_searched_in_the_wrong_place(problem, less, more):
    """Gaussian noise tells of one minimum among many dummies; the best plan has fewer dummies than items."""
    few, many = (ProvenSegmented(**{"copies_max": 64.0} | each).plan(problem).mse_bound for each in (less, more))
    assert many <= few * SEARCHED


MORE_FREEDOM = {
    "copies": lambda method, problem: (replace(method, copies_max=4 * method.copies_max), problem),
    "budget": lambda method, problem: (replace(method, max_messages=4 * method.max_messages), problem),
    "delta": lambda method, problem: (method, replace(problem, delta=8 * problem.delta)),
    "level": lambda method, problem: (method, replace(problem, levels=tuple(1.3 * each for each in problem.levels))),
    "honest": lambda method, problem: (method, replace(problem, assumptions=Assumptions("at-most"))),
    "law": lambda method, problem: (replace(method, laws=(SINGLE, "clustered")), problem),
}


def nested(seed, freedom, laws=(SINGLE,)):
    """Return the errors of a plan and of one with more freedom, for a random problem; inf if there is no plan."""
    rng = np.random.default_rng([seed, 50])
    d, s = int(np.exp(rng.uniform(1.5, 12))), int(np.exp(rng.uniform(0, 3)))
    levels = np.round(np.exp(np.sort(rng.uniform(-3, 2.3, 2))), 3)
    counts = np.exp(rng.uniform(4, 12, 2)).astype(int)
    problem = Problem(max(d, s), s, tuple(levels.tolist()), tuple(counts.tolist()), 1e-3 / counts.sum(), SHARED)
    copies_max, max_messages = float(rng.choice([1, 4, 16])), s * float(np.exp(rng.uniform(0, 5)))
    method = ProvenSegmented(laws=laws, copies_max=copies_max, max_messages=max_messages)
    for chosen, asked in ((method, problem), MORE_FREEDOM[freedom](method, problem)):
        try:
            yield chosen.plan(asked).mse_bound
        except InfeasibleError:
            yield math.inf


@pytest.mark.quick(4)
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("freedom", MORE_FREEDOM)
def test_a_superset_of_plans_never_has_a_worse_best_plan(freedom, seed):
    few, many = nested(seed, freedom)
    assert many <= few * SEARCHED


@pytest.mark.exhaustive
@pytest.mark.parametrize("law", ["clustered", "signed"])
def test_a_superset_of_plans_with_more_choices_rarely_has_a_worse_best_plan(law):
    """Laws with further choices have no order to search by.

    The first 20 seeds have no worse pair. A former search had 8 among 1,200 pairs (120 seeds): seven by .1 to .18 %,
    and one with signed dummies by 2.3 %.
    """
    freedoms = [each for each in MORE_FREEDOM if each != "law"]
    pairs = [nested(seed, freedom, (SINGLE, law)) for seed in range(20) for freedom in freedoms]
    assert max(many / few for few, many in pairs if math.isfinite(few)) <= SEARCHED


@pytest.mark.parametrize(
    ("problem", "law", "freedom", "limits"),
    [
        (Problem(613, 1, (0.07,), (5249,), 1.9e-7, SHARED), "clustered", "delta", (1.0, 144.0)),
        (Problem(682, 1, (0.064,), (1451,), 6.9e-7, SHARED), "signed", "delta", (1.0, 2.85)),
        (Problem(7, 2, (0.992, 1.899), (14_177, 15_901), 3.3e-8, SHARED), "signed", "copies", (4.0, 72.9)),
        (Problem(1732, 1, (0.08, 0.255), (100, 1882), 5.05e-7, SHARED), "signed", "copies", (4.0, 2.8)),
        (Problem(1732, 1, (0.08, 0.255), (100, 1882), 5.05e-7, SHARED), "signed", "copies", (8.0, 2.8)),
    ],
)
def test_more_freedom_did_not_hide_a_valley(problem, law, freedom, limits):
    """More freedom once led to another valley, with 3.05, 1.049, 1.048, 1.1 and 1.06 times the error."""
    method = ProvenSegmented(laws=(SINGLE, law), copies_max=limits[0], max_messages=limits[1])
    freer, easier = MORE_FREEDOM[freedom](method, problem)
    assert freer.plan(easier).mse_bound <= method.plan(problem).mse_bound * SEARCHED


@pytest.mark.parametrize(
    ("problem", "dummies", "law"),
    [
        (Problem(2587, 2, (0.172, 5.782), (2192, 73), 4.4e-7), 3.0, Signed(0.1, 0.0001, 0.91)),
        (Problem(29_348, 4, (0.22, 0.25, 1.77), (1451, 9214, 10890), 4.6e-8), 16.1, Signed(0.324, 0.0001, 0.9)),
    ],
)
def test_no_worse_than_a_given_blanket_with_few_dummies(problem, dummies, law):
    """The search once had 4 to 18 % more error here, because copies have many kinks among few dummies."""
    method = ProvenSegmented(laws=(SINGLE, "signed"), copies_max=4.0)
    given = method.searches(problem)[0].certified_plan(law, dummies)
    found = replace(method, max_messages=given.messages_per_user).plan(problem)
    assert found.mse_bound <= given.mse_bound * SEARCHED


@pytest.mark.parametrize(
    ("problem", "dummies", "law"),
    [
        (Problem(14, 13, (0.135, 1.406, 2.085), (65, 110, 5976), 1.6e-6, AT_MOST), 2.205, Clustered(0.065)),
        (Problem(182, 3, (0.153, 1.659), (1265, 2910), 2.4e-6, AT_MOST), 26.28, Clustered(0.0316)),
    ],
)
def test_no_worse_than_a_given_blanket_that_allows_whole_copies(problem, dummies, law):
    """With slightly fewer dummies the error is far larger, so that the search once did not see these two."""
    method = ProvenSegmented(laws=("clustered",), copies_max=4.0)
    given = method.searches(problem)[0].certified_plan(law, dummies)
    assert method.plan(problem).mse_bound <= given.mse_bound * SEARCHED


@pytest.mark.parametrize(
    ("problem", "copies_max", "dummies"),
    [
        pytest.param(Problem(42, 42, (0.11, 0.283, 10.71), (24094, 7826, 1807), 1.59e-7), 4.0, 0.4887, id="elsewhere"),
        pytest.param(Problem(6, 6, (0.145, 2.261), (16494, 161), 3.98e-6), 16.0, 2.3771, id="one level"),
    ],
)
def test_single_dummies_are_as_many_as_whole_copies_need(problem, copies_max, dummies):
    """The search once had .16 and .13 % more error: it moved to whole copies in one valley, for all levels at once."""
    method = ProvenSegmented(copies_max=copies_max, max_messages=10.0)
    given = method.searches(problem)[0].certified_plan(SINGLES, dummies, 10.0)
    assert method.plan(problem).mse_bound <= given.mse_bound * SEARCHED


def test_copies_slightly_above_whole_ones_are_sent():
    """A blanket that allows 2.0011 copies has .1 % less error with them than with 2."""
    problem = Problem(19, 3, (0.099,), (1890,), 3.97e-6)
    plan = ProvenSegmented(copies_max=64.0, blanket_per_user=268.84).plan(problem)
    assert 2.0005 < plan.scheme.copies[0] < 2.002


MORE_VALLEYS = {
    "copies_max that is no whole number": (
        Problem(1604, 3, (0.077, 0.093, 0.18, 5.011), (2761, 7911, 7613, 2103), 4.9e-7),
        (2.5, 10.0),
        (SINGLES, 3.15),
    ),
    "no law with most choices": (
        Problem(59_402, 44, (0.229,), (65_492,), 1.5e-7),
        (4.0, 733.7093),
        (Signed(0.853499, 0.98, 0.72304787), 723.4),
    ),
    "as few dummies as the budget has": (
        Problem(1732, 1, (0.08, 0.255), (100, 1882), 5.05e-7, SHARED),
        (4.0, 2.8),
        (Signed(0.081422, 0.0001, 0.92010569), 2.775),
    ),
}


@pytest.mark.parametrize("name", MORE_VALLEYS)
def test_no_worse_than_a_blanket_of_another_valley(name):
    """Searches that were tried ended here with .4, 5 and 28 % more error."""
    problem, (copies_max, max_messages), (law, dummies) = MORE_VALLEYS[name]
    method = ProvenSegmented(laws=(law.name,), copies_max=copies_max, max_messages=max_messages)
    given = method.searches(problem)[0].certified_plan(law, dummies, max_messages)
    assert method.plan(problem).mse_bound <= given.mse_bound * SEARCHED


ALONE = """
import json
from segshuffle.plans.plan import Assumptions, Problem
from segshuffle.protocols.proven import ProvenSegmented
problem = Problem(17, 1, (0.5, 2.0), (2000, 3000), 2e-6, Assumptions("at-most"))
print(json.dumps(ProvenSegmented(laws=("poisson", "LAW"), max_messages=9.0).plan(problem).as_dict()))
"""


@pytest.mark.parametrize("law", ["clustered", "signed"])
def test_a_plan_does_not_depend_on_what_was_asked_before(law):
    command = [sys.executable, "-c", ALONE.replace("LAW", law)]
    alone = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    problem = Problem(17, 1, (0.5, 2.0), (2000, 3000), 2e-6, Assumptions("at-most"))
    method = ProvenSegmented(laws=(SINGLE, law), max_messages=9.0)
    for other in (
        replace(method, max_messages=30.0),
        replace(method, copies_max=2.0),
        ProvenSegmented(blanket_per_user=1.0),
    ):
        other.plan(problem)
    ProvenSegmented().plan(replace(problem, levels=(0.5, 2.1)))
    assert json.loads(json.dumps(method.plan(problem).as_dict())) == json.loads(alone)


@pytest.mark.parametrize("law", ["poisson", "clustered", "signed"])
def test_plans_for_several_budgets_do_not_depend_on_their_order(law):
    method, budgets = ProvenSegmented(laws=(law,)), [12.0, 5.0, 30.0, 5.0]
    plans = method.plans_within(HONEST, budgets)
    assert plans == method.plans_within(HONEST, budgets[::-1])[::-1]
    assert [plan.messages_per_user <= budget for plan, budget in zip(plans, budgets, strict=True)] == [True] * 4


@pytest.mark.parametrize("law", ["poisson", "clustered", "signed"])
def test_limits_may_be_integers(law):
    problem = Problem(26, 4, (0.5, 1.0), (1500, 1500), 1e-6, PLAIN)
    plan = ProvenSegmented(laws=(law,), copies_max=4, max_messages=10).plan(problem)
    assert plan == ProvenSegmented(laws=(law,), copies_max=4.0, max_messages=10.0).plan(problem)
    assert not any(copies.is_integer() for copies in plan.scheme.copies)


@pytest.mark.parametrize("law", ["poisson", "clustered", "signed"])
def test_a_plan_announces_no_digits_that_mean_nothing(law):
    """Up to five digits for the dummies, as more would change the error by less than 2e-4; six for the copies."""
    plan = ProvenSegmented(laws=(law,), max_messages=12.0).plan(HONEST)
    assert len(f"{plan.blanket_per_user!r}".replace(".", "").strip("0")) <= 5
    assert all(copies == float(f"{copies:.6g}") for copies in plan.scheme.copies)


def test_no_certificate_is_above_a_target_of_many_digits():
    """Here the certified delta of one copy is the target, and ten digits of it, rounded up, are above it."""
    problem = Problem(domain_size=20, set_size=3, levels=(2.0,), level_counts=(1000,), delta=1e-9, assumptions=PLAIN)
    for _ in range(20):  # the certificate depends in its last digits on the target
        target = Target.of(problem, 2.0)
        problem = replace(problem, delta=certified_delta(SINGLES, problem.honest_mean(1.0), target, 1.0)[1])
    plan = ProvenSegmented(blanket_per_user=1.0).plan(problem)
    assert plan.scheme.copies == (1.0,)
    assert plan.certificate[0]["delta_upper"] == problem.delta < rounded_up(problem.delta)


def test_a_delta_far_below_its_target_is_certified_to_be_below():
    """It is about e^-452, and cannot be told from 0 to a promille."""
    lower, upper = certified_delta(Clustered(0.868605), 1485.0, Target(30, 2.229, 3.4e-26), 1.0)
    assert 0 <= lower <= upper <= 3.4e-26


def test_a_plan_keeps_away_from_a_jump_of_delta():
    """Copies larger by a promille have a delta of 3e-8, so that a bound need not be wide to be above the target."""
    problem = Problem(100, 3, (1.5, 2.0), (100, 100), 1e-12, Assumptions("at-most", rounds=2))
    law, mean = Clustered(0.168845), problem.honest_mean(0.10158)
    plan = ProvenSegmented(laws=("clustered",)).searches(problem)[0].certified_plan(law, 0.10158)
    copies, target = plan.scheme.copies[1], Target.of(problem, 2.0)
    _, near = certified_delta(law, mean, replace(target, epsilon=2.0 * (1 - 9e-5)), copies)
    beyond, _ = certified_delta(law, mean, target, 1.001 * copies)
    assert near <= 2 * problem.delta
    assert beyond > 1e3 * problem.delta


def test_a_rough_law_next_to_a_jump_of_delta_stops_no_search():
    """The counts that a rough law samples hang on the length of its tails, so bounds from two tables may cross."""
    law, mean = Signed(0.236099, 0.8655, 0.99584717), 213.9219760024944
    assert is_certified(law, mean, Target(1, 7.653, 1e-9), 1.99954)


@pytest.mark.exhaustive
def test_no_law_and_no_budget_for_ten_users():
    """A warning of a search without a budget would be an error here."""
    with pytest.raises(InfeasibleError):
        signed(copies_max=64.0).plan(Problem(10**7, 1, (0.02,), (10,), 1e-10, PLAIN))


@pytest.mark.parametrize("blanket", [Clustered(0.6), Signed(0.5, 0.6, 0.5)])
def test_simulations_have_the_error_that_is_expected(blanket):
    problem = Problem(
        domain_size=9, set_size=2, levels=(0.5, 2.0), level_counts=(60, 140), delta=1e-3, assumptions=PLAIN
    )
    method = ProvenSegmented()
    check_simulation(method, method.searches(problem)[0].certified_plan(blanket, 1.0), make_sample(problem, 1500))


def test_what_cannot_be_had_is_refused():
    with pytest.raises(InfeasibleError, match="target_error"):
        clustered(target_error=1e-9).plan(HONEST)
    with pytest.raises(ParameterError, match="target_error"):
        clustered(target_error=1.0, max_messages=3.0)


PLAN = "plan --items 17 --set-size 1 --levels 1:5000 --delta 2e-6"


def test_all_blankets_beside_a_plan_on_request(capsys):
    text = printed(capsys, f"{PLAN} --dummies all")
    assert any(line.startswith("poisson ") for line in text[text.index("\ndummies ") :].splitlines())
    found, alone, named = (
        answer(capsys, f"{PLAN} {dummies}") for dummies in ("--dummies all", "", "--dummies poisson")
    )
    single, saving, precise = of_shipped_laws(found.pop("by_dummies"))
    assert alone.pop("by_dummies") == named.pop("by_dummies") == []
    assert found == alone == named  # the plan is the same, and all that was said of it
    assert single["messages_per_user"] == found["messages_per_user"]
    assert saving["none"] == "no plan is better than one with poisson dummies"
    assert precise["mse_sample"] < 0.7 * single["mse_sample"]
    assert all(row["certificate"][0]["delta_upper"] <= 2e-6 for row in (single, precise))


def of_shipped_laws(rows):
    """Rows of the laws that the documents speak of."""
    by_law = {row["dummies"]: row for row in rows}
    return [by_law[name] for name in ("poisson", "clustered", "signed")]


def of_laws(*names, **limits):
    return ProvenSegmented(laws=(SINGLE, *names), **limits).plan(ONE)


def test_the_best_blanket_for_a_budget():
    best = of_laws("clustered", "signed", max_messages=2.0)
    assert best.scheme.law.name == "signed"
    assert best.messages_per_user <= 2.0
    assert best.mse_bound < 0.5 * of_laws(max_messages=2.0).mse_bound
    with pytest.raises(InfeasibleError):
        of_laws("clustered", "signed", max_messages=1e-6)


def test_a_plan_for_one_item_has_the_bound_of_all():
    """What ranks plans is the item's variance; what a plan says of itself does not depend on what it was made for."""
    measure = error_of_item(0.3, ONE.n_users)
    plan = ProvenSegmented(measure=measure).plan(ONE)
    again = ProvenSegmented(blanket_per_user=plan.blanket_per_user).plan(ONE)
    assert plan.scheme.copies == again.scheme.copies
    assert plan.mse_bound == again.mse_bound


def seconds_of(planned):
    began = time.process_time()
    planned()
    return time.process_time() - began


LONG = {
    "five levels": Problem(209, 1, (0.101, 0.183, 0.219, 0.425, 2.577), (577_019,) * 5, 1e-24),
    "half of the domain": Problem(71, 30, (0.243, 0.745, 1.714, 2.229), (346_936,) * 4, 3.4e-26),
    "a large domain": Problem(10**7, 64, (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0), (10**6,) * 7, 1e-30),
}


@pytest.mark.quick(0)
@pytest.mark.parametrize("name", LONG)
def test_a_plan_with_many_levels_takes_seconds(name):
    """It takes half a second at most on a fast machine."""
    assert seconds_of(lambda: answering.answer(Question.of(LONG[name]))) < 4.0


#: Each plan has a delta of its own: what was computed for another plan would save time.
NEW_DELTAS = iter(np.linspace(1e-8, 2e-8, 100).tolist())


def ratio_of_measured_and_announced_seconds(law, levels):
    epsilons = tuple(0.5 + 2 * i / levels for i in range(levels))
    problem = Problem(128, 8, epsilons, (10**4,) * levels, next(NEW_DELTAS))
    asked = Question.of(problem, dummies=law)
    return seconds_of(lambda: answering.answer(asked)) / asked.seconds()


@pytest.mark.exhaustive
@pytest.mark.parametrize(("law", "levels"), [("poisson", 100), ("clustered", 10), ("clustered", 30), ("signed", 30)])
def test_announced_seconds_are_those_that_a_plan_takes(law, levels):
    """They are within a factor of 1.4, but a machine may be slow or busy: plans before and after tell how much."""
    before = ratio_of_measured_and_announced_seconds("poisson", 40)
    measured = ratio_of_measured_and_announced_seconds(law, levels)
    after = ratio_of_measured_and_announced_seconds("poisson", 40)
    slowness = (before + after) / 2
    assert 0.1 < slowness < 10
    assert 0.5 < measured / slowness < 2
