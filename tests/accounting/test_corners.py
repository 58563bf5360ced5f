"""Corners of the accepted ranges: round-off, overflow and sizes, each against an exact number."""

import math
from fractions import Fraction

import oracles as o
import pytest

from segshuffle.accounting.full_view import FullView, group_epsilon

F = Fraction


def exp_fraction(epsilon):
    """e^epsilon to 70 digits, for the exact float epsilon."""
    return F(int(o.MP.floor(o.MP.exp(o.MP.mpf(epsilon)) * o.MP.mpf(10) ** 70)), 10**70)


# -- the full view at a large epsilon --------------------------------------------------------------------------------

ALONE = {"domain_size": 5, "n_users": 1, "blanket_per_user": 1.5, "sampling_rate": 0.999}


def full_view_of_one_user(epsilon):
    """D of the histogram, from the server's view message by message."""
    rate, gamma = F(ALONE["sampling_rate"]), F(3, 4)
    views = [o.segmented_view(ALONE["domain_size"], [(item,)], [rate], 2, gamma) for item in (0, 1)]
    return o.hockey_stick(*views, exp_fraction(epsilon))


@pytest.mark.parametrize("epsilon", [0.5, 5.0, 16.0, 20.0, 36.0, 38.0, 60.0, 300.0])
def test_full_view_holds_at_every_epsilon(epsilon):
    """A user alone: what its message shows for certain is no less at a larger epsilon."""
    found, exact = FullView(**ALONE).delta(epsilon), float(full_view_of_one_user(epsilon))
    assert found.lower <= exact * (1 + 1e-15)
    assert exact <= found.upper * (1 + 1e-15)
    assert found.relative_width < 1e-6


def test_no_group_epsilon_where_the_full_view_does_not_fall():
    view = FullView(**ALONE)
    assert group_epsilon(lambda e: view.delta(e).upper, set_size=1, delta=1e-5, claimed=0.5) == math.inf
