"""Blanket bounds against enumeration in rational numbers and binomial sums in 90 digits."""

import math
from fractions import Fraction

import oracles as o
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from randomizer_cases import CASES, MAKERS, blanket_row

from segshuffle.accounting.single_message.decomposition import BlanketBound, DatasetsBound
from segshuffle.accounting.single_message.randomizers.composed import JointComposition
from segshuffle.accounting.single_message.randomizers.subsets import KaryRandomizedResponse

MP = o.MP
EPSILONS = (Fraction(1), Fraction(11, 10), Fraction(3, 2), Fraction(3), Fraction(17, 2))


def krr(k, local_epsilon):
    return KaryRandomizedResponse(local_epsilon=local_epsilon, domain_size=k)


# --------------------------------------------------------------------------------------------------------- the identity


def blanket_pair_divergence(matrix, pair, n, exp_epsilon):
    """Return the divergence of one message of the victim among n - 1 blanket-or-left-over symbols."""
    blanket = blanket_row(matrix)
    rows = [[*matrix[pair[0]], 0], [*matrix[pair[1]], 0], [*blanket, 1 - sum(blanket)]]
    rows = [[Fraction(entry) for entry in row] for row in rows]
    return o.shuffled_divergence(rows, (0, 1), [2] * (n - 1), exp_epsilon)


@pytest.mark.quick(1)
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_both_bounds_are_the_divergences_they_claim(name, n):
    randomizer, matrix, pair, star = CASES[name]
    for exp_epsilon in EPSILONS:
        epsilon = math.log(exp_epsilon)
        exact = blanket_pair_divergence(matrix, pair, n, exp_epsilon)
        interval = BlanketBound(randomizer=randomizer, n_users=n).delta(epsilon=epsilon)
        assert o.encloses(interval, exact, 1e-13)
        assert interval.relative_width < 1e-9
        exact = max(o.shuffled_divergence(matrix, pair, [x] * (n - 1), exp_epsilon) for x in {star, *pair})
        interval = DatasetsBound(randomizer=randomizer, n_users=n).delta(epsilon=epsilon)
        assert o.encloses(interval, exact, 1e-13)
        assert interval.relative_width < 1e-9


@pytest.mark.quick(1)
# -------------------------------------------------------------------------------------------- exact sums in 90 digits


def binary_lower(local_epsilon, epsilon, n):
    """Return (1/n) E max(0, G_1 + ... + G_n) of binary randomized response, all other users with x1 or all with x0."""
    e, f = MP.exp(MP.mpf(local_epsilon)), MP.exp(MP.mpf(epsilon))
    rare, often = 1 / (1 + e), e / (1 + e)

    def mean_positive_part(one, p, other, q):
        terms = (MP.binomial(n, i) * p**i * q ** (n - i) * max(i * one + (n - i) * other, 0) for i in range(n + 1))
        return MP.fsum(terms) / n

    return max(mean_positive_part(e - f, rare, 1 / e - f, often), mean_positive_part(1 - f / e, often, 1 - f * e, rare))


@pytest.mark.quick("50-0.3", "50-0.9")
@pytest.mark.parametrize(("n", "epsilon"), [(50, 0.3), (50, 0.9), (3000, 0.02), (3000, 0.45), (6000, 0.1)])
def test_lower_bound_against_exact_sums(n, epsilon):
    exact = binary_lower(1.0, epsilon, n)
    interval = DatasetsBound(randomizer=krr(2, 1.0), n_users=n).delta(epsilon=epsilon)
    assert o.encloses(interval, exact)
    assert interval.relative_width < 3e-4


@pytest.mark.quick(0)
@pytest.mark.parametrize("delta", [1e-12, 1e-100, 1e-250])
def test_deltas_far_below_double_precision(delta):
    """The epsilon that the accountant gives for a tiny delta is put back into the exact binomial sum."""
    epsilon = DatasetsBound(randomizer=krr(2, 1.0), n_users=2000).epsilon(delta=delta)
    exact = binary_lower(1.0, epsilon, 2000)
    assert delta <= exact <= delta * (1 + 1e-3)


# ------------------------------------------------------------------------------------------------------------ behaviour


@pytest.mark.quick(0)
@settings(max_examples=6)
@given(st.sampled_from(MAKERS), st.floats(0.05, 5.0), st.integers(1, 10**6), st.floats(-30, -0.5))
def test_epsilon_and_delta_are_inverse(make, local_epsilon, n, log10_delta):
    randomizer, delta = make(local_epsilon), 10**log10_delta
    upper, lower = (bound(randomizer=randomizer, n_users=n) for bound in (BlanketBound, DatasetsBound))
    high, low = upper.epsilon(delta=delta), lower.epsilon(delta=delta)
    assert 0 <= low <= high <= randomizer.local_epsilon
    assert upper.delta(epsilon=high).upper <= delta
    if low > 0:
        assert lower.delta(epsilon=low).lower >= delta
    if 1e-6 * randomizer.local_epsilon < high < 0.999 * randomizer.local_epsilon:
        assert upper.delta(epsilon=0.999 * high).upper > delta


# -- large sums and tiny local epsilons -------------------------------------------------------------------------------


def binary_responses(count, local_epsilon):
    part = KaryRandomizedResponse(local_epsilon=local_epsilon, domain_size=2)
    return JointComposition(components=(part,) * count)


def one_user_delta(count, local_epsilon, epsilon):
    """Return the divergence of `count` binary responses of one user, by the number of true ones."""
    p = o.exp_fraction(local_epsilon) / (1 + o.exp_fraction(local_epsilon))
    chances = [(p**i * (1 - p) ** (count - i), (1 - p) ** i * p ** (count - i)) for i in range(count + 1)]
    excess = [math.comb(count, i) * max(a - o.exp_fraction(epsilon) * b, 0) for i, (a, b) in enumerate(chances)]
    return sum(excess, Fraction(0))


@pytest.mark.parametrize(("count", "local_epsilon"), [(3, 50.0), (5, 30.0), (15, 10.0)])
@pytest.mark.parametrize("epsilon", [0.0, 40.0, 100.0, 149.0])
def test_joint_composition_at_the_largest_sum(count, local_epsilon, epsilon):
    found = BlanketBound(randomizer=binary_responses(count, local_epsilon), n_users=1).delta(epsilon=epsilon)
    exact = one_user_delta(count, local_epsilon, epsilon)
    assert Fraction(found.lower) <= exact <= Fraction(found.upper)
    assert Fraction(found.upper) <= exact * Fraction(1001, 1000) or epsilon == 149.0


def test_blanket_bound_of_a_tiny_local_epsilon():
    """Ten users at epsilon = 0: E max(0, G_1 + ... + G_n)/n with G = e, -e, 0 on a third each, to first order in e."""
    local_epsilon = 1e-12
    randomizer = KaryRandomizedResponse(local_epsilon=local_epsilon, domain_size=3)
    found = BlanketBound(randomizer=randomizer, n_users=10).delta(epsilon=0.0)
    walk = {0: Fraction(1)}
    for _ in range(10):
        walk = {
            k: sum((walk.get(k - step, Fraction(0)) for step in (-1, 0, 1)), Fraction(0)) / 3 for k in range(-10, 11)
        }
    exact = float(sum((p * max(k, 0) for k, p in walk.items()), Fraction(0)) / 10) * local_epsilon
    assert found.lower <= exact * (1 + 1e-12)
    assert exact * (1 - 1e-12) <= found.upper
    assert found.relative_width < 1e-3
