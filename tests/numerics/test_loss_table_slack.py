"""Bounds from a table of losses that lie on the lattice: exact but for the errors put in, one kind at a time."""

import dataclasses
import itertools
import math
from fractions import Fraction

import numpy as np
import oracles as o
import pytest

from segshuffle.numerics import loss_distribution
from segshuffle.numerics.loss_distribution import LossTable, log_delta_lower, log_delta_upper

STEP = math.log(2.0)
#: Exponent of the least ratio, a power of 2; mass of B in every cell, and where A has none (divided by their sum).
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
    factors = [o.product_law(a, b), o.product_law(b, a)]
    p, q = (o.product_law(*[law] * pairs) for law in factors)
    return o.hockey_stick(p, q, o.exp_fraction(epsilon))


def table_of(name):
    first, masses, zero = LAWS[name]
    mass = np.array(masses) / (sum(masses) + zero)
    return LossTable(first, STEP, mass, np.zeros(mass.size), zero / (sum(masses) + zero), 0.0, 0.0, 0.0)


def ends(table, pairs, epsilon, tilt=0.5):
    found = [log_delta_lower(table, pairs, epsilon, tilt), log_delta_upper([(table, pairs)], epsilon, tilt)]
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
    """A cell at an end is not in the table, or a hundredth of any one cell is missing."""
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


@pytest.mark.parametrize("pairs", [1, 2])
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("cell", [-1, 0, 1, 2])
def test_mass_of_b_alone_that_a_cell_lacks(pairs, epsilon, cell):
    """It makes the cell's ratio of A to B look larger than it is."""
    a, b = exact_laws("symmetric")
    table = table_of("symmetric")
    lacking = 0.01 * (np.arange(-2, 3) == cell) * table.mass
    mass, gone = table.mass - lacking, float(lacking.sum())
    wrong = dataclasses.replace(table, mass=mass, excess=lacking / mass, truncated=gone, missing=gone)
    lower, upper = ends(wrong, pairs, epsilon)
    assert lower <= exact_delta(a, b, pairs, epsilon) <= upper


# -- infinite losses ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("mass", "pairs"), [(0.0, 3), (0.25, 3), (1e-12, 100), (1 - 2**-20, 2), (1.0, 1)])
def test_one_of_many_counters_falls_where_only_b_is(mass, pairs):
    exact = 1 - (1 - Fraction(mass)) ** pairs
    assert loss_distribution.infinite_loss((mass, pairs)) == pytest.approx(float(exact), rel=1e-14, abs=0)
