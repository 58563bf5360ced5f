"""Files and tables of any layout, as entries: who holds which item.

Polars reads regular rows, in parts. Irregular rows (with a quote, an escape, a missing cell or a wrong type) are read
one by one: the entries of a valid row are used, and for any other row an error says what is wrong. All rows of the form
matrix count as irregular.
"""

import contextlib
import csv
import functools
import itertools
import json
import re
import secrets
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from segshuffle.datasets.layout import BLANKS, Layout, shown
from segshuffle.errors import DataError
from segshuffle.extras import require
from segshuffle.files import unreadable

require("data", "Reading a file of your own")

import polars as pl  # noqa: E402  after the sentence that says what is missing

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
# Texts and numbers of JSON as patterns: no half of a surrogate pair, no number that is too long.
_JSON_TEXT = r'"(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u(?:[0-9a-ce-fA-CE-F][0-9a-fA-F]{3}|[dD][0-7][0-9a-fA-F]{2}))*"'
_JSON_NUMBER = r"-?(?:0|[1-9]\d{0,17})(?:\.\d{1,17})?"
# Rows that are handled together.
_PART = 2**19


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

    def row(self, cells: Mapping[str, Any]) -> tuple[str | None, list[str], str | None]:
        """Return the user, the items and the level of a row: of its cells, by column."""
        if missing := set(self.all) - set(cells):
            raise DataError(f"there is no key {min(missing)!r}; the keys are {_listed(list(cells))}.")
        level = None if self.level is None or cells[self.level] is None else str(cells[self.level])
        user = None if self.user is None else _text_of(cells[self.user], self.user)
        if user == "":
            raise DataError("no user. Give one, or remove the line.")
        if self.form == "list":
            (column,) = self.items
            listed = cells[column] or []
            if not isinstance(listed, list):
                raise DataError(f"{column!r} is {shown(str(listed))}, but a list on other lines.")
            held = [_text_of(each, column) for each in listed]
        else:
            texts = {column: _text_of(cells[column], column) for column in self.items}
            held = [*texts.values()]
            if self.form == "matrix":
                held = [column for column, text in texts.items() if _is_held(text, column)]
        return user, [each for each in held if each.strip(BLANKS)], level


def _text_of(value: object, column: str) -> str:
    """Return a cell as text, "" for none; refuse lists and decimal numbers."""
    if value is None or value != value:  # NaN, as tables mark a gap
        return ""
    if isinstance(value, float) and value.is_integer() and abs(value) <= 2**53:
        return str(int(value))
    if isinstance(value, (list, dict, float)):
        raise DataError(f"{column!r} holds {shown(str(value))}; expected is text, an integer, or a list of them.")
    return str(value)


def _is_held(cell: str, column: str) -> bool:
    """Say what a cell of a matrix says: whether the user holds the item of the column."""
    for holds, words in ((True, ("1", "true", "yes", "1.0")), (False, ("0", "false", "no", "", "0.0"))):
        if cell.strip(BLANKS).lower() in words:
            return holds
    raise DataError(
        f"{shown(cell)} in column {column!r}; in form matrix a cell is 1 or 0 and says whether the user holds that "
        "item. If cells are names of items, give form: wide."
    )


@dataclass(frozen=True)
class Source:
    """Entries (who holds which item) of a file or table."""

    name: str
    #: Number of the line that the first row is on; None for a table without lines.
    first_line: int | None
    columns: Columns
    #: What `_read` makes: the rows as Polars reads them.
    rows: pl.LazyFrame
    #: The cells of an odd row by column; errors are without the place.
    cells: Callable[[Any], Mapping[str, Any]]
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
        for part in self._parts():
            found, odd = part.drop("row", "odd"), part.filter("odd")
            if odd.height:
                found = found.filter(~part["odd"])
            if self.columns.form != "long":
                found = found.explode("item", empty_as_null=True)
            if odd.height:
                found = pl.concat([found, self._odd_rows(odd)]).sort("number", maintain_order=True)
            yield found.with_columns(user=mark)

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

    def _odd_rows(self, odd: pl.DataFrame) -> pl.DataFrame:
        """Read rows one by one."""
        found = []
        for number, row in odd.select("number", "row").iter_rows():
            try:
                found.append((number, *self.columns.row(self.cells(row))))
            except DataError as error:
                raise DataError(f"{self.place(number)}: {error}") from None
        schema = {"number": pl.UInt32, "user": pl.String, "item": pl.List(pl.String), "level": pl.String}
        return pl.DataFrame(found, schema=schema, orient="row").explode("item", empty_as_null=True)


