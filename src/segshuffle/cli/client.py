"""The users' side: read a plan and the items of one user or of many, and print messages for a shuffler to mix.

The plan is checked first, because its publisher may lie. The program computes what the plan guarantees this user, and
prints no message if that is less than the user asks for. A file of the user's own stores the user's settings, the
privacy spent in all collections and the messages, before any message is printed. The same call then prints the same
messages again, without spending more. Messages are drawn without rounding errors, with random numbers from the
operating system's secure source. They are printed one per line, after a line that names the plan and the collection,
and go to a shuffler, which removes the senders and mixes the messages of all users: only then is anything private.

With --users FILE the messages of all users of a file are drawn, on all processors, and each user has random numbers of
its own. The plan is checked once for every level. The messages stand in the order of the users. They must be mixed
before anybody who is not trusted sees them, for example by `sort messages.txt > mixed.txt`.
"""

from __future__ import annotations

import contextlib
import csv
import io
import itertools
import sys
from argparse import ArgumentParser, Namespace
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from segshuffle.cli.client_account import Account, Answer, Entry, Limit, counted, said
from segshuffle.cli.client_users import digest, draw_all, print_all, users_and_levels
from segshuffle.cli.options import add_flags, guarantee, layout_of, number, positive
from segshuffle.cli.terminal import complain
from segshuffle.datasets.own.layout import Layout, number_of, tidied
from segshuffle.errors import DataError, OptionsError, ParameterError, RefusedError
from segshuffle.option_fields import options_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from segshuffle.collection.messages import Demand
    from segshuffle.collection.messages.verification import Given
    from segshuffle.collection.planning.documents import Document
    from segshuffle.plans.plan import Plan, Problem

#: Options in the short help.
COMMON = ("plan", "items", "users", "level", "level_column", "honest_users", "budget", "collection", "account")
#: Default of the largest epsilon that all collections together may spend on the level.
_LEVEL_EPSILON = 2.0
#: Most bytes of a list of items.
_LONGEST = 2**24


