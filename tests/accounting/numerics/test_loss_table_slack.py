"""Bounds from a table of losses that lie on the lattice: exact but for the errors put in, one kind at a time."""

import dataclasses
import itertools
import math
from fractions import Fraction
from functools import cache

import numpy as np
import oracles as o
import pytest
from oracles import MP

from segshuffle.accounting.numerics import loss_distribution
from segshuffle.accounting.numerics.loss_distribution import LossTable, log_delta_lower, log_delta_upper

STEP = math.log(2.0)
#: First exponent of 2 of the ratios, mass of B in every cell, mass of B where A has none; in units of the sum.
LAWS = {"symmetric": (-2, (4, 8, 23, 4, 1), 0), "with an infinite loss": (-1, (2, 15, 2), 1)}
NAMES = list(LAWS)
#: Between points of the lattice, at one, and beyond all but the infinite losses.
EPSILONS = (0.3, 1.0, 2.0)
ERROR = 1e-4


def exact_laws(name):
    first, masses, zero = LAWS[name]
    total = sum(masses) + zero
    b = {k: Fraction(mass, total) for k, mass in enumerate(masses, first)}
    a = {k: mass * Fraction(2) ** k for k, mass in b.items()}
    assert sum(a.values()) == 1
    return a, b | ({"never": Fraction(zero, total)} if zero else {})


def exact_delta(a, b, pairs, epsilon):
    return _exact_delta(tuple(a.items()), tuple(b.items()), pairs, epsilon)


@cache
def _exact_delta(a, b, pairs, epsilon):
    a, b = dict(a), dict(b)
    factors = [o.product_law(a, b), o.product_law(b, a)]
    p, q = (o.product_law(*[law] * pairs) for law in factors)
    exp_epsilon = Fraction(int(MP.floor(MP.exp(MP.mpf(epsilon)) * MP.mpf(10) ** 40)), 10**40)
    return o.hockey_stick(p, q, exp_epsilon)


def table_of(name):
    first, masses, zero = LAWS[name]
    mass = np.array(masses) / (sum(masses) + zero)
    return LossTable(first, STEP, mass, np.zeros(mass.size), zero / (sum(masses) + zero), 0.0, 0.0, 0.0)


def ends(table, pairs, epsilon, tilt=0.5):
    found = [each(table, pairs=pairs, epsilon=epsilon, tilt=tilt) for each in (log_delta_lower, log_delta_upper)]
    return [math.exp(value) for value in found]


CASES = [(name, pairs, epsilon) for name in NAMES for pairs in (1, 2) for epsilon in EPSILONS]
CASES += [("with an infinite loss", 3, 0.3)]


@pytest.mark.parametrize(("name", "pairs", "epsilon"), CASES)
@pytest.mark.parametrize(("tilt", "rtol"), [(0.0, 1e-11), (0.5, 1e-11), (3.0, 1e-8)])
def test_losses_on_the_lattice_are_exact(name, pairs, epsilon, tilt, rtol):
    exact = exact_delta(*exact_laws(name), pairs, epsilon)
    lower, upper = ends(table_of(name), pairs, epsilon, tilt)
    assert Fraction(lower) <= exact <= Fraction(upper)
    assert upper - lower <= rtol * float(exact)


@pytest.mark.quick(3)
@pytest.mark.parametrize(("name", "pairs", "epsilon"), CASES)
def test_masses_that_are_wrong_by_what_is_declared(name, pairs, epsilon):
    table, exact = table_of(name), exact_delta(*exact_laws(name), pairs, epsilon)
    for signs in itertools.product((-1, 1), repeat=table.mass.size + 1):
        off = 1 + 0.999 * ERROR * np.array(signs)
        wrong = dataclasses.replace(
            table, mass=table.mass * off[1:], zero_mass=table.zero_mass * off[0], mass_error=ERROR
        )
        lower, upper = ends(wrong, pairs, epsilon)
        assert lower <= exact <= upper
    assert upper - lower <= 0.2 * float(exact)


