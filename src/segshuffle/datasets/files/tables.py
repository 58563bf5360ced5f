"""Text and tables of every format, as parts that `rows` understands. What a line has wrong is said with its number."""

from __future__ import annotations

import csv
import json
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet

from segshuffle.datasets.files.rows import (
    Marks,
    Runs,
    Where,
    column_runs,
    long_runs,
    matrix_runs,
    shown,
    wide_runs,
)
from segshuffle.datasets.files.streams import Block, Source
from segshuffle.datasets.layout import Layout
from segshuffle.errors import DataError

_ENDINGS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
}
_WORKERS = 2


def format_of(source: Source, layout: Layout) -> str:
    """Format of a file: as asked, or by its first bytes, or by the ending of its name, or lines."""
    if layout.format is not None:
        return layout.format
    if source.head.startswith(b"PAR1"):
        return "parquet"
    endings = [
        ending.lower() for ending in Path(source.name).suffixes if ending.lower() not in (".gz", ".zst", ".zstd")
    ]
    found = _ENDINGS.get(endings[-1] if endings else "", "lines")
    if found == "lines" and source.head.lstrip().startswith(b"{"):
        return "jsonl"
    return found


def runs_of(source: Source, layout: Layout) -> Iterator[Runs]:
    """All of a file, part by part, in its order."""
    kind = format_of(source, layout)
    if kind == "parquet":
        try:
            file = pyarrow.parquet.ParquetFile(source.spooled())
            yield from table_runs(file.iter_batches(batch_size=2**19), file.schema_arrow, source.name, layout)
        except (pa.ArrowException, OSError, MemoryError, UnicodeError) as error:
            raise DataError(
                f"{source.name}: not a whole Parquet file ({str(error).partition(chr(10))[0]}). Get the file again."
            ) from error
        return
    reader = {"lines": _lines, "jsonl": _jsonl}.get(kind, _separated)
    skip, parse = reader(source, layout, "\t" if kind == "tsv" else ",")
    yield from _in_order(source.blocks(skip), parse)


def _in_order(blocks: Iterator[Block], parse: Callable[[Block], Runs]) -> Iterator[Runs]:
    """Parse a few blocks ahead, in threads; the first one that is wrong is the first that is complained of."""
    with ThreadPoolExecutor(_WORKERS) as pool:
        ahead: deque[Future[Runs]] = deque()
        try:
            for block in blocks:
                ahead.append(pool.submit(parse, block))
                if len(ahead) > _WORKERS:
                    yield ahead.popleft().result()
        except DataError:
            # what came before the end of a broken file may have been wrong already
            for future in ahead:
                future.result()
            raise
        while ahead:
            yield ahead.popleft().result()


def _lines_from(name: str, first: int) -> Where:
    """Names the lines of a block, and keeps nothing of it."""
    return lambda row: f"{name}, line {first + row}"


def _rows_from(name: str, first: int) -> Where:
    return lambda row: f"{name}, row {first + row} (from 0)"


# --- columns -----------------------------------------------------------------------------------------------------


class Columns(NamedTuple):
    """Which columns are what."""

    form: str
    user: str | None
    items: tuple[str, ...]
    level: str | None


