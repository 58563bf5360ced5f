"""One user's side: a plan and what the user holds in, messages out, one per line.

The plan is checked first: whoever published it may lie, so the program computes what it guarantees this user, and sends
nothing if that is less than the level's epsilon. Messages are drawn exactly, from the operating system's secure source.
They go to a shuffler, which removes the sender and mixes them; `shuf` does that with files.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

from segshuffle.cli.terminal import integer, number
from segshuffle.errors import DataError, ParameterError


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("plan", type=Path, metavar="PLAN.json", help="the published plan, as plan --save writes it")
    parser.add_argument(
        "--items",
        required=True,
        metavar="A,B,...",
        help="items that the user holds, by name (in quotes where it has a comma) or, where the plan has no names, by "
        "number; '' for none",
    )
    parser.add_argument(
        "--level", type=number, required=True, metavar="EPSILON", help="the level that the user picked: its epsilon"
    )
    parser.add_argument(
        "--delta",
        type=number,
        default=1e-5,
        help="largest probability with which the guarantee may fail that the user accepts, whatever the plan says "
        "(default 1e-5)",
    )
    parser.add_argument(
        "--honest-users",
        type=integer,
        metavar="N",
        help="users, this one included, who certainly send their dummy messages and tell nobody which they are "
        "(default: all users of the plan, or those that it relies on)",
    )
    parser.add_argument(
        "--rounds", type=integer, default=1, help="such collections in which the user takes part (default 1)"
    )
    parser.add_argument(
        "--most-messages",
        type=number,
        default=10_000.0,
        metavar="MESSAGES",
        help="messages that the user is ready to send, on average (default 1e4)",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> str:
    """Check the plan, and draw."""
    from dataclasses import replace

    from segshuffle.protocols.messages import Client, Demand
    from segshuffle.rehearsal.documents import read_document
    from segshuffle.rehearsal.message_lines import lines_of
    from segshuffle.rehearsal.parties import announcement_of

    document = read_document(options.plan)
    problem = document.plan.problem
    if options.level not in problem.levels:
        raise ParameterError("level", options.level, f"one of {', '.join(f'{each:g}' for each in problem.levels)}")
    names = [name for row in csv.reader([options.items]) for name in row if name]
    if len(set(names)) != len(names):
        raise DataError(f"items = {options.items!r}: an item is given twice; give every item once.")
    demand = Demand(
        epsilon=options.level,
        delta=options.delta,
        honest_users=options.honest_users,
        assumptions=replace(problem.assumptions, rounds=options.rounds),
        most_messages=options.most_messages,
    )
    client = Client(tuple(document.number(name) for name in names), problem.levels.index(options.level), demand)
    announcement = announcement_of(document.plan)
    signed = problem.domain_size if announcement.law.has_signs else 0
    return lines_of(client.send_items(announcement), signed_items=signed).removesuffix("\n")
