"""Projection of estimates onto possible frequencies."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize

from segshuffle.reproduction.studies.panels.postprocessing import project

ROWS = st.lists(st.floats(-3, 3, allow_subnormal=False), min_size=2, max_size=7)


@given(ROWS, st.data())
def test_projection_is_the_nearest_possible_point(row, data):
    size = data.draw(st.integers(1, len(row) - 1))
    estimate = np.array([row, row[::-1]])
    found, other = project(estimate, set_size=size)
    np.testing.assert_allclose(other[::-1], found, atol=1e-12)
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
