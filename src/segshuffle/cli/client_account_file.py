"""Where a user's account is, its lock, and reading it: nothing in the file is believed that no client writes."""

from __future__ import annotations

import contextlib
import fcntl
import glob
import json
import os
import re
import time
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, get_args

from segshuffle.cli.client_account import HEAD, Account, Answer, Entry, counted
from segshuffle.cli.terminal import complain
from segshuffle.errors import DataError, OptionsError
from segshuffle.files import read_text
from segshuffle.numerics.ranges import check_choice, check_integer, check_kind, check_within
from segshuffle.numerics.typed import typed
from segshuffle.plans.plan import MOST_ROUNDS, SetKind

_LARGEST = 2**26


def default_path() -> Path:
    """Return the default path of the file."""
    state = os.environ.get("XDG_STATE_HOME")
    if state and Path(state).is_absolute():
        return Path(state) / "segshuffle/client.json"
    try:
        return Path.home() / ".local/state/segshuffle/client.json"
    except RuntimeError:
        raise OptionsError("This user has no home folder for the account: give --account FILE.") from None


def resolved(path: Path) -> Path:
    """Return the file that a path means, through all links; its folder is made if it is missing.

    Raises
    ------
    DataError
        If links lead nowhere, or it is no file with one name: an account with two names would become two accounts.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        exists = path.is_symlink() or path.exists()  # neither takes a name that is too long
        target = path.resolve(strict=exists)
        if exists and not (target.is_file() and target.stat().st_nlink == 1):
            raise OSError("it is no regular file, or it has another name, too, as a hard link")
    except (OSError, ValueError, RuntimeError) as error:  # before Python 3.13 a loop of links is a RuntimeError
        raise _unusable(path, error) from error
    return target


def _unusable(path: Path, error: Exception) -> DataError:
    return DataError(f"{path}: cannot be used ({error}). Name another file with --account.")


@contextlib.contextmanager
def opened(path: Path) -> Iterator[Account]:
    """Open the account with a `resolved` path; a second program waits until the first is done, and says so.

    What a killed program left unfinished is removed: messages of many users in their order are nobody's business.

    Raises
    ------
    DataError
        If the file is not an account, or its folder cannot be used.
    """
    try:
        folder = os.open(path.parent, os.O_RDONLY)
    except OSError as error:
        raise _unusable(path, error) from error
    try:
        _lock(folder, path)
        for left in path.parent.glob(f".{glob.escape(path.name)}.*.part"):
            left.unlink(missing_ok=True)
        yield _read(path) if path.exists() else Account(path)
    finally:
        os.close(folder)


def _lock(folder: int, path: Path) -> None:
    """Lock a folder; who waits for more than a second learns for which process."""
    try:
        for _ in range(20):
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            time.sleep(0.05)
        complain(f"segshuffle client: waiting for {_holder(folder)}, which uses an account in the folder {path.parent}")
        fcntl.flock(folder, fcntl.LOCK_EX)
    except OSError as error:  # a file system without locks
        raise _unusable(path, error) from error


def _holder(folder: int) -> str:
    """Name the process that holds the lock of a folder, where the system tells."""
    status = os.fstat(folder)
    place = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"
    with contextlib.suppress(OSError):  # only Linux has this list
        for line in Path("/proc/locks").read_text(encoding="ascii").splitlines():
            _, kind, *_, process, locked, _, _ = line.split()
            if (kind, locked) == ("FLOCK", place):
                return f"process {process}"
    return "another process"


def _read(path: Path) -> Account:
    text = read_text(path, limit=_LARGEST)
    try:
        values = _fields(json.loads(text), Account, *HEAD)
        for name, known in HEAD.items():
            if repr(given := values.pop(name)) != repr(known):  # True is no version
                raise ValueError(f"{name} = {given!r:.30} must be {known!r}")
        check_kind("collections", values["collections"], list)
        collections = [_entry(each) for each in values.pop("collections")]
        account = Account(path, collections=collections, **values)
        check_integer("honest_users", account.honest_users, 1)
        _check_guarantee("budget", account.budget, 0.0, 1e6)
        if account.level_budget != "no":
            _check_guarantee("level_budget", account.level_budget, 0.0, 1e6)
    except (ValueError, RecursionError) as error:
        raise DataError(
            f"{path}: is not the file of a client ({str(error).rstrip('.')[:150]}). Nothing is sent, because what was "
            "spent is not known. Repair the file, or name another one with --account."
        ) from None
    return account


def _entry(values: Any) -> Entry:
    """Return an entry of the file; refuse what no client writes."""
    entry = typed(Entry)(**_fields(values, Entry))
    _check_digest("plan", entry.plan)
    check_within("level", entry.level, 0, 100, "(]")
    check_choice("sets", entry.sets, get_args(SetKind))
    check_integer("rounds", entry.rounds, 1, most=MOST_ROUNDS)
    check_integer("sent", entry.sent, 1, most=entry.rounds)
    _check_guarantee("items_spent", entry.items_spent, entry.level, 100.0)
    _check_guarantee("level_spent", entry.level_spent, 0.0, 100.0)
    answers = [_answer(each) for each in entry.answers]
    if not len(answers) == len({answer.collection for answer in answers}) == entry.sent:
        raise ValueError(f"answers must be to {entry.sent} different collections")
    return replace(entry, answers=answers)


def _answer(values: Any) -> Answer:
    answer = typed(Answer)(**_fields(values, Answer))
    check_integer("collection", answer.collection, 1)
    for item in answer.items:
        check_integer("items", item, 0)
    check_integer("n_messages", answer.n_messages, 0)
    _check_digest("sha256", answer.sha256)
    if answer.users is not None:
        _check_digest("users", answer.users)
    elif counted([answer.messages.encode()]) != (answer.n_messages, answer.sha256):
        raise ValueError("messages are not those that were sent: n_messages and sha256 tell")
    return answer


def _fields(values: Any, kind: type, *more: str) -> dict[str, Any]:
    """Return an object of the file if it has the fields of a class and no others."""
    names = {*more, *(each.name for each in fields(kind))} - {"path"}
    if not isinstance(values, dict) or set(values) != names:
        raise ValueError(f"{values!r:.40} must be an object with the keys {', '.join(sorted(names))}")
    return values


def _check_guarantee(name: str, values: Any, least: float, most: float) -> None:
    """Refuse anything but an epsilon in this range, and a delta."""
    if not isinstance(values, list) or len(values) != 2:
        raise ValueError(f"{name} = {values!r:.40} must be an epsilon and a delta")
    check_within(name, values[0], least, most)
    check_within(name, values[1], 0, 1)


def _check_digest(name: str, value: str) -> None:
    if not re.fullmatch("[0-9a-f]{64}", value):
        raise ValueError(f"{name} = {value!r:.40} must be a SHA-256 digest")
