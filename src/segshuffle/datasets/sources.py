"""Files and tables of any layout, as entries: who holds which item.

Polars reads them in parts. Rows become cells (columns of text), and cells become entries.
"""

import contextlib
import secrets
import sys
import tempfile
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple

from segshuffle.arrays import Table
from segshuffle.datasets.layout import BLANKS, FORMATS, Layout, shown
from segshuffle.errors import DataError, ParameterError
from segshuffle.extras import require
from segshuffle.files import open_input, unreadable

require("data", "Reading a file of your own")

import polars as pl  # noqa: E402  after the sentence that says what is missing

#: Makes cells of the rows of a table or the lines of a text: columns of texts, or of lists of texts.
Read = Callable[[pl.DataFrame], pl.DataFrame]
NOBODY = "there is no user, or a blank line comes first. Expected is a table of users and items, or one line per user."
#: What Polars raises on files that it cannot read.
_FAILURES = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)
#: Most bytes of a stream, which is copied; a file may have any size.
MOST_STREAMED = 2**32
_WORD = r"[^ \t\r\x0b\x0c]+"
# Rows that are handled together.
_PART = 2**18
#: Secret, so that nobody can choose a name with the hash of another user's name.
_SEED = secrets.randbits(64)


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
    """The columns of the user, the items and the level."""

    form: str  # "long", "list", "wide" or "matrix"
    user: str | None
    items: tuple[str, ...]
    level: str | None

    @property
    def kinds(self) -> dict[str, Any]:
        """Types of all columns that are read, by name: text, or lists of texts."""
        named = [each for each in (self.user, *self.items, self.level) if each is not None]
        return {each: pl.List(pl.String) if self.form == "list" and each in self.items else pl.String for each in named}

    def entries(self, cells: pl.DataFrame) -> pl.DataFrame:
        """Return who holds which item: an entry per item (null if a row has none), with the number of its row."""
        items = [_held(cells[each]) if self.form == "matrix" else cells[each] for each in self.items]
        item = items[0] if self.form in ("long", "list") else pl.select(pl.concat_list(items)).to_series()
        user, level = (None if each is None else cells[each] for each in (self.user, self.level))
        if user is not None:
            # Polars reads an escape of JSON that is no character as NUL
            nobody = user.is_null() | (user == "") | user.str.contains("\0", literal=True)
            _refuse(nobody, lambda row: "no user, or no text as the user. Give one, or remove the line.")
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
            "holds that item. If cells are names of items, give form = wide."
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

    def place(self, number: int) -> str:
        """Say where a row is, by its number."""
        if self.first_line is None:
            return f"{self.name}, row {number} (from 0)"
        return f"{self.name}, line {self.first_line + number}"

    def entries(self) -> Iterator[pl.DataFrame]:
        """Give all entries in their order: number of the row, user (a hash), item (null if there is none), level."""
        # without a column of users every row is a user
        user = pl.col("number").cast(pl.UInt64) if self.columns.user is None else pl.col("user").hash(_SEED)
        begin = 0
        try:
            for part in self.rows.collect_batches(chunk_size=_PART, maintain_order=True):
                found = self.columns.entries(self.cells(part))
                yield found.with_columns(pl.col("number") + begin).with_columns(user=user)
                begin += part.height
        except _RowError as error:
            raise DataError(f"{self.place(begin + error.row)}: {error}") from None
        except _FAILURES as error:
            raise _broken(self.name, error, self.text) from error


def _broken(name: str, error: BaseException, file: Path | None) -> DataError:
    """Make the error about a file that cannot be read to its end; it names the first line that is not UTF-8, if any."""
    with contextlib.suppress(*_FAILURES):
        lines = pl.scan_csv(
            file or "",
            has_header=False,
            separator="\x1f",
            quote_char=None,
            schema={"line": pl.String},
            encoding="utf8-lossy",
            truncate_ragged_lines=True,
        )
        wrong = lines.with_row_index(offset=1).filter(pl.col("line").str.contains("\ufffd")).head(1).collect()
        for number, line in wrong.iter_rows():
            return DataError(
                f"{name}, line {number}: {shown(line)} is not UTF-8. Is this a text file? One in Latin-1 is converted "
                "by iconv -f latin1 -t utf-8; give format = parquet for a Parquet file."
            )
    reason = str(error).partition("\n")[0]
    return DataError(
        f"{name}: cannot be read to its end ({reason}). The data may be damaged or end early, as after an interrupted "
        "copy. Get the file again."
    )


