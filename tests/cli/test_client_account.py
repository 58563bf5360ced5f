"""The user's account: one file whatever its name, private, believed only as a client writes it, never half of it."""

import fcntl
import json
import os
import sys
import threading
import time

import pytest
from commands import printed, refusal, run
from given_plans import edited, given_plan

from segshuffle.blankets.clustered import Clustered
from segshuffle.blankets.signed import Signed
from segshuffle.collection.planning.documents import save_plan
from segshuffle.plans.plan import Problem


@pytest.fixture
def plan(tmp_path):
    """Return a plan for 17 items, and make the folder the current one."""
    problem = Problem(17, 2, (0.5, 1.0), (2500, 2500), 1e-6)
    save_plan(given_plan(problem, (0.1, 0.2), 5.0, kind="upper"), tmp_path / "plan.json")
    return tmp_path / "plan.json"


def client(plan, options="", *, items="0,3", account="mine.json"):
    asked = f"client {plan} --level 0.5 --level-budget no --honest-users 5000 {options}".split()
    return [*asked, "--account", str(plan.parent / account), "--items", items]


def many(plan, options="", rows="a,0\nb,3\n"):
    (plan.parent / "users.csv").write_text(f"user,item\n{rows}")
    asked = f"client {plan} --users {plan.parent}/users.csv --level 0.5 --level-budget no --honest-users 5000"
    return f"{asked} --account {plan.parent}/all.json {options}".split()


# --- one file --------------------------------------------------------------------------------------------------------


def test_an_account_has_one_record_under_all_its_names(plan, tmp_path, capsys):
    """A link to an account is the account: what was spent under one name is spent under the other."""
    (tmp_path / "kept").mkdir()
    (tmp_path / "link.json").symlink_to("kept/real.json")
    (tmp_path / "folder").symlink_to("kept")
    printed(capsys, client(plan, account="kept/real.json"))
    for number, name in ((2, "link.json"), (3, "folder/real.json")):
        asked = f"--collection {number} --budget"
        assert "--budget is" in refusal(capsys, client(plan, f"{asked} {number / 2 - 0.1}", account=name))
        printed(capsys, client(plan, f"{asked} {number / 2}", account=name))
        assert len(json.loads((tmp_path / "kept/real.json").read_text())["collections"]) == number
    assert (tmp_path / "link.json").is_symlink()


@pytest.mark.parametrize(
    "kind", ["dangling", "loop", "dangling folder", "hard link", "fifo", "device", "folder", "long"]
)
def test_what_is_no_file_of_its_own_is_no_account(plan, tmp_path, capsys, kind):
    """A new account would begin there with nothing spent, or two accounts would follow one."""
    names = {"device": "/dev/null", "folder": tmp_path, "dangling folder": "odd/mine.json", "long": 300 * "x"}
    (tmp_path / "old.json").write_text("{}")
    odd = tmp_path / "odd"
    make = {
        "dangling": lambda: odd.symlink_to("nowhere"),
        "dangling folder": lambda: odd.symlink_to("nowhere"),
        "loop": lambda: odd.symlink_to("odd"),
        "hard link": lambda: odd.hardlink_to(tmp_path / "old.json"),
        "fifo": lambda: os.mkfifo(odd),
    }
    make.get(kind, lambda: None)()
    assert "Name another file with --account." in refusal(capsys, client(plan, account=names.get(kind, "odd")))
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "odd") == ["old.json", "plan.json"]


def test_who_has_no_home_folder_names_the_account(plan, monkeypatch, capsys):
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.delenv("HOME")
    monkeypatch.setattr(os, "getuid", lambda: 4_000_000_000)
    assert "give --account FILE" in refusal(capsys, f"client {plan} --level 0.5 --honest-users 5000 --items 0")


def test_who_waits_for_an_account_learns_for_which_process(plan, tmp_path, capsys):
    folder = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    timer = threading.Timer(1.3, os.close, [folder])
    begun = time.monotonic()
    timer.start()
    status, _, said = run(capsys, client(plan))
    timer.join()
    assert (status, time.monotonic() - begun >= 1.3) == (0, True)
    holder = f"process {os.getpid()}" if sys.platform == "linux" else "another process"
    assert f"waiting for {holder}, which uses an account in the folder {tmp_path}" in said


# --- what is believed ------------------------------------------------------------------------------------------------

