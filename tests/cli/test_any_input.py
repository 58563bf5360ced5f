"""Any value of any option, and any content of any file: an answer, or one sentence about what is wrong, and in time."""

import contextlib
import copy
import functools
import gzip
import hashlib
import importlib
import io
import json
import math
import os
import random
import re
import resource
import signal
from argparse import ArgumentTypeError
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import requests
from commands import refusal, run, words_of

from segshuffle.cli import build_parser, main
from segshuffle.collection.planning.what_if import VARIED
from segshuffle.errors import SegshuffleError

#: Seconds of a processor for one command, and the memory that it may take more, in bytes.
PATIENCE, ROOM = 20, 10**9
#: Seconds for one command that waits, or that has to share the processor.
WAITED = 3 * PATIENCE
TIMERS = {signal.SIGPROF: signal.ITIMER_PROF, signal.SIGALRM: signal.ITIMER_REAL}
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
        "--items 6 --set-size 2 --levels 1:300 --delta 1e-4 --dummies published --blanket-per-user 5",
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
def bounded():
    """Stop what takes too long, and let memory end after 1 GB more."""

    def late(*_):
        pytest.fail(f"takes more than {PATIENCE} seconds of a processor, or {WAITED} seconds")

    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + ROOM, hard))
    for timer, seconds in ((signal.SIGPROF, PATIENCE), (signal.SIGALRM, WAITED)):
        signal.signal(timer, late)
        signal.setitimer(TIMERS[timer], seconds)
    try:
        yield
    finally:
        for timer in TIMERS.values():
            signal.setitimer(timer, 0)
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def unreachable(*_, **__):
    raise requests.ConnectionError


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """Return the contents of a plan and of a user's account with it."""
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()):
        patch.chdir(tmp_path_factory.mktemp("published"))
        for asked in (f"plan {CALLS['plan'][1]} --save plan.json", f"client {CALLS['client'][0]}"):
            assert main(words_of(asked)) == 0
        return {name: Path(name).read_bytes() for name in ("plan.json", "mine.json")}


@pytest.fixture
def folder(published, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("requests.get", unreachable)
    monkeypatch.setattr("time.sleep", lambda _: None)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"1\n2\n"), encoding="utf-8"))
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
    Path("link").symlink_to("nowhere")
    os.mkfifo("pipe")
    monkeypatch.setattr("segshuffle.files.PATIENCE", 0.01)
    for name, content in published.items():
        Path(name).write_bytes(content)
    return tmp_path


def check(capsys, asked):
    with bounded():
        status, _, err = run(capsys, asked)
    assert status in (0, 2), (asked, err)
    assert "Traceback" not in err, (asked, err)
    # an error may name a file and where it was looked for
    assert len(err) < 2000 + 3 * max(map(len, asked)), asked
    if status == 2:
        assert any(line.startswith("segshuffle") for line in err.splitlines()), (asked, err)


#: Edges of what any option may be given, and forms in which a number is written.
_EDGES = """
nan inf -inf 5e-324 1e-300 1e15 1e18 1e300 -1 0 1 2 0.5 zero link pipe users.csv plan.json x.csv x.png
"""
_FORMS = "{} {} {} 1:{} {}:100 {}:100% 0.5:{},1:9 {},2 1..{}/3 zipf:{} {}% parallel:{},1"
EDGES, FORMS = _EDGES.split(), _FORMS.split()


@functools.cache
def declared(command):
    return [each for each in build_parser(command).commands[command]._actions if each.dest not in ("help", "h")]


def taken(action, rng):
    """Return a value that an option takes, by its declaration: one of its choices, or what its type reads."""
    if action.choices:
        return rng.choice([*action.choices])
    while True:
        value = rng.choice(FORMS).format(rng.choice(EDGES)) if rng.random() < 0.9 else rng.choice(VALUES)
        with contextlib.suppress(ValueError, OverflowError, ArgumentTypeError, SegshuffleError):
            (action.type or str)(value)
            return value


def width(action):
    """Return the number of values of an option."""
    return action.nargs if isinstance(action.nargs, int) else 1


def give(words, action, values):
    """Add an option with its values to a command line, or replace what stands first on it."""
    if action.dest == "what_if":
        values = [VARIED[len(words) % len(VARIED)], *values[1:]]
    if not action.option_strings:
        words[1] = values[0]
    elif len(values) == 1:
        words.append(f"{action.option_strings[0]}={values[0]}")
    else:
        words += [action.option_strings[0], *values]