@contextlib.contextmanager
def opened(data: Any, layout: Layout) -> Iterator[Source]:
    """Open a file, standard input, a stream or a table in memory; streams are copied to a file, to be read twice."""
    if isinstance(data, Table):
        yield _table(data, layout)
        return
    if not isinstance(data, (str, Path)) and not hasattr(data, "read"):
        raise ParameterError(
            "data", data, "a file, a binary stream, or a table of Polars (no LazyFrame), Arrow or pandas"
        )
    name = str(data) if isinstance(data, (str, Path)) else str(getattr(data, "name", "stream"))
    if name == "-":
        data, name = sys.stdin.buffer, "standard input"
    with tempfile.TemporaryFile() as copy, contextlib.ExitStack() as stack:
        try:
            path = Path(data) if isinstance(data, (str, Path)) else None
            if path is not None:
                if path.is_char_device():
                    raise OSError("it is a device, not a file")
                data = stack.enter_context(open_input(path))
            if path is None or not path.is_file():  # a stream or a pipe
                _copy(data, copy, name)
                # the copy has no name, so nothing of the data stays if the program is killed
                path = Path(f"/dev/fd/{copy.fileno()}")
        except (OSError, ValueError) as error:  # ValueError: a NUL character in the name, or a closed stream
            raise unreadable(name, error) from error
        yield _file(path, name, layout)


def _copy(stream: IO[bytes], copy: IO[bytes], name: str) -> None:
    """Copy a stream, which may have no end."""
    while part := stream.read(2**20):
        if copy.tell() + len(part) > MOST_STREAMED:
            raise DataError(
                f"{name}: has more than {MOST_STREAMED} bytes, the most that is read from a stream or a device. Does "
                "it end? Write it to a file, and give the name of the file."
            )
        copy.write(part)
    copy.flush()


# --- columns -----------------------------------------------------------------------------------------------------


def _columns_of(kinds: Mapping[str, pl.DataType], layout: Layout) -> Columns:
    """Decide which columns hold what, by their names and types; if that is unclear, the error says what to give."""
    for option in ("user", "item", "level_column"):
        asked = getattr(layout, option)
        if asked is not None and asked not in kinds:
            raise DataError(f"{option} = {asked!r}: there is no such column; the columns are {_listed([*kinds])}.")
    lists = {each for each, kind in kinds.items() if isinstance(kind, (pl.List, pl.Array))}
    rest = [each for each in kinds if each != layout.level_column]
    user = layout.user or ("user" if "user" in rest else None)
    if wrong := lists & {user, layout.level_column}:
        raise DataError(f"{min(wrong)!r} holds lists; expected is text or a number.")
    others = tuple(each for each in rest if each != user)
    if layout.form in ("wide", "matrix") and layout.item is None and others and not lists & set(rest):
        return Columns(layout.form, user, others, layout.level_column)
    item = layout.item or next((each for each in ("item", "items") if each in rest), None)
    if item in lists:
        return Columns("list", user, (item,), layout.level_column)
    if user is None and len(rest) == 2:
        user = next(each for each in rest if each != item)
    if item is not None and user not in (None, item):
        return Columns("long", user, (item,), layout.level_column)
    raise DataError(
        f"the columns are {_listed([*kinds])}. Give item = COLUMN, and user = COLUMN unless it is the only other one; "
        "or form = wide (a row per user, items in all other columns) or form = matrix (a column per item, 1 or "
        "0), header = no (the first line is data), format = lines (one line per user), or separator = CHARACTER."
    )


def _listed(names: Sequence[str]) -> str:
    listed = ", ".join(map(shown, names[:8]))
    return listed + (f" and {len(names) - 8} more" if len(names) > 8 else "")


# --- tables: Parquet, Arrow, pandas, Polars ----------------------------------------------------------------------


def _table(data: Any, layout: Layout) -> Source:
    """Read a table in memory."""
    try:
        if hasattr(data, "to_frame"):  # a Series
            data = data.to_frame()
        if hasattr(data, "itertuples"):  # pandas, which offers Arrow only together with another library
            whole = data.rename(columns=str).astype(object)
            data = whole.where(whole.notna(), None).to_dict("list")
        return _typed(pl.DataFrame(data).lazy(), "table", layout)
    except (TypeError, pl.exceptions.PolarsError) as error:
        reason = str(error).partition("\n")[0]
        raise DataError(f"table: a column has mixed or unknown types ({reason}). Make it text or integers.") from error


def _typed(table: pl.LazyFrame, name: str, layout: Layout) -> Source:
    """Read a table whose columns have types."""
    schema = table.collect_schema()
    try:
        columns = _columns_of(schema, layout)
        for each in columns.kinds:
            kind = getattr(schema[each], "inner", schema[each])
            is_number = each == columns.level or columns.form == "matrix"
            if kind.is_nested() or kind == pl.Object or (kind.is_float() and not is_number):
                raise DataError(f"{each!r} is {schema[each]}; expected is text, integers, or lists of them.")
    except DataError as error:
        raise DataError(f"{name}: {error}") from None
    return Source(name, None, columns, table.select(*columns.kinds).cast(columns.kinds), lambda rows: rows)


