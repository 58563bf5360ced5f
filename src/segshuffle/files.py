"""Write files completely or not at all: under a temporary name in the same folder, then renamed."""

import contextlib
import hashlib
import os
import secrets
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from segshuffle.errors import DataError, ParameterError


@contextlib.contextmanager
def writing(path: Path, *, private: bool = False) -> Iterator[Path]:
    """Yield a temporary name in the folder of `path`, and rename the file at the end; readers never see part of it.

    Missing folders are made. Two writers do not disturb each other. A private file is never readable by anybody but
    its owner.

    Raises
    ------
    DataError
        If the file cannot be written, as on a full disk; nothing is left behind then.
    """
    temporary = _begun(path, mode=0o600 if private else 0o666)
    try:
        yield temporary
        temporary.replace(path)
    except OSError as error:
        raise _refusal(path, error) from error
    finally:
        temporary.unlink(missing_ok=True)


def _begun(path: Path, *, new_folders: bool = True, mode: int = 0o666) -> Path:
    """Make the temporary file that becomes `path`, in its folder."""
    try:
        if not new_folders and not path.parent.is_dir():
            raise OSError("there is no such folder; make it first")
        if path.exists() and not path.is_file():
            raise OSError("it is no file, but a folder or a device")  # the rename would replace a device
        # not tempfile: its files are readable by the owner only, and the rename would keep that
        temporary = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.part")
        if new_folders:
            path.parent.mkdir(parents=True, exist_ok=True)
        # a mode that is set later would come too late: another user may have opened the file
        os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))
    except (OSError, ValueError) as error:  # ValueError: a name that is empty or has a NUL character
        raise _refusal(path, error) from error
    return temporary


def check_output(path: Path) -> Path:
    """Return a path that can be written; refuse any other before work begins whose result would be lost.

    Raises
    ------
    DataError
        If the folder does not exist, or no file can be made in it, or the path is a folder or a device.
    """
    _begun(path, new_folders=False).unlink()
    return path


def write_atomically(path: Path | str, content: str | bytes) -> None:
    """Write a file (text as UTF-8, newlines as given) so that no reader ever sees a part of it.

    Raises
    ------
    DataError
        If the file cannot be written; nothing is left behind then.
    """
    with writing(Path(path)) as temporary:
        temporary.write_bytes(content.encode() if isinstance(content, str) else content)


def refuse_overwriting(option: str, output: Path | None, inputs: Iterable[Path | str | None]) -> None:
    """Refuse an output that is also an input, under any name, because the input would be lost.

    Parameters
    ----------
    option : str
        Name of the option that names the output.
    output : pathlib.Path or None
        Where to write.
    inputs : iterable of pathlib.Path or str or None
        What is read; "-" is standard input, None is left out.

    Raises
    ------
    ParameterError
        If the output is also an input.
    """
    for each in inputs:
        if output is not None and each is not None and _is_same(output, each):
            raise ParameterError(option, str(output), f"another file than {each}, which is read and would be lost")


def _is_same(output: Path, read: Path | str) -> bool:
    try:
        read_status = os.fstat(sys.stdin.fileno()) if str(read) == "-" else Path(read).stat()
        return os.path.samestat(read_status, output.stat())
    except (OSError, ValueError):  # one of them does not exist; ValueError: a NUL character in the name
        return False


def _refusal(path: Path, error: OSError | ValueError) -> DataError:
    return DataError(
        f"{path}: cannot be written ({_reason(error)}). Make room, or choose a file name in a folder that you may "
        "write to; then run the same command again. Files that were finished before are kept."
    )


def unreadable(name: object, error: Exception) -> DataError:
    """Make the error about a file that cannot be read."""
    told = str(name) if len(str(name)) <= 300 else f"{str(name)[:300]}..."
    return DataError(
        f"{told}: cannot be read ({_reason(error)}). Check the path; a relative path is taken from the folder in which "
        "the command runs."
    )


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def read_bounded(path: Path | str, *, limit: int) -> bytes:
    """Read a file of at most `limit` bytes.

    Parameters
    ----------
    path : pathlib.Path or str
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
        with Path(path).open("rb") as stream:
            content = stream.read(limit + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL character in the name
        raise unreadable(path, error) from error
    if len(content) > limit:
        raise DataError(f"{path}: larger than {limit} bytes, the most that is read. Is this the right file?")
    return content


def sha256_of(path: Path | str) -> str:
    """Return the SHA-256 of a file's bytes, in hex."""
    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
