"""Files and tables of any layout, as entries: who holds which item.

Polars reads them in parts: rows become cells, columns of text, and cells become entries.
"""

import contextlib
import json
import re
import secrets
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from segshuffle.datasets.layout import BLANKS, Layout, shown
from segshuffle.errors import DataError
from segshuffle.extras import require
from segshuffle.files import unreadable

require("data", "Reading a file of your own")

import polars as pl  # noqa: E402  after the sentence that says what is missing

#: Makes cells of the rows of a table or the lines of a text: columns of texts, or of lists of texts.
Read = Callable[[pl.DataFrame], pl.DataFrame]
NOBODY = "there is no user, or a blank line before them. Expected is a table of users and items, or one line per user."
#: What Polars raises on files that it cannot read.
_FAILURES = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)

_ENDINGS = {
    "csv": "csv",
    "tsv": "tsv",
    "jsonl": "jsonl",
    "ndjson": "jsonl",
    "parquet": "parquet",
    "pq": "parquet",
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
# Rows that are handled together.
_PART = 2**18


class _RowError(DataError):
    """Something is wrong with a row, which is given by its place in the part that is read."""

    def __init__(self, row: int, reason: object) -> None:
        super().__init__(str(reason))
        self.row = row


def _refuse(wrong: pl.Series, reason: Callable[[int], str]) -> None:
    """Raise an error about the first row that is marked as wrong, if there is one, with the reason."""
    if wrong.any():
        row = wrong.fill_null(False).arg_max() or 0
        raise _RowError(row, reason(row))


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

    def entries(self, cells: pl.DataFrame) -> pl.DataFrame:
        """Return who holds which item: an entry per item (null if a row has none), with the number of its row."""
        items = [_held(cells[each]) if self.form == "matrix" else cells[each] for each in self.items]
        item = items[0] if self.form in ("long", "list") else pl.select(pl.concat_list(items)).to_series()
        user, level = (None if each is None else cells[each] for each in (self.user, self.level))
        if user is not None:
            _refuse(user.fill_null("") == "", lambda row: "no user. Give one, or remove the line.")
        found = pl.DataFrame({"item": item, "user": user, "level": level}).with_row_index("number")
        if self.form == "long":
            return found
        texts = pl.element().str.strip_chars(BLANKS).replace("", None)
        return found.with_columns(pl.col("item").list.eval(texts).list.drop_nulls()).explode("item", empty_as_null=True)


def _held(cells: pl.Series) -> pl.Series:
    """Return the name of a column of a matrix for the users who hold its item, null for others."""
    words = cells.fill_null("").str.strip_chars(BLANKS).str.to_lowercase()
    holds = words.is_in(["1", "true", "yes", "1.0"])
    _refuse(
        ~holds & ~words.is_in(["0", "false", "no", "", "0.0"]),
        lambda row: (
            f"{shown(cells[row])} in column {cells.name!r}; in form matrix a cell is 1 or 0 and says whether the user "
            "holds that item. If cells are names of items, give form: wide."
        ),
    )
    return pl.select(pl.when(holds).then(pl.lit(cells.name))).to_series()


@dataclass(frozen=True)
class Source:
    """Entries (who holds which item) of a file or table."""

    name: str
    #: Number of the line that the first row is on; None for a table without lines.
    first_line: int | None
    columns: Columns
    #: Rows of a table, or the lines of a text.
    rows: pl.LazyFrame
    cells: Read
    #: The file of a text.
    text: Path | None = None
    #: Whether items are taken to stand between blanks, although nobody said so.
    guessed: bool = False
    #: Of the hashes of users.
    seed: int = field(default_factory=lambda: secrets.randbits(64))

    def place(self, number: int) -> str:
        """Say where a row is, by its number."""
        if self.first_line is None:
            return f"{self.name}, row {number} (from 0)"
        return f"{self.name}, line {self.first_line + number}"

    def entries(self) -> Iterator[pl.DataFrame]:
        """Give all entries in their order: number of the row, user (a hash), item (null if there is none), level."""
        mark = pl.col("user").hash(self.seed)
        if self.columns.user is None:  # every row is a user
            mark = pl.col("number").cast(pl.UInt64)
        begin = 0
        for part in self._parts():
            try:
                found = self.columns.entries(self.cells(part))
            except _RowError as error:
                raise DataError(f"{self.place(begin + error.row)}: {error}") from None
            yield found.with_columns(pl.col("number") + begin).with_columns(user=mark)
            begin += part.height

    def _parts(self) -> Iterator[pl.DataFrame]:
        """Give the rows in parts, without blank lines at the end."""
        blank = self.rows.clear().collect()
        try:
            for each in self.rows.collect_batches(chunk_size=_PART, maintain_order=True):
                part = pl.concat([blank, each])
                end = part.height
                while self.text and end and part["row"][end - 1] == "":
                    end -= 1
                blank = part[end:]
                if end:
                    yield part[:end]
        except _FAILURES as error:
            raise _broken(self.name, error, self.text) from error


def _broken(name: str, error: BaseException, text: Path | None) -> DataError:
    """Make the error about a file that cannot be read to its end: the first line of a text that is not UTF-8."""
    with contextlib.suppress(*_FAILURES):
        lines = pl.scan_csv(
            text or "",
            has_header=False,
            separator="\x1f",
            quote_char=None,
            schema={"line": pl.String},
            encoding="utf8-lossy",
            truncate_ragged_lines=True,
        )
        wrong = lines.with_row_index().filter(pl.col("line").str.contains("\ufffd", literal=True)).head(1).collect()
        for number, line in wrong.iter_rows():
            return DataError(
                f"{name}, line {number + 1}: {shown(line)} is not UTF-8. Is this a text file? One in Latin-1 is "
                "converted by iconv -f latin1 -t utf-8."
            )
    reason = str(error).partition("\n")[0]
    return DataError(
        f"{name}: cannot be read to its end ({reason}). The data may be damaged or end early, as after an interrupted "
        "copy. Get the file again."
    )


@contextlib.contextmanager
def opened(data: Any, layout: Layout) -> Iterator[Source]:
    """Open a file, standard input, a stream or a table in memory; streams are copied to a file, to be read twice."""
    if hasattr(data, "__arrow_c_stream__"):
        yield _table(data, layout)
        return
    name = str(data) if isinstance(data, (str, Path)) else str(getattr(data, "name", "stream"))
    with tempfile.NamedTemporaryFile() as copy, contextlib.ExitStack() as stack:
        try:
            path = Path(name)
            if name == "-":
                data = sys.stdin.buffer
            elif isinstance(data, (str, Path)) and path.is_fifo():
                data = stack.enter_context(path.open("rb"))
            if not isinstance(data, (str, Path)):
                shutil.copyfileobj(data, copy)
                copy.flush()
                path = Path(copy.name)
            with path.open("rb") as first:
                head = first.read(8)
        except (OSError, ValueError) as error:  # ValueError: a NUL character in the name, or a closed stream
            raise unreadable(name, error) from error
        name = "standard input" if name == "-" else name
        for magic, what in _FOREIGN.items():
            if head.startswith(magic):
                raise DataError(f"{name}: this is {what}.")
        yield _file(path, name, layout, parquet=head.startswith(b"PAR1"))


# --- columns -----------------------------------------------------------------------------------------------------


def _columns_of(names: Sequence[str], layout: Layout, lists: frozenset[str] = frozenset()) -> Columns:
    """Decide which columns hold what, or say what there is to decide; `lists` are the columns that hold lists."""
    if twice := [each for each in names if names.count(each) > 1]:
        raise DataError(f"two columns are called {twice[0]!r}; rename one.")
    for option in ("user", "item", "level"):
        asked = getattr(layout, option)
        if asked is not None and asked not in names:
            raise DataError(f"there is no column {asked!r} ({option}); the columns are {_listed(names)}.")
    rest = [each for each in names if each != layout.level]
    user = layout.user or ("user" if "user" in rest else None)
    if wrong := lists & {user, layout.level}:
        raise DataError(f"{min(wrong)!r} holds lists; expected is text or a number.")
    others = tuple(each for each in rest if each != user)
    if layout.form in ("wide", "matrix") and layout.item is None and others and not lists & set(rest):
        return Columns(layout.form, user, others, layout.level)
    item = layout.item or next((each for each in ("item", "items") if each in rest), None)
    if not layout.header and item is None and user is None and len(rest) == 2:
        user, item = rest
    if item in lists:
        return Columns("list", user, (item,), layout.level)
    if user is None and len(rest) == 2:
        user = next(each for each in rest if each != item)
    if item is not None and user not in (None, item):
        return Columns("long", user, (item,), layout.level)
    raise _undecided(names)


def _undecided(names: Sequence[str]) -> DataError:
    """Make the error about columns of which it is not clear what they hold."""
    hint = ""
    if len(names) == 1 and (found := [mark for mark in ";\t|, " if mark in names[0]]):
        hint = f" Or is the separator {found[0]!r}? Then give separator: {found[0]!r}."
    return DataError(
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
            whole = data.rename(columns=str).astype(object)
            data = whole.where(whole.notna(), None).to_dict("list")
        return _typed(pl.DataFrame(data).lazy(), "table", layout)
    except (TypeError, pl.exceptions.PolarsError) as error:
        reason = str(error).partition("\n")[0]
        raise DataError(f"table: a column has mixed or unknown types ({reason}). Make it text or integers.") from error


def _typed(table: pl.LazyFrame, name: str, layout: Layout) -> Source:
    """Read a table whose columns have types."""
    table = table.with_columns(pl.selectors.array().arr.to_list())
    schema = table.collect_schema()
    lists = frozenset(each for each, kind in schema.items() if isinstance(kind, pl.List))
    try:
        columns = _columns_of(list(schema), layout, lists)
        for each in columns.all:
            kind = getattr(schema[each], "inner", schema[each])
            if kind.is_nested() or kind == pl.Object or (kind.is_float() and each in lists):
                raise DataError(f"{each!r} is {schema[each]}; expected is text, integers, or lists of them.")
    except DataError as error:
        raise DataError(f"{name}: {error}") from None

    def cells(rows: pl.DataFrame) -> pl.DataFrame:
        whole = (_whole(each) if each.dtype.is_float() and each.name != columns.level else each for each in rows)
        return pl.DataFrame([each.cast(pl.List(pl.String) if each.name in lists else pl.String) for each in whole])

    return Source(name, None, columns, table.select(columns.all), cells)


def _whole(numbers: pl.Series) -> pl.Series:
    """Return numbers as integers, NaN (as tables mark a gap) as null; refuse decimal numbers."""
    numbers = numbers.fill_nan(None)
    _refuse(
        (numbers != numbers.floor()) | (numbers.abs() > 2**53),
        lambda row: f"{numbers.name!r} holds '{numbers[row]}'; expected is text, an integer, or a list of them.",
    )
    return numbers.cast(pl.Int64)


# --- text --------------------------------------------------------------------------------------------------------


def _file(path: Path, name: str, layout: Layout, *, parquet: bool) -> Source:
    """Read a file of any format: as asked, or by its first bytes, or by the ending of its name, or lines."""
    ending = re.sub(r"\.(gz|zst|zstd)$", "", name.lower()).rpartition(".")[2]
    kind = layout.format or ("parquet" if parquet else _ENDINGS.get(ending, "lines"))
    if kind == "parquet":
        try:
            return _typed(pl.scan_parquet(path), name, layout)
        except _FAILURES as error:
            raise DataError(
                f"{name}: not a whole Parquet file, or compressed ({str(error).partition(chr(10))[0]}). Unpack it, or "
                "get it again."
            ) from error
    skip, guessed = layout.skip_lines, False
    try:
        # without the mark that may stand at the beginning
        lines = pl.scan_lines(path, name="row").with_columns(pl.col("row").str.strip_prefix("\ufeff"))
        first = next(iter(lines.slice(skip).head(1).collect()["row"]), "")
        if not first:
            raise DataError(NOBODY)
        if kind == "jsonl" or (layout.format is None and kind == "lines" and first.lstrip().startswith("{")):
            columns, cells = _jsonl(layout, first)
        elif kind == "lines":
            columns, cells = _lines(layout)
            guessed = layout.separator is None
            begin = lines.slice(skip).with_row_index().filter(~pl.col("row").str.starts_with("#")).head(1).collect()
            skip += next(iter(begin["index"]), sys.maxsize - skip)  # where all lines are comments
        else:
            columns, cells = _separated(layout, first, layout.separator or {"csv": ",", "tsv": "\t"}[kind])
            skip += layout.header
    except DataError as error:
        raise DataError(f"{name}, line {layout.skip_lines + 1}: {error}") from None
    except _FAILURES as error:
        raise _broken(name, error, path) from error
    return Source(name, skip + 1, columns, lines.slice(skip), cells, path, guessed)


def _separated(layout: Layout, first: str, separator: str) -> tuple[Columns, Read]:
    """Say how csv and tsv are read, given the first line."""
    names = [each.strip() for each in _split(pl.Series([first]), separator)[0]]
    if not layout.header:
        names = [str(number) for number in range(1, len(names) + 1)]
    columns = _columns_of(names, layout)

    def cells(rows: pl.DataFrame) -> pl.DataFrame:
        lines = rows["row"]
        found = _split(lines, separator)
        _refuse(lines.str.strip_chars() == "", lambda row: "blank. Remove it; a user without items is a line too.")
        _refuse(
            found.list.len() > len(names),
            lambda row: (
                f"{shown(lines[row])} has {len(found[row])} columns, but there should be {len(names)}: "
                f"{_listed(names)}. Quote entries that contain {separator!r}."
            ),
        )
        return pl.DataFrame({each: found.list.get(names.index(each), null_on_oob=True) for each in columns.all})

    return columns, cells


def _split(lines: pl.Series, separator: str) -> pl.Series:
    """Return the entries of every line, as a list; those that contain the separator have quotes around them."""
    _refuse(lines.str.contains("\r"), lambda row: "has a carriage return within. Lines must end in LF or CRLF.")
    quoted = lines.str.contains('"')
    if not quoted.any():
        return lines.str.split(separator)
    mark = rf"\x{ord(separator):02x}"
    entry = rf'{mark}(?:"(?:[^"]|"")*"|[^"{mark}][^{mark}]*|)'
    begun = separator + lines
    _refuse(
        ~begun.str.contains(f"^(?:{entry})+$"),
        lambda row: f"{shown(lines[row])} has a quote that is not closed; an entry must be on one line.",
    )
    plain = pl.element().str.strip_prefix(separator)
    bare = plain.str.replace('(?s)^"(.*)"$', "$1").str.replace_all('""', '"', literal=True)
    unquoted = pl.when(plain.str.starts_with('"')).then(bare).otherwise(plain)
    return begun.str.extract_all(entry).list.eval(unquoted)


def _lines(layout: Layout) -> tuple[Columns, Read]:
    """Say how one line per user is read."""
    for option in ("user", "item", "level", "form"):
        if getattr(layout, option) is not None:
            raise DataError(
                f"{option} = {getattr(layout, option)!r} is for tables with columns, but this is read as one "
                "line per user. If it is a table, give its format: csv, tsv, jsonl or parquet."
            )
    text = pl.col("row").str
    items = text.extract_all(_WORD) if layout.separator in (None, " ") else text.split(layout.separator)
    return Columns("list", None, ("row",), None), lambda rows: rows.select(items)


def _jsonl(layout: Layout, first: str) -> tuple[Columns, Read]:
    """Say how JSON Lines are read, an object on every line, given the first one."""
    try:
        keys = json.loads(first)
        json.dumps(keys, ensure_ascii=False).encode()  # an error where an escape is no character
    except (ValueError, RecursionError):
        raise DataError(_no_object(first)) from None
    if not isinstance(keys, dict):
        raise DataError(_no_object(first))
    lists = frozenset(key for key, value in keys.items() if isinstance(value, list))
    columns = _columns_of(list(keys), layout, lists)
    kinds = pl.Struct({each: pl.List(pl.String) if each in lists else pl.String for each in columns.all})

    def cells(rows: pl.DataFrame) -> pl.DataFrame:
        lines = rows["row"]
        _refuse(lines.str.strip_chars() == "", lambda row: _no_object(lines[row]))
        try:
            found = lines.str.json_decode(kinds).struct.unnest()
        except _FAILURES:
            if lines.len() == 1:
                raise _RowError(0, _no_object(lines[0])) from None
            half = lines.len() // 2  # the first half is read without an error, or one of its lines is named
            cells(rows[:half])
            try:
                cells(rows[half:])
            except _RowError as error:
                raise _RowError(half + error.row, error) from None
            raise
        for each in found:
            if each.dtype == pl.String:  # Polars takes an escape that is no character for NUL
                _refuse(each.str.contains("\0", literal=True), lambda row: _no_object(lines[row]))
        return found

    return columns, cells


def _no_object(line: str) -> str:
    return (
        f"{shown(line)} is not JSON with text and numbers; expected is an object on every line, like the first one, "
        'such as {"user": "a", "items": ["x", "y"]}. An array of them can be split by jq -c ".[]".'
    )
