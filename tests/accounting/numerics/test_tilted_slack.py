"""Every part of the declared errors of the mean positive part, counted apart, with round-off that is far too large."""

import cmath
import itertools
import math

import numpy as np
import pytest
from scipy import integrate

from segshuffle.accounting.numerics import tilted_inversion
from segshuffle.accounting.numerics.tilted_inversion import AtomLaw, atoms, enumeration, inversion, mean_positive_part
from segshuffle.accounting.numerics.tilted_inversion.atoms import log_mgfs, saddle, tilt

EPS = 1e-5
LAW = AtomLaw(np.array([-1.0, 0.0, 2.5]), np.array([0.5, 0.375, 0.125]))


def test_an_end_is_moved_outwards_by_a_rounding_of_each_of_its_parts(monkeypatch):
    monkeypatch.setattr(inversion, "EPS", EPS)
    tilted, count = tilt(LAW, 0.3), 7
    parts = [count * tilted.log_mgf, math.log(0.2), -2 * math.log(0.3), -math.log(count)]
    slack = count * tilted.log_mgf_error + 8 * EPS * (1 + sum(map(abs, parts)))
    for sign in (-1, 1):
        assert inversion._log_end(0.2, tilted, count, sign) == pytest.approx(sum(parts) + sign * slack, rel=1e-12)
        assert (
            inversion._log_end(0.0, tilted, count, sign) == inversion._log_end(-0.1, tilted, count, sign) == -math.inf
        )


def test_a_lower_end_is_without_the_gap_and_the_error_and_an_upper_one_with_the_error(monkeypatch):
    tilted = saddle(LAW, 50)
    found = inversion._Sums(1.0, 0.1, 0.01)
    monkeypatch.setattr(inversion, "_fourier_sums", lambda *_: found)
    monkeypatch.setattr(inversion._Aliases, "bound", lambda *_: 0.02)
    for side, sign, end in (("upper", 1, 1.01), ("lower", -1, 1.0 - 0.1 - 0.02 - 0.01)):
        expected = inversion._log_end(end, tilted, 50, sign)
        assert inversion.inverted(LAW, tilted, 50, 0.5, side) == expected
        assert inversion.inverted(LAW, tilted, 50, 1e-9, side) == expected


def test_the_error_of_a_sum_is_of_its_nodes_its_size_its_tail_and_its_atom(monkeypatch):
    monkeypatch.setattr(inversion, "EPS", EPS)
    monkeypatch.setattr(inversion, "_LARGEST_BLOCK", 4)
    monkeypatch.setattr(inversion, "_partial_sums", lambda *_: (3.0, 2.0, 0.25, 8.0))
    monkeypatch.setattr(inversion, "_tail", lambda *_: 0.5)
    monkeypatch.setattr(inversion, "_all_zero", lambda *_: (0.125, 0.0625))
    plan = inversion.Plan(1.0, 2 * math.pi, 11.0)
    blocks = len(list(inversion._blocks(plan)))
    assert blocks > 1
    found = inversion._fourier_sums(LAW, tilt(LAW, 0.3), 5, plan)
    unit = 1 / (2 * math.pi)
    assert found.value == pytest.approx(unit * 3 * blocks - 0.125, rel=1e-12)
    assert found.smoothing == pytest.approx(unit * 2 * blocks - 0.125, rel=1e-12)
    assert found.error == pytest.approx(unit * blocks * (0.25 + 64 * EPS * 8) + 0.5 + 2 * 0.0625, rel=1e-12)


@pytest.mark.parametrize("block", [1, 3, 4, 2**13])
@pytest.mark.parametrize("last", [1, 2, 10, 99])
def test_blocks_cover_every_node_once(monkeypatch, block, last):
    monkeypatch.setattr(inversion, "_LARGEST_BLOCK", block)
    seen = [
        each.begin + i
        for each in inversion._blocks(inversion.Plan(1.0, 2 * math.pi, float(last)))
        for i in range(each.rows * each.columns)
    ]
    assert seen == list(range(len(seen)))
    assert last + 1 <= len(seen) < last + 1 + math.sqrt(last + 1) + 1


@pytest.mark.parametrize("count", [1, 3, 40])
@pytest.mark.parametrize("width", [0.05, 1.5])
def test_the_part_of_no_sample_at_all_has_a_rounding_of_each_of_its_terms(monkeypatch, count, width):
    monkeypatch.setattr(inversion, "EPS", EPS)
    tilted = tilt(LAW, 0.3)
    part, error = inversion._all_zero(LAW, tilted, count, width)
    log_part = count * (math.log(0.375) - tilted.log_mgf)
    assert part == pytest.approx(width * 0.09 / math.sqrt(2 * math.pi) * math.exp(log_part), rel=1e-12)
    relative = count * (tilted.log_mgf_error + 8 * EPS * 0.625 / 0.375) + 16 * EPS + EPS * abs(log_part)
    assert error == pytest.approx(part * math.expm1(2 * relative), rel=1e-9)
    without = AtomLaw(np.array([-1.0, 2.5]), np.array([0.875, 0.125]))
    assert inversion._all_zero(without, tilt(without, 0.3), count, width) == (0.0, 0.0)


