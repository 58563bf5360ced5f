"""Both rounds from end to end: what reaches the server, what is refused, what is reported, how much memory it takes."""

import math
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from given_plans import given_plan

from segshuffle.arrays import NO_ITEM
from segshuffle.blankets.binomial import BINOMIAL
from segshuffle.blankets.poisson import POISSON
from segshuffle.collection.messages import Server, engine, run_protocol
from segshuffle.collection.messages.shuffler import ShuffledMessages
from segshuffle.collection.messages.simulated_clients import SimulatedClients
from segshuffle.errors import DataError, ParameterError
from segshuffle.plans.level_counts import LevelEstimates, LevelPrivacy
from segshuffle.plans.plan import PLAIN, Problem
from segshuffle.plans.scheme import Collection, Scheme
from segshuffle.protocols.balls_into_bins import BallsIntoBins
from segshuffle.protocols.segmented import plan_at
from segshuffle.protocols.subset_exponential import SubsetExponential

LEVELS = (0.5, 1.0, 2.0)
D, S, N = 12, 3, 600


def users(n=N, d=D, s=S, k=3, seed=1):
    rng = np.random.default_rng(seed)
    items = np.argsort(rng.random((n, d)), axis=1)[:, :s]
    return items, rng.integers(k, size=n)


def fixed(problem):
    return plan_at(problem, 1.25, (0.4, 0.8, 1.0)[: len(problem.levels)])


def asked(n=N, d=D, s=S, k=3, **assumptions):
    """Return a problem of so many users, all counted at the first level."""
    return Problem(d, s, LEVELS[:k], (n, *(0,) * (k - 1)), 1e-3, replace(PLAIN, **assumptions))


def run(items, levels, problem=asked(), *, planner=fixed, **kwargs):  # noqa: B008
    return run_protocol(items, levels, problem, planner=planner, rng=np.random.default_rng(5), **kwargs)


# ----------------------------------------------------------------------------------------------------------------------
# What reaches the server
# ----------------------------------------------------------------------------------------------------------------------


def reachable(thing, seen):
    """Collect what can be reached through attributes of this package's types, containers and views of arrays."""
    if id(thing) in seen:
        return
    seen[id(thing)] = thing
    if isinstance(thing, dict):
        children = [*thing.keys(), *thing.values()]
    elif isinstance(thing, (list, tuple, set)):
        children = list(thing)
    elif type(thing).__module__.startswith("segshuffle"):
        names = [*getattr(thing, "__slots__", ()), *getattr(thing, "__dict__", {})]
        children = [getattr(thing, name) for name in names]
    elif isinstance(thing, np.ndarray):
        children = [] if thing.base is None else [thing.base]
    else:
        children = []
    for child in children:
        reachable(child, seen)


@pytest.mark.parametrize("batch", [engine.BATCH_DRAWS, 200])
@pytest.mark.parametrize("level_privacy", [None, LevelPrivacy(1.0, 1e-3)])
def test_the_server_sees_shuffled_messages_and_public_numbers_only(monkeypatch, batch, level_privacy):
    monkeypatch.setattr(engine, "BATCH_DRAWS", batch)
    items, levels = users()
    seen: dict = {}
    received: list[ShuffledMessages] = []
    words: list[np.ndarray] = []

    def spy(name):
        original = getattr(Server, name)

        def call(self, *args, **kwargs):
            for argument in (self, *args, *kwargs.values()):
                reachable(argument, seen)
            for messages in [m for m in seen.values() if isinstance(m, ShuffledMessages) and m not in received]:
                received.append(messages)
                words.append(np.concatenate([block.copy() for block in messages.blocks()]))
            return original(self, *args, **kwargs)

        monkeypatch.setattr(Server, name, call)

    for name in ("announce_levels", "estimate_levels", "make_plan", "collections", "estimate_items", "guarantees"):
        spy(name)
    result = run(items, levels, level_privacy=level_privacy)

    from_here = {type(thing) for thing in seen.values() if type(thing).__module__.startswith("segshuffle.collection.m")}
    allowed = {Server, Scheme, Collection, LevelEstimates, LevelPrivacy, ShuffledMessages}
    assert from_here <= allowed
    for thing in seen.values():
        assert not isinstance(thing, (np.random.Generator, np.random.BitGenerator))
        if isinstance(thing, np.ndarray):
            assert not np.shares_memory(thing, items)
            assert not np.shares_memory(thing, levels)

    assert [len(w) for w in words] == [result.level_messages, result.item_messages]
    assert all(w.dtype == np.uint8 for w in words)
    np.testing.assert_array_equal(np.bincount(words[1], minlength=D), result.counters[0])
    np.testing.assert_array_equal(np.bincount(words[0], minlength=3), result.levels.counts)