# --- text --------------------------------------------------------------------------------------------------------


def _file(path: Path, name: str, layout: Layout) -> Source:
    """Read a file of any format: as asked, or by the ending of its name, or lines."""
    ending = name.lower().removesuffix(".gz").removesuffix(".zst").rpartition(".")[2]
    kind = layout.format or (ending if ending in FORMATS else "lines")
    skip = layout.skip_lines
    try:
        if kind == "parquet":
            return _typed(pl.scan_parquet(path), name, layout)
        # without a byte order mark at the beginning
        lines = pl.scan_lines(path, name="row").with_columns(pl.col("row").str.strip_prefix("\ufeff"))
        first = next(iter(lines.slice(skip).head(1).collect()["row"]), "")
    except _FAILURES as error:
        raise _broken(name, error, None if kind == "parquet" else path) from error
    try:
        if not first:
            raise DataError(NOBODY)
        if kind == "jsonl":
            columns, cells = _jsonl(layout, first)
        elif kind == "lines":
            columns, cells = _lines(layout)
        else:
            columns, cells = _separated(layout, first, layout.separator or {"csv": ",", "tsv": "\t"}[kind])
            skip += layout.header
    except DataError as error:
        raise DataError(f"{name}, line {layout.skip_lines + 1}: {error}") from None
    return Source(name, skip + 1, columns, lines.slice(skip), cells, path)


def _separated(layout: Layout, first: str, separator: str) -> tuple[Columns, Read]:
    """Say how csv and tsv are read, given the first line."""
    names = [each.strip() for each in _split(pl.Series([first]), separator)[0]]
    if not layout.header:
        names = [str(number) for number in range(1, len(names) + 1)]
    if twice := [each for each in names if names.count(each) > 1]:
        raise DataError(f"two columns are called {twice[0]!r}; rename one.")
    columns = _columns_of(dict.fromkeys(names, pl.String()), layout)

    def cells(rows: pl.DataFrame) -> pl.DataFrame:
        found = _split(rows["row"], separator)
        _refuse(
            found.list.len() > len(names),
            lambda row: (
                f"{shown(rows['row'][row])} has {len(found[row])} columns, but there should be {len(names)}: "
                f"{_listed(names)}. Quote entries that contain {separator!r}."
            ),
        )
        return pl.DataFrame({each: found.list.get(names.index(each), null_on_oob=True) for each in columns.kinds})

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
    for option in ("user", "item", "level_column", "form"):
        if getattr(layout, option) is not None:
            raise DataError(
                f"{option} = {getattr(layout, option)!r} is for tables with columns, but this is read as one "
                "line per user. If it is a table, give its format: csv, tsv, jsonl or parquet."
            )
    text = pl.col("row").str
    items = text.extract_all(_WORD) if layout.separator in (None, " ") else text.split(layout.separator)
    # most likely several items, if no separator was given, or a comment
    doubtful = "^#|[,;|]" if layout.separator is None else "^#"

    def cells(rows: pl.DataFrame) -> pl.DataFrame:
        _refuse(
            rows["row"].str.contains(doubtful),
            lambda row: (
                f"{shown(rows['row'][row])} has one of the marks , ; | or begins with #. If the mark separates items "
                "give separator = MARK; if it is part of a name give separator = ' '; if this is a table give "
                "format = csv, tsv or jsonl. Comments at the beginning are left out by skip_lines."
            ),
        )
        return rows.select(items)

    return Columns("list", None, ("row",), None), cells


def _jsonl(layout: Layout, first: str) -> tuple[Columns, Read]:
    """Say how JSON Lines are read, an object on every line, given the first one."""
    try:
        columns = _columns_of(pl.Series([first]).str.json_decode().struct.unnest().schema, layout)
    except _FAILURES:
        raise DataError(_no_object(first)) from None
    kinds = pl.Struct(columns.kinds)

    def decoded(lines: pl.Series) -> pl.DataFrame | None:
        with contextlib.suppress(*_FAILURES):
            return lines.str.json_decode(kinds).struct.unnest()
        return None

    def cells(rows: pl.DataFrame) -> pl.DataFrame:
        lines = rows["row"]
        _refuse(lines.str.strip_chars() == "", lambda row: _no_object(lines[row]))
        found = decoded(lines)
        if found is None:
            wrong = bisect_left(range(lines.len()), True, key=lambda row: decoded(lines[: row + 1]) is None)
            raise _RowError(wrong, _no_object(lines[wrong]))
        return found

    return columns, cells


def _no_object(line: str) -> str:
    return (
        f"{shown(line)} is not JSON with text and numbers; expected is an object on every line, like the first one, "
        'such as {"user": "a", "items": ["x", "y"]}. An array of them can be split by jq -c ".[]".'
    )
