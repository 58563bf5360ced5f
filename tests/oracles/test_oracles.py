"""The oracles against one another, and against facts that can be derived by hand.

Where a test states something about ``design/math.md`` or about a theorem of a paper, it says so: the note and the
papers are statements under test here, not the source of the expected values.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import ceil, comb, exp

import mpmath
import pytest

import oracles as o
from oracles import MP

F = Fraction
HALF = F(1, 2)
EXP_EPSILONS = [F(1), F(11, 10), F(8, 5), F(3)]


def two_counters(view):
    return o.push_forward(view, lambda c: c[:2])


def distance(x, y):
    """Relative distance of two numbers, at the precision of the oracles."""
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


@pytest.mark.parametrize(
    "law",
    [
        pytest.param(lambda: o.count_pair(6, F(2, 7), F(1, 3), F(1, 5))[0], id="count pair, P"),
        pytest.param(lambda: o.count_pair(6, F(2, 7), F(1, 3), F(1, 5))[1], id="count pair, Q"),
        pytest.param(lambda: o.count_pair(0, F(2, 7), F(1), F(0))[0], id="count pair, no trials"),
        pytest.param(
            lambda: o.segmented_view(4, [(0, 1), (1, 2), (3, 0)], [F(1, 3), F(1), F(0)], 3, F(2, 3)), id="segmented"
        ),
        pytest.param(lambda: o.segmented_view(3, [(0, 1)], [F(7, 3)], 2, F(1)), id="segmented, copies"),
        pytest.param(lambda: o.single_message_view(o.krr(3, F(5, 2)), [0, 1, 1, 2]), id="k-RR"),
        pytest.param(
            lambda: o.single_message_view(o.subset_exponential(4, 2, 2, F(5, 2)), [0, 3, 5]), id="subset exponential"
        ),
    ],
)
def test_laws_are_probability_laws_exactly(law):
    probabilities = law().values()
    assert all(isinstance(p, F) and p >= 0 for p in probabilities)
    assert sum(probabilities) == 1


@pytest.mark.parametrize(
    "matrix", [o.krr(5, F(3)), o.subset_exponential(5, 2, 2, F(3)), o.subset_exponential(4, 1, 3, F(7))]
)
def test_matrices_are_stochastic_and_have_the_stated_ratio(matrix):
    assert all(sum(row) == 1 for row in matrix)
    ratios = {entry / other for column in zip(*matrix, strict=True) for entry in column for other in column}
    assert max(ratios) == matrix[0][0] / min(matrix[0])


def test_subset_exponential_with_single_items_is_randomized_response():
    assert o.subset_exponential(5, 1, 1, F(3)) == o.krr(5, F(3))


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


@pytest.mark.parametrize("exp_epsilon", EXP_EPSILONS)
def test_both_directions_of_the_pair_are_equal(exp_epsilon):
    p, q = o.count_pair(7, F(3, 10), F(1, 3), F(1, 9))
    assert o.hockey_stick(p, q, exp_epsilon) == o.hockey_stick(q, p, exp_epsilon)


def half_tail(c, t):
    """Pr[Binomial(c, 1/2) >= t], exactly."""
    return F(sum(comb(c, i) for i in range(max(t, 0), c + 1)), 2**c)


@pytest.mark.parametrize("exp_epsilon", EXP_EPSILONS)
@pytest.mark.parametrize(("p", "beta", "q", "n"), [(F(3), F(1, 3), F(3), 6), (F(4), F(2, 5), F(6), 9)])
def test_theorem_4_1_of_variation_ratio_is_the_divergence_of_the_pair(p, beta, q, n, exp_epsilon):
    alpha = beta / (p - 1)
    r = alpha * p / q

    def low(c):
        numerator = (exp_epsilon * p - 1) * alpha * c
        numerator += (exp_epsilon - 1) * (1 - alpha - alpha * p) * (n - c) * r / (1 - 2 * r)
        return numerator / (alpha * (exp_epsilon + 1) * (p - 1))

    total = F(0)
    for c in range(n):
        weight = comb(n - 1, c) * (2 * r) ** c * (1 - 2 * r) ** (n - 1 - c)
        total += weight * (
            (p - exp_epsilon) * alpha * half_tail(c, ceil(low(c + 1) - 1))
            + (1 - p * exp_epsilon) * alpha * half_tail(c, ceil(low(c + 1)))
            + (1 - exp_epsilon) * (1 - alpha - p * alpha) * half_tail(c, ceil(low(c)))
        )
    assert total == o.hockey_stick(*o.variation_ratio_pair(n, p, beta, q), exp_epsilon)


@pytest.mark.parametrize("exp_epsilon", EXP_EPSILONS)
@pytest.mark.parametrize("rate", [F(1, 5), F(4, 5), F(1)])
def test_cells_and_threshold_of_section_2(rate, exp_epsilon):
    trials, gamma, d = 8, F(2, 3), 5
    r = gamma / d
    p, q = o.count_pair(trials, 2 * r, rate, F(0))

    def pmf(c):
        return comb(trials, c) * (2 * r) ** c * (1 - 2 * r) ** (trials - c) if 0 <= c <= trials else F(0)

    for c in range(1, trials + 2):
        low = exp_epsilon * c + (exp_epsilon - 1) * (1 - rate) / rate * (trials - c + 1) * r / (1 - 2 * r)
        low /= 1 + exp_epsilon
        for a in range(c + 1):
            cell = F(comb(c, a), 2**c) * (rate * pmf(c - 1) * F(2 * a, c) + (1 - rate) * pmf(c))
            assert p.get((a, c - a), 0) == cell
            assert q.get((c - a, a), 0) == cell
            assert (cell > exp_epsilon * q.get((a, c - a), 0)) == (a > low)


@pytest.mark.parametrize("exp_epsilon", EXP_EPSILONS)
def test_fewer_trials_and_larger_rates_give_larger_divergence(exp_epsilon):
    def value(trials, rate):
        return o.hockey_stick(*o.count_pair(trials, F(2, 5), rate, F(0)), exp_epsilon)

    assert value(5, F(1, 3)) >= value(6, F(1, 3)) >= value(7, F(1, 3))
    assert value(6, F(1, 3)) <= value(6, F(1, 2)) <= value(6, F(1))


@pytest.mark.quick(1)
@pytest.mark.parametrize("tails", [F(0), F(1, 10)])
@pytest.mark.parametrize("exp_epsilon", EXP_EPSILONS)
def test_float_pair_agrees_with_the_exact_one(exp_epsilon, tails):
    exact = o.hockey_stick(*o.count_pair(40, F(2, 7), F(2, 5), tails), exp_epsilon)
    assert exact > 0
    value = o.count_pair_divergence_float(40, 2 / 7, 0.4, float(exp_epsilon), float(tails))
    assert value == pytest.approx(float(exact), rel=1e-11, abs=0)


# -- the segmented protocol, binomial blanket ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "slots_per_user", "gamma", "rate"),
    [(3, 1, F(1), F(1, 3)), (3, 1, F(2, 5), F(3, 4)), (2, 2, F(3, 4), F(1)), (4, 1, F(1, 2), F(1, 2))],
)
def test_two_counters_are_the_pair_with_all_slots(n, slots_per_user, gamma, rate):
    # Proposition 1: n' = n * ceil(m) + 1, that is T = n * ceil(m) trials; the other users hold neither 0 nor 1.
    d, slots = 4, n * slots_per_user
    others = [(2 + i % 2,) for i in range(n - 1)]
    rates = [rate] + [F(2, 3)] * (n - 1)
    p, q = o.count_pair(slots, 2 * gamma / d, rate, F(0))
    view0 = o.segmented_view(d, [(0,), *others], rates, slots, gamma)
    view1 = o.segmented_view(d, [(1,), *others], rates, slots, gamma)
    assert two_counters(view0) == {cell: value for cell, value in p.items() if value}
    assert two_counters(view1) == {cell: value for cell, value in q.items() if value}
    for exp_epsilon in EXP_EPSILONS:  # a lower bound for what the server sees, as Proposition 1 says
        assert o.hockey_stick(view0, view1, exp_epsilon) >= o.hockey_stick(p, q, exp_epsilon)


@pytest.mark.parametrize("exp_epsilon", EXP_EPSILONS)
@pytest.mark.parametrize("rate", [F(1, 4), F(2, 3), F(1)])
def test_blanket_only_full_view_is_rate_times_the_speaking_pair(rate, exp_epsilon):
    d, slots = 4, 5
    view0 = o.segmented_view(d, [(0,)], [rate], slots, F(1))
    view1 = o.segmented_view(d, [(1,)], [rate], slots, F(1))
    speaking = o.count_pair(slots, F(2, d), F(1), F(0))
    assert o.hockey_stick(view0, view1, exp_epsilon) == rate * o.hockey_stick(*speaking, exp_epsilon)


def test_theorem_3_is_not_an_upper_bound():
    # All other users at a level with rate 1: their number of messages is a constant, so the total shows silence.
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


@pytest.mark.parametrize("exp_epsilon", EXP_EPSILONS)
def test_always_speaking_victims_are_covered_exactly(exp_epsilon):
    # Balls-into-bins (MM): rate 1 for everybody, integer m. The pair at T = n m is the full view's divergence when
    # the others hold neither item, and an upper bound when they do.
    d, slots = 4, 3
    pair = o.hockey_stick(*o.count_pair(slots, F(2, d), F(1), F(0)), exp_epsilon)
    for others in [[(2,), (3,)], [(2,), (2,)], [(0,), (2,)], [(0,), (1,)], [(0,), (0,)]]:
        value = o.hockey_stick(
            o.segmented_view(d, [(0,), *others], [F(1)] * 3, slots, F(1)),
            o.segmented_view(d, [(1,), *others], [F(1)] * 3, slots, F(1)),
            exp_epsilon,
        )
        assert value == pair  # the others' counts are known constants here


def test_total_is_not_sufficient_when_others_sample():
    # Section 3(b) keeps (c_0, c_1, total). That is exact when the others' messages look like uniform ones on the other
    # items, but a sampled message on one known item leaves the untouched item 3 as a clean view of the blanket.
    d, slots, rate, exp_epsilon = 4, 3, F(1, 2), F(8, 5)
    views = [o.segmented_view(d, [(x,), (2,), (2,)], [rate, HALF, HALF], slots, F(1)) for x in (0, 1)]
    coarse = [o.push_forward(view, lambda c: (c[0], c[1], sum(c))) for view in views]
    pair = o.count_pair(slots, F(2, d), rate, F(0))
    full_value, coarse_value = o.hockey_stick(*views, exp_epsilon), o.hockey_stick(*coarse, exp_epsilon)
    assert full_value > coarse_value > o.hockey_stick(*pair, exp_epsilon)
    # With one other item only (d = 3) the total and the pair determine the histogram.
    views = [o.segmented_view(3, [(x,), (2,), (2,)], [rate, HALF, HALF], slots, F(1)) for x in (0, 1)]
    coarse = [o.push_forward(view, lambda c: (c[0], c[1], sum(c))) for view in views]
    assert o.hockey_stick(*views, exp_epsilon) == o.hockey_stick(*coarse, exp_epsilon)


def test_mixture_weight_of_section_3b():
    # Given B = b + victim, lambda -> lambda f_B(t - 1)/f_B(t) *without* renormalising (1 - lambda).
    d, slots, rate, sent = 3, 4, F(2, 5), F(1, 3)
    view = o.segmented_view(d, [(0,), (2,), (2,)], [rate, sent, sent], slots, F(1))
    coarse = o.push_forward(view, lambda c: (c[0], c[1], sum(c) - slots))

    def binomial(n, p, k):
        return comb(n, k) * p**k * (1 - p) ** (n - k) if 0 <= k <= n else F(0)

    for (a, b, t), value in coarse.items():
        c = a + b
        spoken = rate * binomial(2, sent, t - 1) * binomial(slots, F(2, d), c - 1) * F(2 * a, c) if c else F(0)
        silent = (1 - rate) * binomial(2, sent, t) * binomial(slots, F(2, d), c)
        assert value == F(comb(c, a), 2**c) * (spoken + silent)


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
    # Section 4b: r(x) = sum_j Pr[M = j] x (x-1) ... (x-j+1) / mu^j, here M = 2 or 3 with mean 9/4.
    mu, cutoff = F(3, 2), 20
    silent, _ = o.poisson_blanket_view(1, [], [], mu, cutoff)
    spoken, _ = o.poisson_blanket_view(1, [(0,)], [F(9, 4)], mu, cutoff)
    for (x,), value in silent.items():
        ratio = F(3, 4) * x * (x - 1) / mu**2 + F(1, 4) * x * (x - 1) * (x - 2) / mu**3
        assert abs(spoken.get((x,), 0) - value * o.to_mpf(ratio)) < MP.mpf(10) ** -80


def poisson_divergence(sets0, sets1, rates, mu, cutoff, exp_epsilon, d=4):
    p, lost = o.poisson_blanket_view(d, sets0, rates, mu, cutoff)
    q, _ = o.poisson_blanket_view(d, sets1, rates, mu, cutoff)
    return o.hockey_stick_bounds(p, q, exp_epsilon, lost)


@pytest.fixture(scope="module")
def poisson_product():
    """Lower and upper value of D(P (x) P || Q (x) Q) for mu = 1/2, lambda = 1/2, from the pair alone."""
    p, q, lost = o.count_pair_poisson(F(1), HALF, F(0), 16)
    return o.hockey_stick_bounds(o.product_law(p, p), o.product_law(q, q), F(3, 2), 2 * lost)


@pytest.mark.quick(0)
def test_two_items_are_the_product_of_two_pairs(poisson_product):
    low, high = poisson_divergence([(0, 2)], [(1, 3)], [HALF], F(1, 2), 8, F(3, 2))
    product_low, product_high = poisson_product
    assert low <= product_high
    assert product_low <= high
    assert high - low < MP.mpf("1e-6")
    assert product_high - product_low < MP.mpf("1e-11")


@pytest.mark.exhaustive
def test_shared_items_and_other_users_only_help(poisson_product):
    mu, cutoff, e = F(1, 2), 7, F(3, 2)
    product_low, _ = poisson_product
    single = o.hockey_stick_bounds(*o.count_pair_poisson(F(1), HALF, F(0), 16)[:2], e, MP.mpf("1e-11"))
    shared = poisson_divergence([(0, 2)], [(1, 2)], [HALF], mu, cutoff, e)
    assert shared[0] <= single[1]  # one factor, when one of the two items is common
    assert single[0] <= shared[1]
    assert shared[1] < product_low
    # "Some neighbouring datasets attain it" needs d >= 3s, or others whose count is a constant: with d = 4, s = 2 the
    # other user must hold two of the four items, and sampling them hides something.
    for other in combinations(range(4), 2):
        blurred = poisson_divergence([(0, 2), other], [(1, 3), other], [HALF, HALF], mu, cutoff, e)
        assert blurred[1] < product_low
    constant = poisson_divergence([(0, 2), (0, 3)], [(1, 3), (0, 3)], [HALF, F(1)], mu, cutoff + 1, e)
    assert constant[0] <= poisson_product[1]
    assert product_low <= constant[1]


def test_binomial_blanket_with_many_slots_tends_to_the_poisson_one():
    mu2, e = F(3), F(6, 5)
    low, high = o.hockey_stick_bounds(*o.count_pair_poisson(mu2, HALF, F(0), 40)[:2], e, MP.mpf("1e-20"))
    value = o.count_pair_divergence_float(10**7, float(mu2) / 10**7, 0.5, float(e))
    assert float(low) == pytest.approx(value, rel=1e-5, abs=0)
    assert high - low < MP.mpf("1e-19")
