"""The largest set that users should send, by what it does to the most frequent items of data at hand.

A small set cuts entries off, a large one needs more noise. Sizes are tried from small to large; the error of each is
the mean squared one of the most frequent items, what cutting takes from them included. That looks at the data: it is
for a rehearsal, and for a collection only where these data are not those to be collected.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from segshuffle.arrays import FloatArray, IntArray
from segshuffle.datasets.transactions import Transactions
from segshuffle.errors import InfeasibleError
from segshuffle.planning.question import Answer
from segshuffle.protocols.item_variance import ItemVariance

#: Users that are looked at; they are taken evenly from all.
_MOST_USERS = 200_000
#: Error over the least so far from which on larger sets are not tried: it has one minimum but for whole copies.
_ENOUGH = 1.5


def chosen(users: Transactions, make: Callable[[int], Answer], top: int) -> Answer:
    """Choose the answer of least error among those for set sizes 1, 2, 3, 4, 6, 8, 12, ... up to the largest set.

    Parameters
    ----------
    users : Transactions
        Who holds what.
    make : callable
        Answers for a set size; one that has no plan is left out.
    top : int
        How many of the most frequent items count.

    Raises
    ------
    InfeasibleError
        If no size has a plan: that of the smallest one.
    """
    some = users.take(np.unique(np.linspace(0, users.n_users - 1, min(users.n_users, _MOST_USERS)).astype(np.int64)))
    holders = some.item_counts
    items = np.argsort(-holders, kind="stable")[: min(top, int(np.count_nonzero(holders))) or 1]
    true = holders[items] / some.n_users
    best: tuple[float, Answer] | None = None
    refused: InfeasibleError | None = None
    for size in candidates(max(users.largest_set, 1), users.domain_size):
        try:
            found = make(size)
        except InfeasibleError as error:
            refused = refused or error
            continue
        sent = kept_shares(some, size)[items]
        squared = float(np.mean((sent - true) ** 2 + ItemVariance.of(found.plan).at(sent)))
        if best is None or squared < best[0]:
            best = squared, found
        elif squared > _ENOUGH * best[0]:
            break
    if best is None:
        assert refused is not None
        raise refused
    return best[1]


def candidates(largest: int, domain_size: int) -> list[int]:
    """List the sizes to try: half a doubling apart, and the largest set; below the domain size where possible."""
    steps = {round(2 ** (i / 2)) for i in range(2 * math.ceil(math.log2(largest)) + 1)}
    most = min(largest, max(domain_size - 1, 1))
    return sorted(size for size in steps | {most} if size <= most)


def kept_shares(users: Transactions, set_size: int) -> FloatArray:
    """Return the expected shares of the users who send each item after cutting, shape (domain_size,)."""
    sizes: IntArray = users.sizes
    kept = np.minimum(1.0, set_size / np.maximum(sizes, 1))
    return np.bincount(users.codes, weights=np.repeat(kept, sizes), minlength=users.domain_size) / users.n_users
