"""Many users of one file, for `client --users`: reading them, and drawing and printing their messages."""

from __future__ import annotations

import hashlib
from argparse import Namespace
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from segshuffle.cli.options import users_of
from segshuffle.cli.terminal import complain, seldom, write
from segshuffle.errors import OptionsError
from segshuffle.files import unreadable, writing

if TYPE_CHECKING:
    from segshuffle.arrays import Numbers
    from segshuffle.datasets.transactions import Transactions
    from segshuffle.planning.documents import Document
    from segshuffle.protocols.messages import Demand
    from segshuffle.protocols.scheme import Scheme


def users_and_levels(options: Namespace, document: Document) -> tuple[Transactions, Numbers]:
    """Read the users of the file and the number of the level of each, and say what is odd about them."""
    import numpy as np

    problem = document.plan.problem
    if options.level is not None and options.level_column is not None:
        raise OptionsError("Give either --level (one for all users of the file) or --level-column.")
    users = users_of(options, options.users, document.items or problem.domain_size, problem.levels)
    notes, long = [*users.notes], int((users.sizes > problem.set_size).sum())
    if long:
        notes.append(f"{long:,} users hold more than {problem.set_size} items; they send a random choice.")
    for note in notes:
        complain(f"segshuffle client: only for those who may know these data: {note}")
    if users.levels is not None:
        return users, users.levels
    return users, np.full(users.n_users, problem.levels.index(options.level), np.int16)


def digest(users: Transactions, levels: Numbers) -> str:
    """Return a digest of what the users hold and of their levels."""
    parts = (users.offsets, users.codes, levels)
    return hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()


def draw_all(users: Transactions, levels: Numbers, scheme: Scheme, demands: Mapping[int, Demand], path: Path) -> None:
    """Draw the messages of all users into a file, readable by its owner only."""
    from segshuffle.protocols.messages import send_all

    def one_by_one() -> Iterator[tuple[list[int], int]]:
        said, ends = seldom("{:,} users have sent".format), users.offsets.tolist()
        for user, level in enumerate(levels.tolist()):
            said(user)
            yield users.codes[ends[user] : ends[user + 1]].tolist(), level

    with writing(path, private=True) as temporary, temporary.open("w", encoding="ascii") as file:
        file.writelines(send_all(one_by_one(), scheme, demands))


def print_all(path: Path, named: str) -> None:
    """Print the line that names the collection and a file of messages; exit if they cannot be written."""
    try:
        with path.open(encoding="ascii") as file:
            lines = [named]
            while lines:
                if status := write("segshuffle client", "".join(lines).removesuffix("\n")):
                    raise SystemExit(status)
                lines = file.readlines(2**20)
    except OSError as error:
        raise unreadable(path, error) from error
