"""A population: users who hold s items each. Checked, immutable, saved to and loaded from a file."""

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from segshuffle.arrays import LARGEST_DOMAIN, IntArray, Numbers
from segshuffle.errors import DataError
from segshuffle.files import read_bounded, write_atomically
from segshuffle.numerics.ranges import check_integer

Source = Literal["real", "stand-in", "synthetic"]
_MAX_FILE_BYTES = 2**31


@dataclass(frozen=True, eq=False)
class Population:
    """Users who hold s distinct items each; immutable.

    Parameters
    ----------
    items : array_like of int, shape (n_users, set_size)
        The items of each user: integers in [0, domain_size), strictly increasing along each row. Stored as a read-only
        copy of type int16, or of int32 where the domain has more than 32,767 items.
    domain_size : int
        Number d of possible items, 1..10,000,000.
    source : {"real", "stand-in", "synthetic"}
        What kind of data this is.

    Raises
    ------
    DataError
        If the items are not as described; names the first wrong user (row, from 0) and the user's items.
    ParameterError
        If the domain is too large or too small.
    """

    items: Numbers
    domain_size: int
    source: Source

    def __post_init__(self) -> None:
        check_integer("domain_size", self.domain_size, 1, most=LARGEST_DOMAIN)
        try:
            items = np.asarray(self.items)
        except ValueError as error:
            raise DataError("items are rows of different lengths; every user must hold the same number.") from error
        _check_items(items, self.domain_size)
        # a copy: the caller's array must not become read-only
        stored = np.array(items, dtype=item_type(self.domain_size), order="C")
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
    def item_counts(self) -> IntArray:
        """Number of users who hold each item, shape (domain_size,)."""
        return np.bincount(self.items.ravel(), minlength=self.domain_size)


def item_type(domain_size: int) -> type[np.signedinteger[Any]]:
    """Return the type in which items are stored: int16 where that is enough."""
    return np.int16 if domain_size <= np.iinfo(np.int16).max else np.int32


def _check_items(items: Numbers, domain_size: int) -> None:
    """Refuse items that are no strictly increasing rows of integers in [0, domain_size)."""
    if items.ndim != 2 or 0 in items.shape or not np.issubdtype(items.dtype, np.integer):
        raise DataError(
            f"items have shape {items.shape} and type {items.dtype}; required are integers of shape (n_users, "
            "set_size), with at least one user and one item."
        )
    wrong = ((items < 0) | (items >= domain_size)).any(axis=1) | (items[:, 1:] <= items[:, :-1]).any(axis=1)
    for user in np.flatnonzero(wrong)[:1]:
        raise DataError(
            f"user {user} holds {items[user].tolist()}; required are distinct items in 0..{domain_size - 1}, in "
            "increasing order."
        )


def save_population(path: Path | str, population: Population) -> None:
    """Write a population to an npz file; the same population gives the same bytes.

    Parameters
    ----------
    path : pathlib.Path or str
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
    np.savez(buffer, items=population.items, domain_size=population.domain_size, source=population.source)
    write_atomically(path, buffer.getvalue())


def load_population(path: Path | str) -> Population:
    """Read a population that `save_population` wrote.

    Parameters
    ----------
    path : pathlib.Path or str
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
    content = read_bounded(path, limit=_MAX_FILE_BYTES)
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            source: Any = arrays["source"].item()
            return Population(arrays["items"], int(arrays["domain_size"]), source)
    except Exception as error:  # numpy raises many kinds on damaged bytes
        raise DataError(
            f"{path}: not a population saved by this package, or damaged ({error}). Delete the file and make it again."
        ) from error
