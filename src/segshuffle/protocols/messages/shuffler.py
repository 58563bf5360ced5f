r"""The shuffler: takes messages from clients, forgets where they came from, releases them in uniformly random order.

Types carry the trust model. Clients can only make an `Outbox`; only a `Shuffler` opens it, and only a `Shuffler` can
make `ShuffledMessages`, the one kind of messages that the server's functions accept. `ShuffledMessages` holds the
permuted words and nothing else: no generator, no batch sizes, no bucket sizes.

Shuffling more messages than fit in memory (Rao 1961, Sandelius 1962). Pass 1: as the batches come, every message goes
to one of B buckets, independently and uniformly. Pass 2: every bucket is permuted uniformly, and the buckets are
written out one after another. Only one batch or one bucket is in memory at a time, the rest in temporary files; with
one bucket the same two passes use files in memory.

Why this is a uniform permutation of the whole: let every message i have a U_i, uniform on [0, 1), all independent. As
they are exchangeable, and ties have probability 0, the order of increasing U_i is a uniform permutation. Now split U_i
into the bucket floor(B U_i) and the rest B U_i - floor(B U_i): the bucket is uniform on 0..B-1, the rest uniform on
[0, 1) and independent of all buckets. Increasing U_i means: by bucket, and inside a bucket by the rest. Given the
buckets, the order by the rest is a uniform permutation inside each bucket, by the same argument of exchangeability.
That is what the two passes draw. Neither B nor the batches' sizes enter the law of the result. The output is one run
of words that the server reads in blocks of its own choice, so not even the buckets' borders are visible.

Buckets have about (all messages)/B messages, with a relative spread of 1/sqrt(that): the caller's B bounds the memory.

The generators of numpy are not cryptographic: this engine simulates, it does not deploy.
"""

from __future__ import annotations

import contextlib
import io
import tempfile
from collections.abc import Iterator
from typing import IO, Any, Self

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from segshuffle.accounting.numerics.ranges import check_integer
from segshuffle.errors import DataError
from segshuffle.protocols.scheme import Words

#: Buckets are numbered with 16 bits, so that sorting by bucket is a radix sort.
MOST_BUCKETS = 2**16
_SEAL = object()
_BLOCK_WORDS = 2**16


class _Stored:
    """Words in a file, on disk or in memory, which a with statement deletes."""

    __slots__ = ("_dtype", "_file")

    def __init__(self, file: IO[bytes], dtype: DTypeLike) -> None:
        self._file = file
        self._dtype: np.dtype[Any] = np.dtype(dtype)

    def close(self) -> None:
        """Delete the words."""
        # what could not be written is deleted, not written once more
        with contextlib.suppress(OSError):
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Outbox:
    """Messages on their way from a batch of clients to the shuffler; only the shuffler opens it.

    Parameters
    ----------
    words : array_like
        One word per message, of the scheme's type.
    """

    __slots__ = ("_words",)

    def __init__(self, words: ArrayLike) -> None:
        self._words = np.asarray(words)


class ShuffledMessages(_Stored):
    """Messages in uniformly random order: all that the server receives. Made by `Shuffler.release` alone.

    Parameters
    ----------
    file : binary file
        The permuted words.
    dtype : dtype
        Type of a word.
    length : int
        Number of messages.
    seal : object
        Proof that the caller is the shuffler.

    Raises
    ------
    TypeError
        If anybody but the shuffler makes one.
    """

    __slots__ = ("_length",)

    def __init__(self, file: IO[bytes], dtype: DTypeLike, length: int, *, seal: object) -> None:
        if seal is not _SEAL:
            raise TypeError("ShuffledMessages are made by Shuffler.release() only: the server sees nothing else.")
        super().__init__(file, dtype)
        self._length = length

    def __len__(self) -> int:
        return self._length

    @property
    def nbytes(self) -> int:
        """Bytes that travelled to the server."""
        return self._length * self._dtype.itemsize

    def blocks(self, size: int = _BLOCK_WORDS) -> Iterator[Words]:
        """All messages in their order, in read-only arrays of at most `size`."""
        self._file.seek(0)
        while block := self._file.read(size * self._dtype.itemsize):
            yield np.frombuffer(block, dtype=self._dtype)


class Shuffler(_Stored):
    """Collects batches of messages and releases one uniform permutation of them all.

    Parameters
    ----------
    dtype : dtype
        Type of a word (`Scheme.dtype`).
    rng : numpy.random.Generator
        The shuffler's own coins; nobody else may know them.
    buckets : int
        1 keeps everything in memory; more spill to temporary files, where the system keeps them (TMPDIR), and bound the
        memory by one bucket.

    Raises
    ------
    DataError
        If a temporary file cannot be made or written, now or later.
    """

    def __init__(self, dtype: DTypeLike, rng: np.random.Generator, *, buckets: int = 1) -> None:
        check_integer("buckets", buckets, 1, most=MOST_BUCKETS)
        self._rng = rng
        self._buckets = buckets
        self._sizes: list[NDArray[np.int64]] = []
        with _spilling():
            super().__init__(self._new_file(), dtype)

    def _new_file(self) -> IO[bytes]:
        return io.BytesIO() if self._buckets == 1 else tempfile.TemporaryFile()

    def _check_open(self) -> None:
        if self._file.closed:
            raise RuntimeError("this shuffler has already released its messages")

    def collect(self, outbox: Outbox) -> None:
        """Pass 1: append a batch to the spill, grouped by independent uniform buckets, and note the groups' sizes."""
        self._check_open()
        words = outbox._words.astype(self._dtype, copy=False)
        code = np.uint8 if self._buckets <= 256 else np.uint16
        bucket = self._rng.integers(self._buckets, size=words.size, dtype=code)
        with _spilling():
            self._file.write(words[np.argsort(bucket, kind="stable")].data)
        self._sizes.append(np.bincount(bucket, minlength=self._buckets))

    def release(self) -> ShuffledMessages:
        """Pass 2: gather, permute and write out one bucket after another, once, and forget everything else."""
        self._check_open()
        itemsize = self._dtype.itemsize
        sizes = np.array(self._sizes, dtype=np.int64).reshape(-1, self._buckets)
        starts = np.cumsum(sizes).reshape(sizes.shape) - sizes
        with self, contextlib.ExitStack() as unless_released, _spilling():
            out = unless_released.enter_context(self._new_file())
            for bucket in range(self._buckets):
                words: Words = np.empty(int(sizes[:, bucket].sum()), dtype=self._dtype)
                filled = 0
                for start, size in zip(starts[:, bucket].tolist(), sizes[:, bucket].tolist(), strict=True):
                    self._file.seek(start * itemsize)
                    words[filled : filled + size] = np.frombuffer(self._file.read(size * itemsize), dtype=self._dtype)
                    filled += size
                self._rng.shuffle(words)
                out.write(words.data)
            out.flush()
            unless_released.pop_all()
        return ShuffledMessages(out, self._dtype, int(sizes.sum()), seal=_SEAL)


@contextlib.contextmanager
def _spilling() -> Iterator[None]:
    """Say what to do if the temporary files have no place."""
    try:
        yield
    except OSError as error:
        raise DataError(
            f"messages cannot be spilled to a temporary file ({error.strerror or error}). Name a folder that exists "
            "and has room by the variable TMPDIR, or raise chunk_users until they fit into memory."
        ) from error
