"""What every script of the workflow needs. Scripts import this module first, so that later imports are quicker."""

import contextlib
import gc
import os
import sys
import traceback
from collections.abc import Iterator
from typing import Any

# joblib uses the threads of a rule; BLAS, which reads this when numpy is imported, would start as many more for each
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy

from segshuffle.errors import SegshuffleError
from segshuffle.reproduction.processors import workers
from segshuffle.reproduction.tables import check_digests, record_digests

# SciPy imports all that NumPy offers, also tools for Fortran code and tests, which take a third of its start
numpy.__dict__.update(f2py=None, testing=numpy.__dict__.get("testing"))
# searching all imported objects for cycles, during a job and at its end, is a large part of a short job's time
gc.disable()


@contextlib.contextmanager
def job(snakemake: Any) -> Iterator[str]:
    """Run a job on the threads of its rule; its output and the traceback of an error go to the log of the rule.

    Its input files must be those that other jobs wrote; the digests of its own are written beside them.

    Parameters
    ----------
    snakemake : object
        The object of this name in Snakemake's scripts.

    Yields
    ------
    str
        The edition, which figures and texts name.

    Raises
    ------
    SystemExit
        With status 1, after an error: its message is on the terminal, its traceback in the log.
    """
    with logged(str(snakemake.log[0])), workers(snakemake.threads):
        check_digests(snakemake.input)
        yield str(snakemake.config["edition"])
        record_digests(snakemake.output)
    gc.freeze()


@contextlib.contextmanager
def logged(path: str) -> Iterator[None]:
    """Send standard output, standard error and a traceback to a log; the terminal shows only an error's message.

    Raises
    ------
    SystemExit
        After an error with status 1, after Ctrl-C with status 130.
    """
    terminal = sys.stderr
    log = open(path, "w", encoding="utf-8", buffering=1)  # noqa: SIM115, PTH123  closing it may fail as well
    try:
        with contextlib.redirect_stdout(log), contextlib.redirect_stderr(log):
            try:
                yield
                return
            except KeyboardInterrupt:
                raise SystemExit(130) from None
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
