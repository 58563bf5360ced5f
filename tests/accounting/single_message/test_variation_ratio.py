"""The published variation-ratio reduction: its parameters, its pair, and that it is no upper bound."""

import math
from fractions import Fraction
from itertools import combinations

import oracles as o
import pytest

from segshuffle.accounting.numerics.ranges import LARGEST_LOCAL_EPSILON
from segshuffle.accounting.single_message.variation_ratio import (
    VariationRatio,
    largest_local_epsilon,
    published_delta,
    subset_exponential,
)

F = Fraction
SHAPES = [(4, 1, 1), (5, 2, 1), (5, 2, 3), (6, 2, 2), (5, 3, 2), (5, 4, 1), (6, 3, 3)]


def worst_total_variation(matrix):
    """Largest total variation between two rows."""
    return max(sum(max(a - b, F(0)) for a, b in zip(x, y, strict=True)) for x, y in combinations(matrix, 2))


@pytest.mark.quick(5)
@pytest.mark.parametrize(("d", "s", "k"), SHAPES)
@pytest.mark.parametrize("gain", [F(3, 2), F(4)])
def test_parameters_of_the_subset_exponential_randomizer(d, s, k, gain):
    """beta is the worst total variation of two inputs, found by enumeration; p and q are read off the matrix too."""
    matrix = o.subset_exponential(d, s, k, gain)
    beta = worst_total_variation(matrix)
    p = max(a / b for column in zip(*matrix, strict=True) for a in column for b in column)
    assert p == gain
    alpha = beta / (p - 1)
    found = subset_exponential(domain_size=d, set_size=s, subset_size=k, local_epsilon=math.log(gain))
    assert found.heads == pytest.approx(float(p * alpha), rel=1e-13, abs=0)
    assert found.tails == pytest.approx(float(alpha), rel=1e-13, abs=0)
    assert found.clone == pytest.approx(float(alpha * p / p), rel=1e-13, abs=0)  # r = alpha p/q, q = p


@pytest.mark.parametrize("n_users", [1, 2, 6])
@pytest.mark.parametrize("exp_epsilon", [F(1), F(5, 4), F(3, 2)])
def test_published_delta_is_the_divergence_of_the_published_pair(n_users, exp_epsilon):
    p, beta, q = F(3), F(1, 4), F(4)
    randomizer = VariationRatio(log_p=math.log(p), beta=float(beta), log_q=math.log(q))
    exact = float(o.hockey_stick(*o.variation_ratio_pair(n_users, p, beta, q), exp_epsilon))
    found = published_delta(randomizer=randomizer, n_users=n_users, epsilon=math.log(exp_epsilon), rtol=1e-10)
    # log and exp of e^epsilon round at 1e-16
    assert found.lower * (1 - 1e-14) <= exact <= found.upper * (1 + 1e-14)
    assert found.relative_width <= 2e-11


# -- calibration -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("d", "s", "k", "n_users", "epsilon"), [(17, 4, 1, 5000, 0.5), (17, 4, 3, 50_000, 1.0), (128, 8, 2, 5000, 0.5)]
)
def test_largest_local_epsilon_is_safe_and_close(d, s, k, n_users, epsilon):
    delta = 0.01 / n_users
    shape = {"domain_size": d, "set_size": s, "subset_size": k}
    local = largest_local_epsilon(**shape, n_users=n_users, epsilon=epsilon, delta=delta)
    assert epsilon < local < LARGEST_LOCAL_EPSILON

    def at(value):
        randomizer = subset_exponential(**shape, local_epsilon=value)
        return published_delta(randomizer=randomizer, n_users=n_users, epsilon=epsilon, rtol=1e-5)

    found = at(local)
    assert found.upper <= delta * (1 + 1e-5)  # the search saw a wider interval
    assert found.lower >= 0.999 * delta
    assert at(1.001 * local).lower > delta


def test_local_epsilon_is_never_below_the_central_one():
    local = largest_local_epsilon(domain_size=17, set_size=4, subset_size=1, n_users=1, epsilon=0.5, delta=1e-12)
    assert local >= 0.5
    assert local == pytest.approx(0.5, rel=1e-4)
