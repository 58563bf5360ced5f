"""The parts of the certified mean positive part whose error bounds are stated: each against many digits."""

import math

import numpy as np
import pytest
from oracles import MP

from segshuffle.accounting.numerics.tilted_inversion import AtomLaw, enumeration, inversion, mean_positive_part
from segshuffle.accounting.numerics.tilted_inversion.atoms import log_mgfs, tilt


def pairs(law):
    """Masses and atoms, exactly."""
    return [(MP.mpf(float(m)), MP.mpf(float(g))) for m, g in zip(law.mass, law.value, strict=True)]


def law_of(rng, atoms, scale):
    mass = rng.dirichlet(np.ones(atoms))
    value = rng.normal(size=atoms) * scale
    return AtomLaw(value, mass)


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    ("atoms", "scale", "step"), [(3, 1.0, 1e-9), (5, 30.0, 0.01), (40, 1.0, 0.7), (300, 5.0, 1e-4)]
)
def test_characteristic_function_is_within_its_error(atoms, scale, step):
    """E[e^{itG} - 1] under the tilted law, exact for the masses m e^{theta g}/sum; error at most c eps t E|G|."""
    law = law_of(np.random.default_rng(atoms), atoms, scale)
    tilted = tilt(law, 1.0 / scale)
    block = inversion._Block(begin=35, rows=4, columns=7)
    real, imaginary = inversion._change(law, tilted, step, block)
    node = (block.begin + np.arange(28.0)) * step
    allowed = inversion.change_error(law, tilted, node)
    weight = [m * MP.exp(MP.mpf(tilted.theta) * g) for m, g in pairs(law)]
    total = MP.fsum(weight)
    for k in (0, 5, 6, 7, 13, 27):
        t = MP.mpf(block.begin + k) * MP.mpf(step)
        exact = (
            MP.fsum(w * MP.expm1(MP.mpc(0, t * MP.mpf(float(g)))) for w, g in zip(weight, law.value, strict=True))
            / total
        )
        assert abs(exact - MP.mpc(float(real[k]), float(imaginary[k]))) <= allowed[k]


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


@pytest.mark.parametrize(("kinds", "limit"), [(5, 3), (4, 1), (7, 2)])
def test_both_forms_list_the_same_states(kinds, limit):
    listed = enumeration._listed_states(kinds, limit)
    value = np.array([1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6])[:kinds]
    factorials = np.exp(listed.log_factorials).round(9).tolist()
    seen = sorted(zip(listed.total(value).tolist(), listed.number.tolist(), factorials, strict=True))
    expected = []
    for counts in np.ndindex(*([limit + 1] * kinds)):
        if sum(counts) <= limit:
            factorials = float(np.prod([np.prod(np.arange(1, c + 1)) for c in counts]))
            expected.append((float(np.dot(counts, value)), sum(counts), factorials))
    assert seen == sorted(expected)


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


@pytest.mark.parametrize("limit", [0, 1, 5])
def test_a_law_of_one_atom_has_one_state(limit):
    states = enumeration._states(0, limit)
    assert (states.number.tolist(), states.log_factorials.tolist()) == ([0], [0.0])
    assert states.total(np.array([])).tolist() == [0.0]
