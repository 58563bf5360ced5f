"""Classes of the randomizers against their full laws, written down once more here in rational numbers."""

import math
import time
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import MP
from randomizer_cases import CASES, MAKERS, blanket_row
from scipy import integrate

from segshuffle.accounting.single_message.decomposition import BlanketBound
from segshuffle.accounting.single_message.randomizers.composed import (
    JointComposition,
    ParallelComposition,
)
from segshuffle.accounting.single_message.randomizers.encodings import LocalHash, Rappor
from segshuffle.accounting.single_message.randomizers.laplace import Laplace
from segshuffle.accounting.single_message.randomizers.matrix import matrix_randomizer
from segshuffle.accounting.single_message.randomizers.subsets import (
    KaryRandomizedResponse,
    SubsetSelection,
)
from segshuffle.errors import ParameterError
from segshuffle.reproduction.studies.referee.enumeration import merged_outputs


def grouped(reference, first, second):
    """Sum the mass of the reference by the pair of ratios, in a dict keyed by rounded logarithms."""
    groups = {}
    for r, a, b in zip(reference, first, second, strict=True):
        if r:
            key = (round(math.log(a / r), 9) + 0.0, round(math.log(b / r), 9) + 0.0)
            groups[key] = groups.get(key, 0) + r
    return groups


def as_groups(classes):
    keys = zip(classes.log_first.round(9) + 0.0, classes.log_second.round(9) + 0.0, strict=True)
    return dict(zip(((float(a), float(b)) for a, b in keys), classes.mass, strict=True))


def assert_same(classes, expected):
    got = as_groups(classes)
    assert got.keys() == expected.keys()
    for key, mass in expected.items():
        assert got[key] == pytest.approx(float(mass), rel=1e-13, abs=0)


def assert_same_law(found, rows):
    """Check that two laws are equal, in any order and with outputs of proportional columns merged."""
    one, other = (
        np.array(sorted(merged_outputs(np.array(law, dtype=float)[: len(rows)]).T.tolist())) for law in (found, rows)
    )
    np.testing.assert_allclose(one, other, rtol=1e-13)


@pytest.mark.parametrize("name", CASES)
def test_matrix_and_classes_are_those_of_the_definition(name):
    randomizer, matrix, (x0, x1), star = CASES[name]
    assert_same_law(randomizer.laws(randomizer.three_inputs), [matrix[x] for x in dict.fromkeys((x0, x1, star))])
    assert_same(randomizer.blankets("upper")[0], grouped(blanket_row(matrix), matrix[x0], matrix[x1]))
    others = [star, x0] if len(matrix) == 2 else [star]
    for classes, own in zip(randomizer.common_input("lower"), others, strict=True):
        assert_same(classes, grouped(matrix[own], matrix[x0], matrix[x1]))


@pytest.mark.parametrize("name", ["krr5", "oue4", "privset6"])
def test_joint_and_parallel_composition_by_enumeration(name):
    one, matrix, (x0, x1), star = CASES[name]
    two, other, (y0, y1), other_star = CASES["krr3"]
    joint = JointComposition(components=(one, two))
    rows = {(x, y): [a * b for a in matrix[x] for b in other[y]] for x in range(len(matrix)) for y in range(len(other))}
    blanket = blanket_row(list(rows.values()))
    assert_same(joint.blankets("upper")[0], grouped(blanket, rows[x0, y0], rows[x1, y1]))
    near = JointComposition(components=(one, two), differing=1)
    assert_same(near.blankets("upper")[0], grouped(blanket, rows[x0, y0], rows[x1, y0]))
    assert near.local_epsilon == one.local_epsilon
    assert_same(joint.common_input("lower")[0], grouped(rows[star, other_star], rows[x0, y0], rows[x1, y1]))
    weights = (Fraction(1, 4), Fraction(3, 4))
    mixed = [
        [weights[0] * a for a in matrix[x]] + [weights[1] * b for b in other[y]]
        for x, y in ((x0, y0), (x1, y1), (star, other_star))
    ]
    parallel = ParallelComposition(components=(one, two), weights=(0.25, 0.75))
    lowest = [weights[0] * a for a in blanket_row(matrix)] + [weights[1] * b for b in blanket_row(other)]
    assert_same(parallel.blankets("upper")[0], grouped(lowest, mixed[0], mixed[1]))
    assert_same(parallel.common_input("lower")[0], grouped(mixed[2], mixed[0], mixed[1]))


def test_poisson_subsampling_mixes_a_constant():
    randomizer, matrix, (x0, x1), _ = CASES["krr3"]
    sampled = ParallelComposition(components=(randomizer,), weights=(1.0,), rate=0.25)
    rows = [[entry / 4 for entry in row] + [Fraction(3, 4)] for row in matrix]
    assert_same(sampled.blankets("upper")[0], grouped(blanket_row(rows), rows[x0], rows[x1]))


@pytest.mark.parametrize("side", ["upper", "lower"])
@pytest.mark.parametrize("which", ["blanket", "common_input"])
def test_laplace_classes_keep_all_masses(side, which):
    randomizer = Laplace(local_epsilon=2.0, cells=50)
    classes = randomizer.blankets(side)[0] if which == "blanket" else randomizer.common_input(side)[0]

    def density(x, y):
        return math.exp(-2 * abs(y - x))  # epsilon_0/2 = 1

    def reference(y):
        return min(density(0, y), density(1, y)) if which == "blanket" else density(0.5, y)

    def integral(function):
        return sum(integrate.quad(function, a, b)[0] for a, b in pairwise((-20, 0, 0.5, 1, 21)))

    assert classes.mass.sum() == pytest.approx(integral(reference), rel=1e-9)
    for logs in (classes.log_first, classes.log_second):
        assert float(classes.mass @ np.exp(logs)) == pytest.approx(1.0, rel=1e-12)
    # second moment of the ratio: the two sides enclose the exact one
    exact = integral(lambda y: density(0, y) ** 2 / reference(y))
    moment = float(classes.mass @ np.exp(2 * classes.log_first))
    assert moment == pytest.approx(exact, rel=1e-3)
    assert (moment >= exact * (1 - 1e-12)) if side == "upper" else (moment <= exact * (1 + 1e-12))


