"""The table that `estimate --publish` writes: its rows, what it says of itself, and that other programs read it."""

import csv
import re

import pandas as pd
import polars as pl
import pytest
from commands import answer, printed, refusal
from given_plans import sent_by

from segshuffle.collection.planning.documents import save_plan
from segshuffle.plans.plan import Problem
from segshuffle.protocols.proven import ProvenSegmented

D = 6
NAMES = ("tea", "milk", "bread", "eggs", "a, b", "salt")


def test_only_what_is_told_from_zero_is_published(tmp_path, capsys, monkeypatch):
    """Tables of estimates name the plan and the guarantee; one that is published says how it was made."""
    monkeypatch.chdir(tmp_path)
    problem = Problem(D, 2, (1.0, 2.0), (800, 200), 1.2345641e-5)
    plan = ProvenSegmented().plan(problem)
    save_plan(plan, tmp_path / "PLAN.json", NAMES)
    (tmp_path / "m").write_text(sent_by(plan))
    found = answer(capsys, "estimate PLAN.json m --csv all.csv --publish out.csv")
    told = [row["item"] for row in found["estimates"] if row["estimate"] > found["told_from_zero_above"]]
    assert sorted(told) == ["milk", "tea"]  # everybody holds these two
    made, *lines = (tmp_path / "out.csv").read_text().splitlines()
    assert re.match(
        "# Users who hold an item, as a number .users. and as a share of 1000 users .* Users with more than 2 items "
        "sent a random 2 .* level 2.0: epsilon 2.0 and delta 1.2345641e-05 if 1000 users are honest",
        made,
    )
    rows = list(csv.DictReader(lines))
    assert list(rows[0]) == ["item", "users", "users_low", "users_high", "estimate", "low", "high"]
    for users, share in (("users", "estimate"), ("users_low", "low"), ("users_high", "high")):
        assert all(abs(int(row[users]) - 1000 * float(row[share])) <= 1.5 for row in rows)
    assert [row["item"] for row in rows] == told
    everything = list(csv.DictReader((tmp_path / "all.csv").read_text().splitlines()))
    assert [row["item"] for row in everything if row["told_from_zero"] == "True"] == told
    assert len(everything) == D
    assert {row["plan"] for row in everything} == {found["plan"]}
    assert all("epsilon 1.0 and delta 1.2345641e-05 if 1000 users are honest" in row["guarantee"] for row in everything)
    assert [row["item"] for row in answer(capsys, "estimate PLAN.json m --told-from-zero")["estimates"]] == told
    assert len(answer(capsys, "estimate PLAN.json m --top 3")["estimates"]) == 3
    # what must not be shown is not written
    (tmp_path / "out.csv").unlink()
    (tmp_path / "few").write_text("0\n")
    for asked, says in (
        ("few --anyway", "--publish must be left out for messages that the users cannot have sent"),
        ("few --senders 1", "for 1 users no epsilon is certified"),
        ("m --csv out.csv", "--publish 'out.csv' is not allowed: it must be another file than out.csv"),
    ):
        assert says in refusal(capsys, f"estimate PLAN.json {asked} --publish out.csv")
    assert not (tmp_path / "out.csv").exists()


def test_what_was_assumed_is_published(tmp_path, capsys, monkeypatch):
    """If the users picked other levels, estimates and intervals are wrong."""
    monkeypatch.chdir(tmp_path)
    plan = ProvenSegmented().plan(Problem(D, 2, (1.0, 2.0), (800, 800), 1e-5))
    save_plan(plan, tmp_path / "PLAN.json", NAMES)
    (tmp_path / "m").write_text(sent_by(plan))
    wrong = "Assumed, and otherwise these numbers are wrong: "
    for options, says in (
        ("", f"{wrong}all users of the plan took part, at its levels (--levels)."),
        ("--senders 1600", f"{wrong}the shares of the users at the levels are those of the plan (--levels)."),
        ("--senders 1590", f"{wrong}the shares of the users at the levels are those of the plan (--levels)."),
        ("--levels 1:800,2:800", None),
        ("--levels 1:800,2:800 --senders 1600", None),
    ):
        found = answer(capsys, f"estimate PLAN.json m --publish out.csv {options}")
        made = (tmp_path / "out.csv").read_text().splitlines()[0]
        assert made.endswith(says) if says else "Assumed" not in made
        assert ("assumed" in found) == (says is not None)


def test_items_with_a_number_sign_are_kept_by_all_readers(tmp_path, capsys, monkeypatch):
    """Readers leave out lines that begin with #, or what follows a #; a later plan takes the table as its guess."""
    monkeypatch.chdir(tmp_path)
    names = ("#hash", "C# milk", "tea", "bread", "eggs", "salt")
    plan = ProvenSegmented().plan(Problem(D, 2, (1.0,), (1000,), 1e-5))
    save_plan(plan, tmp_path / "PLAN.json", names)
    (tmp_path / "m").write_text(sent_by(plan))
    printed(capsys, "estimate PLAN.json m --publish out.csv")
    found = {*names[:2]}
    assert set(pd.read_csv("out.csv", comment="#")["item"]) == found
    assert set(pl.read_csv("out.csv", comment_prefix="#")["item"]) == found
    rows = [line for line in (tmp_path / "out.csv").read_text().splitlines() if not line.startswith("#")]
    assert {row["item"] for row in csv.DictReader(rows)} == found
    (tmp_path / "names").write_text("\n".join(names))
    table = "# how it was made\nitem,share\n#hash,0.6\ntea,0.1\n"
    for guess in ("out.csv", "own.csv"):
        (tmp_path / "own.csv").write_text(table)
        asked = f"plan --items names --set-size 2 --levels 1:1000 --delta 1e-5 --guess {guess} --top 2"
        assert answer(capsys, asked)["top_share"] == pytest.approx(0.1 if guess == "own.csv" else 1.0, abs=0.2)
