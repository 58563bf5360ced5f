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
from segshuffle.accounting.single_message.variation_ratio_tables import randomized_response
from segshuffle.errors import ParameterError

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


@pytest.mark.parametrize(("d", "s", "k"), [(4, 1, 1), (5, 2, 2), (5, 3, 1)])
def test_subset_exponential_through_the_pair(d, s, k):
    gain, n_users = F(5, 2), 5
    beta = worst_total_variation(o.subset_exponential(d, s, k, gain))
    exact = float(o.hockey_stick(*o.variation_ratio_pair(n_users, gain, beta, gain), F(6, 5)))
    randomizer = subset_exponential(domain_size=d, set_size=s, subset_size=k, local_epsilon=math.log(2.5))
    found = published_delta(randomizer=randomizer, n_users=n_users, epsilon=math.log(1.2), rtol=1e-10)
    assert found.lower * (1 - 1e-13) <= exact <= found.upper * (1 + 1e-13)
    assert found.relative_width <= 1e-10


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    ("k", "n_users", "exp_epsilon", "true", "published"),
    [
        (4, 5, F(8, 5), 0.0585648, 0.0560185),
        (10, 10, F(3, 2), 0.0055649, 0.0049236),
        (10, 30, F(13, 10), 0.0023488, 0.0022839),
    ],
)
def test_published_number_is_not_an_upper_bound(k, n_users, exp_epsilon, true, published):
    """k-RR at e^eps0 = 3, all others hold a third value (math.md section 9): the true divergence is larger.

    This documents why `published_delta` is labelled "published" and never "upper"; it is a property of the reduction,
    not of its evaluation, which the tests above hold to the exact pair.
    """
    exact = o.shuffled_divergence(o.krr(k, F(3)), (0, 1), [2] * (n_users - 1), exp_epsilon)
    randomizer = randomized_response(local_epsilon=math.log(3), domain_size=k)  # beta = 2/(k + 2), p = q = 3
    found = published_delta(randomizer=randomizer, n_users=n_users, epsilon=math.log(exp_epsilon), rtol=1e-6)
    assert float(exact) == pytest.approx(true, abs=5e-8)
    assert found.upper == pytest.approx(published, abs=5e-8)
    assert F(found.upper) < exact


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


SUBSET = {"domain_size": 17, "set_size": 4, "subset_size": 2, "local_epsilon": 1.0}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("domain_size", 1),
        ("set_size", 0),
        ("set_size", 17),
        ("subset_size", 0),
        ("subset_size", 14),
        ("local_epsilon", 0.0),
        ("local_epsilon", 51.0),
        ("local_epsilon", math.nan),
    ],
)
def test_bad_parameters(name, value):
    with pytest.raises(ParameterError, match=f"^{name} = ") as info:
        subset_exponential(**{**SUBSET, name: value})
    assert info.value.name == name
    assert info.value.value is value
