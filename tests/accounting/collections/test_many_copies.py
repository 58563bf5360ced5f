"""Items that are sent many times, up to 64: the product of Poisson pairs against the plain sum, at tight widths."""

import itertools
import math
from functools import cache

import numpy as np
import pytest
from oracles import MP
from scipy import special, stats

from segshuffle.accounting.collections.product import delta_interval, log_delta_bound
from segshuffle.accounting.numerics.loss_distribution import log_delta_lower, log_delta_upper
from segshuffle.blankets import poisson as poisson_pair
from segshuffle.blankets.poisson import ItemPair


@cache
def delta(mu, copies, epsilon):
    """One pair: sum over x of Pr[X = x] times the law of Y on the y that x outdoes, X by convolution."""
    size = round(mu + copies + 14 * math.sqrt(mu + copies) + 60)
    plain = [MP.exp(-MP.mpf(mu))]
    for x in range(1, size):
        plain.append(plain[-1] * MP.mpf(mu) / x)
    whole = math.floor(copies)
    part = MP.mpf(copies) - whole
    moved = [
        (1 - part) * (plain[x - whole] if x >= whole else 0) + part * (plain[x - whole - 1] if x > whole else 0)
        for x in range(size)
    ]
    e, total, y, below, above = MP.exp(MP.mpf(epsilon)), MP.mpf(0), 0, MP.mpf(0), MP.mpf(0)
    for x in range(size):
        while y < size and moved[x] * plain[y] > e * plain[x] * moved[y]:
            below, above, y = below + plain[y], above + moved[y], y + 1
        total += moved[x] * below - e * plain[x] * above
    return total


GRID = [
    (mu, copies, epsilon)
    for (mu, copies) in [(6.0, 1.0), (30.0, 7.5), (150.0, 16.0), (150.0, 33.25), (700.0, 63.75), (2000.0, 64.0)]
    for epsilon in (0.25, 1.0, 4.0)
]


@pytest.mark.quick(2)
@pytest.mark.parametrize(("mu", "copies", "epsilon"), GRID)
@pytest.mark.parametrize("rtol", [1e-3, 1e-6])
def test_one_pair_is_enclosed(mu, copies, epsilon, rtol):
    found, exact = delta_interval(ItemPair(mu, copies), pairs=1, epsilon=epsilon, rtol=rtol), delta(mu, copies, epsilon)
    assert found.lower <= exact <= found.upper
    assert found.relative_width <= rtol


@pytest.mark.quick(4)
@pytest.mark.parametrize(("mu", "copies"), [(6.0, 1.5), (150.0, 16.0), (700.0, 63.75)])
@pytest.mark.parametrize("epsilon", [0.5, 3.0])
@pytest.mark.parametrize("log_tail", [1.0, 3.0, 8.0, 40.0])
def test_every_table_encloses_and_a_coarser_one_is_wider(mu, copies, epsilon, log_tail):
    """Cells far too wide and tails cut far too early are paid for."""
    pair, exact = ItemPair(mu, copies), delta(mu, copies, epsilon)
    widths = []
    for step in (0.01, 0.08, 0.64):
        table = pair.loss_table(step, log_tail)
        lower, upper = (each(table, pairs=1, epsilon=epsilon, tilt=0.5) for each in (log_delta_lower, log_delta_upper))
        assert lower <= MP.log(exact) <= upper
        widths.append(upper - lower)
    assert all(finer <= coarser * (1 + 1e-9) for finer, coarser in itertools.pairwise(widths))


@pytest.mark.parametrize(("mu", "copies", "epsilon"), [(150.0, 16.0, 1.0), (700.0, 63.75, 4.0), (6.0, 1.0, 1.0)])
@pytest.mark.parametrize("rtol", [1e-1, 1e-5])
def test_the_upper_bound_alone_is_one_and_is_near(mu, copies, epsilon, rtol):
    bound = log_delta_bound(ItemPair(mu, copies), 1, epsilon, rtol)
    exact = MP.log(delta(mu, copies, epsilon))
    assert exact <= bound <= exact + 2 * rtol


@pytest.mark.quick(1)
@pytest.mark.parametrize(("mu", "copies"), [(1.5e5, 0.5), (1.5e5, 20.0), (4e5, 64.0)])
def test_blocks_of_counts_enclose(mu, copies):
    """Means at which counts are taken together: the same sum, over the counts where the masses are."""
    epsilon = 2.0 * copies / math.sqrt(mu)
    found = delta_interval(ItemPair(mu, copies), pairs=1, epsilon=epsilon, rtol=1e-6)
    exact = delta_near_the_mean(mu, copies, epsilon)
    assert found.relative_width <= 1e-6
    assert found.lower * (1 - 1e-9) <= exact <= found.upper * (1 + 1e-9)


def delta_near_the_mean(mu, copies, epsilon):
    """As `delta`, in doubles, on twelve standard deviations: masses from one at the mean, by their ratios."""
    half = math.ceil(12 * math.sqrt(mu)) + 70
    count = np.arange(round(mu) - half, round(mu) + half + 1, dtype=float)
    steps = np.concatenate([[0.0], np.cumsum(np.log1p((mu - count[1:]) / count[1:]))])
    log_mass = steps - special.logsumexp(steps)
    whole = math.floor(copies)
    part = copies - whole
    log_ratio = np.log1p(part * (count - whole - mu) / mu)
    for i in range(whole):
        log_ratio += np.log1p((count - i - mu) / mu)
    plain, moved = np.exp(log_mass), np.exp(log_mass + log_ratio)
    last = np.searchsorted(log_ratio, log_ratio - epsilon, side="left")
    below, above = (np.concatenate([[0.0], np.cumsum(each)]) for each in (plain, moved))
    return math.fsum(moved * below[last] - math.exp(epsilon) * plain * above[last])


@pytest.mark.parametrize("mean", [0.3, 5.0, 40.0, 600.0])
@pytest.mark.parametrize("share", [0.5, 0.9, 0.99, 0.995, 0.999, 1 - 1e-6, 1.0, 1.001])
def test_a_window_that_nearly_begins_at_no_count_leaves_no_more_out(mean, share):
    """No message at all has probability e^-mean: from a tail that small on, the window begins there."""
    low, high = poisson_pair.poisson_window(mean, share * mean)
    assert stats.poisson.cdf(low - 1, mean) <= math.exp(-share * mean)
    assert stats.poisson.sf(high, mean) <= math.exp(-share * mean)
    assert low <= 0.12 * mean if share > 0.9 else low <= 0.6 * mean
    if share >= 1.0:
        assert low == 0
