"""What every script of the pipeline needs: its output and traceback in the rule's log."""

from __future__ import annotations

import contextlib
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from segshuffle.errors import DataError, SegshuffleError

if TYPE_CHECKING:
    import pandas as pd


@contextlib.contextmanager
def logged(path: str | Path) -> Iterator[None]:
    """Send standard output, standard error and a traceback to the log; an expected error is shown in one line.

    Raises
    ------
    SystemExit
        With status 1, after an error was written to the log and its last line to the original standard error.
    """
    terminal = sys.stderr
    log = Path(path).open("w", encoding="utf-8", buffering=1)  # noqa: SIM115  closing it may fail as well
    try:
        with contextlib.redirect_stdout(log), contextlib.redirect_stderr(log):
            try:
                yield
                return
            except Exception as error:
                message = str(error) if isinstance(error, SegshuffleError) else f"{type(error).__name__}: {error}"
                # a full disk has no room for the log either
                with contextlib.suppress(OSError):
                    traceback.print_exc()
    finally:
        with contextlib.suppress(OSError):
            log.close()
    print(f"{message}\n(log: {path})", file=terminal)
    raise SystemExit(1)


@contextlib.contextmanager
def writing(path: Path) -> Iterator[Path]:
    """Give a temporary name beside `path` and rename it when all went well: a reader never sees half a file.

    Raises
    ------
    DataError
        If the file cannot be written, as on a full disk; nothing is left behind then.
    """
    temporary = path.with_name(f".{path.name}.part")
    try:
        yield temporary
        temporary.replace(path)
    except OSError as error:
        raise DataError(
            f"{path}: cannot be written ({error.strerror or error}). "
            "Make room or give write access, then run the same command again: what was finished before is kept."
        ) from error
    finally:
        temporary.unlink(missing_ok=True)


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file (text as UTF-8, newlines as given) under a temporary name, then rename it."""
    with writing(path) as temporary:
        temporary.write_bytes(content.encode() if isinstance(content, str) else content)


def to_csv(table: pd.DataFrame) -> str:
    """CSV text with the shortest digits that read back to the same numbers, newline at the end."""
    return str(table.to_csv(index=False, lineterminator="\n"))
