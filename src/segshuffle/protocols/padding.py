"""Where users hold different numbers of items: the error of padding to s items against that of at most s.

Both truncate whoever holds more than s (a random subset of s items), which biases the estimates; padding adds random
items that the user does not hold, which biases them again. All of it is in closed form, counted against the true
frequencies of all items held.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from segshuffle.accounting.numerics.ranges import check_integer, check_within
from segshuffle.arrays import FloatArray, IntArray
from segshuffle.errors import ParameterError
from segshuffle.protocols.assumptions import SetKind
from segshuffle.protocols.base import Plan, Problem
from segshuffle.protocols.method import variance_sources
from segshuffle.protocols.proven import ProvenSegmented

#: Most items for which sizes are guessed: a table has a row per size and a column per item.
_LARGEST_GUESS = 4000


@dataclass(frozen=True)
class SetSizeError:
    """Error of one way to treat users who hold different numbers of items.

    Parameters
    ----------
    sets : {"exactly", "at-most"}
        "exactly": users pad with random items that they do not hold.
    plan : Plan
        The plan, whose problem has the size s.
    squared_bias : float
        Sum over items of the squared difference between what is estimated and the true frequency: no number of users
        removes it.
    mse : float
        Expected squared error against the true frequencies, bias included.
    """

    sets: SetKind
    plan: Plan
    squared_bias: float
    mse: float


def holders_by_size(matrix: np.ndarray) -> tuple[IntArray, IntArray]:
    """Users by the number of items they hold, shape (d + 1,), and how many of them hold each item, shape (d + 1, d).

    Parameters
    ----------
    matrix : ndarray of bool, shape (n_users, domain_size)
        Who holds what.
    """
    sizes = matrix.sum(axis=1)
    users = np.bincount(sizes, minlength=matrix.shape[1] + 1)
    holders = np.stack([matrix[sizes == size].sum(axis=0) for size in range(matrix.shape[1] + 1)])
    return users.astype(np.int64), holders.astype(np.int64)


def guessed_holders(shares: Mapping[int, float], domain_size: int, zipf: float) -> tuple[FloatArray, FloatArray]:
    """Users by set size, and holders of each item, for a guess of both: public, where the data may not be looked at.

    Parameters
    ----------
    shares : mapping of int to float
        Size of a set, 0..domain_size - 1, and the share of the users who hold so many; the sum is 1.
    domain_size : int
        Number of items d, at most 4000.
    zipf : float
        Items are held as often as j^-zipf says, j = 1..d: a user of size k holds item j with probability
        1 - exp(-c j^-zipf), with the c that makes k items of it. 0: all items are equally frequent.

    Returns
    -------
    users : ndarray of float, shape (d + 1,)
        Of one user.
    holders : ndarray of float, shape (d + 1, d)

    Raises
    ------
    ParameterError
        If a number is outside its range.
    """
    check_integer("domain_size", domain_size, 2, most=_LARGEST_GUESS)
    check_within("zipf", zipf, 0, 10)
    if not all(0 <= size < domain_size and share >= 0.0 for size, share in shares.items()):
        raise ParameterError("guess", dict(shares), f"shares >= 0 of sizes in 0..{domain_size - 1}")
    if abs(sum(shares.values()) - 1.0) > 1e-9:
        raise ParameterError("guess", dict(shares), "shares that add up to 1")
    users, holders = np.zeros(domain_size + 1), np.zeros((domain_size + 1, domain_size))
    for size, share in shares.items():
        users[size] = share
        if size and share:
            holders[size] = share * zipf_shares(size, domain_size, zipf)
    return users, holders


def zipf_shares(size: float, domain_size: int, zipf: float) -> FloatArray:
    """Shares of the users who hold each item, as frequent as j^-zipf says, where users hold `size` items on average.

    Parameters
    ----------
    size, domain_size : float, int
        0 < size < domain_size.
    zipf : float
        Exponent, in [0, 10].

    Returns
    -------
    ndarray of float, shape (domain_size,)
        1 - exp(-c j^-zipf), j = 1..d, with the c that makes the sum `size`.
    """
    check_within("zipf", zipf, 0, 10)
    if size >= domain_size:
        return np.ones(domain_size)
    popular = np.arange(1, domain_size + 1) ** -zipf

    def excess(log_scale: float) -> float:
        return float(-np.expm1(-math.exp(log_scale) * popular).sum()) - size

    from scipy import optimize  # a fifth of a second of every job's start

    # by c = e^300 everything is held, by e^-300 nothing
    scale = math.exp(float(optimize.brentq(excess, -300.0, 300.0, xtol=1e-12)))
    return np.asarray(-np.expm1(-scale * popular))


def sent_frequencies(
    users: IntArray | FloatArray, holders: IntArray | FloatArray, set_size: int, sets: SetKind
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return true frequencies, expected ones after truncation (and padding), and n times the variance of the latter.

    Parameters
    ----------
    users, holders : ndarray of int, shapes (d + 1,) and (d + 1, d)
        As from `holders_by_size`.
    set_size : int
        Largest number of items s that anybody sends.
    sets : {"exactly", "at-most"}
        With "exactly", whoever holds fewer pads.

    Returns
    -------
    tuple of ndarray, each of shape (d,)
    """
    d = holders.shape[1]
    n_users, size = float(users.sum()), np.arange(d + 1)
    kept = np.minimum(1.0, set_size / np.maximum(size, 1))
    added = np.maximum(set_size - size, 0) / np.maximum(d - size, 1) * (sets == "exactly")
    others = users[:, None] - holders
    expected = (kept @ holders + added @ others) / n_users
    variance = ((kept * (1 - kept)) @ holders + (added * (1 - added)) @ others) / n_users
    return holders.sum(axis=0) / n_users, expected, variance


def error_of_sets(
    method: ProvenSegmented, problem: Problem, users: IntArray | FloatArray, holders: IntArray | FloatArray
) -> SetSizeError:
    """Plan for the problem's kind of sets, and its error on a sample of n users like those counted.

    Parameters
    ----------
    method : ProvenSegmented
        Plans, and knows its error.
    problem : Problem
        With the number of users n of the sample, and the size and kind of sets.
    users, holders : ndarray of int
        As from `holders_by_size`; they may be of another number of users, of whom the sample has the same shares.

    Raises
    ------
    ParameterError
        If the items are not those of the problem.
    """
    if holders.shape != (problem.domain_size + 1, problem.domain_size):
        raise ParameterError("holders", holders.shape, f"of shape {(problem.domain_size + 1, problem.domain_size)}")
    plan, n_users = method.plan(problem), problem.n_users
    sets = problem.assumptions.sets
    true, expected, variance = sent_frequencies(users, holders, problem.set_size, sets)
    squared_bias = float((expected - true) @ (expected - true))
    _, _, spread = variance_sources(plan)
    # the frequencies that are sent vary by chance: they miss their expectation, and w (1 - w) loses their variance
    mse = method.expected_mse(plan, n_users * expected) + float(variance.sum()) / n_users * (1 - spread)
    return SetSizeError(sets, plan, squared_bias, mse + squared_bias)
