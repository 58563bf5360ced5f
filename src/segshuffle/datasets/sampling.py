"""How populations are made: sampled from the MSNBC log, or drawn at random."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from segshuffle.arrays import LARGEST_DOMAIN, NO_ITEM
from segshuffle.datasets.msnbc import DOMAIN_SIZE
from segshuffle.datasets.msnbc_log import masks_to_matrix
from segshuffle.datasets.population import Population, Source, checked_integer, item_type
from segshuffle.errors import DataError, ParameterError


def msnbc_population(
    masks: NDArray[np.uint32],
    *,
    n_users: int,
    set_size: int,
    padding: Literal["in-domain", "dummy"],
    rng: np.random.Generator,
    label: str = "MSNBC",
    source: Source = "real",
) -> Population:
    """Make every sampled user of the MSNBC log hold exactly s items.

    Users are sampled without replacement. Of a user with more than s categories a uniformly random s-subset is kept.
    A user with fewer, say t missing, is padded:

    - "in-domain": with a uniformly random t-subset of the categories that the user does not hold; the domain stays 17.
    - "dummy": with the items 17, 18, ..., 17 + t - 1, that is, the j-th missing item (j = 0, 1, ...) is item 17 + j.
      The domain is 17 + s; since every user has a category of its own, item 17 + s - 1 is never held.

    Parameters
    ----------
    masks : numpy.ndarray of uint32, shape (n_sessions,)
        Bitmasks as returned by `parse_sessions`: bit c is item c (category c + 1).
    n_users : int
        Number of users to sample, 1..n_sessions.
    set_size : int
        Number s of items per user; 1..17 for "in-domain" padding, 1..9,999,983 for "dummy".
    padding : {"in-domain", "dummy"}
        How users with fewer than s categories are padded.
    rng : numpy.random.Generator
        Source of randomness.
    label : str, optional
        Name for figures and tables.
    source : {"real", "stand-in", "synthetic"}, optional
        What kind of data `masks` are.

    Returns
    -------
    Population
        With domain_size 17 ("in-domain") or 17 + set_size ("dummy").

    Raises
    ------
    ParameterError
        If a parameter is outside its range.
    DataError
        If a mask is zero or has bits beyond the 17 categories.
    """
    if padding not in ("in-domain", "dummy"):
        raise ParameterError("padding", padding, "'in-domain' or 'dummy'")
    largest = DOMAIN_SIZE if padding == "in-domain" else LARGEST_DOMAIN - DOMAIN_SIZE
    set_size = checked_integer("set_size", set_size, 1, largest)
    _check_masks(masks)
    n_users = checked_integer("n_users", n_users, 1, len(masks))
    held = masks_to_matrix(rng.choice(masks, size=n_users, replace=False))
    # Ranking by (not held, random key) puts the user's own categories first, each group in uniformly random order.
    ranking = np.argsort(rng.random(held.shape) + ~held, axis=1)[:, :set_size]
    if padding == "dummy":
        ranking = _with_dummies(ranking, held.sum(axis=1), set_size)
    domain_size = DOMAIN_SIZE if padding == "in-domain" else DOMAIN_SIZE + set_size
    items = np.sort(ranking, axis=1)
    return Population(items=items, domain_size=domain_size, label=label, source=source)


def padded_population(
    rows: NDArray[np.integer[Any]],
    *,
    domain_size: int,
    n_users: int,
    set_size: int,
    padding: Literal["in-domain", "dummy"],
    rng: np.random.Generator,
    label: str,
) -> Population:
    """Make every sampled user of some data hold exactly s items, as `msnbc_population` does.

    Parameters
    ----------
    rows : numpy.ndarray of int, shape (n_rows, width)
        Distinct items of each user, 0..domain_size - 1, filled up with `NO_ITEM`.
    domain_size : int
        Number of items d.
    n_users : int
        Number of users to sample without replacement, 1..n_rows.
    set_size : int
        Number s of items per user, at most d.
    padding : {"in-domain", "dummy"}
        Users with fewer items get uniformly random others, or the j-th missing item is item d + j.
    rng : numpy.random.Generator
        Source of randomness.
    label : str
        Name for figures and tables.

    Returns
    -------
    Population
        With domain_size d ("in-domain") or d + set_size ("dummy").

    Raises
    ------
    ParameterError
        If a parameter is outside its range.
    """
    if padding not in ("in-domain", "dummy"):
        raise ParameterError("padding", padding, "'in-domain' or 'dummy'")
    n_users = checked_integer("n_users", n_users, 1, len(rows))
    set_size = checked_integer("set_size", set_size, 1, domain_size)
    held = rows[rng.choice(len(rows), size=n_users, replace=False)].astype(np.int64)
    # own items first, in random order
    n_held = (held != NO_ITEM).sum(axis=1)
    order = np.argsort(rng.random(held.shape) + (held == NO_ITEM), axis=1)[:, :set_size]
    items = np.full((n_users, set_size), NO_ITEM, dtype=np.int64)
    items[:, : order.shape[1]] = np.take_along_axis(held, order, axis=1)
    for place in range(set_size):
        missing = np.flatnonzero(items[:, place] == NO_ITEM)
        if padding == "dummy":
            items[missing, place] = domain_size + place - n_held[missing]
        while padding == "in-domain" and missing.size:
            # one at a time, drawn again until it is new: uniform over the items that the user does not hold
            drawn = rng.integers(0, domain_size, size=missing.size)
            new = ~(items[missing] == drawn[:, None]).any(axis=1)
            items[missing[new], place] = drawn[new]
            missing = missing[~new]
    total = domain_size + (set_size if padding == "dummy" else 0)
    return Population(items=np.sort(items, axis=1), domain_size=total, label=label, source="real")


def _check_masks(masks: NDArray[np.uint32]) -> None:
    if masks.ndim != 1 or masks.size == 0 or not np.issubdtype(masks.dtype, np.integer):
        raise DataError(
            f"masks have shape {masks.shape} and type {masks.dtype}; required is one integer per user, and one user."
        )
    bad = np.flatnonzero((masks == 0) | (masks >= 1 << DOMAIN_SIZE))
    if bad.size:
        raise DataError(
            f"mask {masks[bad[0]]} of user {bad[0]} is not allowed: with one bit per category visited it is in "
            f"1..{(1 << DOMAIN_SIZE) - 1}."
        )


def _with_dummies(ranking: NDArray[np.intp], n_held: NDArray[np.int64], set_size: int) -> NDArray[np.int64]:
    """Keep the categories that a user holds and fill up with 17, 18, ..."""
    own = np.zeros((ranking.shape[0], set_size), dtype=np.int64)
    own[:, : ranking.shape[1]] = ranking
    missing = np.arange(set_size) - n_held[:, np.newaxis]  # 0 for the first place after the last category held
    return np.where(missing < 0, own, DOMAIN_SIZE + missing)


def uniform_population(
    *, domain_size: int, set_size: int, n_users: int, rng: np.random.Generator, label: str = "synthetic"
) -> Population:
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
    label : str, optional
        Name for figures and tables.

    Returns
    -------
    Population
        With source "synthetic".

    Raises
    ------
    ParameterError
        If a parameter is outside its range.

    Notes
    -----
    Floyd's algorithm, all users at once: exactly uniform, with time and memory independent of the domain.
    """
    domain_size = checked_integer("domain_size", domain_size, 1, LARGEST_DOMAIN)
    set_size = checked_integer("set_size", set_size, 1, domain_size)
    n_users = checked_integer("n_users", n_users, 1, 2**40)
    stored = item_type(domain_size)
    items = np.empty((set_size, n_users), dtype=stored)  # one row per step, transposed at the end
    for step, last in enumerate(range(domain_size - set_size, domain_size)):
        drawn = rng.integers(0, last, size=n_users, dtype=stored, endpoint=True)
        taken = (items[:step] == drawn).any(axis=0)
        items[step] = np.where(taken, stored(last), drawn)
    return Population(items=np.sort(items.T, axis=1), domain_size=domain_size, label=label, source="synthetic")
