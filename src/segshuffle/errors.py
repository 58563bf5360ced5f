"""The errors a user can meet, each with a message that says what to do next.

A message about a refused value names the value and what is allowed. The command line prints the message alone and exits
with status 2. The pipeline prints errors of the configuration before any job starts.
"""

import difflib
import numbers
from collections.abc import Iterable

#: Most characters of a value in a message.
_LONGEST = 120


class SegshuffleError(Exception):
    """Base class of every error this package raises on purpose."""


class ParameterError(SegshuffleError, ValueError):
    """A parameter is outside its range.

    Parameters
    ----------
    name : str
        Name of the parameter as the caller knows it.
    value : object
        The value that was given; None if it is missing.
    allowed : str
        The allowed range, in words or as an interval.
    """

    def __init__(self, name: str, value: object, allowed: str) -> None:
        told = f"{name} is missing" if value is None else f"{name} = {_brief(value)} is not allowed"
        super().__init__(f"{told}: it must be {allowed}.")
        self.name = name
        self.value = value
        self.allowed = allowed

    def __reduce__(self) -> tuple[type["ParameterError"], tuple[str, object, str]]:
        """Return how to make an equal error in another process: pickle would call the class with the message alone."""
        return type(self), (self.name, self.value, self.allowed)


def _brief(value: object) -> str:
    """Return the text of a value, shortened: a list may have a million entries."""
    if isinstance(value, numbers.Number) and hasattr(value, "item"):
        value = value.item()  # 2.0, not np.float64(2.0)
    try:
        text = repr(value)
    except ValueError:
        return "an integer of thousands of digits"
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def similar(word: str, known: Iterable[str]) -> str:
    """Return a question about the most similar known word, for the middle of a message; empty if none is similar."""
    closest = difflib.get_close_matches(word, known, n=1)
    return f" (did you mean {closest[0]}?)" if closest else ""


class OptionsError(SegshuffleError, ValueError):
    """Options do not go together, or one has no effect; the message says what to leave out or to add."""


class InfeasibleError(SegshuffleError, ValueError):
    """No plan, or no value of the searched parameter, meets the target."""


class RefusedError(SegshuffleError):
    """A client does not take part, for example because the announcement guarantees too little."""


class DataError(SegshuffleError, ValueError):
    """Data are wrong (wrong bytes, malformed line, item outside the domain), or a file cannot be read or written."""


class MissingExtraError(SegshuffleError, ImportError):
    """An optional package is not installed; the message says which extra brings it."""


class FetchError(SegshuffleError):
    """A file could not be downloaded from any of its addresses."""


class ConfigError(SegshuffleError, ValueError):
    """The configuration, or what a file declares, is invalid; the message says what is wrong."""
