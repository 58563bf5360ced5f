"""Run a collection on a file of item sets, and say what it gives and costs.

Every user sends messages about sampled items and, as a blanket, uniformly random dummy messages; the server subtracts
what the blanket adds on average. Random numbers here are reproducible, not secret: this simulates a collection.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from segshuffle.cli.reading import add_file, read_users
from segshuffle.cli.terminal import (
    Level,
    add_assumptions,
    add_collection,
    counted,
    integer,
    level_privacy,
    number,
    shown,
)
from segshuffle.errors import ParameterError

if TYPE_CHECKING:
    from segshuffle.datasets.transactions import Transactions


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    add_file(parser)
    parser.add_argument(
        "--set-size",
        type=integer,
        metavar="S",
        help="most items that a user sends: whoever holds more sends a random S of them; default: the largest set of "
        "the file, which is not private",
    )
    parser.add_argument(
        "--sets",
        choices=["exactly", "at-most"],
        help="whether users hold exactly S items or at most S; default: at-most, with accountant published exactly",
    )
    add_collection(
        parser,
        about_levels="privacy levels with the number or share of users at each, e.g. 0.5:1250,1.0:2500 or "
        "0.5:25%%,1.0:75%%; drawn at random, or see --level-file and --level-column",
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
    parser.add_argument(
        "--take-part",
        type=number,
        default=1.0,
        metavar="SHARE",
        help="probability, in (0, 1], with which each user sends items: the others drop out after the levels; fewer "
        "users than --honest-fraction relies on are refused (default 1)",
    )
    parser.add_argument("--seed", type=integer, default=0, help="seed of everything random (default 0)")
    parser.add_argument(
        "--chunk-users",
        type=integer,
        metavar="USERS",
        help="with --messages: users per batch, which bounds the memory; messages wait in a temporary file",
    )
    parser.add_argument(
        "--top", type=integer, default=20, metavar="K", help="how many of the most frequent items to show (default 20)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON, with every item")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> str:
    """Run both rounds on the file."""
    from segshuffle.cli.both_rounds import read_levels, simulate_users
    from segshuffle.protocols.assumptions import Assumptions

    if options.top < 1:
        raise ParameterError("top", options.top, "an integer >= 1")
    if options.level_file is not None and options.level_column is not None:
        raise ParameterError("level-file", str(options.level_file), "left out where --level-column says who has which")
    privacy = level_privacy(options)
    offered = tuple(level for level, _ in options.levels)
    users = read_users(options, offered if options.level_column else ())
    if options.level_file is not None:
        users = replace(users, levels=read_levels(options.level_file, offered, users.n_users))
    counts = users_by_level(options.levels, users)
    found = simulate_users(
        users,
        set_size=options.set_size,
        delta=options.delta,
        level_deltas=options.level_deltas,
        level_counts=counts,
        accountant=options.accountant,
        max_messages=options.max_messages,
        copies_max=options.copies_max,
        equal_copies=options.equal_copies,
        messages=options.messages,
        level_privacy=privacy,
        assumptions=Assumptions(
            sets=options.sets or ("at-most" if options.accountant == "proven" else "exactly"),
            honest_fraction=options.honest_fraction,
            rounds=options.rounds,
        ),
        seed=options.seed,
        chunk_users=options.chunk_users,
        take_part=options.take_part,
    )
    if options.json:
        return shown(found, as_json=True)
    apart = ("items", "estimate", "frequencies", "frequencies_sent", "standard_error", "bias", "seconds", "guarantees")
    summary = {
        name: value for name, value in found.items() if name not in (*apart, "notes") and value not in ([], None)
    }
    promises = [_promise(each) for each in found["guarantees"]]
    return "\n\n".join([shown(summary, as_json=False), "\n".join(promises), top_items(found, options.top)])


def _promise(guarantee: dict[str, Any]) -> str:
    """What a level promises, in a sentence; an epsilon that is None is infinite."""
    epsilon, delta = guarantee["items_epsilon"], guarantee["items_delta"]
    held = (
        "nothing is promised"
        if epsilon is None
        else f"whatever such a user holds, no outcome is more than e^{epsilon:g} times as likely, up to {delta:g}"
    )
    return f"level {guarantee['level']:g}: {held} ({guarantee['kind']})"


def users_by_level(levels: Sequence[Level], users: Transactions) -> tuple[tuple[float, int], ...]:
    """Users of every level: as given, as shares, or as the data say."""
    if users.levels is not None and all(count is None for _, count in levels):
        held = [int((users.levels == number).sum()) for number in range(len(levels))]
        return tuple((level, count) for (level, _), count in zip(levels, held, strict=True))
    return counted(levels, users.n_users)


def top_items(found: dict[str, Any], k: int) -> str:
    """The most frequent items of the data: true share, what cutting leaves of it, estimate; and their mean error."""
    true, sent, estimate = found["frequencies"], found["frequencies_sent"], found["estimate"]
    order = sorted(range(len(true)), key=lambda item: -true[item])
    top = [item for item in order[:k] if true[item] > 0]
    guessed = set(sorted(range(len(true)), key=lambda item: -estimate[item])[: len(top)])
    width = min(max([len(found["items"][item]) for item in top] + [4]), 32)
    head = f"{'item':<{width}}  {'true %':>8}  {'sent %':>8}  {'estimate %':>10}  {'+/-':>7}"
    rows = [
        f"{found['items'][item][:width]:<{width}}  {100 * true[item]:8.3f}  {100 * sent[item]:8.3f}  "
        f"{100 * estimate[item]:10.3f}  {100 * found['standard_error'][item]:7.2g}"
        for item in top
    ]
    error = _mean([abs(estimate[item] - true[item]) / true[item] for item in top])
    cut = _mean([abs(sent[item] - true[item]) / true[item] for item in top])
    return "\n".join(
        [
            head,
            *rows,
            "true: users of the file who hold the item; sent: after cutting to set_size; +/-: one standard deviation",
            f"mean error of the top {len(top)}: {error:.2%} of the true share; from cutting alone: {cut:.2%}",
            f"of the true top {len(top)}, {len(guessed & set(top))} are among the estimated top {len(top)}",
        ]
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / max(len(values), 1)
