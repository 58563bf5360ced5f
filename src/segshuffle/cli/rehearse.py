"""Try a plan on data that you have, and compare estimates with the truth, in tables, figures and a page.

    segshuffle rehearse FILE

is enough. Every option has a default: one level with epsilon = 1, delta = 1/(100 users), 20
repetitions, and the set size (most items that a user sends) that is best for the 20 most frequent items of the file.

The collection is simulated. The truth is the file as it is; the loss from cutting larger sets is shown separately.
Rehearse on data like those that you will collect, such as last year's. Choosing options by looking at the data of the
collection itself breaks the guarantee.
"""

from __future__ import annotations

import re
import shlex
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from segshuffle.cli.options import (
    LevelCounts,
    add_flags,
    counted,
    integers,
    number,
    participants,
    positive,
    question_of,
    set_sizes,
    users_of,
    whole,
)
from segshuffle.cli.terminal import as_json, complain, leave_out, need, seldom, table, typed, wrapped
from segshuffle.datasets.own.layout import Layout, read_items
from segshuffle.errors import DataError, OptionsError
from segshuffle.extras import require
from segshuffle.option_fields import options_of

if TYPE_CHECKING:
    from segshuffle.collection.planning.answer import Answer
    from segshuffle.collection.rehearsal.run import Rehearsal
    from segshuffle.datasets.own.transactions import Transactions
    from segshuffle.plans.plan import Plan, SetKind

#: Options in the short help.
COMMON = ("data", "items", "set_size", "levels", "delta", "copies_max", "target_error", "plan", "messages", "out")
#: Default number of repetitions, and the entries that they may read together if levels are random.
_REPETITIONS, _ENTRIES = 20, 10**8
#: Note about bias, if the data have the levels.
_BIASED = (
    "Levels are those of the data. They depend on items, at least by chance, so expected estimates are off by up to "
    "{:.2g} % of the users. If this is not chance, more users do not remove the error; --equal-copies does."
)


def add_options(parser: ArgumentParser) -> None:
    """Add the options of this command."""
    from segshuffle.collection.planning.asked import Goal, Limits
    from segshuffle.collection.planning.question import Question
    from segshuffle.plans.plan import Assumptions, Problem

    parser.add_argument(
        "data",
        type=_data,
        metavar="FILE",
        help="who holds what: csv, tsv, jsonl or parquet with a row per user and item (or per user), or text with one "
        "line per user; text may be packed by gzip or zstd; - is standard input. If the plan is for another number of "
        "users, they are drawn from the file with replacement. Or a guess of how many users hold how many items, such "
        "as 1:60%%,3:30%%,10:10%%: then set sizes are compared, and nothing is simulated",
    )
    layout = parser.add_argument_group("how to read the file, and what to do about irregular entries")
    add_flags(layout, options_of(Layout))
    public = parser.add_argument_group("public inputs")
    listed = {
        "help": "public list of all items, one per line, or their number d if they are 0..d-1; without it the items "
        "are those of the file, which is not private"
    }
    sizes = {
        "type": integers,
        "help": "most items that a user sends; a user who holds more sends a random S of them (default: the size with "
        "the least error for the most frequent items of the file, see --top). Several values (1,2,4, or 1..17/5 for "
        "five of them, evenly on a logarithmic scale) are compared by the expected error of all items, and nothing is "
        "simulated",
    }
    add_flags(public, options_of(Problem), items=listed, set_size=sizes)
    public.add_argument(
        "--plan",
        type=Path,
        metavar="PLAN.json",
        help="rehearse this plan, as plan --save writes it, instead of a new one; --levels may say how many users of "
        "the file are at each level of the plan",
    )
    public.add_argument(
        "--guess",
        type=_zipf,
        metavar="zipf:A",
        help="with a guess instead of a file: zipf:A, so that the j-th share is roughly j^-A (default zipf:1)",
    )
    asked = parser.add_argument_group("assumptions, limits and goal")
    add_flags(asked, options_of(Assumptions, Limits, Question))
    add_flags(asked, options_of(Goal), "target_error", "least")
    asked.add_argument(
        "--top",
        type=positive,
        default=20,
        metavar="K",
        help="number of most frequent items for which errors are shown (default 20)",
    )
    simulated = parser.add_argument_group("what is simulated and written")
    simulated.add_argument(
        "--repetitions",
        type=positive,
        metavar="R",
        help=f"how often the collection is simulated (at most 1e5; default {_REPETITIONS}, or fewer if "
        "levels are drawn at random and the file is large)",
    )
    simulated.add_argument("--seed", type=whole, default=0, help="seed of all random numbers (default 0)")
    simulated.add_argument(
        "--messages",
        action="store_true",
        help="also simulate every message of both rounds, once: in round 1 users send their level, in round 2 items; "
        "only the errors of this simulation include round 1",
    )
    simulated.add_argument(
        "--take-part",
        type=number,
        metavar="P",
        help="with --messages: probability, in (0, 1], with which each user sends items; the others drop out after "
        "sending their level; fewer users than honest-fraction relies on are refused (default 1)",
    )
    simulated.add_argument(
        "--out",
        type=Path,
        metavar="FOLDER",
        help="where to write tables, figures and the page (default: NAME-rehearsal)",
    )
    simulated.add_argument("--json", action="store_true", help="print JSON, with everything")


