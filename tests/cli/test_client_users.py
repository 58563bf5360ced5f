"""Many users of one file as one client: every user is checked, all pay once, and the messages are kept."""

import json
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from commands import run

from segshuffle.collection.planning.documents import save_plan
from segshuffle.plans.plan import Assumptions, Problem
from segshuffle.protocols.proven import ProvenSegmented


@pytest.fixture
def published(tmp_path):
    problem = Problem(17, 4, (0.5, 1.0, 2.0), (1250, 2500, 1250), 2e-6, Assumptions("exactly", private_levels=True))
    save_plan(ProvenSegmented(blanket_per_user=0.46).plan(problem), tmp_path / "plan.json")
    return tmp_path / "plan.json"


def many(plan, options="", text="user,item,level\na,0,0.5\nb,1,2.0\nc,2,2.0\n"):
    """Return the command for the users of a file, beside the plan."""
    (plan.parent / "users.csv").write_text(text)
    own = "" if "--level" in options else "--level-column level"
    return f"client {plan} --users {plan.parent}/users.csv {own} --account {plan.parent}/all.json {options}".split()


def refused(capsys, asked):
    """Check that a command refuses, after it may have said how the file was read, and return the reason."""
    status, out, err = run(capsys, asked)
    assert (status, out) == (2, "")
    return err.splitlines()[-1]


def test_many_users_pay_once_and_their_messages_are_kept(published, capsys):
    """An account of many users has the largest epsilons of any of them; the same call prints the same messages."""
    held = "user,item,level\na,0,0.5\nb,1,2.0\n" + "".join(f"c,{item},2.0\n" for item in range(5))
    status, first, said = run(capsys, many(published, "--honest-users 5000", text=held))
    assert (status, bool(first)) == (0, True)
    notes = [line.partition(": ")[2] for line in said.splitlines()]
    assert notes.pop(0).endswith(
        ", header, form long, users in column 'user', items in column 'item', levels in column "
        "'level': 3 users, 17 items, at most 5 of them held by one user."
    )
    assert (
        notes[0] == "only for those who may know these data: 1 users hold more than 4 items; they send a random choice."
    )
    assert notes[1].startswith("the file has 3 users, and the guarantee relies on 5,000 (--honest-users)")
    assert "all.json is a new account" in notes[2]
    mix = "must be mixed before anybody who is not trusted sees them: sort messages.txt > mixed.txt"
    assert notes[-1].endswith(mix)
    (entry,) = json.loads((published.parent / "all.json").read_text())["collections"]
    assert (entry["level"], entry["items_spent"][0], entry["level_spent"][0]) == (2.0, 2.0, 2.0)
    status, again, said = run(capsys, many(published, text=held))
    assert (status, again) == (0, first)
    assert "nothing more is spent" in said
    assert mix in said
    assert "new account" not in said
    (kept,) = published.parent.glob("*.messages")
    assert kept.stat().st_mode & 0o077 == 0
    # one user more, or another level, is another answer; another collection exceeds the budget
    for text in ("user,item,level\na,0,0.5\nb,1,2.0\n", "user,item,level\na,0,2.0\nb,1,2.0\nc,2,2.0\n"):
        assert "answered already" in refused(capsys, many(published, text=text))
    assert "--budget is 2" in refused(capsys, many(published, "--collection 2"))
    kept.unlink()
    assert ".messages: cannot be read" in run(capsys, many(published, text=held))[2]


@pytest.mark.parametrize(
    ("options", "text", "says"),
    [
        ("--level 0.5 --level-column level", None, "Give either --level"),
        ("", "user,item\na,0\n", "--level-column 'level': there is no such column"),
        ("--level 1", "who,what\na,0\n", "Give --item COLUMN, and --user COLUMN unless it is the only other"),
        ("--level 1", "who,what\na,0\n", "--no-header (the first line is data), --format lines (one line per user)"),
        ("", "user,item,level\na,0,3.0\n", "line 2: '3.0' is not a level on offer"),
        ("", "user,item,level\na,17,0.5\n", "line 2: the item '17' is not allowed"),
        ("", "user,item,level\na,17,0.5\n", "give --unknown drop to leave such items out"),
        ("--sets exactly", None, "a user has the items (0,); allowed are at least 4 items"),
        ("--honest-users 50", None, "with 50 honest users"),
        ("--level 0.7", "user,item\na,0\n", "--level 0.7 is not allowed: it must be one of 0.5, 1, 2"),
    ],
)
def test_a_file_of_users_is_refused_in_a_sentence(published, capsys, options, text, says):
    before = () if "--honest-users" in options else ("--honest-users", "5000")
    asked = many(published, options, **({} if text is None else {"text": text}))
    assert says in refused(capsys, [*asked, *before])
    assert not (published.parent / "all.json").exists()


@pytest.mark.exhaustive
def test_a_million_users_send_and_are_estimated(tmp_path):
    """360 s are 3 minutes on 2 processors. The total is within six deviations of its mean; false alarm 2e-9."""
    d, n = 2000, 10**6
    user = np.repeat(np.arange(n), 1 + np.arange(n) // d % 2)
    item = (user**2 + 700 * np.append(False, user[1:] == user[:-1])) % d
    level = user // (2 * d) % 2
    pl.DataFrame({"user": user, "item": item, "level": level + 1.0}).write_parquet(tmp_path / "users.parquet")
    users = tuple(np.bincount(np.arange(n) // (2 * d) % 2).tolist())
    plan = ProvenSegmented().plan(Problem(d, 4, (1.0, 2.0), users, 1e-8))
    save_plan(plan, tmp_path / "plan.json")
    shell = f"""segshuffle() {{ "{sys.executable}" -m segshuffle "$@"; }}
segshuffle client plan.json --users users.parquet --level-column level --honest-users {n} \
    --level-budget no --account all.json | LC_ALL=C sort > messages
segshuffle estimate plan.json messages --senders {n} --levels 1:{users[0]},2:{users[1]} --csv out.csv"""
    # in a process of its own: children of this one would count the memory of earlier tests as theirs
    measured = """import resource, subprocess, sys
subprocess.run(["bash", "-euo", "pipefail", "-c", sys.argv[1]], check=True, stdout=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, used.ru_maxrss)"""
    run = [sys.executable, "-c", measured, shell]
    done = subprocess.run(run, cwd=tmp_path, check=True, capture_output=True, text=True)
    seconds, kilobytes = map(float, done.stdout.split())
    assert seconds < 360
    assert kilobytes < 2 * 2**20  # of the largest process
    total = pl.read_csv(tmp_path / "out.csv")["messages"].sum()
    scheme, held = plan.scheme, np.bincount(level)
    variance = scheme.sampling @ held + d * scheme.noise
    assert abs(total - scheme.copies @ held - d * scheme.net_mean) < 6 * variance**0.5
