"""The client as a command: honest plans are served at every level, lies and what exceeds the account are refused."""

import io
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from commands import messages_of, printed, refusal, run
from given_plans import edited, given_plan

from segshuffle.cli import main
from segshuffle.cli.client_account_file import default_path
from segshuffle.collection.planning.documents import read_plan, save_plan
from segshuffle.datasets.own.reading import read_transactions
from segshuffle.plans.plan import PLAIN, Assumptions, Problem
from segshuffle.protocols.proven import ProvenSegmented

PRIVATE = Problem(17, 4, (0.5, 1.0, 2.0), (1250, 2500, 1250), 2e-6, Assumptions("exactly", private_levels=True))


@pytest.fixture(scope="module")
def planned():
    return ProvenSegmented(blanket_per_user=0.46).plan(PRIVATE)


def saved(folder, plan, names=None):
    """Write a plan, and return the file."""
    save_plan(plan, folder / "plan.json", names)
    return folder / "plan.json"


@pytest.fixture
def published(planned, tmp_path):
    return saved(tmp_path, planned)


def client(plan, options="", *, items="0,1,2,3", level=0.5, honest_users=5000, account="mine.json"):
    """Return the command of a user whose account is beside the plan."""
    asked = f"client {plan} --level {level} --account {plan.parent}/{account} {options}"
    asked += "" if honest_users is None else f" --honest-users {honest_users}"
    return [*asked.split(), "--items", items]


def spent(plan, account="mine.json"):
    return json.loads((plan.parent / account).read_text())["collections"]


# --- honest plans ----------------------------------------------------------------------------------------------------


def random_plan(rng):
    """Return options of `plan`, of any kind that it can save."""
    d = int(rng.integers(2, 21))
    s = int(rng.integers(1, min(d - 1, 5) + 1))
    n_levels = int(rng.integers(1, 4))
    levels = np.round(np.sort(rng.uniform(0.4, 4.0, n_levels)) + [0.0, 0.1, 0.2][:n_levels], 2)
    asked = f"plan --items {d} --set-size {s} --sets {rng.choice(['exactly', 'at-most'])} --levels "
    counts = rng.integers(500, 5000, n_levels)
    asked += ",".join(f"{e}:{n}" for e, n in zip(levels, counts, strict=True))
    deltas = 10.0 ** -rng.integers(5, 10, n_levels if rng.random() < 0.4 else 1)
    asked += f" --delta {','.join(f'{delta:g}' for delta in deltas)}"
    for option in ("--honest-fraction 0.77", "--rounds 3", "--copies-max 2.5"):
        asked += f" {option}" if rng.random() < 0.4 else ""
    law = str(rng.choice(["poisson", "equal", "capped", "clustered", "signed"]))
    if law in ("clustered", "signed"):
        return f"{asked} --dummies {law} --max-messages 60"
    more = {"equal": "--equal-copies", "capped": "--blanket-cap auto", "poisson": ""}[law]
    return f"{asked} --dummies poisson --blanket-per-user {rng.uniform(0.3, 20.0):.3g} {more}"


@pytest.mark.quick("6", "11", "20", "28")
@pytest.mark.parametrize("seed", range(80))
def test_every_level_of_every_honest_plan_sends(seed, tmp_path, capsys):
    asked, plan = random_plan(np.random.default_rng(seed)), tmp_path / "plan.json"
    status, _, said = run(capsys, f"{asked} --save {plan}")
    if status:
        assert "too small" in said, asked
        return
    problem = read_plan(plan).plan.problem
    assumed = problem.assumptions
    # what the plan says of another level: the larger epsilon and delta of the two
    promised = assumed.sets == "at-most" or problem.domain_size >= 2 * problem.set_size
    hidden = f"{problem.levels[-1]},{max(problem.deltas)}" if promised else "no"
    items = ",".join(map(str, range(problem.set_size)))
    for k, (level, delta) in enumerate(zip(problem.levels, problem.deltas, strict=True)):
        own = f"--sets {assumed.sets} --rounds {assumed.rounds} --delta {10 * delta:g} --level-budget {hidden}"
        user = {"items": items, "level": level, "honest_users": problem.honest_users, "account": f"{k}.json"}
        for collection in range(1, assumed.rounds + 1):
            printed(capsys, client(plan, f"{own} --collection {collection}", **user))
        (entry,) = spent(plan, f"{k}.json")
        assert entry["sent"] == assumed.rounds
        assert entry["items_spent"] == [level, delta], "as the plan promises, not as the user's own looser bound says"
        assert entry["level_spent"][0] <= max(level, problem.levels[-1])
        assert entry["level_spent"][1] <= max(problem.deltas)


