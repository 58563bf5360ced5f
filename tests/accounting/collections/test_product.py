"""The accountant of the Poisson blanket against enumeration, high-precision sums and the Gaussian limit."""

from __future__ import annotations

import functools
import itertools
import math

import mpmath
import numpy as np
import oracles as o
import pytest
from oracles.clusters import exchange_divergence, sorted_exchange_divergence
from scipy import special

from segshuffle.accounting.collections import product
from segshuffle.accounting.collections.calibration import epsilon_upper, largest_copies, least_blanket_mean
from segshuffle.accounting.collections.product import delta_interval, log_delta_bound
from segshuffle.blankets.clustered import Clustered
from segshuffle.blankets.poisson import ItemPair, block_masses
from segshuffle.blankets.signed import Signed, SignedPair
from segshuffle.errors import InfeasibleError, ParameterError
from segshuffle.numerics.loss_distribution import AccuracyError, log_delta_lower, log_delta_upper

mpmath.mp.dps = 50


def plain_law(mu, size):
    law = [mpmath.exp(-mpmath.mpf(mu))]
    for x in range(1, size):
        law.append(law[-1] * mu / x)
    return law


def shifted_law(mu, copies, size):
    """Law of Poisson(mu) + M by convolution; does not use the ratio r."""
    plain, k = plain_law(mu, size), math.floor(copies)
    f = mpmath.mpf(copies) - k
    return [(1 - f) * (plain[x - k] if x >= k else 0) + f * (plain[x - k - 1] if x > k else 0) for x in range(size)]


@functools.cache
def delta(mu, copies, epsilon):
    """Divergence of one pair, in linear time: the event is x large and y below a bound that grows with x."""
    size = round(mu + copies + 40 * math.sqrt(mu + copies) + 120)
    a, b, e = shifted_law(mu, copies, size), plain_law(mu, size), mpmath.exp(epsilon)
    total, y, mass_b, mass_a = mpmath.mpf(0), 0, mpmath.mpf(0), mpmath.mpf(0)
    for x in range(size):
        while y < size and a[x] * b[y] > e * b[x] * a[y]:
            mass_b, mass_a, y = mass_b + b[y], mass_a + a[y], y + 1
        total += a[x] * mass_b - e * b[x] * mass_a
    return total


def on_the_full_grid(mu, copies, epsilon, size, pairs=1):
    """Outcome by outcome of all counters, in doubles."""
    a, b = (np.array(law, dtype=float) for law in (shifted_law(mu, copies, size), plain_law(mu, size)))
    return exchange_divergence(a, b, epsilon, pairs)[0]


def assert_holds(bounds, exact, rtol=1e-3):
    assert bounds.lower <= exact * (1 + 1e-11)
    assert exact <= bounds.upper * (1 + 1e-11)
    assert bounds.upper <= bounds.lower * (1 + rtol)


FULL_GRIDS = [(mu, copies, 1) for mu in (0.05, 1.0, 6.0) for copies in (0.3, 0.999, 1.0, 1.6, 3.0)]
FULL_GRIDS += [(mu, copies, 2) for mu in (0.05, 1.0, 3.0) for copies in (0.5, 1.0, 1.6)]


@pytest.mark.quick(10)
@pytest.mark.parametrize(("mu", "copies", "pairs"), FULL_GRIDS)
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0])
def test_pairs_against_the_full_grid(mu, copies, pairs, epsilon):
    exact = on_the_full_grid(mu, copies, epsilon, 36 if pairs == 2 else 45 if mu < 6 else 150, pairs)
    assert_holds(delta_interval(ItemPair(mu, copies), pairs=pairs, epsilon=epsilon), exact)


def test_copies_so_few_that_the_loss_vanishes():
    with mpmath.workdps(140):
        exact = float(delta(2.0, 1e-60, 0.0))
    assert_holds(delta_interval(ItemPair(2.0, 1e-60), pairs=1, epsilon=0.0), exact)
    for copies in (1e-60, 1e-110, 1e-120):
        assert epsilon_upper([(ItemPair(2.0, copies), 4)], delta=2e-6) == 0.0


