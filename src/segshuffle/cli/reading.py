"""The options of every command that reads a file of one's own, and what is made of them."""

from __future__ import annotations

import argparse
import contextlib
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from segshuffle.cli.terminal import complain, integer
from segshuffle.datasets.layout import ABOUT, CHOICES, FORMATS, FORMS, Layout

if TYPE_CHECKING:
    from segshuffle.datasets.transactions import Transactions

#: Seconds between two lines that say how far the reading is.
_EVERY = 2.0


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
    asked.add_argument("--format", choices=FORMATS, help=ABOUT["format"])
    asked.add_argument("--form", choices=FORMS, help=ABOUT["form"])
    for name in ("user", "item", "level"):
        asked.add_argument(f"--{name}-column", metavar="NAME", help=ABOUT[name])
    asked.add_argument("--separator", metavar="CHARACTER", help=ABOUT["separator"])
    asked.add_argument(
        "--no-header", action="store_true", help="the first line of csv or tsv is data, not names of columns"
    )
    asked.add_argument(
        "--skip-lines", type=integer, default=0, metavar="LINES", help=ABOUT["skip_lines"] + " (default 0)"
    )
    for name, choices in CHOICES.items():
        asked.add_argument(
            f"--{name}", choices=choices, default=choices[0], help=f"{ABOUT[name]} (default {choices[0]})"
        )


def read_users(options: argparse.Namespace, levels: Sequence[float]) -> Transactions:
    """Read the file as asked; what was done about odd lines is said on standard error, and so is progress."""
    from segshuffle.datasets.files.reading import read_transactions

    layout = Layout(
        format=options.format,
        form=options.form,
        user=options.user_column,
        item=options.item_column,
        level=options.level_column,
        separator=options.separator,
        header=not options.no_header,
        skip_lines=options.skip_lines,
        repeated=options.repeated,
        empty=options.empty,
        unknown=options.unknown,
    )
    users = read_transactions(
        options.file,
        items=options.items,
        domain_size=options.domain_size,
        levels=levels,
        layout=layout,
        progress=_progress(),
    )
    for note in users.notes:
        complain(f"{users.label}: {note}")
    return users


def _progress() -> Callable[[int, float | None], None]:
    """A line every few seconds on a terminal; nothing for files that are read at once."""
    last = time.monotonic()

    def say(rows: int, share: float | None) -> None:
        nonlocal last
        if time.monotonic() - last < _EVERY:
            return
        last = time.monotonic()
        known = "" if share is None else f", {share:.0%} of the file"
        with contextlib.suppress(OSError, ValueError, AttributeError):
            print(f"{rows:,} rows read{known}", file=sys.stderr, flush=True)

    return say
