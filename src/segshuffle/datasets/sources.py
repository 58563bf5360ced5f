"""Files and tables of any layout, read in two ways: fast by Polars, and row by row.

Polars does not say which line is wrong. So what it refuses, or what looks odd, is read again row by row: this names the
line and the value, or reads what is unusual but right. The forms wide and matrix are always read row by row.
"""

from __future__ import annotations

import contextlib
import csv
import gzip
import itertools
import json
import re
import secrets
import shutil
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, NamedTuple

from segshuffle.datasets.layout import Layout
from segshuffle.errors import DataError
from segshuffle.extras import require
from segshuffle.files import unreadable

require("data", "Reading a file of your own")

import polars as pl  # noqa: E402  after the sentence that says what is missing

BLANKS = " \t\r\n"
#: What Polars raises on files that it cannot read.
FAILURES = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)

_ENDINGS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
}
#: First bytes of files that are no table, and what to do about them.
_FOREIGN = {
    b"PK\x03\x04": "a zip archive or a spreadsheet. Unpack it, or save the sheet as CSV",
    b"BZh": "packed by bzip2. Unpack it, or pack it by gzip or zstd",
    b"\xfd7zXZ": "packed by xz. Unpack it, or pack it by gzip or zstd",
    b"\xff\xfe": "text in UTF-16. Save it as UTF-8",
    b"\xfe\xff": "text in UTF-16. Save it as UTF-8",
}
_WORD = r"[^ \t\r\x0b\x0c]+"
_YES, _NO = ("1", "true", "yes", "1.0"), ("0", "false", "no", "", "0.0")
# Texts and numbers of JSON as patterns: no half of a surrogate pair, no number that is too long.
_JSON_TEXT = r'"(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u(?:[0-9a-ce-fA-CE-F][0-9a-fA-F]{3}|[dD][0-7][0-9a-fA-F]{2}))*"'
_JSON_NUMBER = r"-?(?:0|[1-9]\d{0,17})(?:\.\d{1,17})?"
# Rows that are handled together where rows are read one by one.
_CHUNK = 2**16


class OddError(Exception):
    """The fast reading met what only the careful reading can judge."""


class Row(NamedTuple):
    """A line of a file, or a row of a table; items are without blanks around them."""

    #: "" if it is missing; None where the data do not name users: every row is a user.
    user: str | None
    items: list[str]
    level: str | None


class Columns(NamedTuple):
    """Which columns are what."""

    form: str  # "long", "list", "wide" or "matrix"
    user: str | None
    items: tuple[str, ...]
    level: str | None

    @property
    def all(self) -> list[str]:
        """Names of all columns that are read."""
        return [each for each in (self.user, *self.items, self.level) if each is not None]

    def row(self, cells: Mapping[str, Any]) -> Row:
        """Make a row of the cells of a line, by column."""
        if missing := set(self.all) - set(cells):
            raise DataError(f"there is no key {min(missing)!r}; the keys are {_listed(list(cells))}.")
        level = None if self.level is None else _text_of(cells[self.level], self.level, decimal=True)
        user = None if self.user is None else _text_of(cells[self.user], self.user)
        if self.form == "list":
            listed = cells[self.items[0]] or []
            if not isinstance(listed, list):
                raise DataError(f"{self.items[0]!r} is {shown(json.dumps(listed))}, but a list on other lines.")
            held = [_text_of(each, self.items[0]).strip(BLANKS) for each in listed]
        else:
            held = [_text_of(cells[column], column).strip(BLANKS) for column in self.items]
        if self.form == "matrix":
            for column, cell in zip(self.items, held, strict=True):
                if cell.lower() not in _YES + _NO:
                    raise DataError(
                        f"{shown(cell)} in column {column!r}; in form matrix a cell is 1 or 0 and says whether the "
                        "user holds that item. If cells are names of items, give form: wide."
                    )
            held = [column for column, cell in zip(self.items, held, strict=True) if cell.lower() in _YES]
        return Row(user, [each for each in held if each], level)


def _text_of(value: object, column: str, *, decimal: bool = False) -> str:
    """Return a cell as text, "" for none; refuse lists, and decimal numbers unless they are allowed."""
    if value is None or value != value:  # NaN, as tables mark a gap
        return ""
    if isinstance(value, float) and value.is_integer() and abs(value) <= 2**53:
        return str(int(value))
    if isinstance(value, (list, dict)) or (isinstance(value, float) and not decimal):
        raise DataError(
            f"{column!r} holds {shown(json.dumps(value))}; expected is text, an integer, or a list of them."
        )
    return str(value)


