"""The MSNBC log of 28 September 1999: its published counts, and the parser of its one file.

The file lists, for each user of one day, the categories of the pages visited, in order. Here only the set of distinct
categories of a user matters, so a user is kept as a bitmask: bit ``c - 1`` is set when category ``c`` was visited.
"""

from __future__ import annotations

from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from segshuffle.datasets.msnbc import DOMAIN_SIZE
from segshuffle.errors import DataError

#: Category names in the order of the file's header (the prose on the UCI page lists another order).
CATEGORIES: tuple[str, ...] = (
    "frontpage",
    "news",
    "tech",
    "local",
    "opinion",
    "on-air",
    "misc",
    "weather",
    "msn-news",
    "health",
    "living",
    "business",
    "msn-sports",
    "sports",
    "summary",
    "bbs",
    "travel",
)
#: Number of users with 1, 2, ..., 17 distinct categories.
USERS_PER_SET_SIZE: tuple[int, ...] = (
    *(601_384, 214_392, 94_711, 43_321, 19_692, 8_902, 4_008, 1_688, 737),
    *(297, 142, 238, 143, 74, 67, 9, 13),
)
#: Number of users who visited category 1, 2, ..., 17 at least once, in the order of `CATEGORIES`.
USERS_PER_CATEGORY: tuple[int, ...] = (
    *(313_181, 175_286, 121_948, 121_719, 24_987, 217_101, 80_514, 95_615, 90_192),
    *(50_606, 57_597, 112_183, 76_948, 119_138, 29_200, 2_082, 11_006),
)

_FIRST_LINE = "% Different categories found in input file:"
_MARKER = b"% Sequences:"
_ADVICE = (
    "Expected is the UCI file msnbc990928.seq, unchanged; "
    "data of your own are read by segshuffle.datasets.read_transactions."
)


def parse_sessions(raw: bytes, *, source: str = "msnbc990928.seq") -> NDArray[np.uint32]:
    """Read the sessions of the MSNBC file.

    Lines may end in CRLF or LF and may carry spaces at their end; the newline at the end of the file is optional.

    Parameters
    ----------
    raw : bytes
        The uncompressed file.
    source : str, optional
        Name of the file, for messages.

    Returns
    -------
    numpy.ndarray of uint32, shape (n_sessions,)
        One bitmask per user, in the file's order: bit ``c - 1`` is set if category ``c`` (1..17) was visited. No mask
        is zero.

    Raises
    ------
    DataError
        If the header is not the one of the MSNBC file, a session is empty, or an entry is not an integer in 1..17; the
        message names the line and the value.
    """
    start, first_line = _skip_header(raw, source)
    body = raw[start:].rstrip(b" \r\n")
    if not body:
        raise DataError(f"{source}, line {first_line}: no session follows the header. {_ADVICE}")
    masks = _parse_body(np.frombuffer(body, dtype=np.uint8))
    if masks is None:
        _explain(body, source, first_line)
    return masks


def _skip_header(raw: bytes, source: str) -> tuple[int, int]:
    """Check the header; return the offset of the first session and its line number (from 1)."""
    at = 0 if raw.startswith(_MARKER) else raw.find(b"\n" + _MARKER) + 1
    if at == 0 and not raw.startswith(_MARKER):
        raise DataError(f"{source}: no line '{_MARKER.decode()}' introduces the sessions. {_ADVICE}")
    header = raw[:at].decode("ascii", "backslashreplace").split("\n")[:-1]
    _check_header(header, source)
    end = raw.find(b"\n", at)
    end = len(raw) if end < 0 else end + 1
    if raw[at:end].rstrip() != _MARKER:
        raise DataError(f"{source}, line {len(header) + 1}: {_shown(raw[at:end])} instead of '{_MARKER.decode()}'.")
    # The file has one blank line here; a second one would be an empty session.
    blank = 1 if raw.startswith(b"\n", end) else 2 if raw.startswith(b"\r\n", end) else 0
    return end + blank, len(header) + 2 + (blank > 0)


def _check_header(header: list[str], source: str) -> None:
    """Refuse a header that is not the one of the MSNBC file; blank lines do not count."""
    filled = [(number, line.split()) for number, line in enumerate(header, start=1) if line.strip()]
    for (number, words), expected in zip(filled, (_FIRST_LINE.split(), list(CATEGORIES)), strict=False):
        if words != expected:
            shown = _shown(" ".join(words).encode())
            raise DataError(f"{source}, line {number}: {shown} instead of '{' '.join(expected)}'. {_ADVICE}")
    if len(filled) != 2:
        raise DataError(
            f"{source}: the header has {len(filled)} lines that are not blank before '{_MARKER.decode()}', not 2 "
            f"('{_FIRST_LINE}' and the 17 category names). {_ADVICE}"
        )


