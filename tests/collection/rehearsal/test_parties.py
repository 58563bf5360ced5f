"""The two halves of a collection as commands: together they are `simulate`; what no user can have sent is refused."""

import gzip
import json
import math
import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from commands import answer, printed, refusal, run
from given_plans import given_plan, sent_by
from scipy import stats

from segshuffle import Transactions, estimate, simulate
from segshuffle.blankets.clustered import Clustered
from segshuffle.blankets.signed import Signed
from segshuffle.collection.messages.received import epsilons
from segshuffle.collection.planning.documents import read_plan, save_plan
from segshuffle.collection.planning.foresight import threshold_of
from segshuffle.plans.plan import Problem
from segshuffle.protocols.proven import ProvenSegmented

D, N = 6, 60
NAMES = ("tea", "milk", "bread", "eggs", "a, b", "salt")
SMALL = "plan --items 6 --set-size 2 --levels 1:60 --delta 1e-3 --blanket-per-user 20"


def counts_text(counts):
    return "".join(["item,count\n"] + [f"{item},{count}\n" for item, count in enumerate(counts)])


@pytest.fixture(scope="module")
def plan():
    problem = Problem(D, 2, (1.0, 2.0), (40, 20), 1e-5)
    return ProvenSegmented(blanket_per_user=3.0).plan(problem)


