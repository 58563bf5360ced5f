"""The server's side: read a plan and shuffled messages, or their counts, and print estimates with intervals.

Messages are lines as `segshuffle client` writes them, mixed by a shuffler. Counts have the header item,count and then a
line for each item. A 95 % interval contains the share of its item, after larger sets are cut, in 95 % of all
collections, provided that the levels that users pick do not depend on their items. Messages that the users of the plan
cannot have sent are refused; an honest collection is refused with probability below one in a million. Whether single
messages were lost or repeated can only be noticed with --messages and --senders, which the shuffler knows.
"""

from __future__ import annotations

import argparse
import math
import sys
import zlib
from contextlib import nullcontext
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from segshuffle.cli.options import add, levels, output, participants, positive, whole
from segshuffle.cli.terminal import as_csv, as_json, complain, shown, table
from segshuffle.errors import DataError, OptionsError

if TYPE_CHECKING:
    from segshuffle.protocols.base import Plan
    from segshuffle.protocols.messages.message_lines import Counted


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    add(parser, "plan")
    parser.add_argument(
        "received", metavar="messages", help="messages or counts, plain or packed by gzip; - is standard input"
    )
    parser.add_argument(
        "--messages", type=whole, metavar="N", help="number of messages that the shuffler sent: no other is accepted"
    )
    parser.add_argument(
        "--senders",
        type=positive,
        metavar="N",
        help="number of users from whom the shuffler took messages: refused if --levels or the plan has another",
    )
    parser.add_argument(
        "--levels",
        type=levels,
        metavar="EPSILON:USERS,...",
        help="users at each level who took part (default: those of the plan); if these are fewer than the guarantee "
        "relies on, the answer has the guarantee that holds for them",
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
    parser.add_argument(
        "--confidence",
        type=float,
        default=0.95,
        help="probability, in (0, 1), that one interval contains its share (default 0.95)",
    )
    add(parser, "--top", help="how many of the largest estimates to show (default 20)")
    parser.add_argument("--csv", type=output, metavar="FILE", help="write all estimates as a table")
    add(parser, "--json", help="print JSON, with every item")


def run(options: argparse.Namespace) -> str:
    """Count the messages, and estimate the shares."""
    import numpy as np

    from segshuffle.files import refuse_overwriting, write_atomically
    from segshuffle.library import estimate
    from segshuffle.planning.documents import read_document
    from segshuffle.planning.foresight import threshold_of
    from segshuffle.protocols.item_variance import coverage_of_nothing
    from segshuffle.protocols.messages.received import PossibleCounts, impossible

    refuse_overwriting("csv", options.csv, (options.plan, options.received))
    document = read_document(options.plan)
    plan = document.plan
    if options.levels is not None:
        plan = plan.of_participants(participants(plan.problem, options.levels, plan.problem.n_users), fewer=True)
    received = _received(options, plan)
    odd = _damaged(options, plan, received) or impossible(plan, received.counts, received.messages, document.name)
    if odd and not options.anyway:
        raise DataError(
            f"{options.received}: {odd} Give --anyway to print the estimates all the same, marked as impossible."
        )
    found = estimate(plan, received.counts)
    order = np.argsort(-found.frequencies, kind="stable")
    names = ("count", "estimate", "low", "high", "standard_error")
    values = (received.counts, found.frequencies, *found.interval(options.confidence), found.standard_errors)
    mark = {"impossible": True} if odd else {}  # a reader of the table alone must know this
    rows = [
        {"item": document.name(item), **dict(zip(names, row, strict=True)), **mark}
        for item, *row in zip(order.tolist(), *(each[order].tolist() for each in values), strict=True)
    ]
    known = {
        "impossible": odd,
        "users": plan.problem.n_users,
        "guarantee": _guarantee(document.plan, plan),
        "messages": received.messages,
        "messages_possible": PossibleCounts.of(plan).messages,
        "dropped": received.dropped,
        "not_noticed": _not_noticed(options, plan),
        "confidence": options.confidence,
        "told_from_zero_above": threshold_of(plan),
        "coverage_of_items_held_by_nobody": coverage_of_nothing(plan, options.confidence),
        "kind": plan.kind,
    }
    summary = {name: value for name, value in known.items() if value is not None}
    if received.dropped:
        told = f"lines of {options.received} that are not messages and are left out: {received.dropped}"
        complain(f"segshuffle estimate: {told}")
    if options.csv is not None:
        write_atomically(options.csv, as_csv(rows))
    if options.json:
        return as_json({**summary, "estimates": rows})
    warning = "IMPOSSIBLE, see above:\n" if odd else ""
    percent = [
        {
            "item": row["item"],
            "messages": str(row["count"]),
            "estimate %": f"{100 * row['estimate']:.3f}",
            f"{100 * options.confidence:g} % from": f"{100 * row['low']:.3f}",
            "to": f"{100 * row['high']:.3f}",
        }
        for row in rows[: options.top]
    ]
    return f"{shown(summary)}\n\n{warning}{table(percent)}"


def _guarantee(planned: Plan, plan: Plan) -> list[dict[str, Any]] | None:
    """Return the guarantee for the users who took part, if they are fewer than the plan's guarantee relies on."""
    from segshuffle.protocols.messages.received import epsilons

    problem, needed = plan.problem, planned.problem.honest_users
    if problem.n_users >= needed:
        return None
    share = planned.problem.assumptions.honest_fraction
    rows = []
    for honest in dict.fromkeys((problem.n_users, planned.problem.assumptions.honest_of(problem.n_users))):
        for level, delta, epsilon in zip(problem.levels, problem.deltas, epsilons(plan, honest), strict=True):
            certified = epsilon if math.isfinite(epsilon) else None
            rows.append({"honest_users": honest, "level": level, "epsilon": certified, "delta": delta})
    complain(
        f"segshuffle estimate: the plan's guarantee relies on {needed} honest users, and {problem.n_users} took part. "
        f"The answer has the guarantee that holds for them if all of them were honest"
        f"{'' if share == 1 else f', and if {100 * share:g} % were honest'}."
    )
    return rows


def _damaged(options: argparse.Namespace, plan: Plan, received: Counted) -> str | None:
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
            f"{options.senders} users sent (--senders), but shares would be computed for {n_users}: give with --levels "
            "how many users of each level took part."
        )
    return None


