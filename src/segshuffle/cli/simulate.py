"""Run a collection on a file of item sets, and say what it gives and costs.

Every user sends messages about sampled items and, as a blanket, uniformly random dummy messages; the server subtracts
what the blanket adds on average. Random numbers here are reproducible, not secret: this simulates a collection.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from segshuffle.cli.terminal import add_assumptions, add_collection, integer, level_privacy, shown


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("file", type=Path, help="one user per line: distinct items 0..d-1, the same number for all")
    add_collection(
        parser,
        about_levels="privacy levels with the number of users at each, e.g. 0.5:1250,1.0:2500; drawn at random, "
        "or see --level-file",
    )
    parser.add_argument(
        "--level-file",
        type=Path,
        metavar="FILE",
        help="who picked which level: its epsilon, one user per line, in the order of the users; then the printed bias "
        "says what such a dependence of levels on items does to the estimates",
    )
    parser.add_argument(
        "--messages",
        action="store_true",
        help="draw every message, of both rounds; without it the counts are drawn: the same law, and faster",
    )
    add_assumptions(parser)
    parser.add_argument("--seed", type=integer, default=0, help="seed of everything random (default 0)")
    parser.add_argument(
        "--chunk-users",
        type=integer,
        metavar="USERS",
        help="with --messages: users per batch, which bounds the memory; messages wait in a temporary file",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> str:
    """Run both rounds on the file."""
    from segshuffle.cli.both_rounds import simulate_file
    from segshuffle.protocols.assumptions import Assumptions

    found = simulate_file(
        options.file,
        domain_size=options.domain_size,
        delta=options.delta,
        level_counts=options.levels,
        levels_path=options.level_file,
        accountant=options.accountant,
        max_messages=options.max_messages,
        copies_max=options.copies_max,
        equal_copies=options.equal_copies,
        messages=options.messages,
        level_privacy=level_privacy(options),
        assumptions=Assumptions(honest_fraction=options.honest_fraction, rounds=options.rounds),
        seed=options.seed,
        chunk_users=options.chunk_users,
    )
    return shown(found, as_json=options.json)
