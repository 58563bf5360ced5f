"""A stand-in for the MSNBC log, drawn from its two published marginals.

When the real file cannot be had, sessions are drawn such that the number of users per set size is the published one,
and the number of users per category is the published one up to rounding. Given its size k, a user's set has a
probability proportional to the product of one weight per category (conditional Poisson sampling), with one common
vector of weights for all k. Nothing else of the real data is in it: no correlation between categories beyond what the
two marginals imply, no dependence of the weights on the set size, no order of visits.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from segshuffle.arrays import FloatArray
from segshuffle.datasets.msnbc import DOMAIN_SIZE, N_SESSIONS
from segshuffle.datasets.msnbc_log import USERS_PER_CATEGORY, USERS_PER_SET_SIZE
from segshuffle.errors import ParameterError


def draw_stand_in(rng: np.random.Generator, n_sessions: int = N_SESSIONS) -> NDArray[np.uint32]:
    """Draw sessions with the published marginals of the MSNBC log.

    Each user's set follows the conditional Poisson law of the module's docstring exactly. Users are not independent of
    each other: among the users in the same state of the sequential draw, the number who take the next category is its
    expectation, rounded up or down at random. That keeps the counts of the rare categories close to the published ones.

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of randomness.
    n_sessions : int, optional
        Number of users, at least 1. For the default the users per set size are exactly the published ones; for other
        numbers they are scaled and rounded by largest remainders.

    Returns
    -------
    numpy.ndarray of uint32, shape (n_sessions,)
        Bitmasks as returned by `segshuffle.datasets.msnbc_log.parse_sessions`, in random order.

    Raises
    ------
    ParameterError
        If `n_sessions` is less than 1.
    """
    if n_sessions < 1:
        raise ParameterError("n_sessions", n_sessions, "an integer of at least 1")
    sizes = np.repeat(np.arange(1, DOMAIN_SIZE + 1), _scaled(USERS_PER_SET_SIZE, n_sessions))
    order = rng.permutation(n_sessions)  # without it users would come sorted by size
    remaining = [order[sizes == r] for r in range(DOMAIN_SIZE + 1)]
    masks = np.zeros(n_sessions, dtype=np.uint32)
    take = _take_probabilities(fitted_weights())
    for item in range(DOMAIN_SIZE):
        remaining = _visit_item(remaining, take[item], np.uint32(1 << item), masks, rng)
    return masks


def _visit_item(
    remaining: list[NDArray[np.int64]],
    take: FloatArray,
    bit: np.uint32,
    masks: NDArray[np.uint32],
    rng: np.random.Generator,
) -> list[NDArray[np.int64]]:
    """Decide for one item which users take it; `remaining[r]` are the users who still need r items."""
    following: list[list[NDArray[np.int64]]] = [[users] if r == 0 else [] for r, users in enumerate(remaining)]
    for r in range(1, DOMAIN_SIZE + 1):
        users = remaining[r]
        # Clipped: rounding may push a certain event an ulp beyond 1, and floor(M + U) must stay M then.
        n_taking = min(users.size, int(users.size * take[r] + rng.random()))
        rng.shuffle(users)
        masks[users[:n_taking]] |= bit
        following[r - 1].append(users[:n_taking])
        following[r].append(users[n_taking:])
    return [np.concatenate(parts) for parts in following]


def _scaled(counts: Sequence[int], total: int) -> NDArray[np.int64]:
    """Scale counts to a new total by largest remainders; the identity if the total is the old one."""
    old_total = sum(counts)
    # Integers throughout: a float share of the old total need not give the old counts back.
    floors = np.array([count * total // old_total for count in counts], dtype=np.int64)
    remainders = np.array([count * total % old_total for count in counts], dtype=np.int64)
    floors[np.argsort(-remainders, kind="stable")[: total - int(floors.sum())]] += 1
    return floors


@functools.cache
def _fitted() -> tuple[float, ...]:
    """Fit the weights by iterative proportional fitting, once per process."""
    target = np.array(USERS_PER_CATEGORY, dtype=np.float64)
    weights = target / target.mean()
    for _ in range(1000):
        current = expected_users_per_category(weights)
        weights = weights * (target / current)
        weights /= np.exp(np.log(weights).mean())  # the scale of the weights is free
        if np.abs(current / target - 1.0).max() < 1e-12:
            break
    return tuple(float(weight) for weight in weights)


def fitted_weights() -> NDArray[np.float64]:
    """Return the weights of the categories that reproduce the published users per category in expectation.

    Returns
    -------
    numpy.ndarray of float64, shape (17,)
        Positive weights with geometric mean 1, in the order of `CATEGORIES`.
    """
    return np.array(_fitted())


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
    whole = _symmetric_polynomials(weights)[1:]
    # Recomputed without j instead of divided out: the division subtracts and loses digits.
    without = [_symmetric_polynomials(np.delete(weights, j))[:DOMAIN_SIZE] for j in range(DOMAIN_SIZE)]
    return weights * (np.array(without) @ (n_by_size / whole))


def _symmetric_polynomials(weights: FloatArray) -> FloatArray:
    """Return the elementary symmetric polynomials of degree 0..17."""
    polynomials = np.zeros(DOMAIN_SIZE + 1)
    polynomials[0] = 1.0
    for weight in weights:
        polynomials[1:] += weight * polynomials[:-1]
    return polynomials


def _take_probabilities(weights: FloatArray) -> FloatArray:
    """Return Pr[item j is taken | r items are still needed from j..17], shape (17, 18)."""
    take = np.zeros((DOMAIN_SIZE, DOMAIN_SIZE + 1))
    for j in range(DOMAIN_SIZE):
        here, later = _symmetric_polynomials(weights[j:]), _symmetric_polynomials(weights[j + 1 :])
        reachable = slice(1, DOMAIN_SIZE - j + 1)
        take[j, reachable] = weights[j] * later[: DOMAIN_SIZE - j] / here[reachable]
    return take
