r"""Messages as lines of text, and counts of them: what clients write, `shuf` mixes and `estimate` reads. Version 1.

Messages: one per line, the number of an item in decimal digits, 0..d-1, without leading zeros; with a signed blanket
``+`` or ``-`` before it. Lines end in LF; there is no header, so lines may come in any order. Counts: the header
``item,count``, then a line for each of the d items, such as ``3,120``, in any order: an item without a line may have
been cut off.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import IO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from segshuffle.arrays import IntArray
from segshuffle.errors import DataError

HEADER = b"item,count"
#: Bytes that are parsed at a time, and digits of a number (items are below 10^7, counts below 10^18).
_BLOCK, _DIGITS, _COUNT_DIGITS = 2**22, 8, 18


class Counted(NamedTuple):
    """What a file says."""

    counts: IntArray
    """Messages that name each item, pluses minus minuses where they have signs, shape (domain_size,)."""
    messages: int | None
    """Messages that name an item; None where counts are read that are pluses minus minuses."""
    dropped: int
    """Lines that name no item."""


def lines_of(messages: Iterable[int], *, signed_items: int = 0) -> str:
    """Messages of a client as text; with signs, the words of that many items with a plus, then with a minus."""
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
        return total.of_counts(_chained(rest, blocks))
    for block in _chained(first, blocks):
        total.add(block)
    return Counted(total.counts, total.messages, total.dropped)


def _blocks(stream: IO[bytes], name: str) -> Iterator[bytes]:
    """Whole lines, some at a time."""
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


def _chained(first: bytes, others: Iterable[bytes]) -> Iterator[bytes]:
    if first:
        yield first
    yield from others


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
        text, sign = line.removesuffix(b"\r"), 1
        if self.signed and text[:1] in (b"+", b"-"):
            text, sign = text[1:], 1 if text[:1] == b"+" else -1
        elif self.signed:
            text = b"x"
        item = self._number(text, _DIGITS)
        if item is None or item >= self.domain_size:
            if not self.drop:
                signs = "+ or - and " if self.signed else ""
                raise DataError(
                    f"{self.name}, line {self.line}: {_shown(line)} is no message of this plan; one is {signs}an "
                    f"integer in 0..{self.domain_size - 1}. Give --unknown drop to leave such lines out."
                )
            self.dropped += 1
        else:
            self.counts[item] += sign
            self.messages += 1
        self.line += 1

    def of_counts(self, blocks: Iterable[bytes]) -> Counted:
        """Read a file of counts."""
        if self.drop:
            raise DataError(f"{self.name}: --unknown drop leaves out lines that are no message; counts are read whole.")
        seen = np.zeros(self.domain_size, dtype=bool)
        self.line = 2
        for block in blocks:
            for line in block.split(b"\n")[:-1]:
                cells = line.removesuffix(b"\r").split(b",")
                item = self._number(cells[0], _DIGITS)
                if item is None or item >= self.domain_size or len(cells) != 2:
                    raise DataError(
                        f"{self._place(line)}: expected is ITEM,COUNT with an item in 0..{self.domain_size - 1}."
                    )
                negative = self.signed and cells[1].startswith(b"-")
                count = self._number(cells[1][negative:], _COUNT_DIGITS)
                if count is None:
                    raise DataError(f"{self._place(line)}: expected is ITEM,COUNT with a count of digits, below 10^18.")
                if seen[item]:
                    raise DataError(f"{self._place(line)}: item {item} has a count already; add them up.")
                seen[item] = True
                self.counts[item] = -count if negative else count
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
        return f"{self.name}, line {self.line}: {_shown(line)}"

    @staticmethod
    def _number(text: bytes, digits: int) -> int | None:
        """Read a number in digits, without leading zeros."""
        if not 0 < len(text) <= digits or not text.isdigit() or (text[:1] == b"0" and len(text) > 1):
            return None
        return int(text)


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


def _shown(line: bytes) -> str:
    text = line[:60].decode("utf-8", "replace")
    return repr(text) + ("..." if len(line) > 60 else "")
