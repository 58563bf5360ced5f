"""Theorem 5.1: its parameters, its pair at any split of the blanket, and what it is a lower bound of."""

import math
from fractions import Fraction

import oracles as o
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracles import tables

from segshuffle.accounting.single_message.variation_ratio import LowerVariationBound, VariationBound, VariationRatio
from segshuffle.accounting.single_message.variation_ratio_tables import randomized_response

F = Fraction


def exact_bound(n, p0, beta, q0, q1, gain):
    """Return the larger direction of Theorem 5.1's pair, from its definition."""
    alpha = beta / (p0 - 1)
    one, other = alpha * p0 / q0, alpha * p0 / q1
    p, q = o.count_pair(n - 1, one + other, p0 * alpha, alpha, split=one / (one + other))
    return max(o.hockey_stick(p, q, gain), o.hockey_stick(q, p, gain))


def bound_of(p0, beta, q0, q1):
    return VariationRatio(log_p=math.log(p0), beta=float(beta), log_q=math.log(q1), log_q_other=math.log(q0))


def encloses(interval, exact, slack=1e-12):
    """Compare with slack: parameters and e^epsilon are exp of logarithms, with absolute errors near local epsilon."""
    return interval.lower * (1 - slack) - 1e-15 <= exact <= interval.upper * (1 + slack) + 1e-15


@pytest.mark.quick(0)
@settings(derandomize=True)
@given(
    n=st.integers(1, 8),
    p0=st.fractions(F(11, 10), 20, max_denominator=16),
    share=st.fractions(F(1, 16), 1, max_denominator=16),
    q0=st.fractions(1, 20, max_denominator=8),
    q1=st.fractions(1, 20, max_denominator=8),
    part=st.floats(0.0, 0.98),
)
def test_encloses_the_published_pair_anywhere(n, p0, share, q0, q1, part):
    beta = share * (p0 - 1) / (p0 + 1)
    heads = beta * p0 / (p0 - 1)
    assume(heads / q0 + heads / q1 <= 1)
    gain = F(math.exp(part * math.log(p0)))
    found = LowerVariationBound(lower=bound_of(p0, beta, q0, q1), n_users=n).delta(epsilon=math.log(gain), rtol=1e-6)
    assert encloses(found, float(exact_bound(n, p0, beta, q0, q1, gain)), slack=1e-11)


# -- parameters from tables --------------------------------------------------------------------------------------------


def by_definition(first, second, rows):
    """Return p0, beta, q0 and q1 of the x* that the theorem takes, as printed."""
    s1 = [y for y in range(len(first)) if second[y] > first[y]]
    s0 = [y for y in range(len(first)) if second[y] < first[y]]

    def mass(row, outputs):
        return sum((row[y] for y in outputs), F(0))

    q1 = [mass(second, s1) / mass(row, s1) for row in rows]
    q0 = [mass(first, s0) / mass(row, s0) for row in rows]
    star = max(range(len(rows)), key=lambda i: min(q0[i], q1[i]))
    return mass(second, s1) / mass(first, s1), mass(second, s1) - mass(first, s1), q0[star], q1[star]


MATRICES = {
    "4-RR": o.krr(4, F(3)),
    "5 choose 2": tables.subset_selection(5, 2, F(3)),
    "6 choose 3": tables.subset_selection(6, 3, F(3)),
    "Hadamard 8": tables.favoured(tables.hadamard_sets(8), 8, F(3)),
    "hash into 3": tables.local_hash(3, 3, F(3)),
    "bits": tables.flipped_bits(tables.one_hot(3), F(1, 3)),
}


@pytest.mark.quick(8)
@pytest.mark.parametrize("name", [name for name in MATRICES if name not in ("hash into 3", "6 choose 3")])
@pytest.mark.parametrize("n", [1, 2, 4])
@pytest.mark.parametrize("gain", [F(1), F(5, 4), F(2)])
def test_below_the_true_divergence(name, n, gain):
    """Symmetric randomizers: the worst divergence over what the others may (jointly) hold is never smaller."""
    matrix = MATRICES[name]
    found = bound_of(*by_definition(matrix[0], matrix[1], matrix))
    worst = max(o.shuffled_divergence(matrix, (0, 1), [x] * (n - 1), gain) for x in range(len(matrix)))
    value = LowerVariationBound(lower=found, n_users=n).delta(epsilon=math.log(gain), rtol=1e-6)
    assert value.lower <= float(worst) * (1 + 1e-12) + 1e-15


