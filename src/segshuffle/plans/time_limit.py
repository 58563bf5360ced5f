"""How long searches may take: they give up once a limit of processor time is used up."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Iterator
from contextvars import ContextVar

#: Processor second of this process at which searches give up.
_deadline = ContextVar("_deadline", default=math.inf)


@contextlib.contextmanager
def within(seconds: float) -> Iterator[None]:
    """Let searches raise a `TimeoutError` once they took so many seconds of a processor."""
    token = _deadline.set(time.process_time() + seconds)
    try:
        yield
    finally:
        _deadline.reset(token)


def check_time() -> None:
    """Raise a `TimeoutError` if the time is used up."""
    if time.process_time() > _deadline.get():
        raise TimeoutError
