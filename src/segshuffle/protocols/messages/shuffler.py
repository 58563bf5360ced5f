"""The shuffler: it takes messages from clients, forgets the senders, and releases all in uniformly random order.

The trust model is in the types. Clients can make only an `Outbox`, and only a `Shuffler` opens it. Only a `Shuffler`
can make `ShuffledMessages`, and the server's functions accept nothing else. `ShuffledMessages` has only the permuted
words, no generator and no batch sizes.

Messages are shuffled in place: in memory, or in a temporary file that is mapped into memory. The operating system keeps
as much of this file in memory as fits. The law of the result does not depend on the sizes of the batches.

numpy's generators are not cryptographic, so this shuffler is for simulations only.
"""

import contextlib
import io
import tempfile
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from segshuffle.errors import DataError
from segshuffle.protocols.scheme import Words

_SEAL = object()
_BLOCK_WORDS = 2**16


class _Stored:
    """Words in a file, on disk or in memory; the end of a with statement deletes them."""

    __slots__ = ("_dtype", "_file")

    def __init__(self, file: Any, dtype: DTypeLike) -> None:
        self._file = file
        self._dtype: np.dtype[Any] = np.dtype(dtype)

    def close(self) -> None:
        """Delete the words."""
        # buffered words that could not be written are dropped, not written again
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

    def __init__(self, file: Any, dtype: DTypeLike, length: int, *, seal: object) -> None:
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
        """Yield all messages in order, in read-only arrays of at most `size` messages."""
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
        Randomness of the shuffler, which nobody else may know.
    spill : bool
        Whether messages are in a temporary file (in the folder TMPDIR) and not in memory.

    Raises
    ------
    DataError
        If a temporary file cannot be made or written; methods may raise this, too.
    """

    def __init__(self, dtype: DTypeLike, rng: np.random.Generator, *, spill: bool = False) -> None:
        self._rng = rng
        self._spill = spill
        with _spilling():
            super().__init__(_store(spill), dtype)

    def _check_open(self) -> None:
        if self._file.closed:
            raise RuntimeError("this shuffler has already released its messages")

    def collect(self, outbox: Outbox) -> None:
        """Append a batch."""
        self._check_open()
        with _spilling():
            self._file.write(outbox._words.astype(self._dtype, copy=False).data)

    def release(self) -> ShuffledMessages:
        """Permute all messages and return them; this is possible only once."""
        self._check_open()
        with _spilling():
            self._file.flush()
        length = self._file.tell() // self._dtype.itemsize
        if length and self._spill:
            self._rng.shuffle(np.asarray(np.memmap(self._file, self._dtype, "r+")))
        elif length:
            self._rng.shuffle(np.frombuffer(self._file.getbuffer(), self._dtype))
        # the closed file stays, so that nothing can be collected or released again
        released, self._file = self._file, io.BytesIO()
        self.close()
        return ShuffledMessages(released, self._dtype, length, seal=_SEAL)


def _store(spill: bool) -> Any:
    return tempfile.TemporaryFile() if spill else io.BytesIO()


@contextlib.contextmanager
def _spilling() -> Iterator[None]:
    """Say what to do if there is no room for temporary files."""
    try:
        yield
    except OSError as error:
        raise DataError(
            f"messages cannot be spilled to a temporary file ({error.strerror or error}). Name a folder that exists "
            "and has room by the variable TMPDIR, or raise chunk_users until they fit into memory."
        ) from error
