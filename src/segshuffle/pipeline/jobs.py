"""What every script of the pipeline needs: its output and traceback in the rule's log."""

from __future__ import annotations

import contextlib
import json
import sys
import traceback
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from segshuffle.digits import rounded, rounded_down, rounded_up
from segshuffle.errors import SegshuffleError
from segshuffle.files import write_atomically

if TYPE_CHECKING:
    import pandas as pd

#: What scripts import, `write_atomically` included.
__all__ = ["logged", "to_csv", "to_json", "write_atomically"]


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
