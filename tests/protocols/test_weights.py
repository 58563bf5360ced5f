"""Copies per level: the error's closed form against sums over users, the search against brute force."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from segshuffle.protocols.weights import (
    ErrorTerms,
    _candidates,
    _descend,
    _exchange,
    _filled,
    _starts,
    _Sums,
    _vertices,
    best_copies,
)


def test_terms_of_an_error_are_a_value():
    assert hash(ErrorTerms(12.0, 4.0, 2.28)) == hash(ErrorTerms(12.0, 4.0, 2.28))


def plain_error(copies, counts, terms):
    """The formula of math.md 4b, for copies of shape (..., n_levels); inf if nobody sends."""
    fraction = copies - np.floor(copies)
    weight = copies @ counts
    imbalance = np.maximum(copies**2 @ counts - weight**2 / counts.sum(), 0.0)
    own = (fraction * (1 - fraction)) @ counts
    with np.errstate(divide="ignore", invalid="ignore"):
        error = (terms.noise + terms.own * own + terms.spread * imbalance) / weight**2
    return np.where(weight > 0, error, math.inf)


def brute_force(limits, counts, terms, room, points=41):
    """Least error on a grid that has all whole numbers, and on the grid's shadow where the budget is used up."""
    axes = [np.union1d(np.linspace(0, top, points), np.arange(1, math.floor(top) + 1)) for top in limits]
    grids = [np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, limits.size)]
    if math.isfinite(room):
        for k in np.flatnonzero(counts):
            pushed = grids[0].copy()
            rest = pushed @ counts - pushed[:, k] * counts[k]
            pushed[:, k] = np.clip((room - rest) / counts[k], 0, limits[k])
            grids.append(pushed)
    tried = np.concatenate(grids)
    tried = tried[tried @ counts <= room * (1 + 1e-12)]
    return float(plain_error(tried, counts, terms).min())


@st.composite
def problems(draw, largest=3):
    levels = draw(st.integers(1, largest))
    top = draw(st.sampled_from([1.0, 3.0, 8.0]))
    limits = sorted(top ** draw(st.floats(-1, 1)) * draw(st.floats(0.1, 1.0)) for _ in range(levels))
    counts = np.array([draw(st.integers(0, 2000)) for _ in range(levels - 1)] + [draw(st.integers(1, 2000))], float)
    held = float(draw(st.sampled_from([1, 4, 8])))
    per_user = math.exp(draw(st.floats(math.log(0.01), math.log(100.0))))
    spread = draw(st.one_of(st.just(0.0), st.floats(1e-9, 1)))  # 1 - s/d, where s < d: never next to nothing
    terms = ErrorTerms(per_user * counts.sum(), held * draw(st.sampled_from([0.0, 1.0])), held * spread)
    room = draw(st.one_of(st.just(math.inf), st.floats(0.05, 1.2))) * float(counts @ limits)
    return np.array(limits), counts, terms, room


@pytest.mark.quick(0)
@settings(derandomize=True)
@given(problems())
def test_not_beaten_by_brute_force_and_within_the_limits(problem):
    limits, counts, terms, room = problem
    before = limits.copy()
    copies, error = best_copies(limits, counts, terms, largest_weight=room)
    assert np.array_equal(limits, before)
    assert np.all((copies >= 0) & (copies <= limits))
    assert counts @ copies <= room * (1 + 1e-11)
    assert error == pytest.approx(float(plain_error(copies, counts, terms)), rel=1e-9)
    assert error <= 1.005 * brute_force(limits, counts, terms, room)


#: Budgets that bind: no single level can move, only exchanges between levels lower the error.
BINDING = [
    ([0.08, 0.39], [922, 78], ErrorTerms(12.0, 4.0, 2.28), 41.0),
    ([0.74, 0.94, 1.19], [5, 31, 13], ErrorTerms(0.705, 8.0, 3.41), 29.06),
    ([1.70, 2.02, 2.81], [1627, 1537, 1836], ErrorTerms(63.9, 1.0, 0.424), 3696.0),
    ([0.89, 1.09, 1.62], [28, 18, 4], ErrorTerms(1.17, 8.0, 3.99), 16.3),
]


