"""Files and tables of any layout, as entries: who holds which item.

Rows become cells (the user, the level, and an item or a list of items), and cells become entries. `texts` reads files
of text; Polars reads the others.
"""

import contextlib
import secrets
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from segshuffle.arrays import Table
from segshuffle.datasets.own.layout import FORMATS, Layout
from segshuffle.errors import DataError, ParameterError
from segshuffle.extras import require
from segshuffle.files import open_file, unreadable

require("data", "Reading a file of your own")

# after the sentence that says what is missing
import polars as pl  # noqa: E402

from segshuffle.datasets.own.columns import HEAD, Columns, RowError, columns_of, refuse_twice  # noqa: E402
from segshuffle.datasets.own.texts import FAILURES, PART, parts_of, reader  # noqa: E402

#: Most bytes of a stream, which is copied; a file may have any size.
MOST_STREAMED = 2**32
#: Secret, so that nobody can choose a name with the hash of another user's name.
_SEED = secrets.randbits(64)


@dataclass(frozen=True)
class Source:
    """Entries (who holds which item) of a file or table."""

    name: str
    #: Number of the line that the first row is on; None for a table without lines.
    first_line: int | None
    columns: Columns
    #: How it is read, for those who gave it.
    how: str
    #: Gives the cells of all rows in parts: columns user, level and item.
    parts: Callable[[], Iterator[pl.DataFrame]]
    #: Whether the names of the columns come from a line of text, which may be a row in truth.
    header: bool = False

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
            for cells in self.parts():
                if begin == 0:
                    self.columns.check(cells.head(HEAD))
                entries = self.columns.entries(cells)
                yield entries.with_columns(pl.col("number") + begin).with_columns(user=user)
                begin += cells.height
        except RowError as error:
            raise DataError(f"{self.place(begin + error.row)}: {error}") from None
        except FAILURES as error:
            raise damaged(self.name, error) from error


def damaged(name: str, error: BaseException) -> DataError:
    """Make the error about a file that cannot be read to its end."""
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
                data = stack.enter_context(open_file(path))
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


def _file(path: Path, name: str, layout: Layout) -> Source:
    """Read a file of any format: as asked, or by the ending of its name, or lines."""
    ending = name.lower().removesuffix(".gz").removesuffix(".zst").rpartition(".")[2]
    kind = layout.format or (ending if ending in FORMATS else "lines")
    if kind == "parquet":
        try:
            return _typed(pl.scan_parquet(path, glob=False), name, layout)
        except FAILURES as error:
            raise damaged(name, error) from error
    line = layout.skip_lines + 1
    try:
        head = next(parts_of(path, layout.skip_lines), pl.Series(dtype=pl.String)).head(HEAD)
        columns, how, cells = reader(layout, kind, head)
    except FAILURES as error:
        raise damaged(name, error) from error
    except RowError as error:
        raise DataError(f"{name}, line {line + error.row}: {error}") from None
    except DataError as error:
        raise DataError(f"{name}, line {line}: {error}") from None
    header = kind in ("csv", "tsv") and layout.header
    skip = layout.skip_lines + header
    return Source(name, skip + 1, columns, how, lambda: map(cells, parts_of(path, skip)), header)


def _table(data: Any, layout: Layout) -> Source:
    """Read a table in memory."""
    if hasattr(data, "to_frame"):  # a Series
        data = data.to_frame()
    try:
        refuse_twice(map(str, getattr(data, "column_names", getattr(data, "columns", ()))))
    except DataError as error:
        raise DataError(f"table: {error}") from None
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
    schema = table.collect_schema()
    try:
        columns = columns_of(schema, layout)
        for each in columns.kinds:
            kind = getattr(schema[each], "inner", schema[each])
            is_number = each == columns.level or columns.form == "matrix"
            if kind.is_nested() or kind == pl.Object or (kind.is_float() and not is_number):
                raise DataError(f"{each!r} is {schema[each]}; expected is text, integers, or lists of them.")
    except DataError as error:
        raise DataError(f"{name}: {error}") from None
    # NaN is missing, as in pandas
    numbers = [pl.col(each).fill_nan(None) for each in columns.kinds if schema[each].is_float()]
    cells = table.select(*columns.kinds).with_columns(numbers).cast(columns.kinds).select(columns.cells())
    how = f"a table, {columns.said()}"
    return Source(name, None, columns, how, lambda: cells.collect_batches(chunk_size=PART, maintain_order=True))
