"""The door for data of one's own: a file, standard input or a table in memory becomes `Transactions`.

Memory: 4 bytes an entry and 16 a user, and twice the entries once at the end; besides a few blocks of text. Files
whose users come back after others (not sorted by user) take 16 bytes an entry more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from segshuffle.arrays import LARGEST_DOMAIN, IntArray
from segshuffle.datasets.files.rows import Runs, shown
from segshuffle.datasets.files.streams import Source
from segshuffle.datasets.files.tables import runs_of, table_runs
from segshuffle.datasets.layout import Layout
from segshuffle.datasets.population import checked_integer
from segshuffle.datasets.transactions import Transactions
from segshuffle.errors import DataError, ParameterError

#: Called with the number of rows so far, and the share of the file that is read, where that is known.
Progress = Callable[[int, float | None], object]
# entries that are sorted at a time
_PART = 2**21
_NONE = 0xFFFFFFFF


def read_transactions(
    data: Any,
    *,
    items: Sequence[str] | Path | None = None,
    domain_size: int | None = None,
    levels: Sequence[float] = (),
    layout: Layout | None = None,
    label: str | None = None,
    progress: Progress = lambda rows, share: None,
) -> Transactions:
    """Read users and what they hold.

    Parameters
    ----------
    data : path, binary stream, or table
        A file in any format of `Layout`, plain or packed by gzip or zstd; "-" is standard input. Or a table in memory:
        of Arrow, pandas, or any library that offers Arrow's C stream.
    items : sequence of str or Path, optional
        All items that there are: a public list, or a file with one per line. Without it and without `domain_size` the
        items are those found in the data, in alphabetical order (in that of numbers if all are integers): that
        is not private, and a note says so.
    domain_size : int, optional
        The items are the integers 0..domain_size - 1, 1..10,000,000.
    levels : sequence of float
        The levels on offer, which are public; needed if the layout names a column of levels.
    layout : Layout, optional
        How the data are laid out.
    label : str, optional
        Name in figures and tables; by default the file's name without folder and endings.
    progress : callable
        Called after every part with the rows so far and the share of the file, or None.

    Returns
    -------
    Transactions
        Users in the order of their first appearance.

    Raises
    ------
    DataError
        If the data are not as described; names the file, the line, the value and what to do.
    ParameterError
        If an option is outside its range.
    """
    layout = layout or Layout()
    if layout.level is not None and not levels:
        raise ParameterError(
            "levels", tuple(levels), "the levels on offer, which are public, where a column has levels"
        )
    domain = _domain(items, domain_size, layout)
    if hasattr(data, "__arrow_c_stream__"):
        name = label or "table"
        collected = _Collector(name, domain, layout, levels)
        for runs in _table(data, name, layout):
            collected.add(runs)
            progress(collected.rows, None)
    else:
        source = Source(data)
        name, label = source.name, label or Path(source.name).name.partition(".")[0] or "transactions"
        collected = _Collector(name, domain, layout, levels)
        try:
            for runs in runs_of(source, layout):
                collected.add(runs)
                progress(collected.rows, source.share())
        finally:
            source.close()
    return collected.transactions(label or name)


def _table(data: Any, name: str, layout: Layout) -> Iterator[Runs]:
    try:
        reader = pa.RecordBatchReader.from_stream(data)
        yield from table_runs(reader, reader.schema, name, layout)
    except pa.ArrowException as error:
        reason = str(error).partition("\n")[0]
        raise DataError(f"{name}: a column has mixed or unknown types ({reason}). Make it text or integers.") from error


# --- what an item may be -----------------------------------------------------------------------------------------


class _Domain:
    """From an item's text to its number: those of a public list, integers, or whatever is found."""

    def __init__(self, names: Sequence[str] | None, size: int | None, origin: str) -> None:
        self.names, self.size, self.origin = names, size, origin
        self.found = names is None and size is None
        self._codes = {} if names is None else {name: code for code, name in enumerate(names)}

    def code(self, text: str) -> int | None:
        """Number of an item, or None for one that is not allowed."""
        if self.size is not None and self.names is None:
            number = int(text) if text.isascii() and text.isdigit() and len(text) <= 9 else self.size
            return number if number < self.size else None
        if self.found:
            return self._codes.setdefault(text, len(self._codes))
        return self._codes.get(text)

    @property
    def allowed(self) -> str:
        if self.names is None:
            return f"allowed are the integers 0..{(self.size or 1) - 1} (domain_size = {self.size})"
        return f"allowed are the {len(self.names)} of {self.origin}, such as {shown(self.names[0])}"

    @property
    def remedy(self) -> str:
        if self.names is None:
            return "Larger integers need a larger domain_size, names a list of items"
        return "Add it to the list of items"

    def sorted(self) -> tuple[list[str], NDArray[np.int32]]:
        """The items that were found in their order, and the new number of every old one."""
        names = list(self._codes)
        integers = all(name.isascii() and name.isdigit() and len(name) <= 18 for name in names)
        order = sorted(
            range(len(names)), key=(lambda code: (int(names[code]), names[code])) if integers else names.__getitem__
        )
        new = np.empty(len(names), dtype=np.int32)
        new[order] = np.arange(len(names), dtype=np.int32)
        return [names[code] for code in order], new


