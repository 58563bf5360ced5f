r"""Messages as lines of text, and counts of them: what clients write, `sort` mixes and `estimate` reads. Version 1.

Messages: one per line, the number of an item in decimal digits, 0..d-1, without leading zeros; with a signed blanket
``+`` or ``-`` before it. Lines end in LF; there is no header, so lines may come in any order. Counts: the header
``item,count``, then a line for each of the d items, such as ``3,120``, in any order. A missing line is an error: the
file may have been cut off. A line such as ``#9f86d081884c7d65-1`` names the collection, anywhere and any number of
times: the first digits of the plan's digest, and the number of the collection among all with this plan. In counts it
has a count, too.
"""

import contextlib
import gzip
import math
import re
import sys
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np

from segshuffle.arrays import IntArray
from segshuffle.errors import DataError
from segshuffle.files import named, open_file, refuse_other_kinds, unreadable
from segshuffle.numerics.ranges import check_kind, check_within
from segshuffle.plans.plan import Plan
from segshuffle.plans.scheme import Scheme

HEADER = b"item,count"
#: Bytes that are read at a time; a line has no more.
_BLOCK = 2**22
#: An item, and the size of a count: numbers without leading zeros.
_ITEM, _SIZE = rb"(?P<item>0|[1-9][0-9]{0,7})", rb"(?:0|[1-9][0-9]{0,17})"
#: The name of a collection, and what a program may write before the first line of a file.
_COLLECTION, _MARK = rb"(?P<collection>#[0-9a-f]{16}-[1-9][0-9]{0,17})", b"\xef\xbb\xbf"


class Counted(NamedTuple):
    """The content of a file."""

    counts: IntArray
    """Messages that name each item, or pluses minus minuses if messages have signs, shape (domain_size,)."""
    messages: int | None
    """Messages that name an item; None if the file has only differences of pluses and minuses."""
    dropped: int
    """Lines that name no item."""
    collections: Counter[str]
    """How many lines name each collection (`collection_line`); empty if none does."""


def collection_line(digest: str, collection: int) -> str:
    """Return the line that names a collection: that with a number, from 1, among all with the plan of a digest."""
    return f"#{digest[:16]}-{collection}"


def lines_of(messages: Iterable[int], announcement: Scheme) -> str:
    """Return a client's messages as text; with signs, item j with a minus is the message domain_size + j."""
    if not announcement.law.has_signs:
        return "".join(f"{item}\n" for item in messages)
    d = announcement.domain_size
    return "".join(f"{'+-'[word >= d]}{word % d}\n" for word in messages)


def read_messages(path: Path | str, plan: Plan, *, drop: bool = False, most_lines: float = math.inf) -> Counted:
    """Count the messages of a file, one per line; or read counts, with the header ``item,count``.

    Parameters
    ----------
    path : Path or str
        A file as ``segshuffle client`` writes it, mixed by a shuffler, plain or packed by gzip; "-" is standard input.
    plan : Plan
        The plan that the clients followed.
    drop : bool
        Leave out lines that are no messages instead of refusing the file.
    most_lines : float
        Most lines that are read (or one for each item), because an input may have no end.

    Returns
    -------
    Counted
        Its ``counts`` are what `estimate` takes; ``messages`` and ``dropped`` are numbers of lines.

    Raises
    ------
    DataError
        If a line is wrong. The error names the file, the line and the value.
    """
    check_kind("plan", plan, Plan)
    check_within("most_lines", most_lines, 0, math.inf)
    piped = str(path) == "-"
    name = "standard input" if piped else str(path)
    signed, domain_size = plan.scheme.law.has_signs, plan.problem.domain_size
    try:
        with contextlib.nullcontext(sys.stdin.buffer) if piped else _opened(named(path)) as stream:
            return read_counts(stream, name, domain_size, most_lines, signed=signed, drop=drop)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        what = "is cut off: its end is missing" if isinstance(error, EOFError) else f"is damaged ({error})"
        raise DataError(f"{name}: the gzip file {what}. Fetch it again from the shuffler.") from error
    except OSError as error:
        raise unreadable(name, error) from error


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    """Open the file, unpacked if it begins as gzip does."""
    with open_file(path) as stream:
        yield gzip.GzipFile(fileobj=stream) if stream.peek(2)[:2] == b"\x1f\x8b" else stream  # type: ignore[misc]


