"""The tables of randomizers, against probability tables written from the definitions (oracles.tables)."""

import math
from fractions import Fraction
from functools import partial
from itertools import product

import oracles as o
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import MP, tables

from segshuffle.accounting.single_message import variation_ratio_tables as vr
from segshuffle.accounting.single_message.mechanisms import mechanism
from segshuffle.accounting.single_message.variation_ratio import VariationBound
from segshuffle.errors import ParameterError

F = Fraction
GAINS = [F(9, 4), F(4), F(100)]  # squares, so that the root of e^epsilon is rational


def agrees(found, beta, p, q=None):
    """Check beta, p and q to round-off; p and q come back through logarithms."""
    assert found.beta == pytest.approx(float(beta), rel=2e-14, abs=0)
    for log_found, exact in ((found.log_p, p), (found.log_q, p if q is None else q)):
        assert log_found == pytest.approx(math.log(exact) if exact < math.inf else math.inf, rel=2e-14, abs=0)


def root(gain):
    """Return the exact square root of a rational square."""
    found = F(math.isqrt(gain.numerator), math.isqrt(gain.denominator))
    assert found**2 == gain
    return found


# -- Table 2 -----------------------------------------------------------------------------------------------------------


def flipped_one_hot(d, gain):
    return tables.flipped_bits(tables.one_hot(d), 1 / (root(gain) + 1))


def hadamard(size, gain):
    return tables.favoured(tables.hadamard_sets(size), size, gain)


#: Two arcs on 12 points, wherever they start.
STARTS = [(0, b) for b in range(12)] + [(a, b) for a in (3, 5, 6) for b in range(12)]
#: Parameters beside the local epsilon, and the randomizer's matrix at e^epsilon.
LOCAL = [
    (vr.general, {}, partial(o.krr, 2)),
    *((vr.randomized_response, {"domain_size": d}, partial(o.krr, d)) for d in (2, 3, 7)),
    *(
        (vr.privunit, {"cap_area": width / points}, partial(tables.caps_on_a_circle, points, width))
        for points, width in ((12, 1), (12, 5), (10, 5))
    ),
    *((vr.binary_randomized_response, {}, partial(flipped_one_hot, d)) for d in (2, 3, 5)),
    *(
        (vr.subset_selection, {"domain_size": d, "subset_size": k}, partial(tables.subset_selection, d, k))
        for d, k in ((2, 1), (5, 1), (5, 2), (5, 4), (6, 3))
    ),
    *((vr.hadamard_response, {"order": size}, partial(hadamard, size)) for size in (4, 8, 16)),
    *(
        (vr.wheel, {"set_size": 2, "arc_length": width / 12}, partial(tables.wheel, 12, STARTS, width))
        for width in (1, 2, 3)
    ),
]


@pytest.mark.parametrize("gain", GAINS)
@pytest.mark.parametrize(("parameters", "sizes", "matrix"), LOCAL)
def test_parameters_are_those_of_the_matrix(parameters, sizes, matrix, gain):
    """Total variation, and p = q: both are maxima over the rows of one matrix."""
    rows = matrix(gain)
    found = parameters(local_epsilon=math.log(gain), **sizes)
    agrees(found, tables.largest_total_variation(rows), tables.largest_ratio(rows, rows))


@pytest.mark.parametrize("gain", GAINS)
@pytest.mark.parametrize(("d", "s"), [(4, 1), (4, 2), (6, 2), (6, 3)])
def test_sampling_rappor_in_two_readings(gain, d, s):
    """For a sample from all d options the published value is a bound; for one from the s held items it is too small."""
    found = vr.sampling_rappor(local_epsilon=math.log(gain), domain_size=d, set_size=s)
    flip = 1 / (root(gain) + 1)
    rows = tables.flipped_bits([*tables.one_hot(d), (0,) * d], flip)
    zero = rows[-1]
    sets = [range(s), range(d - s, d)]  # disjoint
    from_all = tables.total_variation(*(tables.mixture([rows[i] if i in x else zero for i in range(d)]) for x in sets))
    from_held = tables.total_variation(*(tables.mixture([rows[i] for i in x]) for x in sets))
    published = F(s, d) * (root(gain) - 1) / (root(gain) + 1)
    assert found.beta == pytest.approx(float(published), rel=1e-14, abs=0)
    assert from_all == published if s == 1 else from_all < published
    assert from_held > published
    if s == 1:
        assert from_held == d * published


