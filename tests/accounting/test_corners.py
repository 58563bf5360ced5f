"""Corners of the accepted ranges: round-off, overflow and sizes, each against an exact number."""

import math
from fractions import Fraction

import oracles as o
import pytest

from segshuffle.accounting.full_view import FullView, group_epsilon
from segshuffle.accounting.hockey_stick import CountPair, hockey_stick
from segshuffle.accounting.laws import BinomialLaw

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


# -- pairs of counts where round-off decides -------------------------------------------------------------------------

# trials, probability, heads, tails, epsilon
ROUND_OFF_DECIDES = [
    pytest.param((19, 1.5e-7, 0.07125182676967176, 0.0, 300.0), id="a chord through a nearly empty block"),
    pytest.param((40, 1.7219659746602122e-06, 8.077945836989584e-06, 0.0, 100.0), id="a chord, delta of 1e-248"),
    pytest.param((30, 1.2533039358747656e-07, 0.01416326299132135, 0.01414909972833003, 0.001), id="headroom of 1e-12"),
    pytest.param((1, 0.5, 0.7, 3.0000000000000005e-10, 21.570563697312046), id="headroom at a large epsilon"),
    pytest.param((30, 2.0**-15, 0.7, 0.30000000000000004, 0.8472978603872032), id="headroom rounds to nothing"),
    pytest.param((2, 1.0, 2.0**-8, 2.0**-8 * (1 - 2.0**-30), 2.0**-30), id="room rounds across an integer"),
    pytest.param((14, 2.0**-9, 0.7, 0.2999999997000001, 0.8472978613872032), id="heads + tails rounds"),
]


@pytest.mark.parametrize("case", ROUND_OFF_DECIDES)
def test_count_pair_contains_the_exact_value_where_terms_cancel(case):
    trials, probability, heads, tails, epsilon = case
    exact = o.hockey_stick(*o.count_pair(trials, F(probability), F(heads), F(tails)), exp_fraction(epsilon))
    found = hockey_stick(pair=CountPair(heads, tails, BinomialLaw(trials, probability)), epsilon=epsilon)
    assert exact > 0
    assert F(found.lower) <= exact <= F(found.upper)
