"""Any value of any option, and any content of any file: an answer, or one sentence about what is wrong, and in time."""

import contextlib
import gzip
import os
import random
import re
import signal
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import requests
from commands import printed, run

from segshuffle.cli import build_parser
from segshuffle.planning.what_if import VARIED

#: Seconds for one command.
PATIENCE = 60
PLAIN = """
-1 0 1 2 3 0.5 1e-300 5e-324 1e8 1e15 1e18 1e300 1e309 nan inf -inf 1e-12 0x1 1_0 १ +1
1,2 1,,2 , 1:1 1: :1 1:1:1 1% 1:100% 0:100% 1:1e15 0.5:50%,1:50%@1e15 1..2 0..1 1..1e300 a=b = :
-- - . / nowhere/x zero users.csv matrix.npy zipf:1 zipf:nan 10% % best auto yes drop joint: x.csv x.png
krr krr:domain-size=1e400 krr:domain-size= matrix:zero budgets:nan:10 segmentedx laplace:
"""
LONG = ["", 300 * "x", 5000 * "9", "a\0b", "\ud800", "\n", 'a\nb,"', '"a', 50 * "[", "é"]
VALUES = [*PLAIN.split(), *LONG]
#: Command -> a call that is answered quickly.
CALLS = {
    "plan": [
        "collection.toml --delta 1e-4",
        "--items 6 --set-size 2 --levels 1:300 --delta 1e-4",
        "--items 6 --set-size 2 --levels 1:300 --delta 1e-4 --blanket published --blanket-per-user 5",
    ],
    "rehearse": [
        "users.csv --items 6 --levels 1:100% --delta 1e-3 --set-size 1,2",
        "1:50%,2:50% --items 6 --levels 1:300 --delta 1e-4",
    ],
    "client": ["plan.json --items 1,2 --level 1 --honest-users 300 --sets exactly --delta 1e-3 --account mine.json"],
    "estimate": ["plan.json messages --anyway"],
    "account": [
        "--randomizer krr:domain-size=3 --local-epsilon 1 --users 10 --delta 0.1",
        "--randomizer segmented:domain-size=6,blanket-per-user=3,sampling-rate=.5 --users 50 --epsilon 1",
        "--randomizer pure-dump:domain-size=3 --blanket-messages 1e3 --delta 0.1",
        "--randomizer matrix:matrix.csv --users 10 --delta 0.1",
    ],
    "fetch-msnbc": ["x.gz"],
}
FILES = {
    "users.csv": "rehearse users.csv --items 6 --levels 1:100% --delta 1e-3 --set-size 1,2",
    "users.jsonl": "rehearse users.jsonl --items 6 --levels 1:100% --delta 1e-3 --set-size 1,2",
    "users.parquet": "rehearse users.parquet --items 6 --levels 1:100% --delta 1e-3 --set-size 1,2",
    "users.txt.gz": "rehearse users.txt.gz --items 6 --levels 1:100% --delta 1e-3 --set-size 1,2",
    "items": "plan --items items --set-size 2 --levels 1:300 --delta 1e-4",
    "guess": "plan --items 6 --set-size 2 --levels 1:300 --delta 1e-4 --guess guess",
    "plan.json": "estimate plan.json messages --anyway",
    "messages": "estimate plan.json messages --anyway",
    "counts": "estimate plan.json counts --anyway",
    "mine.json": "client plan.json --items 1,2 --level 1 --sets exactly --delta 1e-3 --budget 9 --account mine.json",
    "collection.toml": "plan collection.toml",
    "matrix.csv": "account --randomizer matrix:matrix.csv --users 10 --delta 0.1",
    "matrix.npy": "account --randomizer matrix:matrix.npy --users 10 --delta 0.1",
}
INSERTED = [b"", b"\0", b"\xff", b'"', b"[" * 10_000, b"{", b"9" * 5000, b"nan", b"1e400", b"-1", b",", b"\r", b"null"]


@contextlib.contextmanager
def in_time():
    def late(*_):
        pytest.fail(f"takes more than {PATIENCE} seconds")

    signal.signal(signal.SIGALRM, late)
    signal.alarm(PATIENCE)
    try:
        yield
    finally:
        signal.alarm(0)


def unreachable(*_, **__):
    raise requests.ConnectionError


