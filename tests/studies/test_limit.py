"""One level against a Gaussian curator: the figure that the curve has to reach."""

from __future__ import annotations

import numpy as np
import pytest

from segshuffle.studies.limit import compute
from segshuffle.studies.limit.compute import BLANKET_MEANS, limit_table


@pytest.mark.quick(0)
def test_within_five_percent_of_the_curator_from_a_hundred_messages_per_item_on():
    table = limit_table(set_sizes=[4, 8], deltas=[2e-6, 2e-7])
    assert len(table) == 4 * len(BLANKET_MEANS)
    large = table[table["blanket_mean"] >= 100]
    assert (large["error_ratio"] <= 1.05).all()
    # never better than the curator by more than the rounding of epsilon (0.1 % of delta) can explain
    assert (large["error_ratio"] >= 1 - 1e-3).all()


def test_epsilon_falls_and_the_ratio_tends_to_one():
    table = limit_table(set_sizes=[4], deltas=[2e-6]).dropna()
    finite = table[np.isfinite(table["epsilon"])]
    assert (np.diff(finite["epsilon"]) < 0).all()
    assert abs(finite["error_ratio"].iloc[-1] - 1) < 1e-3
    assert finite["error_ratio"].iloc[0] > 1.05


def test_a_ratio_is_given_where_there_is_an_epsilon(monkeypatch):
    """By hand: the curator's deviation is the sensitivity, sqrt(2 s), over a ratio of 1/2 here."""
    found = iter([0.0, 0.5, 99.5, 100.0, np.inf])
    asked = []

    def epsilon_upper(pair, *, pairs, delta):
        asked.append((pair.blanket_mean, pair.copies, pairs, delta))
        return next(found)

    monkeypatch.setattr(compute, "epsilon_upper", epsilon_upper)
    monkeypatch.setattr(compute, "gaussian_ratio", lambda *, epsilon, delta: 0.5)
    monkeypatch.setattr(compute, "BLANKET_MEANS", (8.0, 16.0, 24.0, 32.0, 40.0))
    table = limit_table(set_sizes=[2], deltas=[1e-6])
    # mean/(2 s/(1/2)^2) = mean/16
    assert table["error_ratio"].fillna(-1).tolist() == [-1, 1.0, 1.5, -1, -1]
    assert asked == [(mean, 1.0, 2, 1e-6) for mean in (8.0, 16.0, 24.0, 32.0, 40.0)]


def test_the_curve_has_eight_points_to_every_power_of_ten():
    expected = [float(f"{10 ** (1 + k / 8):.4g}") for k in range(33)]
    assert list(BLANKET_MEANS) == expected
    assert (BLANKET_MEANS[0], BLANKET_MEANS[-1]) == (10.0, 1e5)