def _domain(items: Sequence[str] | Path | None, domain_size: int | None, layout: Layout) -> _Domain:
    if items is not None and domain_size is not None:
        raise ParameterError("domain_size", domain_size, "left out where the list of items is given")
    if items is None:
        if layout.unknown == "drop" and domain_size is None:
            raise ParameterError(
                "unknown", "drop", "'refuse' where neither a list of items nor domain_size says what is known"
            )
        size = None if domain_size is None else checked_integer("domain_size", domain_size, 1, LARGEST_DOMAIN)
        return _Domain(None, size, "")
    origin = f"the list {items}" if isinstance(items, (str, Path)) else "the list of items"
    names = read_items(Path(items)) if isinstance(items, (str, Path)) else [str(name) for name in items]
    if not names or len(names) > LARGEST_DOMAIN:
        raise ParameterError("items", f"{len(names)} items", f"1 to {LARGEST_DOMAIN} items")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"{origin}: the item {shown(twice)} is there twice.")
    return _Domain(names, len(names), origin)


def read_items(path: Path) -> list[str]:
    """Read a list of items: one per line, blanks around them left out.

    Raises
    ------
    DataError
        If the file cannot be read, or has a blank line or an item twice; names the line.
    """
    source, names, lines = Source(path), list[str](), dict[str, int]()
    try:
        for block in source.blocks():
            for number, line in enumerate(block.content.split(b"\n"), start=block.line):
                try:
                    name = line.decode().strip(" \t\r")
                except UnicodeDecodeError as error:
                    raise DataError(f"{path}, line {number}: byte 0x{line[error.start]:02x} is not UTF-8.") from None
                if not name or name in lines:
                    why = f"{shown(name)} is on line {lines[name]} already" if name else "blank"
                    raise DataError(f"{path}, line {number}: {why}; expected is one item per line, each once.")
                lines[name] = number
                names.append(name)
    finally:
        source.close()
    return names


# --- all parts together ------------------------------------------------------------------------------------------


