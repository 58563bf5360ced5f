"""The options of every command that reads a file of one's own, and what is made of them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from segshuffle.cli.terminal import complain, integer, seldom
from segshuffle.datasets.layout import OPTIONS, Layout

if TYPE_CHECKING:
    from segshuffle.datasets.transactions import Transactions

_METAVARS = {"user": "NAME", "item": "NAME", "level": "NAME", "separator": "CHARACTER", "skip_lines": "LINES"}


def add_file(parser: argparse.ArgumentParser) -> None:
    """Add the file and how it is laid out."""
    parser.add_argument(
        "file",
        nargs="?",
        help="who holds what: csv, tsv, jsonl or parquet with a row per user and item (or per user), or text with one "
        "line per user; also packed by gzip or zstd; - is standard input",
    )
    asked = parser.add_argument_group("how to read the file")
    asked.add_argument(
        "--items",
        type=Path,
        metavar="FILE",
        help="public list of all items, one per line; without it and --domain-size the items are those of the file, "
        "which is not private",
    )
    asked.add_argument(
        "--domain-size", type=integer, metavar="D", help="number of items d (>= 2): the items are the integers 0..d-1"
    )
    for name, rules in OPTIONS.items():
        if name == "header":
            about = "the first line of csv or tsv is data, not names of columns"
            asked.add_argument("--no-header", dest="header", action="store_false", help=about)
            continue
        default = rules["default"]
        asked.add_argument(
            _flag(name),
            type=integer if name == "skip_lines" else str,
            choices=[each for each in rules["enum"] if each] if "enum" in rules else None,
            default=default,
            metavar=_METAVARS.get(name),
            help=rules["description"] + ("" if default is None else f" (default {default})"),
        )


def _flag(name: str) -> str:
    return f"--{name}-column" if name in ("user", "item", "level") else "--" + name.replace("_", "-")


def read_users(options: argparse.Namespace, levels: Sequence[float]) -> Transactions:
    """Read the file as asked; what was done about odd lines is said on standard error, and so is progress."""
    from segshuffle.datasets.reading import read_transactions

    given = {name: getattr(options, _flag(name)[2:].replace("-", "_")) for name in OPTIONS if name != "header"}
    users = read_transactions(
        options.file,
        items=options.items,
        domain_size=options.domain_size,
        levels=levels,
        layout=Layout(**given, header=options.header),
        progress=seldom("{:,} rows read".format),
    )
    for note in users.notes:
        complain(f"{users.label}: {note}")
    return users