@pytest.mark.parametrize(("limits", "counts", "terms", "room"), BINDING)
def test_a_budget_that_binds_is_spent_where_it_helps_most(limits, counts, terms, room):
    limits, counts = np.array(limits), np.array(counts, dtype=float)
    copies, error = best_copies(limits, counts, terms, largest_weight=room)
    assert counts @ copies <= room * (1 + 1e-11)
    assert error <= 1.005 * brute_force(limits, counts, terms, room)


def test_a_level_may_be_left_out():
    """A few percent of a copy from half of the users cost more than they bring."""
    limits, counts = np.array([0.07, 0.97, 1.35]), np.array([558.0, 362.0, 80.0])
    terms = ErrorTerms(70.0, 8.0, 2.69)
    copies, error = best_copies(limits, counts, terms, largest_weight=541.0)
    assert copies[0] == 0
    assert error <= 1.0001 * brute_force(limits, counts, terms, 541.0)


@pytest.mark.quick(0)
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("share", [0.4, math.inf])
def test_five_levels_against_a_global_optimiser(seed, share):
    rng = np.random.default_rng(seed)
    limits = np.sort(np.exp(rng.uniform(math.log(0.2), math.log(6.0), 5)))
    counts = np.round(rng.dirichlet(np.full(5, 2.0)) * 5000) + 1
    terms = ErrorTerms(math.exp(rng.uniform(0, 4)) * counts.sum(), 4.0, 3.7)
    room = share * float(counts @ limits)

    def penalised(copies):
        excess = np.maximum(counts @ copies / room - 1, 0.0)
        return plain_error(copies.T, counts, terms) * (1 + 100 * excess)

    rival = optimize.differential_evolution(
        penalised,
        [(0.0, top) for top in limits],
        seed=seed,
        maxiter=200,
        tol=1e-8,
        polish=False,
        vectorized=True,
        updating="deferred",
    )
    copies, error = best_copies(limits, counts, terms, largest_weight=room)
    assert error <= 1.005 * rival.fun
    # and the optimiser is no straw man: it gets close itself
    assert rival.fun <= 1.2 * error
    assert counts @ copies <= room * (1 + 1e-11)


@pytest.mark.quick(0)
def test_fifty_levels_are_not_beaten_by_random_plans():
    rng = np.random.default_rng(5)
    limits, counts = np.geomspace(0.3, 5.0, 50), np.full(50, 100.0)
    terms = ErrorTerms(10_000.0, 8.0, 7.5)
    for room in (math.inf, 6000.0):
        copies, error = best_copies(limits, counts, terms, largest_weight=room)
        caps = rng.uniform(0.3, 5.0, size=(4000, 1))
        random = np.minimum(limits, caps) * np.exp(rng.normal(0, 0.05, size=(4000, 50)).clip(max=0))
        random = np.where(rng.random((4000, 1)) < 0.5, random, np.where(random > 1, np.floor(random), random))
        weight = random @ counts
        random *= np.minimum(1.0, room / weight)[:, None]
        assert error <= 1.0005 * plain_error(random, counts, terms).min()
        assert np.all(copies <= limits)


@pytest.mark.parametrize("copies", [(0.3, 1.0, 2.5), (0.0, 2.0, 3.0), (1.25, 1.25, 1.25)])
def test_error_is_the_sum_over_users(copies):
    """Terms user by user: M of mean a_k, and the weights' variance between users."""
    counts, terms = np.array([3.0, 2.0, 4.0]), ErrorTerms(7.0, 2.0, 0.8)
    sent = np.repeat(copies, counts.astype(int))
    own = sum((a - math.floor(a)) * (math.floor(a) + 1 - a) for a in sent)
    expected = (7.0 + 2.0 * own + 0.8 * len(sent) * np.var(sent)) / sent.sum() ** 2
    assert terms.error(np.array(copies), counts) == pytest.approx(expected, rel=1e-13)