def add_options(parser: ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("plan", type=Path, metavar="PLAN.json", help="the published plan, as plan --save writes it")
    holding = parser.add_mutually_exclusive_group(required=True)
    holding.add_argument(
        "--items",
        metavar="FILE",
        help="a file with the items that the user holds, or - for standard input: names or, if the plan has no names, "
        "numbers, with commas or line ends between, in quotes if a name has a comma; or the items themselves: A,B,... "
        "('' for none), but others on the machine may read them in the list of processes; if they are more than the "
        "plan's set size, a random choice of them is sent",
    )
    holding.add_argument(
        "--users",
        metavar="FILE",
        help="who holds what: csv, tsv, jsonl, parquet, or text with one line per user, as rehearse reads it; - is "
        "standard input; needs --account",
    )
    parser.add_argument(
        "--level",
        type=number,
        metavar="EPSILON",
        help="the epsilon of the level that the user picked, or all users of the file, if it has no column of levels",
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
        type=number,
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
        "--level-budget",
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
        type=number,
        default=10_000.0,
        metavar="MESSAGES",
        help="most messages that the user is ready to send, on average (default 1e4)",
    )
    own.add_argument(
        "--account",
        type=Path,
        metavar="FILE",
        help="the user's own file, which stores these settings, the privacy spent, items and messages; one for each "
        "user, or for the users of one file (default segshuffle/client.json in $XDG_STATE_HOME or ~/.local/state)",
    )
    table = parser.add_argument_group("how to read the file of --users, and what to do about irregular entries")
    add_flags(table, options_of(Layout))


def _hidden(text: str) -> tuple[float, float | None] | Literal["no"]:
    return "no" if text == "no" else guarantee(text)


def run(options: Namespace) -> str:
    """Check the plan, store the privacy spent and the messages, and return the messages."""
    from segshuffle.cli.client_account_file import default_path, opened, resolved
    from segshuffle.collection.messages import Client
    from segshuffle.collection.messages.message_lines import collection_line, lines_of
    from segshuffle.collection.planning.documents import read_announcement
    from segshuffle.files import refuse_overwriting

    document = read_announcement(options.plan)
    scheme, levels = document.plan.scheme, document.plan.problem.levels
    if options.level not in (None, *levels):
        raise ParameterError("level", options.level, f"one of {', '.join(f'{each:g}' for each in levels)}")
    path = options.account or default_path()
    _need(options, document.plan.problem, path)
    collection = options.collection or 1
    refuse_overwriting([("account", path)], (options.plan, options.users))
    path, many = resolved(path), None
    if options.users is None:
        asked = Answer(collection, _items(options, document))
        picked = [levels.index(options.level)]
    else:
        many = users_and_levels(options, document)
        asked = Answer(collection, users=digest(*many))
        picked = sorted(set(many[1].tolist()))
    entry = Entry(document.digest, levels[picked[-1]], options.sets, options.rounds or 1)
    kept = path.with_name(f"{path.name}.{entry.plan[:16]}-{collection}.messages")
    with opened(path) as account:
        answer = account.sent_before(entry.plan, entry.level, asked)
        if answer is None:
            demands, answer = _spent(options, document.plan, picked, entry, account), asked
            if many is not None:
                sent = draw_all(*many, scheme, demands, kept)
            else:
                client = Client(asked.items, picked[0], demands[picked[0]])
                answer = replace(asked, messages=lines_of(client.send_items(scheme), scheme))
                sent = counted([answer.messages.encode()])
            answer = replace(answer, n_messages=sent[0], sha256=sent[1])
            account.keep(answer)
            _tell(account, None if many is None else many[0].n_users)
        else:
            complain(
                f"segshuffle client: collection {collection} was answered before. These are the same messages, from "
                f"{path}; nothing more is spent. The shuffler must take them only once"
            )
    named = collection_line(document.digest, collection)
    if many is not None:
        print_all(kept, answer, named)
        complain(
            "segshuffle client: these messages stand in the order of the users and must be mixed before anybody who is "
            "not trusted sees them: sort messages.txt > mixed.txt"
        )
        return ""
    return f"{named}\n{answer.messages}".removesuffix("\n")


def _need(options: Namespace, problem: Problem, path: Path) -> None:
    """Refuse a call that leaves something out; all of it is named at once."""
    planned = problem.assumptions.rounds
    has_account, stored = options.account is not None or options.users is None, False
    with contextlib.suppress(OSError):  # `opened` says what is wrong with the name
        stored = has_account and path.exists()
    needed = (
        (
            options.level or options.level_column,
            f"--level {problem.levels[0]:g}",
            "the epsilon that the user picked; a file of users may have it in a --level-column",
        ),
        (has_account, "--account FILE", "it stores what these users have spent"),
        (
            options.honest_users or stored,
            "--honest-users N",
            "how many users, you included, certainly exist and send their dummy messages; the plan may overstate it, "
            "and the account stores it",
        ),
        (
            options.rounds or planned == 1,
            f"--rounds {planned}",
            "the plan's epsilon covers so many collections together; with 1 all of it is spent in this one",
        ),
        (
            options.collection or (options.rounds or planned) == 1,
            "--collection K",
            "the number of this collection, from 1; if it was answered before, the same messages are sent again",
        ),
    )
    missing = [(example, why) for given, example, why in needed if not given]
    if missing:
        reasons = "; ".join(f"{example.partition(' ')[0]} ({why})" for example, why in missing)
        examples = " ".join(example for example, _ in missing)
        raise OptionsError(f"More is needed: {reasons}. Add {examples}.")


def _items(options: Namespace, document: Document) -> tuple[int, ...]:
    """Return the numbers of the items that the user names."""
    from segshuffle.datasets.own.transactions import numbered

    if layout_of(options) != Layout():
        raise OptionsError("--items names the items; options that say how to read a file need --users FILE instead.")
    problem = document.plan.problem
    known = None if document.items is None else numbered([*map(tidied, document.items)])

    def numbered_as(name: str) -> int | None:
        return number_of(name, problem.domain_size) if known is None else known.get(name)

    place, text = _text_of(options.items, numbered_as)
    try:
        names = [*itertools.chain(*csv.reader(io.StringIO(text), skipinitialspace=True, strict=True))]
    except csv.Error as error:
        raise DataError(
            f"{place}: {error}; write names with commas between, and quotes around a name that has a comma: "
            "'tea,\"milk, fresh\"'."
        ) from error
    numbers = dict[int, None]()
    for name in filter(None, map(tidied, names)):
        number = numbered_as(name)
        if number is None:
            first, last = document.name(0), document.name(problem.domain_size - 1)
            raise DataError(
                f"{place}: item {name[:60]!r} is none of the plan's {problem.domain_size} items, {first} to {last}."
            )
        if number in numbers:
            raise DataError(f"{place}: {name[:60]!r} is given twice; give every item once.")
        numbers[number] = None
    if len(numbers) > problem.set_size:
        complain(
            f"segshuffle client: the user holds {len(numbers)} items; a random choice of {problem.set_size} of them is "
            "sent"
        )
    return tuple(numbers)


def _text_of(items: str, number_of_item: Callable[[str], int | None]) -> tuple[str, str]:
    """Return where the items stand and how they are written, from what --items gives."""
    from segshuffle.files import bounded, read_text, text_of

    is_file = False
    with contextlib.suppress(OSError):  # a list may be longer than any name
        is_file = Path(items).exists() and items not in ("", "-")
    if is_file and number_of_item(tidied(items)) is not None:
        raise OptionsError(
            f"--items {items} is an item and a file: write {items}, for the item or ./{items} to read it."
        )
    if items == "-":
        place = "standard input"
        return place, text_of(bounded(sys.stdin.buffer, place, limit=_LONGEST), place)
    if is_file:
        return items, read_text(items, limit=_LONGEST)
    return f"items = {items[:60]!r} (no file has this name)", items


def _spent(options: Namespace, plan: Plan, picked: Sequence[int], new: Entry, account: Account) -> dict[int, Demand]:
    """Add the privacy that is spent to the account, and return what the users of each level that was picked demand."""
    from segshuffle.collection.messages import Demand

    stored = _own_words(options, new.level, account)
    level_budget, levels = account.level_budget, plan.problem.levels
    entry, demands = account.take(new), {}
    for level in picked:
        demand = Demand(
            epsilon=levels[level],
            delta=options.delta,
            honest_users=account.honest_users or 0,
            sets=options.sets,
            rounds=entry.rounds,
            most_messages=options.most_messages,
        )
        if level_budget and not isinstance(level_budget, str):
            # the epsilons of other levels are only claims of the server: the user's own limit bounds them
            epsilons = tuple(max(levels[level], min(each, level_budget[0])) for each in levels)
            demand = replace(demand, level_epsilons=epsilons, level_delta=level_budget[1])
        demands[level] = demand
        try:
            given = _given(plan, demand, level)
        except RefusedError as error:
            raise RefusedError(f"{error}{stored}") from error
        entry = entry.sending((levels[level], given.delta), (given.level_epsilon, given.level_delta))
    entry = replace(entry, sent=entry.sent + 1)
    account.collections.append(entry)
    account.refuse_beyond(account.budget, "items_spent", "--budget")
    account.refuse_beyond(level_budget, "level_spent", "--level-budget")
    return demands


def _given(plan: Plan, demand: Demand, level: int) -> Given:
    """Return what the plan promises this level, if the user's own bounds confirm it, and otherwise these bounds."""
    from segshuffle.collection.messages import check_announcement

    given, deltas = check_announcement(plan.scheme, demand, level), plan.problem.deltas
    delta, level_delta = min(demand.delta, deltas[level]), min(demand.level_delta or demand.delta, max(deltas))
    with contextlib.suppress(RefusedError, ParameterError):  # a published delta may be below what is computed
        promised = check_announcement(plan.scheme, replace(demand, delta=delta, level_delta=level_delta), level)
        if promised.level_epsilon <= given.level_epsilon:
            return promised._replace(delta=delta, level_delta=level_delta if promised.level_epsilon else 0.0)
    return given


def _own_words(options: Namespace, level: float, account: Account) -> str:
    """Set honest users, budget and limit on the level: from the options, the file, or the defaults.

    Returns
    -------
    str
        A sentence about what comes from the file; empty if nothing does.
    """
    settings = {
        "--honest-users": (options.honest_users, account.honest_users),
        "--level-budget": (options.level_budget, account.level_budget),
    }
    stored = [name for name, (given, before) in settings.items() if given is None and before is not None]
    account.honest_users = options.honest_users or account.honest_users
    delta = options.delta
    account.budget = _limit(options.budget, account.budget or (level, delta), delta)
    of_level = account.level_budget or (max(_LEVEL_EPSILON, level), delta)
    account.level_budget = _limit(options.level_budget, of_level, delta)
    return f" The user's file {account.path} sets {' and '.join(stored)}." if stored else ""


def _limit(given: tuple[float, float | None] | Literal["no"] | None, before: Limit, at_first: float) -> Limit:
    """Return a limit from an option; if it has no delta, the stored delta is kept."""
    if given is None or given == "no":
        return given or before
    epsilon, delta = given
    return epsilon, delta or (at_first if before == "no" else before[1])


def _tell(account: Account, n_users: int | None) -> None:
    """Say what the plan guarantees, the privacy spent so far, and whether users beyond those of a file are needed."""
    honest_users = account.honest_users or 0
    if n_users is not None and n_users < honest_users:
        complain(
            f"segshuffle client: the file has {n_users:,} users, and the guarantee relies on {honest_users:,} "
            "(--honest-users): it holds only if the others send to the same shuffler"
        )
    entry = account.collections[-1]
    told = f"{said(*entry.items_spent)} about the items"
    if entry.level_spent != (0.0, 0.0):
        told += f", and at most {said(*entry.level_spent)} about the level"
    if len(account.collections) == entry.sent == 1:
        complain(f"segshuffle client: {account.path} is a new account: what other accounts have spent is not counted")
    complain(
        f"segshuffle client: this collection reveals at most {told}. All collections in {account.path} "
        f"together reveal at most {said(*account.spent('items_spent'))} about the items. If the messages are "
        "lost, the same call prints the same ones again"
    )