@pytest.mark.parametrize(("name", "pairs", "epsilon"), CASES)
def test_mass_that_is_cut_off(name, pairs, epsilon):
    """A cell at an end is not in the table; or a part of every cell is missing."""
    table, (a, b) = table_of(name), exact_laws(name)
    exact = exact_delta(a, b, pairs, epsilon)
    last = table.first + table.mass.size - 1
    for cell, cut in ((table.first, slice(1, None)), (last, slice(None, -1))):
        rest = {"mass": table.mass[cut], "excess": table.excess[cut], "truncated": float(a[cell] + b[cell])}
        lower, upper = ends(dataclasses.replace(table, first=table.first + (cut.start or 0), **rest), pairs, epsilon)
        assert lower <= exact <= upper
    for lacking in np.eye(table.mass.size):
        mass = table.mass * (1 - 0.01 * lacking)
        gone = 0.01 * float(lacking @ (table.mass * (1 + 2.0 ** (table.first + np.arange(table.mass.size)))))
        lower, upper = ends(dataclasses.replace(table, mass=mass, truncated=gone, missing=gone), pairs, epsilon)
        assert lower <= exact <= upper


@pytest.mark.parametrize("pairs", [1, 2])
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("moved", [(1, 0, 0, 0, -1), (-1, 0, 0, 0, 1), (0, 2, -1, 0, 0), (1, -2, 1, 3, -3)])
def test_ratios_that_are_wrong_by_what_is_declared(pairs, epsilon, moved):
    """A's masses move a little, so that no ratio is on the lattice: the table still says that they are."""
    a, b = exact_laws("symmetric")
    a = {k: mass + Fraction(by, 10**6) for (k, mass), by in zip(a.items(), moved, strict=True)}
    wrong = max(abs(math.log(a[k] / b[k]) - k * STEP) for k in a)
    table = dataclasses.replace(table_of("symmetric"), ratio_error=wrong * (1 + 1e-9))
    lower, upper = ends(table, pairs, epsilon)
    assert Fraction(lower) <= exact_delta(a, b, pairs, epsilon) <= Fraction(upper)
    assert upper - lower <= 100 * pairs * wrong


@pytest.mark.parametrize("pairs", [1, 2])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_cells_of_several_ratios(pairs, epsilon):
    """Neighbours in one cell of twice the step: the mean ratio is kept, and the exact value is inside."""
    a, b = exact_laws("symmetric")
    fine = table_of("symmetric")
    cells = [(-2, -1), (0, 1), (2,)]
    mass = np.array([float(sum(b[k] for k in cell)) for cell in cells])
    above = np.array([float(sum(a[k] for k in cell)) for cell in cells])
    excess = above / mass / 2.0 ** np.array([-2, 0, 2]) - 1
    coarse = dataclasses.replace(fine, first=-1, step=2 * STEP, mass=mass, excess=excess)
    exact = float(exact_delta(a, b, pairs, epsilon))
    (lower, upper), (low, high) = ends(coarse, pairs, epsilon), ends(fine, pairs, epsilon)
    assert lower <= low <= exact * (1 + 1e-12)
    assert exact * (1 - 1e-12) <= high <= upper
    # both are attained: the event of whole cells, and cells that are split between their ends
    event = {k: index for index, cell in enumerate(cells, -1) for k in cell}
    p, q = (o.product_law(*[o.product_law(*pair)] * pairs) for pair in ((a, b), (b, a)))
    inside = [cell for cell in p if sum(event[x] - event[y] for x, y in cell) * 2 * STEP > epsilon]
    test = float(sum(p[cell] for cell in inside)) - math.exp(epsilon) * float(sum(q[cell] for cell in inside))
    assert lower == pytest.approx(test, rel=1e-9, abs=0)
    split = {k: o_mass for k, o_mass in zip((-2, 0, 2, 4), _split(mass, excess), strict=True) if o_mass}
    spread = {k: value * 2.0**k for k, value in split.items()}
    assert upper == pytest.approx(float(exact_delta(_exact(spread), _exact(split), pairs, epsilon)), rel=1e-9, abs=0)