def test_nobody_sends():
    terms = ErrorTerms(1.0, 1.0, 1.0)
    assert terms.error(np.zeros(2), np.ones(2)) == math.inf
    copies, error = best_copies(np.array([0.5, 1.0]), np.array([0.0, 4.0]), terms)
    assert error == pytest.approx(1.0 / 16, rel=1e-14)
    assert copies[1] == 1.0


def test_without_a_descent_it_is_the_best_common_cap():
    """Every level sends its limit or the cap, the cap being a whole number or some level's limit."""
    rng = np.random.default_rng(5)
    last = 0
    for _ in range(300):
        limits, counts = np.sort(rng.uniform(0.2, 6.0, 3)), rng.integers(1, 1000, 3).astype(float)
        terms = ErrorTerms(rng.uniform(0.01, 20.0) * counts.sum(), 4.0, 4.0 * rng.uniform(0.0, 1.0))
        copies, error = best_copies(limits, counts, terms, starts=0)
        whole = np.arange(1.0, math.floor(limits.max()) + 1)
        errors = [float(plain_error(np.minimum(limits, cap), counts, terms)) for cap in (*whole, *limits)]
        assert error <= min(errors) * (1 + 1e-12)
        assert np.all(copies <= limits)
        last += whole.size > 0 and np.argmin(errors) == whole.size - 1
    assert last > 20, "the largest whole cap is often the best"


@pytest.mark.parametrize("own", [0.0, 0.2, 4.0])
def test_along_one_level_the_least_error_is_among_the_candidates(own):
    """A level beside the sums of all others: a fine grid finds nothing better."""
    rng = np.random.default_rng(11)
    inside = 0
    for _ in range(200):
        others, counts = rng.uniform(0.1, 3.0, 2), rng.integers(1, 500, 3).astype(float)
        terms = ErrorTerms(rng.uniform(0.0, 2.0) * counts.sum(), own, rng.uniform(0.5, 4.0))
        limit = rng.uniform(0.1, 5.0)
        rest = _Sums(0.0, 0.0, 0.0).add(others[0], counts[0]).add(others[1], counts[1])
        found = _candidates(rest, counts[2], limit, counts.sum(), terms)
        grid = np.linspace(0.0, limit, 400)
        errors = plain_error(np.column_stack([np.tile(others, (grid.size, 1)), grid]), counts, terms)
        best = plain_error(np.column_stack([np.tile(others, (len(found), 1)), found]), counts, terms).min()
        assert best <= errors.min() * (1 + 1e-12)
        inside += errors.min() < min(errors[0], errors[-1]) * (1 - 1e-6)
    assert inside > 5


def random_terms(rng, levels, own=4.0):
    limits = np.sort(np.exp(rng.uniform(math.log(0.2), math.log(5.0), levels)))
    counts = rng.integers(1, 1000, levels).astype(float)
    terms = ErrorTerms(math.exp(rng.uniform(-3, 3)) * counts.sum(), own, 4.0 * rng.uniform(0.05, 1.0))
    return limits, counts, terms


