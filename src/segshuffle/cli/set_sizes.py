"""Choose the most items that a user sends, by a public guess of who holds how many; or compare with padding on MSNBC.

With --guess the sizes that it names are compared: a small one cuts off more, a large one needs more noise. Without it
the MSNBC log is taken as it is, with 1 to 17 categories per user. Whoever has more than s sends a random s of them,
which biases the estimates; whoever has fewer pads with others, which biases them too, or sends fewer, which does not.
The error counts all of it, against the true frequencies.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from segshuffle.cli.terminal import counted, integer, levels, number, shown, whole
from segshuffle.errors import ParameterError

if TYPE_CHECKING:
    from segshuffle.protocols.padding import SetSizeError


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument(
        "--guess",
        type=_guess,
        metavar="SIZE:SHARE%%,...",
        help="how many users hold how many items, from elsewhere than these users, e.g. 1:60%%,3:30%%,10:10%%; needs "
        "--domain-size",
    )
    parser.add_argument("--domain-size", type=integer, metavar="D", help="with --guess: number of items d, up to 4000")
    parser.add_argument(
        "--zipf",
        type=number,
        default=1.0,
        metavar="EXPONENT",
        help="with --guess: the j-th item is held as often as j^-EXPONENT says; 0: all equally often (default 1)",
    )
    parser.add_argument("file", type=Path, nargs="?", help="msnbc990928.seq, plain or packed, as fetch-msnbc writes it")
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
    """Plan for every largest size, and on the log for padding, and compare the errors."""
    if (options.file is None) == (options.guess is None):
        raise ParameterError("--guess", options.guess, "given, or else the MSNBC log")
    if (options.guess is None) != (options.domain_size is None):
        raise ParameterError("--domain-size", options.domain_size, "given with --guess, and left out without it")
    from segshuffle.datasets.archive import read_sessions_file
    from segshuffle.datasets.msnbc import DOMAIN_SIZE
    from segshuffle.datasets.msnbc_log import masks_to_matrix, parse_sessions
    from segshuffle.protocols.assumptions import Assumptions
    from segshuffle.protocols.base import Problem
    from segshuffle.protocols.messages.budget import left_for_items, level_messages
    from segshuffle.protocols.padding import compare_set_sizes, error_of_sets, guessed_holders, holders_by_size
    from segshuffle.protocols.proven import ProvenSegmented

    problem = Problem(
        domain_size=DOMAIN_SIZE if options.guess is None else options.domain_size,
        set_size=options.padded if options.guess is None else 1,
        levels=tuple(level for level, _ in counted(options.levels, None)),
        level_counts=tuple(users for _, users in counted(options.levels, None)),
        delta=options.delta,
    )
    left, spent = options.max_messages, level_messages(problem.n_users, len(problem.levels), None)
    if left is not None:
        left = left_for_items(left, spent)
    method = ProvenSegmented(copies_max=options.copies_max, max_messages=left)
    if options.guess is None:
        seen, held = holders_by_size(masks_to_matrix(parse_sessions(read_sessions_file(options.file))))
        found = compare_set_sizes(method, problem, seen, held, range(1, DOMAIN_SIZE + 1), options.padded)
    else:
        users, holders = guessed_holders(options.guess, options.domain_size, options.zipf)
        at_most = replace(problem, assumptions=Assumptions(sets="at-most"))
        sizes = sorted(size for size in options.guess if size)
        found = [error_of_sets(method, replace(at_most, set_size=size), users, holders) for size in sizes]
    rows = [_row(each) for each in found]
    best = min(rows, key=lambda row: row["mse"])
    if options.json:
        return shown({"users": problem.n_users, "rows": rows, "least_error": best}, as_json=True)
    head = "sets      s   error       of it bias  messages  kind"
    return "\n".join(
        [head]
        + [
            f"{row['sets']:<8} {row['set_size']:>2}   {row['mse']:<10.3e}  {row['squared_bias']:<10.3e}  "
            f"{row['messages_per_user']:<8.3g}  {row['kind']}"
            for row in rows
        ]
        + [f"least error: {best['sets']} {best['set_size']}"]
    )


def _guess(text: str) -> dict[int, float]:
    """Read ``size:share%`` pairs separated by commas."""
    found: dict[int, float] = {}
    for part in text.split(","):
        size, _, share = part.partition(":")
        try:
            if not share.endswith("%") or whole(size) in found:
                raise ValueError
            found[whole(size)] = float(share[:-1]) / 100
        except ValueError:
            raise argparse.ArgumentTypeError(
                f"{part!r} is not the share of a size: write size:share% pairs with commas, each size once, "
                "e.g. 1:60%,3:40%"
            ) from None
    return found


def _row(found: SetSizeError) -> dict[str, Any]:
    return {
        "sets": found.sets,
        "set_size": found.plan.problem.set_size,
        "mse": found.mse,
        "squared_bias": found.squared_bias,
        "messages_per_user": found.plan.messages_per_user,
        "kind": found.plan.kind,
    }
