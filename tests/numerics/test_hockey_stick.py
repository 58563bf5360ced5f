"""The certified interval: it contains the exact divergence, and it is as narrow as asked.

Containment is compared in rational arithmetic with no tolerance at all wherever the oracle is exact; the parameters
are dyadic, so that the float that the accountant sees is the number the oracle uses.
"""

import math
from fractions import Fraction

import numpy as np
import oracles as o
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import MP
from scipy import stats

from segshuffle.numerics.hockey_stick import CountPair, hockey_stick
from segshuffle.numerics.intervals import DeltaInterval
from segshuffle.numerics.laws import BinomialLaw

F = Fraction


def contains(interval, exact):
    """Return whether an interval contains a value, by exact comparison without slack."""
    return F(interval.lower) <= F(exact) <= F(interval.upper)


def pair_of(heads, tails, law):
    return CountPair(heads - tails, math.log(heads / tails) if tails else math.inf, law)


def exact_divergence(trials, clone, heads, tails, epsilon, split=0.5):
    return o.hockey_stick(*o.count_pair(trials, F(clone), F(heads), F(tails), split=F(split)), o.exp_fraction(epsilon))


@settings(derandomize=True)
@given(
    trials=st.integers(0, 30),
    clone=st.integers(1, 64),
    heads=st.integers(1, 64),
    tails=st.integers(0, 64),
    epsilon=st.sampled_from([0.0, 2.0**-20, 0.125, 0.5, 1.0, 3.0, 20.0, 45.0]),
    rtol=st.sampled_from([1e-4, 1e-9]),
)
def test_contains_the_exact_value_anywhere(trials, clone, heads, tails, epsilon, rtol):
    heads, tails = heads / 64, min(tails % heads if heads > 1 else 0, 64 - heads) / 64
    pair = pair_of(heads, tails, BinomialLaw(trials, clone / 64))
    exact = exact_divergence(trials, clone / 64, heads, tails, epsilon)
    assert contains(hockey_stick(pair=pair, epsilon=epsilon, rtol=rtol), exact)


# -- realistic sizes -------------------------------------------------------------------------------------------------


def sum_over_totals(trials, probability, heads, epsilon):
    """Sum over every total c of three binomial tails, one by one and not in blocks; accurate to about 1e-7."""
    mean, std = trials * probability, math.sqrt(trials * probability * (1 - probability))
    c = np.arange(max(1.0, math.floor(mean - 14 * std)), math.ceil(mean + 14 * std))
    u, w = (stats.binom.pmf(c - i, trials, probability) for i in (0, 1))
    gain = math.exp(epsilon)
    low = (gain * c + (gain - 1) * (1 - heads) / heads * (u / w) * (c / 2)) / (1 + gain)
    t = np.floor(low) + 1
    speaks = stats.binom.sf(t - 2, c - 1, 0.5) - gain * stats.binom.sf(t - 1, c - 1, 0.5)
    silent = (1 - gain) * stats.binom.sf(t - 1, c, 0.5)
    return math.fsum(heads * w * speaks + (1 - heads) * u * silent)


@pytest.mark.quick("1.0-0.0064")
@pytest.mark.parametrize(("heads", "epsilon"), [(0.5, 3.1e-3), (0.5, 1e-3), (1.0, 6.4e-3)])
def test_agrees_with_the_plain_sum_at_a_hundred_million_trials(heads, epsilon):
    plain = sum_over_totals(10**8, 2 / 128, heads, epsilon)
    interval = hockey_stick(pair=pair_of(heads, 0.0, BinomialLaw(10**8, 2 / 128)), epsilon=epsilon, rtol=1e-5)
    # the plain sum cancels: 1e-11 of its terms, which are 1e3 to 1e4 times larger than their difference
    assert o.encloses(interval, plain, 1e-6)


# -- ends of the range -----------------------------------------------------------------------------------------------


def test_values_below_the_smallest_delta():
    pair = pair_of(0.5, 0.0, BinomialLaw(10**9, 0.5))
    assert hockey_stick(pair=pair, epsilon=1.0) == DeltaInterval(0.0, 1e-290)


