"""Compare padding to s items with sending at most s, on the MSNBC log as it is.

Users of the log visited 1 to 17 categories. Whoever has more than s sends a random s of them, which biases the
estimates; whoever has fewer pads with categories not visited, which biases them too, or sends fewer, which does not.
The error counts all of it, against the true frequencies.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from segshuffle.cli.terminal import counted, integer, levels, number, shown

if TYPE_CHECKING:
    from segshuffle.protocols.padding import SetSizeError


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("file", type=Path, help="msnbc990928.seq, plain or packed, as fetch-msnbc writes it")
    parser.add_argument(
        "--levels",
        type=levels,
        required=True,
        metavar="EPSILON:USERS,...",
        help="privacy levels with the number of users at each, e.g. 0.5:1250,1.0:2500: a sample of that many users of "
        "the log",
    )
    parser.add_argument("--delta", type=number, required=True, help="failure probability, in (0, 1)")
    parser.add_argument("--padded", type=integer, default=4, metavar="S", help="size to pad to (default 4)")
    parser.add_argument(
        "--copies-max", type=number, default=1.0, help="most expected messages about an item (default 1)"
    )
    parser.add_argument("--max-messages", type=number, help="most messages that a user sends altogether, on average")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> str:
    """Plan for padding and for every largest size, and compare the errors."""
    from segshuffle.datasets.archive import read_sessions_file
    from segshuffle.datasets.msnbc import DOMAIN_SIZE
    from segshuffle.datasets.msnbc_log import masks_to_matrix, parse_sessions
    from segshuffle.protocols.base import Problem
    from segshuffle.protocols.messages.budget import left_for_items, level_messages
    from segshuffle.protocols.padding import compare_set_sizes, holders_by_size
    from segshuffle.protocols.poisson import PoissonSegmented

    problem = Problem(
        domain_size=DOMAIN_SIZE,
        set_size=options.padded,
        levels=tuple(level for level, _ in counted(options.levels, None)),
        level_counts=tuple(users for _, users in counted(options.levels, None)),
        delta=options.delta,
    )
    left, spent = options.max_messages, level_messages(problem.n_users, len(problem.levels), None)
    if left is not None:
        left = left_for_items(left, spent)
    method = PoissonSegmented(copies_max=options.copies_max, max_messages=left)
    users, holders = holders_by_size(masks_to_matrix(parse_sessions(read_sessions_file(options.file))))
    found = compare_set_sizes(method, problem, users, holders, range(1, DOMAIN_SIZE + 1), options.padded)
    rows = [_row(each) for each in found]
    if options.json:
        return shown({"users": problem.n_users, "rows": rows}, as_json=True)
    head = "sets      s   error       of it bias  messages  kind"
    return "\n".join(
        [head]
        + [
            f"{row['sets']:<8} {row['set_size']:>2}   {row['mse']:<10.3e}  {row['squared_bias']:<10.3e}  "
            f"{row['messages_per_user']:<8.3g}  {row['kind']}"
            for row in rows
        ]
    )


def _row(found: SetSizeError) -> dict[str, Any]:
    return {
        "sets": found.sets,
        "set_size": found.plan.problem.set_size,
        "mse": found.mse,
        "squared_bias": found.squared_bias,
        "messages_per_user": found.plan.messages_per_user,
        "kind": found.plan.kind,
    }