@pytest.mark.parametrize("count", [1, 9])
@pytest.mark.parametrize("declared", [0.0, 1e-3])
def test_round_off_of_integrands_is_that_of_f_and_of_each_of_their_terms(monkeypatch, count, declared):
    """4 for each unit of the exponent and of the angle, 32 besides."""
    monkeypatch.setattr(inversion, "EPS", EPS)
    theta, width, level = 0.7, 0.3, (0.3 * 0.7) ** 2
    node, f = np.array([0.0, 0.4, 2.0]), np.array([1.0, 0.8 + 0.3j, -0.2 - 0.5j])
    damping = 0.5 * width**2 * (theta**2 - node**2)
    twice = np.array([1.0, 2.0, 2.0])
    at = inversion._Nodes(node, twice, f.real - 1, f.imag, np.abs(f) ** 2 - 1, damping, np.full(3, declared))
    found = inversion._integrands(at, theta, count, width)
    expected = np.zeros(4)
    for t, z, d, weight in zip(node.tolist(), f.tolist(), damping.tolist(), twice.tolist(), strict=True):
        power = z**count * cmath.exp(d + 1j * width**2 * theta * t)
        decay = 1 / abs(1 + 1j * t / theta) ** 2
        relative = count * (abs(math.log(abs(z))) + abs(cmath.phase(z))) + (width * t) ** 2
        size = abs(power) * (decay + level)
        wrong = count * declared * (abs(z) + declared) ** (count - 1) * math.exp(d) * (decay + level)
        value = (power / (1 + 1j * t / theta) ** 2).real
        expected += weight * np.array([value, level * power.real, wrong + EPS * (32 + 4 * relative) * size, size])
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-13)


def test_the_error_of_f_has_a_part_for_every_rounding(monkeypatch):
    """15 of the phases, 3 of node and sum, 8 and 2 theta max|G| of the masses, 3 of each of m + 2 complex terms."""
    monkeypatch.setattr(inversion, "EPS", EPS)
    for theta in (0.3, 40.0):
        tilted = tilt(LAW, theta)
        node = np.array([0.0, 0.1, 7.0])
        roundings = 15 + 3 + 8 + 2 * theta * 2.5 + 3 * (3 + 2)
        found = inversion.change_error(LAW, tilted, node)
        mean_abs = float(tilted.mass @ np.abs(LAW.value))
        assert np.all(found >= roundings * EPS * node * mean_abs)
        assert np.all(found <= (roundings + 8.5) * EPS * node * mean_abs)


@pytest.mark.parametrize(("width", "last"), [(3.0, 4.0), (0.9, 4.0), (0.5, 30.0), (20.0, 0.3), (20.0, 0.6), (9.0, 0.7)])
def test_the_tail_is_little_more_than_the_integral_that_bounds_it(width, last):
    """Up to pi/range the law decays like a Gaussian at least, beyond it the width does."""
    tilted, count, turn = tilt(LAW, 0.3), 40, math.pi / 3.5
    plan = inversion.Plan(width, 2 * math.pi / 0.01, last)
    begin = plan.last * plan.step
    level = (width * 0.3) ** 2
    scale = math.exp(0.5 * level) * ((0.3 / begin) ** 2 + level) / math.pi
    rate = 2 * count * (tilted.std / math.pi) ** 2
    parts = [(0.5 * width**2, max(begin, turn))] + ([(rate, begin)] if begin < turn else [])
    integrals = [integrate.quad(lambda t, r=r: math.exp(-r * t * t), start, math.inf)[0] for r, start in parts]
    found = inversion._tail(LAW, tilted, count, plan) / scale
    assert sum(integrals) <= found
    # e^(-r x^2)/(2 r x) is the integral up to 1 + 1/(2 r x^2); the rate is rounded by 0.002 of itself
    bounds = [
        integral * (1 + 1 / (2 * r * start**2)) * (1.002 * math.exp(0.002 * r * start**2))
        for integral, (r, start) in zip(integrals, parts, strict=True)
    ]
    assert found <= sum(bounds) * (1 + 1e-9)