@pytest.mark.quick(1)
@pytest.mark.parametrize("local_epsilon", [1e-6, 0.3, 2.0, 20.0])
def test_laplace(local_epsilon):
    """Total variation by integration, 90 digits: 0 < x < 1/2 and x < 0 are where the first density is larger."""
    scale = MP.mpf(local_epsilon)

    def gap(x):
        return scale / 2 * (MP.exp(-scale * abs(x)) - MP.exp(-scale * abs(x - 1)))

    beta = MP.quad(gap, [-60 / scale, 0]) + MP.quad(gap, [0, MP.mpf(1) / 2])
    found = vr.laplace(local_epsilon=local_epsilon)
    assert found.beta == pytest.approx(float(beta), rel=2e-14, abs=0)
    assert found.log_p == found.log_q == local_epsilon


@settings(derandomize=True)
@given(local_epsilon=st.floats(1e-9, 300.0), d=st.integers(2, 10**6))
def test_beta_keeps_its_digits(local_epsilon, d):
    """(p - 1)/(p + d - 1) to 14 digits, from local epsilon 1e-9 to 300."""
    p = MP.exp(MP.mpf(local_epsilon))
    found = vr.randomized_response(local_epsilon=local_epsilon, domain_size=d)
    assert found.beta == pytest.approx(float((p - 1) / (p + d - 1)), rel=2e-15, abs=0)
    assert found.tails == pytest.approx(float(1 / (p + d - 1)), rel=1e-14, abs=0)
    assert found.heads == pytest.approx(float(p / (p + d - 1)), rel=1e-14, abs=0)
    assert found.clone == pytest.approx(float(1 / (p + d - 1)), rel=1e-13, abs=0)


# -- Table 3 -----------------------------------------------------------------------------------------------------------


@pytest.mark.quick(3)
@pytest.mark.parametrize("distance", [1e-6, 0.01, 1.0, 5.0, 40.0, 250.0])
def test_planar_laplace(distance):
    """beta is (2/pi)(int_0^a K_0 - a K_0(a)), a = distance/2, with the integral by modified Struve functions."""
    a = MP.mpf(distance) / 2
    integral = MP.pi * a / 2 * (MP.besselk(0, a) * MP.struvel(-1, a) + MP.besselk(1, a) * MP.struvel(0, a))
    found = vr.planar_laplace(distance=distance, largest_distance=distance + 1)
    assert found.beta == pytest.approx(float(2 / MP.pi * (integral - a * MP.besselk(0, a))), rel=3e-13, abs=0)
    assert (found.log_p, found.log_q) == (distance, distance + 1)


# -- Table 4: parameters, and the divergence of the messages themselves -----------------------------------------------


def check_blanket(found, rows, blanket):
    agrees(
        found,
        tables.largest_total_variation(rows),
        tables.largest_ratio(rows, rows),
        tables.largest_ratio(rows, [blanket]),
    )


def divergence(rows, blanket, messages, gain):
    """Return the true divergence of one message of row 0 (or row 1) among `messages` of the blanket's law."""
    return o.shuffled_divergence([*rows, blanket], (0, 1), [len(rows)] * messages, gain)


def uniform(d):
    return [F(1, d)] * d


def published(found, messages, gain):
    return VariationBound(variation=found, n_users=messages + 1).delta(epsilon=math.log(gain), rtol=1e-7)


@pytest.mark.parametrize("coin", [F(1, 2), F(1, 4), F(7, 8)])
@pytest.mark.parametrize("messages", [1, 4, 9])
def test_binary_summation(coin, messages):
    rows, blanket = [[F(1), F(0)], [F(0), F(1)]], [1 - coin, coin]
    found = vr.biased_coin_sum(coin=float(coin))
    check_blanket(found, rows, blanket)
    exact = max(divergence(x, blanket, messages, F(3, 2)) for x in (rows, rows[::-1]))
    assert exact <= published(found, messages, F(3, 2)).upper
    if coin == F(1, 2):
        assert found == mechanism("uniform-coin-sum").variation
        assert o.encloses(published(found, messages, F(3, 2)), exact, 1e-12)


