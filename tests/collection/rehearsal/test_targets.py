"""Plans that reach an error on a file of known sizes: the rehearsed error is the one that was asked for."""

import json

import numpy as np
import pytest
from commands import answer

from segshuffle.collection.planning.asked import Goal, Limits
from segshuffle.collection.planning.question import Question
from segshuffle.collection.rehearsal.targets import error_on, guess_of, meeting, over_epsilon
from segshuffle.datasets.own.transactions import Transactions
from segshuffle.plans.plan import Problem

N, D, TOP = 4000, 12, 3


@pytest.fixture(scope="module")
def users():
    """Users of whom those with many items hold the rare ones, so that cutting hits rare items more."""
    rng = np.random.default_rng(1)
    held = rng.random((N, D)) < 0.5 / np.arange(1, D + 1)
    offsets = np.concatenate([[0], held.sum(axis=1).cumsum()])
    return Transactions(offsets, np.nonzero(held)[1].astype(np.int32), D)


def question(users, goal, set_size=2, level=2.0):
    problem = Problem(D, set_size, (level,), (N,), 1e-6)
    return Question(problem, goal, Limits(), guess_of(users))


@pytest.mark.quick("epsilon")
@pytest.mark.parametrize("least", ["messages", "epsilon"])
def test_the_error_on_the_file_is_reached_and_not_by_much(users, least):
    goal = Goal(0.3, least, TOP)
    found = meeting(users, question(users, goal))
    assert 0.25 < error_on(users, found.plan, goal) <= 0.3
    curve = over_epsilon(users, found)["rows"]
    epsilons, errors = zip(*((row["epsilon"], row["error"]) for row in curve), strict=True)
    assert list(epsilons) == sorted(epsilons)
    if least == "epsilon":
        lowest = found.plan.problem.levels[0]
        assert all((error < 0.3) == (epsilon >= lowest) for epsilon, error in zip(epsilons, errors, strict=True))


def test_the_guess_of_a_file_has_its_shares_and_sizes(users):
    guess = guess_of(users)
    problem = question(users, Goal(0.3, top=TOP)).problem
    assert guess.shares(problem).tolist() == users.frequencies.tolist()
    assert guess.mean_held(problem) == pytest.approx(users.sizes.mean())
    assert guess.kept(problem) == pytest.approx(np.minimum(users.sizes, 2).sum() / users.sizes.sum())


@pytest.mark.exhaustive
def test_a_command_finds_the_plan_and_draws_its_error_over_epsilon(users, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    lines = (" ".join(map(str, users.codes[a:b])) for a, b in zip(users.offsets, users.offsets[1:], strict=False))
    (tmp_path / "users.txt").write_text("\n".join(lines) + "\n")
    asked = f"rehearse users.txt --empty keep --items {D} --repetitions 1 --target-error 30% --top {TOP}"
    found = answer(capsys, f"{asked} --least epsilon --out out")
    # the rehearsal cuts sets at random
    assert found["summary"]["top_error"] == pytest.approx(found["over_epsilon"]["error"], rel=0.02)
    assert found["over_epsilon"]["error"] <= 0.3
    assert found["problem"]["levels"] == [found["over_epsilon"]["epsilon"]]
    assert json.loads((tmp_path / "out/rehearsal.json").read_text())["over_epsilon"] == found["over_epsilon"]
    assert (tmp_path / "out/epsilon.svg").exists()
