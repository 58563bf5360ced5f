"""One part of a table, of any layout, as runs of entries: a run is a user, or a piece of one.

In long form an entry is a row, and neighbouring rows of one user are a run. In wide form a run is a row.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from segshuffle.arrays import IntArray
from segshuffle.errors import DataError

#: Where a row of the part is in its file: "pages.csv, line 17".
Where = Callable[[int], str]
_BLANKS = b" \t\r\n"
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


class Runs(NamedTuple):
    """Users, or pieces of them, with what they hold.

    Parameters
    ----------
    users : ndarray of uint64, shape (n_runs,), or None
        What tells users apart; None: every run is a user of its own.
    sizes : ndarray of int64, shape (n_runs,)
        Entries of each run.
    codes : ndarray of int32, shape (n_entries,)
        Number of an item in `values`; -1 where there is none.
    values : list of str
        The different items of this part, without blanks around them.
    levels : ndarray of int32, shape (n_runs,), or None
        Number of each run's level in `level_values`.
    level_values : list of str
        The different levels of this part.
    by_entry : bool
        Whether every entry is a row of its own; otherwise every run is.
    where : callable
        Names the place of a row.
    """

    users: NDArray[np.uint64] | None
    sizes: IntArray
    codes: NDArray[np.int32]
    values: list[str]
    levels: NDArray[np.int32] | None
    level_values: list[str]
    by_entry: bool
    where: Where

    def place_of(self, entry: int) -> str:
        """Where an entry is."""
        return self.where(entry if self.by_entry else int(np.searchsorted(np.cumsum(self.sizes), entry, side="right")))

    def place_of_run(self, run: int) -> str:
        """Where a run begins."""
        return self.where(int(self.sizes[:run].sum()) if self.by_entry else run)


class Marks:
    """Marks that tell users apart: 64 bits by tabulation hashing, with tables drawn for each reading.

    Two different users get the same mark with probability 2^-64, whatever their names: for 1e7 users any two of them
    are taken for one with probability below 3e-6.
    """

    def __init__(self) -> None:
        # fresh tables: nobody can make names that collide, and nothing but equality is taken from marks
        self._rng = np.random.default_rng()
        self._tables = np.empty((0, 256), dtype=np.uint64)
        self._growing = threading.Lock()

    def of(self, names: pa.Array) -> NDArray[np.uint64]:
        """Mark of every name, given as an array of type binary."""
        offsets = np.frombuffer(names.buffers()[1], dtype=np.int32)[names.offset : names.offset + len(names) + 1]
        offsets = offsets.astype(np.int64)
        content = names.buffers()[2]
        text = np.frombuffer(content, dtype=np.uint8)[offsets[0] : offsets[-1]] if content else np.empty(0, np.uint8)
        starts, lengths = offsets[:-1] - offsets[0], np.diff(offsets)
        longest = int(lengths.max(initial=0))
        tables = self._of_length(longest + 1)
        # the end of a name counts as a character: no name is the beginning of another
        marks: NDArray[np.uint64] = tables[lengths, 0].copy()
        filled = np.flatnonzero(lengths)
        if filled.size:
            place = np.arange(text.size) - np.repeat(starts, lengths)
            marks[filled] ^= np.bitwise_xor.reduceat(tables[place, text], starts[filled])
        return marks

    def _of_length(self, length: int) -> NDArray[np.uint64]:
        with self._growing:
            if length > len(self._tables):
                more = self._rng.integers(0, 2**64, size=(length - len(self._tables), 256), dtype=np.uint64)
                self._tables = np.concatenate([self._tables, more])
            return self._tables


def long_runs(users: Any, items: Any, levels: Any | None, marks: Marks, where: Where) -> Runs:
    """Rows of (user, item), each of a user who holds that item."""
    users, n = as_bytes(users, "user", where), len(items)
    differs = pc.not_equal(users.slice(1), users.slice(0, max(n - 1, 0))).to_numpy(zero_copy_only=False)
    starts = np.concatenate([[0], np.flatnonzero(differs) + 1]).astype(np.int64) if n else np.empty(0, np.int64)
    codes, values = encoded(items, "item", where)
    marked = marks.of(users.take(pa.array(starts)))
    sizes = np.diff(np.append(starts, n))
    chosen, level_values = _levels(levels, where)
    if chosen is not None:
        of_entry = np.repeat(chosen[starts], sizes)
        other = np.flatnonzero(of_entry != chosen)
        if other.size:
            row = int(other[0])
            raise DataError(
                f"{where(row)}: level {level_values[chosen[row]]}, but the same user has {level_values[of_entry[row]]} "
                "on another line. A user has one level: give it on every line of the user."
            )
        chosen = chosen[starts]
    return Runs(marked, sizes, codes, values, chosen, level_values, True, where)


def wide_runs(users: Any | None, items: Any, levels: Any | None, marks: Marks, where: Where) -> Runs:
    """Rows of (user, list of items)."""
    lengths = pc.fill_null(pc.list_value_length(items), 0).to_numpy(zero_copy_only=False).astype(np.int64)
    of_entry = np.repeat(np.arange(len(items)), lengths)
    codes, values = encoded(pc.list_flatten(items), "item", lambda entry: where(int(of_entry[entry])))
    return _rows_as_runs(users, lengths, codes, values, levels, marks, where)


def column_runs(users: Any | None, columns: Sequence[Any], levels: Any | None, marks: Marks, where: Where) -> Runs:
    """Rows of (user, item, item, ...), in as many columns, blank where there is none."""
    codes, values = encoded(
        pa.concat_arrays([as_bytes(each, "item", where, blank=True) for each in columns]), "item", where
    )
    table = codes.reshape(len(columns), -1).T
    return _rows_as_runs(users, (table >= 0).sum(axis=1), table[table >= 0], values, levels, marks, where)


def matrix_runs(
    users: Any | None, columns: Sequence[Any], names: list[str], levels: Any | None, marks: Marks, where: Where
) -> Runs:
    """Rows of (user, 0 or 1 for every item)."""
    held = np.stack([_held(column, name, where) for column, name in zip(columns, names, strict=True)], axis=1)
    codes = np.nonzero(held)[1].astype(np.int32)
    return _rows_as_runs(users, held.sum(axis=1), codes, names, levels, marks, where)


def _rows_as_runs(
    users: Any | None,
    sizes: NDArray[Any],
    codes: NDArray[np.int32],
    values: list[str],
    levels: Any | None,
    marks: Marks,
    where: Where,
) -> Runs:
    marked = None if users is None else marks.of(as_bytes(users, "user", where))
    chosen, level_values = _levels(levels, where)
    return Runs(marked, sizes.astype(np.int64), codes, values, chosen, level_values, False, where)


_YES, _NO = {"1", "true", "yes", "1.0"}, {"0", "false", "no", "", "0.0"}


def _held(column: Any, name: str, where: Where) -> NDArray[np.bool_]:
    codes, values = encoded(as_bytes(column, "item", where, blank=True), name, where)
    kinds = np.array([value.lower() in _YES for value in values] + [False])
    for number, value in enumerate(values):
        if value.lower() not in _YES | _NO:
            row = int(np.flatnonzero(codes == number)[0])
            raise DataError(
                f"{where(row)}: {shown(value)} in column {name!r}; in form matrix a cell says 1 or 0, whether the user "
                "holds that item. If cells are names of items, give form: wide."
            )
    return np.asarray(kinds[codes])


def _levels(levels: Any | None, where: Where) -> tuple[NDArray[np.int32] | None, list[str]]:
    if levels is None:
        return None, []
    codes, values = encoded(levels, "level", where)
    missing = np.flatnonzero(codes < 0)
    if missing.size:
        raise DataError(f"{where(int(missing[0]))}: no level. Every user needs one of the levels on offer.")
    return codes, values


def encoded(column: Any, what: str, where: Where) -> tuple[NDArray[np.int32], list[str]]:
    """Number of every entry's text, -1 for a blank, and the texts, without blanks around them."""
    if not pa.types.is_dictionary(column.type):
        column = as_bytes(column, what, where, blank=True).dictionary_encode()
    numbers = pc.fill_null(column.indices.cast(pa.int32()), -1).to_numpy(zero_copy_only=False)
    entries = as_bytes(column.dictionary, what, where, blank=True).to_pylist()
    texts: dict[str, int] = {}
    translated = np.full(len(entries) + 1, -1, dtype=np.int32)
    for number, entry in enumerate(entries):
        text = _text(entry or b"", what, number, numbers, where)
        if text:
            translated[number] = texts.setdefault(text, len(texts))
    return translated[numbers], list(texts)