def test_the_level_is_told_at_the_larger_of_two_epsilons_and_no_less(published, capsys):
    """The plan promises a user of a conservative level its own epsilon for items, and the larger one for the level."""
    _, messages, said = run(capsys, client(published, "--delta 2e-6"))
    assert set(messages_of(messages)) <= set(map(str, range(17)))
    (entry,) = spent(published)
    assert (entry["items_spent"][0], entry["level_spent"][0]) == (0.5, 2.0)
    assert "at most epsilon = 0.5 and delta = 2e-06 about the items" in said
    assert "at most epsilon = 2 and delta = 2e-06 about the level" in said
    # the copies show that much: a client with a smaller limit refuses to send, whatever the server claims
    for limit in ("0.5", "0.9"):
        asked = client(published, f"--delta 2e-6 --level-budget {limit}", account="other.json")
        assert "a user of level 0 who may be one of level 1" in refusal(capsys, asked)
    assert not (published.parent / "other.json").exists()


def test_equal_copies_show_the_level_at_its_own_epsilon(tmp_path, capsys):
    problem = Problem(17, 4, (0.5, 2.0), (2500, 2500), 2e-6, PLAIN)
    plan = saved(tmp_path, ProvenSegmented(0.46, equal_copies=True).plan(problem))
    printed(capsys, client(plan, "--level-budget 0.5"))
    assert spent(plan)[0]["level_spent"][0] == 0.5


# --- lies ------------------------------------------------------------------------------------------------------------


def lie(published, **changes):
    """Replace numbers of the saved plan; `changes` is a dict of values for each part."""
    edited(published, **changes)
    return published


@pytest.mark.parametrize(
    ("changes", "options", "says"),
    [
        # ten times as many users as there are, each of whom sends a tenth of the dummies
        (
            {"problem": {"level_counts": [12500, 25000, 12500]}, "scheme": {"blanket_per_user": 0.046}},
            "",
            "5000 honest",
        ),
        # the plan says that levels are public, and the copies reveal them
        ({"assumptions": {"private_levels": False}, "scheme": {"copies": [0.5, 8.0, 1.0]}}, "", "of level 1"),
        # that there is a level with hardly any promise (epsilon 99) is only the server's claim
        ({"problem": {"levels": [0.5, 1.0, 99.0]}, "scheme": {"copies": [0.5, 1.0, 8.0]}}, "", "of level 2"),
        ({"problem": {"domain_size": 4}, "scheme": {"blanket_per_user": 0.001}}, "", "as the user believes"),
        ({"problem": {"domain_size": 4}}, "--sets exactly", "sets of exactly 4 of 4 items"),
        ({"assumptions": {"honest_fraction": 1.0, "rounds": 1}}, "--rounds 4 --collection 1", "as the user believes"),
    ],
)
def test_what_the_plan_says_of_itself_is_not_believed(published, capsys, changes, options, says):
    assert says in refusal(capsys, client(lie(published, **changes), f"--delta 2e-6 {options}"))
    assert not (published.parent / "mine.json").exists()


def test_sets_of_one_size_are_the_users_word(tmp_path, capsys):
    """Sets of exactly four of five items differ in one; a user who may hold fewer has four pairs to hide."""
    plan = saved(tmp_path, ProvenSegmented(0.03).plan(Problem(5, 4, (1.0,), (5000,), 2e-6, PLAIN)))
    refusal(capsys, client(plan, "--delta 2e-6", level=1.0))
    printed(capsys, client(plan, "--delta 2e-6 --sets exactly", level=1.0))


# --- the account -----------------------------------------------------------------------------------------------------


def test_what_is_asked_once_is_remembered(published, capsys):
    assert "More is needed: --honest-users (how" in refusal(capsys, client(published, honest_users=None))
    printed(capsys, client(published, "--level-budget no --budget 2"))
    status, _, said = run(capsys, client(published, "--collection 2", honest_users=None))
    assert status == 0
    assert "of the level" not in said
    # now the user believes in fewer honest users, which is remembered only when something is sent
    asked = client(published, "--collection 3 --level-budget no", honest_users=50)
    assert "mine.json sets" not in refusal(capsys, asked)
    printed(capsys, client(published, "--collection 3", honest_users=None))
    # what is not said in the call comes from the file
    asked = client(published, "--collection 4 --delta 1e-12", honest_users=None)
    assert "mine.json sets --honest-users and --level-budget" in refusal(capsys, asked)


