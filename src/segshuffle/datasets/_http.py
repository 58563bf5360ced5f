"""One attempt to get a body from an address, bounded in time and size, with every outcome in one word or two.

Reasons are stable text (no object addresses, no elapsed times), because they end up in provenance files that must not
differ from run to run.
"""

from __future__ import annotations

import email.utils
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from segshuffle.errors import FetchError

if TYPE_CHECKING:
    import requests

_T = TypeVar("_T")


class AttemptError(Exception):
    """An attempt that did not yield a body.

    Parameters
    ----------
    reason : str
        What happened.
    again : bool
        Whether the same address is worth another attempt.
    retry_after : float, optional
        Seconds the server asks to wait before that.
    """

    def __init__(self, reason: str, *, again: bool, retry_after: float = 0.0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.again = again
        self.retry_after = retry_after


def get_body(url: str, *, timeout: tuple[float, float], seconds: float, max_bytes: int) -> bytes:
    """Get the body at an address, undecoded.

    Parameters
    ----------
    url : str
        The address.
    timeout : tuple of float
        Seconds to wait for the connection, and for each piece of the answer.
    seconds : float
        Seconds for everything together, name resolution and slow trickles included.
    max_bytes : int
        Longest body that is accepted.

    Returns
    -------
    bytes
        The complete body.

    Raises
    ------
    AttemptError
        If it cannot be had; says whether another attempt makes sense.
    """
    end = time.monotonic() + seconds
    limits = (min(timeout[0], seconds), min(timeout[1], seconds))
    return _within(seconds, lambda: _request(url, limits, end, max_bytes))


def _within(seconds: float, work: Callable[[], _T]) -> _T:
    """Run `work`, but wait no longer than `seconds`.

    A thread, because neither the resolver nor a server that sends one header byte a second can be timed out otherwise.
    An abandoned thread writes nothing and ends at its next look at the clock or with the process.
    """
    results: list[_T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:  # handed to the waiting thread below
            errors.append(error)

    thread = threading.Thread(target=run, name="segshuffle-fetch", daemon=True)
    thread.start()
    thread.join(seconds)
    if results:
        return results[0]
    if errors:
        raise errors[0]
    raise _out_of_time()


def _out_of_time() -> AttemptError:
    return AttemptError("no complete answer before the deadline", again=True)


def _request(url: str, timeout: tuple[float, float], end: float, max_bytes: int) -> bytes:
    """Do the request and translate every failure into `AttemptError`."""
    try:
        import requests  # here, not at the top: only downloads need it
        import urllib3
    except ImportError as error:
        raise FetchError(
            "Downloading needs the package requests, which is not installed: pip install requests, or give the path of "
            "the file (config datasets.msnbc.path or environment variable SEGSHUFFLE_MSNBC)."
        ) from error
    try:
        # "identity": a gzip file must not be wrapped into a second gzip layer.
        headers = {"Accept-Encoding": "identity", "User-Agent": "segshuffle"}
        with requests.get(url, stream=True, timeout=timeout, headers=headers) as response:
            _check_status(response)
            return _read_body(response, end, max_bytes)
    except requests.exceptions.SSLError as error:
        raise AttemptError("the certificate was not accepted", again=False) from error
    except requests.exceptions.ConnectTimeout as error:
        raise AttemptError("no connection in time", again=True) from error
    except (requests.exceptions.Timeout, urllib3.exceptions.TimeoutError) as error:
        raise AttemptError("the server fell silent", again=True) from error
    except requests.exceptions.ProxyError as error:
        raise AttemptError("the proxy gave no connection", again=True) from error
    except requests.exceptions.ConnectionError as error:
        raise AttemptError(f"the connection failed ({_root_cause(error)})", again=True) from error
    except (urllib3.exceptions.ProtocolError, urllib3.exceptions.SSLError, OSError) as error:
        if isinstance(error, requests.exceptions.RequestException):  # a bad address, too many redirects
            raise AttemptError(f"cannot be requested ({type(error).__name__})", again=False) from error
        raise AttemptError("the body was cut short", again=True) from error
    except (urllib3.exceptions.HTTPError, ValueError) as error:
        raise AttemptError(f"cannot be requested ({type(error).__name__})", again=False) from error


def _root_cause(error: BaseException) -> str:
    """Return the operating system's words for a failed connection."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.errno is not None and cause.strerror:
            return cause.strerror
        cause = cause.__cause__ or cause.__context__
    return type(error).__name__


def _check_status(response: requests.Response) -> None:
    """Let only 200 pass."""
    status = response.status_code
    if status == 200:
        return
    again = status in (408, 425, 429) or status >= 500
    wait = _retry_after(response.headers.get("Retry-After")) if again else 0.0
    raise AttemptError(f"HTTP status {status}", again=again, retry_after=wait)


def _retry_after(value: str | None) -> float:
    """Read a Retry-After header: seconds or a date; 0 if absent or unreadable."""
    if value is None:
        return 0.0
    if value.strip().isascii() and value.strip().isdigit():
        return float(value.strip()[:9])
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return 0.0


def _read_body(response: requests.Response, end: float, max_bytes: int) -> bytes:
    """Read piece by piece, looking at the clock and the size in between."""
    body = bytearray()
    # read1: returns what has arrived; read would wait for a full piece however slowly it trickles in.
    while piece := response.raw.read1(65536, decode_content=False):
        body += piece
        if time.monotonic() > end:
            raise _out_of_time()
        if len(body) > max_bytes:
            raise AttemptError(f"more than {max_bytes} bytes long", again=False)
    announced = response.headers.get("Content-Length", "")
    if announced.isascii() and announced.isdigit() and int(announced) != len(body):
        raise AttemptError("the body was cut short", again=True)
    return bytes(body)
