"""Both rounds on a file: the same answer from messages and from counts, and refusals that say what to do."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from segshuffle.cli.both_rounds import read_levels, simulate_users
from segshuffle.datasets.files.reading import read_transactions
from segshuffle.datasets.transactions import Transactions
from segshuffle.errors import DataError, ParameterError
from segshuffle.protocols.assumptions import Assumptions
from segshuffle.protocols.messages import LevelPrivacy

N, D, S = 300, 10, 2
COUNTS = ((0.5, 100), (2.0, 200))
FAST = {"delta": 1e-3, "level_counts": COUNTS, "seed": 1}


def simulate_file(path, domain_size=D, levels_path=None, **options):
    """Read and simulate."""
    users = read_transactions(path, domain_size=domain_size)
    if levels_path is not None:
        offered = tuple(level for level, _ in options["level_counts"])
        users = replace(users, levels=read_levels(levels_path, offered, users.n_users))
    return simulate_users(users, **options)


@pytest.fixture(scope="module")
def users(tmp_path_factory):
    """A file of users who prefer small items."""
    rng = np.random.default_rng(8)
    shares = np.arange(D, 0, -1) / np.arange(D, 0, -1).sum()
    rows = [rng.choice(D, size=S, replace=False, p=shares) for _ in range(N)]
    path = tmp_path_factory.mktemp("users") / "users.txt"
    path.write_text("# users\n" + "".join(" ".join(map(str, row)) + "\n" for row in rows))
    return path


@pytest.fixture(scope="module")
def chosen(users):
    """A file of levels that go with the items: holders of item 0 are conservative."""
    rows = [line.split() for line in users.read_text().splitlines()[1:]]
    path = users.with_name("levels.txt")
    path.write_text("# levels\n" + "".join("0.50\n" if "0" in row else "2\r\n" for row in rows) + "\n")
    return path


PRIVATE = LevelPrivacy(1.0, 1e-3)


@pytest.mark.parametrize("messages", [False, True])
def test_estimates_are_those_of_who_took_part(users, messages):
    """Errors of four runs, each in its own standard deviations; with all users' number they would be half as large."""
    half = {**FAST, "assumptions": Assumptions("at-most", honest_fraction=0.3), "take_part": 0.5, "messages": messages}
    runs = [simulate_file(users, **{**half, "seed": seed}) for seed in range(4)]
    errors = np.array([np.subtract(run["estimate"], run["frequencies_sent"]) - run["bias"] for run in runs])
    scaled = errors / np.array([run["standard_error"] for run in runs])
    # 40 errors of variance 1, of ten items that share no noise: false alarm below 1e-5
    assert abs(scaled.mean()) < 5 / math.sqrt(scaled.size)
    assert abs((scaled**2).mean() - 1) < 5 * math.sqrt(2 / scaled.size)
    assert all(100 < run["participants"] < 200 for run in runs)
    with pytest.raises(ParameterError, match="users, whom the guarantee relies on"):
        simulate_file(users, **{**half, "take_part": 0.1})
    with pytest.raises(ParameterError, match=r"take_part = 0.0 .* in \(0, 1\]"):
        simulate_file(users, **{**half, "take_part": 0.0})


@pytest.mark.quick(0)
@pytest.mark.parametrize(
    ("accountant", "privacy", "seeds"),
    [("proven", None, 16), ("proven", PRIVATE, 16), ("published", None, 2), ("published", PRIVATE, 2)],
    ids=["proven", "proven-private", "published", "published-private"],
)
def test_messages_and_counts_have_the_expected_error(users, accountant, privacy, seeds):
    """Squared over expected error: mean 1 both ways. At exact levels and equal seeds, everything planned is equal."""
    ratios, sent, planned = {}, {}, {}
    for messages in (False, True):
        runs = [
            simulate_file(
                users, **FAST | {"seed": seed}, accountant=accountant, messages=messages, level_privacy=privacy
            )
            for seed in range(seeds)
        ]
        ratios[messages] = np.array([run["squared_error"] / run["expected_error"] for run in runs])
        sent[messages] = np.array([run["item_messages"] for run in runs])
        same = ("frequencies", "blanket_per_user", "copies", "expected_error", "guarantees", "level_messages", "kind")
        planned[messages] = {key: runs[0][key] for key in same}
    if privacy is None:
        assert planned[False] == planned[True]
    for values in ratios.values():
        # an error is a sum of 10 squares: its relative standard deviation is about sqrt(2/9)
        assert abs(values.mean() - 1) < 5 * math.sqrt(2 / 9 / values.size)
    both = [sent[False], sent[True]]
    spread = math.sqrt(sum(max(values.var(ddof=1), values.mean()) / values.size for values in both))
    assert abs(both[0].mean() - both[1].mean()) < 6 * spread


