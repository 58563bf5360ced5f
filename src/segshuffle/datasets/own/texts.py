"""Files of text, packed or not: rows in parts, and the cells of csv, tsv, JSON Lines, and lines of one user each."""

import contextlib
import gzip
import zlib
from bisect import bisect_left
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl

from segshuffle.datasets.own.columns import Columns, RowError, columns_of, listed, refuse, refuse_twice
from segshuffle.datasets.own.doubts import DOUBTFUL, MARKS, doubt, n_described, refuse_table
from segshuffle.datasets.own.layout import Layout, shown
from segshuffle.errors import DataError
from segshuffle.files import refuse_other_kinds

#: Makes cells (columns user, level and item) of the rows of a text.
Read = Callable[[pl.Series], pl.DataFrame]
#: What Polars, gzip and the file system raise on files that cannot be read.
FAILURES = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, EOFError, zlib.error)
NOBODY = "there is no user, or a blank line comes first. Expected is a table of users and items, or one line per user."
#: Most bytes of a line.
MOST_IN_LINE = 2**26
#: Rows of zstd that are handled together, and bytes of other text.
PART, _BLOCK = 2**18, 2**23
_WORD = r"[^ \t\r\x0b\x0c]+"


def parts_of(path: Path, skip: int) -> Iterator[pl.Series]:
    """Give the lines of a file without the first ones, in parts.

    Raises
    ------
    RowError
        If a line is too long or not UTF-8; its number counts from the end of the parts that were given.
    DataError
        If the file is no text.
    """
    with path.open("rb") as file:
        magic = file.read(4)
    if magic == b"\x28\xb5\x2f\xfd":  # zstd, which Python cannot unpack
        lines = pl.scan_lines(path, name="row", glob=False).slice(skip)
        for part in lines.collect_batches(chunk_size=PART, maintain_order=True):
            yield part["row"].str.strip_prefix("\ufeff")
        return
    with gzip.open(path) if magic.startswith(b"\x1f\x8b") else path.open("rb") as stream:
        for block in _blocks(stream.read, skip):
            try:
                rows = pl.read_lines(block, name="row")["row"]
            except pl.exceptions.ComputeError:
                raise _not_text(block, skip) from None
            if rows.len() > skip:
                yield rows.slice(skip).str.strip_prefix("\ufeff")
            skip = max(skip - rows.len(), 0)


def _blocks(read: Callable[[int], bytes], skip: int) -> Iterator[bytes]:
    """Give whole lines, in blocks of bounded size."""
    rest = b""
    for number, part in enumerate(iter(lambda: read(_BLOCK), b"")):
        if number == 0:
            refuse_other_kinds(part)
        end = part.rfind(b"\n") + 1
        if end:
            yield rest + part[:end]
            rest = b""
        rest += part[end:]
        if len(rest) > MOST_IN_LINE:
            raise RowError(-skip, f"has more than {MOST_IN_LINE} bytes, the most of a line. Is this a text file?")
    if rest:
        yield rest


def _not_text(block: bytes, skip: int) -> RowError:
    """Make the error about the first line of a block that is not UTF-8."""
    try:
        block.decode()
    except UnicodeDecodeError as error:
        row = block.count(b"\n", 0, error.start)
    text = block.split(b"\n")[row].decode(errors="replace")
    return RowError(
        row - skip,
        f"{shown(text)} is not UTF-8. Is this a text file? One in Latin-1 is converted by iconv -f latin1 -t utf-8; "
        "give format = parquet for a Parquet file.",
    )


def reader(layout: Layout, kind: str, head: pl.Series) -> tuple[Columns, str, Read]:
    """Say how text of a format is read, given its first lines: the columns, the same in words, and what reads cells."""
    if not head.len() or not head[0]:
        raise DataError(NOBODY)
    if kind == "jsonl":
        columns, cells = _jsonl(layout, head[0])
        return columns, f"jsonl, {columns.said()}", cells
    if kind == "lines":
        return _lines(layout, head.to_list())
    return _separated(layout, head, kind, layout.separator or {"csv": ",", "tsv": "\t"}[kind])


def _separated(layout: Layout, head: pl.Series, kind: str, separator: str) -> tuple[Columns, str, Read]:
    """Say how csv and tsv are read."""
    if not head.str.contains(separator, literal=True).any():
        raise DataError(f"{shown(head[0])} and the next lines have no {separator!r}. Give separator = CHARACTER.")
    how = f"{kind}, separator {separator!r}, {'header' if layout.header else 'no header'}"
    names = _names(layout, head, separator)
    if not layout.header and layout.form == "wide" and not (layout.user or layout.item or layout.level_column):
        columns = Columns("wide", None, ("row",), None)
        return columns, f"{how}, form wide, every row is a user", lambda rows: _baskets(_split(rows, separator))
    columns = columns_of(dict.fromkeys(names, pl.String()), layout)
    if layout.header and columns.form == "long" and any(each.isdigit() for each in columns.kinds):
        raise DataError(f"the columns are {listed(names)}: are they data? Give header = no, or name the columns.")
    return columns, f"{how}, {columns.said()}", lambda rows: _cells(rows, separator, names, columns)


def _names(layout: Layout, head: pl.Series, separator: str) -> list[str]:
    """Return the names of all columns: those in the first line or, without a header, their numbers from 1."""
    names = [each.strip() for each in _split(head.head(1), separator)[0]]
    if layout.header:
        if layout.skip_lines == 0 and separator not in head[0] and (lines := n_described(head.to_list())):
            raise DataError(_description(layout, head.to_list(), lines))
        refuse_twice(names)
        return names
    if {"user", "item", "items"} & set(names):
        raise DataError(
            f"header = no, but the first line names columns: {listed(names)}. Leave header = no out; if the line is "
            "not data either, give skip_lines."
        )
    return [str(number) for number in range(1, len(names) + 1)]


