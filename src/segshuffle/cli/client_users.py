"""Many users of one file, for `client --users`: reading them, and drawing and printing their messages."""

from __future__ import annotations

import hashlib
from argparse import Namespace
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING

from segshuffle.cli.client_account import Answer, counted
from segshuffle.cli.options import users_of
from segshuffle.cli.terminal import complain, seldom, write
from segshuffle.errors import DataError, OptionsError
from segshuffle.files import unreadable, writing

if TYPE_CHECKING:
    from segshuffle.arrays import Numbers
    from segshuffle.collection.messages import Demand
    from segshuffle.collection.planning.documents import Document
    from segshuffle.datasets.own.transactions import Transactions
    from segshuffle.plans.scheme import Scheme

#: Bytes that are read at a time.
_BLOCK = 2**20


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


def draw_all(
    users: Transactions, levels: Numbers, scheme: Scheme, demands: Mapping[int, Demand], path: Path
) -> tuple[int, str]:
    """Draw the messages of all users into a file, readable by its owner only; return their number and digest."""
    from segshuffle.collection.messages import send_all

    def one_by_one() -> Iterator[tuple[list[int], int]]:
        said, ends = seldom("{:,} users have sent".format), users.offsets.tolist()
        for user, level in enumerate(levels.tolist()):
            said(user)
            yield users.codes[ends[user] : ends[user + 1]].tolist(), level

    with writing(path, private=True) as temporary:
        with temporary.open("w", encoding="ascii") as file:
            file.writelines(send_all(one_by_one(), scheme, demands))
        with temporary.open("rb") as written:
            return counted(_blocks(written))


def print_all(path: Path, answer: Answer, named: str) -> None:
    """Print the line that names the collection and a file of messages; exit if they cannot be written.

    Raises
    ------
    DataError
        If the messages are not those of the answer; nothing is printed then.
    """
    try:
        with path.open("rb") as file:
            present, digest = counted(_blocks(file))
            if digest != answer.sha256:
                raise DataError(
                    f"{path}: does not have the {answer.n_messages} messages that were drawn, but {present} or others. "
                    "Nothing is printed. Restore the file from a copy: new messages about the same items would reveal "
                    "more than was paid for."
                )
            file.seek(0)
            lines = [named.encode("ascii")]
            while lines:
                if status := write("segshuffle client", b"".join(lines).decode("ascii").removesuffix("\n")):
                    raise SystemExit(status)
                lines = file.readlines(_BLOCK)
    except OSError as error:
        raise unreadable(path, error) from error


def _blocks(file: IO[bytes]) -> Iterator[bytes]:
    return iter(lambda: file.read(_BLOCK), b"")
