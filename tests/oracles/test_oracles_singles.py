"""The oracles held against one another and against hand derivations: single messages, errors, binomials."""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate
from math import comb

import pytest

import oracles as o
from oracles import MP, integrated_upper_tail

F = Fraction
HALF = F(1, 2)


def distance(x, y):
    """Relative distance of two numbers, at the precision of the oracles."""
    return abs(o.to_mpf(x) - o.to_mpf(y)) / abs(o.to_mpf(y))


# -- expected squared errors -----------------------------------------------------------------------------------------


SETS = [(0, 1), (1, 2), (1, 3)]


@pytest.mark.parametrize("rates", [[HALF, F(1), F(1, 3)], [F(1), F(1), F(1)], [F(5, 3), F(1, 2), F(2)]])
@pytest.mark.parametrize(("slots", "gamma"), [(3, F(1)), (3, F(2, 5)), (0, F(1))])
def test_error_of_a_fixed_assignment(rates, slots, gamma):
    # Section 2: [V_blanket + sum of sampling variances + sum_j (sum lambda_i x_ij - w_j N)^2] / N^2.
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
    # Section 4b writes (s - sum w_j^2)(sum n_k a_k^2 - (sum n_k a_k)^2 / n) for levels at random. With exact counts
    # per level the enumeration gives n/(n-1) times that.
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
    # V_blanket is n m = d mu there; two users with one item each, rates 1/2 and 1.
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
