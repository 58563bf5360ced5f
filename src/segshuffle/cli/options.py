"""Options that several commands share, each declared once, and the question that they form."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from segshuffle.blankets import law_names
from segshuffle.cli.values import (
    Level,
    counted,
    guarantee,
    integer,
    levels,
    number,
    numbers,
    settings,
    whole,
    yes_or_no,
)
from segshuffle.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from segshuffle.planning.question import Question
    from segshuffle.protocols.base import Problem


def _items(text: str) -> int | Path:
    try:
        return whole(text)
    except ValueError:
        return Path(text)


def _cap(text: str) -> int | str:
    return text if text == "auto" else integer(text)


#: Option -> its arguments for argparse. Keys of settings are fields of the library's values.
_OPTIONS: dict[str, dict[str, Any]] = {
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
                "exactly: every user holds exactly S items; at-most: every user holds at most S (default: exactly "
                "in plan, at-most in rehearse)",
            ),
            "honest_fraction": (
                number,
                "share, in (0, 1], of the users who certainly send their dummy messages and do not tell the server "
                "which they are; less than 1 allows for drop-outs and colluders (default 1)",
            ),
            "rounds": (
                integer,
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
        "help": f"kind of dummy messages: one of {', '.join(law_names())} (default: single dummies, poisson), or best: "
        "the kind with the least error for max-messages",
    },
    "--limits": settings(
        "limits of the plan",
        {
            "copies_max": (
                number,
                "most messages that a user sends about one held item, on average, up to 64; a larger number gives a "
                "smaller error (default 1)",
            ),
            "max_messages": (
                number,
                "most messages (> 0) that a user sends in both rounds together, on average",
            ),
            "equal_copies": (
                yes_or_no,
                "yes: all levels send the same number of copies; the estimates are then unbiased even if the levels "
                "that users pick depend on their items, but have the error of the lowest level",
            ),
            "blanket_per_user": (
                number,
                "dummy messages that a user sends on average, in (0, 1e9]; default: the number with the least error",
            ),
            "blanket_cap": (
                _cap,
                "most dummy messages of one user, 1 or more, or auto; this bounds what liars can do to the "
                "estimates, if the shuffler takes from nobody more messages than an honest user may send",
            ),
        },
    ),
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
    given = counted(levels, n_users)
    epsilons = tuple(level for level, _ in given)
    if epsilons != problem.levels:
        raise ParameterError("levels", epsilons, f"those of the plan, {problem.levels}")
    return tuple(users for _, users in given)


def question_of(
    options: argparse.Namespace,
    *,
    domain_size: int,
    set_size: int,
    level_counts: Sequence[tuple[float, int]],
    **asked: Any,
) -> Question:
    """Make a question from the options in `PLANNING` and from `asked`."""
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
        levels=tuple(level for level, _ in level_counts),
        level_counts=tuple(users for _, users in level_counts),
        delta=delta,
        assumptions=Assumptions(private_levels=privacy is not None, **dict(options.assume)),
        level_deltas=options.delta if len(options.delta) > 1 else (),
    )
    law = options.blanket or SINGLE
    return Question(problem, limits=Limits(**dict(options.limits)), blanket=law, level_privacy=privacy, **asked)
