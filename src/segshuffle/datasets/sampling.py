"""How populations are made: sampled from data and padded, or drawn at random."""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from segshuffle.arrays import NO_ITEM, random_subsets
from segshuffle.datasets.population import Population, Source, item_type
from segshuffle.numerics.ranges import check_integer


def padded_population(
    *,
    data: NDArray[Any],
    domain_size: int,
    n_users: int,
    set_size: int,
    padding: Literal["in-domain", "dummy"],
    rng: np.random.Generator,
    source: Source = "real",
) -> Population:
    """Make every sampled user of some data hold exactly s items.

    Users are sampled without replacement. Of a user with more than s items a uniformly random s-subset is kept. A user
    with fewer is padded:

    - "in-domain": with uniformly random items that the user does not hold; the domain stays as it is.
    - "dummy": the j-th missing item (j = 0, 1, ...) is item domain_size + j. The domain grows by s.

    Parameters
    ----------
    data : numpy.ndarray
        Of bool, shape (n_rows, domain_size): whether each user holds each item. Or of int, shape (n_rows, width): the
        distinct items of each user, filled up with `NO_ITEM`.
    domain_size : int
        Number of items d.
    n_users : int
        Number of users to sample, 1..n_rows.
    set_size : int
        Number s of items per user, at least 1; at most d for "in-domain".
    padding : {"in-domain", "dummy"}
        How users with fewer than s items are padded.
    rng : numpy.random.Generator
        Source of randomness.
    source : {"real", "stand-in", "synthetic"}, optional
        What kind of data these are.

    Returns
    -------
    Population
        With domain_size d ("in-domain") or d + set_size ("dummy").

    Raises
    ------
    ParameterError
        If the data have fewer users.
    """
    check_integer("n_users", n_users, 1, most=len(data))
    rows = data[rng.choice(len(data), size=n_users, replace=False)]
    present = rows if rows.dtype == bool else rows != NO_ITEM
    # own items first, in random order; then, where every item has a column, the others in random order
    order = np.argsort(rng.random(rows.shape) + ~present, axis=1)[:, :set_size]
    kept = np.take_along_axis(rows, order, axis=1)
    if rows.dtype == bool:
        kept = np.where(kept | (padding == "in-domain"), order, NO_ITEM)
    items = np.full((n_users, set_size), NO_ITEM, dtype=np.int64)
    items[:, : order.shape[1]] = kept
    n_held = present.sum(axis=1)
    for place in range(set_size):
        missing = np.flatnonzero(items[:, place] == NO_ITEM)
        if padding == "dummy":
            items[missing, place] = domain_size + place - n_held[missing]
        while padding == "in-domain" and missing.size:
            # drawn again until it is new: uniform over the items that the user does not hold
            drawn = rng.integers(0, domain_size, size=missing.size)
            new = ~(items[missing] == drawn[:, None]).any(axis=1)
            items[missing[new], place] = drawn[new]
            missing = missing[~new]
    total = domain_size + (set_size if padding == "dummy" else 0)
    return Population(items=np.sort(items, axis=1), domain_size=total, source=source)


def uniform_population(*, domain_size: int, set_size: int, n_users: int, rng: np.random.Generator) -> Population:
    """Give every user a uniformly random s-subset of the domain, independently.

    Parameters
    ----------
    domain_size : int
        Number d of items, 1..10,000,000.
    set_size : int
        Number s of items per user, 1..domain_size.
    n_users : int
        Number of users, at least 1.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    Population
        With source "synthetic".
    """
    items = random_subsets(rng, n_users, domain_size, set_size, item_type(domain_size))
    return Population(items=np.sort(items.T, axis=1), domain_size=domain_size, source="synthetic")
