"""Options that several commands have, each declared once, and the question that they ask."""

from __future__ import annotations

import argparse
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from segshuffle.blankets import law_names
from segshuffle.cli.terminal import counted, deltas, guarantee, integer, levels, number
from segshuffle.errors import OptionsError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from segshuffle.planning.question import Question
    from segshuffle.protocols.messages import LevelPrivacy


#: Option -> how it is read and what it is. None is given where an option is left out: a saved plan may say it instead.
_OPTIONS: dict[str, dict[str, Any]] = {
    "--levels": {
        "type": levels,
        "metavar": "EPSILON:USERS,...",
        "help": "privacy levels, in (0, 100], with the number or the share of users at each, such as "
        "0.5:1250,1.0:3750 or 0.5:25%%,1.0:75%%",
    },
    "--delta": {
        "type": deltas,
        "metavar": "DELTA[,DELTA...]",
        "help": "probability, in [1e-110, 1), with which the guarantee of epsilon may fail; much smaller than "
        "1/users; one number for all levels, or one for each level, separated by commas",
    },
    "--blanket": {
        "metavar": "LAW",
        "help": f"kind of dummy messages: one of {', '.join(law_names())} (default: single dummies), or best: "
        "the kind with the least error for --max-messages",
    },
    "--copies-max": {
        "type": number,
        "metavar": "COPIES",
        "help": "most messages that a user sends about one held item, on average, up to 64; a larger number gives "
        "a smaller error (default 1)",
    },
    "--max-messages": {
        "type": number,
        "metavar": "MESSAGES",
        "help": "most messages (> 0) that a user sends altogether, on average, those about the level included",
    },
    "--equal-copies": {
        "action": "store_true",
        "help": "all levels send the same number of copies; the estimates are then unbiased even if the levels that "
        "users pick depend on their items, but have the error of the lowest level",
    },
    "--honest-fraction": {
        "type": number,
        "metavar": "SHARE",
        "help": "share, in (0, 1], of the users who certainly send their dummy messages and do not tell the server "
        "which they are; less than 1 allows for drop-outs and colluders (default 1)",
    },
    "--rounds": {
        "type": integer,
        "help": "number of collections of the same users with this plan that epsilon and delta cover together, up to "
        "10000 (default 1)",
    },
    "--hide-level": {
        "type": guarantee,
        "metavar": "EPSILON[,DELTA]",
        "help": "hide which level a user picked, with this epsilon in (0, 100], which may fail with this probability "
        "(default: --delta); without this option levels are only shuffled",
    },
    "--zipf": {
        "type": number,
        "metavar": "EXPONENT",
        "help": "guess of the items' frequencies: that of the j-th item is roughly proportional to j^-EXPONENT",
    },
    "--items": {"type": Path, "metavar": "FILE", "help": "public list of the names of all items, one per line"},
    "--top": {"type": integer, "metavar": "K", "help": "how many of the most frequent items matter (default 20)"},
    "--json": {"action": "store_true", "help": "print JSON, with everything"},
}

#: What every command that plans can be told.
PLANNING = (
    "--levels",
    "--delta",
    "--blanket",
    "--copies-max",
    "--max-messages",
    "--equal-copies",
    "--honest-fraction",
    "--rounds",
    "--hide-level",
)


def add(parser: Any, *names: str, **changed: Any) -> None:
    """Add declared options to a parser or a group of one; `changed` says what is different in this command."""
    for name in names:
        parser.add_argument(name, **{**_OPTIONS[name], **changed})


def level_privacy(options: argparse.Namespace) -> LevelPrivacy | None:
    """Return the privacy of the levels themselves, if it was asked for."""
    from segshuffle.protocols.messages import LevelPrivacy

    if options.hide_level is None:
        return None
    epsilon, delta = options.hide_level
    return LevelPrivacy(epsilon, min(options.delta) if delta is None else delta)


def _given(options: argparse.Namespace, kind: type) -> dict[str, Any]:
    """Return the fields of a value that options say."""
    said = vars(options)
    return {each.name: said[each.name] for each in fields(kind) if said.get(each.name) is not None}


def question_of(
    options: argparse.Namespace,
    *,
    domain_size: int,
    set_size: int,
    level_counts: Sequence[tuple[float, int]],
    **asked: Any,
) -> Question:
    """Make the question of the options in `PLANNING`, of those named like an assumption or a limit, and of `asked`."""
    from segshuffle.blankets.named import laws
    from segshuffle.planning.question import Limits, Question
    from segshuffle.protocols.base import Assumptions, Problem
    from segshuffle.protocols.proven import SINGLE

    privacy = level_privacy(options)
    problem = Problem(
        domain_size=domain_size,
        set_size=set_size,
        levels=tuple(level for level, _ in level_counts),
        level_counts=tuple(users for _, users in level_counts),
        delta=min(options.delta),
        assumptions=Assumptions(private_levels=privacy is not None, **_given(options, Assumptions)),
        level_deltas=options.delta if len(options.delta) > 1 else (),
    )
    limits = Limits(**_given(options, Limits))
    named = {None: (SINGLE,), "best": tuple(laws())}.get(options.blanket, (options.blanket,))
    return Question(problem, limits=limits, laws=named, level_privacy=privacy, **asked)


def users_of(options: argparse.Namespace) -> tuple[tuple[float, int], ...]:
    """Return levels with their users, as --levels and --users say."""
    given = counted(options.levels, options.users)
    if options.users is not None and sum(users for _, users in given) != options.users:
        raise OptionsError(
            f"--levels has {sum(users for _, users in given)} users, and --users is {options.users}: leave --users "
            "out, or give shares such as 0.5:25%."
        )
    return given