def _read(table: pl.LazyFrame, columns: Columns, cells: Mapping[str, pl.Expr], odd: pl.Expr) -> pl.LazyFrame:
    """Read the rows of a table: number, user, items and level, the row as it stands, and whether it is odd."""
    user = level = pl.lit(None, pl.String)
    if columns.user is not None:
        user = cells[columns.user].cast(pl.String)
        odd |= user.fill_null("") == ""
    if columns.level is not None:
        level = cells[columns.level].cast(pl.String)
    if columns.form == "matrix":
        odd = pl.lit(True)
    item = cells[columns.items[0]]
    if columns.form == "long":
        item = item.cast(pl.String)
    else:
        if columns.form != "list":
            item = pl.concat_list(cells[each].cast(pl.String) for each in columns.items)
        texts = pl.element().cast(pl.String).str.strip_chars(BLANKS).replace("", None)
        item = item.list.eval(texts).list.drop_nulls()
    return table.with_row_index("number").select("number", "row", user=user, item=item, level=level, odd=odd)


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
    """Read a table whose columns have types: text and integers by Polars, all others row by row."""
    table = table.with_columns(pl.selectors.array().arr.to_list())
    schema = table.collect_schema()
    lists = frozenset(each for each, kind in schema.items() if isinstance(kind, pl.List))
    try:
        columns = _columns_of(list(schema), layout, lists)
    except DataError as error:
        raise DataError(f"{name}: {error}") from None
    kinds = [getattr(schema[each], "inner", schema[each]) for each in columns.all if each != columns.level]
    odd = not all(kind in (pl.String, pl.Categorical, pl.Enum) or kind.is_integer() for kind in kinds)
    rows = table.select(row=pl.struct(columns.all))
    found = {each: pl.col("row").struct.field(each) for each in columns.all}
    return Source(name, None, columns, _read(rows, columns, found, pl.lit(odd)), lambda row: row)


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
    try:
        first = next(iter(_lines_of(path).slice(layout.skip_lines).head(1).collect()["row"]), "")
        if not first:
            raise DataError(NOBODY)
        if layout.format is None and kind == "lines" and first.lstrip().startswith("{"):
            kind = "jsonl"
        return _TEXTS[kind](path, name, layout, first)
    except DataError as error:
        raise DataError(f"{name}, line {layout.skip_lines + 1}: {error}") from None
    except _FAILURES as error:
        raise _broken(name, error, path) from error


def _lines_of(path: Path) -> pl.LazyFrame:
    """Let Polars read the lines of a text file, without the mark that may stand at its beginning."""
    return pl.scan_lines(path, name="row").with_columns(pl.col("row").str.strip_prefix("\ufeff"))


def _separated(separator: str, path: Path, name: str, layout: Layout, first: str) -> Source:
    """Read CSV and TSV."""
    separator, skip = layout.separator or separator, layout.skip_lines + layout.header
    names = [each.strip() for each in _cells(first, separator)]
    if not layout.header:
        names = [str(number) for number in range(1, len(names) + 1)]
    columns = _columns_of(names, layout)

    def cells(line: str) -> dict[str, str]:
        if not line.strip():
            raise DataError("blank. Remove it; a user without items is a line too.")
        found = _cells(line, separator)
        if len(found) > len(names):
            raise DataError(
                f"{shown(line)} has {len(found)} columns, but there should be {len(names)}: {_listed(names)}. "
                f"Quote entries that contain {separator!r}."
            )
        return dict(itertools.zip_longest(names, found, fillvalue=""))

    line, read = pl.col("row"), pl.col("read")
    table = _lines_of(path).slice(skip).with_columns(read=line.str.split(separator))
    odd = (line == "") | line.str.contains(r'["\r]') | (read.list.len() != len(names))
    found = {each: read.list.get(number, null_on_oob=True) for number, each in enumerate(names)}
    return Source(name, skip + 1, columns, _read(table, columns, found, odd), cells, path)


