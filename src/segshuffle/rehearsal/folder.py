"""A folder of results that is there as a whole or not at all."""

import contextlib
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

from segshuffle.errors import DataError

#: The file by which a folder is known as one that may be written again.
MARK = "rehearsal.json"


def check_place(folder: Path) -> None:
    """Refuse a place where something else is, before anything is computed.

    Raises
    ------
    DataError
        If there is a file, or a folder that holds something else than an earlier result.
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
    """Give a folder beside `folder` to fill, which takes its name, and the place of an earlier result, at the end.

    Raises
    ------
    DataError
        If it cannot be written; what was there before is still there then.
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