# ----------------------------------------------------------------------------------------------------------------------
# Result
# ----------------------------------------------------------------------------------------------------------------------


def test_the_report_adds_up():
    items, levels = users()
    result = run(items, levels, level_privacy=LevelPrivacy(1.0, 1e-4))
    first, second = result.announcements
    assert (first.domain_size, first.set_size, first.copies, first.law) == (3, 1, (1.0,), POISSON)
    assert (second.law, second.blanket_per_user, second.copies) == (BINOMIAL, 1.25, (0.4, 0.8, 1.0))
    assert result.n_bytes == result.level_messages + result.item_messages
    assert result.refused == {"levels": 0, "items": 0}
    weight = result.levels.weight((0.4, 0.8, 1.0))
    np.testing.assert_allclose(result.estimate, (result.counters[0] - N * 1.25 / D) / weight)
    assert [g.items_epsilon for g in result.guarantees] == list(LEVELS)


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("level_privacy", [None, LevelPrivacy(1.0, 1e-3)])
def test_one_level_and_two(k, level_privacy):
    items, levels = users(k=k)
    result = run(items, levels, asked(k=k), level_privacy=level_privacy)
    assert len(result.levels.planning) == k
    assert sum(result.levels.planning) == N
    if k == 1:
        assert result.level_messages == 0, "there is nothing to tell"
        assert (result.guarantees[0].total_epsilon, result.guarantees[0].total_delta) == (0.5, 1e-3)
    elif level_privacy is None:
        assert result.guarantees[0].total_epsilon == math.inf


# ----------------------------------------------------------------------------------------------------------------------
# Refusals
# ----------------------------------------------------------------------------------------------------------------------


def spoiled(user, place, value):
    items, _ = users()
    items[user, place] = value
    return items


ONES = np.ones(N, dtype=int)


@pytest.mark.parametrize(
    ("items", "levels", "options", "message"),
    [
        (spoiled(17, 1, D), None, {}, rf"user 17 holds .*, {D}, .*\]; a user holds different items in 0\.\.{D - 1}"),
        (spoiled(599, 0, -1), None, {}, r"user 599 holds \[-1,"),
        ([[0, 1, 2], [4, 4, 5], [6, 6, 7]], None, {}, r"user 1 holds \[4, 4, 5\]"),
        # of several the first is named
        (np.full((5, 3), 0.5), None, {}, r"type float64; integers"),
        *((none, None, {"n": 7}, "shape") for none in (np.zeros((0, 3), dtype=int), [], np.zeros(7, dtype=int))),
        (users()[0], ONES, {"s": 4}, r"items: shape \(600, 3\) .* of shape \(600, 4\)"),
        (np.array([[0, NO_ITEM], [2, 2]]), None, {"s": 2, "sets": "at-most"}, r"user 1 holds \[2, 2\]"),
        (
            users()[0], np.where(np.arange(N) == 44, 3, 0), {},
            r"user 44 chose level 3; levels are numbered 0\.\.2",
        ),
        (users()[0], np.full(N, 0.5), {}, r"integers of shape \(600,\) are needed"),
    ],
)  # fmt: skip
def test_bad_users_are_refused_before_anything_is_sent(items, levels, options, message, monkeypatch):
    monkeypatch.setattr(SimulatedClients, "send_items", None)
    problem = asked(**{"n": len(items), **options})
    with pytest.raises(DataError, match=message):
        run(items, np.zeros(len(items), dtype=int) if levels is None else levels, problem)