@pytest.mark.parametrize("k", [3, 4, 10])
def test_equals_the_published_upper_bound(k):
    """k-RR: p0 = p and q0 = q1 = q, so Theorem 4.1's number *is* this lower bound."""
    matrix, n, gain = o.krr(k, F(3)), 5, F(8, 5)
    found = bound_of(*by_definition(matrix[0], matrix[1], matrix))
    lower = LowerVariationBound(lower=found, n_users=n).delta(epsilon=math.log(gain), rtol=1e-7)
    upper = VariationBound(variation=randomized_response(local_epsilon=math.log(3), domain_size=k), n_users=n).delta(
        epsilon=math.log(gain), rtol=1e-7
    )
    assert lower.lower == pytest.approx(upper.upper, rel=1e-6, abs=0)


def test_fails_for_a_randomizer_without_symmetry():
    """n = 1, e^eps = 5/4, laws (9/10, 1/10) and (7/10, 3/10): claimed >= 7/40 in a direction where it is 1/40."""
    first, second, gain = [F(9, 10), F(1, 10)], [F(7, 10), F(3, 10)], F(5, 4)
    found = bound_of(*by_definition(first, second, [first, second]))
    value = LowerVariationBound(lower=found, n_users=1).delta(epsilon=math.log(gain), rtol=1e-7)
    assert encloses(value, 7 / 40)
    assert o.hockey_stick(dict(enumerate(first)), dict(enumerate(second)), gain) == F(1, 40)


def test_from_the_largest_ratio_on_nothing_is_told_apart():
    """Binary randomized response 3/4, 1/4: the largest ratio is 3."""
    first, second = [F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]
    found = bound_of(*by_definition(first, second, [first, second]))
    for n_users in (1, 5):
        for epsilon in (math.log(3), 1.2, 300.0):
            assert LowerVariationBound(lower=found, n_users=n_users).delta(epsilon=epsilon) == (0.0, 0.0)
        # so near to it that rounding the ratio down leaves no lower end
        near = LowerVariationBound(lower=found, n_users=n_users).delta(epsilon=found.log_p * (1 - 1e-15))
        assert near.lower == 0.0
        assert 0.0 <= near.upper < 1e-14


@pytest.mark.parametrize("below", [1e-3, 1e-6, 1e-9, 1e-12])
@pytest.mark.parametrize("silence", [0, -50, -52, -53])
def test_lower_end_is_below_the_real_messages_whatever_the_parameters_round_to(silence, below):
    """Three users, two outputs that tell the inputs apart and one of 2^-50 that does not: silence must not round away.

    The tables are dyadic, so the histogram of the messages is exact.
    """
    b, c = F(1, 2**30), F(2) ** silence if silence else F(0)
    first, second, other = [1 - b - c, b, c], [b, 1 - b - c, c], [F(1, 4), F(1, 4), F(1, 2)]
    assert all(F(float(x)) == x for x in first)
    bound = bound_of(*by_definition(first, second, [other]))
    epsilon = bound.log_p * (1 - below)
    views = [o.single_message_view([first, second, other], [own, 2, 2]) for own in (0, 1)]
    exact = o.hockey_stick(*views, o.exp_fraction(epsilon))
    found = LowerVariationBound(lower=bound, n_users=3).delta(epsilon=epsilon)
    assert found.lower <= exact
    assert found.lower >= exact * (1 - F(3, 10**4)) or below < 1e-3


def test_lower_epsilon_of_a_ratio_beyond_the_largest_epsilon():
    """One user, p0 = e^460: delta is 1 up to about 460, and the search ends at the largest epsilon it may ask for."""
    bound = VariationRatio(log_p=664 * math.log(2), beta=1.0, log_q=math.log(2))
    found = LowerVariationBound(lower=bound, n_users=1).epsilon(delta=1e-6)
    assert 299 < found <= 300
