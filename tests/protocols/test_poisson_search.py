"""The search for a blanket and copies, with accountants of closed form in the place of the real ones.

A level of epsilon may send epsilon sqrt(mean) copies beside `mean` dummies about an item: then all limits are known,
and a dense scan over the blanket is cheap.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import interpolate

from segshuffle.accounting.numerics.hockey_stick import DeltaInterval
from segshuffle.accounting.numerics.loss_distribution import AccuracyError
from segshuffle.blankets.clustered import Clustered
from segshuffle.errors import InfeasibleError, ParameterError
from segshuffle.protocols import poisson
from segshuffle.protocols.assumptions import Assumptions
from segshuffle.protocols.base import Problem
from segshuffle.protocols.poisson import PoissonSegmented, _local_minima, _Target, _whole_copies_near, lowered

#: Of no other test: what is kept of a target must not meet the real ones.
DELTA = 0.0123
CACHES = (poisson._largest, poisson._delta, poisson._guided, poisson._curve, poisson._least_mean)
CACHES += (poisson._about_least_mean,)


def limit(mean, epsilon, copies_max=64.0):
    return min(epsilon * math.sqrt(mean), copies_max)


@pytest.fixture
def closed_form(monkeypatch):
    for cache in CACHES:
        cache.cache_clear()

    def largest_copies(*, blanket_mean, pairs, epsilon, delta, copies_max=1.0, blanket=None, rtol=None):
        assert (pairs > 0, delta) == (True, DELTA)
        return limit(blanket_mean, epsilon, copies_max)

    def least_blanket_mean(*, copies, pairs, epsilon, delta, blanket=None):
        if epsilon < 1e-3:
            raise InfeasibleError("never")
        return (copies / epsilon) ** 2

    monkeypatch.setattr(poisson, "largest_copies", largest_copies)
    monkeypatch.setattr(poisson, "least_blanket_mean", least_blanket_mean)
    yield
    for cache in CACHES:
        cache.cache_clear()


def problem_of(levels, counts, d=20, s=2, **assumptions):
    return Problem(d, s, levels, counts, DELTA, Assumptions(**assumptions))


def whole(limits):
    """The small excess of a whole number is no more copies."""
    return np.where(np.abs(limits - np.round(limits)) < 1e-7, np.round(limits), limits)


def scanned(method, problem):
    """Least error over a dense grid of blankets, and at and just above whole copies of every level."""
    wholes = [(a / e) ** 2 * (1 + 1e-9) for e in problem.levels for a in range(1, 9)]
    means = np.sort([*np.geomspace(2e-6, 3e3, 300), *wholes])
    errors = []
    for mean in means:
        limits = np.array([limit(mean, e, method.copies_max) for e in problem.levels])
        blanket = mean * problem.domain_size / problem.honest_users
        errors.append(method.chosen(problem, blanket, whole(limits))[1])
    return min(errors)


@pytest.mark.parametrize(
    ("levels", "counts", "options", "assumptions"),
    [
        ((0.5, 1.0, 2.0), (30, 50, 40), {}, {}),
        ((0.5, 1.0, 2.0), (3000, 5000, 4000), {}, {"honest_fraction": 0.5}),
        ((0.1, 0.7), (400, 100), {"copies_max": 4.0}, {}),
        ((0.3, 0.9), (50, 900), {"copies_max": 4.0, "max_messages": 6.0}, {}),
        ((0.3, 2.5), (50, 900), {"copies_max": 3.0, "max_messages": 0.4}, {"honest_fraction": 0.25}),
        ((1.0,), (500,), {"copies_max": 2.5}, {"rounds": 2}),
        ((0.5, 1.0), (300, 700), {"equal_copies": True}, {}),
    ],
)
def test_the_blanket_is_not_beaten_by_a_scan(closed_form, levels, counts, options, assumptions):
    problem, method = problem_of(levels, counts, **assumptions), PoissonSegmented(**options)
    blanket = method._search(problem)
    mean = problem.honest_users * blanket / problem.domain_size
    limits = np.array([limit(mean, e, method.copies_max) for e in levels])
    error = method.chosen(problem, blanket, whole(limits))[1]
    assert error <= 1.0005 * scanned(method, problem)
    assert method.guided_error(problem) == pytest.approx(error, rel=0.05)


def test_a_budget_in_which_nothing_fits_is_infeasible(closed_form):
    problem = problem_of((0.5, 1.0), (300, 700))
    for budget in (1e-9, 2e-5):
        with pytest.raises(InfeasibleError, match=f"max_messages = {budget:g} is too small"):
            PoissonSegmented(max_messages=budget)._search(problem)
        assert PoissonSegmented(max_messages=budget).guided_error(problem) == math.inf
    assert math.isfinite(PoissonSegmented(max_messages=3e-3).guided_error(problem))


# -- where the search looks --------------------------------------------------------------------------------------------


def test_means_from_a_hundredth_of_the_most_liberal_levels_to_all_copies_of_the_strictest(closed_form):
    problem = problem_of((0.1, 0.15, 0.2), (30, 50, 40))
    assert PoissonSegmented()._means(problem) == pytest.approx((0.25, 105.0), rel=1e-12)
    assert PoissonSegmented(copies_max=4.0)._means(problem) == pytest.approx((0.25, 1680.0), rel=1e-12)
    assert PoissonSegmented(copies_max=0.5)._means(problem) == pytest.approx((0.0625, 26.25), rel=1e-12)
    least, most = PoissonSegmented().blanket.means
    # a level that no blanket lets send everything: up to the largest mean
    assert PoissonSegmented()._means(problem_of((1e-4, 0.2), (30, 50))) == (0.25, most)
    assert PoissonSegmented()._means(problem_of((1e-4,), (30,))) == (0.01 * most, most)
    assert PoissonSegmented()._means(problem_of((1.0,), (30,), s=20)) == (least, 2 * least)
    # copies that need less than three times the accountant's least mean
    assert PoissonSegmented(copies_max=1e-9)._means(problem) == (3 * least, 6 * least)


@pytest.mark.parametrize("copies_max", [1e-120, 1e-9, 1e-3])
def test_so_few_copies_that_hardly_a_dummy_is_needed_have_a_plan(copies_max):
    plan = PoissonSegmented(copies_max=copies_max).plan(Problem(20, 2, (0.5, 2.0), (30, 40), 1e-2))
    assert plan.parameters["copies"] == (copies_max, copies_max)
    assert all(row["delta_upper"] <= 1e-2 for row in plan.parameters["certificate"])


def test_with_deltas_by_level_all_levels_are_asked(monkeypatch):
    """The strictest level may be any of them."""
    means = {0.5: 7.0, 1.0: 90.0, 2.0: 4.0}
    monkeypatch.setattr(poisson, "_about_least_mean", lambda target, copies: means[target.epsilon] * copies)
    one = Problem(20, 2, (0.5, 1.0, 2.0), (3, 5, 4), 0.01)
    apart = replace(one, level_deltas=(0.02, 0.01, 0.02))
    assert PoissonSegmented()._means(one) == pytest.approx((0.04, 1.05 * 7.0), rel=1e-12)
    assert PoissonSegmented()._means(apart) == pytest.approx((0.04, 1.05 * 90.0), rel=1e-12)
    clustered = PoissonSegmented(copies_max=3.0, blanket=Clustered(0.1))
    assert clustered._means(one) == pytest.approx((0.4, 1.05 * 21.0), rel=1e-12)
    wide = PoissonSegmented(copies_max=3.0, blanket=Clustered(0.9))
    assert wide._means(one) == pytest.approx((3 * wide.blanket.means[0], 6 * wide.blanket.means[0]), rel=1e-12)


def curve_through(copies):
    """Any mean has these copies."""
    return interpolate.PchipInterpolator([-20.0, 20.0], [math.log(copies), math.log(copies)])


def test_blankets_that_just_reach_a_whole_number_are_near(closed_form):
    targets = [_Target(2, e, DELTA) for e in (0.5, 1.0, 2.0, 4.0, 8.0, 0.25)]
    near = (2.03, 0.99, 4.05, 3.06, 0.4, 1.985)
    curves = [curve_through(each) for each in near]
    # the closest first: 0.75 %, 1 %, 1.25 %, 1.5 %; 2 % is still near
    expected = [(1 / 1.0) ** 2, (2 / 0.25) ** 2, (4 / 2.0) ** 2, (2 / 0.5) ** 2]
    order = np.argsort([0.01, 0.0075, 0.0125, 0.015])
    found = _whole_copies_near(1.0, targets, curves, 64.0)
    assert found == pytest.approx([expected[i] * (1 + 1e-9) for i in order], rel=1e-14)
    assert _whole_copies_near(1.0, targets[3:4], curves[3:4], 64.0) == pytest.approx([(3 / 4.0) ** 2], rel=1e-8)
    assert _whole_copies_near(1.0, targets[3:4], [curve_through(3.07)], 64.0) == []
    assert _whole_copies_near(1.0, targets[3:4], [curve_through(2.93)], 64.0) == []
    # no more copies than are allowed, but for what is near
    assert _whole_copies_near(1.0, targets[:1], curves[:1], 1.98) == []
    assert len(_whole_copies_near(1.0, targets[:1], curves[:1], 2.0)) == 1
    # less than one copy, half of the largest mean, and everybody holding everything
    assert _whole_copies_near(1.0, targets[:1], [curve_through(0.4)], 64.0) == []
    assert _whole_copies_near(1.0, [_Target(2, 1.4e-3, DELTA)], [curve_through(1.0)], 64.0) == [
        pytest.approx(1 / 1.4e-3**2, rel=1e-8)
    ]
    assert _whole_copies_near(1.0, [_Target(2, 1e-4, DELTA)], [curve_through(1.0)], 64.0) == []
    assert _whole_copies_near(1.0, targets[:1], [None], 64.0) == []


def test_the_lowest_four_local_minima():
    inf = math.inf
    values = [5.0, 1.0, 6.0, 0.5, 7.0, 3.0, 8.0, 4.0, 9.0, 2.0, inf]
    assert _local_minima(np.array(values)) == [3, 1, 9, 5]
    assert _local_minima(np.array([1.0, 2.0, 3.0])) == [0]
    assert _local_minima(np.array([3.0, 2.0, 1.0])) == [2]
    assert _local_minima(np.array([2.0, 2.0, 3.0])) == [0, 1]
    assert _local_minima(np.array([inf, inf])) == []


def test_a_minimum_is_refined_between_its_neighbours_and_never_lost():
    grid = np.linspace(0.0, 1.0, 11)
    for centre, index in ((0.33, 3), (0.02, 0), (0.98, 10)):
        values = (grid - centre) ** 2
        place, value = PoissonSegmented()._refine(lambda x, c=centre: (x - c) ** 2, grid, values, index)
        assert place == pytest.approx(centre, abs=2e-4)
        assert value <= values[index]
    # a dip that is at the grid's point alone
    dip = np.where(np.arange(11) == 4, 0.0, 1.0)
    assert PoissonSegmented()._refine(lambda x: 1.0, grid, dip, 4) == (grid[4], 0.0)
    asked = []
    PoissonSegmented()._refine(lambda x: asked.append(x) or 1.0, grid, np.ones(11), 4)
    assert 0.3 <= min(asked) < 0.4 < max(asked) <= 0.5


# -- limits and certificates -------------------------------------------------------------------------------------------

TARGET = _Target(2, 1.0, DELTA)


@pytest.mark.parametrize(
    ("searched", "most", "bound", "expected"),
    [
        (1.9985, 8.0, DELTA, 2.0),
        (1.9985, 8.0, 1.01 * DELTA, 1.9985),
        (1.9955, 8.0, DELTA, 1.9955),
        (2.0005, 8.0, DELTA, 2.0005),
        (2.0, 8.0, 1.0, 2.0),
        (1.9985, 1.9995, DELTA, 1.9985),
        (1.9985, 2.0, DELTA, 2.0),
        (0.12345678912, 8.0, DELTA, 0.1234567891),
    ],
)
def test_a_whole_number_that_is_nearly_reached_is_taken_if_it_is_certified(
    closed_form, monkeypatch, searched, most, bound, expected
):
    def log_delta_bound(pair, pairs, epsilon, width):
        assert (pair.copies, pairs, epsilon) == (math.ceil(searched), 2, 1.0)
        return math.log(bound)

    monkeypatch.setattr(poisson, "largest_copies", lambda **_: searched)
    monkeypatch.setattr(poisson, "log_delta_bound", log_delta_bound)
    assert poisson._largest(TARGET, 5.0, most) == expected
    assert poisson._largest(_Target(0, 1.0, DELTA), 5.0, most) == most


def test_a_certificate_is_as_narrow_as_it_can_be_had(closed_form, monkeypatch):
    """Widths of 0.1 %, 1 %, 10 % and 100 %, none above the bound that copies were calibrated by; then that alone."""
    asked, possible = [], 0.0

    def delta_interval(pair, *, pairs, epsilon, rtol=1e-3, smallest):
        asked.append(rtol)
        assert (pairs, epsilon, pair.copies) == (2, 1.0, 0.5)
        if rtol < possible:
            raise AccuracyError("too long")
        return DeltaInterval(0.004, 0.009)

    monkeypatch.setattr(poisson, "delta_interval", delta_interval)
    monkeypatch.setattr(poisson, "log_delta_bound", lambda *_: math.log(bound))
    for bound, possible, expected, widths in (  # noqa: B007 - the functions above read them
        (0.5, 0.0, (0.004, 0.009), [1e-3]),
        (0.5, 2e-3, (0.004, 0.009), [1e-3, 1e-2]),
        (0.008, 0.5, (0.004, 0.008 * (1 + 1e-13)), [1e-3, 1e-2, 0.1, 1.0]),
        (0.008, 2.0, (0.0, 0.008 * (1 + 1e-13)), [1e-3, 1e-2, 0.1, 1.0]),
        (1.0, 2.0, (0.0, 1.0), [1e-3, 1e-2, 0.1, 1.0]),
    ):
        asked.clear()
        poisson._delta.cache_clear()
        assert poisson._delta(TARGET, 5.0, 0.5) == pytest.approx(expected, rel=1e-15, abs=0)
        assert asked == widths
    asked.clear()
    assert poisson._delta(_Target(0, 1.0, DELTA), 5.0, 0.5) == poisson._delta(TARGET, 5.0, 0.0) == (0.0, 0.0)
    assert not asked


def test_what_need_not_be_told_from_zero_is_said_for_clusters_only(closed_form, monkeypatch):
    asked = []
    monkeypatch.setattr(
        poisson, "delta_interval", lambda *_, smallest, **__: asked.append(smallest) or DeltaInterval(0.0, 0.0)
    )
    for target in (TARGET, _Target(2, 1.0, DELTA, Clustered(0.5)), _Target(2, 1.0, 1e-299, Clustered(0.5))):
        poisson._delta(target, 5.0, 0.5)
    assert asked == [poisson.SMALLEST_DELTA, 1e-6 * DELTA, poisson.SMALLEST_DELTA]


def test_copies_are_lowered_by_what_a_certificate_is_too_high(closed_form, monkeypatch):
    """Log delta rises by `slope` times ln(copies): e^-(excess + 0.02)/slope of them, with a slope of 1 at least."""
    slope = 5.0
    monkeypatch.setattr(poisson, "guided_log_delta", lambda pair, *_: slope * pair.copies / 0.8)
    for upper, slope, expected in (  # noqa: B007 - the guide reads the slope
        (DELTA, 5.0, 0.8),
        (0.5 * DELTA, 5.0, 0.8),
        (0.0, 5.0, 0.8),
        (math.exp(0.1) * DELTA, 5.0, 0.8 * math.exp(-0.12 / 5.0)),
        (math.exp(0.1) * DELTA, 0.5, 0.8 * math.exp(-0.12)),
    ):
        monkeypatch.setattr(poisson, "_delta", lambda *_, upper=upper: (0.0, upper))
        assert lowered(TARGET, 5.0, 0.8) == pytest.approx(expected, rel=1e-9)
    assert lowered(TARGET, 5.0, 0.0) == 0.0


def test_plans_with_clusters_lower_what_the_guide_promised_too_much(monkeypatch):
    """One level after the other, until all certificates hold; after six times the certified limits are taken."""
    problem = Problem(9, 2, (0.5, 2.0), (60, 140), 1e-3)
    method = PoissonSegmented(blanket=Clustered(0.5))
    promised, certified = {0.5: 0.5, 2.0: 0.875}, {0.5: 0.375, 2.0: 0.875}
    asked = []

    def lower(target, mean, copies):
        asked.append(copies)
        return max(certified[target.epsilon], copies - 0.0625)

    monkeypatch.setattr(poisson, "lowered", lower)
    monkeypatch.setattr(PoissonSegmented, "_limit", lambda self, target, mean: promised[target.epsilon])
    monkeypatch.setattr(PoissonSegmented, "_affordable", lambda self, problem, m, limits: np.array(limits))
    monkeypatch.setattr(poisson, "_largest", lambda target, mean, most: 0.1 * target.epsilon)
    assert method.plan_at(problem, 1.0).parameters["copies"] == pytest.approx((0.375, 0.875), rel=1e-12)
    assert len(asked) == 6
    certified = {0.5: 0.0, 2.0: 0.875}
    asked.clear()
    assert method.plan_at(problem, 1.0).parameters["copies"] == pytest.approx((0.05, 0.2), rel=1e-12)
    assert len(asked) == 12


def test_guided_copies_that_nearly_reach_a_whole_number_are_it(monkeypatch):
    method = PoissonSegmented(copies_max=2.5, blanket=Clustered(0.5))
    for guided, expected in ((1.9985, 2.0), (1.9975, 1.9975), (2.0, 2.0), (2.4995, 2.4995), (2.9995, 2.9995)):
        monkeypatch.setattr(poisson, "_guided", lambda *_, found=guided: found)
        assert method._limit(TARGET, 5.0) == expected


# -- options -----------------------------------------------------------------------------------------------------------


def test_options_at_the_ends_of_their_ranges():
    assert PoissonSegmented(copies_max=64.0).copies_max == 64.0
    assert PoissonSegmented(max_messages=5e-324).max_messages == 5e-324
    for value in (0.0, math.inf, math.nan):
        with pytest.raises(ParameterError, match="max_messages"):
            PoissonSegmented(max_messages=value)


def test_names_of_all_variants():
    found = {
        PoissonSegmented().name: "poisson",
        PoissonSegmented(copies_max=1.5).name: "poisson-copies",
        PoissonSegmented(copies_max=4.0, equal_copies=True).name: "poisson-equal",
        PoissonSegmented(group_privacy=True, equal_copies=True).name: "poisson-group",
        PoissonSegmented(group_privacy=True, blanket=Clustered(0.5)).name: "clustered",
    }
    assert all(name == expected for name, expected in found.items())
    assert len(found) == 5


def test_a_blanket_that_leaves_nothing_for_data_is_infeasible():
    problem = Problem(8, 2, (0.5, 1.0), (30, 50), 1e-3)
    for blanket in (2.0, 2.5):
        with pytest.raises(
            InfeasibleError, match=f"max_messages = 2 leaves nothing for data beside a blanket of {blanket:g}"
        ):
            PoissonSegmented(blanket_per_user=blanket, max_messages=2.0).plan(problem)
    plan = PoissonSegmented(blanket_per_user=1.999, max_messages=2.0).plan(problem)
    assert plan.messages_per_user == pytest.approx(2.0, rel=1e-9)


def test_blankets_at_the_ends_of_the_accountants_range():
    problem = Problem(8, 2, (0.5,), (8,), 1e-3)
    least, most = PoissonSegmented().blanket.means
    for blanket, fits in ((least, True), (0.999 * least, False), (1.001 * most, False)):
        if fits:
            assert PoissonSegmented(blanket).plan(problem).blanket_per_user == blanket
        else:
            with pytest.raises(ParameterError, match=r"blanket_per_user = .* of the honest users is in \["):
                PoissonSegmented(blanket).plan(problem)


def test_group_privacy_and_pairs_make_the_target():
    problem = Problem(20, 3, (0.5, 1.0), (3, 5), 0.01, level_deltas=(0.01, 0.02))
    assert _Target.of(problem, 1.0, False) == _Target(3, 1.0, 0.02)
    found = _Target.of(problem, 0.5, True)
    assert (found.pairs, found.epsilon) == (1, pytest.approx(0.5 / 3, rel=1e-12))
    assert 0 < found.delta < 0.01
    assert _Target.of(Problem(3, 3, (0.5,), (3,), 0.01), 0.5, True) == _Target(0, 0.5, 0.01)


def test_a_curve_has_the_largest_copies_at_any_mean(closed_form):
    curve = poisson._curve(TARGET, 0.01, 100.0)
    for mean in (0.01, 0.37, 5.0, 100.0):
        assert math.exp(float(curve(math.log(mean)))) == pytest.approx(math.sqrt(mean), rel=1e-9)


def test_every_combination_of_sets_and_copies_that_is_attained():
    """docs/proof.md, step 6: d >= 3 s, or copies that all others are known to send."""
    for d, copies, n in itertools.product(range(2, 8), (0.5, 1.0), (1, 9)):
        problem = Problem(d, 2, (1.0,), (n,), 0.05)
        assert poisson.attained(problem, (copies,)) == (d >= 6 or d == 2 or n == 1 or copies == 1.0)
    problem = Problem(5, 2, (1.0, 2.0), (9, 0), 0.05)
    assert poisson.attained(problem, (1.0, 0.5)), "nobody sends half a copy"


def test_where_there_is_nothing_to_hide_all_copies_are_sent(monkeypatch):
    for blanket in (PoissonSegmented().blanket, Clustered(0.5)):
        nothing = _Target(0, 1.0, DELTA, blanket)
        assert poisson._guided(nothing, 5.0, 3.0) == poisson._largest(nothing, 5.0, 3.0) == 3.0
    monkeypatch.setattr(poisson, "guided_copies", lambda *_, copies_max, start, **__: (copies_max, start))
    assert poisson._guided(_Target(2, 1.0, 0.0124, Clustered(0.5)), 5.0, 3.0, 1.5) == (3.0, 1.5)


@pytest.mark.parametrize("s", [1, 2, 3])
def test_sets_of_at_most_s_need_twice_as_many_items(s):
    for d in range(2, 9):
        problem = Problem(d, min(s, d), (1.0,), (9,), 0.05, Assumptions(sets="at-most"))
        assert poisson.attained(problem, (0.5,)) == (d >= 2 * min(s, d))
        private = Problem(d, min(s, d), (1.0,), (9,), 0.05, Assumptions(private_levels=True))
        assert poisson.attained(private, (1.0,)) == (d >= 2 * min(s, d))


def test_means_in_the_upper_half_of_the_range_are_no_dips(monkeypatch):
    most = PoissonSegmented().blanket.means[1]
    for share, kept in ((0.4, 1), (0.5, 0), (0.7, 0)):
        monkeypatch.setattr(poisson, "_mean_worth", lambda *_, mean=share * most: mean)
        assert len(_whole_copies_near(1.0, [TARGET], [curve_through(1.0)], 64.0)) == kept