def test_a_collection_beyond_the_budget_is_refused(published, capsys):
    printed(capsys, client(published))
    before = spent(published)
    again = "--collection 2"
    said = refusal(capsys, client(published, again))
    assert "epsilon = 1 and delta" in said
    assert "--budget is 0.5 and 1e-05" in said
    assert spent(published) == before
    assert "--level-budget is 2" in refusal(capsys, client(published, f"{again} --budget 1"))
    printed(capsys, client(published, f"{again} --budget 1 --level-budget 4"))
    assert [entry["items_spent"][0] for entry in spent(published)] == [0.5, 0.5]
    # deltas add up as well, and another user has another account
    asked = client(published, "--collection 3 --budget 9,4.1e-6 --level-budget 9")
    assert "--budget is 9 and 4.1e-06" in refusal(capsys, asked)
    printed(capsys, client(published, account="hers.json"))


def test_ten_times_a_tenth_is_one(tmp_path, capsys):
    problem = Problem(30, 1, (0.1,), (10**6,), 1e-6)
    for turn in range(11):
        plan = saved(tmp_path, given_plan(problem, (1e-6,), 30.0 + turn, kind="upper"))
        status, _, said = run(capsys, client(plan, "--budget 1", items="", level=0.1, honest_users=10**6))
        assert status == (0 if turn < 10 else 2), said


def test_rounds_are_paid_once_and_checked_together(tmp_path, capsys):
    problem = Problem(17, 4, (1.0,), (5000,), 2e-6, Assumptions("exactly", rounds=2))
    plan = saved(tmp_path, ProvenSegmented(1.0).plan(problem))
    # what would spend everything in the first collection, or send a second answer to it, is asked for
    assert "Add --rounds 2 --collection K." in refusal(capsys, client(plan, level=1.0))
    assert "More is needed: --collection (the number" in refusal(capsys, client(plan, "--rounds 2", level=1.0))
    assert not (tmp_path / "mine.json").exists()
    for sent in (1, 2):
        printed(capsys, client(plan, f"--rounds 2 --collection {sent}", level=1.0))
        assert [entry["sent"] for entry in spent(plan)] == [sent]
    assert "--budget is 1" in refusal(capsys, client(plan, "--rounds 2 --collection 3", level=1.0))
    another = client(plan, "--rounds 1 --collection 3", level=1.0)
    assert "--budget is 1" in refusal(capsys, another), "another guarantee is another payment"


def test_a_collection_is_answered_once_and_the_same_messages_are_sent_again(tmp_path, capsys):
    """Fresh messages about the same items would reveal more than was paid for, and so would other items."""
    problem = Problem(17, 4, (0.5, 1.0), (2500, 2500), 2e-6)
    plan = saved(tmp_path, ProvenSegmented(5.0).plan(problem))
    first = printed(capsys, client(plan, "--collection 1"))
    before = (tmp_path / "mine.json").read_bytes()
    # in other order, and with all limits raised
    for options, items in (("", "3,2,1,0"), ("--budget 9 --level-budget 9", "0,1,2,3"), ("--sets exactly", "0,1,2,3")):
        status, messages, said = run(capsys, client(plan, options, items=items))
        assert (status, messages) == (0, first)
        assert "mine.json; nothing more is spent" in said
    for options, user in (("", {"items": "0,1,2"}), ("", {"level": 1.0}), ("--rounds 3 --collection 1", {"items": ""})):
        said = refusal(capsys, client(plan, f"--budget 9 --level-budget 9 {options}", **user))
        assert "mine.json says that collection 1 of this plan was answered already" in said
        assert "give --collection 2" in said
    assert (tmp_path / "mine.json").read_bytes() == before
    # another collection: other messages, which are paid for; those of the first are kept
    second = printed(capsys, client(plan, "--collection 2 --budget 1 --level-budget 2"))
    assert second != first
    assert [printed(capsys, client(plan, f"--collection {each}")) for each in (1, 2)] == [first, second]
    # the same numbers with other items are another plan
    other = saved(tmp_path, read_plan(plan).plan, [f"item {number}" for number in range(17)])
    items = ",".join(f"item {number}" for number in range(4))
    assert "--budget is 1" in refusal(capsys, client(other, items=items))


