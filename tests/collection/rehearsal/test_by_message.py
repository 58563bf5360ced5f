"""Both rounds message by message, and sizes of sets: the expected errors, who takes part, and what is refused."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from commands import answer, printed, refusal

from segshuffle.collection.rehearsal.by_message import by_message
from segshuffle.datasets.own.transactions import Transactions
from segshuffle.errors import DataError, ParameterError
from segshuffle.plans.level_counts import LevelPrivacy
from segshuffle.plans.plan import Assumptions, Problem
from segshuffle.protocols.proven import ProvenSegmented

N, D, S = 300, 10, 2
PROBLEM = Problem(D, S, (0.5, 2.0), (100, 200), 1e-3)
PRIVATE = LevelPrivacy(1.0, 1e-3)


@pytest.fixture(scope="module")
def users():
    """Make users who hold one to four items, lower numbers more often."""
    rng = np.random.default_rng(8)
    shares = np.arange(D, 0, -1) / np.arange(D, 0, -1).sum()
    return Transactions.from_sets(
        [rng.choice(D, size=rng.integers(1, 5), replace=False, p=shares).tolist() for _ in range(N)],
        [str(item) for item in range(D)],
    )


def run_of(users, problem=PROBLEM, method=None, **options):
    return by_message(users, problem, (method or ProvenSegmented()).plan, **options)


@pytest.mark.quick(0)
@pytest.mark.parametrize("privacy", [None, PRIVATE], ids=["shuffled", "private"])
def test_messages_have_the_expected_error(users, privacy):
    """With cutting, squared over expected error has mean 1. A mean of 10 squares has a deviation of about sqrt(2/9)."""
    runs = [run_of(users, level_privacy=privacy, seed=seed) for seed in range(16)]
    ratios = np.array([run["squared_error"] / run["expected_error"] for run in runs])
    assert abs(ratios.mean() - 1) < 5 * math.sqrt(2 / 9 / ratios.size)


def test_the_result_is_json_and_adds_up(users):
    options = {"method": ProvenSegmented(copies_max=4.0, max_messages=25.0), "level_privacy": LevelPrivacy(0.5, 1e-3)}
    run = run_of(users, **options)
    assert json.loads(json.dumps(run, allow_nan=False)) == run
    assert run["blanket_levels"] > 0
    assert sum(run["level_counts_planned"]) == N
    assert run["messages_per_user"] == (run["level_messages"] + run["item_messages"]) / N
    assert run["bytes"] == run["level_messages"] + run["item_messages"], "one byte per message at d = 10"
    assert run["refused"] == {"levels": 0, "items": 0}
    assert [each["total_epsilon"] for each in run["guarantees"]] == pytest.approx([2.5, 2.5])
    assert run_of(users, **options) == run


@pytest.mark.parametrize("equal", [False, True])
def test_levels_that_go_with_the_items_bias_the_estimates(users, equal):
    """Holders of item 0 are conservative: the item's estimate is low, unless all levels send equally many copies."""
    held = np.add.reduceat(users.codes == 0, users.offsets[:-1]) > 0
    problem = replace(PROBLEM, set_size=4, level_counts=(int(held.sum()), int((~held).sum())))
    chosen = replace(users, levels=np.where(held, 0, 1).astype(np.int16))
    run = run_of(chosen, problem, ProvenSegmented(equal_copies=equal))
    copies = np.array(run["copies"])[chosen.levels]
    entries = np.repeat(copies, users.sizes)
    expected = np.bincount(users.codes, weights=entries, minlength=D) / copies.sum() - users.frequencies
    assert run["bias"] == pytest.approx(expected.tolist(), rel=1e-9, abs=len(entries) * math.ulp(0.5))
    assert (max(map(abs, run["bias"])) < 1e-15) == equal
    assert run["level_estimates"] == list(map(float, problem.level_counts))


def test_estimates_are_those_of_who_took_part(users):
    problem = replace(PROBLEM, set_size=4, assumptions=Assumptions(honest_fraction=0.3))
    runs = [run_of(users, problem, take_part=0.5, seed=seed) for seed in range(4)]
    assert all(100 < run["participants"] < 200 for run in runs)
    # with the number of all users estimates would be half as large
    totals = [sum(run["estimate"]) / users.sizes.mean() for run in runs]
    assert np.mean(totals) == pytest.approx(1.0, abs=0.25)
    with pytest.raises(ParameterError, match="users, whom the guarantee relies on"):
        run_of(users, problem, take_part=0.1)