def columns_of(names: list[str], name: str, layout: Layout, lists: frozenset[str] = frozenset()) -> Columns:
    """Decide which columns hold what, or say what there is to decide.

    Parameters
    ----------
    names : list of str
        Columns of the table, in order.
    name : str
        Of the file, for messages.
    layout : Layout
        What was asked.
    lists : frozenset of str
        Columns that hold lists.
    """
    twice = sorted({each for each in names if names.count(each) > 1})
    if twice:
        raise DataError(f"{name}: two columns are called {twice[0]!r}; rename one.")
    for option in ("user", "item", "level"):
        asked = getattr(layout, option)
        if asked is not None and asked not in names:
            raise DataError(f"{name}: there is no column {asked!r} ({option}); the columns are {_listed(names)}.")
    rest = [each for each in names if each != layout.level]
    user = layout.user or ("user" if "user" in rest else None)
    if layout.form in ("wide", "matrix") and layout.item is None and not lists & set(rest):
        items = tuple(each for each in rest if each != user)
        if not items:
            raise DataError(f"{name}: no column is left for the items; the columns are {_listed(names)}.")
        return Columns(layout.form, user, items, layout.level)
    item = layout.item or next((each for each in ("item", "items") if each in rest), None)
    if not layout.header and item is None and user is None and len(rest) == 2:
        user, item = rest
    if item is None:
        raise _undecided(names, name)
    if item in lists:
        return Columns("list", user, (item,), layout.level)
    others = [each for each in rest if each != item]
    user = user or (others[0] if len(others) == 1 else None)
    if user is None or user == item:
        raise _undecided(names, name)
    return Columns("long", user, (item,), layout.level)


def _undecided(names: list[str], name: str) -> DataError:
    hint = ""
    if len(names) == 1 and (found := [mark for mark in ";\t|, " if mark in names[0]]):
        hint = f" Or is the separator {found[0]!r}? Then give separator: {found[0]!r}."
    return DataError(
        f"{name}: the columns are {_listed(names)}. Say which hold the user and the item (user: NAME, item: NAME), or "
        "give form: wide (a row per user, items in all other columns), form: matrix (a column per item, 1 or 0), "
        f"header: no (the first line is data) or format: lines (one line per user).{hint}"
    )


def _listed(names: list[str]) -> str:
    listed = ", ".join(map(shown, names[:8]))
    return listed + (f" and {len(names) - 8} more" if len(names) > 8 else "")


def _as_runs(table: Callable[[str], Any], columns: Columns, marks: Marks, where: Where) -> Runs:
    """Runs of one part of a table, given a function from a column's name to its entries."""
    user = None if columns.user is None else table(columns.user)
    level = None if columns.level is None else table(columns.level)
    if columns.form == "long":
        return long_runs(user, table(columns.items[0]), level, marks, where)
    if columns.form == "list":
        return wide_runs(user, table(columns.items[0]), level, marks, where)
    entries = [table(each) for each in columns.items]
    if columns.form == "wide":
        return column_runs(user, entries, level, marks, where)
    return matrix_runs(user, entries, list(columns.items), level, marks, where)


# --- tables: Parquet, Arrow, pandas ------------------------------------------------------------------------------


def table_runs(batches: Iterator[Any], schema: Any, name: str, layout: Layout) -> Iterator[Runs]:
    """Parts of a table that has types: Parquet, or a table in memory."""
    lists = frozenset(field.name for field in schema if _is_list(field.type))
    columns, marks, first = columns_of(list(schema.names), name, layout, lists), Marks(), 0
    for batch in batches:
        yield _as_runs(batch.column, columns, marks, _rows_from(name, first))
        first += batch.num_rows


def _is_list(kind: Any) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


# --- csv and tsv -------------------------------------------------------------------------------------------------


def _separated(source: Source, layout: Layout, separator: str) -> tuple[int, Callable[[Block], Runs]]:
    delimiter = layout.separator or separator
    head = source.first_line(layout.skip_lines)
    try:
        names = [each.strip() for each in next(csv.reader([head.decode()], delimiter=delimiter), [])]
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{source.name}, line {layout.skip_lines + 1}: {error}. Expected is UTF-8 text.") from error
    if not layout.header:
        names = [str(number) for number in range(1, len(names) + 1)]
    columns, marks = columns_of(names, source.name, layout), Marks()
    single = columns.form == "long"
    needed = {each for each in (columns.user, *columns.items, columns.level) if each is not None}
    types = {each: pa.binary() for each in needed} | (
        {columns.items[0]: pa.dictionary(pa.int32(), pa.binary())} if single else {}
    )
    convert = pyarrow.csv.ConvertOptions(column_types=types, include_columns=sorted(needed), strings_can_be_null=False)
    parsing = pyarrow.csv.ParseOptions(delimiter=delimiter)

    def parse(block: Block) -> Runs:
        where = _lines_from(source.name, block.line)

        reading = pyarrow.csv.ReadOptions(column_names=names, use_threads=False, block_size=len(block.content) + 1)
        try:
            table = pyarrow.csv.read_csv(pa.BufferReader(block.content), reading, parsing, convert)
        except pa.ArrowInvalid as error:
            raise _wrong_line(block, source.name, names, delimiter, str(error)) from error
        if table.num_rows != block.content.count(b"\n") + 1:
            raise _wrong_line(block, source.name, names, delimiter, "a line break within a line")
        return _as_runs(lambda column: _one(table.column(column)), columns, marks, where)

    return layout.skip_lines + layout.header, parse


