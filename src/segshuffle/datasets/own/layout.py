"""The layout of a file of your own, what is done about irregular entries, and the list of items.

This module does not need Polars.
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from segshuffle.errors import DataError, ParameterError
from segshuffle.files import read_text
from segshuffle.option_fields import described, option, options_of

BLANKS = " \t\r\n"
UNREADABLE = re.compile(r"[\x00-\x1f\x7f\ufffd]")
#: Texts that programs write where there is no value; an item of this name must be in a public list.
MISSING = ("NA", "N/A", "NaN", "nan", "NaT", "<NA>", "null", "NULL", "None")
FORMATS = ("csv", "tsv", "jsonl", "parquet", "lines")
_TEXT: Mapping[str, Any] = {"type": ["string", "null"], "minLength": 1}


@described
@dataclass(frozen=True)
class Layout:
    """How to read a table of users and items.

    Raises
    ------
    ParameterError
        If a value is not allowed.
    """

    format: str | None = option(
        None,
        "csv, tsv, jsonl, parquet, or lines (one line per user, no header); by default the ending of the name",
        enum=[None, *FORMATS],
    )
    form: str | None = option(
        None,
        "long (a row per user and item), wide (a row per user, with items in all other columns or in a list), or "
        "matrix (a column per item, 1 or 0)",
        enum=[None, "long", "wide", "matrix"],
    )
    user: str | None = option(
        None, "column of the user; by default the one called user, or the only column beside the item", **_TEXT
    )
    item: str | None = option(
        None, "column of the item, or of the list of items; by default the one called item or items", **_TEXT
    )
    level_column: str | None = option(None, "column of the user's privacy level, as its epsilon", **_TEXT)
    separator: str | None = option(
        None,
        "character between two items or columns; by default a comma in csv, a tab in tsv, blanks in lines",
        **_TEXT,
    )
    header: bool = option(True, "whether the first line of csv and tsv names the columns", type="boolean")
    skip_lines: int = option(
        0, "lines at the beginning of the file that are not data", type="integer", minimum=0, maximum=1_000_000
    )
    repeated: str = option(
        "refuse",
        "if a user has an item twice: refuse the file, or merge (count the item once)",
        enum=["refuse", "merge"],
    )
    empty: str = option("refuse", "if a user has no items: refuse the file, or keep the user", enum=["refuse", "keep"])
    unknown: str = option(
        "refuse", "if an item is not in the list of items: refuse the file, or drop the item", enum=["refuse", "drop"]
    )

    def __post_init__(self) -> None:
        from segshuffle.numerics.ranges import check_options  # numpy

        check_options(self)
        for name in ("user", "item", "level_column"):
            if not isinstance(getattr(self, name), str | None):
                raise ParameterError(name, getattr(self, name), "the name of a column")
        mark = self.separator
        if mark is not None and (not isinstance(mark, str) or len(mark) != 1 or mark in '\n\r"' or not mark.isascii()):
            raise ParameterError("separator", mark, "one ASCII character, such as ';', and no quote or line end")


#: JSON schema of every option, by name.
OPTIONS: Mapping[str, Mapping[str, Any]] = {
    name: {**each.metadata, "default": each.default} for name, each in options_of(Layout).items()
}


def read_items(path: Path) -> list[str]:
    """Read a list of items: one per line, `tidied`.

    Raises
    ------
    DataError
        If the file cannot be read, has a blank line or an item twice (names the line), or is a table.
    """
    text = read_text(path, limit=2**28)
    line_of: dict[str, int] = {}
    for number, line in enumerate(text.rstrip(BLANKS).split("\n"), start=1):
        item = tidied(line)
        if not item or item in line_of or UNREADABLE.search(item):
            why = f"{shown(item)} is on line {line_of[item]} already" if item in line_of else shown(item)
            raise DataError(f"{path}, line {number}: {why}; expected is one item per line, each once.")
        line_of[item] = number
    for mark in ",;{":
        if len(line_of) > 1 and all(mark in item for item in line_of):
            raise DataError(
                f"{path}: every line has {mark!r}, as {shown(next(iter(line_of)))}, so this is a table, not a list of "
                "items; expected is one item per line. If all names have this character, write them without it."
            )
    return list(line_of)


def tidied(name: str) -> str:
    """Return the name of an item as all names are compared: without blanks around it, accents as in Unicode's NFC."""
    return unicodedata.normalize("NFC", name.strip(BLANKS))


def name_of(value: object) -> str:
    """Return the name of an item that is given as any value; it is empty if the value is missing, as None or NaN."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return "" if not isinstance(value, str) and str(value) in MISSING else tidied(str(value))


def number_of(name: str, domain_size: int) -> int | None:
    """Return the item that a number in a text names; None if it names none of 0..domain_size - 1."""
    if name.isascii() and name.isdigit() and len(name) <= 9 and int(name) < domain_size:
        return int(name)
    return None


def shown(value: str) -> str:
    """Return a value as messages show it."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "...'"
