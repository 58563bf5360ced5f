"""Theorems 4.2 and 4.3: the printed formulas and conditions, and that they are above the exact value."""

import math

import pytest
from oracles import MP

from segshuffle.accounting.single_message import variation_ratio_tables as vr
from segshuffle.accounting.single_message.variation_ratio import (
    VariationRatio,
    analytic_epsilon,
    asymptotic_epsilon,
    published_epsilon,
)

RANDOMIZERS = {
    "general 1": vr.general(local_epsilon=1.0),
    "general 5": vr.general(local_epsilon=5.0),
    "10-RR": vr.randomized_response(local_epsilon=2.0, domain_size=10),
    "laplace": vr.laplace(local_epsilon=1.0),
    "metric": vr.metric_laplace(distance=1.0, largest_distance=4.0),
    "bins": vr.balls_into_bins(domain_size=16),
    "one-hot": vr.flipped_one_hot(flip=0.2),
    "tiny": vr.general(local_epsilon=1e-6),
}


def analytic_by_definition(p, beta, q, n, delta):
    """Theorem 4.2 with 90 digits, in p, beta and q as printed; None where a condition fails."""
    p, beta, q, delta = (MP.mpf(value) for value in (p, beta, q, delta))
    alpha = beta / (p - 1)
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
    """Theorem 4.3 with 90 digits; None where its condition fails."""
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
@pytest.mark.parametrize("n", [2, 100, 3000, 10**5, 10**9])
def test_closed_forms_are_the_printed_ones(p, beta, q, n):
    randomizer = VariationRatio(log_p=math.log(p), beta=beta, log_q=math.log(q))
    for function, definition in (
        (analytic_epsilon, analytic_by_definition),
        (asymptotic_epsilon, asymptotic_by_definition),
    ):
        exact = definition(p, beta, q, n, 1e-6)
        expected = randomizer.log_p if exact is None else float(exact)
        assert function(randomizer=randomizer, n_users=n, delta=1e-6) == pytest.approx(expected, rel=1e-11, abs=0)


@pytest.mark.parametrize("name", RANDOMIZERS)
@pytest.mark.parametrize("n", [10**3, 10**5, 10**8])
def test_closed_forms_are_above_the_numerical_epsilon(name, n):
    arguments = {"randomizer": RANDOMIZERS[name], "n_users": n, "delta": 0.01 / n}
    exact = published_epsilon(**arguments, rtol=1e-4)
    assert exact * (1 - 1e-4) <= min(analytic_epsilon(**arguments), asymptotic_epsilon(**arguments))


@pytest.mark.parametrize("function", [analytic_epsilon, asymptotic_epsilon])
def test_closed_forms_at_infinite_p_are_the_limit(function):
    arguments = {"n_users": 10**6, "delta": 1e-8}
    limit = function(randomizer=VariationRatio(log_p=math.inf, beta=1.0, log_q=math.log(16)), **arguments)
    almost = VariationRatio(log_p=40.0, beta=math.tanh(20.0), log_q=math.log(16))
    assert limit == pytest.approx(function(randomizer=almost, **arguments), rel=1e-12)
    assert function(randomizer=vr.pure_dump(domain_size=16), n_users=3, delta=1e-8) == math.inf


@pytest.mark.parametrize("function", [analytic_epsilon, asymptotic_epsilon])
def test_closed_forms_say_the_local_epsilon_where_they_say_nothing(function):
    assert function(randomizer=vr.general(local_epsilon=1.0), n_users=1, delta=1e-3) == 1.0
    assert function(randomizer=vr.general(local_epsilon=1.0), n_users=10, delta=1e-3) == 1.0