@pytest.mark.parametrize("scale", [0.05, 0.2, 1.0])
@pytest.mark.parametrize("mu", [1e8, 1e12])
def test_large_blanket_is_the_gaussian_mechanism(scale, mu):
    s, epsilon = 4, 4.0 * scale
    bounds = delta_interval(ItemPair(mu, min(scale * math.sqrt(mu / (2 * s)), 64.0)), pairs=s, epsilon=epsilon)
    scale = min(scale, 64.0 * math.sqrt(2 * s / mu))
    gaussian = special.ndtr(scale / 2 - epsilon / scale) - math.exp(epsilon) * special.ndtr(
        -scale / 2 - epsilon / scale
    )
    if gaussian < 1e-200:
        assert bounds == (0.0, product.SMALLEST_DELTA)
    else:
        assert bounds.lower == pytest.approx(gaussian, rel=2e-3, abs=0)


def test_block_masses_at_a_mean_of_a_million_millions():
    pair, mu = ItemPair(1e12, 1.0), 10**12
    last = np.array([mu - 8_000_000, mu - 7_999_000, mu, mu + 500, mu + 6_000_000, mu + 6_000_700], dtype=float)
    mass, _ = block_masses(pair, last)
    for k in (0, 2, 4):
        x = int(last[k]) + 1
        term = mpmath.exp(x * mpmath.log(mu) - mu - mpmath.loggamma(x + 1))
        exact = mpmath.mpf(0)
        for y in range(x, int(last[k + 1]) + 1):
            exact += term
            term *= mpmath.mpf(mu) / (y + 1)
        assert float(mass[k]) == pytest.approx(float(exact), rel=1e-10, abs=0)


CASES = [(588.0, 4, 0.5, 2e-6), (10.0, 4, 0.5, 1e-7), (1e5, 8, 0.5, 1e-7), (1e9, 4, 1e-3, 1e-9), (200.0, 4, 1.0, 1e-30)]
#: Delta hardly moves from one whole copy on, so a secant steps far away.
CASES += [(11.046368548576215, 1, 3.702, 1.3704270852415102e-10)]


@pytest.mark.quick(0)
@pytest.mark.parametrize(("mu", "pairs", "epsilon", "delta"), CASES)
def test_calibration_ends_on_the_safe_side(mu, pairs, epsilon, delta):
    copies = largest_copies(blanket_mean=mu, pairs=pairs, epsilon=epsilon, delta=delta, copies_max=60.0)
    assert copies < 60.0
    exact = delta_interval(ItemPair(mu, copies), pairs=pairs, epsilon=epsilon, rtol=1e-5)
    assert 0.998 * delta <= exact.lower <= delta
    mean = least_blanket_mean(copies=copies, pairs=pairs, epsilon=epsilon, delta=delta)
    exact = delta_interval(ItemPair(mean, copies), pairs=pairs, epsilon=epsilon, rtol=1e-5)
    assert 0.998 * delta <= exact.lower <= delta
    level = epsilon_upper([(ItemPair(mu, copies), pairs)], delta=delta)
    exact = delta_interval(ItemPair(mu, copies), pairs=pairs, epsilon=level, rtol=1e-5)
    assert 0.998 * delta <= exact.lower <= delta


def test_limits_of_calibration():
    assert largest_copies(blanket_mean=1e6, pairs=4, epsilon=1.0, delta=1e-6) == 1.0
    for most in (0.123456789, 1e-5, 3.3, 64.0):
        mean = max(1e6 * most**2, 1e3)
        assert largest_copies(blanket_mean=mean, pairs=2, epsilon=1.0, delta=1e-6, copies_max=most) == most
    assert least_blanket_mean(copies=0.0, pairs=4, epsilon=1.0, delta=1e-6) == 1e-3
    assert 1e-3 <= least_blanket_mean(copies=1e-9, pairs=2, epsilon=1.0, delta=1e-6) <= 1e-3 * (1 + 1e-15)
    assert epsilon_upper([(ItemPair(10.0, 0.0), 4)], delta=1e-6) == 0.0
    nothing = epsilon_upper([(ItemPair(1e6, 1e-3), 1)], delta=0.1)
    assert (nothing, math.copysign(1.0, nothing)) == (0.0, 1.0)
    assert math.isinf(epsilon_upper([(ItemPair(2.0, 1.0), 4)], delta=1e-6))  # Y = 0 alone has more than delta
    with pytest.raises(InfeasibleError):
        least_blanket_mean(copies=64.0, pairs=10, epsilon=0.0, delta=1e-9)


