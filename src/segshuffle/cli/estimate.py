"""The server's side: a plan and shuffled messages, or counts of them, in; a table of estimates with intervals out.

Messages are lines as `segshuffle client` writes them, mixed by a shuffler. Counts have the header item,count and then a
line per item. Every item's 95 % interval holds its share in 95 % of all collections, where the levels that users pick
have nothing to do with what they hold.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from segshuffle.cli.terminal import complain, counted, integer, levels, number, shown
from segshuffle.errors import DataError, ParameterError

if TYPE_CHECKING:
    from segshuffle.protocols.base import Plan
    from segshuffle.rehearsal.message_lines import Counted


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("plan", type=Path, metavar="PLAN.json", help="the published plan, as plan --save writes it")
    parser.add_argument("messages", help="messages or counts, plain or packed by gzip; - is standard input")
    parser.add_argument(
        "--levels",
        type=levels,
        metavar="EPSILON:USERS,...",
        help="users at each level who took part (default: those of the plan)",
    )
    parser.add_argument(
        "--unknown",
        choices=["refuse", "drop"],
        default="refuse",
        help="lines that are no message: refuse the file (default), or leave them out and say how many",
    )
    parser.add_argument(
        "--confidence", type=number, default=0.95, help="probability, in (0, 1), of one interval (default 0.95)"
    )
    parser.add_argument(
        "--top", type=integer, default=20, metavar="K", help="how many of the largest estimates to show (default 20)"
    )
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write all estimates as a table")
    parser.add_argument("--json", action="store_true", help="print JSON, with every item")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> str:
    """Count, and estimate."""
    import numpy as np

    from segshuffle.library import estimate
    from segshuffle.protocols.item_variance import coverage_of_nothing
    from segshuffle.rehearsal.documents import read_document
    from segshuffle.rehearsal.run import threshold_of

    if options.top < 1:
        raise ParameterError("top", options.top, "an integer >= 1")
    document = read_document(options.plan)
    plan = _with_participants(document.plan, options)
    received = _received(options, plan)
    found = estimate(plan, received.counts)
    low, high = found.interval(options.confidence)
    order = np.argsort(-found.frequencies, kind="stable")
    columns = {
        "item": [document.name(item) for item in order.tolist()],
        "count": received.counts[order].tolist(),
        "estimate": found.frequencies[order].tolist(),
        "low": low[order].tolist(),
        "high": high[order].tolist(),
        "standard_error": found.standard_errors[order].tolist(),
    }
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    summary = {
        "users": plan.problem.n_users,
        "messages": received.messages,
        "messages_expected_at_most": plan.messages_per_user * plan.problem.n_users,
        "dropped": received.dropped,
        "confidence": options.confidence,
        "told_from_zero_above": threshold_of(plan),
        "coverage_of_items_held_by_nobody": coverage_of_nothing(plan, options.confidence),
        "kind": plan.kind,
    }
    _warn(summary, options)
    if options.csv is not None:
        from segshuffle.cli.sweep import as_csv
        from segshuffle.files import write_atomically

        write_atomically(options.csv, as_csv(rows))
    if options.json:
        return shown({**summary, "estimates": rows}, as_json=True)
    return f"{shown(summary, as_json=False)}\n\n{_table(rows[: options.top], options.confidence)}"


def _with_participants(plan: Plan, options: argparse.Namespace) -> Plan:
    """The plan as it serves those who took part."""
    from segshuffle.rehearsal.parties import refuse_published

    refuse_published(plan)
    if options.levels is None:
        return plan
    given = counted(options.levels, plan.problem.n_users)
    if tuple(level for level, _ in given) != plan.problem.levels:
        raise ParameterError(
            "levels", ",".join(f"{level:g}" for level, _ in given), f"those of the plan, {plan.problem.levels}"
        )
    return plan.of_participants(tuple(users for _, users in given))


def _received(options: argparse.Namespace, plan: Plan) -> Counted:
    from segshuffle.rehearsal.message_lines import read_counts

    signed = plan.parameters.get("blanket", {}).get("name") == "signed"
    asked: dict[str, Any] = {"signed": signed, "drop": options.unknown == "drop"}
    if options.messages == "-":
        return read_counts(sys.stdin.buffer, "standard input", plan.problem.domain_size, **asked)
    try:
        with _opened(Path(options.messages)) as stream:
            return read_counts(stream, options.messages, plan.problem.domain_size, **asked)
    except (OSError, ValueError, EOFError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(
            f"{options.messages}: cannot be read ({error}). Check the path, and whether it is whole."
        ) from error


def _opened(path: Path) -> IO[bytes]:
    """The file, unpacked if it begins as gzip does."""
    import gzip

    with path.open("rb") as stream:
        packed = stream.read(2) == b"\x1f\x8b"
    return gzip.open(path) if packed else path.open("rb")  # type: ignore[return-value]


def _warn(summary: dict[str, Any], options: argparse.Namespace) -> None:
    """Say what is odd about the number of messages."""
    if summary["dropped"]:
        complain(
            f"segshuffle estimate: {summary['dropped']} lines of {options.messages} are no messages, and left out."
        )


def _table(rows: list[dict[str, Any]], confidence: float) -> str:
    width = min(max([len(row["item"]) for row in rows] + [4]), 24)
    head = f"{'item':<{width}}  {'messages':>9}  {'estimate %':>10}  {f'{100 * confidence:g} % interval':>19}"
    lines = [
        f"{row['item'][:width]:<{width}}  {row['count']:>9}  {100 * row['estimate']:10.3f}  "
        f"{100 * row['low']:9.3f} {100 * row['high']:9.3f}"
        for row in rows
    ]
    return "\n".join([head, *lines])