def _parse_body(text: NDArray[np.uint8]) -> NDArray[np.uint32] | None:
    """Parse all lines at once; None if any of them is malformed (`_explain` then says which)."""
    digit = (text - np.uint8(ord("0"))) < 10  # unsigned: everything below "0" wraps to a large number
    newline = text == ord("\n")
    carriage = np.flatnonzero(text == ord("\r"))
    if np.count_nonzero(digit | newline | (text == ord(" "))) + carriage.size != text.size:
        return None
    # No carriage return is the last byte, because the end of the body was stripped.
    if not newline[carriage + 1].all():
        return None
    starts = np.flatnonzero(digit & ~np.concatenate(([False], digit[:-1])))
    values = _token_values(text, digit, starts)
    if values is None:
        return None
    line_starts = np.concatenate(([0], np.flatnonzero(newline) + 1))
    first_token = np.searchsorted(starts, line_starts)
    if first_token[-1] == starts.size or (first_token[1:] == first_token[:-1]).any():
        return None  # a line without any number
    bits = np.uint32(1) << (values.astype(np.uint32) - np.uint32(1))
    return np.bitwise_or.reduceat(bits, first_token)


def _token_values(
    text: NDArray[np.uint8], digit: NDArray[np.bool_], starts: NDArray[np.intp]
) -> NDArray[np.uint8] | None:
    """Return the number that begins at each start, or None unless all are in 1..17 without leading zeros."""
    padded_text, padded_digit = np.append(text, [0, 0]).astype(np.uint8), np.append(digit, [False, False])
    first = padded_text[starts] - np.uint8(ord("0"))
    second = padded_text[starts + 1] - np.uint8(ord("0"))
    two, three = padded_digit[starts + 1], padded_digit[starts + 1] & padded_digit[starts + 2]
    values = np.where(two, first * np.uint8(10) + second, first).astype(np.uint8)
    if three.any() or (first == 0).any() or (values > DOMAIN_SIZE).any():
        return None
    return values


def _explain(body: bytes, source: str, first_line: int) -> NoReturn:
    """Find the first malformed line the slow way and raise the error that names it."""
    allowed = {str(c).encode() for c in range(1, DOMAIN_SIZE + 1)}
    for number, line in enumerate(body.split(b"\n"), start=first_line):
        tokens = line.removesuffix(b"\r").split(b" ")
        filled = [token for token in tokens if token]
        if not filled:
            raise DataError(f"{source}, line {number}: an empty session; every user has visited something. {_ADVICE}")
        for token in filled:
            if token not in allowed:
                raise DataError(
                    f"{source}, line {number}: {_shown(token)} is not a category; allowed are the integers "
                    f"1..{DOMAIN_SIZE}, separated by spaces. {_ADVICE}"
                )
    raise DataError(f"{source}: malformed sessions. {_ADVICE}")


def _shown(value: bytes, longest: int = 60) -> str:
    """Quote bytes for a message, cut to a readable length."""
    text = value.rstrip(b"\r\n").decode("ascii", "backslashreplace")
    return repr(text if len(text) <= longest else text[: longest - 3] + "...")


def masks_to_matrix(masks: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Spread bitmasks over a matrix.

    Parameters
    ----------
    masks : numpy.ndarray of uint32, shape (n_users,)
        Bitmasks as returned by `parse_sessions`.

    Returns
    -------
    numpy.ndarray of bool, shape (n_users, 17)
        Whether user i visited category ``c + 1``, in column c.
    """
    bits = np.arange(DOMAIN_SIZE, dtype=np.uint32)
    return ((masks[:, np.newaxis] >> bits) & np.uint32(1)).astype(np.bool_)


def set_sizes(masks: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Count the distinct categories of each user.

    Parameters
    ----------
    masks : numpy.ndarray of uint32, shape (n_users,)
        Bitmasks as returned by `parse_sessions`.

    Returns
    -------
    numpy.ndarray of int64, shape (n_users,)
        Number of distinct categories, 1..17.
    """
    return np.bitwise_count(masks).astype(np.int64)