@pytest.mark.parametrize(("d", "s"), [(2, 1), (5, 1), (5, 2), (6, 3)])
@pytest.mark.parametrize("messages", [1, 5])
def test_balls_into_bins_is_exact(d, s, messages):
    rows = [[F(1, s) if i * s <= y < (i + 1) * s else F(0) for y in range(d)] for i in (0, 1)]
    found = vr.balls_into_bins(domain_size=d, special_bins=s)
    check_blanket(found, rows, uniform(d))
    assert o.encloses(published(found, messages, F(3, 2)), divergence(rows, uniform(d), messages, F(3, 2)), 1e-12)


@pytest.mark.parametrize(("d", "flip"), [(2, F(1, 4)), (3, F(1, 2)), (5, F(1, 8)), (5, F(0))])
@pytest.mark.parametrize("messages", [1, 5])
def test_mix_dump_is_exact(d, flip, messages):
    rows = [[1 - flip if x == y else flip / (d - 1) for y in range(d)] for x in range(d)]
    found = vr.mix_dump(domain_size=d, flip=float(flip))
    check_blanket(found, rows, uniform(d))
    assert found.clone == pytest.approx(1 / d, rel=1e-14, abs=0)
    assert o.encloses(published(found, messages, F(9, 8)), divergence(rows, uniform(d), messages, F(9, 8)), 1e-12)
    if flip == 0:
        assert found == mechanism("pure-dump", domain_size=d).variation


@pytest.mark.parametrize(
    ("messages", "gain", "true", "claimed"),
    [(1, F(2), 0.29296875, 0.28515625), (12, F(3, 2), 0.0587963, 0.0566946), (12, F(9, 8), 0.1373178, 0.1373163)],
)
@pytest.mark.parametrize("d", [2, 3])
def test_flipped_one_hot_is_not_an_upper_bound(messages, gain, true, claimed, d):
    """Cheu et al., f = 1/4: the published number is below the true divergence; the other bits do not matter."""
    flip = F(1, 4)
    rows = tables.flipped_bits(tables.one_hot(d), flip)
    blanket = tables.flipped_bits([(0,) * d], flip)[0]
    exact = divergence(rows[:2], blanket, messages, gain)
    found = published(vr.flipped_one_hot(flip=float(flip)), messages, gain)
    assert float(exact) == pytest.approx(true, abs=5e-8)
    assert found.upper == pytest.approx(claimed, abs=5e-8)
    assert found.upper < exact


# -- Section 6 ---------------------------------------------------------------------------------------------------------


def test_range_query_is_the_total_variation_of_the_mixture():
    """Outputs that tell the level: the total variation is the mean, exactly; the ratio stays the largest one."""
    gain = F(4)
    parts = [o.krr(4, gain), o.krr(2, gain)]
    rows = [
        [value / 2 for part, x in zip(parts, nodes, strict=True) for value in part[x]]
        for nodes in product(range(4), range(2))
    ]
    found = vr.range_query(local_epsilon=math.log(gain), levels=2)
    agrees(found, tables.largest_total_variation(rows), tables.largest_ratio(rows, rows))


@pytest.mark.parametrize(
    ("function", "arguments", "name"),
    [
        (vr.general, {"local_epsilon": 0.0}, "local_epsilon"),
        (vr.laplace, {"local_epsilon": 301.0}, "local_epsilon"),
        (vr.subset_selection, {"local_epsilon": 1.0, "domain_size": 3, "subset_size": 3}, "subset_size"),
        (vr.sampling_rappor, {"local_epsilon": 1.0, "domain_size": 4, "set_size": 5}, "set_size"),
        (vr.privunit, {"local_epsilon": 1.0, "cap_area": 0.0}, "cap_area"),
        (vr.metric_general, {"distance": 1.0, "largest_distance": 0.5}, "largest_distance"),
        (vr.planar_laplace, {"distance": 0.0, "largest_distance": 0.5}, "distance"),
        (vr.biased_coin_sum, {"coin": 1.0}, "coin"),
        (vr.flipped_one_hot, {"flip": 0.5}, "flip"),
        (vr.balls_into_bins, {"domain_size": 5, "special_bins": 3}, "special_bins"),
        (vr.mix_dump, {"domain_size": 4, "flip": 0.75}, "flip"),
    ],
)
def test_bad_parameters(function, arguments, name):
    with pytest.raises(ParameterError, match=f"^{name} = "):
        function(**arguments)