@pytest.mark.quick(0)
@pytest.mark.parametrize("messages", [False, True])
def test_the_result_is_json_and_adds_up(users, messages):
    privacy = LevelPrivacy(0.5, 1e-3)
    run = simulate_file(users, **FAST, messages=messages, level_privacy=privacy, copies_max=4.0, max_messages=30.0)
    assert json.loads(json.dumps(run, allow_nan=False)) == run
    assert run["simulated"] == ("messages" if messages else "counts")
    assert run["level_counts"] == [100, 200]
    assert (run["users"], run["domain_size"], run["set_size"]) == (N, D, S)
    assert run["blanket_levels"] > 0
    assert sum(run["level_counts_planned"]) == N
    assert run["messages_per_user"] == (run["level_messages"] + run["item_messages"]) / N
    assert run["bytes"] == run["level_messages"] + run["item_messages"], "one byte per message at d = 10"
    assert run["refused"] == {"levels": 0, "items": 0}
    assert run["squared_error"] == pytest.approx(
        sum((a - b) ** 2 for a, b in zip(run["estimate"], run["frequencies"], strict=True)), rel=1e-12
    )
    assert sum(run["frequencies"]) == pytest.approx(S)
    assert [each["total_epsilon"] for each in run["guarantees"]] == pytest.approx([2.5, 2.5])
    assert run["seconds"]["total"] >= run["seconds"]["items"] > 0
    assert run == simulate_file(
        users, **FAST, messages=messages, level_privacy=privacy, copies_max=4.0, max_messages=30.0
    ) | {"seconds": run["seconds"]}


@pytest.mark.quick(0)
def test_levels_may_go_with_the_items(users, chosen):
    """The expected error knows who chose what: here it is mostly the bias, and the estimate of item 0 is low."""
    rows = [line.split() for line in users.read_text().splitlines()[1:]]
    holders = sum(row.count("0") for row in rows)
    arguments = FAST | {"level_counts": ((0.5, holders), (2.0, N - holders)), "levels_path": chosen}
    runs = [
        simulate_file(users, **arguments | {"seed": seed}, messages=messages)
        for seed in range(4)
        for messages in (False, True)
    ]
    for run in runs:
        assert run["level_counts"] == [holders, N - holders]
        assert run["expected_error"] == runs[0]["expected_error"]
        assert run["copies"][0] < run["copies"][1]
        weights = [run["copies"]["0" not in row] for row in rows]
        of_item = [sum(w for w, row in zip(weights, rows, strict=True) if str(j) in row) for j in range(D)]
        biases = [of / sum(weights) - w for of, w in zip(of_item, run["frequencies"], strict=True)]
        assert run["bias"] == pytest.approx(biases, rel=1e-9, abs=1e-15)
        assert run["largest_bias"] == pytest.approx(max(map(abs, biases)), rel=1e-9)
    errors = np.mean([np.subtract(run["estimate"], run["frequencies"]) for run in runs], axis=0)
    spread = math.sqrt(runs[0]["expected_error"] / len(runs))
    assert errors == pytest.approx(runs[0]["bias"], abs=5 * spread)
    assert errors[0] < -5 * spread / math.sqrt(D)
    ratio = np.mean([run["squared_error"] for run in runs]) / runs[0]["expected_error"]
    assert 0.4 < ratio < 1.8


@pytest.mark.parametrize("messages", [False, True])
def test_equal_copies_have_no_bias(users, chosen, messages):
    holders = sum("0" in line.split() for line in users.read_text().splitlines()[1:])
    counts = ((0.5, holders), (2.0, N - holders))
    arguments = FAST | {"level_counts": counts, "levels_path": chosen, "messages": messages}
    run = simulate_file(users, **arguments, equal_copies=True)
    assert len(set(run["copies"])) == 1
    assert run["largest_bias"] < 1e-15
    assert run["expected_error"] < 0.5 * simulate_file(users, **arguments)["expected_error"]


def test_levels_not_protected_have_no_total(users):
    run = simulate_file(users, **FAST)
    assert [each["total_epsilon"] for each in run["guarantees"]] == [None, None]
    assert run["level_estimates"] == [100.0, 200.0]
    assert run["level_messages"] == N


