"""The search for a signed blanket, step by step: the law of a point, the descent, budgets and errors."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from segshuffle.accounting.numerics.gaussian import gaussian_ratio
from segshuffle.blankets.signed import Signed
from segshuffle.errors import InfeasibleError
from segshuffle.protocols import signed
from segshuffle.protocols.assumptions import Assumptions
from segshuffle.protocols.base import Plan, Problem
from segshuffle.protocols.poisson import PoissonSegmented
from segshuffle.protocols.signed import SignedSegmented, _Candidate, _descend, _law, _lowest, _Point

PROBLEM = Problem(9, 2, (0.5, 2.0), (60, 140), 1e-3)
HALF = replace(PROBLEM, assumptions=Assumptions(honest_fraction=0.5))
TAIL = math.log(0.1)


@pytest.mark.parametrize("problem", [PROBLEM, HALF], ids=["all honest", "half honest"])
@pytest.mark.parametrize("variance", [0.3, 2.0, 40.0])
@pytest.mark.parametrize("size", [1.2, 3.0, 10.0])
def test_the_law_of_a_point_has_its_variance_its_sizes_and_its_flood(problem, variance, size):
    """All users' noise has the variance; what is hidden in is the honest users'."""
    mean = 90.0 * problem.honest_users / problem.n_users
    law = _law(problem, _Point(math.log(variance), TAIL, math.log(size)), mean)
    assert law.variance(90.0) == pytest.approx(variance, rel=1e-4)
    noise = law.parts(mean)[0]
    assert noise.mean * (1 - noise.p) / noise.p == pytest.approx(size, rel=1e-4)
    assert law.flood_p == 0.9
    assert (round(law.p, 6), round(law.flood, 8)) == (law.p, law.flood), "what is announced is short"
    assert law.means[0] <= mean


def test_sizes_are_kept_above_1_and_clusters_below_their_largest():
    small = _law(PROBLEM, _Point(math.log(2.0), TAIL, 0.0), 90.0)
    noise = small.parts(90.0)[0]
    assert noise.mean * (1 - noise.p) / noise.p == pytest.approx(1.02, rel=1e-4)
    assert _law(PROBLEM, _Point(math.log(2.0), math.log(0.001), 1.0), 900.0).flood_p == 0.98
    # few pairs of messages: clusters are as large as a size of 1 lets them be
    few = _law(PROBLEM, _Point(math.log(2.0), TAIL, 1.0), 4.0)
    flood = few.parts(4.0)[2]
    assert 1.0 <= flood.mean * (1 - flood.p) / flood.p <= 1.01


@pytest.mark.parametrize(
    ("variance", "tail", "size", "mean"),
    [
        (40.0, TAIL, 3.0, 10.0),  # more noise than there are messages
        (1e-14, TAIL, 0.1, 90.0),  # none that its digits show: all would be flood
        (5e4, TAIL, 0.1, 9e5),  # clusters beyond the largest
        (2.0, 0.1, 0.1, 90.0),  # a tail above 1
        (2.0, TAIL, 0.1, 2e6),  # beyond the accountant's means
        (9.5e-4, TAIL, 0.1, 1.001e-3),  # so few messages that clusters are of one, to four digits
    ],
)
def test_a_point_without_a_law(variance, tail, size, mean):
    assert _law(PROBLEM, _Point(math.log(variance), tail, size), mean) is None


def test_a_descent_that_nothing_helps_looks_at_every_step_and_half_of_it():
    start, asked = _Point(1.0, -2.0, 0.5, 0.0), set()

    def error(point):
        asked.add(point)
        return sum((a - b) ** 2 for a, b in zip(point, start, strict=True))

    _descend(start, error)
    steps = {
        (axis, sign * scale * step)
        for axis, step in enumerate((0.2, 0.5, 0.4, 0.06))
        for sign in (1, -1)
        for scale in (1, 0.5, 0.25, 0.125, 0.0625)
    }
    expected = {start, *(start._replace(**{_Point._fields[axis]: start[axis] + step}) for axis, step in steps)}
    assert asked == expected


@pytest.mark.parametrize("target", [_Point(1.25, -1.4, 0.2, -0.04), _Point(0.7, -2.9, 0.9, -0.05)])
def test_a_descent_ends_where_no_step_helps(target):
    start, asked = _Point(1.0, -2.0, 0.5, 0.0), {}

    def error(point):
        asked[point] = sum(((a - b) / c) ** 2 for a, b, c in zip(point, target, (0.2, 0.5, 0.4, 0.06), strict=True))
        return asked[point]

    _descend(start, error)
    best = min(asked, key=asked.get)
    assert max(abs(a - b) / c for a, b, c in zip(best, target, (0.2, 0.5, 0.4, 0.06), strict=True)) <= 0.125
    assert len(asked) < 60


def test_a_descent_without_an_end_is_given_up():
    asked = set()
    _descend(_Point(0.0, 0.0, 0.0), lambda point: asked.add(point) or -point.log_variance)
    assert 50 <= len(asked) < 60


def test_the_two_lowest_minima():
    inf = math.inf
    assert _lowest([3.0, 1.0, 2.0, 0.5, 5.0]) == [3, 1]
    assert _lowest([1.0, 2.0, inf, 4.0, 3.0, 3.5, 0.0]) == [6, 0]
    assert _lowest([1.0, 1.0, 2.0]) == [0, 1]
    assert _lowest([5.0, 4.0, 3.0]) == [2]
    assert _lowest([inf, inf]) == []


def candidate(error, own=1.0, wanted=1.0, limits=(1.0,), copies=(1.0,)):
    return _Candidate(Signed(0.5, 0.5, 0.5), 1.0, np.array(limits), np.array(copies), error, own, wanted)


def test_room_above_the_copies_is_promised_in_part():
    """exp(-0.2 times the mean of ln 1.1, 0.3 at most of ln 2, and nothing of a level that sends nothing)."""
    found = candidate(7.0, limits=(2.2, 8.0, 0.5), copies=(2.0, 4.0, 0.0)).promise
    assert found == pytest.approx(7.0 * math.exp(-0.2 * (math.log(1.1) + 0.3) / 3), rel=1e-12)


@pytest.mark.parametrize("problem", [PROBLEM, Problem(9, 1, (0.5, 2.0), (60, 140), 1e-3)], ids=["two items", "one"])
def test_variances_are_tried_around_those_of_gaussian_curators_and_steps_start_from_the_best(problem, monkeypatch):
    asked, single = [], PoissonSegmented(blanket_per_user=2.0).plan(problem)
    gaussian = [2 * problem.pairs / gaussian_ratio(epsilon=level, delta=1e-3) ** 2 for level in (2.0, 0.5)]
    target = math.log(3.0)

    def error(point):
        return 0.5 * single.mse_bound * (1 + (point.log_variance - target) ** 2 + (point.log_size - 1.0) ** 2)

    def made(self, problem, point, budget, near):
        best = min((error(each) for each, _ in asked), default=None)
        assert (near.error if near else None) == best
        if point.log_size > 1.3:  # there is no such law
            return None
        asked.append((point, near))
        return candidate(error(point))

    monkeypatch.setattr(SignedSegmented, "_candidate", made)
    found, of = SignedSegmented()._search(problem, 5.0, single)
    grid = [point for point, _ in asked[:8]]
    variances = np.exp([point.log_variance for point in grid])
    np.testing.assert_allclose(variances, np.geomspace(0.2 * gaussian[0], 1.3 * gaussian[1], 8), rtol=1e-12)
    size = 1.15 if problem.set_size == 1 else 3.0
    assert {point[1:] for point in grid} == {(math.log(1 - 0.93), math.log(size), 0.0)}
    assert all(point.log_share <= 0 for point, _ in asked)
    assert of.error == error(found) == min(error(point) for point, _ in asked)
    assert abs(found.log_variance - target) < 0.1
    # single dummies with less error than all that was found
    asked.clear()
    assert SignedSegmented()._search(problem, 5.0, replace(single, mse_bound=0.99 * of.error)) is None


def test_variances_that_take_long_tables_are_not_tried():
    """Gaussian curators of the level 0.01 have variances far above 600: nothing is left at one copy."""
    strict = Problem(9, 2, (0.01,), (200,), 1e-3)
    assert 0.2 * 4 / gaussian_ratio(epsilon=0.01, delta=1e-3) ** 2 > 600
    assert SignedSegmented()._search(strict, 5.0, plan_for(1.0, 1.0)) is None


def test_more_copies_let_the_variance_be_so_many_times_larger_squared(monkeypatch):
    asked = []
    monkeypatch.setattr(SignedSegmented, "_candidate", lambda *given: asked.append(given[2]))
    assert (
        SignedSegmented(copies_max=3.0)._search(Problem(9, 2, (0.02,), (200,), 1e-3), 5.0, plan_for(1.0, 1.0)) is None
    )
    assert max(asked).log_variance == pytest.approx(math.log(600 * 9), rel=1e-12)


def test_what_users_send_themselves_is_settled_by_asking_again(monkeypatch):
    asked = []

    def at(self, problem, point, budget, own, near):
        asked.append((own, near))
        return candidate(1.0, own=own, wanted=wanted)

    monkeypatch.setattr(SignedSegmented, "_candidate_at", at)
    method, share = SignedSegmented(copies_max=3.0), math.log(0.8)
    point, wanted = _Point(0.0, TAIL, 1.0, share), 1.5
    found = method._candidate(PROBLEM, point, 20.0, None)
    assert [own for own, _ in asked] == pytest.approx([2 * 3.0, 1.5 * 0.8 * 1.003], rel=1e-12)
    assert [near.own if near else None for _, near in asked] == [None, 6.0]
    assert found.own == asked[-1][0]
    # never more than nine tenths of the budget, and no more than three times
    asked.clear()
    wanted = 1000.0
    method._candidate(PROBLEM, point, 5.0, candidate(1.0, wanted=2.0))
    assert [own for own, _ in asked] == pytest.approx([1.6, 4.5], rel=1e-12)
    asked.clear()
    monkeypatch.setattr(
        SignedSegmented,
        "_candidate_at",
        lambda *given: asked.append(given[4]) or candidate(1.0, own=given[4], wanted=2 * given[4]),
    )
    method._candidate(PROBLEM, point._replace(log_share=0.0), 500.0, candidate(1.0, wanted=1.0))
    assert asked == pytest.approx([1.0, 2.006, 2.006 * 2.006], rel=1e-12)
    monkeypatch.setattr(SignedSegmented, "_candidate_at", lambda *_: None)
    assert method._candidate(PROBLEM, point, 5.0, None) is None


POINT = _Point(math.log(4.0), TAIL, math.log(3.0))


def test_the_rest_of_the_budget_is_blanket_and_its_copies_are_those_that_it_affords():
    method = SignedSegmented(copies_max=2.0)
    found = method._candidate_at(PROBLEM, POINT, 30.0, 4.0, None)
    assert found.blanket_per_user == 26.0
    assert found.own == 4.0
    assert np.all(found.copies <= found.limits)
    assert 2 * np.dot((60, 140), found.copies) / 200 <= 4.0 * (1 + 1e-9)
    free = PoissonSegmented(copies_max=2.0, blanket=found.blanket).plan_at(PROBLEM, 26.0)
    assert found.wanted == pytest.approx(2 * np.dot((60, 140), free.parameters["copies"]) / 200, rel=0.01)
    spent = PoissonSegmented(copies_max=2.0, max_messages=30.0, blanket=found.blanket).plan_at(PROBLEM, 26.0)
    assert found.error == pytest.approx(spent.mse_bound, rel=0.01)
    warm = method._candidate_at(PROBLEM, POINT, 30.0, 4.0, found)
    np.testing.assert_allclose(warm.limits, found.limits, rtol=1e-3)


def test_a_blanket_is_thinned_until_its_table_can_be_had(monkeypatch):
    """0.7^k of the messages, the first whose table is no larger than what is taken on."""
    limit, asked = 4e9, []

    def work(law, mean, log_tail):
        asked.append(mean)
        assert log_tail == pytest.approx(18.0 + math.log(1000.0), rel=1e-12)
        return limit if len(asked) == 3 else limit * 1.01

    monkeypatch.setattr(signed, "table_work", work)
    found = SignedSegmented()._candidate_at(PROBLEM, POINT, 30.0, 4.0, None)
    assert asked == pytest.approx([200 / 9 * 26.0 * 0.7**k for k in range(3)], rel=1e-9)
    assert found.blanket_per_user == pytest.approx(26.0 * 0.49, rel=1e-9)
    asked.clear()
    limit *= 1.01
    assert SignedSegmented()._candidate_at(PROBLEM, POINT, 3000.0, 4.0, None) is None
    assert len(asked) == 13


# -- plans, with what they are made of replaced ------------------------------------------------------------------------


def plan_for(messages, error, name="signed"):
    return Plan(name, PROBLEM, "exact", messages, messages, {}, error)


def test_a_little_more_noise_where_the_guide_was_too_hopeful(monkeypatch):
    """Each plan is tried at 0, 0.01, 0.02, 0.04 more, until one is as guided or no better than the last."""
    asked = []

    def made(self, problem, point, budget, near):
        asked.append(point.log_variance)
        return candidate(1.0)

    monkeypatch.setattr(SignedSegmented, "_candidate", made)

    def tried(errors):
        asked.clear()
        left = iter(errors)

        def at(self, problem, blanket):
            assert (self.copies_max, self.max_messages, blanket) == (1.0, 9.0, 1.0)
            error = next(left)
            if error is None:
                raise InfeasibleError("too little")
            return plan_for(9.0, error)

        monkeypatch.setattr(PoissonSegmented, "plan_at", at)
        plans = list(SignedSegmented()._certified(PROBLEM, 9.0, _Point(1.0, TAIL, 1.0), candidate(1.0)))
        return [plan.mse_bound for plan in plans]

    assert tried([1.003]) == [1.003]
    assert asked == [1.0]
    assert tried([1.2, 1.1, 1.05, 1.04]) == [1.2, 1.1, 1.05, 1.04]
    assert asked == pytest.approx([1.0, 1.01, 1.02, 1.04], rel=1e-12)
    assert tried([1.2, 1.2]) == [1.2, 1.2]
    assert tried([1.2, 1.1, 1.15]) == [1.2, 1.1, 1.15]
    assert tried([None, 1.1, 1.0]) == [1.1, 1.0]
    monkeypatch.setattr(SignedSegmented, "_candidate", lambda *_: None)
    assert tried([]) == []


@pytest.fixture
def by_budget(monkeypatch):
    """Errors of 1/budget, budgets of 20 or less without a plan where that is asked; single dummies take 10."""
    asked = []

    def plan(self, problem):
        asked.append(self.max_messages)
        return plan_for(self.max_messages, 1 / self.max_messages)

    monkeypatch.setattr(SignedSegmented, "plan", plan)
    monkeypatch.setattr(PoissonSegmented, "plan", lambda self, problem: plan_for(10.0, 1.0))
    monkeypatch.setattr(SignedSegmented, "_without_signs", lambda *_: None)
    return asked


@pytest.mark.parametrize("least", [6.0, 19.0, 20.0, 37.0, 80.5, 160.0])
def test_the_fewest_messages_are_found_within_a_tenth(by_budget, least):
    plan = SignedSegmented(1.0)._fewest(PROBLEM, 1 / least)
    assert least <= plan.messages_per_user <= 1.1 * least
    assert (plan.method, by_budget[0]) == ("signed", 20.0)
    doubled = [20.0, *(20.0 * 2**k for k in (1, 2, 3) if 20.0 * 2 ** (k - 1) < least)]
    assert by_budget[: len(doubled)] == doubled
    # what was too little is not asked for again
    assert least <= 20.0 or min(by_budget[len(doubled) :]) > doubled[-2]


def test_an_error_that_eight_times_the_messages_do_not_reach_is_refused(by_budget):
    with pytest.raises(
        InfeasibleError, match=r"target_error = 0.00621118 is below 0.00625, the error with 160 messages"
    ):
        SignedSegmented(1.0)._fewest(PROBLEM, 1 / 161)
    assert by_budget == [20.0, 40.0, 80.0, 160.0]


def test_single_dummies_are_where_the_search_begins_if_they_reach_the_error(by_budget, monkeypatch):
    monkeypatch.setattr(SignedSegmented, "_without_signs", lambda *_: plan_for(30.0, 0.01, "clustered"))
    plan = SignedSegmented(1.0)._fewest(PROBLEM, 1 / 60)
    assert (plan.messages_per_user, plan.method) == (30.0, "signed")
    assert by_budget[0] == pytest.approx(math.sqrt(7.5 * 30.0), rel=1e-12)
    assert all(budget < 30.0 for budget in by_budget)
    assert by_budget[-1] > 30.0 / 1.1 / 1.05


def test_budgets_without_a_plan_are_too_small(by_budget, monkeypatch):
    whole = SignedSegmented.plan

    def plan(self, problem):
        found = whole(self, problem)
        if self.max_messages < 13.0:
            raise InfeasibleError("too little")
        return found

    monkeypatch.setattr(SignedSegmented, "plan", plan)
    assert 13.0 <= SignedSegmented(1.0)._fewest(PROBLEM, 1.0).messages_per_user <= 1.1 * 13.0


def test_the_best_of_what_was_certified_and_single_dummies(monkeypatch):
    """Without a budget there is twice what single dummies take."""
    asked = []
    monkeypatch.setattr(PoissonSegmented, "plan", lambda self, problem: plan_for(10.0, 1.0, "poisson"))

    def search(self, problem, budget, single):
        asked.append(budget)
        return (POINT, candidate(1.0)) if errors else None

    monkeypatch.setattr(SignedSegmented, "_search", search)
    monkeypatch.setattr(SignedSegmented, "_certified", lambda *_: [plan_for(1.0, error) for error in errors])
    for errors, best in (([1.5, 0.7, 0.9], 0.7), ([1.5], 1.0), ([], 1.0)):  # noqa: B007 - what is certified reads it
        plan = SignedSegmented().plan(PROBLEM)
        assert (plan.mse_bound, plan.method) == (best, "signed")
    SignedSegmented(max_messages=3.0).plan(PROBLEM)
    assert asked == [20.0, 20.0, 20.0, 3.0]


def test_where_all_users_hold_everything_there_is_nothing_to_search():
    plan = SignedSegmented().plan(Problem(2, 2, (1.0,), (20,), 1e-3))
    assert (plan.method, plan.parameters["copies"]) == ("signed", (1.0,))


def test_single_dummies_that_do_not_reach_an_error_are_no_plan(monkeypatch):
    def plan(self, problem):
        assert (self.copies_max, self.target_error, self.cluster) == (3.0, 0.5, 0.0)
        if hopeless:
            raise InfeasibleError("too little")
        return plan_for(1.0, 0.5)

    monkeypatch.setattr(signed.ClusteredSegmented, "plan", plan)
    hopeless = False
    assert SignedSegmented(3.0)._without_signs(PROBLEM, 0.5) == plan_for(1.0, 0.5)
    hopeless = True
    assert SignedSegmented(3.0)._without_signs(PROBLEM, 0.5) is None