class _Collector:
    """Takes runs one by one, and makes users of them."""

    def __init__(self, name: str, domain: _Domain, layout: Layout, levels: Sequence[float]) -> None:
        self.name, self.domain, self.layout, self.offered = name, domain, layout, tuple(levels)
        self.rows = 0
        self._codes: list[NDArray[np.int32]] = []
        self._sizes: list[IntArray] = []
        self._users: list[NDArray[np.uint64]] = []
        self._levels: list[NDArray[np.int16]] = []
        self._wheres: list[tuple[int, int, Runs]] = []
        self._dropped = self._blank = 0
        self._entries = self._runs = 0

    def add(self, runs: Runs) -> None:
        """One more part."""
        self._refuse_empty(runs)
        codes = self._coded(runs)
        sizes, users, levels = runs.sizes, runs.users, self._level_numbers(runs)
        if users is not None and self._users and users[:1] == self._users[-1][-1:]:
            # a user whose lines are in two parts
            if levels is not None and levels[0] != self._levels[-1][-1]:
                raise self._two_levels(runs.place_of_run(0), levels[0], self._levels[-1][-1])
            self._sizes[-1][-1] += sizes[0]
            sizes, users, levels = sizes[1:], users[1:], None if levels is None else levels[1:]
        self._codes.append(codes)
        if sizes.size:
            self._sizes.append(sizes)
            if users is not None:
                self._users.append(users)
            if levels is not None:
                self._levels.append(levels)
        # only what names a place is kept
        places = runs._replace(
            users=None, sizes=np.empty(0, np.int64), codes=np.empty(0, np.int32), values=[], levels=None
        )
        self._wheres.append((self._entries, self._runs, places))
        self._entries += codes.size
        self._runs += sizes.size
        self.rows += codes.size if runs.by_entry else runs.sizes.size

    def _refuse_empty(self, runs: Runs) -> None:
        """A user without items, or an entry without one, unless they are to be kept."""
        blank = np.flatnonzero(runs.codes < 0) if runs.by_entry else _empty(runs)
        if blank.size and self.layout.empty == "refuse":
            raise DataError(
                f"{runs.where(int(blank[0]))}: no item. Give empty: keep for users who hold nothing, or remove "
                "the line."
            )
        self._blank += blank.size

    def _coded(self, runs: Runs) -> NDArray[np.int32]:
        """Numbers of the items in the domain."""
        numbers = np.full(len(runs.values) + 1, -1, dtype=np.int32)
        for value, text in enumerate(runs.values):
            code = self.domain.code(text)
            if code is not None:
                numbers[value] = code
                continue
            entries = np.flatnonzero(runs.codes == value)
            if self.layout.unknown == "refuse":
                raise DataError(
                    f"{runs.place_of(int(entries[0]))}: the item {shown(text)} is not allowed; {self.domain.allowed}. "
                    f"{self.domain.remedy}, or give unknown: drop to leave such items out."
                )
            self._dropped += entries.size
        if self.domain.found and len(self.domain._codes) > LARGEST_DOMAIN:
            raise DataError(f"{self.name}: more than {LARGEST_DOMAIN} different items, the most that a server counts.")
        return numbers[runs.codes]

    def _level_numbers(self, runs: Runs) -> NDArray[np.int16] | None:
        if runs.levels is None:
            return None
        offered = {level: number for number, level in enumerate(self.offered)}
        numbers = np.empty(len(runs.level_values), dtype=np.int16)
        for value, text in enumerate(runs.level_values):
            try:
                numbers[value] = offered[float(text)]
            except (ValueError, KeyError):
                place = runs.place_of_run(int(np.flatnonzero(runs.levels == value)[0]))
                listed = ", ".join(f"{level:g}" for level in self.offered)
                raise DataError(
                    f"{place}: {shown(text)} is not a level on offer; a level is given by its epsilon: {listed}."
                ) from None
        return numbers[runs.levels]

    def _place(self, entry: int, run: int) -> str:
        """Where an entry is, and the run that it belongs to."""
        by_entry = self._wheres[0][2].by_entry
        first_entry, first_run, runs = next(
            part for part in reversed(self._wheres) if (part[0] <= entry if by_entry else part[1] <= run)
        )
        return runs.where(entry - first_entry if runs.by_entry else run - first_run)

    def transactions(self, label: str) -> Transactions:
        """Everything that was added, user by user."""
        if not self._runs:
            raise DataError(
                f"{self.name}: holds no user. Expected is a table of users and items, or one line per user."
            )
        codes, sizes = _joined(self._codes), _joined(self._sizes)
        levels = _joined(self._levels) if self._levels else None
        order: IntArray | None = None  # of the runs, where users come back
        if self._users:
            owner, order = _owners(_joined(self._users))
        run_starts = _starts(sizes)
        if order is not None:
            codes = codes[_places(run_starts, sizes, order)]
            levels = None if levels is None else self._same_levels(levels[order], owner, order, run_starts)
            sizes = np.bincount(owner, weights=sizes[order]).astype(np.int64)
        offsets = _starts(sizes)
        names: Sequence[str] | None = self.domain.names
        if self.domain.found:
            names, new = self.domain.sorted()
            if not names:
                raise DataError(f"{self.name}: no user holds any item.")
            _renumber(codes, np.append(new, np.int32(-1)))
        try:
            codes, sizes, repeated = _sort_sets(codes, offsets, merge=self.layout.repeated == "merge")
        except _TwiceError as found:
            raise self._repeated(codes, offsets, found.user, order, run_starts, names) from None
        return Transactions(
            offsets=_starts(sizes),
            codes=codes,
            domain_size=self.domain.size or len(names or ()),
            names=names,
            levels=levels,
            label=label,
            notes=tuple(self._notes(repeated, len(names or ()))),
        )

    def _same_levels(
        self, levels: NDArray[np.int16], owner: IntArray, order: IntArray, run_starts: IntArray
    ) -> NDArray[np.int16]:
        """Level of every user, from those of their runs."""
        first = np.flatnonzero(np.diff(owner, prepend=-1))
        other = np.flatnonzero(levels != levels[first][owner])
        if other.size:
            run = int(order[other[0]])
            place = self._place(int(run_starts[run]), run)
            raise self._two_levels(place, levels[other[0]], levels[first][owner[other[0]]])
        return levels[first]

    def _two_levels(self, place: str, level: np.int16, other: np.int16) -> DataError:
        return DataError(
            f"{place}: level {self.offered[level]:g}, but the same user has {self.offered[other]:g} on another line. A "
            "user has one level: give it on every line of the user."
        )

    def _repeated(
        self,
        codes: NDArray[np.int32],
        offsets: IntArray,
        user: int,
        order: IntArray | None,
        run_starts: IntArray,
        names: Sequence[str] | None,
    ) -> DataError:
        """Say which item the first such user has twice, and where for the second time."""
        start = int(offsets[user])
        held = codes[start : int(offsets[user + 1])].tolist()
        at = next(place for place, code in enumerate(held) if code >= 0 and code in held[:place])
        entry = start + at
        if order is not None:
            entry = int(_places(run_starts, np.diff(run_starts), order)[entry])
        run = int(np.searchsorted(run_starts, entry, side="right")) - 1
        name = str(held[at]) if names is None else names[held[at]]
        return DataError(
            f"{self._place(entry, run)}: the user has the item {shown(name)} twice. Give repeated: merge to count it "
            "once, or remove one of them."
        )

    def _notes(self, repeated: int, found: int) -> Iterator[str]:
        if self.domain.found:
            yield (
                f"The {found} items were taken from the data, and planning with their number is not private: give a "
                "public list of items, or the domain size."
            )
        if repeated:
            yield f"{repeated} users had an item more than once; it counts once."
        if self._dropped:
            yield f"{self._dropped} entries with items that are not in the list were left out."
        if self._blank:
            yield f"{self._blank} lines had no item."