def read_counts(
    stream: IO[bytes],
    name: str,
    domain_size: int,
    most_lines: float = math.inf,
    *,
    signed: bool = False,
    drop: bool = False,
) -> Counted:
    """Count messages, or read counts of them.

    Parameters
    ----------
    stream : binary file
        Read to its end, in parts.
    name : str
        Name of the file, for errors.
    domain_size : int
        Number of items d.
    most_lines : float
        Lines that are read at most, or one for each item if these are more; an input may have no end.
    signed : bool
        Whether messages have signs.
    drop : bool
        Leave out lines that are no messages (not every sender is honest) instead of refusing the file; not for counts.

    Raises
    ------
    DataError
        If a line is wrong. The error names the file, the line and the value.
    """
    blocks = _blocks(stream, name, max(most_lines, domain_size + 1))
    first = next(blocks, [])
    tabulated = bool(first) and first[0].removeprefix(_MARK).removesuffix(b"\r") == HEADER
    if tabulated and drop:
        raise DataError(f"{name}: --unknown drop is only for messages, and this is a file of counts.")
    line_of, expected = _lines_allowed(domain_size, signed=signed, tabulated=tabulated)
    counts, named = np.zeros((2, domain_size), dtype=np.int64)
    before, dropped, collections = int(tabulated), 0, Counter[str]()
    for lines in chain([first[before:]], blocks):
        for line, times in Counter(lines).items():
            fields = line_of.fullmatch(line)
            if fields and fields["collection"]:
                collections[fields["collection"].decode()] += int(fields["count"]) if tabulated else times
            elif fields and (item := int(fields["item"])) < domain_size:
                named[item] += times
                if tabulated:
                    counts[item] = int(fields["count"])
                else:
                    counts[item] += -times if fields["sign"] == b"-" else times
            elif drop:
                dropped += times
            else:
                refuse_other_kinds(b"\n".join(first[:2]), name)
                shown = repr(line[:60].decode("utf-8", "replace")) + ("..." if len(line) > 60 else "")
                raise DataError(f"{name}, line {before + lines.index(line) + 1}: {shown} is no {expected}")
        before += len(lines)
    if not tabulated:
        return Counted(counts, int(named.sum()), dropped, collections)
    for item in np.flatnonzero(named != 1)[:1]:
        raise DataError(
            f"{name}: {named[item]} lines for item {item}; every item in 0..{domain_size - 1} needs one, with 0 if "
            "there is no message. Was the file cut off?"
        )
    return Counted(counts, None if signed else sum(map(int, counts)), 0, collections)


def _lines_allowed(domain_size: int, *, signed: bool, tabulated: bool) -> tuple[re.Pattern[bytes], str]:
    """Return the pattern of the lines of a file, and what errors say is allowed."""
    if tabulated:
        # databases write quotes around a text with #
        pattern = b'(?:%b|(?P<quote>"?)%b(?P=quote)),(?P<count>%b%b)'
        pattern %= (_ITEM, _COLLECTION, b"-?" if signed else b"", _SIZE)
        least = "" if signed else " >= 0"
        told = f"line ITEM,COUNT with an item in 0..{domain_size - 1} and as count an integer{least} below 10^18."
    else:
        pattern = b"(?P<sign>%b)%b|%b" % (b"[+-]" if signed else b"", _ITEM, _COLLECTION)
        told = (
            f"message of this plan; a message is {'+ or - and ' if signed else ''}an integer in 0..{domain_size - 1}. "
            "Give --unknown drop to leave such lines out."
        )
    # files with a mark may have been joined to one
    return re.compile(b"(?:%b)?(?:%b)\r?" % (_MARK, pattern)), told


def _blocks(stream: IO[bytes], name: str, most_lines: float) -> Iterator[list[bytes]]:
    """Yield whole lines, some at a time."""
    left, number = b"", 0
    while part := stream.read(_BLOCK):
        *lines, left = (left + part).split(b"\n")
        if len(left) > _BLOCK:
            raise DataError(f"{name}: a line has more than {_BLOCK} bytes; a message is a number on a line of its own.")
        number += len(lines)
        if number > most_lines:
            raise DataError(
                f"{name}: has more than {most_lines} lines, ten times what the users of this plan may send, or one "
                "for each item. Does it end? If more users took part, give their number (--senders or --levels)."
            )
        yield lines
    if left:
        raise DataError(
            f"{name}: the last line, {left[:60].decode('utf-8', 'replace')!r}, does not end: was the file cut off? "
            "If it is whole, add a line break."
        )