def _cells(line: str, separator: str) -> list[str]:
    if "\r" in line:
        raise DataError("has a carriage return within. Lines must end in LF or CRLF.")
    try:
        return next(csv.reader([line], delimiter=separator, strict=True), [])
    except csv.Error:
        raise DataError(f"{shown(line)} has a quote that is not closed; an entry must be on one line.") from None


def _lines(path: Path, name: str, layout: Layout, _first: str) -> Source:
    """Read one line per user."""
    for option in ("user", "item", "level", "form"):
        if getattr(layout, option) is not None:
            raise DataError(
                f"{option} = {getattr(layout, option)!r} is for tables with columns, but this is read as one "
                "line per user. If it is a table, give its format: csv, tsv, jsonl or parquet."
            )
    text = pl.col("row").str
    table = _lines_of(path).slice(layout.skip_lines)
    begin = table.with_row_index().filter(~text.starts_with("#")).head(1).collect()["index"]
    skip = next(iter(begin), sys.maxsize)  # where all lines are comments
    items = text.extract_all(_WORD) if layout.separator in (None, " ") else text.split(layout.separator)
    columns = Columns("list", None, ("row",), None)
    rows = _read(table.slice(skip), columns, {"row": items}, pl.lit(False))
    return Source(name, layout.skip_lines + skip + 1, columns, rows, dict, path, guessed=layout.separator is None)


def _jsonl(path: Path, name: str, layout: Layout, first: str) -> Source:
    """Read JSON Lines, an object on every line."""
    keys = _object(first)
    lists = frozenset(key for key, value in keys.items() if isinstance(value, list))
    columns = _columns_of(list(keys), layout, lists)
    kinds = pl.Struct({each: pl.List(pl.String) if each in lists else pl.String for each in columns.all})
    line, read = pl.col("row"), pl.col("read")
    plain = pl.when(line.str.contains(_plain_object(list(keys), lists, columns))).then(line)
    table = _lines_of(path).slice(layout.skip_lines).with_columns(read=plain.str.json_decode(kinds))
    found = {each: read.struct.field(each) for each in columns.all}
    return Source(name, layout.skip_lines + 1, columns, _read(table, columns, found, read.is_null()), _object, path)


def _plain_object(keys: list[str], lists: frozenset[str], columns: Columns) -> str:
    """Return the pattern of lines that Polars reads as Python does: these keys in this order, with plain values."""
    named = rf"(?:{_JSON_TEXT}|0|[1-9]\d{{0,17}})"
    other = rf"(?:{_JSON_TEXT}|{_JSON_NUMBER}{'|true|false|null' if columns.level is None else ''})"
    several = rf"\[\s*(?:{named}(?:\s*,\s*{named})*)?\s*\]"
    values = dict.fromkeys((columns.user, *columns.items), named) | dict.fromkeys(lists, several)
    pairs = [rf"{re.escape(json.dumps(key, ensure_ascii=False))}\s*:\s*{values.get(key, other)}" for key in keys]
    return r"^\s*\{\s*" + r"\s*,\s*".join(pairs) + r"\s*\}\s*$"


def _object(line: str) -> dict[str, Any]:
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


#: What reads each format, given the file, its name, the layout and the first line.
_TEXTS: Mapping[str, Callable[[Path, str, Layout, str], Source]] = {
    "csv": functools.partial(_separated, ","),
    "tsv": functools.partial(_separated, "\t"),
    "jsonl": _jsonl,
    "lines": _lines,
}
