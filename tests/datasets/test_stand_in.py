"""The stand-in has the published marginals, and its law is conditional Poisson."""

import itertools

import numpy as np
import pytest
from scipy import stats

from segshuffle.datasets import msnbc, msnbc_log, stand_in
from segshuffle.errors import ParameterError


@pytest.fixture(scope="module")
def full():
    return stand_in.draw_stand_in(np.random.default_rng(20240901))


def test_full_size_has_exactly_the_published_set_sizes(full):
    assert full.dtype == np.uint32
    assert tuple(np.bincount(msnbc_log.set_sizes(full), minlength=18)[1:]) == msnbc_log.USERS_PER_SET_SIZE


def test_full_size_has_the_published_users_per_category(full):
    published = np.array(msnbc_log.USERS_PER_CATEGORY)
    # Each of at most 17 states per item rounds by less than one user, and earlier roundings pass on: 1 % is generous.
    assert np.abs(msnbc_log.masks_to_matrix(full).sum(axis=0) / published - 1).max() < 0.01


def test_fitted_weights_reproduce_the_published_counts_in_expectation():
    expected = stand_in.expected_users_per_category(stand_in.fitted_weights())
    np.testing.assert_allclose(expected, msnbc_log.USERS_PER_CATEGORY, rtol=1e-11)


def test_expected_counts_agree_with_enumeration_of_all_subsets():
    weights = stand_in.fitted_weights()
    expected = np.zeros(17)
    for size, users in enumerate(msnbc_log.USERS_PER_SET_SIZE, start=1):
        subsets = np.array(list(itertools.combinations(range(17), size)))
        products = weights[subsets].prod(axis=1)
        chance = np.bincount(subsets.ravel(), np.repeat(products / products.sum(), size), minlength=17)
        expected += users * chance
    np.testing.assert_allclose(stand_in.expected_users_per_category(weights), expected, rtol=1e-10)


def test_pairs_follow_the_law_of_conditional_poisson_sampling(full):
    """Among users of two categories, Pr[{i, j}] is proportional to w_i w_j: chi-square, false alarm below 1e-6.

    One of the 136 cells expects 2.5 users, all others more than 6; the roundings of the draw are negligible here.
    """
    weights = stand_in.fitted_weights()
    of_two = full[msnbc_log.set_sizes(full) == 2]
    pairs = list(itertools.combinations(range(17), 2))
    observed = np.array([np.count_nonzero(of_two == (1 << i) + (1 << j)) for i, j in pairs])
    products = np.array([weights[i] * weights[j] for i, j in pairs])
    expected = of_two.size * products / products.sum()
    assert np.sort(expected)[:2].tolist() > [2, 6]
    assert ((observed - expected) ** 2 / expected).sum() < stats.chi2.isf(1e-6, len(pairs) - 1)


def test_users_come_in_random_order(full):
    """The first half holds half of the users of size 1, within 5 standard deviations (false alarm 6e-7)."""
    sizes = msnbc_log.set_sizes(full)
    half, ones = sizes.size // 2, msnbc_log.USERS_PER_SET_SIZE[0]
    law = stats.hypergeom(sizes.size, ones, half)
    assert abs(np.count_nonzero(sizes[:half] == 1) - law.mean()) < 5 * law.std()


@pytest.mark.parametrize("n_sessions", [1, 2, 17, 1000, 12_345])
def test_other_sizes_are_scaled(n_sessions):
    masks = stand_in.draw_stand_in(np.random.default_rng(3), n_sessions)
    assert masks.shape == (n_sessions,)
    assert masks.min() >= 1
    assert masks.max() < 1 << 17
    share = np.array(msnbc_log.USERS_PER_SET_SIZE) * (n_sessions / msnbc.N_SESSIONS)
    assert np.abs(np.bincount(msnbc_log.set_sizes(masks), minlength=18)[1:] - share).max() < 1


def test_same_seed_same_sessions():
    first, second = (stand_in.draw_stand_in(np.random.default_rng(5), 5000) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_no_users_is_refused():
    with pytest.raises(ParameterError, match="n_sessions = 0"):
        stand_in.draw_stand_in(np.random.default_rng(1), 0)
