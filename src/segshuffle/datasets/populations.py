"""Populations of users who hold s items each, and how they are made, saved and loaded."""

from __future__ import annotations

import io
import operator
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from segshuffle.datasets._files import read_bounded, write_atomically
from segshuffle.datasets.msnbc import DOMAIN_SIZE, masks_to_matrix
from segshuffle.errors import DataError, ParameterError

#: Items are stored as int16.
MAX_DOMAIN_SIZE = int(np.iinfo(np.int16).max)

Source = Literal["real", "stand-in", "synthetic"]
_SOURCES = ("real", "stand-in", "synthetic")
_MAX_FILE_BYTES = 2**31


@dataclass(frozen=True, eq=False)
class Population:
    """Users who hold s distinct items each; immutable.

    Parameters
    ----------
    items : array_like of int, shape (n_users, set_size)
        The items of each user: integers in [0, domain_size), strictly increasing along each row. Stored as a read-only
        copy of type int16.
    domain_size : int
        Number d of possible items, 1..32767.
    label : str
        Name for figures and tables, not empty.
    source : {"real", "stand-in", "synthetic"}
        What kind of data this is.

    Raises
    ------
    DataError
        If the items are not as described; names the first user (row, from 0) and item in question.
    ParameterError
        If another field is outside its range.
    """

    items: NDArray[np.int16]
    domain_size: int
    label: str
    source: Source

    def __post_init__(self) -> None:
        object.__setattr__(self, "domain_size", checked_integer("domain_size", self.domain_size, 1, MAX_DOMAIN_SIZE))
        if self.source not in _SOURCES:
            raise ParameterError("source", self.source, "one of " + ", ".join(map(repr, _SOURCES)))
        if not isinstance(self.label, str) or not self.label:
            raise ParameterError("label", self.label, "a text that is not empty")
        try:
            items = np.asarray(self.items)
        except ValueError as error:
            raise DataError("items are rows of different lengths; every user must hold the same number.") from error
        _check_items(items, self.domain_size)
        stored = np.array(items, dtype=np.int16, order="C")  # a copy: the caller's array stays the caller's
        stored.setflags(write=False)
        object.__setattr__(self, "items", stored)

    @property
    def n_users(self) -> int:
        """Number n of users."""
        return int(self.items.shape[0])

    @property
    def set_size(self) -> int:
        """Number s of items that each user holds."""
        return int(self.items.shape[1])

    @property
    def item_counts(self) -> NDArray[np.int64]:
        """Number of users who hold each item, shape (domain_size,)."""
        return np.bincount(self.items.ravel(), minlength=self.domain_size).astype(np.int64)

    @property
    def frequencies(self) -> NDArray[np.float64]:
        """Share of users who hold each item, shape (domain_size,); the sum is set_size."""
        return self.item_counts / self.n_users


def _check_items(items: NDArray[np.integer[Any]], domain_size: int) -> None:
    """Refuse items that are no strictly increasing rows of integers in [0, domain_size)."""
    if items.ndim != 2 or 0 in items.shape:
        raise DataError(
            f"items have shape {items.shape}; required is (n_users, set_size), with at least one user and one item."
        )
    if not np.issubdtype(items.dtype, np.integer):
        raise DataError(f"items are of type {items.dtype}; required are integers.")
    if items.shape[1] > domain_size:
        raise DataError(f"each user holds {items.shape[1]} items, but the domain has only {domain_size}.")
    outside = (items < 0) | (items >= domain_size)
    if outside.any():
        user, column = np.argwhere(outside)[0]
        raise DataError(
            f"user {user} holds item {items[user, column]}, outside the domain: allowed are 0..{domain_size - 1}."
        )
    falling = items[:, 1:] <= items[:, :-1]
    if falling.any():
        user, column = np.argwhere(falling)[0]
        first, second = items[user, column], items[user, column + 1]
        what = f"holds item {first} twice" if first == second else f"has item {second} after {first}"
        raise DataError(f"user {user} {what}; the items of a user must be distinct and in increasing order.")