def run(options: Namespace) -> str:
    """Read, plan, rehearse, write."""
    comparing = isinstance(options.data, dict) or len(options.set_size or ()) > 1
    if not options.messages:
        leave_out(options, ["take_part"], "without --messages")
    if isinstance(options.data, str):
        leave_out(options, ["guess"], "with a file: the shares are those of the file")
    if options.messages and (comparing or options.plan is not None):
        raise OptionsError(
            "--messages makes a new plan from the result of round 1: leave --plan out, and compare no set sizes."
        )
    return _compared(options) if comparing else _rehearsed(options)


def _rehearsed(options: Namespace) -> str:
    """Simulate a plan on the file, and write the folder."""
    # before a large file is read
    require("pipeline", "A rehearsal")
    from segshuffle.cli import rehearse_text
    from segshuffle.collection.rehearsal.by_message import by_message
    from segshuffle.collection.rehearsal.results import check_place, tables_of, write
    from segshuffle.collection.rehearsal.run import rehearse
    from segshuffle.collection.rehearsal.targets import over_epsilon

    name = "input" if options.data == "-" else Path(options.data).name.partition(".")[0]
    folder = options.out or Path(f"{name or 'transactions'}-rehearsal")
    check_place(folder)
    saved = None if options.plan is None else _saved(options)
    offered = [level for level, _ in options.levels or ()] if saved is None else saved.problem.levels
    users = users_of(options, options.data, options.items, offered)
    assumed: list[str] = []
    if saved is None:
        levels = _levels(options, users, assumed)
        users = _as_many(sum(levels[1]), users, options, assumed)
        asked = _planned(options, users, levels, assumed)
    else:
        if users.n_users < saved.problem.honest_users:
            users = _as_many(saved.problem.n_users, users, options, assumed)
        asked = _serving(saved, users, options, assumed)
    repetitions = options.repetitions or _repetitions(asked.plan, users)
    if options.repetitions is None:
        assumed.append(f"{repetitions} repetitions (--repetitions)")
    progress = seldom("{} of {} repetitions".format)
    rehearsal = rehearse(asked.plan, users, repetitions=repetitions, seed=options.seed, progress=progress)
    tables = tables_of(rehearsal)
    answer = _answer(rehearsal, asked, users, options, assumed)
    answer["groups"] = tables["groups"].fill_nan(None).to_dicts()
    answer["recovery"] = tables["recovery"].to_dicts()
    if options.target_error is not None:
        answer["over_epsilon"] = over_epsilon(users, asked)
    if options.messages:
        answer["by_message"] = by_message(
            users,
            asked.plan.problem,
            asked.question.planner.plan,
            level_privacy=asked.question.level_privacy,
            take_part=1.0 if options.take_part is None else options.take_part,
            seed=options.seed,
        )
    headline = rehearse_text.headline(answer["summary"], asked.plan.problem.set_size)
    command = f"segshuffle {shlex.join(sys.argv[1:])}"
    write(folder, rehearsal, answer, tables=tables, headline=headline, top=options.top, command=command)
    if options.json:
        return as_json({**answer, "folder": str(folder)})
    where = f"The page:  {folder}/index.html\nAll items: {folder}/items.csv (and .parquet)"
    return "\n\n".join([wrapped(headline), *rehearse_text.told(tables["items"].head(options.top), answer), where])


def _data(text: str) -> str | dict[int, float]:
    """Return the name of a file, or a guess of the users' shares by size of set from ``size:share%`` pairs."""
    if not re.match(r"\d+:", text):
        return text
    try:
        return set_sizes(text)
    except ValueError:
        raise ArgumentTypeError(
            f"{text!r} is no guess: write size:share% pairs with commas, each size once, and --guess zipf:1 apart"
        ) from None


