"""What every script of the pipeline needs: its output and traceback in the rule's log."""

from __future__ import annotations

import contextlib
import json
import sys
import traceback
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from segshuffle.accounting.numerics.ranges import rounded, rounded_down, rounded_up
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


def to_csv(table: pd.DataFrame, *, lower: Collection[str] = (), upper: Collection[str] = ()) -> str:
    """CSV text, newline at the end; numbers have ten significant digits, and read back they give the same text.

    Parameters
    ----------
    lower, upper : collection of str
        Columns of certified lower and upper ends, rounded down and up; all others go to the nearest number.
    """
    sides = {**dict.fromkeys(lower, rounded_down), **dict.fromkeys(upper, rounded_up)}
    table = table.copy()
    for name, column in table.items():
        if column.dtype.kind == "f":
            table[name] = column.map(sides.get(str(name), rounded))
    return str(table.to_csv(index=False, lineterminator="\n"))


def to_json(values: Any, **options: Any) -> str:
    """JSON text; numbers go to the nearest of ten significant digits, which is where a plan's parameters are already.

    Parameters
    ----------
    values : object
        Dicts, lists and tuples of JSON values.
    **options : object
        What `json.dumps` takes.
    """
    return json.dumps(_with_digits(values), **options)


def _with_digits(values: Any) -> Any:
    if isinstance(values, dict):
        return {key: _with_digits(value) for key, value in values.items()}
    if isinstance(values, list | tuple):
        return [_with_digits(value) for value in values]
    return rounded(values) if isinstance(values, float) else values