@pytest.mark.parametrize("width", [0.0, 0.7])
def test_aliases_are_chernoffs_bound_of_each_of_them(width, monkeypatch):
    """Sum over j of e^(-theta j L) E[e^(eta (S + w Z + j L))]/(e eta), at the best eta on either side of theta."""
    tilted, count, period = tilt(LAW, 0.3), 20, 9.0
    monkeypatch.setattr(inversion, "log_mgfs", lambda law, eta: (log_mgfs(law, eta)[0], np.full(eta.size, 1e-3)))
    unit = 1 / (tilted.std * math.sqrt(count))

    def best(etas, signs):
        found = []
        for eta in etas:
            log_mgf = math.log(float(LAW.mass @ np.exp(eta * LAW.value))) - tilted.log_mgf + 1e-3 + tilted.log_mgf_error
            each = [math.exp((eta - 0.3) * j * period) for j in signs]
            found.append(math.exp(count * log_mgf + 0.5 * (width * eta) ** 2) * 0.09 / (math.e * eta) * math.fsum(each))
        return min(found)

    expected = best(0.3 * inversion._ALIAS_SHARES, range(1, 2000))
    expected += best(0.3 + unit * inversion._ALIAS_STEPS, range(-2000, 0))
    assert inversion._Aliases(LAW, tilted, count).bound(width, period) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("theta", [1e-3, 0.4, 3.0, 30.0, 300.0])
def test_the_error_of_a_cumulant_is_the_lesser_of_two_counts(monkeypatch, theta):
    """Of the log of a sum: of its terms, of its value and of the exponents; of log1p: of E|e^x - 1| and E|x| e^x."""
    monkeypatch.setattr(atoms, "EPS", EPS)
    exponents, masses = [theta * g for g in LAW.value.tolist()], LAW.mass.tolist()
    top = max(exponents)
    shares = [m * math.exp(x - top) for m, x in zip(masses, exponents, strict=True)]
    direct = math.log(sum(shares)) + top
    mean = sum(share * abs(x) for share, x in zip(shares, exponents, strict=True)) / sum(shares)
    counts = [EPS * (3 + 8) * (1 + abs(direct)) + 2 * EPS * (mean + abs(top))]
    if top <= 50:
        change = sum(m * math.expm1(x) for m, x in zip(masses, exponents, strict=True))
        spread = sum(m * (abs(math.expm1(x)) + abs(x) * math.exp(x)) for m, x in zip(masses, exponents, strict=True))
        counts += [EPS * (3 + 8) * spread / (1 + change)] if change > -0.5 else []
    found, error = log_mgfs(LAW, np.array([theta]))
    assert found[0] == pytest.approx(direct, rel=1e-9)
    assert error[0] == pytest.approx(min(counts), rel=1e-12)


@pytest.mark.parametrize("law", [LAW, AtomLaw(np.array([-2.0, -1.0, 0.0, 3.0]), np.array([0.125, 0.125, 0.25, 0.5]))])
def test_what_is_enumerated_has_a_rounding_of_each_of_its_terms(monkeypatch, law):
    count, size = 4, law.value.size
    tilted = tilt(law, 0.3)
    common = int(np.argmax(tilted.mass))
    monkeypatch.setattr(enumeration, "EPS", EPS)
    ends, largest = {"lower": 0.0, "upper": 0.0}, 0.0
    for chosen in itertools.product(range(count + 1), repeat=size):
        if sum(chosen) != count:
            continue
        others = [k for k in range(size) if k != common]
        away = count - chosen[common]
        weight = math.prod(law.mass[k] ** chosen[k] / math.factorial(chosen[k]) for k in others)
        falling, rest = math.perm(count, away), law.mass[common] ** chosen[common]
        absolute = sum(c * abs(g) for c, g in zip(chosen, law.value, strict=True)) + away * abs(law.value[common])
        for side, sign in (("lower", -1), ("upper", 1)):
            total = sum(c * g for c, g in zip(chosen, law.value, strict=True)) + sign * EPS * (size + 8) * absolute
            ends[side] += weight * falling * rest * max(total, 0.0)
        largest = max(largest, abs(math.log(weight)) + math.log(falling) + abs(math.log(rest)))
    for side, sign in (("lower", -1), ("upper", 1)):
        margin = sign * EPS * (size + count + 16) * (largest + 16)
        found = enumeration.enumerated(law, tilted, count, count, side)
        assert found == pytest.approx(math.log(ends[side] / count) + margin, rel=1e-9)


