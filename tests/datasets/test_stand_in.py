"""The stand-in has the published marginals, and its law is conditional Poisson."""

import itertools

import numpy as np
import pytest
from scipy import stats

from segshuffle.datasets.msnbc import DOMAIN_SIZE, N_SESSIONS
from segshuffle.datasets.stand_in import (
    USERS_PER_CATEGORY,
    USERS_PER_SET_SIZE,
    draw_stand_in,
    expected_users_per_category,
    fitted_weights,
)


@pytest.fixture(scope="module")
def drawn():
    return draw_stand_in(np.random.default_rng(20240901))


def test_the_published_marginals_agree_with_each_other():
    assert sum(USERS_PER_SET_SIZE) == N_SESSIONS
    assert len(USERS_PER_CATEGORY) == len(USERS_PER_SET_SIZE) == DOMAIN_SIZE
    # both count the pairs (user, distinct category)
    assert sum(size * users for size, users in enumerate(USERS_PER_SET_SIZE, start=1)) == sum(USERS_PER_CATEGORY)


def test_it_has_the_published_marginals(drawn):
    assert tuple(np.bincount(drawn.sum(axis=1), minlength=18)[1:]) == USERS_PER_SET_SIZE
    # Each of at most 17 states per item rounds by less than one user, and earlier roundings pass on: 1 % is generous.
    assert np.abs(drawn.sum(axis=0) / np.array(USERS_PER_CATEGORY) - 1).max() < 0.01


def test_expected_counts_agree_with_enumeration_of_all_subsets():
    weights = np.array(fitted_weights())
    expected = np.zeros(17)
    for size, users in enumerate(USERS_PER_SET_SIZE, start=1):
        subsets = np.array(list(itertools.combinations(range(17), size)))
        products = weights[subsets].prod(axis=1)
        chance = np.bincount(subsets.ravel(), np.repeat(products / products.sum(), size), minlength=17)
        expected += users * chance
    np.testing.assert_allclose(expected_users_per_category(weights), expected, rtol=1e-10)
    np.testing.assert_allclose(expected_users_per_category(weights), USERS_PER_CATEGORY, rtol=1e-11)


def test_pairs_follow_the_law_of_conditional_poisson_sampling(drawn):
    """Among users of two categories, Pr[{i, j}] is proportional to w_i w_j: chi-square, false alarm below 1e-6.

    One of the 136 cells expects 2.5 users, all others more than 5; the roundings of the draw are negligible here.
    """
    weights = fitted_weights()
    of_two = drawn[drawn.sum(axis=1) == 2]
    pairs = list(itertools.combinations(range(17), 2))
    observed = np.array([np.count_nonzero(of_two[:, i] & of_two[:, j]) for i, j in pairs])
    products = np.array([weights[i] * weights[j] for i, j in pairs])
    expected = len(of_two) * products / products.sum()
    least, second = np.sort(expected)[:2]
    assert least > 2
    assert second > 5
    assert ((observed - expected) ** 2 / expected).sum() < stats.chi2.isf(1e-6, len(pairs) - 1)


def test_users_come_in_random_order(drawn):
    """The first half has half of the users with one item, within 5 standard deviations (false alarm 6e-7)."""
    sizes = drawn.sum(axis=1)
    half = sizes.size // 2
    law = stats.hypergeom(sizes.size, USERS_PER_SET_SIZE[0], half)
    assert abs(np.count_nonzero(sizes[:half] == 1) - law.mean()) < 5 * law.std()


def test_same_seed_same_users(drawn):
    assert np.array_equal(drawn, draw_stand_in(np.random.default_rng(20240901)))
