"""The oracles against one another, and against facts that can be derived by hand.

Where a test is about a formula of ours or a theorem of a paper, it says so. These statements are tested here; they are
not the source of the expected values.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate
from math import comb, exp

import mpmath
import pytest

import oracles as o
from oracles import MP, integrated_upper_tail

F = Fraction
HALF = F(1, 2)
EXP_EPSILONS = [F(1), F(11, 10), F(8, 5), F(3)]


def distance(x, y):
    """Return the relative distance of two numbers, at the precision of the oracles."""
    return abs(o.to_mpf(x) - o.to_mpf(y)) / abs(o.to_mpf(y))


# -- laws and divergences --------------------------------------------------------------------------------------------


def test_hockey_stick_by_hand():
    p = {"a": F(1, 2), "b": F(1, 3), "c": F(1, 6)}
    q = {"a": F(1, 4), "b": F(1, 2), "d": F(1, 4)}
    assert o.hockey_stick(p, q, F(1)) == F(1, 4) + F(1, 6)  # the total variation distance
    assert o.hockey_stick(q, p, F(1)) == F(1, 6) + F(1, 4)
    assert o.hockey_stick(p, q, F(3, 2)) == F(1, 8) + F(1, 6)
    assert o.hockey_stick(p, q, F(100)) == F(1, 6)  # what q cannot produce at all
    assert o.hockey_stick(p, p, F(1)) == 0


def test_oracle_precision_does_not_depend_on_the_global_one():
    with mpmath.workdps(15):
        third = o.to_mpf(F(1, 3))
        assert abs(3 * third - 1) < MP.mpf(10) ** -85
        assert mpmath.mp.dps == 15


def test_shuffled_randomized_response_by_hand():
    # Two users with binary randomized response, truth with probability 3/4: inputs (0, 0) and (0, 1).
    matrix = o.krr(2, F(3))
    assert o.single_message_view(matrix, [0, 0]) == {(2, 0): F(9, 16), (1, 1): F(6, 16), (0, 2): F(1, 16)}
    assert o.single_message_view(matrix, [0, 1]) == {(2, 0): F(3, 16), (1, 1): F(10, 16), (0, 2): F(3, 16)}


# -- the pair of counts ----------------------------------------------------------------------------------------------


def test_count_pair_by_hand():
    p, q = o.count_pair(1, HALF, F(1, 3), F(0))
    assert p == {(0, 0): F(1, 3), (1, 0): F(1, 3), (0, 1): F(1, 6), (2, 0): F(1, 12), (1, 1): F(1, 12)} | {
        cell: F(0) for cell in p if cell not in {(0, 0), (1, 0), (0, 1), (2, 0), (1, 1)}
    }
    assert o.push_forward(p, lambda cell: cell[::-1]) == q


@pytest.mark.quick(1)
@pytest.mark.parametrize("tails", [F(0), F(1, 10)])
@pytest.mark.parametrize("exp_epsilon", EXP_EPSILONS)
def test_float_pair_agrees_with_the_exact_one(exp_epsilon, tails):
    exact = o.hockey_stick(*o.count_pair(40, F(2, 7), F(2, 5), tails), exp_epsilon)
    assert exact > 0
    value = o.count_pair_divergence_float(40, 2 / 7, 0.4, float(exp_epsilon), float(tails))
    assert value == pytest.approx(float(exact), rel=1e-11, abs=0)


# -- the segmented protocol, binomial blanket ------------------------------------------------------------------------


def test_theorem_3_is_not_an_upper_bound():
    # All other users at a level with rate 1: their number of messages is a constant, so the total shows who is silent.
    d, n, rate, exp_epsilon = 4, 4, F(1, 2), F(8, 5)
    others, rates = [(2,), (3,), (2,)], [rate, F(1), F(1), F(1)]
    true = o.hockey_stick(
        o.segmented_view(d, [(0,), *others], rates, n, F(1)),
        o.segmented_view(d, [(1,), *others], rates, n, F(1)),
        exp_epsilon,
    )
    published = o.hockey_stick(*o.count_pair(n - 1, F(2, d), rate, F(0)), exp_epsilon)
    assert true == rate * o.hockey_stick(*o.count_pair(n, F(2, d), F(1), F(0)), exp_epsilon)
    assert true > published


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("d", "m", "rate", "published", "blanket_only"),
    [(17, 2, 0.5429188, 3.03e-7, 1.95e-4), (128, 4, 0.2803285, 3.03e-7, 2.31e-3)],
)
def test_numbers_of_section_3a(d, m, rate, published, blanket_only):
    n, exp_epsilon = 5000, exp(0.5 / 4)
    pair = o.count_pair_divergence_float(n * m - 1, 2 / d, rate, exp_epsilon)
    speaking = o.count_pair_divergence_float(n * m, 2 / d, 1.0, exp_epsilon)
    assert pair == pytest.approx(0.01 / n / (4 * exp(0.5)), rel=1e-3, abs=0)  # rate is calibrated to the target
    assert pair == pytest.approx(published, rel=5e-3, abs=0)
    assert rate * speaking == pytest.approx(blanket_only, rel=5e-3, abs=0)


# -- the Poisson blanket ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [F(1, 3), F(1)])
def test_poisson_pair_is_two_independent_counters(rate):
    mu, cutoff = F(3, 4), 12
    view, lost = o.poisson_blanket_view(2, [(0,)], [rate], mu, cutoff)
    p, _, lost_pair = o.count_pair_poisson(2 * mu, rate, F(0), cutoff)
    assert 0 < lost < MP.mpf("1e-7")
    assert 0 < lost_pair < MP.mpf("1e-4")
    for cell, value in p.items():
        assert abs(value - view.get(cell, 0)) < MP.mpf(10) ** -80
    # loss of one counter: r(x) = 1 - lambda + lambda x / mu
    silent, _ = o.poisson_blanket_view(1, [], [], mu, cutoff)
    spoken, _ = o.poisson_blanket_view(1, [(0,)], [rate], mu, cutoff)
    for (x,), value in silent.items():
        assert abs(spoken.get((x,), 0) - value * o.to_mpf(1 - rate + rate * x / mu)) < MP.mpf(10) ** -80


def test_loss_with_copies():
    # Loss of one counter: r(x) = sum_j Pr[M = j] x (x-1) ... (x-j+1) / mu^j, here M = 2 or 3 with mean 9/4.
    mu, cutoff = F(3, 2), 20
    silent, _ = o.poisson_blanket_view(1, [], [], mu, cutoff)
    spoken, _ = o.poisson_blanket_view(1, [(0,)], [F(9, 4)], mu, cutoff)
    for (x,), value in silent.items():
        ratio = F(3, 4) * x * (x - 1) / mu**2 + F(1, 4) * x * (x - 1) * (x - 2) / mu**3
        assert abs(spoken.get((x,), 0) - value * o.to_mpf(ratio)) < MP.mpf(10) ** -80


# -- expected squared errors -----------------------------------------------------------------------------------------


SETS = [(0, 1), (1, 2), (1, 3)]


@pytest.mark.parametrize("rates", [[HALF, F(1), F(1, 3)], [F(1), F(1), F(1)], [F(5, 3), F(1, 2), F(2)]])
@pytest.mark.parametrize(("slots", "gamma"), [(3, F(1)), (3, F(2, 5)), (0, F(1))])
def test_error_of_a_fixed_assignment(rates, slots, gamma):
    # The closed form is [V_blanket + sum of sampling variances + sum_j (sum lambda_i x_ij - w_j N)^2] / N^2.
    d = 4
    frequencies, scale = o.item_frequencies(d, SETS), sum(rates)
    blanket = slots * gamma * (1 - gamma / d)
    fractional = [rate % 1 for rate in rates]
    sampling = sum(f * (1 - f) * len(x) for f, x in zip(fractional, SETS, strict=True))
    bias = sum(
        (sum(rate for rate, x in zip(rates, SETS, strict=True) if j in x) - frequencies[j] * scale) ** 2
        for j in range(d)
    )
    assert o.segmented_protocol_error(d, SETS, rates, slots, gamma) == (blanket + sampling + bias) / scale**2


@pytest.mark.parametrize("rates", [[F(0), F(1)], [F(1, 4), F(3, 2)]])
@pytest.mark.parametrize("counts", [[1, 2], [2, 1]])
def test_error_averaged_over_assignments_has_a_finite_population_factor(rates, counts):
    # The last term is (s - sum w_j^2)(sum n_k a_k^2 - (sum n_k a_k)^2 / n) if every user draws a level at random. With
    # exact counts per level the enumeration gives n/(n-1) times that.
    d, s, n, slots, gamma = 4, 2, 3, 3, F(2, 3)
    frequencies = o.item_frequencies(d, SETS)
    scale = sum(a * c for a, c in zip(rates, counts, strict=True))
    squares = sum(a * a * c for a, c in zip(rates, counts, strict=True))
    blanket = slots * gamma * (1 - gamma / d)
    sampling = s * sum((a % 1) * (1 - a % 1) * c for a, c in zip(rates, counts, strict=True))
    spread = (s - sum(w * w for w in frequencies)) * (squares - scale**2 / n)
    value = o.segmented_protocol_error_averaged(d, SETS, rates, counts, slots, gamma)
    assert value == (blanket + sampling + spread * F(n, n - 1)) / scale**2
    assert value > (blanket + sampling + spread) / scale**2


def test_error_with_poisson_blanket():
    # With a Poisson blanket V_blanket is n m = d mu. Two users with one item each, rates 1/2 and 1.
    d, mu, cutoff, rates = 2, F(1), 40, [HALF, F(1)]
    view, lost = o.poisson_blanket_view(d, [(0,), (1,)], rates, mu, cutoff)
    value = o.expected_squared_error(view, o.to_mpf(mu), o.to_mpf(sum(rates)), [o.to_mpf(HALF)] * 2)
    expected = (d * mu + F(1, 4) + 2 * F(1, 4) ** 2) / F(3, 2) ** 2
    assert lost < MP.mpf("1e-40")
    assert distance(value, expected) < MP.mpf("1e-35")


# -- binomial probabilities ------------------------------------------------------------------------------------------


TINY = MP.mpf(10) ** -50


@pytest.mark.quick(0)
@pytest.mark.parametrize(("n", "p"), [(1, HALF), (7, F(1, 3)), (300, HALF), (300, F(1, 50))])
def test_binomial_against_exact_sums(n, p):
    pmf = [comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]
    for k in range(0, n + 1, max(1, n // 25)):
        assert distance(o.mp_binomial_pmf(n, p, k), pmf[k]) < TINY
        assert distance(o.mp_binomial_upper_tail(n, p, k), sum(pmf[k:])) < TINY


def test_binomial_ends():
    assert o.mp_binomial_half_tail(5, 0) == o.mp_binomial_half_tail(5, -3) == 1
    assert o.mp_binomial_half_tail(5, 6) == 0
    assert o.mp_binomial_half_tail(0, 0) == 1
    assert o.mp_binomial_pmf(5, HALF, 6) == o.mp_binomial_pmf(5, HALF, -1) == 0
    assert o.mp_binomial_pmf(5, 1, 5) == o.mp_binomial_pmf(5, 0, 0) == o.mp_binomial_upper_tail(5, 1, 5) == 1


@pytest.mark.quick(1)
@pytest.mark.parametrize(("c", "t"), [(5000, 2510), (5000, 2700), (20000, 10001), (20000, 10600)])
def test_quadrature_and_direct_sum_agree(c, t):
    terms = accumulate(range(c, t, -1), lambda term, k: term * k // (c - k + 1), initial=1)
    exact = MP.mpf(sum(terms)) / MP.mpf(2) ** c
    assert distance(integrated_upper_tail(c, MP.mpf("0.5"), t), exact) < TINY
    assert distance(o.mp_binomial_half_tail(c, t), exact) < TINY
