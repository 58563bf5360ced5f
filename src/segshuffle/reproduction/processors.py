"""What jobs compute with: the same instructions on every x86-64 processor, and joblib with the threads of a rule.

numpy and OpenBLAS choose their loops by what the processor offers. Newer loops of exp, log and dot products give other
last bits, and if the last bit of a rate changes, every draw changes. The oldest loops exist everywhere, and the
pipeline is little slower with them. Both libraries read the environment when they are loaded.

The GNU C library gives large arrays back to the system and asks for them anew, page by page. This takes up to a sixth
of the time of a job with large tables, so the library is told to keep them.

Imported by the Snakefile, which every remote job parses again: standard library only, joblib when it is used.
"""

import contextlib
import os
import platform
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar, cast

T = TypeVar("T")
#: What the pinned numpy may choose on newer x86-64 processors: its `__cpu_dispatch__`.
NEWER_INSTRUCTIONS = ("X86_V3", "X86_V4", "AVX512_ICL", "AVX512_SPR")


#: Largest array that is kept (the largest value that every version of the library accepts), and most free memory that
#: is kept, in bytes.
_KEPT = {"MALLOC_MMAP_THRESHOLD_": str(2**25), "MALLOC_TRIM_THRESHOLD_": str(2**31)}


def job_environment() -> dict[str, str]:
    """Return environment variables for every job; processors that are not x86-64 keep their own loops and numbers."""
    # jobs find this package without an installation
    path = [str(Path(__file__).parents[2]), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**_KEPT, "PYTHONPATH": os.pathsep.join(path)}
    if platform.machine() not in ("x86_64", "AMD64"):
        return environment
    return {**environment, "NPY_DISABLE_CPU_FEATURES": " ".join(NEWER_INSTRUCTIONS), "OPENBLAS_CORETYPE": "Nehalem"}


def parallel(function: Callable[..., T], calls: Iterable[tuple[Any, ...]]) -> list[T]:
    """Call a function with every tuple of arguments, in the threads of `workers`; return the results in order."""
    import joblib

    return list(joblib.Parallel()(joblib.delayed(function)(*call) for call in calls))


def workers(threads: int) -> contextlib.AbstractContextManager[Any]:
    """Let `parallel` use so many threads: a process each would load all libraries again."""
    if threads == 1:
        return contextlib.nullcontext()
    import joblib

    return cast(contextlib.AbstractContextManager[Any], joblib.parallel_config("threading", n_jobs=threads))