@pytest.mark.parametrize(
    ("change", "options", "error", "says"),
    [
        ({}, {"take_part": 0.0}, ParameterError, r"take_part = 0.0 .* in \(0, 1\]"),
        ({"level_counts": (100, 199)}, {}, DataError, "300 users, but the plan is for 299"),
        ({"domain_size": 5}, {}, DataError, "10 items, but the plan is for 5"),
    ],
)
def test_what_was_not_planned_for_is_refused(users, change, options, error, says):
    with pytest.raises(error, match=says):
        run_of(users, replace(PROBLEM, **change), **options)


# --- by the command --------------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def without_figures(monkeypatch):
    monkeypatch.setattr("segshuffle.collection.rehearsal.results.write_figures", lambda *_: [])


def test_a_rehearsal_draws_every_message_if_asked(log, capsys):
    asked = "rehearse log.csv --set-size 2 --levels 1:30%,2:70% --delta 1e-4 --repetitions 1"
    asked += " --hide-level 1 --honest-fraction 0.5 --messages --take-part 0.9"
    shown = printed(capsys, asked)
    assert "Message by message:" in shown
    assert "The level itself: if a user had another level and other items" in shown
    assert "No plan.json is written" in shown
    assert not list(log.parent.rglob("plan.json"))
    run = answer(capsys, asked)["by_message"]
    assert 200 < run["participants"] < 300


def test_sizes_of_sets_are_compared_on_a_file(log, capsys):
    asked = "rehearse log.csv --set-size 1,2,3 --levels 1:30%,2:70% --delta 1e-4"
    rows = answer(capsys, asked)["rows"]
    sizes = [(row["sets"], row["set_size"]) for row in rows]
    assert sizes == [(kind, size) for kind in ("at-most", "exactly") for size in (1, 2, 3)]
    biases = [row["squared_bias"] for row in rows[:3]]
    assert biases[0] > biases[1] > 0
    assert biases[2] < 1e-20
    assert rows[5]["squared_bias"] > 0.1, "padding is worse"
    shown = printed(capsys, asked)
    assert len(shown.splitlines()) == 12
    assert "These numbers are the users' own, and not private" in shown
    assert answer(capsys, asked)["notes"][0].startswith("These numbers are the users' own")


def test_few_users_send_fewer_items(capsys):
    """By a guess of what they hold: noise decides the best size if users are few, and cutting if they are many."""
    best = {}
    for users in (200, 500_000):
        found = answer(capsys, f"rehearse 1:95%,8:5% --items 20 --levels 1:{users} --delta 1e-7")
        best[users] = found["least_error"]["set_size"]
        assert found["least_error"]["mse"] == min(row["mse"] for row in found["rows"])
        assert found["notes"] == []
        assert [row["squared_bias"] > 1e-20 for row in found["rows"]] == [True, False]
    assert best == {200: 1, 500_000: 8}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("", "the following arguments are required: FILE"),
        ("1:100%", "the following arguments are required: --items"),
        ("1:50%,1:50% --items 9", "each size once"),
        ("1:50%,2:half --items 9", "'1:50%,2:half' is no guess: write size:share%"),
        ("log.csv --colour blue", "--colour is unknown"),
        ("--copies-max 4 log.csv --formt csv", "--formt is unknown (did you mean --format?)"),
        ("log.csv --layout form=wide header=no", "form=wide is written --form wide now"),
        (
            "1:50%,2:50%,zipf:2 --items 9",
            "is no guess: write size:share% pairs with commas, each size once, and --guess zipf:1 apart",
        ),
        ("log.csv --messages --plan plan.json", "leave --plan out"),
        ("log.csv --messages --set-size 1,2", "compare no set sizes"),
        ("log.csv --top 0", "--top: number = 0 is not allowed: it must be an integer >= 1"),
        ("log.csv --repetitions 0", "--repetitions: number = 0 is not allowed: it must be an integer >= 1"),
        ("log.csv --out .", "holds something other"),
    ],
)
def test_what_cannot_be_rehearsed_is_refused(log, capsys, arguments, says):
    assert says in refusal(capsys, f"rehearse {arguments} --levels 1:300 --delta 1e-4")
    assert [path.name for path in log.parent.iterdir()] == ["log.csv"]