def _cells(rows: pl.Series, separator: str, names: list[str], columns: Columns) -> pl.DataFrame:
    """Read the cells of rows with all columns of these names."""
    fields = _split(rows, separator)
    refuse(
        fields.list.len() > len(names),
        lambda row: (
            f"{shown(rows[row])} has {len(fields[row])} columns, but there should be {len(names)}: {listed(names)}. "
            f"Quote entries that contain {separator!r}; if lines are baskets of any length, give form = wide and "
            "header = no."
        ),
    )
    row, place = pl.lit(fields).list, {name: number for number, name in enumerate(names)}
    user, level = (
        pl.lit(None, pl.String) if each is None else row.get(place[each], null_on_oob=True)
        for each in (columns.user, columns.level)
    )
    held = row.gather([place[each] for each in columns.items], null_on_oob=True)
    return pl.select(user=user, level=level, item=held.list.first() if columns.form == "long" else held)


def _baskets(items: pl.Series) -> pl.DataFrame:
    """Return the cells of rows that are users, given the list of items of each."""
    return pl.select(user=pl.lit(None, pl.String), level=pl.lit(None, pl.String), item=items)


def _split(lines: pl.Series, separator: str) -> pl.Series:
    """Return the entries of every line, as a list; those that contain the separator have quotes around them."""
    refuse(lines.str.contains("\r"), lambda row: "has a carriage return within. Lines must end in LF or CRLF.")
    quoted = lines.str.contains('"')
    if not quoted.any():
        return lines.str.split(separator)
    mark, blanks = rf"\x{ord(separator):02x}", " \t".replace(separator, "")
    quoted_entry, bare_entry = '"(?:[^"]|"")*"', f'[^"{blanks}{mark}][^{mark}]*'
    entry = f"{mark}[{blanks}]*(?:{quoted_entry}[{blanks}]*|{bare_entry}|)"
    begun = separator + lines
    refuse(
        ~begun.str.contains(f"^(?:{entry})+$"),
        lambda row: f"{shown(lines[row])} has a quote that is not closed; an entry must be on one line.",
    )
    plain = pl.element().str.strip_prefix(separator)
    trimmed = plain.str.strip_chars(blanks)
    bare = trimmed.str.replace('(?s)^"(.*)"$', "$1").str.replace_all('""', '"', literal=True)
    unquoted = pl.when(trimmed.str.starts_with('"')).then(bare).otherwise(plain)
    return begun.str.extract_all(entry).list.eval(unquoted)


def _lines(layout: Layout, head: list[str]) -> tuple[Columns, str, Read]:
    """Say how one line per user is read."""
    for option in ("user", "item", "level_column", "form"):
        if getattr(layout, option) is not None:
            raise DataError(
                f"{option} = {getattr(layout, option)!r} is for tables with columns, but this is read as one "
                "line per user. If it is a table, give its format: csv, tsv, jsonl or parquet."
            )
    if lines := n_described(head):
        raise DataError(_description(layout, head, lines))
    if layout.format is None:
        refuse_table(head, layout.separator)
    doubtful = DOUBTFUL if layout.separator else f"{DOUBTFUL}|[{MARKS}]"
    by_blanks = layout.separator in (None, " ")

    def cells(rows: pl.Series) -> pl.DataFrame:
        refuse(rows.str.contains(doubtful), lambda row: doubt(rows[row]))
        return _baskets(rows.str.extract_all(_WORD) if by_blanks else rows.str.split(str(layout.separator)))

    separator = "blanks" if by_blanks else repr(layout.separator)
    how = f"lines, separator {separator}, no header, every line is a user"
    return Columns("list", None, ("row",), None), how, cells


def _description(layout: Layout, head: list[str], lines: int) -> str:
    """Say that a file begins with a description, and where the data seem to begin."""
    skipped = layout.skip_lines + lines
    if lines >= len(head):
        return f"{shown(head[0])} begins a description without an end. Give skip_lines = N to leave N lines out."
    return (
        f"{shown(head[0])} begins a description. The data seem to begin on line {skipped + 1}, with "
        f"{shown(head[lines])}: if they do, give skip_lines = {skipped}."
    )


def _jsonl(layout: Layout, first: str) -> tuple[Columns, Read]:
    """Say how JSON Lines are read, an object on every line, given the first one."""
    try:
        columns = columns_of(pl.Series([first]).str.json_decode().struct.unnest().schema, layout)
    except FAILURES:
        raise DataError(_no_object(first)) from None
    kinds = pl.Struct(columns.kinds)

    def decoded(lines: pl.Series) -> pl.DataFrame | None:
        with contextlib.suppress(*FAILURES):
            return lines.str.json_decode(kinds).struct.unnest()
        return None

    def cells(lines: pl.Series) -> pl.DataFrame:
        refuse(lines.str.strip_chars() == "", lambda row: _no_object(lines[row]))
        objects = decoded(lines)
        if objects is None:
            wrong = bisect_left(range(lines.len()), True, key=lambda row: decoded(lines[: row + 1]) is None)
            raise RowError(wrong, _no_object(lines[wrong]))
        return objects.select(columns.cells())

    return columns, cells


def _no_object(line: str) -> str:
    return (
        f"{shown(line)} is not JSON with text and numbers; expected is an object on every line, like the first one, "
        'such as {"user": "a", "items": ["x", "y"]}. An array of them can be split by jq -c ".[]".'
    )