def checked_integer(name: str, value: object, low: int, high: int) -> int:
    """Return a parameter as int if it is an integer in [low, high].

    Parameters
    ----------
    name : str
        Name of the parameter.
    value : object
        What was given.
    low, high : int
        Smallest and largest value allowed.

    Returns
    -------
    int
        The value.

    Raises
    ------
    ParameterError
        Otherwise.
    """
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = low - 1
    if isinstance(value, bool) or not low <= number <= high:
        raise ParameterError(name, value, f"an integer in {low}..{high}")
    return number


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
        Number s of items per user; 1..17 for "in-domain" padding, 1..32750 for "dummy".
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
    largest = DOMAIN_SIZE if padding == "in-domain" else MAX_DOMAIN_SIZE - DOMAIN_SIZE
    set_size = checked_integer("set_size", set_size, 1, largest)
    _check_masks(masks)
    n_users = checked_integer("n_users", n_users, 1, len(masks))
    held = masks_to_matrix(rng.choice(masks, size=n_users, replace=False))
    # Ranking by (not held, random key) puts the user's own categories first, each group in uniformly random order.
    ranking = np.argsort(rng.random(held.shape) + ~held, axis=1)[:, :set_size]
    if padding == "dummy":
        ranking = _with_dummies(ranking, held.sum(axis=1), set_size)
    domain_size = DOMAIN_SIZE if padding == "in-domain" else DOMAIN_SIZE + set_size
    items = np.sort(ranking.astype(np.int16), axis=1)
    return Population(items=items, domain_size=domain_size, label=label, source=source)


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
        Number d of items, 1..32767.
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
    domain_size = checked_integer("domain_size", domain_size, 1, MAX_DOMAIN_SIZE)
    set_size = checked_integer("set_size", set_size, 1, domain_size)
    n_users = checked_integer("n_users", n_users, 1, 2**40)
    items = np.empty((set_size, n_users), dtype=np.int16)  # one row per step, transposed at the end
    for step, last in enumerate(range(domain_size - set_size, domain_size)):
        drawn = rng.integers(0, last, size=n_users, dtype=np.int16, endpoint=True)
        taken = (items[:step] == drawn).any(axis=0)
        items[step] = np.where(taken, np.int16(last), drawn)
    return Population(items=np.sort(items.T, axis=1), domain_size=domain_size, label=label, source="synthetic")


def save_population(path: Path, population: Population) -> None:
    """Write a population to an npz file; the same population gives the same bytes.

    Parameters
    ----------
    path : pathlib.Path
        The file; written under a temporary name first, so that it is whole or not there.
    population : Population
        What to write.

    Raises
    ------
    DataError
        If the file cannot be written.
    """
    buffer = io.BytesIO()
    # savez, not savez_compressed: it stores a fixed date, and no zlib version can change the bytes.
    np.savez(
        buffer,
        items=population.items,
        domain_size=np.int64(population.domain_size),
        label=np.frombuffer(population.label.encode("utf-8", "surrogatepass"), dtype=np.uint8),
        source=np.frombuffer(population.source.encode(), dtype=np.uint8),
    )
    write_atomically(Path(path), buffer.getvalue())


def load_population(path: Path) -> Population:
    """Read a population that `save_population` wrote.

    Parameters
    ----------
    path : pathlib.Path
        The file.

    Returns
    -------
    Population
        The population.

    Raises
    ------
    DataError
        If the file is missing, damaged, or something else.
    """
    path = Path(path)
    content = read_bounded(path, limit=_MAX_FILE_BYTES)
    damage = (zipfile.BadZipFile, zlib.error, ValueError, KeyError, EOFError, OSError, TypeError, MemoryError)
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            items, domain_size = arrays["items"], int(arrays["domain_size"])
            label = arrays["label"].tobytes().decode("utf-8", "surrogatepass")
            source = arrays["source"].tobytes().decode()
        return Population(items=items, domain_size=domain_size, label=label, source=source)
    except (*damage, AttributeError, RuntimeError, NotImplementedError) as error:
        raise DataError(
            f"{path}: not a population saved by this package, or damaged ({error}). Delete the file and make it again."
        ) from error