def _not_noticed(options: argparse.Namespace, plan: Plan) -> str:
    """Say which damage this call cannot notice, and which option or limit would help."""
    found = ["messages that the shuffler itself lost or took twice"]
    if options.messages is None:
        found.append("messages that were lost or repeated on the way, if only some (--messages N)")
    if options.senders is None:
        found.append("users who did not take part (--senders N)")
    most = plan.scheme.most_messages
    if math.isinf(most):
        found.append("one sender of very many messages, because this plan has no cap (--limits blanket-cap=auto)")
    else:
        found.append(f"senders of more than {most:.0f} messages, if the shuffler did not refuse them")
    return "; ".join(found)


def _received(options: argparse.Namespace, plan: Plan) -> Counted:
    import gzip

    from segshuffle.files import unreadable
    from segshuffle.protocols.messages.message_lines import read_counts

    name = "standard input" if options.received == "-" else options.received
    signed, drop = plan.scheme.law.has_signs, options.unknown == "drop"
    try:
        with nullcontext(sys.stdin.buffer) if options.received == "-" else _opened(Path(name)) as stream:
            return read_counts(stream, name, plan.problem.domain_size, signed=signed, drop=drop)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        what = "is cut off: its end is missing" if isinstance(error, EOFError) else f"is damaged ({error})"
        raise DataError(f"{name}: the gzip file {what}. Fetch it again from the shuffler.") from error
    except OSError as error:
        raise unreadable(name, error) from error


def _opened(path: Path) -> IO[bytes]:
    """Open the file, unpacked if it begins as gzip does."""
    import gzip

    with path.open("rb") as stream:
        packed = stream.read(2) == b"\x1f\x8b"
    return gzip.open(path) if packed else path.open("rb")  # type: ignore[return-value]
