"""Who holds what: users with any number of items each, the items' names, and possibly the users' levels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from segshuffle.arrays import LARGEST_DOMAIN, NO_ITEM, BoolArray, FloatArray, IntArray, Numbers, Table
from segshuffle.datasets.own.layout import MISSING, name_of
from segshuffle.errors import DataError, ParameterError
from segshuffle.numerics.ranges import check_integer, name_of_number
from segshuffle.numerics.typed import is_many, typed

# Entries of users whose sets are cut together, to bound the memory.
_TOGETHER = 2**20
#: Most levels whose numbers fit into an array of levels.
_MOST_LEVELS = 2**15


@dataclass(frozen=True, eq=False)
class Transactions:
    """Users who hold sets of items of any size; immutable.

    Parameters
    ----------
    offsets : ndarray of int64, shape (n_users + 1,)
        User i holds ``codes[offsets[i]:offsets[i + 1]]``.
    codes : ndarray of int32, shape (n_entries,)
        Items, as integers in [0, domain_size), strictly increasing within a user.
    domain_size : int
        Number d of items, 1..10,000,000.
    names : sequence of str, optional
        Name of every item; None: the items are the integers themselves.
    levels : ndarray of int16, shape (n_users,), optional
        Number of each user's level, in the order of the levels on offer.
    label : str
        Name of the data in figures and tables.
    notes : tuple of str
        Sentences on what was counted once, kept or left out when the data were read.
    """

    offsets: IntArray
    codes: Numbers
    domain_size: int
    names: Sequence[str] | None = None
    levels: Numbers | None = None
    label: str = "transactions"
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_integer("domain_size", self.domain_size, 1, most=LARGEST_DOMAIN)
        if not isinstance(self.names, Sequence | None):
            raise ParameterError("names", self.names, "a sequence of names")
        if self.names is not None and len(self.names) != self.domain_size:
            raise ParameterError("names", f"{len(self.names)} names", f"domain_size = {self.domain_size} names")
        for name, part in (("offsets", self.offsets), ("codes", self.codes), ("levels", self.levels)):
            if part is not None or name != "levels":
                if not (isinstance(part, np.ndarray) and part.ndim == 1 and part.dtype.kind in "iu"):
                    raise ParameterError(name, part, "an array of integers, with one axis")
                part.setflags(write=False)
        if self.codes.size != self.offsets[-1] or not ((self.codes >= 0) & (self.codes < self.domain_size)).all():
            raise ParameterError("codes", self.codes, f"{self.offsets[-1]} integers in [0, {self.domain_size})")

    @property
    def n_users(self) -> int:
        """Number n of users."""
        return int(self.offsets.size) - 1

    @property
    def sizes(self) -> IntArray:
        """Number of items that each user holds, shape (n_users,)."""
        return np.diff(self.offsets)

    @property
    def largest_set(self) -> int:
        """Number of items of the user who holds most."""
        return int(self.sizes.max(initial=0))

    @property
    def item_counts(self) -> IntArray:
        """Users who hold each item, shape (domain_size,)."""
        return np.bincount(self.codes, minlength=self.domain_size)

    @property
    def frequencies(self) -> FloatArray:
        """Share of the users that hold each item, shape (domain_size,)."""
        return self.item_counts / self.n_users

    def name(self, code: int) -> str:
        """Return the name of an item."""
        return name_of_number(code, self.names, self.domain_size)

    def level_counts(self, n_levels: int) -> tuple[int, ...] | None:
        """Count the users at each of so many levels; None where the data have no levels."""
        check_integer("n_levels", n_levels, 1, most=_MOST_LEVELS)
        return None if self.levels is None else tuple(np.bincount(self.levels, minlength=n_levels).tolist())

    @typed
    def level_item_counts(self, levels: Numbers, n_levels: int) -> Numbers:
        """Count the users of each level that hold each item, shape (n_levels, domain_size).

        Parameters
        ----------
        levels : ndarray of int, shape (n_users,)
            Number of each user's level.
        n_levels : int
            Number K of levels.
        """
        check_integer("n_levels", n_levels, 1, most=_MOST_LEVELS)
        if levels.shape != (self.n_users,):
            raise ParameterError("levels", levels, f"an array with the level of each of {self.n_users} users")
        held, level_of_entry = np.empty((n_levels, self.domain_size), np.int32), np.repeat(levels, self.sizes)
        for level in range(n_levels):
            held[level] = np.bincount(self.codes.compress(level_of_entry == level), minlength=self.domain_size)
        return held

    @typed
    def cut(self, set_size: int, rng: np.random.Generator) -> Transactions:
        """Keep a uniformly random `set_size` of the items of users who hold more.

        Parameters
        ----------
        set_size : int
            Largest number s of items that anybody keeps, at least 1.
        rng : numpy.random.Generator
            Chooses which.
        """
        check_integer("set_size", set_size, 1, most=LARGEST_DOMAIN)
        if self.largest_set <= set_size:
            return self
        kept = np.zeros(self.codes.size, dtype=bool)
        firsts = np.unique(np.searchsorted(self.offsets, np.arange(0, self.codes.size, _TOGETHER)))
        for first, last in pairwise([*firsts, self.n_users]):
            begins = self.offsets[first : last + 1]
            user = np.repeat(np.arange(last - first), np.diff(begins))
            # the entries of each user in random order, and the place of each in it
            order = np.argsort(user + rng.random(user.size))
            place = np.arange(begins[0], begins[-1]) - begins[user]
            kept[begins[0] + order[place < set_size]] = True
        return replace(self, offsets=_offsets(np.minimum(self.sizes, set_size)), codes=self.codes[kept])

    def take(self, users: Numbers | BoolArray) -> Transactions:
        """Return some of the users: those with these numbers, in this order, or those where a mask is true."""
        allowed = f"an array of numbers below {self.n_users}, or a mask of that length"
        try:
            users = np.atleast_1d(np.arange(self.n_users)[users])
        except (IndexError, ValueError):
            raise ParameterError("users", users, allowed) from None
        if users.ndim != 1:
            raise ParameterError("users", users, allowed)
        sizes = self.sizes[users]
        offsets = _offsets(sizes)
        places = np.arange(offsets[-1]) + np.repeat(self.offsets[users] - offsets[:-1], sizes)
        levels = None if self.levels is None else self.levels[users]
        return replace(self, offsets=offsets, codes=self.codes[places], levels=levels)

    @typed
    def resampled(self, n_users: int, rng: np.random.Generator) -> Transactions:
        """Return so many users, each a uniformly random one of these, as in a collection of another size.

        Parameters
        ----------
        n_users : int
            Number of users, 1..1e8.
        rng : numpy.random.Generator
            Chooses them, with replacement.
        """
        check_integer("n_users", n_users, 1, most=10**8)
        return self.take(rng.integers(self.n_users, size=n_users))

    def rows(self, set_size: int | None = None) -> Numbers:
        """Return one row per user, filled up with `NO_ITEM`, shape (n_users, set_size).

        Parameters
        ----------
        set_size : int, optional
            Width, at least the size of every set; by default the largest.

        Raises
        ------
        ParameterError
            If a user holds more.
        """
        width = max(self.largest_set, 1) if set_size is None else set_size
        check_integer("set_size", width, 0, most=LARGEST_DOMAIN)
        if self.largest_set > width:
            raise ParameterError("set_size", set_size, f"at least {self.largest_set}, which a user holds; cut the sets")
        rows = np.full((self.n_users, width), NO_ITEM, dtype=np.int32)
        rows[np.arange(width) < self.sizes[:, None]] = self.codes
        return rows

    @classmethod
    def from_sets(
        cls,
        sets: Iterable[Iterable[object]],
        items: Iterable[object] | None = None,
        *,
        label: str = "transactions",
    ) -> Transactions:
        """Make users of Python sets or lists of items; `reading.users_of` also takes tables.

        Parameters
        ----------
        sets : iterable of iterables
            The items of each user, which are taken by their text; None and NaN are no item.
        items : sequence of str, optional
            All items. By default those that are held, in alphabetical order. A plan with their number then uses the
            data, and the guarantee does not cover that.
        label : str
            Name of the data.

        Raises
        ------
        DataError
            If a user holds an item twice or one that is not in `items`, or there is no user or no item.
        """
        if isinstance(sets, Table):  # it would be taken column by column
            raise DataError("users are given as a table, which segshuffle.read_transactions reads.")
        held = [list(filter(None, texts(user))) for user in _list_of(sets)]
        names = sorted(set(chain.from_iterable(held))) if items is None else texts(items)
        if items is None and (missing := set(MISSING) & set(names)):
            raise DataError(f"the item {min(missing)!r} looks like a missing value. Give None, or all items in a list.")
        if not held or not names:
            raise DataError("there is no user or no item; give at least one of each.")
        codes = numbered(names)
        for number, user in enumerate(held):
            if len(codes.keys() & user) < len(user):
                wrong = next(item for item in user if item not in codes or user.count(item) > 1)
                raise DataError(
                    f"user {number} (from 0): {wrong!r} is held twice, or is not in items. Give it once, or add it to "
                    "items."
                )
        rows = [sorted(codes[item] for item in user) for user in held]
        flat = np.fromiter(chain.from_iterable(rows), dtype=np.int32)
        return cls(_offsets([len(row) for row in rows]), flat, len(names), names, label=label)


def numbered(names: Sequence[str]) -> dict[str, int]:
    """Give every item of a list its number; refuse a list that names an item twice."""
    codes = {name: code for code, name in enumerate(names)}
    if "" in codes:
        raise DataError(f"entry {codes['']} (from 0) of the list of items has no name; name every item.")
    if len(codes) < len(names):
        [(twice, _)] = Counter(names).most_common(1)
        raise DataError(f"the list of items has {twice!r} twice; name every item once.")
    return codes


def texts(items: Iterable[object]) -> list[str]:
    """Return the names of some items; refuse a single text in place of a list."""
    return list(map(name_of, _list_of(items)))


def _list_of(values: Iterable[Any]) -> Iterable[Any]:
    """Return the values, if they are many; refuse a single text or number in their place."""
    if not is_many(values):
        raise DataError(f"users must be lists, such as [[0, 1], [2]], and items a list, but this is {values!r}.")
    return values


def _offsets(sizes: ArrayLike) -> IntArray:
    """Return where every user's items begin, and where the last one's end."""
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
