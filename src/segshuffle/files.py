"""Read and write files. One rule holds for all outputs.

A regular file is replaced completely or not at all: it is written under a temporary name in the same folder, then
renamed. Links are followed. A stream (a pipe, a terminal, /dev/stdout) gets all bytes at the end. All else is refused.
"""

import contextlib
import hashlib
import os
import re
import secrets
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from segshuffle.errors import DataError, ParameterError

#: Seconds to wait for a program at the other end of a pipe.
PATIENCE = 5.0
#: How files begin that are no text, and what to do with them.
_OTHERS = (
    (rb"PK\x03\x04", "a zip archive, or a workbook (xlsx): unpack it, or save the table as csv"),
    (rb"\xd0\xcf\x11\xe0", "an old workbook (xls): save the table as csv"),
    (rb"BZh\d1AY", "a file packed by bzip2: unpack it by bunzip2"),
    (rb"\xfd7zXZ", "a file packed by xz: unpack it by unxz"),
    (rb"7z\xbc\xaf", "a 7z archive: unpack it"),
    (rb"\xff\xfe|\xfe\xff|[^\0]\0[^\0]\0|\0[^\0]\0[^\0]", "text in UTF-16: convert it by iconv -f utf-16 -t utf-8"),
    (rb"PAR1", "Parquet, a table of users: give format = parquet"),
    (rb"ARROW1|\x89HDF|SQLite format 3|%PDF|\x1f\x8b", "a file of another kind: save its table as csv or Parquet"),
)


@contextlib.contextmanager
def writing(path: Path, *, private: bool = False) -> Iterator[Path]:
    """Yield the name of a temporary file, whose content becomes that of `path` at the end.

    Readers never see part of a file. Missing folders are made. Two writers do not disturb each other. A private file is
    never readable by anybody but its owner.

    Raises
    ------
    DataError
        If the file cannot be written, as on a full disk; nothing is left behind then.
    """
    temporary = _begun(path, mode=0o600 if private else 0o666)
    try:
        yield temporary
        if _is_stream(path):
            _send(temporary, path)
        else:
            temporary.replace(path.resolve())
    except OSError as error:
        raise _refusal(path, error) from error
    finally:
        temporary.unlink(missing_ok=True)


def _begun(path: Path, *, new_folders: bool = True, mode: int = 0o666) -> Path:
    """Make the temporary file whose content becomes that of `path`: in the folder of the file, if it is one."""
    try:
        stream = _is_stream(path)
        place = Path(tempfile.gettempdir(), "stream") if stream else path.resolve()
        if not new_folders and not place.parent.is_dir():
            raise OSError("there is no such folder; make it first")
        if place.exists() and not place.is_file():
            raise OSError("it is neither a file nor a stream, but a folder or a device")
        if stream:
            mode = 0o600
        elif place.exists():  # nobody may read it who may not read the file that it replaces
            mode &= place.stat().st_mode | 0o600
        # not tempfile: its files are readable by the owner only, and the rename would keep that
        temporary = place.with_name(f".{place.name}.{os.getpid()}-{secrets.token_hex(4)}.part")
        if new_folders:
            place.parent.mkdir(parents=True, exist_ok=True)
        # a mode that is set later would come too late: another user may have opened the file
        os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))
    except (OSError, ValueError) as error:  # ValueError: a name that is empty or has a NUL character
        raise _refusal(path, error) from error
    return temporary


def _is_stream(path: Path) -> bool:
    """Return whether bytes are sent to a path, not stored under it: a pipe, a terminal, or an output of the program."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or _standard(path) is not None


def _standard(path: Path) -> int | None:
    """Return the descriptor of the program's output, or of its errors, if the path names it as /dev/stdout does."""
    for descriptor in (1, 2):
        with contextlib.suppress(OSError):  # it is closed
            if os.path.samestat(path.stat(), os.fstat(descriptor)):
                return descriptor
    return None


def _send(content: Path, path: Path) -> None:
    """Send the content of a file to a stream."""
    own = _standard(path)
    with content.open("rb") as source, open_file(path, "wb") if own is None else os.fdopen(os.dup(own), "wb") as stream:
        shutil.copyfileobj(source, stream)


def check_output(path: Path) -> Path:
    """Return a path that can be written; refuse any other before work begins whose result would be lost.

    Raises
    ------
    DataError
        If the folder does not exist, or no file can be made in it, or the path is neither a file nor a stream.
    """
    _begun(path, new_folders=False).unlink()
    return path


