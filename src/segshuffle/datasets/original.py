"""The one file of a published dataset: where it is found, how it is verified, and what takes its place."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import threading
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from segshuffle.datasets.interface import PADDING, Dataset, DataSource, Place, Section, padded_size, padded_users
from segshuffle.errors import DataError, FetchError
from segshuffle.files import read_bounded, write_atomically

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from segshuffle.arrays import BoolArray

# Nothing larger is read or unpacked (bytes).
_MOST_BYTES = 64 * 2**20
#: Seconds after which no further attempt to download begins and a slow one is given up, whatever its server sends.
DEADLINE = 30.0
#: Seconds to wait for a connection, and for each piece of an answer.
TIMEOUT = 5.0
#: Attempts per address. Before the addresses are tried once more there is a pause of 0.5, 1, 2, ... seconds.
ATTEMPTS = 3


@dataclass(frozen=True)
class Original:
    """The file of a published dataset, and how users are made of it.

    Parameters
    ----------
    dataset, label : str
        Identifier of the dataset, and its name in figures.
    name : str
        Name of the file.
    urls : tuple of str
        Addresses of the file, plain, gzipped or in a zip, in the order in which they are tried.
    sha256 : str
        SHA-256 of the unpacked file.
    licence : str
        Licence and citation.
    n_users, domain_size : int
        Users and items in it.
    read : callable
        Makes a row of `domain_size` truth values per user of the unpacked file.
    users_per_size : tuple of int
        Users with 1, 2, ... items, for the stand-in that is drawn if the file cannot be had.
    users_per_item : tuple of int
        Users who hold each item, or each of the most frequent ones, for the stand-in.
    same : callable
        Turns the unpacked bytes of another form of the data into those of the file.
    """

    dataset: str
    label: str
    name: str
    urls: tuple[str, ...]
    sha256: str
    licence: str
    n_users: int
    domain_size: int
    read: Callable[[bytes], BoolArray]
    users_per_size: tuple[int, ...]
    users_per_item: tuple[int, ...]
    same: Callable[[bytes], bytes] = bytes

    @property
    def cached(self) -> str:
        """Name of the file in the cache."""
        return f"{self.name}.gz"

    @property
    def variable(self) -> str:
        """Environment variable with the path of the user's own copy."""
        return f"SEGSHUFFLE_{self.dataset.upper()}"

    def as_dataset(self) -> Dataset:
        """Return the dataset for the configuration."""
        return Dataset(
            name=self.dataset,
            label=self.label,
            licence=self.licence,
            keys={
                "path": {
                    "description": f"Your own copy of {self.name}; the variable {self.variable} overrides it",
                    "type": ["string", "null"],
                    "minLength": 1,
                    "default": None,
                },
                "download": {
                    "description": "Whether it may be downloaded; without it, a labelled stand-in takes its place",
                    "type": "boolean",
                    "default": True,
                },
                "padding": PADDING,
            },
            domain_size=lambda section, set_size: padded_size(self.domain_size, section, set_size),
            population=partial(padded_users, self.domain_size),
            obtain=self.obtain,
            refresh=self._refresh,
            kept=self._is_kept,
            given=self.variable,
            given_is=f"{self.name}, {self.cached} or a zip with one of them",
            most_users=self.n_users,
        )

    def stand_in(self, rng: np.random.Generator) -> BoolArray:
        """Draw users with these numbers of items; items beyond `users_per_item` are equally frequent."""
        from segshuffle.datasets.stand_in import draw_stand_in

        entries = sum(size * users for size, users in enumerate(self.users_per_size, 1))
        others = self.domain_size - len(self.users_per_item)
        rest = [(entries - sum(self.users_per_item)) / others] * others if others else []
        return draw_stand_in(self.users_per_size, (*self.users_per_item, *rest), rng)

    def rows(self, path: Path) -> BoolArray:
        """Read and verify the file, under any name, plain, gzipped or in a zip.

        Raises
        ------
        DataError
            If the file cannot be read or unpacked, or has another hash.
        """
        return self.read(self._content(path))

    def _content(self, path: Path) -> bytes:
        """Read, unpack and verify the file."""
        return self._verified(read_bounded(path, limit=_MOST_BYTES), str(path))

    def _verified(self, content: bytes, where: str) -> bytes:
        """Unpack the file and check its hash."""
        with contextlib.suppress(Exception):  # gzip and zipfile raise many kinds on damaged bytes
            for _ in range(3):  # a zip of a gzip, which a server may have packed once more
                if content.startswith(b"PK"):
                    archive = zipfile.ZipFile(io.BytesIO(content))
                    members = [name for name in archive.namelist() if self.name in PurePosixPath(name).name]
                    content = archive.open(members[0]).read(_MOST_BYTES)
                elif content.startswith(b"\x1f\x8b"):
                    content = gzip.GzipFile(fileobj=io.BytesIO(content)).read(_MOST_BYTES)
        content = self.same(content)
        sha256 = hashlib.sha256(content).hexdigest()
        if sha256 != self.sha256:
            raise DataError(
                f"{where}: not the file {self.name}: sha256 of its {len(content)} bytes, unpacked if possible, is "
                f"{sha256}, expected is {self.sha256}. It may be damaged, incomplete, another archive or a web page "
                "saved as a file, or a program converted its line ends. Get the file again from "
                f"{self.urls[0]}, unpack nothing and edit nothing."
            )
        return content

    def obtain(self, section: Section, place: Place) -> tuple[NDArray[Any], DataSource]:
        """Get the data from the best source there is, and say which it was.

        In this order: the user's own copy, and nothing else if there is one; what an earlier job kept in the cache,
        which is downloaded again if it is damaged; a new download; the stand-in. A copy of the user's own is kept, too:
        a later job that is not given its path has the real data as well.

        Raises
        ------
        DataError
            If the user's own copy is not the file, or a download cannot be written.
        """
        cache, log = place.cache / self.cached, place.log
        if place.given is not None:
            content = self._content(place.given)
            try:
                self._keep(content, cache)
            except DataError as error:
                log(f"Later jobs need the path again: {error}")
            return self.read(content), DataSource("real", self.sha256, place.given.name)
        with contextlib.suppress(OSError):  # a folder that may not be searched
            if cache.is_file():
                try:
                    return self.rows(cache), DataSource("real", self.sha256, cache.name)
                except DataError as error:
                    log(f"The file that was kept is not usable: {error}")
        reason = "no file was given and downloading is switched off"
        if section["download"]:
            try:
                url = self.download(cache, log)
                return self.rows(cache), DataSource("real", self.sha256, url)
            except FetchError as error:
                reason = str(error)
        log(f"Using the stand-in for {self.label}: {reason}")
        rows = self.stand_in(place.stream("stand-in"))
        return rows, DataSource("stand-in", None, f"drawn from the published marginals of {self.label}", reason)

    def _refresh(self, section: Section, cache: Path, log: Callable[[str], object]) -> None:
        """Download the file, if that is allowed, where the cache does not have it."""
        if section["download"] and not self._is_kept(cache):
            self.download(cache / self.cached, log)

    def _is_kept(self, cache: Path) -> bool:
        """Say whether the cache has the file, verified."""
        with contextlib.suppress(DataError):
            return bool(self._content(cache / self.cached))
        return False

    def _keep(self, content: bytes, destination: Path) -> None:
        """Store the verified file, with its licence and citation beside it; the same content gives the same bytes."""
        # the highest level would take eight times as long to save 7 %
        write_atomically(destination, gzip.compress(content, compresslevel=6, mtime=0))
        write_atomically(destination.with_name(f"{destination.name}.LICENCE.txt"), f"{self.licence}\n")

    def download(self, destination: Path, log: Callable[[str], object] = lambda message: None) -> str:
        """Download the file, verify it, and store it gzip-compressed.

        Parameters
        ----------
        destination : pathlib.Path
            The file to write. No name or time is in it, so the same content gives the same bytes. Its licence and
            citation are written beside it.
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
            raise DataError(f"{destination}: is a folder. Give the name of the file to write, such as {self.cached}.")
        end, tried = time.monotonic() + DEADLINE, []
        for number, url in product(range(ATTEMPTS), self.urls):
            if number and url == self.urls[0]:
                time.sleep(max(min(0.5 * 2 ** (number - 1), end - time.monotonic()), 0.0))
            if time.monotonic() >= end:
                break
            try:
                content = self._verified(_body(url, end), url)
            except (requests.RequestException, DataError) as error:
                tried.append(f"{url}, attempt {number + 1}: {_reason(error)}")
                log(tried[-1])
                continue
            self._keep(content, destination)
            log(f"{url}, attempt {number + 1}: complete and verified")
            return url
        raise FetchError(
            f"{self.name} could not be had within {DEADLINE:g} s ({'; '.join(tried)}). "
            "Check the network, or get the file in some other way and give its path: config "
            f"datasets.{self.dataset}.path or environment variable {self.variable}."
        )


def _body(url: str, end: float) -> bytes:
    """Get what is at an address, until time is up or it is too long.

    It comes in a thread, which is left alone when time is up: a server that sends a byte now and then, as header or as
    body, keeps its reader waiting within every limit of a socket.
    """
    import requests

    answers: list[bytes | Exception] = []

    def get() -> None:
        body = bytearray()
        try:
            with requests.get(url, stream=True, timeout=TIMEOUT, headers={"User-Agent": "segshuffle"}) as response:
                response.raise_for_status()
                for piece in response.iter_content(2**16):
                    body += piece
                    if len(body) > _MOST_BYTES:
                        raise DataError(f"longer than {_MOST_BYTES} bytes")
            answers.append(bytes(body))
        except Exception as error:
            answers.append(error)

    thread = threading.Thread(target=get, daemon=True)
    thread.start()
    thread.join(max(end - time.monotonic(), 0.0))
    answer = answers[0] if answers else requests.Timeout()
    if isinstance(answer, Exception):
        raise answer
    return answer


def _reason(error: Exception) -> str:
    """Say why an attempt failed, the same on every machine: no addresses of objects, no elapsed times."""
    response = getattr(error, "response", None)
    if response is not None:
        return f"HTTP status {response.status_code}"
    return f"wrong content ({error})" if isinstance(error, DataError) else f"no answer ({type(error).__name__})"
