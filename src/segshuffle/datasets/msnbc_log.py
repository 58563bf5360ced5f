"""The MSNBC log of 28 September 1999: where its one file is found, and how it is read.

The file lists, for each user of one day, the categories of the pages visited, in order. Here only the set of distinct
categories of a user matters: a row of 17 truth values.
"""

import contextlib
import gzip
import hashlib
import io
import time
import zipfile
from collections.abc import Callable
from itertools import product
from pathlib import Path, PurePosixPath

import numpy as np
from numpy.typing import NDArray

from segshuffle.datasets.declared import DataSource, Place
from segshuffle.datasets.msnbc import CACHED, DOMAIN_SIZE, LICENCE, SHA256, URLS
from segshuffle.datasets.stand_in import draw_stand_in
from segshuffle.errors import DataError, FetchError
from segshuffle.files import read_bounded, write_atomically

# Nothing larger is read or unpacked (bytes); the log has 12.6 MB.
_MOST_BYTES = 64 * 2**20


def read_log(path: Path) -> NDArray[np.bool_]:
    """Read the MSNBC log and verify it.

    Parameters
    ----------
    path : pathlib.Path
        The ``.seq`` itself, gzipped, or the zip from UCI (with the ``.seq`` or ``.seq.gz`` inside), under any name.

    Returns
    -------
    numpy.ndarray of bool, shape (n_users, 17)
        Whether a user visited category c + 1, in column c; users in the file's order.

    Raises
    ------
    DataError
        If the file cannot be read or unpacked, or has another hash.
    """
    content = _verified(read_bounded(path, limit=_MOST_BYTES), str(path))
    # numbers 1..17 with blanks between, a line per user; each line end becomes a 0, which is no category
    body = content.partition(b"% Sequences:")[2].strip().replace(b"\n", b" 0 ")
    visited = np.fromstring(body, dtype=np.int64, sep=" ")
    user, visit = np.cumsum(visited == 0), visited > 0
    held = np.zeros((int(user[-1]) + 1, DOMAIN_SIZE), dtype=np.bool_)
    held[user[visit], visited[visit] - 1] = True
    return held


def _verified(content: bytes, where: str) -> bytes:
    """Unpack the log and check its hash."""
    with contextlib.suppress(Exception):  # gzip and zipfile raise many kinds on damaged bytes
        for _ in range(3):  # a zip of a gzip, which a server may have packed once more
            if content.startswith(b"PK"):
                archive = zipfile.ZipFile(io.BytesIO(content))
                held = [name for name in archive.namelist() if "msnbc990928.seq" in PurePosixPath(name).name]
                content = archive.open(held[0]).read(_MOST_BYTES)
            elif content.startswith(b"\x1f\x8b"):
                content = gzip.GzipFile(fileobj=io.BytesIO(content)).read(_MOST_BYTES)
    found = hashlib.sha256(content).hexdigest()
    if found != SHA256:
        raise DataError(
            f"{where}: not the file msnbc990928.seq: sha256 of its {len(content)} bytes, unpacked if possible, is "
            f"{found}, expected is {SHA256}. It may be damaged, incomplete, another archive or a web page saved as a "
            "file, or a program converted its line ends. Get the file again from "
            f"{URLS[0]}, unpack nothing and edit nothing."
        )
    return content


def obtain_log(place: Place, *, download: bool) -> tuple[NDArray[np.bool_], DataSource]:
    """Get the MSNBC log from the best source there is, and say which it was.

    In this order: the user's own copy, and nothing else if there is one; an earlier download, which is downloaded again
    if it is damaged; a new download; the stand-in.

    Parameters
    ----------
    place : Place
        Where to look, and the random stream of the stand-in.
    download : bool
        Whether the network may be used.

    Returns
    -------
    held : numpy.ndarray of bool, shape (n_users, 17)
        As `read_log` returns it.
    source : DataSource
        Where it came from.

    Raises
    ------
    DataError
        If the user's own copy is not the MSNBC log, or a download cannot be written.
    """
    cache, log = place.cache / CACHED, place.log
    if place.given is not None:
        return read_log(place.given), DataSource("real", SHA256, place.given.name)
    with contextlib.suppress(OSError):  # a folder that may not be searched
        if cache.is_file():
            try:
                return read_log(cache), DataSource("real", SHA256, cache.name)
            except DataError as error:
                log(f"The earlier download is not usable: {error}")
    reason = "no file was given and downloading is switched off"
    if download:
        try:
            url = download_log(cache, log=log)
            return read_log(cache), DataSource("real", SHA256, url)
        except FetchError as error:
            reason = str(error)
    log(f"Using the stand-in for MSNBC: {reason}")
    rng = place.stream("stand-in")
    return draw_stand_in(rng), DataSource("stand-in", None, "drawn from the published marginals of MSNBC", reason)


def download_log(
    destination: Path,
    *,
    deadline_seconds: float = 30.0,
    attempts: int = 3,
    timeout: float = 5.0,
    log: Callable[[str], object] = lambda message: None,
) -> str:
    """Download the MSNBC log, verify it, and store it gzip-compressed.

    Parameters
    ----------
    destination : pathlib.Path
        The file to write. No name or time is in it, so the same content gives the same bytes. Its licence and citation
        are written beside it.
    deadline_seconds : float, optional
        Seconds after which no further attempt begins and a slow one is given up.
    attempts : int, optional
        Attempts per address. Before the addresses are tried once more there is a pause of 0.5, 1, 2, ... seconds.
    timeout : float, optional
        Seconds to wait for a connection, and for each piece of an answer.
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
    import requests

    if destination.is_dir():  # found out before the download, not after it
        raise DataError(f"{destination}: is a folder. Give the name of the file to write, such as msnbc990928.seq.gz.")
    end, tried = time.monotonic() + deadline_seconds, []
    for number, url in product(range(attempts), URLS):
        if number and url == URLS[0]:
            time.sleep(0.5 * 2 ** (number - 1))
        if time.monotonic() >= end:
            break
        try:
            content = _verified(_body(url, end, timeout), url)
        except (requests.RequestException, DataError) as error:
            tried.append(f"{url}, attempt {number + 1}: {_reason(error)}")
            log(tried[-1])
            continue
        write_atomically(destination, gzip.compress(content, mtime=0))
        write_atomically(destination.with_name(f"{destination.name}.LICENCE.txt"), f"{LICENCE}\n")
        log(f"{url}, attempt {number + 1}: complete and verified")
        return url
    said = "\n  ".join([f"The MSNBC log could not be had within {deadline_seconds:g} s.", *tried])
    raise FetchError(
        f"{said}\nCheck the network, or get the file in some other way and give its path: config datasets.msnbc.path "
        "or environment variable SEGSHUFFLE_MSNBC."
    )


def _body(url: str, end: float, timeout: float) -> bytes:
    """Get what is at an address, until time is up or it is too long."""
    import requests

    body = bytearray()
    with requests.get(url, stream=True, timeout=timeout, headers={"User-Agent": "segshuffle"}) as response:
        response.raise_for_status()
        for piece in response.iter_content(1024):  # small, to look at the clock often
            body += piece
            if time.monotonic() > end:
                raise requests.Timeout
            if len(body) > _MOST_BYTES:
                raise DataError(f"longer than {_MOST_BYTES} bytes")
    return bytes(body)


def _reason(error: Exception) -> str:
    """Say why an attempt failed, the same on every machine: no addresses of objects, no elapsed times."""
    response = getattr(error, "response", None)
    if response is not None:
        return f"HTTP status {response.status_code}"
    return f"wrong content ({error})" if isinstance(error, DataError) else f"no answer ({type(error).__name__})"
