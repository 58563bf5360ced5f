"""The server's side: read a plan and shuffled messages, or their counts, and print estimates with intervals.

Messages are lines as `segshuffle client` writes them, mixed by a shuffler (`sort messages.txt > mixed.txt`): whoever
sees them in the order of the users learns what each user holds. Counts have the header item,count and then a line for
each item. An answer has, for each item, the number of users who hold it and their share of all users. Users with more
items than the plan's set size send a random choice of them, which lowers both. A 95 % interval contains the number that
is left in 95 % of all collections, provided that the levels that users pick do not depend on their items. Estimates are
rounded to two digits of their standard errors, and intervals outwards. Names are written without spaces around them.

An item is told from zero (recognised as held by somebody) if its estimate is above a threshold, which is so large that
with probability 0.95 no estimate of an item that nobody holds is above it.

Messages that the users of the plan cannot have sent are refused; an honest collection is refused with probability below
one in a million. Whether single messages were lost or repeated can only be noticed with --messages and --senders, which
the shuffler knows.
"""

from __future__ import annotations

import functools
import math
from argparse import ArgumentParser, Namespace
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from segshuffle.cli.options import levels, output, participants, positive, whole
from segshuffle.cli.terminal import as_json, complain, finite, shown, table, write_table
from segshuffle.errors import DataError, OptionsError

if TYPE_CHECKING:
    from segshuffle.collection.messages.message_lines import Counted
    from segshuffle.plans.plan import Plan

#: What is guaranteed: a row for each level and number of honest users.
Guarantee = list[dict[str, Any]]
#: Options in the short help.
COMMON = ("plan", "received", "messages", "senders", "levels", "least_users", "top", "csv", "publish")
#: Of the JSON, whose fields docs/collect.md describes.
FORMAT = {"format": "segshuffle-estimates", "version": 2}
#: Rows on the screen, unless --top says otherwise.
_ON_SCREEN = 20
#: Lines that are read at most, as a multiple of what the users may send: enough to recognise repeated lines.
_MOST_LINES = 10