@pytest.fixture
def folder(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("requests.get", unreachable)
    monkeypatch.setattr("time.sleep", lambda _: None)
    held = [(user, item) for user in range(60) for item in {user % 6, user % 4}]
    table = pl.DataFrame(held, schema=["user", "item"], orient="row")
    table.write_csv("users.csv")
    table.write_ndjson("users.jsonl")
    table.write_parquet("users.parquet")
    Path("users.txt.gz").write_bytes(gzip.compress(60 * b"1 2 3\n"))
    Path("items").write_text("tea\nmilk\nbread\nrice\nsalt\noil\n", encoding="utf-8")
    asked = 'items = 6\nset_size = 2\nlevels = "1:300"\ndelta = 1e-4\nequal_copies = true\nsizes = "1:50%,3:50%"\n'
    Path("collection.toml").write_text(asked, encoding="utf-8")
    Path("guess").write_text("0.5,0.5,0.25,0.25\n0.25,0.25\n", encoding="utf-8")
    Path("messages").write_text("1\n2\n3\n", encoding="utf-8")
    Path("counts").write_text("item,count\n" + "".join(f"{i},{i}\n" for i in range(6)), encoding="utf-8")
    Path("matrix.csv").write_text("0.5,0.5\n1/4,3/4\n", encoding="utf-8")
    np.save("matrix.npy", np.array([[0.5, 0.5], [0.25, 0.75]]))
    Path("zero").symlink_to("/dev/zero")
    for asked in (f"plan {CALLS['plan'][1]} --save plan.json", f"client {CALLS['client'][0]}"):
        printed(capsys, asked)
    return tmp_path


def check(capsys, asked):
    with in_time():
        status, _, err = run(capsys, asked)
    assert status in (0, 2), (asked, err)
    assert "Traceback" not in err, (asked, err)
    # an error may name a file and where it was looked for
    assert len(err) < 2000 + 3 * max(map(len, asked)), asked
    if status == 2:
        assert any(line.startswith("segshuffle") for line in err.splitlines()), (asked, err)


def changed_call(rng):
    """Return a call with odd values of one or two options; which options there are is asked of the parser."""
    command = rng.choice([*CALLS])
    words = [command, *rng.choice(CALLS[command]).split()]
    flags = build_parser(command).commands[command].flags
    for flag in rng.sample(["", *flags], rng.choice([1, 1, 2])):
        value = rng.choice(VALUES)
        if not flag:
            words[1] = value
        elif flag == "--what-if":
            words += [flag, rng.choice(VARIED), value]
        else:
            words += rng.choice([[flag, value], [f"{flag}={value}"], [flag]])
    return words


@pytest.mark.quick(5)
@pytest.mark.parametrize("seed", range(100))
def test_any_value_of_an_option_is_answered_or_refused(folder, capsys, seed):
    rng = random.Random(seed)
    for _ in range(20):
        check(capsys, changed_call(rng))


def test_an_option_with_an_empty_list_of_values_is_refused(folder, capsys):
    for command, parser in build_parser().commands.items():
        for flag in parser.flags[1:]:
            said = run(capsys, [command, *CALLS[command][0].split(), f"{flag}=--"])[2]
            # some options take no value, or two
            assert re.search("'--' is not allowed as a value|ignored explicit argument|expected 2 arguments", said)


def damaged(rng, content):
    """Cut bytes out and put others in, at one or two places."""
    for _ in range(rng.choice([1, 1, 2])):
        begin = rng.randrange(len(content) + 1)
        end = min(begin + rng.choice([0, 0, 1, 3, 10**6]), len(content))
        content = content[:begin] + rng.choice(INSERTED) + content[end:]
    return content


@pytest.mark.quick(24)
@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_is_read_or_refused(folder, capsys, name, seed):
    rng = random.Random(seed)
    content = (folder / name).read_bytes()
    for _ in range(5):
        (folder / name).write_bytes(damaged(rng, content))
        check(capsys, FILES[name].split())


@pytest.mark.parametrize("name", FILES)
def test_a_file_without_an_end_is_refused(folder, capsys, name):
    (folder / name).unlink()
    (folder / name).symlink_to("/dev/zero")
    check(capsys, FILES[name].split())


@pytest.mark.parametrize("name", FILES)
def test_a_pipe_to_which_nothing_writes_is_refused(folder, capsys, monkeypatch, name):
    monkeypatch.setattr("segshuffle.files.PATIENCE", 0.05)
    (folder / name).unlink()
    os.mkfifo(folder / name)
    says = "it is no regular file" if name == "mine.json" else "no program writes to it"
    assert says in run(capsys, FILES[name])[2]