@pytest.fixture
def published(plan, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save_plan(plan, tmp_path / "PLAN.json", NAMES)
    return tmp_path / "PLAN.json"


def sets():
    """Return users with 0, 1 or 2 items, the first three items more often."""
    return [[user % 3, 3 + user % 3][: 1 + user % 2] if user % 10 else [] for user in range(N)]


def collected(published, capsys):
    """Return the messages of all users, whose names of items have blanks around them, as people type them."""
    rows = ["user,item,level"]
    for user, items in enumerate(sets()):
        rows += [f'{user},"{NAMES[item]} ",{1 + (user >= 40)}' for item in items] or [f"{user},,{1 + (user >= 40)}"]
    (published.parent / "users.csv").write_text("\n".join(rows) + "\n")
    account = published.parent / "account.json"
    account.unlink(missing_ok=True)
    asked = f"client PLAN.json --users users.csv --level-column level --empty keep --account {account}"
    return printed(capsys, f"{asked} --delta 1e-2 --honest-users {N} --level-budget no")


def estimated(capsys, asked):
    """Return the estimates' rows, in the order of the items in PLAN.json."""
    found = {row["item"]: row for row in answer(capsys, f"estimate PLAN.json {asked}")["estimates"]}
    return [found[name] for name in NAMES]


def test_client_sort_and_estimate_are_simulate(plan, published, capsys):
    """Squares of counts, standardised by mean and covariance of simulations, are chi-square; false alarm 1.1e-4."""
    made = Transactions.from_sets(sets(), range(D))
    levels = np.repeat([0, 1], (40, 20)).astype(np.int16)
    users = Transactions(made.offsets, made.codes, D, levels=levels)
    law = np.array([simulate(plan, users, seed=seed) for seed in range(1000)])
    lines = collected(published, capsys)
    (published.parent / "messages").write_text("".join(sorted(lines.splitlines(keepends=True))))
    away = np.array([row["messages"] for row in estimated(capsys, "messages")]) - law.mean(axis=0)
    distance = float(away @ np.linalg.solve(np.cov(law.T), away)) / (1 + 1 / len(law))
    assert 1e-4 < stats.chi2(D).sf(distance) < 1 - 1e-5


def test_estimates_are_those_of_the_library(plan, published, capsys, tmp_path):
    """They are rounded to two digits of the standard error, and intervals outwards; users are whole."""
    counts = np.array([60, 40, 51, 30, 28, 35])
    (tmp_path / "counts").write_text(counts_text(counts))
    found = estimate(plan, counts)
    low, high = found.interval()
    rows = estimated(capsys, "counts")
    exact = zip(found.frequencies, low, high, found.standard_errors, strict=True)
    for row, (share, least, most, error) in zip(rows, exact, strict=True):
        unit = 10 ** (math.floor(math.log10(error)) - 1)
        assert abs(row["estimate"] - share) <= 0.5001 * unit
        assert abs(row["standard_error"] - error) <= 0.5001 * unit
        assert -1e-9 * unit <= least - row["low"] <= 1.0001 * unit
        assert -1e-9 * unit <= row["high"] - most <= 1.0001 * unit
        assert row["estimate"] == pytest.approx(round(row["estimate"] / unit) * unit, rel=1e-12)
        assert row["told_from_zero"] == (share > threshold_of(plan))
        assert row["users"] == round(N * share)
        assert [row["users_low"], row["users_high"]] == [math.floor(N * least), math.ceil(N * most)]
    assert min(row["low"] for row in rows) < 0
    assert min(row["users_low"] for row in rows) < 0
    # packed, as a table, and by who took part
    (tmp_path / "packed").write_bytes(gzip.compress((tmp_path / "counts").read_bytes()))
    assert max(map(len, printed(capsys, "estimate PLAN.json packed --csv all.csv --top 2").splitlines())) <= 80
    assert (tmp_path / "all.csv").read_text().count("\n") == 3
    more = estimated(capsys, "counts --levels 1:30,2:30")
    assert more[0]["estimate"] != rows[0]["estimate"]
    clipped = estimated(capsys, "counts --clip --anyway")
    assert {row["low"] >= 0 and row["high"] <= 1 for row in clipped} == {True}
    assert {0 <= row["users_low"] <= row["users"] <= row["users_high"] <= N for row in clipped} == {True}
    # with errors of hundreds of users, numbers of users are rounded, too
    many = replace(plan.problem, level_counts=(4 * 10**8, 2 * 10**8))
    save_plan(given_plan(many, (1.0, 1.0), 3.0), tmp_path / "PLAN.json", NAMES)
    row = estimated(capsys, "counts --anyway")[0]
    assert row["users_high"] - row["users_low"] > 10**4
    assert {row[name] % 100 for name in ("users", "users_low", "users_high")} == {0}
    assert row["users"] / 6e8 == pytest.approx(row["estimate"], rel=1e-4)


def test_every_field_of_the_answer_is_documented(published, plan, capsys, root):
    (published.parent / "m").write_text(sent_by(plan) + "x\n")
    found = answer(capsys, "estimate PLAN.json m --unknown drop --senders 59 --anyway --messages 1")
    rows = re.findall(r"^\| (`[^|]*`) \|", (root / "docs/collect.md").read_text(encoding="utf-8"), re.MULTILINE)
    documented = re.findall(r"`([\w.]+)`", " ".join(rows))
    assert [*found, *(f"estimates.{name}" for name in found["estimates"][0])] == documented
    assert (found["format"], found["version"]) == ("segshuffle-estimates", 2)


def test_an_input_without_end_ends(published):
    """`yes 1` sends valid messages for ever: at most ten times the possible ones are read, which is said."""
    command = f"yes 1 | {sys.executable} -m segshuffle estimate {published} - --anyway"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "give their number (--senders or --levels)" in done.stderr


def test_what_a_server_cannot_read_is_refused(published, capsys, tmp_path):
    (tmp_path / "messages").write_text("1\nx\n")
    (tmp_path / "counts").write_text(counts_text([50] * D))
    packed = gzip.compress(b"1\n" * 10**4)
    (tmp_path / "broken.gz").write_bytes(packed[:-20])
    (tmp_path / "no-end.gz").write_bytes(packed[:-1])
    (tmp_path / "changed.gz").write_bytes(packed[:-8] + bytes(8))
    for asked, says in (
        ("messages", "line 2: 'x' is no message"),
        ("none", "cannot be read"),
        ("broken.gz", "broken.gz: the gzip file is cut off: its end is missing"),
        ("no-end.gz", "no-end.gz: the gzip file is cut off: its end is missing"),
        ("changed.gz", "changed.gz: the gzip file is damaged (CRC check failed"),
        (
            "messages --unknown drop --levels 1:1,3:1",
            "--levels (1.0, 3.0) is not allowed: it must be those of the plan, (1.0, 2.0)",
        ),
        ("messages --top 0", "--top: number = 0 is not allowed: it must be an integer >= 1"),
        ("counts --unknown drop", "this is a file of counts"),
    ):
        assert says in refusal(capsys, f"estimate PLAN.json {asked} --csv out.csv")
    assert not (tmp_path / "out.csv").exists()
    status, _, said = run(capsys, "estimate PLAN.json messages --unknown drop --anyway")
    assert status == 0
    assert "lines of messages that are not messages and are left out: 1" in said


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda lines: lines, None),
        (lambda lines: lines * 2, "is every line there twice"),
        (lambda lines: lines[: len(lines) // 12 * 2], "messages, but 60 users of this plan send"),
        (lambda lines: "", "0 messages, but 60 users of this plan send"),
        (lambda lines: counts_text([0] * D), "0 messages, but 60 users of this plan send"),
        (lambda lines: "0\n" * 240, "the count of item 'tea', 240, is not in"),
    ],
    ids=["whole", "twice", "cut", "empty", "zeros", "another"],
)
def test_what_the_users_cannot_have_sent_is_refused_or_marked(plan, published, capsys, tmp_path, change, says):
    (tmp_path / "m").write_text(change(sent_by(plan)))
    command, table = "estimate PLAN.json m --csv out.csv", tmp_path / "out.csv"
    if says is None:
        assert "impossible" not in printed(capsys, command).lower()
        assert "impossible" not in table.read_text()
        return
    said = refusal(capsys, command)
    assert says in said
    assert "--anyway" in said
    assert not table.exists()
    assert says in printed(capsys, f"{command} --anyway")
    assert all(line.endswith(",True") for line in table.read_text().splitlines()[1:])
    found = answer(capsys, f"{command} --anyway")
    assert says in found["impossible"]
    assert all(row["impossible"] for row in found["estimates"])