def _text(entry: bytes, what: str, number: int, numbers: NDArray[np.int32], where: Where) -> str:
    """Text of an entry; refused if it is none."""
    try:
        text = entry.strip(_BLANKS).decode()
    except UnicodeDecodeError as error:
        row = int(np.flatnonzero(numbers == number)[0])
        raise DataError(
            f"{where(row)}: byte 0x{entry.strip(_BLANKS)[error.start]:02x} in the {what} {shown(entry)} is not UTF-8. "
            "Save the file as UTF-8 (as by iconv -f latin1 -t utf-8)."
        ) from None
    if _CONTROL.search(text):
        row = int(np.flatnonzero(numbers == number)[0])
        raise DataError(
            f"{where(row)}: the {what} {shown(text)} has a character that cannot be shown. Is this a text file, with "
            "the columns that you named?"
        )
    return text


def as_bytes(column: Any, what: str, where: Where, *, blank: bool = False) -> Any:
    """A column of text or integers as type binary; blanks are refused unless they are allowed."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.dictionary_decode(), kind.value_type
    if pa.types.is_floating(kind) and what != "level":
        column = _whole(column, what, where)
    elif pa.types.is_nested(kind):
        raise DataError(f"{where(0)}: the column of the {what} holds {kind}; expected is text or an integer.")
    try:
        column = (
            column.cast(pa.binary())
            if pa.types.is_string(kind) or pa.types.is_binary(kind)
            else (column.cast(pa.string()).cast(pa.binary()))
        )
    except pa.ArrowInvalid as error:
        raise DataError(f"{where(0)}: the {what} cannot be read as text ({error}).") from error
    if not blank:
        empty = pc.or_kleene(pc.is_null(column), pc.equal(column, b"")).to_numpy(zero_copy_only=False)
        if empty.any():
            raise DataError(f"{where(int(np.flatnonzero(empty)[0]))}: no {what}. Give one, or remove the line.")
    return column


def _whole(column: Any, what: str, where: Where) -> Any:
    """Decimal numbers that are integers, as tables make them of integers with gaps."""
    values = column.to_numpy(zero_copy_only=False)
    gap = np.isnan(values)
    wrong = np.flatnonzero(~gap & (values != np.rint(values)) | (np.abs(values) > 2**53))
    if wrong.size:
        row = int(wrong[0])
        raise DataError(
            f"{where(row)}: the {what} {float(values[row])} is a decimal number; expected is text or an integer."
        )
    return pa.array(np.where(gap, 0, values).astype(np.int64), mask=gap)


def shown(value: str | bytes) -> str:
    """A value as messages show it."""
    text = repr(value) if isinstance(value, str) else repr(value)[1:]
    return text if len(text) <= 60 else text[:57] + "...'"