@pytest.mark.parametrize(
    ("planner", "options", "message"),
    [
        (SubsetExponential(local_epsilon=1.0).plan, {}, "blanket of uniform items"),
        (
            lambda p: replace(BallsIntoBins(name="sepmm").plan(replace(p, assumptions=PLAIN)), problem=p),
            {"level_privacy": LevelPrivacy(1.0, 1e-3)},
            r"level_privacy .* need exact level counts",
        ),
        (lambda p: fixed(replace(p, delta=0.5)), {}, "what the planner was given"),
        (lambda p: plan_at(p, 1.0, (1.0, 0.5, -0.5)), {}, "copies"),
        (lambda p: given_plan(p, (0.0, 0.0, 0.0), 1.0), {}, "copies"),  # nobody ever sends an item
        (lambda p: replace(fixed(p), collections=()), {}, "blanket of uniform items"),
        (lambda p: replace(fixed(p), kind="exact"), {}, "kind 'exact'"),
    ],
)
def test_plans_that_cannot_be_run(planner, options, message):
    with pytest.raises(ParameterError, match=message):
        run(*users(), planner=planner, **options)


@pytest.mark.parametrize(("kind", "law"), [("published", BINOMIAL), ("exact", POISSON), ("upper", POISSON)])
def test_clients_send_the_blanket_that_the_numbers_are_about(kind, law):
    items, levels = users()
    result = run(items, levels, planner=lambda p: given_plan(p, (0.5, 0.7, 1.0), 1.0, law, kind=kind))
    assert result.announcements[1].law == law
    assert {g.kind for g in result.guarantees} == {kind}


def test_level_nobody_chose():
    items, _ = users()
    levels = np.full(N, 2)
    for method in (BallsIntoBins(), BallsIntoBins(name="sepmm")):
        result = run(items, levels, planner=method.plan)
        assert result.levels.planning == (0, 0, N)
        assert len(result.counters) == 1
        truth = np.bincount(items.ravel(), minlength=D) / N
        assert np.abs(result.estimate - truth).max() < 10 * math.sqrt(result.plan.mse_bound)


# ----------------------------------------------------------------------------------------------------------------------
# Who takes part
# ----------------------------------------------------------------------------------------------------------------------


def test_estimates_divide_by_who_took_part():
    """The server's formula holds for the counters of a run in which a third of the users drop out."""
    items, levels = users()
    takes_part = np.arange(N) % 3 > 0
    result = run(items, levels, asked(honest_fraction=0.5), planner=relying(fixed), takes_part=takes_part)
    counts = np.bincount(levels, minlength=3)
    weight = counts @ result.plan.scheme.copies * 400 / N
    np.testing.assert_allclose(result.estimate, (result.counters[0] - 400 * 1.25 / D) / weight, rtol=1e-12)
    everybody = run(items, levels, planner=relying(fixed), takes_part=np.ones(N, dtype=bool))
    np.testing.assert_array_equal(everybody.estimate, run(items, levels, planner=relying(fixed)).estimate)


def relying(planner):
    """Return a planner whose plans are for any assumptions."""
    return lambda problem: replace(planner(replace(problem, assumptions=PLAIN)), problem=problem)


@pytest.mark.parametrize(
    ("takes_part", "error", "message"),
    [
        (np.arange(N) < 299, ParameterError, "299 users.*at least 300 users, whom the guarantee relies on"),
        (np.ones(N - 1, dtype=bool), DataError, "shape"),
        (np.ones(N), DataError, "type float64"),
    ],
)
def test_nothing_is_released_of_too_few(takes_part, error, message):
    items, levels = users()
    with pytest.raises(error, match=message):
        run(items, levels, asked(honest_fraction=0.5), planner=relying(fixed), takes_part=takes_part)


# ----------------------------------------------------------------------------------------------------------------------
# Memory
# ----------------------------------------------------------------------------------------------------------------------