@pytest.mark.parametrize("share", [0.3, 0.8, math.inf])
@pytest.mark.parametrize("own", [0.0, 4.0])
def test_no_step_of_one_level_and_no_exchange_of_two_helps(own, share):
    """Three levels: fine grids along every level, and along every pair at the same sum, find nothing better."""
    rng, grid = np.random.default_rng(7), np.linspace(0.0, 1.0, 301)[:, None]
    for _ in range(12):
        limits, counts, terms = random_terms(rng, 3, own)
        room = share * float(counts @ limits)
        copies, error = best_copies(limits, counts, terms, largest_weight=room)
        assert terms.error(copies, counts) == pytest.approx(error, rel=1e-9)
        for k in range(3):
            moved = np.tile(copies, (grid.size, 1))
            moved[:, k] = grid[:, 0] * limits[k]
            moved = moved[moved @ counts <= room * (1 - 1e-9)]
            assert error <= plain_error(moved, counts, terms).min(initial=math.inf) * (1 + 1e-7)
            other = (k + 1) % 3
            shared = counts[k] * copies[k] + counts[other] * copies[other]
            moved = np.tile(copies, (grid.size, 1))
            moved[:, k] = grid[:, 0] * min(limits[k], shared / counts[k])
            moved[:, other] = (shared - counts[k] * moved[:, k]) / counts[other]
            moved = moved[(moved[:, other] >= 0) & (moved[:, other] <= limits[other])]
            if float(counts @ copies) > room * (1 - 1e-9):  # nothing is exchanged where there is room
                assert error <= plain_error(moved, counts, terms).min(initial=math.inf) * (1 + 1e-7)


@pytest.mark.parametrize("share", [0.5, math.inf])
def test_the_best_of_a_grid_is_found_nearly_always(share):
    """Two levels, all plans of a fine grid and its shadow on the budget: missed in no more than 1 problem of 40."""
    rng, missed = np.random.default_rng(9), 0
    for _ in range(40):
        limits, counts, terms = random_terms(rng, 2)
        room = share * float(counts @ limits)
        _, error = best_copies(limits, counts, terms, largest_weight=room)
        missed += error > brute_force(limits, counts, terms, room, points=81) * (1 + 1e-9)
    assert missed <= 1


@pytest.mark.parametrize("levels", [2, 3, 10])
def test_exchanges_end_where_no_pair_can_gain(levels):
    """At a fixed sum; of many levels only neighbours are tried."""
    rng, gained = np.random.default_rng(levels), 0
    for _ in range(6):
        limits, counts, terms = random_terms(rng, levels)
        counts[0] = 0 if levels == 3 else counts[0]
        copies = (limits * rng.uniform(0.2, 1.0, levels)).tolist()
        weight, first = float(counts @ copies), terms.error(np.array(copies), counts)
        sums = _Sums(
            weight, float(counts @ np.square(copies)), float(counts @ (np.mod(copies, 1) * (1 - np.mod(copies, 1))))
        )
        error = first
        for _ in range(30):
            error, sums = _exchange(copies, limits, counts, terms, sums, error)
        assert error == pytest.approx(terms.error(np.array(copies), counts), rel=1e-9)
        assert sums == pytest.approx(
            (weight, float(counts @ np.square(copies)), float(counts @ (np.mod(copies, 1) * (1 - np.mod(copies, 1))))),
            rel=1e-9,
            abs=1e-9,
        )
        assert np.all((np.array(copies) >= 0) & (np.array(copies) <= limits * (1 + 1e-12)))
        gained += error < 0.999 * first
        active = [k for k in range(levels) if counts[k]]
        for i, one in enumerate(active):
            for other in active[i + 1 :] if levels < 10 else active[i + 1 : i + 2]:
                moved = np.tile(copies, (400, 1))
                shared = counts[one] * copies[one] + counts[other] * copies[other]
                moved[:, one] = np.linspace(0.0, min(limits[one], shared / counts[one]), 400)
                moved[:, other] = (shared - counts[one] * moved[:, one]) / counts[other]
                moved = moved[(moved[:, other] >= 0) & (moved[:, other] <= limits[other])]
                assert error <= plain_error(moved, counts, terms).min(initial=math.inf) * (1 + 1e-9)
    assert gained >= 4