def test_certain_copies_have_an_infinite_loss():
    bounds = delta_interval(ItemPair(4.0, 2.0), pairs=3, epsilon=20.0)
    floor = 1 - (1 - math.exp(-4) * 5) ** 3
    assert floor <= bounds.upper
    assert bounds.lower >= floor * (1 - 1e-9)
    assert bounds.upper == pytest.approx(floor, rel=1e-2, abs=0)
    assert delta_interval(ItemPair(1e-3, 5.0), pairs=4, epsilon=1.0).upper == 1.0


def test_refusal_when_the_lattice_would_be_too_long():
    with pytest.raises(AccuracyError, match="raise rtol"):
        delta_interval(ItemPair(1e-3, 1e-6), pairs=10, epsilon=0.0, rtol=1e-6)


def test_a_delta_below_the_smallest_asked_for_is_enclosed_from_zero_on():
    pair = ItemPair(10.0, 0.5)
    exact = delta_interval(pair, pairs=2, epsilon=3.0)
    assert exact.lower > 0
    above, below = (delta_interval(pair, pairs=2, epsilon=3.0, smallest=share * exact.upper) for share in (2.0, 0.5))
    assert (above.lower, above.upper) == (0.0, 2.0 * exact.upper)
    assert delta_interval(pair, pairs=2, epsilon=3.0, smallest=1.0) == (0.0, 1.0)
    assert below.lower == pytest.approx(exact.lower, rel=1e-3, abs=0)
    assert exact.lower <= below.upper <= exact.upper * (1 + 1e-3)


@pytest.mark.parametrize("epsilon", [0.7513, 0.75133, 0.751333, 0.7513333, 0.75133342, 0.7514])
def test_delta_is_enclosed_up_to_the_largest_loss(epsilon):
    """The loss stays below 0.7513345. Delta falls from 2e-7 to 0 there, and the best tilt grows without limit."""
    mean, p, copies = 0.01697829509576931, 0.016694, 0.0183513
    size, most = mean * (1 - mpmath.mpf(p)) / p, 80
    plain = [(1 - mpmath.mpf(p)) ** size]
    for count in range(most):
        plain.append(plain[-1] * p * (count + size) / (count + 1))
    moved = [(1 - copies) * mass + copies * before for before, mass in itertools.pairwise([0, *plain])]
    exact, e = mpmath.mpf(0), mpmath.exp(epsilon)
    for x, y in itertools.product(range(most + 1), repeat=2):
        exact += max(moved[x] * plain[y] - e * plain[x] * moved[y], 0)
    pair = Clustered(p).pair(mean, copies)
    assert o.encloses(delta_interval(pair, pairs=1, epsilon=epsilon, smallest=1e-15), exact, 1e-9)
    assert exact <= mpmath.exp(log_delta_bound([(pair, 1)], epsilon)) <= max(100 * exact, 1e-15)
    if 0 < exact < 1e-30:
        with pytest.raises(AccuracyError, match="raise rtol"):
            delta_interval(pair, pairs=1, epsilon=epsilon)


@pytest.mark.parametrize("epsilon", [0.0, 3.0])
def test_a_guess_of_delta_moves_no_interval_beyond_its_width(epsilon):
    pair = ItemPair(10.0, 0.5)
    alone = delta_interval(pair, pairs=2, epsilon=epsilon)
    for guess in (1e-250, alone.upper, math.nextafter(1.0, 0.0)):
        found = delta_interval(pair, pairs=2, epsilon=epsilon, expected=guess)
        assert max(alone.lower, found.lower) <= min(alone.upper, found.upper)
        assert found.upper <= found.lower * (1 + 1e-3)
    for guess in (0.0, 1.0, math.nan):
        with pytest.raises(ParameterError, match="expected"):
            delta_interval(pair, pairs=2, epsilon=epsilon, expected=guess)


# -- many copies -------------------------------------------------------------------------------------------------------

