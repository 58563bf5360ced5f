"""Users with different numbers of items: the error of padding to s items, and that of sets of at most s.

In both cases a user with more than s items sends a random s of them, which biases the estimates. Padding adds random
items that a user does not hold, which biases them further. All errors are in closed form, against the true frequencies
of all held items.
"""

import math
from collections.abc import Mapping

import numpy as np

from segshuffle.accounting.numerics.ranges import check_integer, check_within
from segshuffle.accounting.numerics.search import safe_edge
from segshuffle.arrays import FloatArray, IntArray
from segshuffle.errors import ParameterError
from segshuffle.protocols.base import Plan, Problem
from segshuffle.protocols.method import variance_sources
from segshuffle.protocols.proven import ProvenSegmented

#: Most items for a guess of sizes: its table has a row per size and a column per item.
_LARGEST_GUESS = 4000


def guessed_holders(shares: Mapping[int, float], domain_size: int, zipf: float) -> tuple[FloatArray, FloatArray]:
    """Return the users by set size, and holders of each item, from a public guess of both.

    Parameters
    ----------
    shares : mapping of int to float
        Size of a set, 0..domain_size - 1 -> share of the users with sets of this size; the sum is 1.
    domain_size : int
        Number of items d, at most 4000.
    zipf : float
        Frequencies are roughly proportional to j^-zipf, j = 1..d: a user with k items holds item j with probability 1 -
        exp(-c j^-zipf), with c such that the expected number is k. 0: all items are equally frequent.

    Returns
    -------
    users : ndarray of float, shape (d + 1,)
        Share of the users with sets of each size.
    holders : ndarray of float, shape (d + 1, d)
        Share of the users who have a set of this size and hold this item.

    Raises
    ------
    ParameterError
        If a number is outside its range.
    """
    check_integer("domain_size", domain_size, 2, most=_LARGEST_GUESS)
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
    """Return shares of the users by item, roughly proportional to j^-zipf, if users hold `size` items on average.

    Parameters
    ----------
    size, domain_size : float, int
        size above 0; all shares are 1 from d on.
    zipf : float
        Exponent, in [0, 10].

    Returns
    -------
    ndarray of float, shape (domain_size,)
        1 - exp(-c j^-zipf), j = 1..d, with c such that the sum is `size`.
    """
    check_within("zipf", zipf, 0, 10)
    if size >= domain_size:
        return np.ones(domain_size)
    popular = np.arange(1, domain_size + 1) ** -zipf

    def excess(scale: float) -> float:
        return float(-np.expm1(-scale * popular).sum()) - size

    # c = e^300 makes users hold everything, c = e^-300 nothing
    scale = safe_edge(excess, safe=math.exp(-300), unsafe=math.exp(300), tolerance=1e-13 * size)
    return np.asarray(-np.expm1(-scale * popular))


def error_of_sets(
    method: ProvenSegmented, problem: Problem, users: IntArray | FloatArray, holders: IntArray | FloatArray
) -> tuple[Plan, float, float]:
    """Plan for the problem's kind of sets, and compute its error for n users like the counted ones.

    Parameters
    ----------
    method : ProvenSegmented
        Makes the plan, and has a closed form of its error.
    problem : Problem
        Number of users n, and size and kind of the sets. With "exactly", users who hold fewer items pad with random
        ones.
    users, holders : ndarray
        Users by the number of items they hold, shape (d + 1,), and how many of them hold each item, shape (d + 1, d).
        Their total may differ from n; only shares are used.

    Returns
    -------
    plan : Plan
    squared_bias : float
        Sum over items of the squared difference between the expected estimate and the true frequency. It does not
        become smaller with more users.
    mse : float
        Expected squared error against the true frequencies, bias included.

    Raises
    ------
    ParameterError
        If the items are not those of the problem.
    """
    d, s, n_users = problem.sizes
    if holders.shape != (d + 1, d):
        raise ParameterError("holders", holders.shape, f"of shape {(d + 1, d)}")
    plan, size = method.plan(problem), np.arange(d + 1)
    kept = np.minimum(1.0, s / np.maximum(size, 1))
    added = np.maximum(s - size, 0) / np.maximum(d - size, 1) * (problem.assumptions.sets == "exactly")
    others = users[:, None] - holders
    sent = (kept @ holders + added @ others) / users.sum()
    missed = sent - holders.sum(axis=0) / users.sum()
    # the frequencies after cutting and padding are random: their variance is an error, and lowers the mean of w (1 - w)
    chance = float(((kept * (1 - kept)) @ holders + (added * (1 - added)) @ others).sum() / users.sum()) / n_users
    mse = method.expected_mse(plan, n_users * sent) + chance * (1 - variance_sources(plan)[2])
    return plan, float(missed @ missed), mse + float(missed @ missed)