def test_minima_of_quadratic_pieces_are_exact():
    """x^2 - 2 c x on every piece: its own minimum c where that is inside, nothing where it is not, or bends down."""
    centres = [0.3, 1.5, 9.0, 3.9, -1.0]

    def value(x):
        return (x - centres[min(int(x), 4)]) ** 2

    assert _vertices([0.0, 1.0, 2.0, 3.0, 4.0, 5.0], value) == pytest.approx([0.3, 1.5, 3.9], rel=1e-12)
    assert _vertices([0.0, 4.0], lambda x: -((x - 1.0) ** 2)) == []
    assert _vertices([2.0, 6.0], lambda x: (x - 3.0) ** 2) == pytest.approx([3.0], rel=1e-12)
    assert _vertices([2.0, 6.0], lambda x: x) == []


def test_a_budget_is_filled_from_either_end():
    """Ten users each: 5 + 15 of 25 copies are taken whole, and the rest of the third level; or 30, and none."""
    limits, counts = np.array([0.5, 1.5, 3.0]), np.full(3, 10.0)
    up, down = (_filled(limits, counts, 25.0, order) for order in (slice(None), slice(None, None, -1)))
    np.testing.assert_allclose(up, [0.5, 1.5, 0.5], rtol=1e-11)
    np.testing.assert_allclose(down, [0.0, 0.0, 2.5], rtol=1e-11)
    nobody = _filled(limits, np.array([10.0, 0.0, 10.0]), 25.0, slice(None))
    np.testing.assert_allclose(nobody, [0.5, 0.0, 2.0], rtol=1e-11)
    assert up @ counts <= 25.0


@pytest.mark.parametrize("cost", [0.0, 3.0])
def test_descents_start_from_the_best_common_caps_scaled_to_the_budget(cost):
    """Caps at 1, 2 and every limit, as they are and cut to whole numbers; limits from either end if they cost more."""
    limits, counts = np.array([0.5, 1.25, 2.5]), np.array([10.0, 20.0, 30.0])
    terms = ErrorTerms(40.0, cost, 1.5)
    caps = [np.minimum(limits, cap) for cap in (0.5, 1.0, 1.25, 2.0, 2.5)]
    plans = [*caps, *(np.where(plan >= 1, np.floor(plan), plan) for plan in caps)]
    for room in (math.inf, 60.0):
        scaled = [plan * min(1.0, room / float(counts @ plan)) for plan in plans]
        best = sorted(terms.error(plan, counts) for plan in scaled)
        found = _starts(limits, counts, terms, room, 4)
        assert len(found) == (4 if room == math.inf else 6)
        assert [terms.error(plan, counts) for plan in found[:4]] == pytest.approx(best[:4], rel=1e-10)
        assert all(counts @ plan <= room for plan in found)


def test_a_descent_sweeps_until_nothing_helps():
    """From anywhere: a second descent finds nothing more, and a budget is kept to."""
    rng = np.random.default_rng(3)
    for _ in range(40):
        limits, counts, terms = random_terms(rng, 3)
        start = limits * rng.uniform(0.05, 1.0, 3)
        room = float(counts @ start) * rng.uniform(1.0, 1.5)
        for most in (room, math.inf):
            once, first = _descend(start, limits, counts, terms, most)
            _, second = _descend(once, limits, counts, terms, most)
            assert first == pytest.approx(terms.error(once, counts), rel=1e-9)
            assert second >= first * (1 - 1e-7)
            assert counts @ once <= most * (1 + 1e-11)


def test_without_descents_the_best_common_cap_is_taken_as_it_is():
    rng, better = np.random.default_rng(1), 0
    for _ in range(30):
        limits, counts = np.sort(rng.uniform(0.2, 4.0, size=3)), rng.integers(1, 50, size=3).astype(float)
        terms = ErrorTerms(noise=float(rng.uniform(1.0, 10.0)), own=1.0, spread=0.01)
        cap = _starts(limits, counts, terms, math.inf, 1)[0]
        copies, error = best_copies(limits, counts, terms, starts=0)
        assert list(copies) == list(cap)
        assert error == terms.error(cap, counts)
        less = best_copies(limits, counts, terms, starts=1)[1]
        assert less <= error * (1 + 1e-14)
        better += less < error * (1 - 1e-6)
    assert better > 3
