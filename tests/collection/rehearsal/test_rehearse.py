"""Rehearsals: exact in distribution, intervals that cover, the effect of cutting, folders whole or not there."""

import csv
import html
import json
import math
import re
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
import pytest
from commands import answer, printed, refusal
from given_plans import given_plan

from segshuffle.blankets.clustered import Clustered
from segshuffle.blankets.signed import Signed
from segshuffle.collection.planning.answer import Answer
from segshuffle.collection.planning.documents import read_plan, save_plan
from segshuffle.collection.planning.question import Question
from segshuffle.collection.rehearsal.results import MARK, check_place, new_folder, tables_of, write
from segshuffle.collection.rehearsal.run import TOPS, rehearse
from segshuffle.collection.rehearsal.set_sizes import chosen, kept_shares
from segshuffle.datasets.own.transactions import Transactions
from segshuffle.errors import DataError, InfeasibleError
from segshuffle.plans.item_variance import ItemVariance
from segshuffle.plans.plan import Assumptions, Problem

N, D = 2000, 40


def zipf_users(n=N, d=D, empty=8, seed=1):
    """Make sets of 1 to 6 of the first d - empty items, as frequent as 1/j; nobody holds the others."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 7, size=n)
    keys = rng.exponential(size=(n, d - empty)) * np.arange(1, d - empty + 1)
    rows = [np.sort(row[:size]) for row, size in zip(np.argsort(keys, axis=1), sizes, strict=True)]
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    return Transactions(offsets, np.concatenate(rows).astype(np.int32), d)


def made(blanket=None, copies=(0.7, 1.0, 1.6), m=3.0, counts=(500, 1000, 500)):
    levels = tuple(0.5 * 2.0**k for k in range(len(copies)))
    return given_plan(Problem(D, 6, levels, counts, 1e-6), copies, m, blanket)


BLANKETS = {
    "poisson": made(),
    "one level": made(copies=(1.0,), counts=(N,), m=0.8),
    "rates": made(copies=(0.2, 0.4, 1.0)),
    "clustered": made(Clustered(0.6)),
    "signed": made(Signed(0.3, 0.85, 0.6), m=8.0),
}


@pytest.fixture(scope="module")
def users():
    return zipf_users()


@pytest.mark.parametrize("name", BLANKETS)
def test_errors_and_coverage_are_those_promised(name, users):
    """Over 60 repetitions and 40 items: a chi-square within 5 of its deviations, coverage within 5 of a binomial's.

    Items share the levels' assignment, which correlates them a little; false alarms below 1e-5 in all.
    """
    found = rehearse(BLANKETS[name], users, repetitions=60, seed=3)
    assert (found.sent == found.true).all()
    ratio = found.squared_error / found.first.variance.at(found.sent)
    assert abs(ratio.mean() - 1) < 5 * math.sqrt(2 / (60 * D))
    assert abs(found.covered_sent.mean() - 0.95) < 5 * math.sqrt(0.95 * 0.05 / (60 * D)) + 0.005


def test_what_cutting_does_is_apart(users):
    """A random item of each set is left: n times the sent share of an item is the sum of 1/size over its holders."""
    plan = replace(made(), problem=replace(made().problem, set_size=1))
    found = rehearse(plan, users, repetitions=2)
    expected = kept_shares(users, 1)
    assert found.users_cut == int((users.sizes > 1).sum())
    assert found.entries_lost == pytest.approx(1 - N / users.codes.size)
    assert found.true == pytest.approx(users.frequencies)
    assert found.sent.sum() == pytest.approx(1.0)
    assert np.abs(found.sent - expected).max() < 6 * math.sqrt(0.25 / N)
    assert found.squared_error.sum() > found.first.variance.at(found.sent).sum()


def test_levels_of_the_data_are_kept_and_their_bias_is_said(users):
    held = np.add.reduceat(users.codes == 0, users.offsets[:-1]) > 0
    levels = np.where(held, 0, 2).astype(np.int16)
    counts = tuple(np.bincount(levels, minlength=3).tolist())
    found = rehearse(made(counts=counts), replace(users, levels=levels), repetitions=200)
    assert found.bias[0] < -0.1
    deviation = np.sqrt(found.first.variance.at(found.true) / 200)
    # the mean squared error over the repetitions is mostly the square of the bias
    assert found.squared_error[0] == pytest.approx(found.bias[0] ** 2, rel=0.2)
    assert deviation[0] < 0.1 * abs(found.bias[0])
    assert rehearse(made(), users, repetitions=1).bias is None


def test_recovery_is_what_sorting_says(users):
    found = rehearse(made(m=60.0), users, repetitions=1)
    for each in found.recovery:
        best = np.argsort(-found.first.frequencies, kind="stable")[: each.k]
        least = np.sort(found.true)[-each.k]
        assert each.first == each.mean == each.least == (found.true[best] >= least).mean()
    assert [each.k for each in found.recovery] == [k for k in TOPS if k <= D - 8]


def test_what_nobody_holds_is_seldom_found(users):
    """Of 300 collections at most 5 % find anything that nobody holds: 30 or more have a probability below 1e-3."""
    found = rehearse(made(m=60.0), users, repetitions=300)
    assert found.told_from_zero[users.frequencies == 0].sum() * 300 < 30
    assert found.told_from_zero.sum() > 1


# --- the largest set -------------------------------------------------------------------------------------------------


def test_the_size_of_least_error_is_chosen(users):
    """The dummies grow with the square of the size, and cutting becomes less: the best of all sizes is found."""

    def make(size):
        if size == 1:
            raise InfeasibleError("none")
        problem = replace(made().problem, set_size=size)
        return replace(made(m=0.3 * size**2), problem=problem)

    def asked(size):
        return Answer(Question(make(size).problem), make(size))

    def error(size):
        sent = kept_shares(users, size)
        top = np.argsort(-users.frequencies, kind="stable")[:5]
        cut = sent[top] - users.frequencies[top]
        return np.mean(cut**2 + ItemVariance.of(make(size)).at(sent[top]))

    best = min((2, 3, 4, 6), key=error)
    assert chosen(users, asked, 5).plan.problem.set_size == best

    def never(size):
        raise InfeasibleError(f"none for {size}")

    with pytest.raises(InfeasibleError, match="none for 6"):
        chosen(users, never, 5)


# --- what is written -------------------------------------------------------------------------------------------------


def test_a_folder_is_whole_or_not_there(tmp_path):
    place = tmp_path / "out"
    with pytest.raises(DataError, match="cannot be written"), new_folder(place) as folder:
        (folder / MARK / "half").write_text("half")
    assert list(tmp_path.iterdir()) == []
    for text in ("one", "two"):
        with new_folder(place) as folder:
            (folder / MARK).write_text(text)
        assert (place / MARK).read_text() == text
    with pytest.raises(RuntimeError), new_folder(place) as folder:
        raise RuntimeError
    assert (place / MARK).read_text() == "two"
    assert list(tmp_path.iterdir()) == [place]


def test_what_is_not_a_rehearsal_is_not_overwritten(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    for place, says in (
        (tmp_path, "holds something other"),
        (tmp_path / "mine.txt", "no folder can be made"),
        (tmp_path / "mine.txt" / "below", "no folder can be made"),
    ):
        with pytest.raises(DataError, match=says):
            check_place(place)
    assert (tmp_path / "mine.txt").read_text() == "mine"


def test_a_rehearsal_has_a_table_a_plot_and_a_line_of_text(users):
    named = replace(users, names=[f"{'a name that is much too long for a label':.{40}} {code}" for code in range(D)])
    found = rehearse(made(), named, repetitions=2)
    frame = found.to_frame()
    assert frame.columns.to_list() == [name for name in tables_of(found)["items"].columns if name != "item"]
    assert frame["true"].to_numpy() == pytest.approx(found.true[found.order], abs=0)
    assert frame.index[0] == named.name(int(found.order[0]))
    assert "not private" in found._repr_html_()
    axes = found.plot(top=30)
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert len(set(labels)) == len(labels) == 30
    plt.close(axes.figure)


def test_what_users_of_the_file_send_is_said(log, capsys, monkeypatch):
    """They hold two items on average, and three are the most: N copies of two items, and the dummy messages."""
    monkeypatch.setattr("segshuffle.collection.rehearsal.results.write_figures", lambda *_: [])
    problem = Problem(3, 3, (0.5, 1.0), (100, 200), 1e-6)
    save_plan(given_plan(problem, (0.5, 1.25), 3.0), log.parent / "PLAN.json", ["tea", "milk", "bread"])
    assert answer(capsys, SAVED)["sending"][-1] == "With the sets of this file the average is 5 messages."
    rows = log.read_text().splitlines()
    levels = [1.0 if row < "u2" else 0.5 for row in rows[1:]]
    log.write_text(
        "\n".join(["user,item,level", *(f"{row},{level}" for row, level in zip(rows[1:], levels, strict=True))])
    )
    copies = sum(1.25 if level == 1.0 else 0.5 for level in levels) / 300
    found = answer(capsys, f"{SAVED} --level-column level")
    assert found["sending"][-1] == f"With the sets of this file the average is {copies + 3:.4g} messages."


def test_the_page_needs_nothing_else_and_shows_names_as_they_are(users, tmp_path):
    named = replace(users, names=[f"<script>&{code}" for code in range(D)])
    found = rehearse(made(), named, repetitions=1)
    said = {key: ["<i>"] for key in ("assumed", "notes", "warnings", "sending", "promises", "rests_on")}
    said |= {"data": "A & B"}
    write(tmp_path / "out", found, said, headline=["1 & 2"], tables=tables_of(found), top=3, command="c")
    text = (tmp_path / "out/index.html").read_text()
    assert "<script" not in text
    assert "&lt;script&gt;&amp;" in text
    assert "&lt;i&gt;" in text
    assert not re.search(r"(src|href)=\"(?!data:)", text)


@pytest.mark.parametrize("given", ["--set-size 1", pytest.param("", marks=pytest.mark.exhaustive)])
def test_one_command_is_enough(log, capsys, monkeypatch, given):
    monkeypatch.setattr("segshuffle.collection.rehearsal.results.write_figures", lambda *_: [])
    shown = printed(capsys, f"rehearse log.csv {given}")
    assert ("the best one for the top" in shown) == (not given)
    folder = log.parent / "log-rehearsal"
    kept = json.loads((folder / MARK).read_text())
    assert kept["summary"]["users"] == 300
    assert kept["problem"]["level_counts"] == [300]
    assert (folder / "index.html").read_text().startswith("<!doctype html>")
    assert read_plan(folder / "plan.json").items == ["bread", "milk", "tea"]
    said = "These numbers are the users' own, and not private"
    for name in ("items", "groups", "recovery"):
        assert (folder / f"{name}.csv").read_text().startswith(f"# {said}")
        assert said in pl.read_parquet_metadata(folder / f"{name}.parquet")["note"]
    assert said in " ".join(shown.split())
    assert said in html.unescape((folder / "index.html").read_text())
    how = "Read as csv, separator ',', header, form long, users in column 'user', items in column 'item': 300 users"
    assert how in " ".join(shown.split())
    assert how in html.unescape((folder / "index.html").read_text())
    items = pl.read_csv(folder / "items.csv", comment_prefix="#")
    assert items.equals(pl.read_parquet(folder / "items.parquet"))
    assert items["item"].to_list() == ["tea", "milk", "bread"]


# --- a saved plan ----------------------------------------------------------------------------------------------------


@pytest.fixture
def saved(log, monkeypatch):
    """Save a plan for 250 users of the log's items; the guarantee relies on 200 of them."""
    monkeypatch.setattr("segshuffle.collection.rehearsal.results.write_figures", lambda *_: [])
    problem = Problem(4, 2, (0.5, 1.0), (100, 150), 1e-6, Assumptions("at-most", 0.8), (1e-5, 1e-6))
    plan = given_plan(problem, (0.7, 1.0), 3.0)
    save_plan(plan, log.parent / "PLAN.json", ["salt", "tea", "milk", "bread"])
    return plan


