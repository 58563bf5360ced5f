"""Copies per level: the error's closed form against sums over users, the search against brute force."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from segshuffle.plans.weights import (
    ErrorTerms,
    best_copies,
)


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


@st.composite
def problems(draw):
    levels = draw(st.integers(1, 4))
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
    points = 41 if limits.size < 4 else 15
    assert error <= 1.005 * brute_force(limits, counts, terms, room, points)


#: Budgets that bind: no single level can move, only exchanges between levels lower the error. In the fifth the first
#: level sends nothing: a few percent of a copy from half of the users cost more than they bring. In the last two levels
#: send less than they may, lest copies differ too much.
HARD = [
    ([0.08, 0.39], [922, 78], ErrorTerms(12.0, 4.0, 2.28), 41.0),
    ([0.74, 0.94, 1.19], [5, 31, 13], ErrorTerms(0.705, 8.0, 3.41), 29.06),
    ([1.70, 2.02, 2.81], [1627, 1537, 1836], ErrorTerms(63.9, 1.0, 0.424), 3696.0),
    ([0.89, 1.09, 1.62], [28, 18, 4], ErrorTerms(1.17, 8.0, 3.99), 16.3),
    ([0.07, 0.97, 1.35], [558, 362, 80], ErrorTerms(70.0, 8.0, 2.69), 541.0),
    ([0.15, 1.50, 5.88], [324, 634, 876], ErrorTerms(61.3, 0.0, 3.71), math.inf),
    ([0.31, 1.49], [347, 617], ErrorTerms(99.0, 0.0, 7.18), 995.0),
]


@pytest.mark.parametrize(("limits", "counts", "terms", "room"), HARD)
def test_copies_are_sent_where_they_help_most(limits, counts, terms, room):
    limits, counts = np.array(limits), np.array(counts, dtype=float)
    copies, error = best_copies(limits, counts, terms, largest_weight=room)
    assert counts @ copies <= room * (1 + 1e-11)
    assert error <= 1.005 * brute_force(limits, counts, terms, room)


@pytest.mark.parametrize("copies", [(0.3, 1.0, 2.5), (0.0, 2.0, 3.0), (1.25, 1.25, 1.25)])
def test_error_is_the_sum_over_users(copies):
    """Terms user by user: M of mean a_k, and the weights' variance between users."""
    counts, terms = np.array([3.0, 2.0, 4.0]), ErrorTerms(7.0, 2.0, 0.8)
    sent = np.repeat(copies, counts.astype(int))
    own = sum((a - math.floor(a)) * (math.floor(a) + 1 - a) for a in sent)
    expected = (7.0 + 2.0 * own + 0.8 * len(sent) * np.var(sent)) / sent.sum() ** 2
    assert terms.error(np.array(copies), counts) == pytest.approx(expected, rel=1e-13)