@pytest.mark.parametrize("broken", ["full", "closed"])
def test_what_could_not_be_written_is_written_by_the_same_call(published, tmp_path, monkeypatch, capsys, broken):
    """Nothing comes out that was not stored before, and nothing that was stored is lost."""
    account = tmp_path / "state/segshuffle/client.json"
    seen = []

    class Broken(io.StringIO):
        def write(self, text):
            seen.append((text, json.loads(account.read_text())["collections"][0]["sent"]))
            raise BrokenPipeError if broken == "closed" else OSError

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    asked = f"client {published} --items 0 --level 0.5 --honest-users 5000".split()
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", Broken())
        assert main(asked) == 1
    assert seen[0][1] == 1
    assert account.stat().st_mode & 0o077 == 0
    assert [path.name for path in account.parent.iterdir()] == ["client.json"]
    assert printed(capsys, asked).strip() == seen[0][0].strip()
    assert json.loads(account.read_text())["collections"][0]["sent"] == 1


def test_nobody_else_can_read_an_account_at_any_moment(published, monkeypatch, capsys):
    """Whoever opens a file while others may read it reads all that is written later."""
    opened, modes = os.open, []

    def watched(path, *args, **options):
        descriptor = opened(path, *args, **options)
        if ".part" in str(path):
            modes.append(os.fstat(descriptor).st_mode & 0o777)
        return descriptor

    monkeypatch.setattr(os, "open", watched)
    printed(capsys, client(published))
    users = published.parent / "users.csv"
    users.write_text("user,item\na,0\n")
    given = f"--users {users} --level 0.5 --account {published.parent}/all.json --honest-users 5000"
    printed(capsys, f"client {published} {given}")
    assert set(modes) == {0o600}


@pytest.mark.exhaustive
def test_four_clients_at_once_spend_four_times(published, tmp_path):
    """Clients that run at the same time take turns with the account, so that no entry is lost."""
    asked = [sys.executable, "-m", "segshuffle", *client(published, "--budget 9 --level-budget 9")]
    with (tmp_path / "out").open("w") as out:
        started = [subprocess.Popen([*asked, "--collection", each], stdout=out) for each in "1234"]
        assert [each.wait() for each in started] == [0] * 4
    assert len(spent(published)) == 4


def test_the_account_is_where_programs_keep_what_they_remember(monkeypatch):
    monkeypatch.setenv("HOME", "/home/ada")
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    assert str(default_path()) == "/home/ada/.local/state/segshuffle/client.json"
    monkeypatch.setenv("XDG_STATE_HOME", "/state")
    assert str(default_path()) == "/state/segshuffle/client.json"


def test_the_account_is_not_the_plan(published, capsys):
    before = published.read_text()
    assert "--account " in refusal(capsys, client(published, account="plan.json"))
    assert published.read_text() == before


# --- items -----------------------------------------------------------------------------------------------------------


def test_of_too_many_items_a_random_choice_is_sent(tmp_path, capsys):
    """All copies are sent and hardly any dummies: at least two of five items a time, and all five in 40 runs."""
    problem = Problem(9, 2, (90.0,), (10**6,), 1e-3)
    plan = saved(tmp_path, given_plan(problem, (1.0,), 1e-3, kind="upper"))
    user = {"items": "0,1,2,3,4", "level": 90.0, "honest_users": 10**6}
    seen = set()
    for turn in range(40):
        _, messages, said = run(capsys, client(plan, "--delta 0.5", **user, account=str(turn)))
        assert "holds 5 items; a random choice of 2" in said
        chosen = set(map(int, messages_of(messages))) & set(range(5))
        assert len(chosen) >= 2
        seen |= chosen
    assert seen == set(range(5))


def test_names_are_the_same_on_all_sides(planned, tmp_path, capsys):
    """Blanks around a name and the two ways to write an accent make no difference, in a call, a file and a list."""
    names = ["About Microsoft ", " a, b", "caf\u00e9", *map(str, range(14))]
    plan = saved(tmp_path, planned, names)
    items = 'About Microsoft , "a, b",cafe\u0301, 1'
    first = printed(capsys, client(plan, items=items))
    assert printed(capsys, client(plan, items='"About Microsoft","a, b ",caf\u00e9,1')) == first
    assert spent(plan)[0]["answers"][0]["items"] == [0, 1, 2, 4]
    assert "given twice" in refusal(capsys, client(plan, items="About Microsoft,About Microsoft "))
    for other in ("milk", "level=3"):  # not an option of earlier versions
        assert f"item '{other}' is none of the plan's 17 items" in refusal(capsys, client(plan, items=other))
    (tmp_path / "names.txt").write_text("\n".join(names) + "\n", encoding="utf-8")
    (tmp_path / "users.csv").write_text(
        'user,item\na,About Microsoft \na," a, b"\na,cafe\u0301 \na,1\n', encoding="utf-8"
    )
    found = read_transactions(tmp_path / "users.csv", items=tmp_path / "names.txt")
    assert found.codes.tolist() == [0, 1, 2, 4]