@pytest.mark.parametrize(
    ("change", "options", "says"),
    [
        (lambda lines: lines[:-7], "--messages {n}", "7 were lost"),
        (lambda lines: lines + lines[:10], "--messages {n}", "10 are too many, such as repeated lines"),
        (lambda lines: [*lines[1:], "x"], "--messages {n} --unknown drop", None),
        (lambda lines: lines, "--messages {n} --senders 60", None),
        (lambda lines: lines, "--senders 58 --levels 1:40,2:20", "58 users sent (--senders), but --levels has 60"),
        (lambda lines: lines, "--senders 58 --levels 1:39,2:19", None),
    ],
)
def test_what_the_shuffler_knows_is_compared(plan, published, capsys, tmp_path, change, options, says):
    """The damage is too small to be noticed without the shuffler's numbers."""
    lines = sent_by(plan).splitlines()
    (tmp_path / "m").write_text("".join(f"{line}\n" for line in change(lines)))
    plain = "estimate PLAN.json m --unknown drop"
    command = f"{plain} {options.format(n=len(lines))}"
    assert "--messages N" in answer(capsys, plain)["not_noticed"]
    if says is None:
        assert ("--messages N" in answer(capsys, command)["not_noticed"]) == ("--messages" not in options)
        return
    assert says in refusal(capsys, command)
    assert says in answer(capsys, f"{command} --anyway")["impossible"]


def named(published, collection=1):
    """Return the line that names a collection, as docs/wire.md describes it."""
    return f"#{json.loads(published.read_text())['digest'][:16]}-{collection}\n"


