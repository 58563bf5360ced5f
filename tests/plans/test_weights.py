"""Copies per level: the error's closed form against sums over users, the search against brute force."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from segshuffle.plans.weights import ErrorTerms, best_copies, beyond_best


def plain_error(copies, counts, terms):
    """The expected squared error in closed form, for copies of shape (..., n_levels); inf if nobody sends."""
    fraction = copies - np.floor(copies)
    weight = copies @ counts
    imbalance = np.maximum(copies**2 @ counts - weight**2 / counts.sum(), 0.0)
    own = (fraction * (1 - fraction)) @ counts
    with np.errstate(divide="ignore", invalid="ignore"):
        error = (terms.noise + terms.own * own + terms.spread * imbalance) / weight**2
    return np.where(weight > 0, error, math.inf)


def brute_force(limits, counts, terms, room, points=41):
    """Least error on a grid with all whole numbers, and on its points moved to where the budget is used up."""
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


def best_of_one(limits, counts, terms, room):
    """The best copies of one problem, and the error."""
    one_row = replace(terms, noise=np.array([terms.noise]))
    copies, error = best_copies(limits[None], counts, one_row, np.array([room]), thorough=True)
    return copies[0], float(error[0])


def check_best(limits, counts, terms, room, points=41):
    """The copies keep the limits and the budget, have the error that is told, and at most the least one known."""
    copies, error = best_of_one(limits, counts, terms, room)
    assert np.all((copies >= 0) & (copies <= limits))
    assert counts @ copies <= room * (1 + 1e-11)
    assert error == pytest.approx(float(plain_error(copies, counts, terms)), rel=1e-9)
    least = brute_force(limits, counts, terms, room, points)
    assert error <= least * (1 + 1e-9) + beyond_best(counts, terms, room)
    assert error <= 1.005 * least
    return copies, error, least


@st.composite
def problems(draw):
    levels = draw(st.integers(1, 4))
    top = draw(st.sampled_from([1.0, 3.0, 8.0]))
    limits = sorted(top ** draw(st.floats(-1, 1)) * draw(st.floats(0.1, 1.0)) for _ in range(levels))
    counts = np.array([draw(st.integers(0, 2000)) for _ in range(levels - 1)] + [draw(st.integers(1, 2000))], float)
    held = float(draw(st.sampled_from([1, 4, 8])))
    per_user = math.exp(draw(st.floats(math.log(0.01), math.log(100.0))))
    spread = draw(st.one_of(st.just(0.0), st.floats(1e-6, 1.0)))
    own = draw(st.one_of(st.sampled_from([0.0, 1.0]), st.floats(1e-9, 1.0)))
    terms = ErrorTerms(per_user * counts.sum(), held * own, held * spread)
    room = draw(st.one_of(st.just(math.inf), st.floats(0.05, 1.2))) * float(counts @ limits)
    return np.array(limits), counts, terms, room


@pytest.mark.quick(0)
@settings(derandomize=True)
@given(problems())
def test_no_copies_on_a_grid_are_better_than_proven(problem):
    limits, counts, terms, room = problem
    before = limits.copy()
    check_best(limits, counts, terms, room, points=41 if limits.size < 4 else 15)
    assert np.array_equal(limits, before)


#: The first five have budgets that bind. In the others it pays to send fewer copies than allowed, lest copies differ
#: too much, or because a few percent of a copy from half of the users cost more than they bring.
LIMITS = [
    ([0.08, 0.39], [922, 78], ErrorTerms(12.0, 4.0, 2.28), 41.0),
    ([0.74, 0.94, 1.19], [5, 31, 13], ErrorTerms(0.705, 8.0, 3.41), 29.06),
    ([0.07, 0.97, 1.35], [558, 362, 80], ErrorTerms(70.0, 8.0, 2.69), 541.0),
    ([1.70, 2.02, 2.81], [1627, 1537, 1836], ErrorTerms(63.9, 1.0, 0.424), 3696.0),
    ([0.89, 1.09, 1.62], [28, 18, 4], ErrorTerms(1.17, 8.0, 3.99), 16.3),
    ([0.15, 1.50, 5.88], [324, 634, 876], ErrorTerms(61.3, 0.0, 3.71), math.inf),
    ([0.31, 1.49], [347, 617], ErrorTerms(99.0, 0.0, 7.18), 995.0),
    ([0.15, 1.50, 5.88], [324, 634, 876], ErrorTerms(61.3, 3.0, 3.71), math.inf),
    ([0.01, 0.99], [5000, 5000], ErrorTerms(20.0, 4.0, 0.1), math.inf),
]


@pytest.mark.parametrize(("limits", "counts", "terms", "room"), LIMITS)
def test_copies_are_sent_where_they_help_most(limits, counts, terms, room):
    limits, counts = np.array(limits), np.array(counts, dtype=float)
    copies, _, _ = check_best(limits, counts, terms, room)
    # neither all that is allowed, nor all of it scaled down to the budget
    scaled = limits * min(1.0, room / (limits @ counts))
    assert plain_error(copies, counts, terms) < 0.999 * plain_error(scaled, counts, terms)


def random_problem(seed, own, spread):
    """Levels whose limits differ, and little noise, so that it pays to leave some of them out."""
    rng = np.random.default_rng(seed)
    levels = int(rng.integers(1, 5))
    counts = np.exp(rng.uniform(0, 6, levels)).round()
    limits = rng.choice([0.5, 2.0, 4.0]) * np.sort(rng.random(levels))
    noise = float(np.exp(rng.uniform(-4, 1)) * (own + spread) * counts.sum())
    return limits, counts, ErrorTerms(noise, own, spread)


def check_whole_or_limit(limits, counts, terms):
    """No plan is better than all plans of whole numbers and limits: costs are concave between them."""
    choices = [np.append(np.arange(math.floor(limit) + 1.0), limit) for limit in limits]
    plans = np.stack(np.meshgrid(*choices, indexing="ij"), axis=-1).reshape(-1, limits.size)
    _, error = best_of_one(limits, counts, terms, math.inf)
    assert error == pytest.approx(float(plain_error(plans, counts, terms).min()), rel=1e-9)


@pytest.mark.parametrize("spread", [0.0, 0.2, 1.0, 2.9])
def test_where_sampling_costs_most_levels_send_whole_copies_or_their_limit(spread):
    for seed in range(150):
        check_whole_or_limit(*random_problem(seed, 3.0, spread))


#: In these a part of a copy at one level costs nearly as much as whole ones at another.
PRICES = [
    ([0.3, 1.28, 2.26, 3.28], [511, 8, 28, 3], ErrorTerms(38.8, 3.0, 1.0)),
    ([1.51, 2.01, 2.58, 3.89], [3, 369, 336, 15], ErrorTerms(396.0, 3.0, 0.5)),
    ([0.02, 0.3, 2.78, 3.75], [8, 101, 95, 1], ErrorTerms(28.28, 3.0, 0.5)),
]


@pytest.mark.parametrize(("limits", "counts", "terms"), PRICES)
def test_parts_of_copies_have_their_price(limits, counts, terms):
    check_whole_or_limit(np.array(limits), np.array(counts, dtype=float), terms)


@pytest.mark.parametrize("own", [0.0, 0.1, 1.0, 3.0])
def test_where_unequal_weights_cost_most_levels_send_a_common_number(own):
    """No plan is better than all plans with a common number, or the limit if this is less, also within a budget."""
    for seed in range(150):
        limits, counts, terms = random_problem(seed, own, 3.0)
        for room in (math.inf, 0.6 * float(limits @ counts)):
            numbers = np.union1d(np.linspace(0, limits.max(), 4001), np.append(limits, np.arange(1, limits.max())))
            plans = np.minimum(limits, numbers[:, None])
            # the last number of all: the weight is linear between the others
            numbers = np.append(numbers, np.interp(room, plans @ counts, numbers))
            plans = np.minimum(limits, numbers[:, None])
            fits = plans @ counts <= room * (1 + 1e-12)
            copies, error = best_of_one(limits, counts, terms, room)
            assert error <= float(plain_error(plans[fits], counts, terms).min()) * (1 + 1e-9), seed
            assert counts @ copies <= room * (1 + 1e-12)


def test_at_the_end_of_a_budget_one_level_sends_a_part():
    """Any part of a copy costs the sampling of all users of a level, so whole ones fill the budget if they can."""
    limits, counts, terms = np.ones(3), np.array([30.0, 50.0, 20.0]), ErrorTerms(1000.0, 5.0, 0.1)
    copies, error = best_of_one(limits, counts, terms, 50.0)
    assert copies == pytest.approx([0.0, 1.0, 0.0], abs=1e-12) or copies == pytest.approx([1.0, 0.0, 1.0], abs=1e-12)
    assert error == pytest.approx((1000 + 0.1 * (50 - 50**2 / 100)) / 50**2, rel=1e-12)
    # 10 more copies are a half of those of the last level: 20/4 is less than 30 times 2/9
    copies, error = best_of_one(limits, counts, terms, 60.0)
    assert copies == pytest.approx([0.0, 1.0, 0.5], abs=1e-12)


def test_what_the_best_copies_within_a_budget_may_miss():
    """(own - spread) times most users of a level, divided by (2 W)^2; nothing where the copies are the best."""
    counts, terms = np.array([100.0, 300.0, 200.0]), ErrorTerms(7.0, 4.0, 1.0)
    assert beyond_best(counts, terms, 50.0) == pytest.approx(3 * 300 / (4 * 50**2), rel=1e-12)
    assert beyond_best(counts, terms, math.inf) == 0
    assert beyond_best(counts[:1], terms, 50.0) == 0
    assert beyond_best(counts, ErrorTerms(7.0, 1.0, 4.0), 50.0) == 0


@pytest.mark.parametrize("terms", [ErrorTerms(7.0, 2.0, 0.8), ErrorTerms(7.0, 0.0, 0.8)])
def test_every_row_is_a_problem_of_its_own(terms):
    """As many rows as need several blocks."""
    rng = np.random.default_rng(1)
    limits, counts = 64 * rng.random((4000, 3)), np.array([3.0, 2.0, 4.0])
    rooms, noise = rng.uniform(1, 500, 4000), rng.uniform(1, 500, 4000)
    copies, errors = best_copies(limits, counts, replace(terms, noise=noise), rooms, thorough=True)
    for i in range(0, 4000, 333):
        alone, error = best_of_one(limits[i], counts, replace(terms, noise=noise[i]), rooms[i])
        assert error == pytest.approx(errors[i], rel=1e-12)
        assert copies[i] == pytest.approx(alone, rel=1e-12)


@pytest.mark.parametrize("copies", [(0.3, 1.0, 2.5), (0.0, 2.0, 3.0), (1.25, 1.25, 1.25)])
def test_error_is_the_sum_over_users(copies):
    """Terms user by user: M of mean a_k, and the weights' variance between users."""
    counts, terms = np.array([3.0, 2.0, 4.0]), ErrorTerms(7.0, 2.0, 0.8)
    sent = np.repeat(copies, counts.astype(int))
    own = sum((a - math.floor(a)) * (math.floor(a) + 1 - a) for a in sent)
    expected = (7.0 + 2.0 * own + 0.8 * len(sent) * np.var(sent)) / sent.sum() ** 2
    assert terms.error(np.array(copies), counts) == pytest.approx(expected, rel=1e-13)
