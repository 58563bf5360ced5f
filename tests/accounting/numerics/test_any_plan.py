"""The Fourier inversion encloses the exact value for any plan, however bad, and at any accuracy that is asked for.

A good plan keeps every term of the error far below the width, where none would be missed. So each plan here is bad in
one way: aliases, smoothing, the tail of the sum, skipped nodes or round-off are most of what it costs.
"""

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from oracles import MP

from segshuffle.accounting.numerics.tilted_inversion import AtomLaw, inversion, mean_positive_part
from segshuffle.accounting.numerics.tilted_inversion.atoms import saddle, tilt

#: Atoms in units of 1/8, and their masses in units of 1/64.
LAWS = {
    "rare": ((-1, 0, 9), (20, 40, 4)),
    "even": ((-8, -3, 0, 1, 7), (30, 10, 8, 8, 8)),
    "two": ((-3, 2), (40, 24)),
}
NAMES = list(LAWS)


def law_of(name):
    atoms, masses = LAWS[name]
    return AtomLaw(np.array(atoms) / 8, np.array(masses) / 64)


@cache
def exact_mean(name, count):
    """(1/n) E[max(0, S)] by n-fold convolution of whole numbers."""
    sums = {0: 1}
    for _ in range(count):
        longer = {}
        for (at, weight), (atom, mass) in itertools.product(sums.items(), zip(*LAWS[name], strict=True)):
            longer[at + atom] = longer.get(at + atom, 0) + weight * mass
        sums = longer
    return Fraction(sum(at * weight for at, weight in sums.items() if at > 0), 8 * count * 64**count)


def log_exact(name, count):
    exact = exact_mean(name, count)
    return MP.log(MP.mpf(exact.numerator)) - MP.log(MP.mpf(exact.denominator))


@pytest.mark.quick(1)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("count", [30, 100])
def test_ends_enclose_and_are_near(name, count):
    law = law_of(name)
    exact, tilted = log_exact(name, count), saddle(law_of(name), count)
    lower, upper = (inversion.inverted(law, tilted, count, 1e-4, side) for side in ("lower", "upper"))
    assert MP.mpf(lower) <= exact <= MP.mpf(upper)
    assert upper - lower <= 1.5e-4
    # sums of eighths have no values near 0 but 0 itself: nothing but round-off is left of the lower end's gap
    assert exact - 1e-8 <= inversion.inverted(law, tilted, count, 1e-7, "lower") <= exact


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_few_copies_are_enumerated_to_the_last_digits(name, count):
    lower, upper = (mean_positive_part(law_of(name), count=count, rtol=1e-2, side=side) for side in ("lower", "upper"))
    exact = log_exact(name, count)
    assert MP.mpf(lower) <= exact <= MP.mpf(upper)
    assert upper - lower <= 2e-12


GOOD = {"width": 0.02, "reach": 300.0, "period": 60.0}  # in units of 1/theta, of 1/theta, of the deviation
BAD = [
    {},
    {"width": 0.3},
    {"width": 2.0, "reach": 6.0},
    {"period": 2.0},
    {"period": 4.0},
    {"reach": 1.0},
    {"reach": 3.0},
    {"reach": 20.0},
    {"width": 0.5, "period": 3.0, "reach": 4.0},
]


@pytest.mark.quick(25)
@pytest.mark.parametrize("bad", BAD, ids=str)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("count", [1, 12])
@pytest.mark.parametrize("share", [0.5, 1.0])
def test_every_plan_encloses(monkeypatch, name, count, bad, share):
    """At the saddle and beside it."""
    law = law_of(name)
    tilted = tilt(law, share * saddle(law, count).theta)
    plan = GOOD | bad
    deviation = tilted.std * math.sqrt(count) + 1 / tilted.theta
    used = inversion.Plan(plan["width"] / tilted.theta, plan["period"] * deviation, plan["reach"] * tilted.theta)
    monkeypatch.setattr(inversion, "_first_plan", lambda *_: used)
    monkeypatch.setattr(inversion, "_ATTEMPTS", 1)
    lower, upper = (inversion.inverted(law, tilted, count, 1e-3, side) for side in ("lower", "upper"))
    exact = log_exact(name, count)
    assert MP.mpf(lower) <= exact <= MP.mpf(upper)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("reach", [0.5, 2.0, 8.0, 30.0, 100.0])