SAVED = "rehearse log.csv --plan PLAN.json --repetitions 1"


def test_a_saved_plan_is_rehearsed_as_it_stands(log, saved, capsys):
    found = answer(capsys, SAVED)
    assert found["problem"]["level_counts"] == [120, 180]
    assert found["problem"]["deltas"] == [1e-5, 1e-6]
    assert found["plan"] == json.loads(json.dumps(saved.of_participants((120, 180)).as_dict()))
    assert "300 users of the file take part, though the plan is for 250" in found["assumed"][0]
    assert "were taken from the data" not in "".join(found["notes"])
    written = read_plan(log.parent / "log-rehearsal/plan.json")
    assert written.items == ["salt", "tea", "milk", "bread"]
    assert written.plan.problem.honest_users == 200
    sets = [("tea", "milk", "bread")[: 1 + user % 3] for user in range(300)]
    users = Transactions.from_sets(sets, ["salt", "tea", "milk", "bread"])
    again = rehearse(saved.of_participants((120, 180)), users, repetitions=1)
    rows = list(csv.DictReader((log.parent / "log-rehearsal/items.csv").read_text().splitlines()[1:]))
    assert {row["item"]: float(row["estimate"]) for row in rows} == pytest.approx(
        dict(zip(users.names, again.first.frequencies, strict=True))
    )


