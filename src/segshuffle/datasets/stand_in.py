"""A stand-in for the users of a file, drawn from what is published about them: sizes of sets, and users per item."""

from collections.abc import Sequence

import numpy as np

from segshuffle.arrays import BoolArray, FloatArray, IntArray

#: Rounds in which the weights of the items are fitted, and entries of users drawn in each.
_ROUNDS, _TRIED = 8, 5_000_000


def draw_stand_in(
    users_per_size: Sequence[int], users_per_item: Sequence[float], rng: np.random.Generator
) -> BoolArray:
    """Draw users whose sets have exactly the published sizes, and whose items are about as frequent as published.

    The items of a user are drawn one by one without replacement, by weights that are common to all users. Nothing else
    of the real data is in them.

    Parameters
    ----------
    users_per_size : sequence of int
        Users with 1, 2, ... items.
    users_per_item : sequence of float
        Users who hold each item.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    numpy.ndarray of bool, shape (n_users, n_items)
        Whether a user holds an item; users in random order.
    """
    sizes = rng.permutation(np.repeat(np.arange(1, len(users_per_size) + 1), users_per_size))
    published = np.asarray(users_per_item, dtype=float)
    weights = published
    for _ in range(_ROUNDS):
        tried = rng.choice(sizes, _TRIED // published.size)
        # one more user per item, so that none is at 0
        weights = weights * published / (_drawn(tried, weights, rng).sum(axis=0) * (sizes.size / tried.size) + 1)
    return _drawn(sizes, weights, rng)


def _drawn(sizes: IntArray, weights: FloatArray, rng: np.random.Generator) -> BoolArray:
    """Draw so many items for every user: those with the largest keys, which come without replacement and by weight."""
    keys = np.log(weights) + rng.gumbel(size=(sizes.size, weights.size))
    least = np.take_along_axis(-np.sort(-keys, axis=1), sizes[:, None] - 1, axis=1)
    return keys >= least
