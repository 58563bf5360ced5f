"""What the commands share: numbers read from words, the options of a collection, answers and complaints shown."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn

from segshuffle.cli.words import glossary
from segshuffle.errors import ParameterError
from segshuffle.pipeline.design import level_counts

#: Characters of a line of an answer.
WIDTH = 80


class _Paragraphs(argparse.HelpFormatter):
    """Texts as wide as the terminal, with their paragraphs."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n\n".join(super(_Paragraphs, self)._fill_text(part, width, indent) for part in text.split("\n\n"))


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one sentence, and whose texts have paragraphs."""

    def __init__(self, **given: Any) -> None:
        super().__init__(formatter_class=_Paragraphs, **given)

    def error(self, message: str) -> NoReturn:
        """Complain about the arguments and stop."""
        complain(f"{self.prog}: {message} (see {self.prog} --help)")
        raise SystemExit(2)

    def print_help(self, file: Any = None) -> None:
        """Print the help; a full disk or a closed output is said in one sentence."""
        if file is not None:
            super().print_help(file)
        elif status := write(self.prog, self.format_help().rstrip("\n")):
            raise SystemExit(status)


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


def whole(text: str) -> int:
    """Read an integer, exactly; a power of ten may stand for its noughts."""
    with contextlib.suppress(ValueError):
        return int(text)
    try:
        value = Decimal(text)
    except InvalidOperation:
        raise ValueError(text) from None
    # an integer of a million digits would take a while, and is no size of anything
    if not value.is_finite() or value.adjusted() > 400 or value != value.to_integral_value():
        raise ValueError(text)
    return int(value)


def deltas(text: str) -> tuple[float, ...]:
    """Read numbers separated by commas."""
    return tuple(map(number, text.split(",")))


def picture(text: str) -> Path:
    """Read the path of a figure, whose ending says how it is drawn."""
    if not text.endswith((".png", ".pdf", ".svg")):
        raise argparse.ArgumentTypeError(f"{text} must end in .png, .pdf or .svg")
    return Path(text)


def guarantee(text: str) -> tuple[float, float | None]:
    """Read an epsilon, and a delta after a comma, which may be left out."""
    epsilon, comma, delta = text.partition(",")
    found = number(epsilon), number(delta) if comma else None
    if not (0.0 < found[0] <= 1e6 and (found[1] is None or 0.0 < found[1] < 1.0)):
        raise argparse.ArgumentTypeError(f"{text!r} is not an epsilon above 0, or one with a delta in (0, 1): 1,1e-6")
    return found


#: A level on offer: its epsilon, and its users, their share, or neither where the data say who has which.
Level = tuple[float, int | Fraction | None]


def levels(text: str) -> tuple[Level, ...]:
    """Read ``epsilon:users`` pairs separated by commas; users may be a share, such as 25%, or left out."""
    pairs: list[Level] = []
    for part in text.split(","):
        level, colon, users = part.partition(":")
        try:
            count = whole(users) if colon and not users.endswith("%") else None
            # a float first: a fraction of a power of ten may have a million digits
            share = Fraction(repr(float(users[:-1]))) / 100 if users.endswith("%") else None
            pairs.append((float(level), count if share is None else share))
        except ValueError:
            raise argparse.ArgumentTypeError(
                f"{part!r} is not a level: write epsilon:users pairs with commas, e.g. 0.5:1250,1.0:2500, or shares, "
                "e.g. 0.5:25%,1.0:75%"
            ) from None
    return tuple(pairs)


def written(levels: Sequence[Level]) -> str:
    """Write levels as they were given."""
    return ",".join(f"{level:g}" if users is None else f"{level:g}:{users}" for level, users in levels)


def counted(levels: Sequence[Level], n_users: int | None) -> tuple[tuple[float, int], ...]:
    """Users of every level; shares are of `n_users`, rounded so that they add up.

    Raises
    ------
    ParameterError
        If shares do not add up to all, or nothing says of how many users they are.
    """
    given = [users for _, users in levels]
    if all(isinstance(users, int) for users in given):
        return tuple((level, int(users or 0)) for level, users in levels)
    if not all(isinstance(users, Fraction) for users in given):
        raise ParameterError(
            "--levels", written(levels), "epsilon:users for every level, or epsilon:share% for every level"
        )
    shares = [Fraction(users or 0) for users in given]
    if sum(shares) != 1 or min(shares) < 0:
        rule = f"shares that add up to 100% (they add up to {float(sum(shares)):.6%})"
        raise ParameterError("--levels", written(levels), rule)
    if n_users is None:
        raise ParameterError("--users", None, "given where levels have shares: of how many users they are")
    numbers = level_counts(n_users, [float(share) for share in shares])
    return tuple((level, number) for (level, _), number in zip(levels, numbers, strict=True))


def need(options: argparse.Namespace, *names: str) -> None:
    """Stop as argparse does where options are missing."""
    missing = ["--" + name.replace("_", "-") for name in names if getattr(options, name) is None]
    if missing:
        options.refuse(f"the following arguments are required: {', '.join(missing)}")


def leave_out(options: argparse.Namespace, names: Iterable[str], rule: str) -> None:
    """Refuse options that mean nothing beside the others.

    Raises
    ------
    ParameterError
        Naming the first one, its value and the rule.
    """
    for name in names:
        value = getattr(options, name)
        if value is not None:
            told = value[0] if isinstance(value, tuple) and len(value) == 1 else value
            raise ParameterError(name.replace("_", "-"), told, f"left out {rule}")


def shown(values: dict[str, Any], *, as_json: bool) -> str:
    """Text of an answer: JSON that reads back, or a line for every name and for every entry of what it has."""
    if as_json:
        return json.dumps(values, indent=2)
    width = max(map(len, values))
    lines = []
    for name, value in values.items():
        has_entries = isinstance(value, list | tuple) and value and isinstance(value[0], dict)
        mark = f"{name:<{width}}  "
        for entry in value if has_entries else [value]:
            lines.append(wrapped([_short(entry) or "none"], mark, "  "))
            mark = " " * len(mark)
    words = glossary(values)
    return "\n".join(lines) + (f"\n\n{words}" if words else "")


def _short(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_short, value))
    if isinstance(value, dict):
        return ", ".join(f"{key} {_short(item)}" for key, item in value.items())
    if value is None:
        return "none"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def wrapped(sentences: Sequence[str], mark: str = "", hang: str = "") -> str:
    """Put sentences one below the other, 80 characters wide, after a mark; further lines are under it and hang."""
    rest = " " * len(mark) + hang
    return "\n".join(textwrap.fill(each, WIDTH, initial_indent=mark, subsequent_indent=rest) for each in sentences)


def by_item(head: str, lines: Sequence[tuple[str, str]]) -> str:
    """Put the name of every item, cut at 24 letters, before what is said of it."""
    width = min(max(len(name) for name, _ in [("item", head), *lines]), 24)
    return "\n".join(f"{name[:width]:<{width}}  {text}" for name, text in [("item", head), *lines])


def write(program: str, text: str) -> int:
    """Write all of the answer to standard output; returns the exit status."""
    try:
        if sys.stdout is None:
            raise OSError("it is closed")
        # nothing is not a line: a client may have no message to send
        print(text, end="\n" if text else "", flush=True)
    except (OSError, ValueError) as error:  # ValueError: closed by the caller, or a character it cannot show
        # a reader that has gone (head, less) has seen enough
        if not isinstance(error, BrokenPipeError):
            reason = getattr(error, "strerror", None) or error
            complain(f"{program}: standard output cannot be written ({reason}). Write to a disk with room.")
        # what is still in the buffer is flushed again at exit: let it go nowhere
        with contextlib.suppress(OSError, ValueError, AttributeError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0


def seldom(line: Callable[..., str], *, every: float = 5.0) -> Callable[..., None]:
    """Make what writes `line` of its arguments to standard error, but not more often than every so many seconds."""
    last = time.monotonic()

    def say(*done: int) -> None:
        nonlocal last
        if time.monotonic() - last >= every:
            last = time.monotonic()
            complain(line(*done))

    return say


@contextlib.contextmanager
def saying(line: Callable[[float], str], *, every: float) -> Iterator[None]:
    """While the body works, a line to standard error every so many seconds: `line` of the seconds since it began."""
    done, began = threading.Event(), time.monotonic()

    def tell() -> None:
        while not done.wait(every):
            complain(line(time.monotonic() - began))

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        done.set()
        teller.join()


def complain(message: str) -> None:
    """Write a line to standard error, if anybody listens."""
    with contextlib.suppress(OSError, ValueError):
        print(message, file=sys.stderr, flush=True)
