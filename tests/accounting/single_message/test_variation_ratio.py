"""The published variation-ratio reduction: parameters, pair, epsilons, closed forms, and that it is no upper bound."""

import math
from fractions import Fraction

import oracles as o
import pytest
from oracles import MP, tables

from segshuffle.accounting.single_message import variation_ratio_tables as vr
from segshuffle.accounting.single_message.variation_ratio import (
    VariationBound,
    VariationRatio,
)
from segshuffle.reproduction.studies.amplification.variation import PRINTED, TABLE_USERS

F = Fraction
RANDOMIZERS = {
    "general 1": vr.general(local_epsilon=1.0),
    "general 5": vr.general(local_epsilon=5.0),
    "10-RR": vr.randomized_response(local_epsilon=2.0, domain_size=10),
    "laplace": vr.laplace(local_epsilon=1.0),
    "metric": vr.metric_laplace(distance=1.0, largest_distance=4.0),
    "bins": vr.balls_into_bins(domain_size=16, special_bins=1),
    "one-hot": vr.flipped_one_hot(flip=0.2),
    "tiny": vr.general(local_epsilon=1e-6),
}

SHAPES = [(4, 1, 1), (5, 2, 1), (5, 2, 3), (6, 2, 2), (5, 3, 2), (5, 4, 1), (6, 3, 3)]


@pytest.mark.quick(5)
@pytest.mark.parametrize(("d", "s", "k"), SHAPES)
@pytest.mark.parametrize("gain", [F(3, 2), F(4)])
def test_parameters_of_the_subset_exponential_randomizer(d, s, k, gain):
    """beta is the worst total variation of two inputs, found by enumeration; p and q are read off the matrix too."""
    matrix = o.subset_exponential(d, s, k, gain)
    assert tables.largest_ratio(matrix, matrix) == gain
    alpha = tables.largest_total_variation(matrix) / (gain - 1)
    found = vr.subset_exponential(domain_size=d, set_size=s, subset_size=k, local_epsilon=math.log(gain))
    assert found.heads == pytest.approx(float(gain * alpha), rel=1e-13, abs=0)
    assert found.tails == pytest.approx(float(alpha), rel=1e-13, abs=0)
    assert found.clone == pytest.approx(float(alpha), rel=1e-13, abs=0)  # r = alpha p/q, q = p


@pytest.mark.parametrize("n_users", [1, 2, 6])
@pytest.mark.parametrize("exp_epsilon", [F(1), F(5, 4), F(3, 2)])
def test_published_delta_is_the_divergence_of_the_published_pair(n_users, exp_epsilon):
    p, beta, q = F(3), F(1, 4), F(4)
    randomizer = VariationRatio(log_p=math.log(p), beta=float(beta), log_q=math.log(q))
    exact = float(o.hockey_stick(*o.variation_ratio_pair(n_users, p, beta, q), exp_epsilon))
    found = VariationBound(variation=randomizer, n_users=n_users).delta(epsilon=math.log(exp_epsilon), rtol=1e-10)
    # log and exp of e^epsilon round at 1e-16
    assert o.encloses(found, exact, 1e-14)
    assert found.relative_width <= 2e-11


# -- the parameter object ----------------------------------------------------------------------------------------------


@pytest.mark.quick(24)
@pytest.mark.parametrize("local", [1e-6, 1e-3, 1.0, 20.0])
@pytest.mark.parametrize("share", [1.0, 0.3])
@pytest.mark.parametrize("part", [0.0, 0.2, 0.9, 0.999])
@pytest.mark.parametrize("n", [1, 2, 6])
def test_delta_keeps_its_digits(local, share, part, n):
    """Exact enumeration at the float parameters: local epsilons from 1e-6 to 20, and epsilons up to just below them."""
    beta, epsilon = share * math.tanh(local / 2) * (1 - 2e-16), part * local
    p = o.exp_fraction(local)
    exact = o.hockey_stick(*o.variation_ratio_pair(n, p, F(beta), p), o.exp_fraction(epsilon))
    randomizer = VariationRatio(log_p=local, beta=beta, log_q=local)
    found = VariationBound(variation=randomizer, n_users=n).delta(epsilon=epsilon, rtol=1e-8)
    # beta, r and speak are floats: 1e-15 each
    assert o.encloses(found, exact, 1e-14)
    assert found.relative_width <= 1e-8


def test_no_local_guarantee():
    found = VariationRatio(log_p=math.inf, beta=0.25, log_q=math.log(3))
    assert (found.heads, found.tails, found.left_over) == (0.25, 0.0, 0.75)
    exact = o.hockey_stick(*o.count_pair(6, F(1, 6), F(1, 4), F(0)), F(3, 2))
    interval = VariationBound(variation=found, n_users=7).delta(epsilon=math.log(1.5), rtol=1e-8)
    assert o.encloses(interval, float(exact), 1e-13)


# -- epsilon from delta ------------------------------------------------------------------------------------------------


@pytest.mark.quick(4)
@pytest.mark.parametrize("name", RANDOMIZERS)
@pytest.mark.parametrize(("n", "delta"), [(20, 1e-3), (300, 1e-9), (10_000, 1e-6), (10**8, 1e-10), (10**6, 1e-200)])
def test_epsilon_is_safe_and_close(name, n, delta):
    """The upper end is at most delta there; rtol below, the lower end exceeds it."""
    randomizer, rtol = RANDOMIZERS[name], 1e-6

    def at(epsilon):
        return VariationBound(variation=randomizer, n_users=n).delta(epsilon=epsilon, rtol=1e-7)

    found = VariationBound(variation=randomizer, n_users=n).epsilon(delta=delta, rtol=rtol)
    assert 0 <= found <= randomizer.log_p
    if found == math.inf:
        assert at(300.0).lower > delta
        return
    # the search saw a wider interval at the same point: ends may differ by round-off
    assert at(found).upper <= delta * (1 + 1e-6)
    assert found == 0 or at(found * (1 - 1.05 * rtol)).lower > delta


