"""Users with different numbers of items: the error of padding to s items, and that of sets of at most s.

In both cases a user with more than s items sends a random s of them, which biases the estimates. Padding adds random
items that a user does not hold, which biases them further. All errors are in closed form, against the true frequencies
of all held items.
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from segshuffle.arrays import LARGEST_DOMAIN, FloatArray, IntArray
from segshuffle.errors import ParameterError
from segshuffle.numerics.ranges import check_integer, check_within
from segshuffle.numerics.search import safe_edge
from segshuffle.plans.method import variance_sources
from segshuffle.plans.plan import Plan, Problem
from segshuffle.protocols.proven import ProvenSegmented

#: Most entries of a table with a row per size of a set and a column per item.
_MOST_CELLS = 50_000_000


def check_cells(domain_size: int, n_sizes: int) -> None:
    """Refuse a table of sizes and items that does not fit in memory."""
    most = min(LARGEST_DOMAIN, _MOST_CELLS // max(n_sizes, 1))
    check_integer("domain_size", domain_size, 1, f"an integer in [1, {most}] for {n_sizes} sizes of sets", most=most)


class Holders(NamedTuple):
    """Who holds how many items, and which.

    Parameters
    ----------
    sizes : ndarray of int, shape (k,)
        Different numbers of items, in [0, domain_size].
    users : ndarray, shape (k,)
        Users who hold so many items, as a number or a share.
    holders : ndarray, shape (k, domain_size)
        Those of them who hold each item.
    """

    sizes: IntArray
    users: IntArray | FloatArray
    holders: IntArray | FloatArray


def guessed_holders(shares: Mapping[int, float], domain_size: int, zipf: float) -> Holders:
    """Return the holders of each item from a public guess of sizes of sets and of frequencies.

    Parameters
    ----------
    shares : mapping of int to float
        Size of a set, 0..domain_size - 1 -> share of the users with sets of this size; the sum is 1.
    domain_size : int
        Number of items d; at most 5e7, divided by the number of sizes.
    zipf : float
        Frequencies are roughly proportional to j^-zipf, j = 1..d: a user with k items holds item j with probability 1 -
        exp(-c j^-zipf), with c such that the expected number is k. 0: all items are equally frequent.

    Raises
    ------
    ParameterError
        If a number is outside its range.
    """
    check_integer("domain_size", domain_size, 2)
    check_cells(domain_size, len(shares))
    if not all(0 <= size < domain_size and share >= 0.0 for size, share in shares.items()):
        raise ParameterError("guess", dict(shares), f"shares >= 0 of sizes in 0..{domain_size - 1}")
    if abs(sum(shares.values()) - 1.0) > 1e-9:
        raise ParameterError("guess", dict(shares), "shares that add up to 1")
    holders = np.zeros((len(shares), domain_size))
    for row, (size, share) in enumerate(shares.items()):
        if size and share:
            holders[row] = share * zipf_shares(size, domain_size, zipf)
    return Holders(np.array([*shares], dtype=np.int64), np.array([*shares.values()]), holders)


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


def error_of_sets(method: ProvenSegmented, problem: Problem, holders: Holders) -> tuple[Plan, float, float]:
    """Plan for the problem's kind of sets, and compute its error for n users like the counted ones.

    Parameters
    ----------
    method : ProvenSegmented
        Makes the plan, and has a closed form of its error.
    problem : Problem
        Number of users n, and size and kind of the sets. With "exactly", users who hold fewer items pad with random
        ones.
    holders : Holders
        Who holds what. The number of these users may differ from n; only shares are used.

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
    size, users, item_counts = holders
    if item_counts.shape != (size.size, d):
        raise ParameterError("holders", item_counts.shape, f"of shape {(size.size, d)}")
    plan, all_users = method.plan(problem), float(users.sum())
    kept = np.minimum(1.0, s / np.maximum(size, 1))
    added = np.maximum(s - size, 0) / np.maximum(d - size, 1) * (problem.assumptions.sets == "exactly")
    sent, chance = np.zeros(d), 0.0
    # size by size, because all sizes together may be as many numbers as the memory holds
    for keeps, adds, of_size, holding in zip(kept, added, users, item_counts, strict=True):
        others = of_size - holding
        sent += (keeps * holding + adds * others) / all_users
        chance += float((keeps * (1 - keeps) * holding + adds * (1 - adds) * others).sum()) / all_users / n_users
    missed = sent - item_counts.sum(axis=0) / all_users
    # the frequencies after cutting and padding are random: their variance is an error, and lowers the mean of w (1 - w)
    mse = method.expected_mse(plan, n_users * sent) + chance * (1 - variance_sources(plan)[2])
    return plan, float(missed @ missed), mse + float(missed @ missed)