MEMORY = """
import sys
import numpy as np
from segshuffle.plans.plan import Problem
from segshuffle.plans.level_counts import LevelPrivacy
from segshuffle.collection.messages import run_protocol
from segshuffle.protocols.segmented import plan_at

n, rng = int(sys.argv[1]), np.random.default_rng(1)
items = np.empty((n, 4), dtype=np.int16)
levels = np.empty(n, dtype=np.uint8)
for i in range(0, n, 100_000):
    part = items[i : i + 100_000]
    part[:] = rng.integers(32, size=part.shape, dtype=np.int16) + 32 * np.arange(4, dtype=np.int16)
    levels[i : i + 100_000] = rng.integers(3, size=len(part), dtype=np.uint8)
asked = Problem(128, 4, (0.5, 1.0, 2.0), (n, 0, 0), 0.01 / n)
result = run_protocol(
    items, levels, asked, planner=lambda p: plan_at(p, 1.0, (1.0, 1.0, 1.0)),
    level_privacy=LevelPrivacy(0.5, 1e-9), rng=rng,
)
assert result.item_messages == 5 * n
truth = np.bincount(items[:, 0], minlength=128)[:32] / n
assert np.abs(result.estimate[:32] - truth).max() < 8 * (1 / 128 / n) ** 0.5
# the peak of this program alone: getrusage would count what the process was forked from
print(int(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1]) / 1024)
"""


@pytest.mark.exhaustive
@pytest.mark.slow
def test_ten_million_users_take_less_than_350_megabytes():
    """The population takes 90 MB and the mapped messages 60 MB; the rest is the interpreter with its libraries."""
    done = subprocess.run([sys.executable, "-c", MEMORY, "10000000"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 350


# ----------------------------------------------------------------------------------------------------------------------
# Guarantees of both rounds
# ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "copies", "privacy", "sizes", "covered"),
    [
        ("exact", (0.5, 1.0), (1.0, 1e-4), (12, 3), True),
        ("exact", (0.5, 1.0), None, (12, 3), False),
        ("exact", (0.5, 1.0), (1.0, 1e-4), (5, 3), False),  # two pairs for three items
        ("exact", (0.5, 1.0), (1.0, 1e-4), (6, 3), True),
        ("exact", (1.0, 1.0), (1.0, 1e-4), (5, 3), True),  # levels change nothing
        ("published", (0.5, 1.0), (1.0, 1e-4), (12, 3), False),
        ("published", (1.0, 1.0), (1.0, 1e-4), (12, 3), True),
    ],
)
def test_a_change_of_level_is_covered_by_both_rounds(kind, copies, privacy, sizes, covered):
    """Round 1 spends epsilon 1 and delta 1e-4; for a change of items alone only round 2 counts."""
    problem = Problem(*sizes, (0.5, 2.0), (40, 60), 1e-3, PLAIN)
    server = Server(problem, LevelPrivacy(*privacy) if privacy else None)
    found = server.guarantees(given_plan(problem, copies, 2.0, BINOMIAL if kind == "published" else POISSON, kind=kind))
    assert [each.items_epsilon for each in found] == [0.5, 2.0]
    assert [each.kind for each in found] == [kind] * 2
    for each in found:
        if covered:
            assert each.total_epsilon == pytest.approx(3.0, rel=1e-9)
            assert each.total_delta == pytest.approx(1.1e-3, rel=1e-9)
        else:
            assert each.total_epsilon == math.inf


@pytest.mark.parametrize(("levels", "private"), [((0.5,), False), ((0.5, 1.0), True), ((0.5, 1.0, 2.0), True)])
def test_levels_are_private_where_there_is_a_choice(levels, private):
    counts = (10, *(0,) * (len(levels) - 1))
    estimates = LevelEstimates(np.array(counts), 10, 0.0)
    for privacy, expected in ((LevelPrivacy(1.0, 1e-4), private), (None, False)):
        problem = Server(asked(10, 5, 3, len(levels)), privacy).make_plan(fixed, estimates).problem
        assert (problem.assumptions.private_levels, problem.level_counts) == (expected, counts)
