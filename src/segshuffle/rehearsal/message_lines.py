r"""Messages as lines of text, and counts of them: what clients write, `shuf` mixes and `estimate` reads. Version 1.

Messages: one per line, the number of an item in decimal digits, 0..d-1, without leading zeros; with a signed blanket
``+`` or ``-`` before it. Lines end in LF; there is no header, so lines may come in any order. Counts: the header
``item,count``, then a line for each of the d items, such as ``3,120``, in any order: an item without a line may have
been cut off.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import IO, NamedTuple

import numpy as np

from segshuffle.arrays import IntArray
from segshuffle.errors import DataError

HEADER = b"item,count"
#: Bytes that are read at a time, and the most of a line.
_BLOCK = 2**22
#: A message, and an item with its count: numbers without leading zeros.
_MESSAGE = re.compile(rb"([+-]?)(0|[1-9][0-9]{0,7})\r?")
_COUNT = re.compile(rb"(0|[1-9][0-9]{0,7}),(-?(?:0|[1-9][0-9]{0,17}))\r?")


class Counted(NamedTuple):
    """The content of a file."""

    counts: IntArray
    """Messages that name each item, pluses minus minuses where they have signs, shape (domain_size,)."""
    messages: int | None
    """Messages that name an item; None where counts are read that are pluses minus minuses."""
    dropped: int
    """Lines that name no item."""


def lines_of(messages: Iterable[int], *, signed_items: int = 0) -> str:
    """Return a client's messages as text; with signs, words from `signed_items` on have a minus."""
    if not signed_items:
        return "".join(f"{item}\n" for item in messages)
    return "".join(f"{'+-'[word >= signed_items]}{word % signed_items}\n" for word in messages)


def read_counts(stream: IO[bytes], name: str, domain_size: int, *, signed: bool = False, drop: bool = False) -> Counted:
    """Count messages, or read counts of them.

    Parameters
    ----------
    stream : binary file
        Read to its end, in parts.
    name : str
        Of the file, for messages about it.
    domain_size : int
        Number of items d.
    signed : bool
        Whether messages have signs.
    drop : bool
        Leave out lines that are not messages (not every sender is honest) instead of refusing the file. It has no
        effect on counts.

    Raises
    ------
    DataError
        If a line is wrong. The error names the file, the line and the value.
    """
    blocks = _blocks(stream, name)
    first = next(blocks, [])
    if first and first[0].removesuffix(b"\r") == HEADER:
        if drop:
            raise DataError(f"{name}: --unknown drop leaves out lines that are no message; counts are read whole.")
        return _of_counts(chain(first[1:], chain.from_iterable(blocks)), name, domain_size, signed)
    counts = np.zeros(domain_size, dtype=np.int64)
    before = messages = dropped = 0
    for lines in chain([first], blocks):
        for line, times in Counter(lines).items():
            found = _MESSAGE.fullmatch(line)
            item = int(found[2]) if found and bool(found[1]) == signed else domain_size
            if item < domain_size:
                counts[item] += -times if line.startswith(b"-") else times
                messages += times
            elif drop:
                dropped += times
            else:
                place, signs = _place(name, before + lines.index(line) + 1, line), "+ or - and " if signed else ""
                raise DataError(
                    f"{place} is no message of this plan; a message is {signs}an integer "
                    f"in 0..{domain_size - 1}. Give --unknown drop to leave such lines out."
                )
        before += len(lines)
    return Counted(counts, messages, dropped)


def _blocks(stream: IO[bytes], name: str) -> Iterator[list[bytes]]:
    """Yield whole lines, some at a time."""
    left = b""
    while part := stream.read(_BLOCK):
        *lines, left = (left + part).split(b"\n")
        if len(left) > _BLOCK:
            raise DataError(f"{name}: a line has more than {_BLOCK} bytes; a message is a number on a line of its own.")
        yield lines
    if left:
        yield [left]


def _of_counts(lines: Iterable[bytes], name: str, domain_size: int, signed: bool) -> Counted:
    counts, times = np.zeros((2, domain_size), dtype=np.int64)
    for number, line in enumerate(lines, start=2):
        found = _COUNT.fullmatch(line)
        if found is None or int(found[1]) >= domain_size or (found[2].startswith(b"-") and not signed):
            raise DataError(
                f"{_place(name, number, line)}: expected is ITEM,COUNT with an item in 0..{domain_size - 1} and as "
                f"count an integer{'' if signed else ' >= 0'} below 10^18, in digits."
            )
        item = int(found[1])
        times[item] += 1
        counts[item] = int(found[2])
    wrong = np.flatnonzero(times != 1)
    if wrong.size:
        raise DataError(
            f"{name}: {times[wrong[0]]} lines for item {wrong[0]}; every item in 0..{domain_size - 1} needs one, with "
            "0 if there is no message. Was the file cut off?"
        )
    return Counted(counts, None if signed else sum(counts.tolist()), 0)


def _place(name: str, number: int, line: bytes) -> str:
    shown = repr(line[:60].decode("utf-8", "replace")) + ("..." if len(line) > 60 else "")
    return f"{name}, line {number}: {shown}"