def test_chunks_change_nothing_but_the_random_numbers(users):
    run = simulate_file(users, **FAST, messages=True, chunk_users=7)
    whole = simulate_file(users, **FAST, messages=True)
    assert run["expected_error"] == whole["expected_error"]
    assert run["squared_error"] < 6 * run["expected_error"]


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        ({"accountant": "loose"}, ParameterError, "one of proven, published"),
        ({"accountant": "published", "copies_max": 2.0}, ParameterError, "need 'proven'"),
        ({"accountant": "published", "max_messages": 9.0}, ParameterError, "need 'proven'"),
        ({"copies_max": 0.0}, ParameterError, "copies_max"),
        ({"max_messages": -1.0}, ParameterError, "max_messages"),
        ({"chunk_users": 5}, ParameterError, "with messages"),
        ({"messages": True, "chunk_users": 0}, ParameterError, "chunk_users"),
        ({"delta": 0.0}, ParameterError, "delta"),
        ({"domain_size": 5}, DataError, r"line \d+: the item '\d+' is not allowed; allowed are the integers 0..4"),
        ({"level_counts": ((0.5, 100), (2.0, 199))}, DataError, "299 users, but users has 300"),
        ({"level_counts": ((0.5, -1), (2.0, 301))}, ParameterError, "users >= 0"),
        ({"level_counts": ((2.0, 100), (0.5, 200))}, ParameterError, "strictly increasing"),
        ({"level_counts": ((-0.5, 100), (2.0, 200))}, ParameterError, "-0.5"),
        ({"level_counts": ()}, DataError, "0 users"),
        ({"accountant": "published", "equal_copies": True}, ParameterError, "need 'proven'"),
    ],
    ids=str,
)
def test_options_that_are_refused(users, change, error, says):
    with pytest.raises(error, match=says):
        simulate_file(users, **{**FAST, **change})


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("0.5\n" * 299, "299 levels for 300 users"),
        ("0.5\n" * 301, "301 levels for 300 users"),
        ("0.5\n" * 7 + "0\n" + "0.5\n" * 292, "line 8: '0' is not a level on offer; write the level's epsilon itself"),
        ("0.5\nmuch\n", "line 2: 'much' is not a level"),
        ("0.5\n\n0.5\n", "line 2: '' is not a level"),
        ("0.5\nnan\n", "line 2: 'nan' is not a level"),
        ("0.5\n" + "9" * 500 + "\n", r"line 2: '9+\.\.\.' is not a level"),
        ("", "0 levels for 300 users"),
        ("0.5\n" * 101 + "2\n" * 199, "the users by level are 0.5:101,2:199, not those of level_counts"),
        (b"0.5\n\xff\n", "byte 4 is not text"),
        (None, "cannot be read"),
    ],
    ids=range(11),
)
def test_level_files_that_are_refused(users, tmp_path, text, says):
    path = tmp_path / "levels.txt"
    if text is not None:
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(DataError, match=says):
        simulate_file(users, **FAST, levels_path=path)


def ragged(n=400, seed=3):
    rng = np.random.default_rng(seed)
    return Transactions.from_sets([rng.choice(8, size=rng.integers(0, 6), replace=False) for _ in range(n)])


@pytest.mark.quick(0)
def test_users_of_any_size_are_simulated_and_cutting_is_told_apart():
    """Squared error against the data, over its exact expectation: mean 1. What cutting does to it is known exactly."""
    users, runs = ragged(), []
    for seed in range(12):
        for messages in (False, True):
            run = simulate_users(
                users,
                set_size=2,
                delta=1e-3,
                level_counts=((2.0, 400),),
                assumptions=Assumptions(sets="at-most"),
                seed=seed,
                messages=messages,
            )
            runs.append(run)
            assert run["cut"]["users"] == (users.sizes > 2).sum()
            assert run["frequencies"] == users.frequencies.tolist()
            lost = np.array(run["frequencies"]) - run["frequencies_sent"]
            assert lost.min() >= 0
            assert run["cut"]["squared_error"] == pytest.approx(lost @ lost, rel=1e-12)
            assert run["cut"]["share_of_entries"] == pytest.approx(
                1 - np.minimum(users.sizes, 2).sum() / users.codes.size
            )
    # mostly the bias of cutting, and of the rest a sum of 8 squares
    ratio = np.mean([run["squared_error"] / run["expected_error"] for run in runs])
    assert abs(ratio - 1) < 5 * math.sqrt(2 / 8 / len(runs))
    apart = [np.subtract(run["estimate"], run["frequencies_sent"]) / run["standard_error"] for run in runs]
    # 192 squares of standard normal variables: chi-squared, false alarm below 1e-6
    assert 115 < np.square(apart).sum() < 295


def test_without_a_size_nothing_is_cut():
    users = ragged()
    run = simulate_users(users, delta=1e-3, level_counts=((2.0, 400),), assumptions=Assumptions(sets="at-most"), seed=1)
    assert run["set_size"] == users.sizes.max()
    assert run["cut"] == {"users": 0, "share_of_entries": 0.0, "squared_error": 0.0}
    assert run["frequencies"] == run["frequencies_sent"]
    with pytest.raises(DataError, match=r"users hold fewer than set_size = 5 items.*at-most"):
        simulate_users(users, delta=1e-3, level_counts=((2.0, 400),), seed=1)


def test_more_items_than_a_small_integer_counts():
    users = Transactions(np.arange(301), np.arange(300, dtype=np.int32) * 300, 100_000)
    run = simulate_users(users, delta=1e-3, level_counts=((4.0, 300),), assumptions=Assumptions(sets="at-most"), seed=0)
    assert run["domain_size"] == len(run["estimate"]) == 100_000
    assert run["items"][-1] == "99999"


def test_errors_of_items_add_up_to_the_error_of_all(users):
    """Beside the imbalance of levels, the sum of the variances is the expected squared error."""
    for accountant in ("proven", "published"):
        run = simulate_file(users, **FAST | {"level_counts": ((1.0, 300),)}, accountant=accountant)
        assert np.square(run["standard_error"]).sum() == pytest.approx(run["expected_error"], rel=1e-9)