@dataclass(frozen=True)
class Source:
    """Entries (who holds which item) of a file or table."""

    name: str
    #: Number of the line that the first row is on; None for a table without lines.
    first_line: int | None
    columns: Columns
    #: The cells of all rows from one on, by column, read one by one; errors are without the place.
    cells: Callable[[int], Iterator[Mapping[str, Any]]]
    #: All rows as Polars reads them; None if only careful reading can judge.
    table: pl.LazyFrame | None
    #: Whether items are taken to stand between blanks, although nobody said so.
    guessed: bool = False
    #: Of the hashes of users.
    seed: int = field(default_factory=lambda: secrets.randbits(64))

    def place(self, row: int) -> str:
        """Say where a row is, by its number."""
        if self.first_line is None:
            return f"{self.name}, row {row} (from 0)"
        return f"{self.name}, line {self.first_line + row}"

    def fast(self) -> Iterator[pl.DataFrame]:
        """Give all entries in their order, as Polars reads them: number of the row, user (a hash), item, level."""
        columns = self.columns
        if self.table is None or columns.form not in ("long", "list"):
            raise OddError
        item, right = pl.col(columns.items[0]), ~pl.all_horizontal(pl.col(columns.all).is_null())  # null: a blank line
        name, level = pl.lit(None, pl.String), pl.lit(None, pl.String)
        if columns.user is not None:
            name = pl.col(columns.user).cast(pl.String)
            right &= (name != "") & ~name.str.contains("\n", literal=True)
        if columns.level is not None:
            level = pl.col(columns.level).cast(pl.String)
        if columns.form == "long":
            item = item.cast(pl.String)
        else:
            texts = pl.element().cast(pl.String).str.strip_chars(BLANKS).replace("", None)
            item = item.list.eval(texts).list.drop_nulls()
        chosen = self.table.select(right=right, user=name, item=item, level=level).with_row_index("row")
        entries = chosen.select("row", pl.when("right").then(_mark(pl.col("user"), self.seed)), "item", "level")
        if columns.form == "list":
            entries = entries.explode("item", empty_as_null=True)
        for part in entries.collect_batches(chunk_size=2**19, maintain_order=True):
            if part["user"].null_count():
                raise OddError
            yield part

    def careful(self, check: Callable[[Row], object], start: int = 0) -> Iterator[pl.DataFrame]:
        """Give all entries from a row on, and check every row; errors of the check are without the place."""
        rows = self._checked(check, start)
        kinds = [("user", pl.String()), ("item", pl.List(pl.String)), ("level", pl.String())]
        while chunk := list(itertools.islice(rows, _CHUNK)):
            frame = pl.DataFrame(chunk, schema=kinds, orient="row").with_row_index("row", start)
            yield frame.with_columns(_mark(pl.col("user"), self.seed)).explode("item", empty_as_null=True)
            start += len(chunk)

    def _checked(self, check: Callable[[Row], object], number: int) -> Iterator[Row]:
        """Give all rows from one on."""
        try:
            for cells in self.cells(number):
                check(row := self.columns.row(cells))
                yield row
                number += 1
        except DataError as error:
            raise DataError(f"{self.place(number)}: {error}") from None
        except FAILURES as error:
            raise _broken(self.name, error) from error


def _mark(name: pl.Expr, seed: int) -> pl.Expr:
    """Tell users apart by the hash of their name, or by the row where they have none."""
    return pl.when(name.is_null()).then(pl.col("row").cast(pl.UInt64)).otherwise(name.hash(seed)).alias("user")


def _broken(name: str, error: BaseException) -> DataError:
    reason = str(error).partition("\n")[0]
    return DataError(
        f"{name}: cannot be read to its end ({reason}). The data may be damaged or end early, as after an interrupted "
        "copy. Get the file again."
    )


def nobody(name: str) -> DataError:
    """Make the error about data without users."""
    return DataError(
        f"{name}: holds no user, or begins with a blank line. Expected is a table of users and items, or one line per "
        "user."
    )