_ABSENT, _HEX = object(), "0" * 64
#: Where in the file -> values that no client writes there.
DAMAGES = {
    ("format",): [_ABSENT, None, "segshuffle-plan"],
    ("version",): [_ABSENT, True, 1, 2.0, "2"],
    ("honest_users",): [_ABSENT, None, 0, True, 5.0],
    ("budget",): [_ABSENT, None, "no", [1.0], [1.0, float("nan")], [float("inf"), 0.1], [1.0, 2.0], {"0": 1, "1": 0}],
    ("level_budget",): [_ABSENT, None, "yes", [-1.0, 0.1], [True, 0.1]],
    ("collections",): [_ABSENT, None, {}, "", [[]]],
    ("more",): [1],
    ("collections", 0, "plan"): [_ABSENT, None, "", "9f"],
    ("collections", 0, "level"): [_ABSENT, "0.5", 0, float("nan"), 101.0],
    ("collections", 0, "sets"): [_ABSENT, None, "any"],
    ("collections", 0, "rounds"): [_ABSENT, 0, True, 10**9],
    ("collections", 0, "sent"): [_ABSENT, 0, 2, True, 1.0],
    ("collections", 0, "items_spent"): [_ABSENT, [], [0.0, 0.0], [0.5, -1e-9], [float("nan"), 1e-6], "no"],
    ("collections", 0, "level_spent"): [_ABSENT, [0.0], [-1.0, 0.0]],
    ("collections", 0, "answers"): [_ABSENT, [], {}, None],
    ("collections", 0, "answers", 0, "collection"): [_ABSENT, 0, "1"],
    ("collections", 0, "answers", 0, "items"): [_ABSENT, None, [0.0], [True], {}],
    ("collections", 0, "answers", 0, "messages"): [_ABSENT, None, "", "1\n", ["1"]],
    ("collections", 0, "answers", 0, "users"): [_ABSENT, 1, "", True],
    ("collections", 0, "answers", 0, "n_messages"): [_ABSENT, None, -1, 10**6],
    ("collections", 0, "answers", 0, "sha256"): [_ABSENT, None, _HEX, _HEX[1:]],
}


def test_an_account_is_believed_only_as_a_client_writes_it(plan, tmp_path, capsys):
    """Whatever is missing, of another type or out of range: nothing is sent, and the file stays as it is."""
    printed(capsys, client(plan))
    account = tmp_path / "mine.json"
    whole = account.read_text()
    for place, values in DAMAGES.items():
        for value in values:
            damaged = json.loads(whole)
            part = damaged
            for key in place[:-1]:
                part = part[key]
            if json.dumps(value, default=str) == json.dumps(part.get(place[-1], "absent")):
                continue  # messages are drawn at random: no messages at all, or one 1, are no damage then
            if value is _ABSENT:
                del part[place[-1]]
            else:
                part[place[-1]] = value
            account.write_text(json.dumps(damaged))
            said = refusal(capsys, client(plan, "--collection 2 --budget 9"))
            assert "mine.json: is not the file of a client" in said, (place, value)
            assert account.read_text() == json.dumps(damaged)
    for text in ("", "[]", "null", "[" * 10**5, whole[:-20]):
        account.write_text(text)
        assert "mine.json: is not the file of a client" in refusal(capsys, client(plan))
    account.write_text(whole)
    printed(capsys, client(plan))


def test_a_plan_that_promises_a_delta_that_is_not_computed_is_not_believed(plan, tmp_path, capsys):
    edited(plan, problem={"delta": 1e-300})
    printed(capsys, client(plan))
    (entry,) = json.loads((tmp_path / "mine.json").read_text())["collections"]
    assert entry["items_spent"][1] >= 1e-250


# --- what is kept ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("damage", ["cut", "longer", "another", "missing", "binary"])
def test_only_the_very_messages_are_sent_again(plan, tmp_path, capsys, damage):
    first = printed(capsys, many(plan))
    (kept,) = tmp_path.glob("*.messages")
    whole = kept.read_bytes()
    another = (b"2\n" if whole.startswith(b"1\n") else b"1\n") + whole[2:]
    changed = {"cut": whole[:-2], "longer": whole + b"1\n", "another": another, "binary": b"\xff" + whole}
    if damage == "missing":
        kept.unlink()
    else:
        kept.write_bytes(changed[damage])
    status, out, said = run(capsys, many(plan))
    assert (status, out) == (2, ""), said
    assert f"{kept}: " in said
    kept.write_bytes(whole)
    assert printed(capsys, many(plan)) == first