@pytest.mark.quick(6)
@pytest.mark.parametrize("epsilon", [10.0, 18.0, 25.0, 36.0, 40.0, 100.0, 300.0])
@pytest.mark.parametrize(("heads", "tails"), [(1.0, 0.0), (0.5, 0.0), (0.5, 2.0**-40), (0.5, 0.25)])
def test_floor_of_a_victim_whom_nobody_covers(heads, tails, epsilon):
    """An uncovered victim is seen: delta does not fall below that probability while the ratio exceeds e^epsilon."""
    exact = exact_divergence(20, 0.25, heads, tails, epsilon)
    interval = hockey_stick(pair=pair_of(heads, tails, BinomialLaw(20, 0.25)), epsilon=epsilon, rtol=1e-4)
    assert contains(interval, exact)
    assert interval.relative_width <= 1e-4 if exact else interval.upper <= 1e-290


# -- where round-off decides ------------------------------------------------------------------------------------------


# trials, probability, difference, log_ratio, epsilon; and the share of the first counter, if it is not one half
ROUND_OFF_DECIDES = [
    pytest.param((19, 1.5e-7, 0.07125182676967176, math.inf, 300.0), id="a chord through a nearly empty block"),
    pytest.param((40, 1.7219659746602122e-06, 8.077945836989584e-06, math.inf, 100.0), id="a chord, delta of 1e-248"),
    pytest.param((5, 0.25, 1 - 2.0**-52, math.inf, 36.0), id="a victim who is hardly ever silent"),
    pytest.param((30, 1.2533039358747656e-07, 1.4163262991320758e-05, 0.001 + 1e-12, 0.001), id="headroom of 1e-12"),
    pytest.param((1, 0.5, 0.7 - 3e-10, 21.570563697333615, 21.570563697312046), id="headroom at a large epsilon"),
    pytest.param((30, 2.0**-15, 0.4 - 2e-15, 0.8472978603872034, 0.8472978603872032), id="no headroom"),
    pytest.param((2, 1.0, 2.0**-38, 2.0**-30 * (1 + 2.0**-31), 2.0**-30), id="room rounds across an integer"),
    pytest.param((14, 2.0**-9, 0.4000000002999999, 0.8472978613872033, 0.8472978613872032), id="heads + tails rounds"),
    pytest.param((3, 3.427148259768075e-10, 0.0007437442929255516, 2.0, 1.9999980926513672, 0.25), id="rare, uneven"),
    pytest.param((2, 4.39075368349921e-06, 0.0009764738322876905, 10.0, 5.0, 0.75), id="an integer threshold, uneven"),
    pytest.param((2, 0.9969560034361371, 0.24491866217561084, 0.5, 0.4999995231628418, 0.75), id="often, uneven"),
]


@pytest.mark.quick(
    "a chord through a nearly empty block",
    "room rounds across an integer",
    "headroom at a large epsilon",
    "heads + tails rounds",
)
@pytest.mark.parametrize("case", ROUND_OFF_DECIDES)
def test_count_pair_contains_the_exact_value_where_terms_cancel(case):
    trials, probability, difference, log_ratio, epsilon, *split = case
    heads = F(difference) / (1 - (o.exp_fraction(-log_ratio) if log_ratio < math.inf else 0))
    exact = exact_divergence(trials, probability, heads, heads - F(difference), epsilon, *split)
    assert exact > 0
    pair = CountPair(difference, log_ratio, BinomialLaw(trials, probability), *split)
    assert contains(hockey_stick(pair=pair, epsilon=epsilon), exact)


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 5.0])
@pytest.mark.parametrize("log_ratio", [1e-6, 0.3, 0.9, math.inf])
def test_headroom_is_the_difference_of_two_hyperbolic_tangents(log_ratio, epsilon):
    with MP.workdps(50):
        exact = MP.tanh(MP.mpf(log_ratio) / 2) - MP.tanh(MP.mpf(epsilon) / 2)
    pair = CountPair(1e-7, log_ratio, BinomialLaw(10, 0.5))
    assert pair.headroom(epsilon) == pytest.approx(float(exact), rel=2e-15)
