"""The shuffler: it takes messages from clients, forgets the senders, and releases all in uniformly random order.

The trust model is in the types. Only a `Shuffler` can make `ShuffledMessages`, and the server's functions accept
nothing else. `ShuffledMessages` has only the permuted messages, no generator and no batch sizes.

Messages are in a temporary file that is mapped into memory, and shuffled in place. The operating system keeps as much
of this file in memory as fits. The law of the result does not depend on the sizes of the batches.

numpy's generators are not cryptographic, so this shuffler is for simulations only.
"""

import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike

from segshuffle.errors import DataError
from segshuffle.plans.scheme import Messages

_SEAL = object()
_BLOCK = 2**16


class ShuffledMessages:
    """Messages in uniformly random order: all that the server receives. Made by `Shuffler.release` alone.

    Parameters
    ----------
    messages : ndarray
        The permuted messages.
    seal : object
        Proof that the caller is the shuffler.

    Raises
    ------
    TypeError
        If anybody but the shuffler makes one.
    """

    __slots__ = ("_messages",)

    def __init__(self, messages: Messages, *, seal: object) -> None:
        if seal is not _SEAL:
            raise TypeError("ShuffledMessages are made by Shuffler.release() only: the server sees nothing else.")
        messages.flags.writeable = False
        self._messages = messages

    def __len__(self) -> int:
        return self._messages.size

    @property
    def nbytes(self) -> int:
        """Bytes that travelled to the server."""
        return self._messages.nbytes

    def blocks(self) -> Iterator[Messages]:
        """Yield all messages in order, some at a time, in read-only arrays."""
        return (self._messages[start : start + _BLOCK] for start in range(0, len(self), _BLOCK))


@dataclass(frozen=True)
class Shuffler:
    """Collects batches of messages and releases one uniform permutation of them all.

    Parameters
    ----------
    rng : numpy.random.Generator
        Randomness of the shuffler, which nobody else may know.
    """

    rng: np.random.Generator

    def release(self, batches: Iterable[Messages], dtype: DTypeLike) -> ShuffledMessages:
        """Collect all batches in a temporary file (in the folder TMPDIR), and permute their messages.

        Parameters
        ----------
        batches : iterable of ndarray
            What clients send, one word per message.
        dtype : dtype
            Type of a word (`Scheme.dtype`).

        Raises
        ------
        DataError
            If the file cannot be written.
        """
        messages: Messages = np.empty(0, dtype)
        try:
            with tempfile.TemporaryFile() as file:
                for batch in batches:
                    file.write(np.asarray(batch, dtype).data)
                file.flush()
                if file.tell():
                    messages = np.asarray(np.memmap(file, dtype, "r+"))
        except OSError as error:
            raise DataError(
                f"messages cannot be collected in a temporary file ({error.strerror or error}). Set the variable "
                "TMPDIR to a folder that exists and has room."
            ) from error
        self.rng.shuffle(messages)
        return ShuffledMessages(messages, seal=_SEAL)