def _split(mass, excess):
    right = mass * excess / 3
    return np.append(mass - right, 0.0) + np.append(0.0, right)


def _exact(law):
    return {k: Fraction(value) for k, value in law.items()}


@pytest.mark.parametrize("pairs", [1, 2])
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("cell", [-1, 0, 1, 2])
def test_mass_of_b_alone_that_a_cell_lacks(pairs, epsilon, cell):
    """It looks as if that cell spoke more for A than it does."""
    a, b = exact_laws("symmetric")
    table = table_of("symmetric")
    lacking = 0.01 * (np.arange(-2, 3) == cell) * table.mass
    mass, gone = table.mass - lacking, float(lacking.sum())
    wrong = dataclasses.replace(table, mass=mass, excess=lacking / mass, truncated=gone, missing=gone)
    lower, upper = ends(wrong, pairs, epsilon)
    assert lower <= exact_delta(a, b, pairs, epsilon) <= upper


@pytest.mark.quick(5)
@pytest.mark.parametrize("start", [-3, -8, -16])
@pytest.mark.parametrize("size", [12, 20])
@pytest.mark.parametrize("tilt", [0.0, 0.4, 1.0])
def test_mass_outside_the_window_is_paid_for(monkeypatch, start, size, tilt):
    """A window so small that what is wrapped around matters."""
    pairs, epsilon = 8, 2.5
    a, b = exact_laws("symmetric")
    one = {k: sum(a[x] * b[x - k] for x in a if x - k in b) for k in range(-4, 5)}
    law = {0: Fraction(1)}
    for _ in range(pairs):
        law = {j: sum(law.get(j - k, 0) * mass for k, mass in one.items()) for j in range(min(law) - 4, max(law) + 5)}
    exact = math.fsum(float(mass) * -math.expm1(epsilon - k * STEP) for k, mass in law.items() if k * STEP > epsilon)

    def frame(parts):
        return loss_distribution._Frame(start, size, loss_distribution._outside(parts, (start, start + size - 1), 0.35))

    monkeypatch.setattr(loss_distribution, "_frame", frame)
    monkeypatch.setattr(loss_distribution, "_whole", lambda *_: None)
    lower, upper = ends(table_of("symmetric"), pairs, epsilon, tilt)
    assert lower <= exact <= upper


@pytest.mark.parametrize("tilt", [-0.02, 0.0, 0.03])
def test_a_window_is_as_wide_as_the_sum_not_as_its_range(tilt):
    """Of 10^5 pairs with 21 indices each: 20 standard deviations hold all but 1e-11, of a range of four million."""
    weights = np.exp(-0.05 * (np.arange(21) - 10.0) ** 2)
    factors = np.array([weights * np.exp(sign * tilt * np.arange(21)) for sign in (1, -1)])
    factors /= factors.sum(axis=1, keepdims=True)
    mean, variance = _moments(factors)
    frame = loss_distribution._frame([(factors, 10**5)])
    deviation = (10**5 * variance) ** 0.5
    assert frame.size < 40 * deviation
    assert frame.start < 10**5 * mean - 6.5 * deviation
    assert frame.start + frame.size - 1 > 10**5 * mean + 6.5 * deviation
    assert 0 < frame.outside <= 1e-11


def _moments(factors):
    """Mean and variance of the first index minus the second."""
    index = np.arange(factors.shape[1])
    means = factors @ index
    return means[0] - means[1], (factors @ index**2 - means**2).sum()


# -- the bounds of round-off, each part attained by an error put in where it does most ---------------------------------

FACTORS = np.array([[0.1, 0.4, 0.3, 0.2], [0.5, 0.1, 0.3, 0.1]])


