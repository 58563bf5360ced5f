"""Whole files or none: write under a temporary name in the same folder, then rename."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from segshuffle.errors import DataError


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that no reader ever sees a part of it.

    Parameters
    ----------
    path : pathlib.Path
        Where the file ends up; missing folders are made.
    content : bytes
        The whole content.

    Raises
    ------
    DataError
        If the file cannot be written; nothing is left behind then.
    """
    try:
        # Not tempfile.mkstemp: its files are readable by the owner only, and the rename would keep that.
        temporary = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.part")
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            temporary.write_bytes(content)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except (OSError, ValueError) as error:  # ValueError: a name that is empty or has a NUL character
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise DataError(
            f"{path}: cannot be written ({reason or type(error).__name__}). "
            "Choose a file name in a folder that you may write to and that has room."
        ) from error


def read_bounded(path: Path, *, limit: int) -> bytes:
    """Read a file of at most `limit` bytes.

    Parameters
    ----------
    path : pathlib.Path
        The file.
    limit : int
        Largest size that is read, in bytes.

    Returns
    -------
    bytes
        The whole content.

    Raises
    ------
    DataError
        If the file is missing, unreadable, not a file or larger than `limit`.
    """
    try:
        with path.open("rb") as stream:
            content = stream.read(limit + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL character in the name
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise DataError(
            f"{path}: cannot be read ({reason or type(error).__name__}). Check the path; "
            "a relative path is taken from the folder in which the command runs."
        ) from error
    if len(content) > limit:
        raise DataError(f"{path}: larger than {limit} bytes, the most that is read. Is this the right file?")
    return content
