"""Where the MSNBC sessions come from: a given file, an earlier download, a download, or else the labelled stand-in."""

from __future__ import annotations

import contextlib
import gzip
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from segshuffle.datasets._http import AttemptError, get_body
from segshuffle.datasets.archive import MAX_BYTES, read_sessions_file, unpack, verify_sessions
from segshuffle.datasets.msnbc import N_SESSIONS, SHA256, URLS
from segshuffle.datasets.msnbc_log import parse_sessions
from segshuffle.datasets.source import DataSource
from segshuffle.datasets.stand_in import draw_stand_in
from segshuffle.errors import DataError, FetchError, ParameterError
from segshuffle.files import write_atomically

__all__ = [
    "MAX_RETRY_AFTER",
    "download_sessions",
    "obtain_sessions",
    "read_sessions_file",
    "verify_sessions",
]

#: A server that asks for a longer wait (seconds) is not asked again.
MAX_RETRY_AFTER = 10.0

_ADVICE = (
    "Check the network, or get the file in some other way and give its path: "
    "config datasets.msnbc.path or environment variable SEGSHUFFLE_MSNBC."
)


def obtain_sessions(
    *,
    path: Path | None,
    cache: Path,
    allow_download: bool,
    rng: np.random.Generator,
    urls: Sequence[str] = URLS,
    expected: str = SHA256,
    deadline_seconds: float = 30.0,
    attempts: int = 3,
    n_stand_in: int = N_SESSIONS,
    log: Callable[[str], object] = lambda message: None,
) -> tuple[NDArray[np.uint32], DataSource]:
    """Get the MSNBC sessions from the best source there is, and say which it was.

    In this order: the file at `path`; an earlier download in `cache`; a new download; the stand-in.

    Parameters
    ----------
    path : pathlib.Path or None
        The user's own copy. If given, nothing else is tried: an unreadable or wrong file is an error.
    cache : pathlib.Path
        File in which a download is kept. If it fails verification, it is removed and fetched again (and only ignored if
        downloading is not allowed).
    allow_download : bool
        Whether the network may be used.
    rng : numpy.random.Generator
        Randomness of the stand-in; untouched if the real sessions are found.
    urls, expected, deadline_seconds, attempts, log
        As for `download_sessions`.
    n_stand_in : int, optional
        Number of sessions of the stand-in.

    Returns
    -------
    masks : numpy.ndarray of uint32, shape (n_sessions,)
        One bitmask per user, as `parse_sessions` returns.
    source : DataSource
        Where they came from.

    Raises
    ------
    DataError
        If the file at `path` is not the MSNBC file, or `cache` cannot be written.
    """
    if path is not None:
        return _real(read_sessions_file(path, expected=expected), Path(path).name, expected)
    if _is_file(cache):
        try:
            return _real(read_sessions_file(cache, expected=expected), cache.name, expected)
        except DataError as error:
            log(f"The earlier download is not usable: {error}")
            if allow_download:
                with contextlib.suppress(OSError):  # whoever may not remove it may not replace it: said when writing
                    cache.unlink()
    reason = "no file was given and downloading is switched off"
    if allow_download:
        try:
            url = download_sessions(
                cache, urls=urls, expected=expected, deadline_seconds=deadline_seconds, attempts=attempts, log=log
            )
            return _real(read_sessions_file(cache, expected=expected), url, expected)
        except FetchError as error:
            reason = str(error)
    log(f"Using the stand-in for MSNBC: {reason}")
    source = DataSource("stand-in", None, "drawn from the published marginals of MSNBC", reason)
    return draw_stand_in(rng, n_stand_in), source


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a folder that may not be searched
        return False


def _real(raw: bytes, origin: str, sha256: str) -> tuple[NDArray[np.uint32], DataSource]:
    return parse_sessions(raw, source=origin), DataSource("real", sha256, origin)


