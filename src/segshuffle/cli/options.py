"""The values of options, the options that several commands share, and the question that they form.

Values are numbers, lists and ranges of them, levels, and names with numbers.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Any

from segshuffle.cli.terminal import flag, seldom
from segshuffle.datasets.own.layout import Layout
from segshuffle.errors import OptionsError, ParameterError
from segshuffle.files import check_output
from segshuffle.option_fields import options_of, sentence
from segshuffle.plans.shares import level_counts

if TYPE_CHECKING:
    from segshuffle.collection.planning.question import Question
    from segshuffle.datasets.own.transactions import Transactions
    from segshuffle.plans.plan import Problem

#: Number of values of a range without a count, and the most values in one answer.
_POINTS, MOST = 13, 200
#: Largest distance from 1 of the sum of shares that were rounded.
_ROUNDING = 0.005
#: Largest integer that is read.
MOST_WHOLE = 10**18


def whole(text: str) -> int:
    """Read an integer of at most 1e18 exactly; 5e3 is allowed for 5000."""
    try:
        value = Decimal(text)
    except InvalidOperation:
        raise ValueError(text) from None
    if "." in text and value == value.to_integral_value() and "e" not in text.lower():
        raise ParameterError("number", text, "an integer without a point; a point does not separate thousands")
    # no option means a larger integer, and arrays cannot hold one
    if not value.is_finite() or not -MOST_WHOLE <= value <= MOST_WHOLE or value != value.to_integral_value():
        raise ValueError(text)
    return int(value)


def number(text: str) -> float:
    """Read a number; nan is none."""
    value = float(text)
    if math.isnan(value):
        raise ValueError(f"{text} is no number")
    return value


def positive(text: str) -> int:
    """Read an integer of 1 or more."""
    value = whole(text)
    if value < 1:
        raise ParameterError("number", value, "an integer >= 1")
    return value


def numbers(text: str) -> tuple[float, ...]:
    """Read ``1``, ``0.1,0.2`` or ``0.1..10`` (evenly on a logarithmic scale; ``0.1..10/25`` for 25 values)."""
    return _several(text, number, "{:.3g}")


def integers(text: str) -> tuple[int, ...]:
    """Read integers as `numbers` reads numbers; 1e6 is allowed."""
    return _several(text, whole, "{:.0f}")


def _several(text: str, read: Callable[[str], Any], digits: str) -> tuple[Any, ...]:
    """Read several values; those inside a range are formatted by `digits`."""
    if ".." not in text:
        values = tuple(map(read, text.split(",")))
    else:
        ends, _, count = text.partition("/")
        first, last = map(read, ends.split(".."))
        points = whole(count) if count else _POINTS
        if not (0 < first < last < math.inf and 2 <= points <= MOST):
            raise ParameterError("range", text, f"FIRST..LAST/COUNT with 0 < FIRST < LAST and COUNT in 2..{MOST}")
        steps = (math.log(first) + i * math.log(last / first) / (points - 1) for i in range(1, points - 1))
        values = tuple(dict.fromkeys((first, *(read(digits.format(math.exp(step))) for step in steps), last)))
    if len(values) > MOST:
        raise ParameterError("number of values", len(values), f"at most {MOST}")
    return values


def output(text: str) -> Path:
    """Read the path of a file that will be written, in a folder that exists."""
    return check_output(Path(text))


def picture(text: str) -> Path:
    """Read the path of a figure; its ending gives the format."""
    if not text.endswith((".png", ".pdf", ".svg")):
        raise ValueError(text)
    return output(text)


def guarantee(text: str) -> tuple[float, float | None]:
    """Read an epsilon, and optionally a delta after a comma."""
    epsilon, comma, delta = text.partition(",")
    values = number(epsilon), number(delta) if comma else None
    if not (0.0 < values[0] <= 1e6 and (values[1] is None or 0.0 < values[1] < 1.0)):
        raise ParameterError("guarantee", text, "an epsilon in (0, 1e6], or one with a delta in (0, 1): 1,1e-6")
    return values


#: A level on offer: its epsilon, and its number of users, their share (a float), or None if the data have the levels.
Level = tuple[float, int | float | None]
#: Epsilons of all levels, and the users at each.
LevelCounts = tuple[tuple[float, ...], tuple[int, ...]]


def levels(text: str) -> tuple[Level, ...]:
    """Read ``epsilon:users`` pairs separated by commas; users may be left out, or be shares, ``0.5:25%,1:75%@5000``."""
    listed, at, total = text.partition("@")
    if at and "%" not in listed:
        raise ValueError(text)
    pairs = tuple(map(pair, listed.split(",")))
    return tuple(zip(*counted(pairs, whole(total)), strict=True)) if at else pairs


def pair(text: str) -> Level:
    """Read one level with its users: a number, a share, or none."""
    level, colon, users = text.partition(":")
    if users.endswith("%"):
        return number(level), number(users[:-1]) / 100
    return number(level), whole(users) if colon else None


def counted(levels: Sequence[Level], n_users: int | None) -> LevelCounts:
    """Return the epsilons of all levels, and the users at each; shares are of `n_users`, rounded so that they add up.

    Raises
    ------
    ParameterError
        If a level is given without users, shares do not add up to 1, or the number of all users is not known.
    """
    epsilons, users = zip(*levels, strict=True)
    if all(isinstance(each, int) for each in users):
        return epsilons, users
    if not all(isinstance(each, float) for each in users):
        rule = "epsilon:users for every level, such as 1:5000, or epsilon:share% for every level"
    elif not abs(sum(users) - 1) < 1e-9 or min(users) < 0:
        rule = f"shares that add up to 100% (they add up to {100 * sum(users):.8g}%)"
    elif n_users is None:
        rule = "followed by @ and the number of users, e.g. @5000"
    else:
        return epsilons, level_counts(n_users, [*users])
    pairs = [_written(level, each) for level, each in levels]
    raise ParameterError("levels", ",".join(pairs), rule)


def _written(level: float, users: int | float | None) -> str:
    """Write a level as it is typed."""
    if users is None:
        return f"{level:g}"
    return f"{level:g}:{100 * users:g}%" if isinstance(users, float) else f"{level:g}:{users}"


def set_sizes(text: str) -> dict[int, float]:
    """Read how many users hold how many items: ``size:share%`` or ``size:users`` pairs separated by commas.

    Shares that add up to 100 % but for rounding are divided by their sum, and so are numbers of users.
    """
    pairs = [pair(part) for part in text.split(",")]
    users_of_size = {int(size): users for size, users in pairs if size.is_integer() and users is not None}
    kinds, total = {type(users) for users in users_of_size.values()}, sum(users_of_size.values())
    if len(users_of_size) < len(pairs) or len(kinds) > 1 or min(users_of_size.values()) < 0 or not total > 0:
        raise ValueError(text)
    if float in kinds and abs(total - 1) > _ROUNDING:
        raise ParameterError("sizes", text, f"shares that add up to 100 % (they add up to {100 * total:.8g} %)")
    return {size: users / total for size, users in users_of_size.items()}


def spec(text: str) -> tuple[str, dict[str, Any]]:
    """Read a name and its numbers, such as ``krr`` or ``krr:domain-size=4,local-epsilon=1``."""
    name, _, rest = text.partition(":")
    try:
        given = [part.split("=") for part in rest.split(",") if part]
        own = {key.strip().replace("-", "_"): _whole_if_possible(value) for key, value in given}
    except ValueError:
        raise ParameterError("randomizer", text, f"{name}:option=value,... with numbers as values") from None
    return name, own


def _whole_if_possible(text: str) -> int | float:
    return int(Decimal(text)) if float(text).is_integer() else float(text)


# --- options that several commands share ------------------------------------------------------------------------------


def items(text: str) -> int | Path:
    """Read a number of items, or the name of a file."""
    try:
        return whole(text)
    except ValueError:
        return Path(text)


def cap(text: str) -> int | str:
    """Read a number, or auto."""
    return text if text == "auto" else whole(text)


def target(text: str) -> tuple[float, bool]:
    """Read an error, and whether it is that of a top item (in per cent), not the squared error of all items."""
    if text.startswith("epsilon:"):
        raise ParameterError("target_error", text, f"written as --target-error {text[8:]} --least epsilon")
    of_top = text.endswith("%")
    value = number(text.removesuffix("%"))
    if not 0.0 < value < math.inf:
        raise ValueError(text)
    return (value / 100 if of_top else value), of_top


#: Declared option, or else the type of its value -> how its text is read, what help calls it, and what help adds. Flags
#: and options with several words to choose from need nothing.
_READ: dict[str, tuple[Callable[[str], Any], str, str]] = {
    "items": (items, "D|FILE", "or a public list of their names, one per line; blanks around a name are left out"),
    "set_size": (whole, "S", ""),
    "levels": (
        levels,
        "EPSILON:USERS,...",
        "with the number of users at each, such as 0.5:1250,1.0:3750, or with shares of all users and their number, "
        "0.5:25%,1.0:75%@5000 (without @5000 if a file of users is read)",
    ),
    "delta": (numbers, "DELTA[,DELTA...]", "one for all levels, or one for each, separated by commas"),
    "hide_level": (guarantee, "EPSILON[,DELTA]", ""),
    "guess": (
        str,
        "zipf:A|SHARES|FILE",
        "zipf:A, numbers with commas, a file of them, or a table with the columns item and share (or estimate), such "
        "as the result of an earlier collection",
    ),
    "sizes": (set_sizes, "SIZE:SHARE%,...", "such as 1:60%,3:30%,12:10%, or with numbers of users, 1:900,3:450,12:150"),
    "blanket_cap": (cap, "C|auto", ""),
    "target_error": (
        target,
        "ERROR",
        "P% is that of a top item of the guess, a number that of all items together",
    ),
    "integer": (whole, "N", ""),
    "number": (number, "X", ""),
}


def add_flags(parser: Any, fields: Mapping[str, Any], *names: str, **changed: dict[str, Any]) -> None:
    """Add a flag for every declared option, or for the named ones; their values are None if they are not given.

    Parameters
    ----------
    parser : argparse.ArgumentParser or a group of it
        Where they are added.
    fields : mapping of str to Field
        Declarations, from `segshuffle.option_fields.options_of`.
    *names : str
        Names of the options; none: all.
    **changed
        Arguments of `add_argument` that replace those of the declaration, by name.
    """
    for name in names or fields:
        rules = fields[name].metadata
        own: dict[str, Any] = {"default": None, "dest": name}
        told = sentence(fields[name])
        if rules.get("type") == "boolean":
            own["action"] = argparse.BooleanOptionalAction
        elif "enum" in rules:
            own["choices"] = [each for each in rules["enum"] if each is not None]
        else:
            plain = _READ.get(str(rules.get("type")), (str, name.rpartition("_")[2].upper(), ""))
            own["type"], own["metavar"], added = _READ.get(name, plain)
            told = "; ".join(filter(None, (told, added)))
        own["help"] = told.replace("%", "%%")
        parser.add_argument(flag(name), **{**own, **changed.get(name, {})})


def given(options: argparse.Namespace, *classes: type) -> dict[str, Any]:
    """Return the values of declared options that were given."""
    values = {name: getattr(options, name, None) for name in options_of(*classes)}
    return {name: value for name, value in values.items() if value is not None}


def layout_of(options: argparse.Namespace) -> Layout:
    """Return how a file of users is read."""
    return Layout(**given(options, Layout))


def users_of(
    options: argparse.Namespace, data: str, items: int | Path | Sequence[str] | None, levels: Sequence[float]
) -> Transactions:
    """Read a file of users, whose items are the numbers below an integer or have names; progress is shown."""
    from segshuffle.datasets.own.reading import read_transactions

    known: dict[str, Any] = {"domain_size": items} if isinstance(items, int) else {"items": items}
    said = seldom("{:,} rows read".format)
    return read_transactions(data, **known, levels=levels, layout=layout_of(options), progress=said)


def participants(problem: Problem, levels: Sequence[Level] | None, n_users: int) -> tuple[int, ...]:
    """Return the users at each level of a plan who took part; shares, by default the plan's, are of `n_users`.

    Raises
    ------
    ParameterError
        If the levels are not those of the plan.
    """
    if levels is None:
        return level_counts(n_users, [count / problem.n_users for count in problem.level_counts])
    epsilons, users = counted(levels, n_users)
    if epsilons != problem.levels:
        raise ParameterError("levels", epsilons, f"those of the plan, {problem.levels}")
    return users


def question_of(
    options: argparse.Namespace,
    *,
    domain_size: int,
    set_size: int,
    levels: LevelCounts,
    **replaced: Any,
) -> Question:
    """Make a question from the options that were given, the levels with their users, and replaced values."""
    from segshuffle.collection.planning.asked import TOP, Goal, Guess, Limits
    from segshuffle.collection.planning.question import Question
    from segshuffle.plans.plan import Assumptions, Problem

    problem = Problem(
        domain_size=domain_size,
        set_size=set_size,
        levels=levels[0],
        level_counts=levels[1],
        delta=min(options.delta),
        assumptions=Assumptions(**given(options, Assumptions)),
        level_deltas=options.delta if len(options.delta) > 1 else (),
    )
    asked = {**given(options, Goal, Limits, Guess, Question), **replaced}
    error, of_top = asked.pop("target_error", (None, False))
    if error is not None:
        asked["target_error"] = error
        if asked.get("top") and not of_top:
            raise OptionsError(
                f"--target-error {error:g} is about all items together, and top about the most frequent ones: "
                "leave top out, or give the error as a percentage."
            )
    # a guess of Zipf's law, or an error in per cent, is about the most frequent items
    if of_top or (error is None and isinstance(asked.get("guess"), float)):
        asked.setdefault("top", TOP)
    return Question.of(problem, **asked)