def _zipf(text: str) -> float:
    """Read the exponent of Zipf's law."""
    return number(text.removeprefix("zipf:"))


def _compared(options: Namespace) -> str:
    """Compare set sizes, with the file or with a guess."""
    from segshuffle.collection.padding import guessed_holders
    from segshuffle.collection.rehearsal.run import NOT_PRIVATE
    from segshuffle.collection.rehearsal.set_sizes import compared, holders_of

    kinds: tuple[SetKind, ...] = ("at-most",)
    notes = list[str]()
    leave_out(options, ["plan", "target_error"], "if set sizes are compared")
    if isinstance(options.data, dict):
        need(options, "items", "levels")
        domain_size = len(read_items(options.items)) if isinstance(options.items, Path) else options.items
        sizes, levels = options.set_size or sorted(filter(None, options.data)), counted(options.levels, None)
        if not sizes:
            raise OptionsError(
                "This guess has no set with an item, so there is no size to compare: add one (1:60%,0:40%)."
            )
        holders = guessed_holders(options.data, domain_size, 1.0 if options.guess is None else options.guess)
        _assume_delta(options, sum(levels[1]), [])
    else:
        users = users_of(options, options.data, options.items, [level for level, _ in options.levels or ()])
        for note in users.notes:
            complain(f"{users.label}: {note}")
        holders, sizes, notes = holders_of(users), options.set_size, [NOT_PRIVATE]
        kinds, levels = ("at-most", "exactly"), _levels(options, users, [])
    items = holders.holders.shape[1]
    question = question_of(options, domain_size=items, set_size=1, levels=levels, guess=None, top=None)
    rows = compared(question, holders, sizes, kinds)
    least = min(rows, key=lambda row: row["mse"])
    if options.json:
        return as_json({"users": question.problem.n_users, "rows": rows, "least_error": least, "notes": notes})
    sentences = [
        "mse: expected squared error of all items; squared_bias: its part due to cutting and padding; "
        "messages_per_user: all messages of a user, at most",
        *notes,
    ]
    return f"{table(rows)}\nleast error: {least['sets']} {least['set_size']}\n{wrapped(sentences, hang='  ')}"


def _levels(options: Namespace, users: Transactions, assumed: list[str]) -> LevelCounts:
    """Return the levels with their users; set default levels and delta if they are not given, and say which."""
    if options.levels is None:
        options.levels = ((1.0, 1.0),)
        assumed.append("one level, epsilon = 1, for everybody (--levels)")
    counts = users.level_counts(len(options.levels))
    if counts is not None and all(count is None for _, count in options.levels):
        levels = tuple(level for level, _ in options.levels), counts
    else:
        levels = counted(options.levels, users.n_users)
    _assume_delta(options, sum(levels[1]), assumed)
    return levels


def _assume_delta(options: Namespace, n_users: int, assumed: list[str]) -> None:
    """Set the default delta if none is given, and say so."""
    if options.delta is None:
        options.delta = (0.01 / n_users,)
        assumed.append(f"delta = 1/(100 users) = {options.delta[0]:.3g} (--delta)")


def _as_many(n_users: int, users: Transactions, options: Namespace, assumed: list[str]) -> Transactions:
    """Draw as many users from the file as the plan is for, if the file has another number, and say so."""
    if n_users == users.n_users or users.levels is not None:
        return users
    from segshuffle.seeds import stream

    assumed.append(f"each of the {n_users:,} users is drawn from the {users.n_users:,} of the file, with replacement")
    return users.resampled(n_users, stream(options.seed, "rehearse", "users"))


def _planned(
    options: Namespace,
    users: Transactions,
    levels: LevelCounts,
    assumed: list[str],
) -> Answer:
    """Plan for these users, and say how the set size was chosen."""
    from segshuffle.collection.planning.answer import answer
    from segshuffle.collection.rehearsal.set_sizes import chosen
    from segshuffle.collection.rehearsal.targets import guess_of, meeting

    guess = None if options.target_error is None else guess_of(users)
    top = options.top if options.target_error and options.target_error[1] else None

    def make(size: int) -> Answer:
        items = users.domain_size
        question = question_of(options, domain_size=items, set_size=size, levels=levels, guess=guess, top=top)
        return answer(question) if guess is None else meeting(users, question)

    if options.set_size is not None:
        return make(options.set_size[0])
    answered = chosen(users, make, options.top)
    assumed.append(
        f"set size {answered.plan.problem.set_size}, the best one for the top {min(options.top, users.domain_size)} of "
        "this file; this choice is not private (--set-size)"
    )
    return answered