def test_the_next_run_removes_what_an_earlier_one_left(plan, tmp_path, capsys):
    (tmp_path / ".all.json.0123-1.messages.99-ab.part").write_text("1\n2\n")
    (tmp_path / ".all.json.99-ab.part").touch()
    (tmp_path / ".ball.json.99-ab.part").touch()  # of another account
    printed(capsys, many(plan))
    assert [path.name for path in tmp_path.glob(".*.part")] == [".ball.json.99-ab.part"]


def test_a_worker_that_is_killed_ends_in_a_sentence(plan, tmp_path, monkeypatch, capsys):
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    def stopped(*_, **__):
        raise TerminatedWorkerError("A worker process was killed")

    monkeypatch.setattr("joblib.Parallel.__call__", stopped)
    monkeypatch.setattr("segshuffle.collection.messages.client._TOGETHER", 2)
    status, out, said = run(capsys, many(plan))
    assert (status, out) == (2, "")
    assert "was ended by the system" in said.splitlines()[-1]  # after the note on how the file was read
    assert {path.name for path in tmp_path.iterdir()} == {"plan.json", "users.csv"}


# --- items -----------------------------------------------------------------------------------------------------------


def test_items_are_read_from_a_file_that_the_list_of_processes_does_not_show(plan, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    first = printed(capsys, client(plan, items="0,3"))
    for text in ("0,3", "3\n0\n", "\ufeff0\r\n3\r\n", '"0", 3,\n'):
        (tmp_path / "held.txt").write_text(text, encoding="utf-8", newline="")
        for name in ("held.txt", str(tmp_path / "held.txt")):
            assert printed(capsys, client(plan, items=name)) == first
        with (tmp_path / "held.txt").open() as stream, monkeypatch.context() as patched:
            patched.setattr(sys, "stdin", stream)
            assert printed(capsys, client(plan, items="-")) == first
    (tmp_path / "held.txt").write_bytes(b"\xff")
    assert "held.txt, line 1: this is not UTF-8" in refusal(capsys, client(plan, items="held.txt"))
    assert "(no file has this name): item 'none.txt' is none of" in refusal(capsys, client(plan, items="none.txt"))
    (tmp_path / "3").write_text("0,3")
    assert "--items 3 is an item and a file" in refusal(capsys, client(plan, items="3"))
    assert printed(capsys, client(plan, items="./3")) == first


def test_no_item_of_a_long_list_is_left_out_silently(plan, tmp_path, monkeypatch, capsys):
    (tmp_path / "held.txt").write_text("," * 2**24 + "3")
    with (tmp_path / "held.txt").open() as stream, monkeypatch.context() as patched:
        patched.setattr(sys, "stdin", stream)
        assert "standard input: larger than" in refusal(capsys, client(plan, items="-"))
    assert "held.txt: larger than" in refusal(capsys, client(plan, items=str(tmp_path / "held.txt")))


# --- time ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("law", [Clustered(1e-6), Clustered(1e-300), Signed(1e-7, 0.5, 0.5), Signed(0.5, 1e-7, 0.5)])
def test_a_plan_that_would_keep_a_client_busy_is_refused(tmp_path, capsys, law):
    problem = Problem(17, 2, (0.5,), (5000,), 1e-6)
    save_plan(given_plan(problem, (0.1,), 5.0, law, kind="upper"), tmp_path / "plan.json")
    said = refusal(capsys, client(tmp_path / "plan.json"))
    assert "random numbers on average, more than the 1e+06 that this client is ready to draw" in said


def test_a_plan_with_thousands_of_levels_or_endless_names_is_none(plan, capsys):
    def asked(**changes):
        edited(plan, **changes)
        return refusal(capsys, client(plan))

    # accents whose order must be found, which takes a time that grows with the square
    assert "at most 200 characters" in asked(items=["a" + "\u0301\u0316" * 10**5, *"bcdefghijklmnopqr"])
    assert "at most 1000000" in asked(items=["a"] * 1_000_001)
    levels = [1 + k / 100 for k in range(6400)]
    assert "at least 1 and at most 100" in asked(problem={"levels": levels, "level_counts": [1] * len(levels)})
