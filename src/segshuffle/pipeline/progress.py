"""Tasks in parallel and their progress: lines in a log."""

import contextlib
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar, cast

T = TypeVar("T")
_LINES = 10


def track(items: Iterable[T], *, total: int, label: str) -> Iterator[T]:
    """Yield `items`, and report progress in about ten lines on standard error, which is the log of a job."""
    start = time.monotonic()
    for done, item in enumerate(items, start=1):
        yield item
        if (done * _LINES) // total > ((done - 1) * _LINES) // total:
            print(f"{label}: {done}/{total} after {time.monotonic() - start:.1f} s", file=sys.stderr, flush=True)


def parallel(function: Callable[..., T], calls: Sequence[tuple[Any, ...]], label: str) -> list[T]:
    """Call a function with every tuple of arguments, on the processes of `workers`; return the results in order."""
    import joblib

    results: Iterable[T] = joblib.Parallel(return_as="generator")(joblib.delayed(function)(*call) for call in calls)
    return list(track(results, total=len(calls), label=label))


def workers(processes: int) -> contextlib.AbstractContextManager[Any]:
    """Let `parallel` use this many processes, each with one BLAS thread."""
    if processes == 1:
        return contextlib.nullcontext()
    import joblib

    config = joblib.parallel_config(backend="loky", n_jobs=processes, inner_max_num_threads=1)
    return cast(contextlib.AbstractContextManager[Any], config)