def _saved(options: Namespace) -> Plan:
    """Read the plan of ``--plan``; the file is then read with the items of the plan, by name or by number."""
    from segshuffle.collection.planning.asked import Goal, Limits
    from segshuffle.collection.planning.documents import checked_names, read_plan
    from segshuffle.collection.planning.question import Question
    from segshuffle.plans.plan import Assumptions

    rule = f"with {options.plan}, which is fixed"
    planned = ("set_size", "delta", *options_of(Assumptions, Limits, Question, Goal))
    leave_out(options, [name for name in planned if name != "top"], rule)
    document = read_plan(options.plan)
    problem = document.plan.problem
    if document.items is None and isinstance(options.items, Path):
        options.items = checked_names(read_items(options.items), problem.domain_size)
    else:
        leave_out(options, ("items",), rule)
        options.items = document.items or problem.domain_size
    return document.plan


def _serving(plan: Plan, users: Transactions, options: Namespace, assumed: list[str]) -> Answer:
    """Return a saved plan for the users of the file, and say what was assumed."""
    from segshuffle.collection.planning.answer import Answer
    from segshuffle.collection.planning.question import Question

    problem, n = plan.problem, users.n_users
    if n < problem.honest_users:
        raise DataError(
            f"{users.label}: {n} users with levels, but the guarantee of {options.plan} relies on "
            f"{problem.honest_users}. Plan for fewer users or with a smaller honest-fraction, or leave the column of "
            "levels out: then users are drawn from the file."
        )
    counts = users.level_counts(len(problem.levels)) or participants(problem, options.levels, n)
    if n != problem.n_users:
        assumed.append(f"all {n} users of the file take part, though the plan is for {problem.n_users}")
    if counts != problem.level_counts:
        plan = plan.of_participants(counts)
    return Answer(Question(plan.problem), plan)


def _repetitions(plan: Plan, users: Transactions) -> int:
    """Return the default number of repetitions; fewer if each must read all entries again."""
    if len(plan.problem.levels) == 1 or users.levels is not None:
        return _REPETITIONS
    return max(1, min(_REPETITIONS, _ENTRIES // max(users.codes.size, 1)))


def _answer(
    rehearsal: Rehearsal, asked: Answer, users: Transactions, options: Namespace, assumed: list[str]
) -> dict[str, Any]:
    """Return all results except those by item, JSON-ready."""
    from segshuffle.collection.rehearsal.results import summary
    from segshuffle.collection.rehearsal.run import NOT_PRIVATE

    plan, notes, rare = rehearsal.first.plan, [NOT_PRIVATE, *users.notes], asked.worth.coverage
    reached = asked.sentences["How far off estimates are"][:1] if options.target_error else []
    if abs(rare - 0.95) > 0.01:
        notes.append(
            f"Few dummies are sent, so the 95 % interval of an item that nobody holds contains 0 in {100 * rare:.3g} % "
            "of all collections."
        )
    if plan.problem.assumptions.private_levels:
        notes.append("No plan.json is written, because no command sends messages about hidden levels (--hide-level).")
    if rehearsal.bias is not None:
        notes.append(_BIASED.format(100 * float(abs(rehearsal.bias).max())))
    return {
        "data": users.label,
        "summary": summary(rehearsal, options.top),
        "assumed": assumed,
        "notes": notes,
        "warnings": [typed(each, options) for each in asked.warnings],
        "sending": [*reached, *asked.sentences["What users send"], _sent(plan, users, asked.question.level_messages)],
        "promises": asked.sentences["What they are promised"],
        "rests_on": [typed(each, options) for each in asked.sentences["What this relies on"]],
        "seed": options.seed,
        "problem": {
            name: getattr(plan.problem, name)
            for name in ("domain_size", "set_size", "levels", "level_counts", "deltas")
        },
        "plan": plan.as_dict(),
    }


def _sent(plan: Plan, users: Transactions, level_messages: float) -> str:
    """Say how many messages a user of the file sends on average."""
    sizes, copies = users.sizes.clip(max=plan.problem.set_size), plan.scheme.copies
    if users.levels is None:
        own = plan.scheme.weight(plan.problem.level_counts) / plan.problem.n_users * float(sizes.mean())
    else:
        own = sum(copies[level] * float(sizes[users.levels == level].sum()) for level in range(len(copies)))
        own /= users.n_users
    return f"With the sets of this file the average is {own + plan.blanket_per_user + level_messages:.4g} messages."
