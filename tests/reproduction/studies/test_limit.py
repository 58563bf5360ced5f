"""One level against a Gaussian curator: the figure that the curve has to reach."""

from __future__ import annotations

import numpy as np
import pytest

from segshuffle.reproduction.studies.limit.compute import BLANKET_MEANS, limit_table


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