def _one(column: Any) -> Any:
    """A column in one piece."""
    chunks = column.unify_dictionaries().combine_chunks()
    return chunks.combine_chunks() if isinstance(chunks, pa.ChunkedArray) else chunks


def _wrong_line(block: Block, name: str, names: list[str], delimiter: str, reason: str) -> DataError:
    """What is wrong with a block that did not parse: the first line that cannot be read by itself."""
    for number, line in enumerate(block.content.split(b"\n"), start=block.line):
        place, text = f"{name}, line {number}", line.removesuffix(b"\r").decode("utf-8", "replace")
        if not text.strip():
            return DataError(f"{place}: blank, but more lines follow. Remove it; a user without items is a line too.")
        if "\r" in text:
            return DataError(f"{place}: has a carriage return within. Lines must end in LF or CRLF.")
        try:
            (cells,) = csv.reader([text], delimiter=delimiter, strict=True)
        except (csv.Error, ValueError):
            return DataError(f"{place}: {shown(text)} has a quote that is not closed; an entry must be on one line.")
        if len(cells) != len(names):
            return DataError(
                f"{place}: {shown(text)} has {len(cells)} column{'s' * (len(cells) != 1)}, but there should be "
                f"{len(names)}: {_listed(names)}. Quote entries that contain {delimiter!r}."
            )
    return DataError(f"{name}, from line {block.line}: cannot be read as a table ({reason.partition(chr(10))[0]}).")


# --- one line per user -------------------------------------------------------------------------------------------


def _lines(source: Source, layout: Layout, _separator: str) -> tuple[int, Callable[[Block], Runs]]:
    for option in ("user", "item", "level", "form"):
        if getattr(layout, option) is not None:
            raise DataError(
                f"{source.name}: {option} = {getattr(layout, option)!r} is for tables with columns, but this is read "
                "as one line per user. If it is a table, give its format: csv, tsv, jsonl or parquet."
            )
    comments = 0
    while source.first_line(layout.skip_lines + comments).startswith(b"#"):
        comments += 1
    blanks = layout.separator in (None, " ")

    def parse(block: Block) -> Runs:
        where = _lines_from(source.name, block.line)

        content = pa.py_buffer(block.content)
        text = pa.StringArray.from_buffers(1, pa.py_buffer(np.array([0, content.size], dtype=np.int32)), content)
        lines = pc.ascii_trim_whitespace(pc.list_flatten(pc.split_pattern(text, "\n")))
        items = pc.ascii_split_whitespace(lines) if blanks else pc.split_pattern(lines, layout.separator)
        runs = wide_runs(None, items.cast(pa.list_(pa.binary())), None, Marks(), where)
        if layout.separator is None:
            _refuse_other_layouts(runs)
        return runs

    return layout.skip_lines + comments, parse


def _refuse_other_layouts(runs: Runs) -> None:
    """An item with a comma was most likely meant as several."""
    for number, value in enumerate(runs.values):
        marks = [mark for mark in ",;|" if mark in value]
        if not marks and not value.startswith("#"):
            continue
        place = runs.place_of(int(np.flatnonzero(runs.codes == number)[0]))
        if value.startswith("#"):
            raise DataError(f"{place}: {shown(value)}: comments may stand at the beginning of the file only.")
        raise DataError(
            f"{place}: the item {shown(value)} contains {marks[0]!r}. If that separates items give separator: "
            f"{marks[0]!r}; if it is part of a name give separator: ' '; if this is a table give its format: csv."
        )


