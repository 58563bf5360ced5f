"""The parts of the certified mean positive part whose error bounds are stated: each against many digits."""

import itertools
import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from oracles import MP

from segshuffle.numerics.atom_sums import AtomLaw, log_mgfs
from segshuffle.numerics.tilted_inversion import mean_positive_part


def pairs(law):
    """Return masses and atoms, exactly."""
    return [(MP.mpf(float(m)), MP.mpf(float(g))) for m, g in zip(law.mass, law.value, strict=True)]


def law_of(rng, atoms, scale):
    mass = rng.dirichlet(np.ones(atoms))
    value = rng.normal(size=atoms) * scale
    return AtomLaw(value, mass)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 40.0])
def test_cumulants_are_within_their_error(scale):
    law = law_of(np.random.default_rng(7), 12, scale)
    law = AtomLaw(law.value, law.mass / law.mass.sum())
    theta = np.array([1e-3, 0.1, 1.0, 3.0])
    found, error = log_mgfs(law, theta)
    for value, allowed, at in zip(found, error, theta, strict=True):
        mgf = MP.fsum(m * MP.expm1(MP.mpf(float(at)) * g) for m, g in pairs(law))
        # the masses sum to 1 up to their own rounding, which the callers count
        assert abs(MP.log1p(mgf) - MP.mpf(float(value))) <= allowed + 4e-16


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("count", [10**11, 10**13])
def test_rare_large_atoms_of_many_kinds(count):
    # at most one copy in 1e6 is not 0: E max(0, sum) / n = E max(0, G) up to the share of two at once
    value = np.array([0.0, *(-(2.0**k) * 1e20 for k in range(6)), *(3.0**k * 1e20 for k in range(6))])
    mass = np.full(13, 1e-20)
    mass[0] = 1 - 12e-20
    exact = math.log(float(mass @ np.maximum(value, 0)))
    for side in ("lower", "upper"):
        end = mean_positive_part(AtomLaw(value, mass), count=count, rtol=0.02, side=side)
        assert abs(end - exact) < 0.03, side
        assert end <= exact + 1e-7 if side == "lower" else end >= exact - 1e-7


#: Atoms in units of 1/8, and their masses in units of 1/64.
LAWS = {
    "rare": ((-1, 0, 9), (20, 40, 4)),
    "even": ((-8, -3, 0, 1, 7), (30, 10, 8, 8, 8)),
    "two": ((-3, 2), (40, 24)),
}
NAMES = list(LAWS)


def named(name):
    atoms, masses = LAWS[name]
    return AtomLaw(np.array(atoms) / 8, np.array(masses) / 64)


@cache
def exact_mean(name, count):
    """Compute (1/n) E[max(0, S)] by n-fold convolution of whole numbers."""
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
    law, exact = named(name), log_exact(name, count)
    lower, upper = (mean_positive_part(law, count=count, rtol=1e-4, side=side) for side in ("lower", "upper"))
    assert MP.mpf(lower) <= exact <= MP.mpf(upper)
    assert upper - lower <= 1.5e-4
    # sums of eighths have no values near 0 but 0 itself: nothing but round-off is left of the lower end's gap
    assert exact - 1e-7 <= mean_positive_part(law, count=count, rtol=1e-7, side="lower") <= exact


@pytest.mark.parametrize(("p", "scale"), [(0.25, 1.0), (2.0**-5, 2.0**60)])
def test_many_copies_are_as_near_as_few(p, scale):
    """K - n p for K ~ Binomial(n, p): its mean positive part is m (1 - p) Pr[K = m], m = n p + 1 (de Moivre)."""
    count, rtol = 10**10, 1e-7
    n, m = MP.mpf(count), count * MP.mpf(p) + 1
    log_choose = MP.loggamma(n + 1) - MP.loggamma(m + 1) - MP.loggamma(n - m + 1)
    exact = log_choose + m * MP.log(p) + (n - m + 1) * MP.log1p(-p) + MP.log(m * scale / n)
    law = AtomLaw(scale * np.array([-p, 1 - p]), np.array([1 - p, p]))
    lower, upper = (mean_positive_part(law, count=count, rtol=rtol, side=side) for side in ("lower", "upper"))
    assert exact - rtol <= lower <= exact <= upper <= exact + rtol


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_few_copies_are_enumerated_to_the_last_digits(name, count):
    lower, upper = (mean_positive_part(named(name), count=count, rtol=1e-2, side=side) for side in ("lower", "upper"))
    exact = log_exact(name, count)
    assert MP.mpf(lower) <= exact <= MP.mpf(upper)
    assert upper - lower <= 2e-12
