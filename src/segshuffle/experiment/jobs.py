"""What every script of the pipeline needs: its output and traceback in the rule's log."""

from __future__ import annotations

import contextlib
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path

from segshuffle.errors import SegshuffleError


@contextlib.contextmanager
def logged(path: str | Path) -> Iterator[None]:
    """Send standard output, standard error and a traceback to the log; an expected error is shown in one line.

    Raises
    ------
    SystemExit
        With status 1, after an error was written to the log and its last line to the original standard error.
    """
    terminal = sys.stderr
    with Path(path).open("w", encoding="utf-8", buffering=1) as log:
        with contextlib.redirect_stdout(log), contextlib.redirect_stderr(log):
            try:
                yield
                return
            except Exception as error:
                traceback.print_exc()
                message = str(error) if isinstance(error, SegshuffleError) else f"{type(error).__name__}: {error}"
        print(f"{message}\n(log: {path})", file=terminal)
        raise SystemExit(1)
