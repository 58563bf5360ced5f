"""How a file of one's own is laid out, and what is done about what should not be in it. Imported without Arrow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from segshuffle.errors import ParameterError

FORMATS = ("csv", "tsv", "jsonl", "parquet", "lines")
FORMS = ("long", "wide", "matrix")
#: Option -> its allowed values and, for everybody who asks, what it says. The first value of a choice is the default.
CHOICES: Mapping[str, tuple[str, ...]] = {
    "repeated": ("refuse", "merge"),
    "empty": ("refuse", "keep"),
    "unknown": ("refuse", "drop"),
}
#: What every option means: help of the command line, and descriptions in the configuration.
ABOUT: Mapping[str, str] = {
    "format": "csv, tsv, jsonl, parquet, or lines (one line per user, no header); by default the ending of the name",
    "form": "long (a row per user and item), wide (a row per user, with items in all other columns or in a list), or "
    "matrix (a column per item, 1 or 0)",
    "user": "column of the user; by default the one called user, or the only other one",
    "item": "column of the item, or of the list of items; by default the one called item or items",
    "level": "column of the user's privacy level, as its epsilon; without it levels are drawn",
    "separator": "what stands between two items or columns; by default a comma in csv, a tab in tsv, blanks in lines",
    "header": "whether the first line of csv and tsv names the columns",
    "skip_lines": "lines at the beginning of the file that are no data",
    "repeated": "an item that a user has twice: refuse the file, or merge: count it once",
    "empty": "a user without items: refuse the file, or keep: a user who holds nothing",
    "unknown": "an item that is not in the list of items: refuse the file, or drop: leave the item out",
}


@dataclass(frozen=True)
class Layout:
    """How to read a table of users and items.

    Parameters
    ----------
    format : {"csv", "tsv", "jsonl", "parquet", "lines"}, optional
        By default the ending of the file's name; without one that is known, lines.
    form : {"long", "wide", "matrix"}, optional
        A row per user and item; a row per user with the items in all other columns, or in one list; or a row per user
        with a column of 0 and 1 per item. By default what the columns tell.
    user, item, level : str, optional
        Names of columns. Without a level column the file has no levels.
    separator : str, optional
        Between columns of csv and tsv, or items of lines; " " means any blanks.
    header : bool
        Whether csv and tsv begin with the names of the columns; without them columns are called 1, 2, ...
    skip_lines : int
        Lines before that, which are no data.
    repeated, empty, unknown : str
        What is done about an item that a user has twice, a user without items, and an item that is not in the list of
        items: "refuse", or "merge", "keep" and "drop". What was done is counted in `Transactions.notes`.

    Raises
    ------
    ParameterError
        If a value is not allowed.
    """

    format: str | None = None
    form: str | None = None
    user: str | None = None
    item: str | None = None
    level: str | None = None
    separator: str | None = None
    header: bool = True
    skip_lines: int = 0
    repeated: str = "refuse"
    empty: str = "refuse"
    unknown: str = "refuse"

    def __post_init__(self) -> None:
        for name, allowed in {"format": FORMATS, "form": FORMS, **CHOICES}.items():
            value = getattr(self, name)
            if value not in allowed and not (value is None and name not in CHOICES):
                raise ParameterError(name, value, "one of " + ", ".join(map(repr, allowed)))
        if self.separator is not None and (
            len(self.separator) != 1 or self.separator in '\n\r"' or not self.separator.isascii()
        ):
            raise ParameterError("separator", self.separator, "one character, such as ';', and no quote or line end")
        if (
            isinstance(self.skip_lines, bool)
            or not isinstance(self.skip_lines, int)
            or not 0 <= self.skip_lines <= 10**6
        ):
            raise ParameterError("skip_lines", self.skip_lines, "an integer in 0..1000000")

    @classmethod
    def of(cls, section: Mapping[str, Any]) -> Layout:
        """The options among the keys of a mapping; other keys are left alone."""
        return cls(**{each.name: section[each.name] for each in fields(cls) if each.name in section})