GRID = [
    (mu, copies, epsilon)
    for (mu, copies) in [(6.0, 1.0), (30.0, 7.5), (150.0, 16.0), (150.0, 33.25), (700.0, 63.75), (2000.0, 64.0)]
    for epsilon in (0.25, 1.0, 4.0)
]
#: Deltas of 1e-30, 1e-100, 1e-46, 1e-18 and 1e-36 keep their digits, too.
GRID += [(100.0, 0.5, 0.8), (1000.0, 1.0, 1.05), (20.0, 0.2, 0.8), (3.0, 0.5, 2.3)]
WIDTHS = [(*case, rtol) for case in GRID for rtol in (1e-3, 1e-6)] + [(100.0, 1.0, 3.0, 1e-3)]
#: Half a million cells are too few for the lattice of this width, but so few counts need far fewer.
WIDTHS += [(0.7766, 1.0, 4.814, 1e-5)]


@pytest.mark.quick(3)
@pytest.mark.parametrize(("mu", "copies", "epsilon", "rtol"), WIDTHS)
def test_one_pair_is_enclosed(mu, copies, epsilon, rtol):
    found, exact = delta_interval(ItemPair(mu, copies), pairs=1, epsilon=epsilon, rtol=rtol), delta(mu, copies, epsilon)
    assert o.encloses(found, exact)
    assert found.relative_width <= rtol


def test_an_interval_that_finer_lattices_do_not_narrow_is_given_up(monkeypatch):
    """It stays .56 % wide however fine the lattice is. Every table is larger than the one before."""
    steps, tabulate = list[float](), SignedPair.loss_table

    def counted(pair, step, log_tail):
        steps.append(step)
        return tabulate(pair, step, log_tail)

    monkeypatch.setattr(SignedPair, "loss_table", counted)
    pair = Signed(p=0.393479, flood_p=0.0001, flood=0.94720403).pair(32.52, 0.999279)
    with pytest.raises(AccuracyError, match=r"stayed 5\.6e-03 wide"):
        delta_interval(pair, pairs=1, epsilon=8.0, smallest=1e-11)
    assert len(steps) == 3


@pytest.mark.quick(4)
@pytest.mark.parametrize(("mu", "copies"), [(6.0, 1.5), (150.0, 16.0), (700.0, 63.75)])
@pytest.mark.parametrize("epsilon", [0.5, 3.0])
@pytest.mark.parametrize("log_tail", [1.0, 3.0, 8.0, 40.0])
def test_every_table_encloses_and_a_coarser_one_is_wider(mu, copies, epsilon, log_tail):
    """Cells far too wide and tails cut far too early make the interval wider, never wrong."""
    pair, exact = ItemPair(mu, copies), delta(mu, copies, epsilon)
    widths = []
    for step in (0.01, 0.08, 0.64):
        table = pair.loss_table(step, log_tail)
        lower, upper = log_delta_lower(table, 1, epsilon, 0.5), log_delta_upper([(table, 1)], epsilon, 0.5)
        assert lower <= mpmath.log(exact) <= upper
        widths.append(upper - lower)
    assert all(finer <= coarser * (1 + 1e-9) for finer, coarser in itertools.pairwise(widths))


@pytest.mark.parametrize(("mu", "copies", "epsilon"), [(150.0, 16.0, 1.0), (700.0, 63.75, 4.0), (6.0, 1.0, 1.0)])
def test_the_upper_bound_alone_is_above_the_exact_delta_and_near(mu, copies, epsilon):
    bound = log_delta_bound([(ItemPair(mu, copies), 1)], epsilon)
    exact = mpmath.log(delta(mu, copies, epsilon))
    assert exact <= bound <= exact + 2e-3


@pytest.mark.quick(1)
@pytest.mark.parametrize(("mu", "copies"), [(1.5e5, 0.5), (1.5e5, 20.0), (4e5, 64.0)])
def test_blocks_of_counts_enclose(mu, copies):
    """Means at which counts are taken together: the same sum, over the counts where the masses are."""
    epsilon = 2.0 * copies / math.sqrt(mu)
    found = delta_interval(ItemPair(mu, copies), pairs=1, epsilon=epsilon, rtol=1e-6)
    exact = delta_near_the_mean(mu, copies, epsilon)
    assert found.relative_width <= 1e-6
    assert o.encloses(found, exact, 1e-9)


def delta_near_the_mean(mu, copies, epsilon):
    """As `delta`, in doubles, within twelve standard deviations: masses relative to that at the mean, by ratios."""
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
    return sorted_exchange_divergence(moved, plain, log_ratio, epsilon)