def download_sessions(
    destination: Path,
    *,
    urls: Sequence[str] = URLS,
    expected: str = SHA256,
    deadline_seconds: float = 30.0,
    attempts: int = 3,
    timeout: tuple[float, float] = (5.0, 10.0),
    first_pause: float = 0.5,
    sleep: Callable[[float], object] = time.sleep,
    log: Callable[[str], object] = lambda message: None,
) -> str:
    """Download the MSNBC file, verify it, and store it gzip-compressed.

    Every address is tried once before any is tried again, so that a silent first server cannot use up the deadline.
    Refused connections, silence, bodies cut short and the statuses 408, 425, 429 and 5xx are worth another attempt,
    after a pause that doubles from round to round or that the server asks for; any other failure rules the address out.

    Parameters
    ----------
    destination : pathlib.Path
        The file to write. No name or time is in it, so the same content gives the same bytes.
    urls : sequence of str, optional
        Addresses of the file, in any packing `segshuffle.datasets.archive.unpack` knows.
    expected : str, optional
        SHA-256 of the uncompressed bytes.
    deadline_seconds : float, optional
        Seconds for everything together, positive.
    attempts : int, optional
        Attempts per address, at least 1.
    timeout : tuple of float, optional
        Seconds to wait for a connection, and for each piece of an answer.
    first_pause : float, optional
        Seconds before the second attempt.
    sleep : callable, optional
        Waits for a number of seconds.
    log : callable, optional
        Gets one line of text per attempt.

    Returns
    -------
    str
        The address that had the file.

    Raises
    ------
    FetchError
        If no address had the file in time; lists every attempt. Nothing is left behind.
    DataError
        If `destination` cannot be written.
    """
    if attempts < 1:
        raise ParameterError("attempts", attempts, "an integer of at least 1")
    if not deadline_seconds > 0:
        raise ParameterError("deadline_seconds", deadline_seconds, "positive")
    if Path(destination).is_dir():  # found out before the download, not after it
        raise DataError(f"{destination}: is a folder. Give the name of the file to write, such as msnbc990928.seq.gz.")
    tries = _Tries(dict.fromkeys(urls, 0.0), time.monotonic() + deadline_seconds, expected, timeout, log)
    for number in range(1, attempts + 1):
        pause = 0.0 if number == 1 else max([first_pause * 2.0 ** (number - 2), *tries.waits.values()])
        if not tries.waits or tries.seconds_left <= pause:
            break
        if pause > 0:
            sleep(pause)
        for url in list(tries.waits):
            content = tries.get(url, number)
            if content is not None:
                write_atomically(destination, gzip.compress(content, mtime=0))
                log(f"{url}, attempt {number}: complete and verified")
                return url
    raise FetchError(_report(tries.history, len(urls), deadline_seconds))


@dataclass
class _Tries:
    """What was tried, and which addresses are still worth it."""

    #: Address -> seconds its server asked to wait; ruled-out addresses leave.
    waits: dict[str, float]
    end: float
    expected: str
    timeout: tuple[float, float]
    log: Callable[[str], object]
    history: list[str] = field(default_factory=list)

    @property
    def seconds_left(self) -> float:
        return self.end - time.monotonic()

    def get(self, url: str, number: int) -> bytes | None:
        """One attempt: the content, or None after a line in the history; nothing is tried after the end."""
        seconds = self.seconds_left
        if seconds <= 0:
            return None
        try:
            return _verified_body(url, self.expected, self.timeout, seconds)
        except AttemptError as failure:
            too_long = failure.retry_after > MAX_RETRY_AFTER
            asked = f", asks to wait longer than {MAX_RETRY_AFTER:g} s" if too_long else ""
            self.history.append(f"{url}, attempt {number}: {failure.reason}{asked}")
            self.log(self.history[-1])
            self.waits[url] = failure.retry_after
            if too_long or not failure.again:
                del self.waits[url]
            return None


def _verified_body(url: str, expected: str, timeout: tuple[float, float], seconds: float) -> bytes:
    """Get, unpack and verify; wrong content rules an address out like a missing page does."""
    body = get_body(url, timeout=timeout, seconds=seconds, max_bytes=MAX_BYTES)
    try:
        content = unpack(body, where=url)
        verify_sessions(content, where=url, expected=expected)
    except DataError as error:
        raise AttemptError(f"wrong content ({error})", again=False) from error
    return content


def _report(history: Sequence[str], n_urls: int, deadline_seconds: float) -> str:
    """Compose the message: what was tried, what happened, what to do."""
    tried = "".join(f"\n  {line}" for line in history) or "\n  (no attempt was made)"
    return (
        f"The MSNBC file could not be had from any of {n_urls} addresses within {deadline_seconds:g} seconds.{tried}\n"
        f"{_ADVICE}"
    )