def _empty(runs: Runs) -> IntArray:
    """Runs that hold nothing."""
    held = np.concatenate([[0], np.cumsum(runs.codes >= 0)])
    ends = np.cumsum(runs.sizes)
    return np.flatnonzero(held[ends] == held[ends - runs.sizes])


def _joined(parts: list[Any]) -> Any:
    """One array of many; each part is freed as soon as it is copied, so that both are never there in full."""
    whole = np.empty(sum(part.size for part in parts), dtype=parts[0].dtype)
    at = whole.size
    while parts:
        part = parts.pop()
        whole[at - part.size : at] = part
        at -= part.size
    return whole


def _owners(marks: NDArray[np.uint64]) -> tuple[IntArray, IntArray | None]:
    """User of every run, in the order of the runs by user; and that order, or None if every run is a user."""
    whole = np.sort(marks)
    if (whole[1:] != whole[:-1]).all():
        return np.empty(0, dtype=np.int64), None
    del whole
    _, first, number = np.unique(marks, return_index=True, return_inverse=True)
    rank = np.empty(first.size, dtype=np.int64)
    rank[np.argsort(first)] = np.arange(first.size)
    user = rank[number]
    order = np.argsort(user, kind="stable")
    return user[order], order


def _starts(sizes: IntArray) -> IntArray:
    """Where each of some neighbouring pieces begins, and where the last one ends."""
    starts = np.zeros(sizes.size + 1, dtype=np.int64)
    np.cumsum(sizes, out=starts[1:])
    return starts


def _renumber(codes: NDArray[np.int32], new: NDArray[np.int32]) -> None:
    """Replace every number by its new one, in place; -1 takes the last."""
    for start in range(0, codes.size, _PART):
        codes[start : start + _PART] = new[codes[start : start + _PART]]


def _places(run_starts: IntArray, sizes: IntArray, order: IntArray) -> IntArray:
    """Place of every entry when the runs stand in another order."""
    lengths = sizes[order]
    before = np.cumsum(lengths) - lengths
    places: IntArray = np.repeat(run_starts[order] - before, lengths)
    places += np.arange(places.size)
    return places


class _TwiceError(Exception):
    """A user has an item more than once."""

    def __init__(self, user: int) -> None:
        super().__init__(user)
        self.user = user


def _sort_sets(codes: NDArray[np.int32], offsets: IntArray, *, merge: bool) -> tuple[NDArray[np.int32], IntArray, int]:
    """Every user's items once and in order, in place; their numbers, and how many users had one more than once."""
    sizes, again, first, at = np.diff(offsets), 0, 0, 0
    while first < sizes.size:
        last = max(int(np.searchsorted(offsets, offsets[first] + _PART, side="right")) - 1, first + 1)
        part = codes[offsets[first] : offsets[last]]
        user = np.repeat(np.arange(last - first), sizes[first:last])
        # an entry without an item, -1, goes behind all others of its user
        keys = np.sort((user << 32) + (part.astype(np.int64) & _NONE))
        user, held = keys >> 32, (keys & _NONE) != _NONE
        kept = held.copy()
        kept[1:] &= keys[1:] != keys[:-1]
        repeated = user[held & ~kept]
        if repeated.size and not merge:
            raise _TwiceError(first + int(repeated[0]))
        again += np.unique(repeated).size
        found = keys[kept] & _NONE
        codes[at : at + found.size] = found
        at += found.size
        sizes[first:last] = np.bincount(user[kept], minlength=last - first)
        first = last
    return codes[:at], sizes, again