def test_the_tail_of_the_sum_is_bounded(name, reach):
    """What a sum gains by going on far beyond its last node."""
    law, count = law_of(name), 3
    tilted = saddle(law, count)
    plan = inversion.Plan(0.05 / tilted.theta, 40.0, reach * tilted.theta)
    longer = inversion.Plan(plan.width, plan.period, 400.0 * tilted.theta)
    (value, smoothing), (all_value, all_smoothing) = (sums(law, tilted, count, each) for each in (plan, longer))
    bound = inversion._tail(law, tilted, count, plan)
    assert max(abs(value - all_value), abs(smoothing - all_smoothing)) <= bound
    assert abs(value - all_value) + abs(smoothing - all_smoothing) <= bound


def sums(law, tilted, count, plan):
    parts = [inversion._partial_sums(law, tilted, count, plan, block) for block in inversion._blocks(plan)]
    return [plan.step / (2 * math.pi) * math.fsum(column) for column in list(zip(*parts, strict=True))[:2]]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("least", [0.0, -1.0, -4.0, -10.0])
def test_skipped_nodes_are_bounded(monkeypatch, name, least):
    """With a bar so high that what is skipped matters: it is within what is added for it."""
    law, count = law_of(name), 40
    tilted = saddle(law, count)
    plan = inversion.Plan(0.5 / tilted.theta, 40.0, 30.0 * tilted.theta)
    for block in inversion._blocks(plan):
        monkeypatch.setattr(inversion, "_NEGLIGIBLE_NODE", -math.inf)
        value, smoothing, rounding, _ = inversion._partial_sums(law, tilted, count, plan, block)
        monkeypatch.setattr(inversion, "_NEGLIGIBLE_NODE", least)
        kept_value, kept_smoothing, kept_rounding, _ = inversion._partial_sums(law, tilted, count, plan, block)
        lost = abs(value - kept_value) + abs(smoothing - kept_smoothing)
        assert lost <= kept_rounding
        assert lost > 10 * rounding


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("nodes", [3, 200])
def test_no_node_more_is_given_away_than_is_skipped(monkeypatch, name, nodes):
    """Nodes near 0 are all as high as can be: just below the bar, and what is added is little more than is lost."""
    law = law_of(name)
    tilted = saddle(law, 1)
    plan = inversion.Plan(1.5 / tilted.theta, 2 * math.pi * nodes / (1e-3 * tilted.theta), 1e-3 * tilted.theta)
    block = inversion._Block(1, 1, nodes)
    value, smoothing, _, _ = inversion._partial_sums(law, tilted, 1, plan, block)
    monkeypatch.setattr(inversion, "_NEGLIGIBLE_NODE", 0.5 * 1.5**2 + 1 + 1e-9)
    kept_value, kept_smoothing, added, _ = inversion._partial_sums(law, tilted, 1, plan, block)
    assert (kept_value, kept_smoothing) == (0.0, 0.0)
    assert value + smoothing <= added <= 2.8 * (value + smoothing)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("reach", [0.3, 1.0, 3.0])
def test_the_decay_of_the_law_itself_is_counted(name, reach):
    """A width that stifles everything beyond pi/range, and a last node long before it."""
    law, count = law_of(name), 60
    tilted = saddle(law, count)
    turn = math.pi / law.spread
    plan = inversion.Plan(9 / turn, 60.0, reach / (tilted.std * math.sqrt(count)))
    assert plan.last * plan.step < turn
    longer = inversion.Plan(plan.width, plan.period, 3 * turn)
    (value, smoothing), (all_value, all_smoothing) = (sums(law, tilted, count, each) for each in (plan, longer))
    off = abs(value - all_value) + abs(smoothing - all_smoothing)
    assert 0 < off <= inversion._tail(law, tilted, count, plan)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("count", [1, 12])