@pytest.mark.parametrize("counted", [False, True])
def test_messages_say_to_which_collection_they_belong(plan, published, capsys, tmp_path, counted):
    """A line that names another collection is refused: a plan whose items have another order, or last week's file."""
    lines, own, last = sent_by(plan), named(published), named(published, 2)
    other = json.loads(published.read_text())["items"][::-1]
    save_plan(plan, tmp_path / "other.json", other)
    moved = named(tmp_path / "other.json")

    def write(*names):
        """Write the messages, or their counts, with lines that name collections in the middle."""
        if not counted:
            half = lines.index("\n", len(lines) // 2) + 1
            (tmp_path / "m").write_text(lines[:half] + "".join(names) + lines[half:])
            return
        counts = np.bincount(np.array(lines.split(), dtype=int), minlength=D)
        (tmp_path / "m").write_text(counts_text(counts) + "".join(f"{each.strip()},1\n" for each in names))

    unnamed = "messages of another plan or collection"
    write()
    assert unnamed in answer(capsys, "estimate PLAN.json m")["not_noticed"]
    write(own, own)
    found = answer(capsys, f"estimate PLAN.json m --messages {lines.count(chr(10))}")
    assert unnamed not in found["not_noticed"]
    assert found["messages"] == lines.count("\n")
    for names, options in (((last,), ""), ((moved, own), ""), ((own,), "--collection 2"), ((moved,), "--unknown drop")):
        write(*names)
        if counted and "drop" in options:
            continue
        said = refusal(capsys, f"estimate PLAN.json m {options}")
        assert f"of {len(names)} lines that name a collection" in said
        assert (
            "another collection than --collection"
            in answer(capsys, f"estimate PLAN.json m {options} --anyway")["impossible"]
        )
    write(last)
    assert "impossible" not in answer(capsys, "estimate PLAN.json m --collection 2")
    # one sender who is mistaken, or lies, can be left out
    if not counted:
        write(own, last, own)
        assert answer(capsys, "estimate PLAN.json m --unknown drop")["dropped"] == 1


def test_clients_name_the_collection(published, capsys):
    lines = collected(published, capsys)
    assert lines.startswith(named(published))
    assert lines.count("#") == 1
    asked = f"client PLAN.json --items tea --level 1 --delta 0.01 --honest-users {N} --level-budget no --budget 2,0.1"
    for collection in (1, 2, 1):
        sent = printed(capsys, f"{asked} --account {published.parent}/one.json --collection {collection}")
        assert sent.startswith(named(published, collection))


@pytest.mark.parametrize("text", ["{mark}0\r\n1\n{mark}1\n", "{mark}item,count\n0,1\n1,2\n2,0\n3,0\n4,0\n5,0\n"])
def test_byte_order_marks_are_no_part_of_a_message(published, capsys, tmp_path, text):
    """Several files with a mark may have been joined."""
    (tmp_path / "m").write_text(text.format(mark="\ufeff"), encoding="utf-8")
    assert [row["messages"] for row in estimated(capsys, "m --anyway")] == [1, 2, 0, 0, 0, 0]


def test_an_output_is_never_an_input(published, plan, capsys, tmp_path, monkeypatch):
    lines = sent_by(plan)
    (tmp_path / "m").write_text(lines)
    (tmp_path / "linked").symlink_to("m")
    (tmp_path / "names").write_text("\n".join(NAMES))
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    for output in ("PLAN.json", "m", "./m", "linked"):
        said = refusal(capsys, f"estimate PLAN.json m --csv {output}")
        assert f"--csv {output.removeprefix('./')!r} is not allowed" in said
    with (tmp_path / "m").open() as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        assert "--csv 'm'" in refusal(capsys, "estimate PLAN.json - --csv m")
    assert "--save 'names'" in refusal(capsys, f"{SMALL} --items names --save names")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_one_user_who_stays_away_spoils_nothing(tmp_path, capsys):
    problem = Problem(5, 1, (0.5, 1.0), (400, 1600), 1e-5)
    plan = ProvenSegmented().plan(problem)
    save_plan(plan, tmp_path / "p")
    for counts in ((399, 1600), (400, 1400)):
        (tmp_path / "m").write_text(sent_by(plan.of_participants(counts, fewer=True)))
        _, out, said = run(capsys, f"estimate {tmp_path}/p {tmp_path}/m --json --levels 0.5:{counts[0]},1:{counts[1]}")
        assert f"relies on 2000 honest users, and {sum(counts)} took part" in said
        found = json.loads(out)
        expected = [
            {"honest_users": sum(counts), "level": level, "epsilon": epsilon, "delta": 1e-5}
            for level, epsilon in zip((0.5, 1.0), epsilons(plan, sum(counts)), strict=True)
        ]
        assert found["guarantee"] == expected
        assert expected[0]["epsilon"] > 0.5
        assert len(found["estimates"]) == 5
    # without --levels the shares at the levels are those of the plan
    found = json.loads(run(capsys, f"estimate {tmp_path}/p {tmp_path}/m --json --senders 1800")[1])
    assert [row["honest_users"] for row in found["guarantee"]] == [1800] * 2
    assert "shares of the users at the levels are those of the plan" in found["assumed"]
    assert found["users"] == 1800


def test_plan_says_which_share_of_the_users_it_expects(tmp_path, capsys):
    asked = "plan --items 5 --set-size 1 --levels 1:2000 --delta 1e-5 --honest-fraction 0.9"
    found = answer(capsys, f"{asked} --save {tmp_path}/p")
    assert (found["share_expected"], found["honest_users"]) == (0.9, 1800)
    (tmp_path / "m").write_text(sent_by(read_plan(tmp_path / "p").plan.of_participants((1800,))))
    command = f"estimate {tmp_path}/p {tmp_path}/m --levels"
    enough = [{"honest_users": 1800, "level": 1.0, "epsilon": 1.0, "delta": 1e-5}]
    assert answer(capsys, f"{command} 1:1800")["guarantee"] == enough
    fewer = run(capsys, f"{command} 1:1799 --json")[1]
    assert [row["honest_users"] for row in json.loads(fewer)["guarantee"]] == [1799, 1619]
    # whoever sets a floor gets no estimates below it
    asked = f"{command} 1:1799 --least-users 1800"
    assert "1799 users took part, fewer than --least-users 1800: no estimates" in refusal(capsys, asked)


def test_plan_writes_what_the_others_read(tmp_path, capsys):
    (tmp_path / "names").write_text("\n".join(NAMES) + "\n")
    asked = f"{SMALL} --save {tmp_path}/p --items {tmp_path}/names"
    _, _, said = run(capsys, asked)
    found = read_plan(tmp_path / "p")
    assert found.items == list(NAMES)
    # whoever sends more than an honest user can is refused
    assert found.plan.scheme.blanket_cap is not None
    assert f"refuse a sender of more than {found.plan.scheme.most_messages:.0f} messages" in said
    (tmp_path / "names").write_text("one\none\n")
    assert "line 2: 'one' is on line 1 already" in refusal(capsys, asked)


@pytest.mark.exhaustive
@pytest.mark.parametrize("blanket", [None, Clustered(0.6), Signed(0.3, 0.85, 0.6)])
def test_memory_does_not_grow_with_the_number_of_users_that_is_typed(tmp_path, blanket):
    save_plan(given_plan(Problem(D, 2, (1.0, 2.0), (1000, 500), 0.1), (0.1, 0.1), 3.0, blanket), tmp_path / "p")
    (tmp_path / "m").write_text(f"{'+' * isinstance(blanket, Signed)}0\n")
    limited = f'ulimit -v {2**20}; exec "{sys.executable}" -m segshuffle estimate p m --anyway --levels 1:1e15,2:500'
    done = subprocess.run(["bash", "-c", limited], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.exhaustive
def test_ten_million_items_are_estimated_in_a_gigabyte(tmp_path):
    d = 10**7
    save_plan(given_plan(Problem(d, 1, (1.0,), (10**5,), 0.999), (1.0,), 4.0), tmp_path / "p")
    drawn = np.random.default_rng(5).integers(0, d, 4 * 10**5)
    (tmp_path / "m").write_text("".join(f"{item}\n" for item in drawn.tolist()))
    limited = f'ulimit -v {2**20}; exec "{sys.executable}" -m segshuffle estimate p m --csv all.csv --top 1000 --json'
    done = subprocess.run(["bash", "-c", limited], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)["estimates"]) == 1000


@pytest.mark.exhaustive
def test_the_commands_of_the_guide_run(tmp_path, capsys, monkeypatch, root):
    guide = (root / "docs/collect.md").read_text(encoding="utf-8")
    (names,) = re.findall(r"```text\n(.*?)```", guide, re.DOTALL)
    (tmp_path / "items.txt").write_text(names)
    monkeypatch.chdir(tmp_path)
    shell = f'segshuffle() {{ "{sys.executable}" -m segshuffle "$@"; }}\n'
    done = [
        subprocess.run(["bash", "-euc", shell + block], capture_output=True, text=True, check=True)
        for block in re.findall(r"```bash\n(.*?)```", guide, re.DOTALL)
    ]
    assert len(done) == 5
    # everybody holds tea
    assert re.search(r'\n# Users who .* 1000 users .*\nitem,users,users_low,users_high,.*\n"tea",', done[-1].stdout)
    (most,) = re.findall(r"must refuse a sender of more than (\d+) messages", done[0].stderr)
    assert f'-le {most} ] || mv "$file" refused' in guide
    assert sorted(path.name for path in (tmp_path / "inbox").iterdir()) == ["ada", "ben"]
    (again,) = re.findall(r"segshuffle (client .*ada.json) > inbox/ada", guide)
    assert printed(capsys, again) == (tmp_path / "inbox/ada").read_text()
    refusal(capsys, f"{again} --collection 2")
    (more,) = re.findall(r"until she also gives `(--budget [\d.]+)`", guide)
    printed(capsys, f"{again} --collection 2 {more}")
    assert (tmp_path / "estimates.csv").read_text().startswith("item,users,users_low,users_high,estimate,low,")