# -- Algorithm 1 and its table -----------------------------------------------------------------------------------------


def three_digits_up(value):
    """Round up to three significant digits: the table's 0.0440 is 45/1024 = 0.04395."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 2)
    return math.ceil(value / unit) * unit


@pytest.mark.parametrize("local", [1.0, 3.0])
def test_table_5_with_10_iterations(local):
    """All six values come out: multiples of local_epsilon/1024, three digits, rounded up."""
    for n, printed in zip(TABLE_USERS, PRINTED[local, 10], strict=True):
        bound = VariationBound(variation=vr.general(local_epsilon=local), n_users=n)
        steps = bound.bisected_epsilon(delta=0.01 / n, iterations=10) / local * 1024
        assert steps == pytest.approx(round(steps), abs=1e-9)
        assert three_digits_up(steps * local / 1024) == pytest.approx(printed, rel=1e-9)


@pytest.mark.quick("40")
@pytest.mark.parametrize("iterations", [0, 1, 7, 20, 40])
def test_bisection_ends_one_step_above_the_root_at_most(iterations):
    randomizer = vr.randomized_response(local_epsilon=2.0, domain_size=5)
    bound = VariationBound(variation=randomizer, n_users=1000)
    exact = bound.epsilon(delta=1e-5, rtol=1e-8)
    found = bound.bisected_epsilon(delta=1e-5, iterations=iterations)
    assert exact * (1 - 1e-8) <= found <= exact * (1 + 1e-9) + 2.0 / 2**iterations


# -- closed forms: Theorems 4.2 and 4.3 --------------------------------------------------------------------------------


def analytic_by_definition(p, beta, q, n, delta):
    """Compute Theorem 4.2 with 90 digits, in p, beta and q as printed; None where a condition fails."""
    p, beta, q, delta = (MP.mpf(value) for value in (p, beta, q, delta))
    alpha = beta / (p - 1)
    if n == 1:
        return None
    r = alpha * p / q
    log_term = MP.log(4 / delta)
    omega = 2 * r * (n - 1) - MP.sqrt(min(6 * r, MP.mpf(1) / 2) * (n - 1) * log_term)
    left = 1 - alpha - alpha * p
    least = (2 * p * (beta + 1 + (beta - 1) * p) * (n - 1) + beta) / (q + p * (beta - 1 + (beta + 1) * p) - p * q)
    if (p + 1) * alpha / 2 - left * r / (1 - 2 * r) < 0 or omega < max(least, 0):
        return None
    s = MP.sqrt(omega * log_term / 2)
    below = alpha * omega + beta * (omega / 2 - s) + left * (n - 1 - omega) * r / (1 - 2 * r)
    return MP.log(1 + beta * (2 * s + 1) / below)


def asymptotic_by_definition(p, beta, q, n, delta):
    """Compute Theorem 4.3 with 90 digits; None where its condition fails."""
    p, beta, q, delta = (MP.mpf(value) for value in (p, beta, q, delta))
    r = p * beta / ((p - 1) * q)
    if n < 8 * MP.log(2 / delta) * (p - 1) * q / (beta * p):
        return None
    v = max(MP.mpf(0), MP.mpf(4) / 9 * (1 - 3 * r) / (1 - 2 * r))
    root = MP.sqrt(32 * MP.log(4 / delta) / (r * (n - 1))) + 4 / (r * n)
    return MP.log(1 + beta / ((1 - v) * (1 + p) * beta / (p - 1) + v) * root)


@pytest.mark.parametrize(
    ("p", "beta", "q"),
    [
        *[(3, 0.5, 3), (3, 0.2, 3), (3, 0.2, 9), (50, 0.9, 12), (1e9, 0.9, 4), (20, 0.1, 20)],
        # the condition on Omega alone decides: it holds by far, and just fails
        *[(3, 0.49, 30), (3, 0.4, 30)],
    ],
)
@pytest.mark.parametrize("n", [1, 2, 100, 1100, 3000, 10**5, 10**9])
def test_closed_forms_are_the_printed_ones(p, beta, q, n):
    randomizer = VariationRatio(log_p=math.log(p), beta=beta, log_q=math.log(q))
    bound = VariationBound(variation=randomizer, n_users=n)
    for form, definition in (
        (bound.analytic_epsilon, analytic_by_definition),
        (bound.asymptotic_epsilon, asymptotic_by_definition),
    ):
        exact = definition(p, beta, q, n, 1e-6)
        expected = randomizer.log_p if exact is None else float(exact)
        assert form(delta=1e-6) == pytest.approx(expected, rel=1e-11, abs=0)


FORMS = [VariationBound.analytic_epsilon, VariationBound.asymptotic_epsilon]


@pytest.mark.parametrize("form", FORMS)
def test_closed_forms_at_infinite_p_are_the_limit(form):
    ends = [VariationRatio(log_p=math.inf, beta=1.0, log_q=math.log(16))]
    ends += [VariationRatio(log_p=40.0, beta=math.tanh(20.0), log_q=math.log(16))]
    limit, almost = (form(VariationBound(variation=each, n_users=10**6), delta=1e-8) for each in ends)
    assert limit == pytest.approx(almost, rel=1e-12)
    assert form(VariationBound(variation=vr.mix_dump(domain_size=16, flip=0.0), n_users=3), delta=1e-8) == math.inf
