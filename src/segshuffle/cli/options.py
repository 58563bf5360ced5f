"""The values of options, the options that several commands share, and the question that they form.

Values are numbers, lists and ranges of them, levels, and settings KEY=VALUE.
"""

from __future__ import annotations

import argparse
import math
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Any

from segshuffle.blankets import law_names
from segshuffle.cli.terminal import understood
from segshuffle.errors import ParameterError
from segshuffle.files import check_output
from segshuffle.pipeline.design import level_counts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from segshuffle.planning.question import Question
    from segshuffle.protocols.base import Problem

#: Number of values of a range without a count, and the most values in one answer.
_POINTS, MOST = 13, 200
#: Largest integer that is read.
MOST_WHOLE = 10**18


def whole(text: str) -> int:
    """Read an integer of at most 1e18 exactly; 5e3 is allowed for 5000."""
    try:
        value = Decimal(text)
    except InvalidOperation:
        raise ValueError(text) from None
    # no option means a larger integer, and arrays cannot hold one
    if not value.is_finite() or not -MOST_WHOLE <= value <= MOST_WHOLE or value != value.to_integral_value():
        raise ValueError(text)
    return int(value)


def positive(text: str) -> int:
    """Read an integer of 1 or more."""
    value = whole(text)
    if value < 1:
        raise ParameterError("number", value, "an integer >= 1")
    return value


def numbers(text: str) -> tuple[float, ...]:
    """Read ``1``, ``0.1,0.2`` or ``0.1..10`` (evenly on a logarithmic scale; ``0.1..10/25`` for 25 values)."""
    return _several(text, float, "{:.3g}")


def integers(text: str) -> tuple[int, ...]:
    """Read integers as `numbers` reads numbers; 1e6 is allowed."""
    return _several(text, whole, "{:.0f}")


def _several(text: str, read: Callable[[str], Any], digits: str) -> tuple[Any, ...]:
    """Read several values; those inside a range are formatted by `digits`."""
    if ".." not in text:
        found = tuple(map(read, text.split(",")))
    else:
        ends, _, count = text.partition("/")
        first, last = map(read, ends.split(".."))
        points = whole(count) if count else _POINTS
        if not (0 < first < last < math.inf and 2 <= points <= MOST):
            raise ParameterError("range", text, f"FIRST..LAST/COUNT with 0 < FIRST < LAST and COUNT in 2..{MOST}")
        steps = (math.log(first) + i * math.log(last / first) / (points - 1) for i in range(1, points - 1))
        found = tuple(dict.fromkeys((first, *(read(digits.format(math.exp(step))) for step in steps), last)))
    if len(found) > MOST:
        raise ParameterError("number of values", len(found), f"at most {MOST}")
    return found


def yes_or_no(text: str) -> bool:
    """Read a truth value."""
    if text not in ("yes", "no"):
        raise ParameterError("word", text, "yes or no")
    return text == "yes"


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
    found = float(epsilon), float(delta) if comma else None
    if not (0.0 < found[0] <= 1e6 and (found[1] is None or 0.0 < found[1] < 1.0)):
        raise ParameterError("guarantee", text, "an epsilon in (0, 1e6], or one with a delta in (0, 1): 1,1e-6")
    return found


#: A level on offer: its epsilon, and its number of users, their share (a float), or None if the data have the levels.
Level = tuple[float, int | float | None]


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
        return float(level), float(users[:-1]) / 100
    return float(level), whole(users) if colon else None


def counted(levels: Sequence[Level], n_users: int | None) -> tuple[tuple[float, ...], tuple[int, ...]]:
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
        rule = "epsilon:users for every level, or epsilon:share% for every level"
    elif not abs(sum(users) - 1) < 1e-9 or min(users) < 0:
        rule = f"shares that add up to 100% (they add up to {100 * sum(users):.8g}%)"
    elif n_users is None:
        rule = "followed by @ and the number of users, e.g. @5000"
    else:
        return epsilons, level_counts(n_users, [*users])
    given = ", ".join("none" if each is None else f"{each:g}" for each in users)
    raise ParameterError("users of --levels", given, rule)


def set_sizes(text: str) -> dict[int, float]:
    """Read a guess of how many users hold how many items: ``size:share%`` pairs separated by commas."""
    pairs = [pair(part) for part in text.split(",")]
    shares = {int(size): share for size, share in pairs if isinstance(share, float) and size.is_integer()}
    if len(shares) < len(pairs):
        raise ValueError(text)
    return shares


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
    return whole(text) if float(text).is_integer() else float(text)


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
            hint = "" if equals else "; a file belongs before all options"
            raise argparse.ArgumentTypeError(
                f"{word[:60]!r} is not KEY=VALUE with a key out of {', '.join(names)}{hint}"
            )
        read_value, described = keys[name]
        return name, understood(read_value, value if equals else word, described)

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


# --- options that several commands share ------------------------------------------------------------------------------


def _items(text: str) -> int | Path:
    try:
        return whole(text)
    except ValueError:
        return Path(text)


def _cap(text: str) -> int | str:
    return text if text == "auto" else whole(text)


