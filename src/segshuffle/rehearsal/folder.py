"""Write a folder of results completely or not at all."""

import contextlib
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

from segshuffle.errors import DataError

#: A folder with this file may be replaced by a new result.
MARK = "rehearsal.json"


def check_place(folder: Path) -> None:
    """Refuse a path with other files, before anything is computed.

    Raises
    ------
    DataError
        If the path is a file, or a folder with other content than an earlier result.
    """
    folder = folder.absolute()
    if "\0" in str(folder) or not folder.name:
        raise DataError(f"{str(folder)!r} is no name of a folder: give one that can be made.")
    try:
        free = not any(folder.iterdir()) or (folder / MARK).is_file()
    except FileNotFoundError:
        return
    except OSError as error:
        raise DataError(f"{folder}: no folder can be made here ({error.strerror}). Give another by --out.") from error
    if not free:
        raise DataError(f"{folder}: holds something else than a rehearsal. Give another folder by --out.")


@contextlib.contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder to fill, which replaces `folder` at the end.

    Raises
    ------
    DataError
        If the folder cannot be written; an earlier result then remains.
    """
    check_place(folder)
    folder = folder.absolute()
    token = f"{os.getpid()}-{secrets.token_hex(4)}"
    temporary, old = (folder.with_name(f".{folder.name}.{token}.{kind}") for kind in ("part", "old"))
    try:
        temporary.mkdir(parents=True)
        yield temporary
        if folder.exists():
            folder.rename(old)
        try:
            temporary.rename(folder)
        except OSError:
            if old.exists():
                old.rename(folder)
            raise
    except OSError as error:
        raise DataError(
            f"{folder}: cannot be written ({error.strerror or error}). Make room, or give another folder by --out."
        ) from error
    finally:
        for each in (temporary, old):
            shutil.rmtree(each, ignore_errors=True)
