"""Bytes of a file or of standard input: unpacked, looked at, and cut into blocks of whole lines."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

import pyarrow as pa

from segshuffle.errors import DataError

#: Bytes of text that are parsed at a time.
BLOCK = 2**23
#: A line that is longer is no list of items.
LONGEST_LINE = 2**26

_PACKED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
#: First bytes of what is no table of text, and what to do about it.
_FOREIGN = {
    b"PK\x03\x04": "a zip archive (or a spreadsheet): unpack it, or save the sheet as CSV",
    b"BZh": "packed by bzip2: give it plain, or packed by gzip or zstd",
    b"\xfd7zXZ": "packed by xz: give it plain, or packed by gzip or zstd",
    b"\xff\xfe": "UTF-16: save it as UTF-8",
    b"\xfe\xff": "UTF-16: save it as UTF-8",
    b"%PDF": "a PDF document: give the table itself, as CSV",
    b"SQLite format 3": "a database: export a table of it as CSV",
}


class Block(NamedTuple):
    """Whole lines of a text file."""

    content: bytes
    """Without the end of its last line."""
    line: int
    """Number of its first line, from 1."""


class Source:
    """A file, or standard input, as unpacked bytes.

    Parameters
    ----------
    path : Path or binary stream
        A file under any name; packed by gzip or zstd, which its first bytes tell. "-" is standard input.

    Raises
    ------
    DataError
        If it cannot be read, or is of a kind that is not read.
    """

    def __init__(self, path: Path | str | IO[bytes]) -> None:
        self.name = _name_of(path)
        self._given = str(path) == "-" or not isinstance(path, (str, Path))
        try:
            self._raw = _opened(path)
            self._size = _size_of(self._raw)
            head = self._raw.peek(8)[:8]
        except (OSError, ValueError) as error:  # ValueError: a NUL character in the name, or a closed stream
            raise self.broken(error) from error
        packed = next((kind for magic, kind in _PACKED.items() if head.startswith(magic)), None)
        self.packed = packed is not None
        self._stream: Any = self._raw
        if packed is not None:
            self._stream = pa.CompressedInputStream(pa.PythonFile(self._raw, "r"), packed)
        self._ahead = b""
        try:
            self.head = self._peeked()
        except DataError:
            self.close()
            raise

    def _peeked(self) -> bytes:
        """The first bytes of the content, which stay to be read."""
        while len(self._ahead) < 2**16 and (piece := self._more(2**16)):
            self._ahead += piece
        for magic, what in _FOREIGN.items():
            if self._ahead.startswith(magic):
                raise DataError(f"{self.name}: {what}.")
        self._ahead = self._ahead.removeprefix(b"\xef\xbb\xbf")
        return self._ahead

    def _more(self, size: int) -> bytes:
        try:
            return bytes(self._stream.read(size))
        except (OSError, ValueError, EOFError) as error:
            raise self.broken(error) from error

    def read(self, size: int) -> bytes:
        """Up to `size` bytes; none at the end."""
        ahead, self._ahead = self._ahead, b""
        return ahead or self._more(size)

    def broken(self, error: Exception) -> DataError:
        """What is to be said of a failed read."""
        reason = getattr(error, "strerror", None) or str(error).partition("\n")[0] or type(error).__name__
        if getattr(self, "packed", False):
            return DataError(
                f"{self.name}: the packed data are damaged or end early ({reason}), as after an interrupted copy. Get "
                "the file again."
            )
        return DataError(
            f"{self.name}: cannot be read ({reason}). Check the path; a relative path is taken from the folder in "
            "which the command runs."
        )

    def share(self) -> float | None:
        """Share of the file that was read, or None where its size is not known."""
        return self._raw.tell() / self._size if self._size else None

    def close(self) -> None:
        """Close the file; standard input stays open."""
        self._raw.detach() if self._given else self._raw.close()

    def spooled(self) -> Any:
        """All of it as a file that can be read in any order, for formats that need that."""
        if self._raw.seekable() and not self.packed:
            self._raw.seek(0)
            return pa.PythonFile(self._raw, "r")
        content = bytearray()
        while piece := self.read(BLOCK):
            content += piece
        return pa.BufferReader(pa.py_buffer(content))

    def blocks(self, skip_lines: int = 0) -> Iterator[Block]:
        """The text in blocks of whole lines; empty lines at its end are left out.

        Parameters
        ----------
        skip_lines : int
            Lines at the beginning that are no data.
        """
        carried, line = b"", 1
        for _ in range(skip_lines):
            carried = self._after_line(carried)
            line += 1
        while True:
            piece = self.read(BLOCK)
            data = carried + piece
            whole = data[: data.rfind(b"\n") + 1] if piece else data
            content = whole.rstrip(b"\r\n")
            if content:
                yield Block(content, line)
                line += content.count(b"\n") + 1
                # the end of the last line belongs to it; what was stripped beyond that are empty lines
                data = data[len(content) :].partition(b"\n")[2]
            if not piece:
                return
            carried = data
            if len(carried) > LONGEST_LINE:
                raise DataError(
                    f"{self.name}, line {line}: longer than {LONGEST_LINE} bytes. Expected is a table or one line per "
                    "user."
                )

    def first_line(self, skip_lines: int) -> bytes:
        """The line after those that are skipped, which stays to be read."""
        lines = self.head.split(b"\n", skip_lines + 1)
        return lines[skip_lines].rstrip(b"\r") if len(lines) > skip_lines else b""

    def _after_line(self, carried: bytes) -> bytes:
        while b"\n" not in carried and (piece := self.read(BLOCK)):
            carried += piece
        return carried.partition(b"\n")[2]


def _name_of(path: Path | str | IO[bytes]) -> str:
    if str(path) == "-":
        return "standard input"
    return str(path) if isinstance(path, (str, Path)) else str(getattr(path, "name", "stream"))


def _opened(path: Path | str | IO[bytes]) -> io.BufferedReader:
    if str(path) == "-":
        return io.BufferedReader(sys.stdin.buffer)  # type: ignore[arg-type]
    if isinstance(path, (str, Path)):
        return Path(path).open("rb")
    return io.BufferedReader(path)  # type: ignore[arg-type]


def _size_of(stream: io.BufferedReader) -> int:
    if not stream.seekable():
        return 0
    size = stream.seek(0, io.SEEK_END)
    stream.seek(0)
    return size