@given(st.sampled_from(MAKERS), st.floats(1e-6, 40.0))
def test_classes_are_consistent_laws(make, local_epsilon):
    randomizer = make(local_epsilon)
    for side in ("upper", "lower"):
        blanket = randomizer.blankets(side)[0]
        for classes in (blanket, *randomizer.common_input(side)):
            for logs in (classes.log_first, classes.log_second):
                assert math.fsum(classes.mass * np.exp(logs)) == pytest.approx(1.0, rel=2e-14 * max(1, local_epsilon))
            assert np.all(np.abs(classes.log_first - classes.log_second) <= local_epsilon * (1 + 1e-12))
        assert np.all(blanket.log_first >= -1e-12)
        pairs = as_groups(blanket)
        assert pairs.keys() == {(second, first) for first, second in pairs}
        assert all(mass == pytest.approx(pairs[second, first], rel=1e-12) for (first, second), mass in pairs.items())


@pytest.mark.parametrize(
    "make",
    [
        lambda: LocalHash(local_epsilon=1.0, hash_size=2, domain_size=1),
        lambda: JointComposition(components=()),
        lambda: JointComposition(components=(Rappor(local_epsilon=1.0),), differing=2),
        lambda: ParallelComposition(components=(Rappor(local_epsilon=1.0),), weights=(0.5,)),
        lambda: ParallelComposition(components=(Rappor(local_epsilon=1.0),) * 2, weights=(1.5, -0.5)),
        lambda: ParallelComposition(components=(Rappor(local_epsilon=1.0),), weights=(1.0,), rate=0.0),
        # one table for each pair of inputs: those of one pair bound nothing
        lambda: ParallelComposition(
            components=(matrix_randomizer([[0.5, 0.5], [0.1, 0.9]]), Rappor(local_epsilon=1.0)), weights=(0.5, 0.5)
        ),
    ],
)
def test_bad_parameters_are_refused(make):
    with pytest.raises(ParameterError):
        make()


# -- large domains and many components --------------------------------------------------------------------------------


def test_shares_of_large_subsets_are_exact_and_quick():
    """d = 10^5, k = d/2: an output meets both inputs, one of them or none like two draws without replacement."""
    d, k = 10**5, 5 * 10**4
    begin = time.process_time()
    randomizer = SubsetSelection(local_epsilon=1.0, domain_size=d, subset_size=k)
    assert BlanketBound(randomizer=randomizer, n_users=10).epsilon(delta=1e-6) <= 1.0
    assert time.process_time() - begin < 5.0
    found = randomizer.blankets("upper")[0]
    both, none, one = (
        Fraction(k * (k - 1), d * (d - 1)),
        Fraction((d - k) * (d - k - 1), d * (d - 1)),
        Fraction(k * (d - k), d * (d - 1)),
    )
    total = found.mass.sum()
    masses = {(a, b): m / total for m, a, b in zip(found.mass, found.log_first, found.log_second, strict=True)}
    gamma = 1 / (0.5 + 0.5 * math.e)
    assert total == pytest.approx(gamma, rel=1e-14)
    for key, share in {(1.0, 1.0): both, (0.0, 0.0): none, (1.0, 0.0): one, (0.0, 1.0): one}.items():
        assert masses[key] == pytest.approx(float(share), rel=1e-14)


def test_every_part_of_a_composition_brings_its_own_round_off():
    """Worst case of the roundings, not the typical one: a single table's bound is not enough for 60 multiplied ones."""
    part = KaryRandomizedResponse(local_epsilon=2.5, domain_size=2)
    joint = JointComposition(components=(part,) * 60).blankets("upper")[0]
    assert joint.mass_error == 60 * part.blankets("upper")[0].mass_error
    assert joint.log_error == pytest.approx(60 * 60 * part.blankets("upper")[0].log_error, rel=1e-12)
    # binary randomized response: mass 1/(1 + e^eps) on either output, the ratio e^eps to one input or the other
    mass = 1 / (1 + MP.exp(MP.mpf(2.5)))
    for held, found, log_first in zip(
        range(61), joint.mass[np.argsort(joint.log_first)], np.sort(joint.log_first), strict=True
    ):
        exact = MP.binomial(60, held) * mass**60
        assert abs(found - exact) <= joint.mass_error * exact
        assert abs(log_first - 2.5 * held) <= joint.log_error


def test_a_joint_composition_of_too_many_classes_is_refused():
    parts = tuple(KaryRandomizedResponse(local_epsilon=0.1 * 2 ** (i / 2), domain_size=4) for i in range(12))
    with pytest.raises(ParameterError, match="at most 10000 classes together"):
        JointComposition(components=parts).blankets("upper")
    for cells in (200, 1500):
        noises = tuple(Laplace(local_epsilon=epsilon, cells=cells) for epsilon in (1.0, 2.0))
        with pytest.raises(ParameterError, match=r"'2 randomizers'.*at most 10000 classes together"):
            JointComposition(components=noises).blankets("upper")
    assert JointComposition(components=parts[:1] * 12).blankets("upper")[0].mass.size < 200
