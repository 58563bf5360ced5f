"""A stand-in for the MSNBC log, drawn from its two published marginals.

When the real file cannot be had, sessions are drawn such that the number of users per set size is the published one,
and the number of users per category is the published one up to rounding. Given its size k, a user's set has a
probability proportional to the product of one weight per category (conditional Poisson sampling), with one common
vector of weights for all k. Nothing else of the real data is in it: no correlation between categories beyond what the
two marginals imply, no dependence of the weights on the set size, no order of visits.
"""

import numpy as np
from numpy.typing import NDArray

from segshuffle.arrays import FloatArray
from segshuffle.datasets.msnbc import DOMAIN_SIZE, N_SESSIONS

#: Number of users of the log with 1, 2, ..., 17 distinct categories.
USERS_PER_SET_SIZE: tuple[int, ...] = (
    *(601_384, 214_392, 94_711, 43_321, 19_692, 8_902, 4_008, 1_688, 737),
    *(297, 142, 238, 143, 74, 67, 9, 13),
)
#: Number of users of the log who visited category 1 (frontpage), 2 (news), ..., 17 (travel) at least once.
USERS_PER_CATEGORY: tuple[int, ...] = (
    *(313_181, 175_286, 121_948, 121_719, 24_987, 217_101, 80_514, 95_615, 90_192),
    *(50_606, 57_597, 112_183, 76_948, 119_138, 29_200, 2_082, 11_006),
)


def draw_stand_in(rng: np.random.Generator) -> NDArray[np.bool_]:
    """Draw users with the published marginals of the MSNBC log.

    Each user's set follows the conditional Poisson law of the module's docstring exactly. Users are not independent of
    each other: among the users in the same state of the sequential draw, the number who take the next category is its
    expectation, rounded up or down at random. That keeps the counts of the rare categories close to the published ones.

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    numpy.ndarray of bool, shape (989818, 17)
        Whether a user visited a category, as `msnbc.LOG.rows` returns it, in random order. The numbers of users per
        set size are exactly the published ones.
    """
    sizes = np.repeat(np.arange(1, DOMAIN_SIZE + 1), USERS_PER_SET_SIZE)
    order = rng.permutation(N_SESSIONS)  # without it users would come sorted by size
    remaining = [order[sizes == needed] for needed in range(DOMAIN_SIZE + 1)]
    held = np.zeros((N_SESSIONS, DOMAIN_SIZE), dtype=np.bool_)
    take = _take_probabilities(fitted_weights())
    for item in range(DOMAIN_SIZE):
        remaining = _visit_item(remaining, take[item], held[:, item], rng)
    return held


def _visit_item(
    remaining: list[NDArray[np.int64]], take: FloatArray, takers: NDArray[np.bool_], rng: np.random.Generator
) -> list[NDArray[np.int64]]:
    """Decide for one item which users take it; `remaining[r]` are the users who still need r items."""
    waiting, taking = [remaining[0]], []
    for r, users in enumerate(remaining[1:], start=1):
        # Clipped: rounding may push a probability of 1 an ulp above 1, so too many users could take the item.
        n_taking = min(users.size, int(users.size * take[r] + rng.random()))
        rng.shuffle(users)
        takers[users[:n_taking]] = True
        taking.append(users[:n_taking])
        waiting.append(users[n_taking:])
    return [*map(np.concatenate, zip(waiting, taking, strict=False)), waiting[-1]]


def fitted_weights() -> FloatArray:
    """Fit the weights of the 17 categories so that the expected users per category are the published ones.

    Returns
    -------
    numpy.ndarray of float64, shape (17,)
        Positive weights with geometric mean 1, by iterative proportional fitting.
    """
    target = np.array(USERS_PER_CATEGORY, dtype=np.float64)
    weights: FloatArray = target / target.mean()
    for _ in range(1000):
        current = expected_users_per_category(weights)
        weights = weights * (target / current)
        weights /= np.exp(np.log(weights).mean())  # the scale of the weights is free
        if np.abs(current / target - 1.0).max() < 1e-12:
            break
    return weights


def expected_users_per_category(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute the expected number of users per category under conditional Poisson sampling.

    Parameters
    ----------
    weights : numpy.ndarray of float64, shape (17,)
        Positive weights of the categories.

    Returns
    -------
    numpy.ndarray of float64, shape (17,)
        ``sum_k N_k pi_j(k)`` with the published users per set size ``N_k`` and the inclusion probabilities
        ``pi_j(k) = w_j e_{k-1}(w without j) / e_k(w)``, where ``e_k`` is the elementary symmetric polynomial.
    """
    n_by_size = np.array(USERS_PER_SET_SIZE, dtype=np.float64)
    # np.poly(-w) are the elementary symmetric polynomials of degree 0, 1, ... Recomputed without j instead of divided
    # out: the division subtracts and loses digits.
    without = np.array([np.poly(-np.delete(weights, j)) for j in range(DOMAIN_SIZE)])
    return np.asarray(weights * (without @ (n_by_size / np.poly(-weights)[1:])))


def _take_probabilities(weights: FloatArray) -> FloatArray:
    """Return Pr[item j is taken | r items are still needed from j..16], shape (17, 18)."""
    take = np.zeros((DOMAIN_SIZE, DOMAIN_SIZE + 1))
    for j in range(DOMAIN_SIZE):
        take[j, 1 : DOMAIN_SIZE - j + 1] = weights[j] * np.poly(-weights[j + 1 :]) / np.poly(-weights[j:])[1:]
    return take