def shown(value: str) -> str:
    """Return a value as messages show it."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "...'"


@contextlib.contextmanager
def opened(data: Any, layout: Layout) -> Iterator[Source]:
    """Open a file, standard input, a stream or a table in memory; streams are copied to a file, to be read twice."""
    if hasattr(data, "__arrow_c_stream__"):
        yield _table(data, layout)
        return
    with readable(data) as (path, name):
        yield _file(path, name, layout)


@contextlib.contextmanager
def readable(data: str | Path | IO[bytes]) -> Iterator[tuple[Path, str]]:
    """Give the path of a file that can be read twice, and its name for messages."""
    name = str(data) if isinstance(data, (str, Path)) else str(getattr(data, "name", "stream"))
    with contextlib.ExitStack() as stack:
        try:
            path = Path(name)
            if name == "-" or not isinstance(data, (str, Path)) or path.is_fifo():
                stream = sys.stdin.buffer if name == "-" else data
                if isinstance(stream, (str, Path)):
                    stream = stack.enter_context(path.open("rb"))
                path = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "data"
                with path.open("wb") as copy:
                    shutil.copyfileobj(stream, copy)
            with path.open("rb") as first:
                head = first.read(8)
            if _is_packed_parquet(path):
                packed, path = path, Path(stack.enter_context(tempfile.TemporaryDirectory())) / "unpacked"
                try:
                    with gzip.open(packed) as stream, path.open("wb") as copy:
                        shutil.copyfileobj(stream, copy)
                except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                    raise _broken(name, error) from error
        except (OSError, ValueError) as error:  # ValueError: a NUL character in the name, or a closed stream
            raise unreadable(name, error) from error
        name = "standard input" if name == "-" else name
        for magic, what in _FOREIGN.items():
            if head.startswith(magic):
                raise DataError(f"{name}: this is {what}.")
        yield path, name


def _is_packed_parquet(path: Path) -> bool:
    """Say whether a file is Parquet packed by gzip, which Polars unpacks for text only."""
    with contextlib.suppress(EOFError, zlib.error, gzip.BadGzipFile), gzip.open(path) as unpacked:
        return unpacked.read(4) == b"PAR1"
    return False


# --- columns -----------------------------------------------------------------------------------------------------


def _columns_of(names: Sequence[str], layout: Layout, lists: frozenset[str] = frozenset()) -> Columns:
    """Decide which columns hold what, or say what there is to decide; `lists` are the columns that hold lists."""
    twice = sorted({each for each in names if names.count(each) > 1})
    if twice:
        raise DataError(f"two columns are called {twice[0]!r}; rename one.")
    for option in ("user", "item", "level"):
        asked = getattr(layout, option)
        if asked is not None and asked not in names:
            raise DataError(f"there is no column {asked!r} ({option}); the columns are {_listed(names)}.")
    rest = [each for each in names if each != layout.level]
    user = layout.user or ("user" if "user" in rest else None)
    if layout.form in ("wide", "matrix") and layout.item is None and not lists & set(rest):
        items = tuple(each for each in rest if each != user)
        if not items:
            raise DataError(f"no column is left for the items; the columns are {_listed(names)}.")
        return Columns(layout.form, user, items, layout.level)
    item = layout.item or next((each for each in ("item", "items") if each in rest), None)
    if not layout.header and item is None and user is None and len(rest) == 2:
        user, item = rest
    if item is not None and item in lists:
        return Columns("list", user, (item,), layout.level)
    others = [each for each in rest if each != item]
    user = user or (others[0] if len(others) == 1 else None)
    if item is not None and user not in (None, item):
        return Columns("long", user, (item,), layout.level)
    hint = ""
    if len(names) == 1 and (found := [mark for mark in ";\t|, " if mark in names[0]]):
        hint = f" Or is the separator {found[0]!r}? Then give separator: {found[0]!r}."
    raise DataError(
        f"the columns are {_listed(names)}. Say which hold the user and the item (user: NAME, item: NAME), or "
        "give form: wide (a row per user, items in all other columns), form: matrix (a column per item, 1 or 0), "
        f"header: no (the first line is data) or format: lines (one line per user).{hint}"
    )


def _listed(names: Sequence[str]) -> str:
    listed = ", ".join(map(shown, names[:8]))
    return listed + (f" and {len(names) - 8} more" if len(names) > 8 else "")


# --- tables: Parquet, Arrow, pandas, Polars ----------------------------------------------------------------------


def _table(data: Any, layout: Layout) -> Source:
    """Read a table in memory."""
    try:
        if hasattr(data, "itertuples"):  # pandas, which offers Arrow only together with another library
            whole = data.astype(object)
            data = {str(name): whole[name].where(data[name].notna(), None).tolist() for name in data}
        return _typed(pl.DataFrame(data).lazy(), "table", layout)
    except (TypeError, pl.exceptions.PolarsError) as error:
        reason = str(error).partition("\n")[0]
        raise DataError(f"table: a column has mixed or unknown types ({reason}). Make it text or integers.") from error


def _typed(table: pl.LazyFrame, name: str, layout: Layout) -> Source:
    """Read a table whose columns have types."""
    schema = table.collect_schema()
    lists = frozenset(each for each, kind in schema.items() if isinstance(kind, (pl.List, pl.Array)))
    try:
        columns = _columns_of(list(schema), layout, lists)
    except DataError as error:
        raise DataError(f"{name}: {error}") from None

    def cells(start: int) -> Iterator[dict[str, Any]]:
        for part in table.select(columns.all).slice(start).collect_batches(maintain_order=True):
            yield from part.iter_rows(named=True)

    kinds = [getattr(schema[each], "inner", schema[each]) for each in columns.all if each != columns.level]
    plain = all(kind in (pl.String, pl.Categorical, pl.Enum) or kind.is_integer() for kind in kinds)
    plain &= not any(isinstance(schema[each], pl.Array) for each in columns.all)
    return Source(name, None, columns, cells, table if plain else None)


# --- text --------------------------------------------------------------------------------------------------------


def _file(path: Path, name: str, layout: Layout) -> Source:
    """Read a file of any format: as asked, or by its first bytes, or by the ending of its name, or lines."""
    with path.open("rb") as stream:
        head = stream.read(4)
    endings = [each.lower() for each in Path(name).suffixes if each.lower() not in (".gz", ".zst", ".zstd")]
    kind = layout.format or ("parquet" if head == b"PAR1" else _ENDINGS.get(endings[-1] if endings else "", "lines"))
    try:
        if kind == "parquet":
            return _typed(pl.scan_parquet(path), name, layout)
        first = next(text_lines(path, layout.skip_lines), "")
    except FAILURES as error:
        if kind == "parquet":
            raise DataError(
                f"{name}: not a whole Parquet file, or compressed twice ({str(error).partition(chr(10))[0]}). Unpack "
                "it, or get it again."
            ) from error
        raise _broken(name, error) from error
    if not first:
        raise nobody(name)
    if layout.format is None and kind == "lines" and first.lstrip().startswith("{"):
        kind = "jsonl"
    read = {"lines": _lines, "jsonl": _jsonl}.get(kind, _separated)
    try:
        return read(path, name, layout, first, layout.separator or ("\t" if kind == "tsv" else ","))
    except DataError as error:
        raise DataError(f"{name}, line {layout.skip_lines + 1}: {error}") from None
    except FAILURES as error:
        raise _broken(name, error) from error


def text_lines(path: Path, skip_lines: int = 0) -> Iterator[str]:
    """Give every line of a text file; blank ones at the end are left out. Bytes that are not UTF-8 become U+FFFD."""
    blank = 0
    for line in itertools.islice(_decoded_lines(path), skip_lines, None):
        if not (text := line.rstrip("\r")):
            blank += 1
            continue
        yield from itertools.repeat("", blank)
        yield text
        blank = 0


def _decoded_lines(path: Path) -> Iterator[str]:
    """Give every line of a text file, from the first one that is not UTF-8 on by the reader that mends such bytes.

    That one reads CSV and would take U+001F for the end of a column, which the other does not.
    """
    mending = pl.scan_csv(
        path, has_header=False, separator="\x1f", quote_char=None, schema={"line": pl.String}, encoding="utf8-lossy"
    )
    given = 0
    try:
        for part in _scanned(path).collect_batches(maintain_order=True):
            for line in part["line"]:
                given += 1
                yield line
    except FAILURES:
        with contextlib.suppress(pl.exceptions.NoDataError):
            for part in mending.slice(given).collect_batches(maintain_order=True):
                yield from (line or "" for line in part["line"])


def _scanned(path: Path) -> pl.LazyFrame:
    """Let Polars read the lines of a text file, without the mark that may stand at its beginning."""
    return pl.scan_lines(path, name="line").with_columns(pl.col("line").str.strip_prefix("\ufeff"))


def _separated(path: Path, name: str, layout: Layout, first: str, separator: str) -> Source:
    """Read CSV and TSV."""
    names = [each.strip() for each in _cells(first, separator)]
    if not layout.header:
        names = [str(number) for number in range(1, len(names) + 1)]
    columns, skip = _columns_of(names, layout), layout.skip_lines + layout.header

    def cells(start: int) -> Iterator[dict[str, str]]:
        for line in text_lines(path, skip + start):
            if not line.strip():
                raise DataError("blank, but more lines follow. Remove it; a user without items is a line too.")
            found = _cells(line, separator)
            if len(found) > len(names):
                raise DataError(
                    f"{shown(line)} has {len(found)} columns, but there should be {len(names)}: {_listed(names)}. "
                    f"Quote entries that contain {separator!r}."
                )
            yield dict(itertools.zip_longest(names, found, fillvalue=""))

    schema = dict.fromkeys(names, pl.String)
    table = pl.scan_csv(path, has_header=False, skip_lines=skip, separator=separator, schema=schema)
    return Source(name, skip + 1, columns, cells, table)


def _cells(line: str, separator: str) -> list[str]:
    if "\r" in line:
        raise DataError("has a carriage return within. Lines must end in LF or CRLF.")
    try:
        return next(csv.reader([line], delimiter=separator, strict=True), [])
    except csv.Error:
        raise DataError(f"{shown(line)} has a quote that is not closed; an entry must be on one line.") from None


def _lines(path: Path, name: str, layout: Layout, _first: str, _separator: str) -> Source:
    """Read one line per user."""
    for option in ("user", "item", "level", "form"):
        if getattr(layout, option) is not None:
            raise DataError(
                f"{option} = {getattr(layout, option)!r} is for tables with columns, but this is read as one "
                "line per user. If it is a table, give its format: csv, tsv, jsonl or parquet."
            )
    lines = text_lines(path, layout.skip_lines)
    skip = layout.skip_lines + sum(1 for _ in itertools.takewhile(lambda line: line.startswith("#"), lines))
    by_blanks = layout.separator in (None, " ")

    def cells(start: int) -> Iterator[dict[str, list[str]]]:
        for line in text_lines(path, skip + start):
            yield {"line": re.findall(_WORD, line) if by_blanks else line.split(layout.separator)}

    text = pl.col("line").str
    items = text.extract_all(_WORD) if by_blanks else text.split(layout.separator or "")
    # a blank line is to be refused, or at the end of the file
    table = _scanned(path).slice(skip).select(line=pl.when(text.strip_chars(BLANKS) != "").then(items))
    columns = Columns("list", None, ("line",), None)
    return Source(name, skip + 1, columns, cells, table, guessed=layout.separator is None)


def _jsonl(path: Path, name: str, layout: Layout, first: str, _separator: str) -> Source:
    """Read JSON Lines, an object on every line."""
    keys = _object(first)
    lists = frozenset(key for key, value in keys.items() if isinstance(value, list))
    columns = _columns_of(list(keys), layout, lists)

    def cells(start: int) -> Iterator[dict[str, Any]]:
        return map(_object, text_lines(path, layout.skip_lines + start))

    kinds = pl.Struct({each: pl.List(pl.String) if each in lists else pl.String for each in columns.all})
    text = pl.col("line")
    plain = pl.when(text.str.contains(_plain_object(list(keys), lists, columns))).then(text)
    table = _scanned(path).slice(layout.skip_lines).select(line=plain.str.json_decode(kinds))
    return Source(name, layout.skip_lines + 1, columns, cells, table.unnest("line"))


def _plain_object(keys: list[str], lists: frozenset[str], columns: Columns) -> str:
    """Return the pattern of lines that Polars reads as Python does: these keys in this order, with plain values."""
    named = rf"(?:{_JSON_TEXT}|0|[1-9]\d{{0,17}})"
    other = rf"(?:{_JSON_TEXT}|{_JSON_NUMBER}{'|true|false|null' if columns.level is None else ''})"
    several = rf"\[\s*(?:{named}(?:\s*,\s*{named})*)?\s*\]"
    values = dict.fromkeys((columns.user, *columns.items), named) | dict.fromkeys(lists, several)
    pairs = [rf"{re.escape(json.dumps(key, ensure_ascii=False))}\s*:\s*{values.get(key, other)}" for key in keys]
    return r"^\s*\{\s*" + r"\s*,\s*".join(pairs) + r"\s*\}\s*$"


def _object(line: str) -> dict[str, Any]:
    if "\ufffd" in line:
        raise DataError(f"{shown(line)} is not UTF-8. Save the file as UTF-8.")
    try:
        value = json.loads(line)
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise DataError(f"{shown(line)} holds an escape that is no character.") from None
    except (ValueError, RecursionError):
        raise DataError(f"{shown(line)} is not JSON; expected is an object on every line.") from None
    if not isinstance(value, dict):
        raise DataError(
            f"{shown(line)} is no object; expected is one on every line, such as "
            '{"user": "a", "items": ["x", "y"]}. An array can be split by jq -c ".[]".'
        )
    return value
