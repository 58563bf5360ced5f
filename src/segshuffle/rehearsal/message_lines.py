r"""Messages as lines of text, and counts of them: what clients write, `shuf` mixes and `estimate` reads. Version 1.

Messages: one per line, the number of an item in decimal digits, 0..d-1, without leading zeros; with a signed blanket
``+`` or ``-`` before it. Lines end in LF; there is no header, so lines may come in any order. Counts: the header
``item,count``, then a line for each of the d items, such as ``3,120``, in any order: an item without a line may have
been cut off.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import IO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from segshuffle.arrays import IntArray
from segshuffle.errors import DataError

HEADER = b"item,count"
#: Bytes that are parsed at a time, and digits of an item, of which there are at most 10^7.
_BLOCK, _DIGITS = 2**22, 8
#: A message, and an item with its count: numbers without leading zeros.
_MESSAGE = re.compile(rb"([+-]?)(0|[1-9][0-9]{0,7})\r?")
_COUNT = re.compile(rb"(0|[1-9][0-9]{0,7}),(-?)(0|[1-9][0-9]{0,17})\r?")


class Counted(NamedTuple):
    """What a file says."""

    counts: IntArray
    """Messages that name each item, pluses minus minuses where they have signs, shape (domain_size,)."""
    messages: int | None
    """Messages that name an item; None where counts are read that are pluses minus minuses."""
    dropped: int
    """Lines that name no item."""


def lines_of(messages: Iterable[int], *, signed_items: int = 0) -> str:
    """Return a client's messages as text; with signs, the words of that many items with a plus, then with a minus."""
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
        Leave out lines that are no message, instead of refusing the file: not every sender is honest. Counts have none.

    Raises
    ------
    DataError
        If a line is not what it should be; names the file, the line and the value.
    """
    total = _Total(name, domain_size, signed, drop)
    blocks = _blocks(stream, name)
    first = next(blocks, b"")
    head, _, rest = first.partition(b"\n")
    if head.removesuffix(b"\r") == HEADER:
        return total.of_counts(chain(filter(None, [rest]), blocks))
    for block in chain(filter(None, [first]), blocks):
        total.add(block)
    return Counted(total.counts, total.messages, total.dropped)


def _blocks(stream: IO[bytes], name: str) -> Iterator[bytes]:
    """Yield whole lines, some at a time."""
    left = b""
    while True:
        try:
            part = stream.read(_BLOCK)
        except (OSError, ValueError) as error:
            raise DataError(f"{name}: cannot be read ({error}).") from error
        if not part:
            break
        end = part.rfind(b"\n") + 1
        if not end and len(left) > _BLOCK:
            raise DataError(f"{name}: a line has more than {_BLOCK} bytes; a message is a number on a line of its own.")
        if end:
            yield left + part[:end]
            left = part[end:]
        else:
            left += part
    if left:
        yield left + b"\n"


class _Total:
    """Counts so far."""

    def __init__(self, name: str, domain_size: int, signed: bool, drop: bool) -> None:
        self.name, self.domain_size, self.signed, self.drop = name, domain_size, signed, drop
        self.counts = np.zeros(domain_size, dtype=np.int64)
        self.messages = self.dropped = 0
        self.line = 1

    def add(self, block: bytes) -> None:
        """Count a block of whole lines: all at once, or line by line where something is odd."""
        plain = _plain(block, self.signed)
        if plain is None or plain[0].max() >= self.domain_size:
            for line in block.split(b"\n")[:-1]:
                self._one(line)
            return
        items, minus = plain
        self.counts += np.bincount(items, minlength=self.domain_size)
        if self.signed:
            self.counts -= 2 * np.bincount(items[minus], minlength=self.domain_size)
        self.messages += items.size
        self.line += items.size

    def _one(self, line: bytes) -> None:
        sign, item = b"", self.domain_size
        if (found := _MESSAGE.fullmatch(line)) and bool(found[1]) == self.signed:
            sign, item = found[1], int(found[2])
        if item < self.domain_size:
            self.counts[item] += -1 if sign == b"-" else 1
            self.messages += 1
        elif self.drop:
            self.dropped += 1
        else:
            signs = "+ or - and " if self.signed else ""
            raise DataError(
                f"{self._place(line)} is no message of this plan; one is {signs}an integer in "
                f"0..{self.domain_size - 1}. Give --unknown drop to leave such lines out."
            )
        self.line += 1

    def of_counts(self, blocks: Iterable[bytes]) -> Counted:
        """Read a file of counts."""
        if self.drop:
            raise DataError(f"{self.name}: --unknown drop leaves out lines that are no message; counts are read whole.")
        seen = np.zeros(self.domain_size, dtype=bool)
        self.line = 2
        for block in blocks:
            for line in block.split(b"\n")[:-1]:
                found = _COUNT.fullmatch(line)
                if found is None or int(found[1]) >= self.domain_size or (found[2] and not self.signed):
                    signs = "digits, after a minus where it is negative," if self.signed else "digits"
                    raise DataError(
                        f"{self._place(line)}: expected is ITEM,COUNT with an item in 0..{self.domain_size - 1} and a "
                        f"count of {signs} below 10^18."
                    )
                item, count = int(found[1]), int(found[3])
                if seen[item]:
                    raise DataError(f"{self._place(line)}: item {item} has a count already; add them up.")
                seen[item] = True
                self.counts[item] = -count if found[2] else count
                self.messages += count
                self.line += 1
        missing = np.flatnonzero(~seen)
        if missing.size:
            others = f", nor for {missing.size - 1} others" if missing.size > 1 else ""
            raise DataError(
                f"{self.name}: no line for item {missing[0]}{others}; needed is one for every item in "
                f"0..{self.domain_size - 1}, with 0 where there is no message. Is the file cut?"
            )
        return Counted(self.counts, None if self.signed else self.messages, 0)

    def _place(self, line: bytes) -> str:
        shown = repr(line[:60].decode("utf-8", "replace")) + ("..." if len(line) > 60 else "")
        return f"{self.name}, line {self.line}: {shown}"


def _plain(block: bytes, signed: bool) -> tuple[IntArray, NDArray[np.bool_]] | None:
    """Return the numbers of a block that has nothing else, one per line, and which have a minus; else None."""
    unsigned, codes, lines = block.translate(None, b"+-"), np.frombuffer(block, dtype=np.uint8), block.count(b"\n")
    signs = np.flatnonzero((codes == ord("+")) | (codes == ord("-")))
    # the first line has the block's last line end before it
    if signs.size != lines * signed or (codes[signs - 1] != ord("\n")).any():
        return None
    if unsigned.translate(None, b"0123456789\n") or unsigned.startswith(b"\n") or b"\n\n" in unsigned:
        return None
    items = np.fromstring(unsigned, dtype=np.int64, sep="\n")
    digits = lines + np.searchsorted(10 ** np.arange(1, _DIGITS + 1), items, side="right").sum()
    # more are leading zeros, or those of a number that is too large
    return (items, codes[signs] == ord("-")) if digits + lines == len(unsigned) else None
