"""Read the values of options: numbers, lists and ranges of them, levels, and settings KEY=VALUE."""

import argparse
import contextlib
import math
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from segshuffle.errors import ParameterError
from segshuffle.pipeline.design import level_counts

#: Number of values of a range without a count, and the most values in one answer.
_POINTS, MOST = 13, 200


def number(text: str) -> float:
    """Read a number."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None


def integer(text: str) -> int:
    """Read an integer, which may be written as 1e6."""
    try:
        return whole(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not an integer") from None


def positive(text: str) -> int:
    """Read an integer of 1 or more."""
    value = integer(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not an integer >= 1")
    return value


def whole(text: str) -> int:
    """Read an integer exactly; 5e3 is allowed for 5000."""
    with contextlib.suppress(ValueError):
        return int(text)
    try:
        value = Decimal(text)
    except InvalidOperation:
        raise ValueError(text) from None
    # an integer with a million digits would take long, and is never meant
    if not value.is_finite() or value.adjusted() > 400 or value != value.to_integral_value():
        raise ValueError(text)
    return int(value)


def numbers(text: str) -> tuple[float, ...]:
    """Read ``1``, ``0.1,0.2`` or ``0.1..10`` (evenly on a logarithmic scale; ``0.1..10/25`` for 25 values)."""
    return _several(text, float, "{:.3g}")


def integers(text: str) -> tuple[int, ...]:
    """Read integers in the same way; they may be written as 1e6."""
    return _several(text, whole, "{:.0f}")


def _several(text: str, read: Callable[[str], Any], digits: str) -> tuple[Any, ...]:
    """Read several values; those inside a range are formatted by `digits`."""
    try:
        if ".." not in text:
            found = tuple(map(read, text.split(",")))
            if len(found) > MOST:
                raise argparse.ArgumentTypeError(f"{len(found)} values are too many: at most {MOST} are answered")
            return found
        ends, _, count = text.partition("/")
        first, last = (read(word) for word in ends.split(".."))
        points = whole(count) if count else _POINTS
        if not (0 < first < last < math.inf and 2 <= points <= MOST):
            raise argparse.ArgumentTypeError(
                f"{text!r} is no range: write FIRST..LAST/COUNT, 0 < FIRST < LAST, COUNT between 2 and {MOST}"
            )
        steps = (math.log(first) + i * math.log(last / first) / (points - 1) for i in range(1, points - 1))
        return tuple(dict.fromkeys((first, *(read(digits.format(math.exp(step))) for step in steps), last)))
    except (ValueError, OverflowError):
        kind = "an integer" if read is whole else "a number"
        raise argparse.ArgumentTypeError(f"{text!r} is not {kind}, a list 1,2,3 or a range 1..1e6/13") from None


def yes_or_no(text: str) -> bool:
    """Read a truth value."""
    if text not in ("yes", "no"):
        raise argparse.ArgumentTypeError(f"{text!r} is neither yes nor no")
    return text == "yes"


def picture(text: str) -> Path:
    """Read the path of a figure; its ending gives the format."""
    if not text.endswith((".png", ".pdf", ".svg")):
        raise argparse.ArgumentTypeError(f"{text} must end in .png, .pdf or .svg")
    return Path(text)


def guarantee(text: str) -> tuple[float, float | None]:
    """Read an epsilon, and optionally a delta after a comma."""
    epsilon, comma, delta = text.partition(",")
    found = number(epsilon), number(delta) if comma else None
    if not (0.0 < found[0] <= 1e6 and (found[1] is None or 0.0 < found[1] < 1.0)):
        raise argparse.ArgumentTypeError(f"{text!r} is not an epsilon above 0, or one with a delta in (0, 1): 1,1e-6")
    return found


#: A level on offer: its epsilon, and its number of users, their share (a float), or None if the data have the levels.
Level = tuple[float, int | float | None]


def levels(text: str) -> tuple[Level, ...]:
    """Read ``epsilon:users`` pairs separated by commas; users may be left out, or be shares, ``0.5:25%,1:75%@5000``."""
    listed, at, total = text.partition("@")
    try:
        if at and "%" not in listed:
            raise ValueError(text)
        pairs = tuple(map(_level, listed.split(",")))
        return counted(pairs, whole(total)) if at else pairs
    except ParameterError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text[:60]!r} is no list of levels: write epsilon:users pairs with commas, e.g. 0.5:1250,1.0:2500, or "
            "shares, e.g. 0.5:25%,1.0:75%"
        ) from None


def _level(text: str) -> Level:
    level, colon, users = text.partition(":")
    if users.endswith("%"):
        return float(level), float(users[:-1]) / 100
    return float(level), whole(users) if colon else None


def written(levels: Sequence[Level]) -> str:
    """Write levels as in the option."""
    shares = [f":{100 * users:g}%" if isinstance(users, float) else f":{users}" for _, users in levels]
    return ",".join(f"{level:g}{share.removesuffix(':None')}" for (level, _), share in zip(levels, shares, strict=True))


def counted(levels: Sequence[Level], n_users: int | None) -> tuple[tuple[float, int], ...]:
    """Return the users of every level; shares are of `n_users`, rounded so that they add up.

    Raises
    ------
    ParameterError
        If shares do not add up to 1, or the number of all users is not known.
    """
    counts = [users for _, users in levels if isinstance(users, int)]
    shares = [users for _, users in levels if isinstance(users, float)]
    if len(shares) == len(levels):
        if not abs(sum(shares) - 1) < 1e-9 or min(shares) < 0:
            rule = f"shares that add up to 100% (they add up to {100 * sum(shares):.8g}%)"
            raise ParameterError("--levels", written(levels), rule)
        if n_users is None:
            raise ParameterError("--levels", written(levels), "followed by @ and the number of users, e.g. @5000")
        counts = [*level_counts(n_users, shares)]
    if len(counts) < len(levels):
        rule = "epsilon:users for every level, or epsilon:share% for every level"
        raise ParameterError("--levels", written(levels), rule)
    return tuple((level, count) for (level, _), count in zip(levels, counts, strict=True))


def spec(text: str) -> tuple[str, dict[str, Any]]:
    """Read a name and its numbers, such as ``krr`` or ``krr:domain-size=4,local-epsilon=1``."""
    name, _, rest = text.partition(":")
    own = {}
    for part in filter(None, rest.split(",")):
        key, _, value = part.partition("=")
        for read in (integer, number):
            with contextlib.suppress(argparse.ArgumentTypeError):
                own[key.strip().replace("-", "_")] = read(value)
                break
        else:
            raise ParameterError("randomizer", text, f"{name}:option=value,... with numbers as values")
    return name, own


def settings(about: str, keys: Mapping[str, tuple[Callable[[str], Any], str]], plain: str = "") -> dict[str, Any]:
    """Declare an option of words KEY=VALUE, which are read as pairs.

    Parameters
    ----------
    about : str
        What the settings describe.
    keys : mapping of str to (callable, str)
        Key -> function that reads its value, and its description.
    plain : str
        Key for a word without ``KEY=``.
    """
    names = {name.replace("_", "-"): name for name in keys}

    def read(word: str) -> tuple[str, Any]:
        key, equals, value = word.partition("=")
        name = names.get(key) if equals else plain
        if not name:
            raise argparse.ArgumentTypeError(f"{word!r} is not KEY=VALUE with a key out of {', '.join(names)}")
        return name, keys[name][0](value if equals else word)

    said = [
        f"{f'{key.upper()}, without KEY=' if name == plain else key}: {keys[name][1]}" for key, name in names.items()
    ]
    return {
        "nargs": "+",
        "type": read,
        "action": "extend",
        "default": [],
        "metavar": "KEY=VALUE",
        "help": "\n- ".join([about, *said]),
    }
