"""The user's side: read a plan and the user's items, and print messages to send, one per line.

The plan is checked first, because its publisher may lie. The program computes what the plan guarantees this user, and
prints no message if that is less than the user asks for. A file of the user's own stores the user's settings, the
privacy spent in all collections and the messages, before any message is printed. The same call then prints the same
messages again, without spending more. Messages are drawn without rounding errors, with random numbers from the
operating system's secure source. They go to a shuffler, which removes the senders and mixes them.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from segshuffle.cli.client_account import Account, Answer, Entry, Limit, default_path, opened
from segshuffle.cli.options import add, guarantee, positive
from segshuffle.cli.terminal import complain
from segshuffle.errors import DataError, OptionsError, ParameterError, RefusedError

if TYPE_CHECKING:
    from segshuffle.planning.documents import Document
    from segshuffle.protocols.base import Plan

#: Default of the largest epsilon that all collections together may spend on the level.
_LEVEL_EPSILON = 2.0


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    add(parser, "plan")
    parser.add_argument(
        "--items",
        required=True,
        metavar="A,B,...",
        help="items that the user holds, by name (in quotes if it has a comma) or, if the plan has no names, by "
        "number; '' for none; if they are more than the plan's set size, a random choice of them is sent",
    )
    parser.add_argument(
        "--level", type=float, required=True, metavar="EPSILON", help="the epsilon of the level that the user picked"
    )
    own = parser.add_argument_group("what the user demands and believes, independently of the plan")
    own.add_argument(
        "--honest-users",
        type=positive,
        metavar="N",
        help="number of users, this one included, who certainly exist, send their dummy messages and tell nobody which "
        "these are; needed the first time, and stored for later",
    )
    own.add_argument(
        "--delta",
        type=float,
        default=1e-5,
        help="largest probability of failure of the guarantee that the user accepts (default 1e-5)",
    )
    own.add_argument(
        "--sets",
        choices=["exactly", "at-most"],
        default="at-most",
        help="how many items every user is known to hold: exactly the plan's set size, or at most that (the default)",
    )
    own.add_argument(
        "--hide-level",
        type=_hidden,
        metavar="EPSILON[,DELTA]",
        help="most that all collections together may reveal about the user's level; 'no' if the level is no secret; "
        f"stored for later; default the first time: {_LEVEL_EPSILON:g} (the level, if larger) and --delta",
    )
    own.add_argument(
        "--budget",
        type=guarantee,
        metavar="EPSILON[,DELTA]",
        help="most that all collections together may reveal about the user's items; stored for later; default the "
        "first time: --level and --delta, which allows one collection",
    )
    own.add_argument(
        "--rounds",
        type=positive,
        help="number of collections with this plan that epsilon and delta cover together; needed if the plan is for "
        "several (default 1)",
    )
    own.add_argument(
        "--collection",
        type=positive,
        metavar="K",
        help="number of this collection among all with this plan; in a collection that was answered before, only the "
        "same messages are printed again; needed if --rounds is above 1 (default 1)",
    )
    own.add_argument(
        "--most-messages",
        type=float,
        default=10_000.0,
        metavar="MESSAGES",
        help="most messages that the user is ready to send, on average (default 1e4)",
    )
    own.add_argument(
        "--account",
        type=Path,
        metavar="FILE",
        help="the user's own file, which stores these settings, the privacy spent, items and messages; one for each "
        "user (default segshuffle/client.json in $XDG_STATE_HOME or ~/.local/state)",
    )


def _hidden(text: str) -> tuple[float, float | None] | Literal["no"]:
    return "no" if text == "no" else guarantee(text)


def run(options: argparse.Namespace) -> str:
    """Check the plan, store the privacy spent and the messages, and return the messages."""
    from segshuffle.files import refuse_overwriting
    from segshuffle.planning.documents import read_document

    document = read_document(options.plan)
    problem = document.plan.problem
    if options.level not in problem.levels:
        raise ParameterError("level", options.level, f"one of {', '.join(f'{each:g}' for each in problem.levels)}")
    rounds, collection = _rounds(options, problem.assumptions.rounds)
    items = _items(options.items, document)
    path = options.account or default_path()
    refuse_overwriting("account", path, (options.plan,))
    # does not depend on the format of the file
    announced = json.dumps([document.plan.scheme.as_dict(), document.items], sort_keys=True)
    entry = Entry(hashlib.sha256(announced.encode()).hexdigest(), options.level, options.sets, rounds)
    with opened(path) as account:
        messages = account.sent_before(entry.plan, collection, options.level, items)
        if messages is None:
            messages = _sent(options, document.plan, entry, collection, items, account)
            account.write()
        else:
            complain(
                f"segshuffle client: collection {collection} was answered before. These are the same messages, from "
                f"{path}; nothing more is spent. The shuffler must take them only once"
            )
    return messages.removesuffix("\n")


def _rounds(options: argparse.Namespace, planned: int) -> tuple[int, int]:
    """Return how many collections the guarantee covers, and the number of this one; refuse to guess either."""
    if options.rounds is None and planned > 1:
        raise OptionsError(
            f"--rounds is needed, because the plan's epsilon covers {planned} collections together: give --rounds "
            f"{planned} --collection K, where K is the number of this collection, from 1. With --rounds 1 the whole "
            "epsilon is spent in this collection."
        )
    rounds = options.rounds or 1
    if options.collection is None and rounds > 1:
        raise OptionsError(
            f"--collection is needed with --rounds {rounds}: the number of this collection, from 1. In a collection "
            "that was answered before, only the same messages are sent again."
        )
    return rounds, options.collection or 1


def _items(text: str, document: Document) -> tuple[int, ...]:
    """Return the numbers of the items that are named."""
    try:
        (names,) = csv.reader([text], skipinitialspace=True, strict=True)
    except (csv.Error, ValueError) as error:  # ValueError: several lines
        raise DataError(
            f"items = {text[:60]!r}: {error}; write names with commas between, and quotes around a name that "
            "has a comma: 'tea,\"milk, fresh\"'."
        ) from error
    numbers = tuple(document.number(name) for name in names if name.strip())
    if len(set(numbers)) != len(numbers):
        raise DataError(f"items = {text!r}: an item is given twice; give every item once.")
    size = document.plan.problem.set_size
    if len(numbers) > size:
        complain(f"segshuffle client: the user holds {len(numbers)} items; a random choice of {size} of them is sent")
    return numbers


def _sent(
    options: argparse.Namespace, plan: Plan, new: Entry, collection: int, items: tuple[int, ...], account: Account
) -> str:
    """Draw the messages, and add them and the privacy spent to the account."""
    from segshuffle.protocols.messages import Client, Demand, check_announcement
    from segshuffle.rehearsal.message_lines import lines_of

    stored = _own_words(options, account)
    announcement, levels = plan.scheme, plan.problem.levels
    hide_level = account.hide_level
    entry = account.take(new)
    demand = Demand(
        epsilon=options.level,
        delta=options.delta,
        honest_users=account.honest_users or 0,
        sets=options.sets,
        rounds=entry.rounds,
        most_messages=options.most_messages,
    )
    if isinstance(hide_level, tuple):
        # the epsilons of other levels are only claims of the server: the user's own limit bounds them
        epsilons = tuple(max(options.level, min(each, hide_level[0])) for each in levels)
        demand = replace(demand, level_epsilons=epsilons, level_delta=hide_level[1])
    level = levels.index(options.level)
    try:
        drawn = Client(items, level, demand).send_items(announcement)
        given = check_announcement(announcement, demand, level)
    except RefusedError as error:
        raise RefusedError(f"{error}{stored}") from error
    messages = lines_of(drawn, signed_items=announcement.domain_size if announcement.law.has_signs else 0)
    answer = Answer(collection, items, messages)
    entry = entry.sending(answer, (options.level, given.delta), (given.level_epsilon, given.level_delta))
    account.collections.append(entry)
    account.refuse_beyond(account.budget, "items_spent", "--budget")
    account.refuse_beyond(hide_level, "level_spent", "--hide-level")
    _tell(entry, account)
    return messages


def _own_words(options: argparse.Namespace, account: Account) -> str:
    """Set honest users, budget and limit on the level: from the options, the file, or the defaults.

    Returns
    -------
    str
        A sentence about what comes from the file; empty if nothing does.
    """
    settings = {
        "--honest-users": (options.honest_users, account.honest_users),
        "--hide-level": (options.hide_level, account.hide_level),
    }
    stored = [name for name, (given, before) in settings.items() if given is None and before is not None]
    account.honest_users = options.honest_users or account.honest_users
    if account.honest_users is None:
        raise DataError(
            "--honest-users is needed, because the plan may overstate the number: how many users, you included, "
            f"certainly exist and send their dummy messages? {account.path} will store it."
        )
    level, delta = options.level, options.delta
    account.budget = _limit(options.budget, account.budget or (level, delta), delta)
    account.hide_level = _limit(options.hide_level, account.hide_level or (max(_LEVEL_EPSILON, level), delta), delta)
    return f" The user's file {account.path} sets {' and '.join(stored)}." if stored else ""


def _limit(given: tuple[float, float | None] | Literal["no"] | None, before: Limit, at_first: float) -> Limit:
    """Return a limit from an option; if it has no delta, the stored delta is kept."""
    if given is None or given == "no":
        return given or before
    epsilon, delta = given
    return epsilon, delta or (at_first if before == "no" else before[1])


def _tell(entry: Entry, account: Account) -> None:
    """Say what the plan guarantees, and the privacy spent so far."""
    epsilon, delta = account.spent("items_spent")
    told = f"{_guarantee_told(*entry.items_spent)} about the items"
    if entry.level_spent != (0.0, 0.0):
        told += f", and at most {_guarantee_told(*entry.level_spent)} about the level"
    complain(
        f"segshuffle client: this collection reveals at most {told}. All collections in {account.path} "
        f"together reveal at most {_guarantee_told(float(epsilon), float(delta))} about the items. If the messages are "
        "lost, the same call prints the same ones again"
    )


def _guarantee_told(epsilon: float, delta: float) -> str:
    """Say an epsilon and a delta; delta is rounded up."""
    return f"epsilon = {epsilon:.10g} and delta = {1.005 * delta:.3g}"
