"""Exact samplers of any blanket, from its parts: counters of all users at once, or the messages of single users."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from segshuffle.accounting.collections.blankets.base import Part
from segshuffle.accounting.numerics.negative_binomial import size_of
from segshuffle.arrays import IntArray


def drawn_units(part: Part, size: tuple[int, ...], rng: np.random.Generator) -> IntArray:
    """Units of a part per item, independent."""
    if part.p == 0:
        return rng.poisson(part.mean, size=size)
    return rng.negative_binomial(size_of(part.mean, part.p), 1 - part.p, size=size)


def drawn_net(parts: Sequence[Part], size: tuple[int, ...], rng: np.random.Generator) -> IntArray:
    """What the whole blanket adds to the estimate of every item; parts that cancel are not drawn."""
    net = np.zeros(size, dtype=np.int64)
    for part in parts:
        if part.net:
            net += part.net * drawn_units(part, size, rng)
    return net


def drawn_messages(
    part: Part, n_users: int, domain_size: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], IntArray]:
    """Items of a part's units, and how many units each user has.

    `part` is what a single user adds per item; that n of them together add n times its mean is the law of Poisson-many
    clusters. Every user draws a number of clusters, an item and a size for each.

    Parameters
    ----------
    part : Part
        One user's share, per item.
    n_users, domain_size : int
        Users, and items d.
    rng : numpy.random.Generator
        Source of the draws.

    Returns
    -------
    items, units : ndarray of int64, shapes (units,) and (n_users,)
        Users' units one user after another.
    """
    clusters = rng.poisson(domain_size * part.clusters, size=n_users)
    items = rng.integers(domain_size, size=int(clusters.sum()))
    if part.p == 0:
        return items, clusters
    sizes = rng.logseries(part.p, size=items.size)
    users = np.repeat(np.arange(n_users), clusters)
    return np.repeat(items, sizes), np.bincount(users, sizes, minlength=n_users).astype(np.int64)
