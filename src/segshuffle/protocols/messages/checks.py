"""Refuse a population that the protocol cannot run on, before any message is sent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from segshuffle.arrays import NO_ITEM
from segshuffle.errors import DataError
from segshuffle.protocols.assumptions import SetKind

Integers = NDArray[np.integer[Any]]
_ROWS = 2**18


def checked_items(
    items: ArrayLike | Sequence[Sequence[int]], n_users: int, domain_size: int, set_size: int, sets: SetKind
) -> Integers:
    """Return the items as an array (n_users, set_size), every row distinct items in [0, domain_size).

    Parameters
    ----------
    items : array_like or sequence of sequences
        One row per user.
    n_users, domain_size, set_size : int
        Users, items d, and items that every user must hold.
    sets : {"exactly", "at-most"}
        With "at-most" users may hold fewer: their rows are filled up with `NO_ITEM`.

    Raises
    ------
    DataError
        Names the first user in question (from 0), the value and what is allowed.
    """
    if not isinstance(items, np.ndarray):
        items = _filled(items, set_size, sets)
    found = _checked("items", items, (n_users, set_size), "a row of items")
    for start in range(0, n_users, _ROWS):
        _check_rows(found[start : start + _ROWS], start, domain_size, may_be_empty=sets == "at-most")
    return found


def _filled(rows: Any, set_size: int, sets: SetKind) -> NDArray[Any]:
    """Rows as an array: of equal length, or filled up where sets may be smaller."""
    rows = list(rows)
    for user, row in enumerate(rows):
        if not hasattr(row, "__len__"):
            raise DataError(f"user {user} is {row!r}; every user must be a row of items.")
        if len(row) > set_size or (sets == "exactly" and len(row) < set_size):
            asked = "every user must hold" if sets == "exactly" else "no user may hold more than"
            raise DataError(f"user {user} holds {len(row)} items; {asked} set_size = {set_size}.")
    if sets == "exactly":
        return np.asarray(rows)
    filled = np.full((len(rows), set_size), NO_ITEM, dtype=np.int64)
    for user, row in enumerate(rows):
        if len(row):
            filled[user, : len(row)] = _checked(f"items of user {user}", np.asarray(row), (len(row),), "an item")
    return filled


def _checked(name: str, values: NDArray[Any], shape: tuple[int, ...], what: str, kinds: str = "iu") -> NDArray[Any]:
    if values.shape != shape:
        raise DataError(f"{name} have shape {values.shape}; {what} per user is needed, {shape}.")
    if values.dtype.kind not in kinds:
        first, needed = values.ravel()[:1].tolist(), "integers" if kinds == "iu" else "true or false"
        raise DataError(f"{name} are of type {values.dtype} (the first: {first}); {needed} are needed.")
    return values


def _check_rows(rows: Integers, first_user: int, domain_size: int, *, may_be_empty: bool) -> None:
    empty = (rows == NO_ITEM) & may_be_empty
    outside = ((rows < 0) | (rows >= domain_size)) & ~empty
    if outside.any():
        user, place = np.argwhere(outside)[0]
        raise DataError(
            f"user {first_user + user} holds item {rows[user, place]}; items must be in 0..{domain_size - 1}."
        )
    ordered = np.sort(rows, axis=1)
    repeated = (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] != NO_ITEM)
    if repeated.any():
        user, place = np.argwhere(repeated)[0]
        raise DataError(
            f"user {first_user + user} holds item {ordered[user, place]} twice; "
            f"every user must hold set_size = {rows.shape[1]} different items."
        )


def checked_levels(user_levels: ArrayLike, n_users: int, levels: Sequence[float]) -> Integers:
    """Return each user's level number as an array (n_users,), all in [0, n_levels).

    Raises
    ------
    DataError
        Names the first user in question (from 0), the value and what is allowed.
    """
    name = "user_levels (numbers from 0, not epsilons)"
    chosen = _checked(name, np.asarray(user_levels), (n_users,), "one level number")
    missing = np.flatnonzero((chosen < 0) | (chosen >= len(levels)))
    if missing.size:
        user = missing[0]
        raise DataError(
            f"user {user} chose level {chosen[user]}, which does not exist; levels are numbered "
            f"0..{len(levels) - 1} (epsilon = {', '.join(f'{level:g}' for level in levels)})."
        )
    return chosen


def checked_choice(takes_part: ArrayLike | None, n_users: int) -> NDArray[np.bool_]:
    """Return who takes part as an array of bool (n_users,); None is everybody.

    Raises
    ------
    DataError
        If the shape or the type is another.
    """
    if takes_part is None:
        return np.ones(n_users, dtype=bool)
    return _checked("takes_part", np.asarray(takes_part), (n_users,), "one true or false", "b")