def changed_call(rng):
    """Return a call with odd values of one or two options; which options there are is asked of the parser."""
    command = rng.choice([*CALLS])
    words = [command, *rng.choice(CALLS[command]).split()]
    for action in rng.choices(declared(command), k=rng.choice([1, 1, 2])):
        give(words, action, [taken(action, rng) for _ in range(width(action))])
    return words


#: Cases, and command lines in each that pass the parser: 20,000 in all.
CASES, LINES = 200, 100


@pytest.mark.quick("126", "136")
@pytest.mark.parametrize("seed", range(CASES))
def test_any_value_of_an_option_is_answered_or_refused(folder, capsys, monkeypatch, seed):
    print(f"seed {seed}")
    rng, passed = random.Random(seed), []
    for command in CALLS:
        module = importlib.import_module(f"segshuffle.cli.{command.replace('-', '_')}")
        known = module.run
        monkeypatch.setattr(module, "run", lambda options, known=known: passed.append(options) or known(options))
    while len(passed) < LINES:
        check(capsys, changed_call(rng))


#: What every option is given once: nothing, numbers at the ends, a device, a link to nothing, and a pipe.
ENDS = ["", "nan", "inf", "5e-324", "1e15", "zero", "link", "pipe"]


@pytest.mark.quick("fetch-msnbc")
@pytest.mark.parametrize("command", CALLS)
def test_every_option_is_given_every_edge(folder, capsys, command):
    for action in declared(command):
        for value in ENDS:
            words = [command, *CALLS[command][0].split()]
            give(words, action, [value] * width(action))
            check(capsys, words)


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


#: Values that replace one in a file of JSON.
ODD = [
    math.nan,
    math.inf,
    5e-324,
    1e15,
    1e300,
    -1,
    0,
    1,
    True,
    None,
    "",
    "1",
    "nan",
    [],
    [[]],
    {},
    10**30,
    ["a", "a"],
    0.1,
]


def with_odd_values(rng, content):
    """Replace one or two values of a file of JSON, at any depth; a digest is renewed, as whoever publishes it can."""
    whole = json.loads(content)
    for _ in range(rng.choice([1, 1, 2])):
        part, place = {"": whole}, ""
        while isinstance(part[place], dict | list) and part[place] and (place == "" or rng.random() < 0.9):
            part = part[place]
            place = rng.choice([*part] if isinstance(part, dict) else range(len(part)))
        part[place] = copy.deepcopy(rng.choice(ODD))
    if "digest" in whole:
        rest = json.dumps({name: each for name, each in whole.items() if name != "digest"})
        written = json.dumps(json.loads(rest), sort_keys=True, separators=(",", ":"))
        whole["digest"] = hashlib.sha256(written.encode()).hexdigest()
    return json.dumps(whole).encode()


@pytest.mark.quick(2)
@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("name", ["plan.json", "mine.json"])
def test_a_file_with_odd_values_is_read_or_refused(folder, capsys, name, seed):
    rng = random.Random(seed)
    content = (folder / name).read_bytes()
    for _ in range(30):
        (folder / name).write_bytes(with_odd_values(rng, content))
        check(capsys, FILES[name].split())


@pytest.mark.quick(13)
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_is_read_or_refused(folder, capsys, name, seed):
    rng = random.Random(seed)
    content = (folder / name).read_bytes()
    for _ in range(10):
        (folder / name).write_bytes(damaged(rng, content))
        check(capsys, FILES[name].split())


#: Files of text, with commands that read them.
TEXTS = {name: asked for name, asked in FILES.items() if not name.endswith((".parquet", ".gz", ".npy"))}
TEXTS["held"] = "client plan.json --items held --level 1 --sets exactly --delta 1e-3 --account mine.json"


@pytest.mark.parametrize(("encoding", "says"), [("utf-16", "this is text in UTF-16"), ("latin1", "iconv -f latin1")])
def test_a_text_in_another_encoding_is_refused_by_the_name_of_the_encoding(folder, capsys, encoding, says):
    (folder / "held").write_text("1\n", encoding="utf-8")
    # those of numbers alone are no text in Latin-1 either
    for name in TEXTS.keys() - ({"messages", "counts"} if encoding == "latin1" else set()):
        kept = (folder / name).read_text(encoding="utf-8")
        (folder / name).write_bytes(f"{kept}\xe9\n".encode(encoding))
        said = refusal(capsys, TEXTS[name])
        assert name in said, said
        assert says in said, said
        (folder / name).write_text(kept, encoding="utf-8")


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