def test_levels_of_a_column_are_those_of_a_saved_plan(log, saved, capsys):
    lines = log.read_text().splitlines()
    levels = ["level", *("1.0" if line < "u2" else "0.5" for line in lines[1:])]
    log.write_text("\n".join(f"{line},{level}" for line, level in zip(lines, levels, strict=True)))
    asked = f"{SAVED} --user user --item item --level-column level"
    higher = sum(f"u{user}" < "u2" for user in range(300))
    found = answer(capsys, asked)
    assert found["problem"]["level_counts"] == [300 - higher, higher]
    assert "expected estimates are off by up to" in "".join(found["notes"])
    log.write_text(log.read_text().replace("1.0", "2.0"))
    assert "'2.0' is not a level on offer; a level is given by its epsilon: 0.5, 1." in refusal(capsys, asked)


@pytest.mark.parametrize(
    ("option", "says"),
    [
        ("--levels 1:100,2:150", "--levels (1.0, 2.0) is not allowed: it must be those of the plan, (0.5, 1.0)"),
        ("--delta 1e-6", "delta must be left out with PLAN.json, which is fixed"),
        ("--set-size 2", "set-size must be left out with"),
        ("--items 3", "items must be left out with"),
        ("--dummies signed", "dummies must be left out with"),
        ("--copies-max 0.9", "copies-max must be left out with"),
        ("--rounds 2", "rounds must be left out with"),
        ("--hide-level 1", "hide-level must be left out with"),
    ],
)
def test_what_a_saved_plan_says_is_left_out(log, saved, capsys, option, says):
    assert says in refusal(capsys, f"{SAVED} {option}")
    assert {path.name for path in log.parent.iterdir()} == {"log.csv", "PLAN.json"}


@pytest.mark.parametrize(
    ("options", "counts"), [("--plan PLAN.json", [100, 150]), ("--levels 0.5:600,1:300 --set-size 2", [600, 300])]
)
def test_a_pilot_stands_for_another_number_of_users(log, saved, capsys, options, counts):
    lines = log.read_text().splitlines()
    pilot = lines[:1] + [line for line in lines[1:] if int(line.split(",")[0][1:]) < 99]
    log.write_text("\n".join(pilot))
    found = answer(capsys, f"rehearse log.csv {options} --repetitions 1")
    assert found["problem"]["level_counts"] == counts
    users = sum(counts)
    assert found["summary"]["users"] == users
    assert f"each of the {users} users is drawn from the 99 of the file, with replacement" in found["assumed"]
    # every third user of the log holds one, two and three items
    rows = csv.DictReader((log.parent / "log-rehearsal/items.csv").read_text().splitlines()[1:])
    shares = {row["item"]: float(row["true"]) for row in rows}
    assert shares["tea"] == 1.0
    assert shares["milk"] == pytest.approx(2 / 3, abs=5 * (2 / 9 / users) ** 0.5)  # false alarm below 1e-6