@pytest.mark.parametrize("exponent", [-900, -460, 460, 900])
@pytest.mark.parametrize("count", [3, 1000])
def test_units_of_a_power_of_two_are_added_outwards(monkeypatch, exponent, count):
    """Atoms whose squares are no doubles: the same end, and the log of the unit with four roundings."""
    law = AtomLaw(LAW.value / 4, LAW.mass)
    scaled = AtomLaw(np.ldexp(law.value, exponent), law.mass)
    unit = exponent * math.log(2.0)
    monkeypatch.setattr(tilted_inversion, "EPS", EPS)
    for side, sign in (("lower", -1), ("upper", 1)):
        end = mean_positive_part(law, count=count, rtol=0.01, side=side)
        found = mean_positive_part(scaled, count=count, rtol=0.01, side=side)
        assert found == pytest.approx(end + unit + sign * 4 * EPS * abs(unit), rel=1e-12)
        monkeypatch.setattr(tilted_inversion, "EPS", 0.0)
        assert sign * mean_positive_part(scaled, count=count, rtol=0.01, side=side) > sign * (end + unit)
        monkeypatch.setattr(tilted_inversion, "EPS", EPS)


@pytest.mark.parametrize(("count", "limit"), [(9, 2), (9, 7), (1000, 30)])
def test_what_is_not_enumerated_is_chernoffs_bound_of_it(count, limit):
    """E[e^(rate (J - limit - 1))] e^(n K)/(e theta) at the best rate, J the samples away from the likely atom."""
    tilted = tilt(LAW, 0.3)
    away = 1 - float(tilted.mass.max())
    growths = []
    for rate in enumeration._RATES:
        terms = [
            math.lgamma(count + 1)
            - math.lgamma(j + 1)
            - math.lgamma(count - j + 1)
            + j * math.log(away)
            + (count - j) * math.log1p(-away)
            + rate * (j - limit - 1)
            for j in range(count + 1)
        ]
        growths.append(max(terms) + math.log(math.fsum(math.exp(term - max(terms)) for term in terms)))
    expected = min(growths) + count * (tilted.log_mgf + tilted.log_mgf_error) - 1 - math.log(0.3)
    found = enumeration._rest(LAW, tilted, count, limit)
    assert found == pytest.approx(expected + 1e-6, rel=1e-10)
    # it is what the upper end has more than the sum
    lower, upper = (enumeration.enumerated(LAW, tilted, count, limit, side) for side in ("lower", "upper"))
    assert upper == pytest.approx(np.logaddexp(lower, found - math.log(count)), abs=1e-10)


@pytest.mark.parametrize("count", [1, 7, 10**6])
def test_a_value_that_nobody_asks_about_has_chernoffs_bound(monkeypatch, count):
    """E[max(0, S)] <= E[e^(theta S)]/(e theta)."""
    tilted = saddle(LAW, count)
    bound = count * (tilted.log_mgf + tilted.log_mgf_error) - math.log(math.e * tilted.theta * count)
    monkeypatch.setattr(tilted_inversion, "_NEGLIGIBLE", math.inf)
    assert mean_positive_part(LAW, count=count, rtol=0.1, side="upper") == pytest.approx(bound, rel=1e-12)
    assert mean_positive_part(LAW, count=count, rtol=0.1, side="lower") == -math.inf
    # no upper end is above it
    monkeypatch.setattr(tilted_inversion, "_NEGLIGIBLE", -math.inf)
    monkeypatch.setattr(tilted_inversion, "enumerable", lambda *_: -1)
    monkeypatch.setattr(tilted_inversion, "inverted", lambda *_: 7.0)
    assert mean_positive_part(LAW, count=count, rtol=0.1, side="upper") == pytest.approx(bound, rel=1e-12)
    assert mean_positive_part(LAW, count=count, rtol=0.1, side="lower") == 7.0


def test_as_many_samples_as_states_allow_are_enumerated(monkeypatch):
    """Of 3 atoms, j samples away from one of them have j + 1 states: (j + 1) (j + 2)/2 up to j."""
    monkeypatch.setattr(enumeration, "_EXACT_STATES", 91)
    monkeypatch.setattr(enumeration, "_DEVIATIONS", 0)
    monkeypatch.setattr(enumeration, "_MORE", 0)
    rare = AtomLaw(LAW.value, np.array([0.0625, 0.875, 0.0625]))
    tilted = tilt(rare, 0.01)
    mean_away = 1 - float(tilted.mass.max())
    assert [enumeration.enumerable(rare, tilted, count) for count in (1, 11, 12, 13, 80)] == [1, 11, 12, 12, 12]
    assert enumeration.enumerable(rare, tilted, math.floor(12 / mean_away)) == 12
    assert enumeration.enumerable(rare, tilted, math.ceil(12 / mean_away)) == -1
    monkeypatch.setattr(enumeration, "_LARGEST_COUNT", 5)
    assert enumeration.enumerable(rare, tilted, 20) == 5