def errors_at_frequency_0(monkeypatch, relative):
    """Every row's transform is wrong by its share of its norm, and all of that where every factor is largest."""
    exact = loss_distribution.fft.rfft

    def rfft(rows, size, axis):
        found = exact(rows, size, axis=axis)
        found[:, 0] += relative * math.sqrt(size) * np.linalg.norm(rows, axis=1)
        return found

    monkeypatch.setattr(loss_distribution.fft, "rfft", rfft)


def upper_law(monkeypatch, table, pairs):
    """Law of the sum as it is found for the upper bound, and the bound of its error."""
    seen = []
    original = loss_distribution._payoff

    def payoff(frame, law, error, *rest):
        seen.append((law, error))
        return original(frame, law, error, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(loss_distribution, "_payoff", payoff)
        loss_distribution.log_delta_upper_of([(table, pairs), (table, 2)], epsilon=1.0, tilt=0.5)
    return seen[0]


@pytest.mark.parametrize("pairs", [1, 5])
def test_errors_of_transforms_add_up_in_the_law_of_the_upper_bound(monkeypatch, pairs):
    table = table_of("symmetric")
    law, rounding = upper_law(monkeypatch, table, pairs)
    monkeypatch.setattr(loss_distribution, "_FFT_CONSTANT", 0.0)
    _, products = upper_law(monkeypatch, table, pairs)
    # 8 roundings for the product of every pair, and for that of both parts
    assert products == pytest.approx(1.1 * 8 * (pairs + 2 + 1) * 2.0**-52 * np.linalg.norm(law), rel=1e-9)
    constant = 1e7
    monkeypatch.setattr(loss_distribution, "_FFT_CONSTANT", constant)
    relative = constant * 2.0**-52 * math.log2(law.size)
    assert rounding - products == pytest.approx((upper_law(monkeypatch, table, pairs)[1] - products) * 8e-7, rel=1e-6)
    errors_at_frequency_0(monkeypatch, relative)
    moved, declared = upper_law(monkeypatch, table, pairs)
    forward, backward = np.linalg.norm(moved - law), relative * np.linalg.norm(law)
    assert declared - products == pytest.approx(1.1 * (forward + backward), rel=1e-6)


@pytest.mark.parametrize("pairs", [1, 2, 6])
@pytest.mark.parametrize(("change", "loose"), [(0.01, (1.6, 3.5)), (1.5, (2.5, 12.0))])
def test_errors_of_transforms_are_bounded_in_both_laws_of_the_lower_bound(monkeypatch, pairs, change, loose):
    """The ratio acts on one counter, by a factor of 1 + change in all; every sign of every row's error."""
    extra = np.array([np.zeros(4), change * np.array([0.1, 0.2, 0.3, 0.4])])
    frame = loss_distribution._Frame(-3 * pairs, 64, 0.0)
    exact = loss_distribution._lower_laws(FACTORS, extra, pairs, frame)
    monkeypatch.setattr(loss_distribution, "_FFT_CONSTANT", 1e6)
    worst = {"under_q": 0.0, "difference": 0.0}
    for signs in itertools.product((-1, 1), repeat=4):
        with monkeypatch.context() as patch:
            errors_at_frequency_0(patch, frame.relative_error * np.array(signs))
            moved = loss_distribution._lower_laws(FACTORS, extra, pairs, frame)
        for law in worst:
            worst[law] = max(worst[law], np.linalg.norm(getattr(moved, law) - getattr(exact, law)))
    declared = loss_distribution._lower_laws(FACTORS, extra, pairs, frame)
    assert worst["under_q"] <= declared.error_q <= loose[0] * worst["under_q"]
    assert worst["difference"] <= declared.error_difference <= loose[1] * pairs * worst["difference"]


def test_round_off_of_products_is_bounded_in_both_laws(monkeypatch):
    """16 roundings, as if every transform had them too."""
    extra = 0.1 * FACTORS
    frame = loss_distribution._Frame(-6, 16, 0.0)
    whole = loss_distribution._lower_laws(FACTORS, extra, 2, frame)
    monkeypatch.setattr(loss_distribution, "_FFT_CONSTANT", 0.0)
    rest = loss_distribution._lower_laws(FACTORS, extra, 2, frame)
    for name in ("error_q", "error_difference"):
        assert getattr(whole, name) == pytest.approx(getattr(rest, name) * (1 + 8 * math.log2(16) / 16), rel=1e-9)


@pytest.mark.parametrize("pairs", [1, 2, 3, 7, 64])
@pytest.mark.parametrize("length", [2, 50])
def test_roundings_of_a_direct_convolution_are_counted(pairs, length):
    """Of halves: a product of k by m counts, k no more than m, has the errors of both and k roundings."""
    count, width = 0, length
    for bit in bin(pairs)[3:]:
        count, width = 2 * count + width, 2 * width - 1
        if bit == "1":
            count, width = count + length, width + length - 1
    count = 2 * count + width
    declared = loss_distribution._convolution_error(2 * width - 1, pairs)
    assert count * 2.0**-53 <= declared <= 24 * count * 2.0**-53


@pytest.mark.parametrize(("low", "high"), [(-3, 4), (-20, 4), (-3, 20), (-9, 9), (-8, 9), (-9, 8), (-20, 20)])
@pytest.mark.parametrize("rate", [0.1, 0.7])
def test_mass_outside_a_window_is_chernoffs_bound(low, high, rate):
    """E[e^(rate (S - high - 1))] + E[e^(rate (low - 1 - S))], by the law of the sum; nothing where no sum can be."""
    other = FACTORS[::-1, :]
    law = np.ones(1)
    for u, v in [FACTORS] * 2 + [other]:
        law = np.convolve(law, np.convolve(u, v[::-1]))
    index = np.arange(law.size) - law.size // 2
    above = float(law @ np.exp(rate * (index - high - 1))) if high < 9 else 0.0
    below = float(law @ np.exp(rate * (low - 1 - index))) if low > -9 else 0.0
    found = loss_distribution._outside([(FACTORS, 2), (other, 1)], (low, high), rate)
    assert found == pytest.approx(min(above, 1.0) + min(below, 1.0), rel=1e-12, abs=0)
    assert found >= law[(index < low) | (index > high)].sum()


def test_logs_of_a_bound_have_a_rounding_each():
    for finite, logs, infinite in ((2.0, (-700.0, 3.0, 40.0), 0.0), (0.5, (1.0,), 0.25), (0.0, (5.0, 6.0), 1e-9)):
        value, margin = loss_distribution._log_delta(finite, logs, infinite)
        exact = MP.log(MP.mpf(finite) * MP.exp(sum(logs)) + MP.mpf(infinite))
        assert abs(MP.mpf(value) - exact) <= margin
        assert margin == pytest.approx(16 * 2.0**-52 * (1 + sum(map(abs, logs))), rel=1e-12)
    assert loss_distribution._log_delta(0.0, (1.0,), 0.0)[0] == -math.inf


def test_mass_that_q_may_have_besides_is_taken_off():
    for value, epsilon, missing in ((-1.0, 0.5, 1e-3), (-40.0, 2.0, 1e-19), (-2.0, 0.0, 0.1)):
        exact = MP.log(MP.exp(value) - MP.exp(epsilon) * MP.mpf(missing))
        assert loss_distribution._log_less(value, epsilon, missing) == pytest.approx(float(exact), rel=1e-13)
    assert loss_distribution._log_less(0.0, 0.0, 1.0) == -math.inf
    assert loss_distribution._log_less(-3.0, 0.5, 0.1) == -math.inf
    assert loss_distribution._log_less(-math.inf, 0.5, 0.1) == -math.inf


@pytest.mark.parametrize(("mass", "pairs"), [(0.0, 3), (0.25, 3), (1e-12, 100), (1 - 2**-20, 2), (1.0, 1)])
def test_one_of_many_counters_falls_where_only_b_is(mass, pairs):
    exact = 1 - (1 - Fraction(mass)) ** pairs
    assert loss_distribution.infinite_loss(mass, pairs) == pytest.approx(float(exact), rel=1e-14, abs=0)
