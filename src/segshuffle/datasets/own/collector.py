"""Make users of the entries of a source: who holds what, and at which level."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl

from segshuffle.arrays import Numbers
from segshuffle.datasets.own.layout import BLANKS, MISSING, UNREADABLE, Layout, number_of, shown, tidied
from segshuffle.datasets.own.sources import Source
from segshuffle.datasets.own.texts import NOBODY
from segshuffle.datasets.own.transactions import Transactions
from segshuffle.errors import DataError

# What stands for an item in entries without one: none was given, or one that is not in the list.
_BLANK, _DROPPED = -1, -2
# What is between the items of a list in a cell.
_BETWEEN = re.compile(r"[,;|]|(?<=\d) (?=\d)")
_APART = "Write a row per user and item, or JSON Lines with a list of items."


class Collector:
    """Takes entries part by part, says what is not allowed, and makes users of them."""

    def __init__(
        self,
        source: Source,
        layout: Layout,
        codes: dict[str, int] | None,
        size: int | None,
        levels: Sequence[float],
    ) -> None:
        self.source, self.layout, self.codes, self.size = source, layout, codes or {}, size
        self.collects_items = codes is None and size is None
        self.offered = {level: number for number, level in enumerate(levels)}
        self._codes: list[Numbers] = []
        #: Every run of neighbouring entries of one user: the user's hash, the level, the number of items.
        self._runs: list[pl.DataFrame] = []
        self._blank = self._dropped = 0

    # what is allowed; errors are sentences without the place

    def _item(self, text: str | None) -> int:
        """Return the number of an item."""
        name = tidied(text or "")
        if not name:
            if self.layout.empty == "refuse":
                raise DataError("no item. Give empty = keep for users who hold nothing, or remove the line.")
            return _BLANK
        if UNREADABLE.search(name):
            raise DataError(
                f"the item {shown(name)} has a character that cannot be shown, or is not UTF-8. Is this a text file, "
                "with the columns that you named? A file in Latin-1 is converted by iconv -f latin1 -t utf-8."
            )
        if self.collects_items:
            if name in MISSING:
                raise DataError(
                    f"the item {shown(name)} looks like a missing value. Leave the cell empty, or give a public list "
                    "of items that has this name."
                )
            return self.codes.setdefault(name, len(self.codes))
        code = self._code(name)
        if code is None and self._is_list(name):
            raise DataError(f"the item {shown(name)} is a list of items in one cell. {_APART}")
        if code is None and self.layout.unknown == "refuse":
            known = f"{len(self.codes)} of the list of items" if self.size is None else f"integers 0..{self.size - 1}"
            raise DataError(
                f"the item {shown(name)} is not allowed; allowed are the {known}. Correct it, give unknown = drop to "
                "leave such items out, or plan for a list or number of items that includes it."
            )
        return _DROPPED if code is None else code

    def _code(self, name: str) -> int | None:
        """Return the number of an item that is known."""
        return self.codes.get(name) if self.size is None else number_of(name, self.size)

    def _is_list(self, name: str) -> bool:
        """Say whether a name is made of the names of several items."""
        parts = [tidied(part.strip("[](){}\"' ")) for part in _BETWEEN.split(name)]
        return len(parts) > 1 and all(self._code(part) is not None for part in parts)

    def _check_names(self, largest_set: int) -> None:
        """Refuse names that say that the data were read in a wrong way.

        Raises
        ------
        DataError
            If names of columns are items, or items that were found are lists of items.
        """
        columns, said = self.source.columns, f"{self.source.name}: the "
        names = [tidied(each) for each in columns.items] if self.source.header and columns.form != "matrix" else []
        numbered = names in ([str(number + first) for number in range(len(names))] for first in (0, 1))
        for name in names:
            if self._code(name) is not None and not numbered:
                raise DataError(
                    f"{said}first line names a column {shown(name)}, which is also an item. Give header = no if the "
                    "line is data, else another name to the column."
                )
        for name in self.codes if self.collects_items else ():
            apart = _BETWEEN.search(name) and (largest_set < 2 or self._is_list(name))
            if apart or re.fullmatch(r"\[.*\]|\{.*\}", name):
                raise DataError(
                    f"{said}item {shown(name)} looks like a list of items in one cell. {_APART} If it is one item, "
                    "give a public list of items."
                )

    def _level(self, text: str | None) -> int:
        """Return the number of a level; 0 where the data have none."""
        if self.layout.level_column is None:
            return 0
        try:
            return self.offered[float((text or "").strip(BLANKS))]
        except (ValueError, KeyError):
            listed = ", ".join(f"{level:g}" for level in self.offered)
            what = f"{shown(text)} is not a level on offer" if text else "no level"
            raise DataError(f"{what}; a level is given by its epsilon: {listed}.") from None

    # entries

    def take(self, progress: Callable[[int], object]) -> None:
        """Take all entries of the source."""
        for part in self.source.entries():
            users, codes = part["user"].to_numpy(), self._numbers(part, "item", self._item)
            levels = (
                np.zeros_like(codes) if self.layout.level_column is None else self._numbers(part, "level", self._level)
            )
            begins = np.append(True, (users[1:] != users[:-1]) | (levels[1:] != levels[:-1]))
            starts, held = np.flatnonzero(begins), codes >= 0
            sizes = np.add.reduceat(held, starts, dtype=np.int64)
            self._codes.append(codes[held])
            self._runs.append(pl.DataFrame({"user": users[starts], "level": levels[starts], "size": sizes}))
            self._blank += int(np.count_nonzero(codes == _BLANK))
            self._dropped += int(np.count_nonzero(codes == _DROPPED))
            progress(part["number"][-1] + 1)

    def _numbers(self, part: pl.DataFrame, column: str, number: Callable[[str | None], int]) -> Any:
        """Return the number of every text in a column; texts that are null have one as well."""
        different = part[column].unique(maintain_order=True)
        numbers = []
        for text in different:
            try:
                numbers.append(number(text))
            except DataError as error:
                row = part["number"][int((part[column].eq_missing(text)).arg_max() or 0)]
                raise DataError(f"{self.source.place(row)}: {error}") from None
        return part[column].replace_strict(different, pl.Series(numbers, dtype=pl.Int32)).to_numpy()

    def transactions(self, label: str) -> Transactions:
        """Put together everything that was taken, user by user."""
        if not self._runs:
            raise DataError(f"{self.source.name}: {NOBODY}")
        names = self._sorted_names() if self.collects_items else [*self.codes] or None
        runs = pl.concat(self._runs)
        hashes, run_levels = runs["user"], runs["level"].to_numpy()
        first = hashes.arg_unique().sort()  # the first run of every user
        owner = np.cumsum(hashes.ne_missing(hashes.shift())) - 1
        if owner[-1] >= first.len():  # the lines of some user do not stand together
            owner = hashes.replace_strict(hashes[first], pl.int_range(first.len(), eager=True)).to_numpy()
        levels = run_levels[first]
        for run in np.flatnonzero(run_levels != levels[owner])[:1]:
            raise self._explained(hashes[int(run)])
        keys, end = np.repeat(owner << 32, runs["size"]), 0  # user and item of every entry in one integer
        for codes in self._codes:  # part by part, to hold no copy of all
            end += codes.size
            keys[end - codes.size : end] += codes
        self._codes.clear()
        keys.sort(kind="stable")  # fast where users stand together
        again = np.flatnonzero(keys[1:] == keys[:-1]) + 1
        if again.size and self.layout.repeated == "refuse":
            raise self._explained(hashes[first[int(keys[again[0]] >> 32)]])
        repeated = np.unique(keys[again] >> 32).size
        if repeated:
            keys = np.delete(keys, again)
        offsets = np.searchsorted(keys, np.arange(first.len() + 1) << 32).astype(np.int64)
        largest_set = int(np.diff(offsets).max())
        self._check_names(largest_set)
        how = (
            f"Read as {self.source.how}: {first.len():,} users, {self.size or len(self.codes):,} items, at most "
            f"{largest_set} of them held by one user."
        )
        return Transactions(
            offsets=offsets,
            codes=keys.astype(np.int32),  # the lower half
            domain_size=self.size or len(self.codes),
            names=names,
            levels=levels.astype(np.int16) if self.layout.level_column is not None else None,
            label=label,
            notes=(how, *self._notes(repeated)),
        )

    def _sorted_names(self) -> list[str]:
        """Sort the items that were found, and give them their new numbers."""
        if not self.codes:
            raise DataError(f"{self.source.name}: no user holds any item.")
        integers = all(name.isascii() and name.isdigit() and len(name) <= 18 for name in self.codes)
        names = sorted(self.codes, key=(lambda name: (int(name), name)) if integers else None)
        new = np.argsort([self.codes[name] for name in names]).astype(np.int32)
        self._codes = [new[codes] for codes in self._codes]
        return names

    def _explained(self, user: int) -> DataError:
        """Say where a user has another level than before, or an item for the second time."""
        held, levels = set[int](), set[int]()
        for part in self.source.entries():
            rows = part.filter(pl.col("user") == user).select("number", "item", "level")
            for number, item, level in rows.iter_rows():
                place, code = self.source.place(number), self._item(item)
                levels.add(self._level(level))
                if len(levels) > 1:
                    return DataError(
                        f"{place}: level {level}, but the same user has another one on an earlier line. A user has one "
                        "level: give it on every line of the user."
                    )
                if code in held and self.layout.repeated == "refuse":
                    return DataError(
                        f"{place}: the user has the item {shown(item.strip(BLANKS))} twice. Give repeated = merge to "
                        "count it once, or remove one of them."
                    )
                held |= {code} - {_BLANK, _DROPPED}
        return DataError(f"{self.source.name}: was changed while it was read. Read it again.")

    def _notes(self, repeated: int) -> Iterator[str]:
        if self.collects_items:
            yield (
                f"The {len(self.codes)} items were taken from the data. A plan for this number of items is not "
                "private: give a public list of items, or their number."
            )
        if repeated:
            yield f"{repeated} users had an item more than once; it counts once."
        if self._dropped:
            yield f"{self._dropped} entries with items that are not in the list were left out."
        if self._blank:
            yield f"{self._blank} lines had no item."
