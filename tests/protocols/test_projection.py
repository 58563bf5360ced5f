"""Projection of estimates onto possible frequencies."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize

from segshuffle.protocols.postprocessing import project

ROWS = st.lists(st.floats(-3, 3, allow_subnormal=False), min_size=2, max_size=7)


@given(ROWS, st.data())
def test_projection_is_the_nearest_possible_point(row, data):
    size = data.draw(st.integers(1, len(row) - 1))
    estimate = np.array([row])
    found = project(estimate, set_size=size)[0]
    assert found.min() >= 0
    assert found.max() <= 1
    assert found.sum() == pytest.approx(size, abs=1e-9)
    # a generic solver of the same quadratic problem finds no closer point
    solved = optimize.minimize(
        lambda w: float(((w - estimate[0]) ** 2).sum()),
        np.full(len(row), size / len(row)),
        jac=lambda w: 2 * (w - estimate[0]),
        bounds=[(0, 1)] * len(row),
        constraints={"type": "eq", "fun": lambda w: w.sum() - size, "jac": lambda w: np.ones(len(row))},
        method="SLSQP",
    )
    assert ((found - estimate[0]) ** 2).sum() <= solved.fun + 1e-6


def test_possible_points_stay_and_projection_never_moves_away_from_the_truth():
    rng = np.random.default_rng(11)
    truth = rng.dirichlet(np.ones(9), size=50) * 2
    truth = project(truth, set_size=2)
    np.testing.assert_allclose(project(truth, set_size=2), truth, atol=1e-12)
    noisy = truth + rng.normal(0, 0.3, truth.shape)
    before, after = ((noisy - truth) ** 2).sum(axis=1), ((project(noisy, set_size=2) - truth) ** 2).sum(axis=1)
    # the set is convex: projecting onto it brings every point closer to all of its points
    assert (after <= before + 1e-12).all()
    assert after.mean() < 0.9 * before.mean()