def named(path: Path | str) -> Path:
    """Return the path of a file that is given by its name; refuse anything else."""
    if not isinstance(path, str | os.PathLike):
        raise ParameterError("path", path, "the name of a file")
    return Path(path)


def write_atomically(path: Path | str, content: str | bytes) -> None:
    """Write a file (text as UTF-8, newlines as given) so that no reader ever sees a part of it.

    Raises
    ------
    DataError
        If the file cannot be written; nothing is left behind then.
    """
    with writing(named(path)) as temporary:
        temporary.write_bytes(content.encode() if isinstance(content, str) else content)


def refuse_overwriting(outputs: Sequence[tuple[str, Path | None]], inputs: Iterable[Path | str | None]) -> None:
    """Refuse an output that is also an input or another output, under any name, because one would be lost.

    Parameters
    ----------
    outputs : sequence of (str, pathlib.Path or None)
        Names of options, and where to write; None is left out.
    inputs : iterable of pathlib.Path or str or None
        What is read; "-" is standard input, None is left out.

    Raises
    ------
    ParameterError
        Names the option, and the file that would be lost.
    """
    kept = [(each, "read") for each in inputs if each is not None]
    for option, output in outputs:
        if output is None:
            continue
        for other, use in kept:
            if _is_same(output, other):
                raise ParameterError(
                    option, str(output), f"another file than {other}, which is {use} and would be lost"
                )
        kept.append((output, "written"))


def _is_same(output: Path, other: Path | str) -> bool:
    try:
        if str(other) != "-" and output.resolve() == Path(other).resolve():
            return True
        status = os.fstat(sys.stdin.fileno()) if str(other) == "-" else Path(other).stat()
        return os.path.samestat(status, output.stat())
    # one of them does not exist; ValueError: a NUL character in the name; RuntimeError: links that lead nowhere
    except (OSError, ValueError, RuntimeError):
        return False


def open_file(path: Path, mode: str = "rb") -> Any:
    """Open a file; opening a pipe waits for a program at its other end, and is given up after a while.

    Raises
    ------
    OSError
        If it cannot be opened, or no program is at the other end of a pipe within five seconds.
    """
    if not path.is_fifo():
        return path.open(mode)
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(1)
    end = pool.submit(path.open, mode)
    try:
        return end.result(PATIENCE)
    except TimeoutError:
        raise OSError(f"it is a pipe, and no program {'reads from' if mode == 'wb' else 'writes to'} it") from None
    finally:
        if not end.done():
            with os.fdopen(os.open(path, os.O_RDWR | os.O_NONBLOCK), "rb"):  # the other end, until the thread has ended
                end.result().close()
        pool.shutdown()


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
        with open_file(named(path)) as stream:
            return bounded(stream, path, limit=limit)
    except (OSError, ValueError) as error:  # ValueError: a NUL character in the name
        raise unreadable(path, error) from error


def bounded(stream: IO[bytes], name: object, *, limit: int) -> bytes:
    """Read a stream of at most `limit` bytes."""
    content = stream.read(limit + 1)
    if len(content) > limit:
        raise DataError(f"{name}: larger than {limit} bytes, the most that is read. Is this the right file?")
    return content


def read_text(path: Path | str, *, limit: int) -> str:
    """Read a text of at most `limit` bytes; see `read_bounded` and `text_of`."""
    return text_of(read_bounded(path, limit=limit), path)


def text_of(content: bytes, name: object) -> str:
    """Return the text of a file in UTF-8, without a byte order mark.

    Raises
    ------
    DataError
        If it is none; says what the file is, or names the first line that is not UTF-8.
    """
    refuse_other_kinds(content, name)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"{name}, line {line}: this is not UTF-8. A text in Latin-1 is converted by iconv -f latin1 -t utf-8."
        ) from None


def refuse_other_kinds(begin: bytes, name: object = "") -> None:
    """Refuse a file that begins as one that is no text in UTF-8; errors begin with its name, if it is given."""
    for known, what in _OTHERS:
        if re.match(known, begin):
            raise DataError(f"{name and f'{name}: '}this is {what}.")


def sha256_of(path: Path | str) -> str:
    """Return the SHA-256 of a file's bytes, in hex."""
    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
