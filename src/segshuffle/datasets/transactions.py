"""Your own data: one user per line, the same number of items on every line."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from segshuffle.datasets.population import MAX_DOMAIN_SIZE, Population, checked_integer
from segshuffle.errors import DataError
from segshuffle.files import read_bounded

_MAX_FILE_BYTES = 2**31
_SEPARATORS = re.compile(r"[ \t]*,[ \t]*|[ \t]+")
# Bounded: int() refuses thousands of digits with an error of its own, and accepts "1_0" and other scripts' digits.
_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")


def read_transactions(
    path_or_lines: Path | str | Iterable[str], *, domain_size: int | None = None, label: str | None = None
) -> Population:
    """Read a population from a text file.

    Each line is a user: s distinct items, integers in 0..d-1, in any order, separated by spaces, tabs or commas. Lines
    that begin with ``#`` are comments; blank lines are allowed at the end only.

    Parameters
    ----------
    path_or_lines : pathlib.Path, str or iterable of str
        The file (a str is a path, too), or its lines.
    domain_size : int, optional
        Number d of possible items, 1..32767. By default the largest item plus one, which is for trying things out:
        parameters of privacy may depend on public quantities only, and the largest item held is not public.
    label : str, optional
        Name for figures and tables; by default the file's name without its folder and ending.

    Returns
    -------
    Population
        With source "real"; users in the order of the lines.

    Raises
    ------
    DataError
        If the file cannot be read or a line is malformed; names the file, the line, the value and what is allowed.
    ParameterError
        If `domain_size` or `label` is not allowed.
    """
    if domain_size is not None:
        domain_size = checked_integer("domain_size", domain_size, 1, MAX_DOMAIN_SIZE)
    if isinstance(path_or_lines, (str, Path)):
        path = Path(path_or_lines)
        name, default_label = str(path), path.stem or "transactions"
        lines: Iterable[str] = _lines_of(path)
    else:
        name, default_label, lines = "<lines>", "transactions", path_or_lines
    users = list(_users(lines, name, MAX_DOMAIN_SIZE if domain_size is None else domain_size))
    if not users:
        raise DataError(f"{name}: holds no user; expected is one line per user, such as '3 17 42'.")
    items = np.array(users, dtype=np.int16)
    found = int(items.max()) + 1 if domain_size is None else domain_size
    return Population(items=items, domain_size=found, label=default_label if label is None else label, source="real")


def _lines_of(path: Path) -> list[str]:
    """Return the lines of a text file; only LF and CRLF end a line."""
    content = read_bounded(path, limit=_MAX_FILE_BYTES)
    try:
        return content.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"{path}, line {line}: byte 0x{content[error.start]:02x} is not text; expected is a text file with one "
            "line of integers per user (a compressed file must be unpacked first)."
        ) from error


def _users(lines: Iterable[str], name: str, domain_size: int) -> Iterator[list[int]]:
    """Yield the sorted items of each user; refuse a line that is malformed or of another length than the first."""
    set_size, first, blank = 0, 0, 0
    for number, line in enumerate(lines, start=1):
        text = line.strip(" \t\r\n")
        if text.startswith("#"):
            continue
        if not text:
            blank = blank or number
            continue
        if blank:
            raise DataError(f"{name}, line {blank}: blank, but more users follow; a user cannot hold nothing.")
        items = _items_of(text, f"{name}, line {number}", domain_size)
        if not first:
            set_size, first = len(items), number
        if len(items) != set_size:
            raise DataError(
                f"{name}, line {number}: {len(items)} items, but line {first} has {set_size}; every user must hold the "
                "same number of items (cut or pad the sets first)."
            )
        yield items


def _items_of(text: str, where: str, domain_size: int) -> list[int]:
    """Parse one line into sorted distinct items."""
    items = [_item(token, where, domain_size) for token in _SEPARATORS.split(text)]
    items.sort()
    for item, following in itertools.pairwise(items):
        if item == following:
            raise DataError(f"{where}: item {item} is there twice; the items of a user must be distinct.")
    return items


def _item(token: str, where: str, domain_size: int) -> int:
    """Parse one item."""
    item = int(token) if _INTEGER.fullmatch(token) else -1
    if not 0 <= item < domain_size:
        shown = token if len(token) <= 40 else token[:37] + "..."
        raise DataError(
            f"{where}: {shown!r} is not an item; allowed are the integers 0..{domain_size - 1}, separated by spaces or "
            "commas."
        )
    return item