@pytest.mark.parametrize("width", [0.02, 1.0])
@pytest.mark.parametrize("sign", [-1, 1])
def test_a_cumulant_that_is_wrong_by_what_is_declared(monkeypatch, name, count, width, sign):
    law = law_of(name)
    tilted = saddle(law, count)
    wrong = replace(tilted, log_mgf=tilted.log_mgf + 0.999 * sign * 1e-4, log_mgf_error=1e-4)
    deviation = tilted.std * math.sqrt(count) + 1 / tilted.theta
    used = inversion.Plan(width / tilted.theta, 60 * deviation, 300 * tilted.theta)
    monkeypatch.setattr(inversion, "_first_plan", lambda *_: used)
    monkeypatch.setattr(inversion, "_ATTEMPTS", 1)
    lower, upper = (inversion.inverted(law, wrong, count, 1e-3, side) for side in ("lower", "upper"))
    assert MP.mpf(lower) <= log_exact(name, count) <= MP.mpf(upper)
    part, error = inversion._all_zero(law, wrong, count, used.width)
    true, little = inversion._all_zero(law, tilted, count, used.width)
    assert abs(part - true) <= error + little
    assert inversion._fourier_sums(law, wrong, count, used).error >= 2 * error


def test_round_off_of_many_copies_is_counted():
    """The angle of f times a million millions: its last digits are all that is left."""
    count, theta, width = 10**12, 0.7, 0.3
    node = np.linspace(0.05, 3.0, 60)
    real, imaginary, square = np.cos(node) - 1, np.sin(node), -1e-12 * node**2
    damping = 0.5 * width**2 * (theta**2 - node**2)
    used = 0.0
    for k in range(node.size):
        at = [each[k : k + 1] for each in (node, np.ones(60), real, imaginary, square, damping, np.zeros(60))]
        value, smoothing, error, _ = inversion._integrands(inversion._Nodes(*at), theta, count, width)
        t, re, im, sq, damp = (MP.mpf(float(each[k])) for each in (node, real, imaginary, square, damping))
        amplitude = MP.exp(count * MP.log1p(sq) / 2 + damp)
        turn = count * MP.atan2(im, 1 + re) + MP.mpf(width) ** 2 * MP.mpf(theta) * t
        exact = amplitude / (1 + (t / MP.mpf(theta)) ** 2) * MP.cos(turn - 2 * MP.atan(t / MP.mpf(theta)))
        level = (MP.mpf(width) * MP.mpf(theta)) ** 2
        off = abs(MP.mpf(value) - exact) + abs(MP.mpf(smoothing) - level * amplitude * MP.cos(turn))
        assert off <= error
        used = max(used, float(off / error))
    assert used > 0.02


@pytest.mark.parametrize("count", [1, 5, 60])
@pytest.mark.parametrize("sign", [-1, 1])
def test_a_characteristic_function_that_is_wrong_by_what_is_declared(count, sign):
    """Both integrands at nodes whose f is wrong by 1e-6, in the direction of f and across it."""
    declared, theta, width = 1e-6, 0.7, 0.3
    node = np.linspace(0.0, 3.0, 40)
    f = np.exp(-0.3 * node**2 + 0.2j * node)
    damping = 0.5 * width**2 * (theta**2 - node**2)

    def integrands(f, absolute):
        square = np.abs(f) ** 2 - 1
        for k in range(node.size):
            parts = (node, np.ones(node.size), f.real - 1, f.imag, square, damping, np.full(node.size, absolute))
            yield inversion._integrands(inversion._Nodes(*(each[k : k + 1] for each in parts)), theta, count, width)

    found = []
    for direction in (f / np.abs(f), 1j * f / np.abs(f)):
        wrong = integrands(f + sign * 0.999 * declared * direction, declared)
        for (value, smoothing, error, _), (true, true_smoothing, _, _) in zip(wrong, integrands(f, 0.0), strict=True):
            off = abs(value - true) + abs(smoothing - true_smoothing)
            assert off <= error
            found.append(off / error)
    assert max(found) > 0.5


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_characteristic_function_that_vanishes_may_be_as_large_as_its_error(count):
    declared, theta, width = 0.01, 0.7, 0.3
    node = np.array([0.5])
    damping = 0.5 * width**2 * (theta**2 - node**2)
    one, zero = np.ones(1), np.zeros(1)
    value, smoothing, error, size = inversion._integrands(
        inversion._Nodes(node, one, -one, zero, -one, damping, declared * one), theta, count, width
    )
    assert (value, smoothing, size) == (0.0, 0.0, 0.0)
    largest = declared**count * math.exp(damping[0]) * (1 / (1 + (0.5 / theta) ** 2) + (width * theta) ** 2)
    assert largest <= error * (1 + 1e-12) <= count * largest * (1 + 1e-11)