# --- JSON Lines --------------------------------------------------------------------------------------------------


def _jsonl(source: Source, layout: Layout, _separator: str) -> tuple[int, Callable[[Block], Runs]]:
    first = _object(source.first_line(layout.skip_lines), f"{source.name}, line {layout.skip_lines + 1}")
    lists = frozenset(key for key, value in first.items() if isinstance(value, list))
    columns, marks = columns_of(list(first), source.name, layout, lists), Marks()
    needed = [each for each in (columns.user, *columns.items, columns.level) if each is not None]
    schema = pa.schema([(each, _json_type(first[each])) for each in needed])
    options = pyarrow.json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")

    def parse(block: Block) -> Runs:
        where = _lines_from(source.name, block.line)

        reading = pyarrow.json.ReadOptions(use_threads=False, block_size=len(block.content) + 1)
        try:
            table = pyarrow.json.read_json(pa.BufferReader(block.content), reading, options)
            whole = table.num_rows == block.content.count(b"\n") + 1
        except pa.ArrowInvalid:
            whole = False
        if not whole:
            # slower, and it takes numbers and texts in one column, or says what is wrong with which line
            table = _objects(block, source.name, needed, lists)
        return _as_runs(lambda column: _one(table.column(column)), columns, marks, where)

    return layout.skip_lines, parse


def _json_type(value: object) -> Any:
    if isinstance(value, list):
        return pa.list_(pa.int64() if value and all(type(each) is int for each in value) else pa.string())
    return pa.int64() if type(value) is int else pa.string()


def _object(line: bytes, place: str) -> dict[str, Any]:
    try:
        value = json.loads(line.decode())
    except UnicodeDecodeError as error:
        raise DataError(f"{place}: byte 0x{line[error.start]:02x} is not UTF-8. Save the file as UTF-8.") from None
    except (ValueError, RecursionError):
        raise DataError(f"{place}: {shown(line)} is not JSON; expected is an object on every line.") from None
    if not isinstance(value, dict):
        raise DataError(
            f"{place}: {shown(line)} is no object; expected is one on every line, such as "
            '{"user": "a", "items": ["x", "y"]}. An array can be split by jq -c ".[]".'
        )
    return value


def _objects(block: Block, name: str, needed: list[str], lists: frozenset[str]) -> Any:
    """A block's objects, one by one, with every value as text."""
    found: dict[str, list[Any]] = {each: [] for each in needed}
    for number, line in enumerate(block.content.split(b"\n"), start=block.line):
        place = f"{name}, line {number}"
        values = _object(line, place)
        for each in needed:
            if each not in values:
                raise DataError(f"{place}: there is no key {each!r}; the keys are {_listed(list(values))}.")
            value = values[each]
            if (each in lists) != isinstance(value, list):
                kind = "a list" if each in lists else "one value"
                raise DataError(f"{place}: {each!r} is {shown(json.dumps(value))}, but {kind} on other lines.")
            entries = [_entry(part, each, place) for part in (value if each in lists else [value])]
            found[each].append(entries if each in lists else entries[0])
    return pa.table(
        {each: pa.array(found[each], pa.list_(pa.string()) if each in lists else pa.string()) for each in needed}
    )


def _entry(value: object, key: str, place: str) -> str | None:
    if isinstance(value, str) and value.isascii():
        return value
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise DataError(f"{place}: {key!r} holds {shown(json.dumps(value))}, which is no character.") from None
        return value
    if value is None:
        return value
    if type(value) is int:
        return str(value)
    raise DataError(f"{place}: {key!r} holds {shown(json.dumps(value))}; expected is text or an integer.")