#: Option -> its arguments for argparse. Keys of settings are fields of the library's classes.
_OPTIONS: dict[str, dict[str, Any]] = {
    "plan": {"type": Path, "metavar": "PLAN.json", "help": "the published plan, as plan --save writes it"},
    "--items": {
        "type": _items,
        "metavar": "D|FILE",
        "help": "number of items d, in [2, 1e7], which are then called 0..d-1; or a public list of their names, one "
        "per line",
    },
    "--levels": {
        "type": levels,
        "metavar": "EPSILON:USERS,...",
        "help": "privacy levels, in (0, 100], with the number of users at each, such as 0.5:1250,1.0:3750; or with "
        "shares of all users and their number: 0.5:25%%,1.0:75%%@5000 (without @5000 if a file of users is read)",
    },
    "--delta": {
        "type": numbers,
        "metavar": "DELTA[,DELTA...]",
        "help": "probability, in [1e-110, 1), with which the guarantee of epsilon may fail; much smaller than "
        "1/users; one number for all levels, or one for each level, separated by commas",
    },
    "--assume": settings(
        "what the guarantee relies on",
        {
            "sets": (
                str,
                "at-most: every user holds at most S items (default); exactly: every user holds exactly S",
            ),
            "honest_fraction": (
                float,
                "share, in (0, 1], of the users who certainly send their dummy messages and do not tell the server "
                "which these are; less than 1 allows for drop-outs and colluders (default 1)",
            ),
            "rounds": (
                whole,
                "number of collections of the same users with this plan that epsilon and delta cover together, up to "
                "10000 (default 1)",
            ),
        },
    ),
    "--hide-level": {
        "type": guarantee,
        "metavar": "EPSILON[,DELTA]",
        "help": "hide which level a user picked, with this epsilon in (0, 100] and this delta (default: --delta); "
        "without this option levels are only shuffled, and the server sees how many users picked each",
    },
    "--blanket": {
        "metavar": "LAW",
        "help": f"kind of dummy messages: one of {', '.join(law_names())} (default: poisson, single dummies; clustered "
        "dummies come several at a time about one item, signed ones count +1 or -1), or best: the kind with the least "
        "error for max-messages",
    },
    "--limits": settings(
        "limits of the plan",
        {
            "copies_max": (
                float,
                "most messages that a user sends about one held item, on average, up to 64; a larger number gives a "
                "smaller error (default 1)",
            ),
            "max_messages": (
                float,
                "most messages (> 0) per user, averaged over all users: about items, about the level, and dummies",
            ),
            "equal_copies": (
                yes_or_no,
                "yes: users of all levels send equally many messages about a held item; the estimates are then "
                "unbiased even if the levels that users pick depend on their items, but have the error of the lowest "
                "level",
            ),
            "blanket_per_user": (
                float,
                "dummy messages that a user sends on average, in (0, 1e9]; default: the number with the least error",
            ),
            "blanket_cap": (
                _cap,
                "most dummy messages of one user, 1 or more, or auto (the least number that costs at most a "
                "thousandth of epsilon); this bounds what liars can do to the estimates, if the shuffler takes "
                "from nobody more messages than an honest user may send",
            ),
        },
    ),
    "--top": {
        "type": positive,
        "default": 20,
        "metavar": "K",
        "help": "number of most frequent items for which errors are shown (default 20)",
    },
    "--json": {"action": "store_true", "help": "print JSON, with everything"},
}

#: Options of every command that plans, apart from items and set size.
PLANNING = ("--levels", "--delta", "--assume", "--hide-level", "--blanket", "--limits")


def add(parser: Any, *names: str, **changed: Any) -> None:
    """Add declared options to a parser or a group; `changed` replaces arguments for this command."""
    for name in names:
        parser.add_argument(name, **{**_OPTIONS[name], **changed})


def participants(problem: Problem, levels: Sequence[Level], n_users: int) -> tuple[int, ...]:
    """Return the users at each level of a plan who took part; shares are of `n_users`.

    Raises
    ------
    ParameterError
        If the levels are not those of the plan.
    """
    epsilons, users = counted(levels, n_users)
    if epsilons != problem.levels:
        raise ParameterError("levels", epsilons, f"those of the plan, {problem.levels}")
    return users


def question_of(
    options: argparse.Namespace,
    *,
    domain_size: int,
    set_size: int,
    levels: tuple[tuple[float, ...], tuple[int, ...]],
    **asked: Any,
) -> Question:
    """Make a question from the options in `PLANNING`, the levels with their users, and `asked`."""
    from segshuffle.planning.question import Limits, Question
    from segshuffle.protocols.base import Assumptions, Problem
    from segshuffle.protocols.messages import LevelPrivacy
    from segshuffle.protocols.proven import SINGLE

    delta, privacy = min(options.delta), None
    if options.hide_level is not None:
        privacy = LevelPrivacy(options.hide_level[0], options.hide_level[1] or delta)
    problem = Problem(
        domain_size=domain_size,
        set_size=set_size,
        levels=levels[0],
        level_counts=levels[1],
        delta=delta,
        assumptions=Assumptions(**{"sets": "at-most", **dict(options.assume)}, private_levels=privacy is not None),
        level_deltas=options.delta if len(options.delta) > 1 else (),
    )
    law = options.blanket or SINGLE
    return Question(problem, limits=Limits(**dict(options.limits)), blanket=law, level_privacy=privacy, **asked)