def add_options(parser: ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("plan", type=Path, metavar="PLAN.json", help="the published plan, as plan --save writes it")
    parser.add_argument(
        "received", metavar="messages", help="messages or counts, plain or packed by gzip; - is standard input"
    )
    parser.add_argument(
        "--collection",
        type=positive,
        default=1,
        metavar="K",
        help="number of this collection among all with this plan, as the clients gave it (default 1)",
    )
    parser.add_argument(
        "--messages",
        type=whole,
        metavar="N",
        help="number of messages that the shuffler sent, without lines that name a collection: no other is accepted",
    )
    parser.add_argument(
        "--senders",
        type=positive,
        metavar="N",
        help="number of users from whom the shuffler took messages; without --levels their shares at the levels are "
        "assumed to be those of the plan",
    )
    parser.add_argument(
        "--levels",
        type=levels,
        metavar="EPSILON:USERS,...",
        help="users at each level who took part (default: those of the plan); if these are fewer than the guarantee "
        "relies on, the answer has the guarantee that holds for them",
    )
    parser.add_argument(
        "--least-users",
        type=positive,
        metavar="N",
        help="give no estimates if fewer users took part (default: any number will do)",
    )
    parser.add_argument(
        "--unknown",
        choices=["refuse", "drop"],
        default="refuse",
        help="if lines are not messages: refuse the file (default), or drop these lines and say how many",
    )
    parser.add_argument(
        "--anyway",
        action="store_true",
        help="print estimates even if the plan's users cannot have sent these messages, and mark them as impossible",
    )
    parser.add_argument("--clip", action="store_true", help="cut estimates and intervals to [0, 1]")
    parser.add_argument(
        "--top",
        type=positive,
        metavar="K",
        help=f"how many of the largest estimates to give (default: {_ON_SCREEN} on the screen, all in files and JSON)",
    )
    parser.add_argument(
        "--told-from-zero", action="store_true", help="give only items that are told from zero (recognised as held)"
    )
    parser.add_argument("--csv", type=output, metavar="FILE", help="write the estimates as a table, for your own use")
    parser.add_argument(
        "--publish",
        type=output,
        metavar="FILE",
        help="write a table that may be shown: users and shares, with intervals, of all items told from zero "
        "(recognised as held), below a line that says how they were made",
    )
    parser.add_argument("--json", action="store_true", help="print JSON, with every item")


def run(options: Namespace) -> str:
    """Count the messages, and estimate the shares."""
    from segshuffle.cli.estimate_rows import COLUMNS, PUBLISHED, as_percent, rows_of
    from segshuffle.collection.library import estimate, read_messages, read_plan
    from segshuffle.collection.messages.message_lines import collection_line
    from segshuffle.collection.messages.received import PossibleCounts, impossible
    from segshuffle.collection.planning.foresight import CONFIDENCE
    from segshuffle.files import refuse_overwriting
    from segshuffle.plans.item_variance import coverage_of_nothing

    outputs = (("csv", options.csv), ("publish", options.publish))
    refuse_overwriting(outputs, (options.plan, options.received))
    document = read_plan(options.plan)
    plan, assumed = _present(options, document.plan)
    possible = PossibleCounts.of(plan).messages
    # a line of every user may name the collection
    drop, most_lines = options.unknown == "drop", _MOST_LINES * (possible.most + plan.problem.n_users)
    received = read_messages(options.received, plan, drop=drop, most_lines=most_lines)
    own = collection_line(document.digest, options.collection)
    others = received.collections.total() - received.collections[own]
    dropped = received.dropped + others if drop else received.dropped
    odd = _elsewhere(options, received.collections, own) or _damaged(options, plan, received)
    odd = odd or impossible(plan, received.counts, received.messages, document.name)
    if odd and not options.anyway:
        raise DataError(
            f"{options.received}: {odd} Give --anyway to print the estimates all the same, marked as impossible."
        )
    estimated = estimate(plan, received.counts, document.items)
    largest = estimated.order
    told = largest[estimated.told_from_zero[largest]]
    chosen = (told if options.told_from_zero else largest)[: options.top]
    rows = functools.partial(rows_of, estimated, received.counts, options.clip)
    guarantee, digest = _guarantee(document.plan, plan), document.digest[:16]
    mark = {"impossible": True} if odd else {}  # a reader of rows alone must know this
    if options.publish is not None:
        made = _made(plan, guarantee, odd, assumed)
        write_table(options.publish, PUBLISHED, rows(told), made)
    if options.csv is not None:
        added = {"plan": digest, "guarantee": _promised(guarantee), **mark}
        write_table(options.csv, [*COLUMNS, *added], ({**row, **added} for row in rows(chosen)))
    known = {
        "impossible": odd,
        "plan": digest,
        "users": plan.problem.n_users,
        "assumed": assumed,
        "guarantee": guarantee,
        "messages": received.messages,
        "messages_possible": possible,
        "dropped": dropped,
        "not_noticed": _not_noticed(options, plan, received),
        "confidence": CONFIDENCE,
        "told_from_zero_above": estimated.threshold,
        "told_from_zero": told.size,
        "coverage_of_items_held_by_nobody": coverage_of_nothing(plan, CONFIDENCE),
        # what holds for fewer users is only bounded
        "kind": plan.kind if plan.certificate else "upper",
    }
    summary = {name: value for name, value in known.items() if value is not None}
    _say_what_is_missing(options.received, dropped, document.plan, plan)
    if options.json:
        return as_json({**FORMAT, **summary, "estimates": [{**row, **mark} for row in rows(chosen)]})
    warning = "IMPOSSIBLE, see above:\n" if odd else ""
    screen = [as_percent(row) for row in rows(chosen[: options.top or _ON_SCREEN])]
    return f"{shown(summary)}\n\n{warning}{table(screen)}"


def _present(options: Namespace, planned: Plan) -> tuple[Plan, str | None]:
    """Return the plan for the users who took part, and what is assumed about their levels, if anything is."""
    problem, plan, assumed = planned.problem, planned, None
    senders, listed = options.senders or problem.n_users, options.levels
    if listed is not None or senders != problem.n_users:
        plan = planned.of_participants(participants(problem, listed, senders), fewer=True)
    if listed is None and options.senders is None:
        assumed = "all users of the plan took part, at its levels (--levels)"
    elif listed is None and len(problem.levels) > 1:
        assumed = "the shares of the users at the levels are those of the plan (--levels)"
    if plan.problem.n_users < (options.least_users or 0):
        raise DataError(
            f"{plan.problem.n_users} users took part, fewer than --least-users {options.least_users}: no estimates are "
            "given."
        )
    return plan, assumed


def _guarantee(planned: Plan, plan: Plan) -> Guarantee:
    """Return the guarantee for the users who took part."""
    from segshuffle.collection.messages.received import epsilons

    problem, needed = plan.problem, planned.problem.honest_users
    assumptions, epsilons_of = planned.problem.assumptions, {needed: problem.levels}
    if problem.n_users < needed:
        both = dict.fromkeys((problem.n_users, assumptions.honest_of(problem.n_users)))
        epsilons_of = {honest: epsilons(plan, honest) for honest in both}
    rows = []
    for honest, by_level in epsilons_of.items():
        for level, delta, epsilon in zip(problem.levels, problem.deltas, by_level, strict=True):
            rows.append({"honest_users": honest, "level": level, "epsilon": finite(epsilon), "delta": delta})
    return rows


def _say_what_is_missing(name: str, dropped: int, planned: Plan, plan: Plan) -> None:
    """Say how many lines were left out, and how many users stayed away, if the guarantee relies on them."""
    if dropped:
        complain(f"segshuffle estimate: lines of {name} that are not messages and are left out: {dropped}")
    share, needed = planned.problem.assumptions.honest_fraction, planned.problem.honest_users
    if plan.problem.n_users < needed:
        complain(
            f"segshuffle estimate: the plan's guarantee relies on {needed} honest users, and {plan.problem.n_users} "
            "took part. The answer has the guarantee that holds if all of these are honest"
            f"{'' if share == 1 else f', and the one that holds if only {100 * share:g} % of them are'}."
        )


def _promised(guarantee: Guarantee) -> str:
    """Say a guarantee in one line, with all digits: rounding might make a number smaller."""
    parts = []
    for row in guarantee:
        epsilon = "none" if row["epsilon"] is None else row["epsilon"]
        told = f"level {row['level']}: epsilon {epsilon} and delta {row['delta']}"
        parts.append(f"{told} if {row['honest_users']} users are honest")
    return "; ".join(parts)


def _made(plan: Plan, guarantee: Guarantee, odd: str | None, assumed: str | None) -> str:
    """Say how a table that is published was made; refuse what must not be shown."""
    n, s = plan.problem.n_users, plan.problem.set_size
    if odd:
        raise OptionsError("--publish must be left out for messages that the users cannot have sent.")
    if any(row["epsilon"] is None for row in guarantee):
        raise DataError(f"nothing is published: for {n} users no epsilon is certified. Too few took part.")
    cut = f" Users with more than {s} items sent a random {s} of them, which lowers both."
    return (
        f"Users who hold an item, as a number (users) and as a share of {n} users (estimate), estimated by segshuffle "
        f"from shuffled messages and dummies, with 95 % intervals, rounded to two digits of "
        f"the standard error and to whole users.{cut if plan.problem.assumptions.sets == 'at-most' else ''} Of "
        f"{plan.problem.domain_size} items those are listed that are told from zero: with probability 0.95 all of them "
        f"are held by somebody. Differential privacy of each user: {_promised(guarantee)}. Collections covered: "
        f"{plan.problem.assumptions.rounds}."
        f"{'' if assumed is None else f' Assumed, and otherwise these numbers are wrong: {assumed}.'}"
    )


def _elsewhere(options: Namespace, collections: Counter[str], own: str) -> str | None:
    """Say which lines name another collection, if any do; with --unknown drop some senders may be mistaken."""
    names = [each for each, _ in collections.most_common() if each != own]
    if not names or (options.unknown == "drop" and own in collections):
        return None
    lines = collections.total() - collections[own]
    return (
        f"{lines} of {collections.total()} lines that name a collection, such as {names[0]}, name another plan than "
        f"{options.plan} or another collection than --collection {options.collection}, which is {own}. Give the plan "
        "and the number that the clients had, or remove the messages of these senders before all are mixed."
    )


def _damaged(options: Namespace, plan: Plan, received: Counted) -> str | None:
    """Say what differs from what the shuffler knows, if anything does."""
    n_users = plan.problem.n_users
    if options.messages is not None:
        if received.messages is None:
            raise OptionsError("--messages must be left out for counts of messages with signs, which do not tell it.")
        arrived = received.messages + received.dropped
        if arrived != options.messages:
            change = "were lost" if arrived < options.messages else "are too many, such as repeated lines"
            return (
                f"{arrived} messages arrived, and the shuffler sent {options.messages} (--messages): "
                f"{abs(arrived - options.messages)} {change}. Fetch them again from the shuffler."
            )
    if options.senders not in (None, n_users):
        return (
            f"{options.senders} users sent (--senders), but --levels has {n_users}: give the numbers of those who sent."
        )
    return None


def _not_noticed(options: Namespace, plan: Plan, received: Counted) -> str:
    """Say which damage this call cannot notice, and which option or limit would help."""
    causes = ["messages that the shuffler itself lost or took twice"]
    if not received.collections:
        causes.append("messages of another plan or collection, because no line names theirs (docs/wire.md)")
    if options.messages is None:
        causes.append("messages that were lost or repeated on the way, if only some (--messages N)")
    if options.senders is None:
        causes.append("users who did not take part (--senders N)")
    most = plan.scheme.most_messages
    if math.isinf(most):
        causes.append("one sender of very many messages, because this plan has no cap (--blanket-cap auto)")
    else:
        causes.append(f"senders of more than {most:.0f} messages, if the shuffler did not refuse them")
    return "; ".join(causes)
