"""No two blocks of repetitions share their random numbers: streams differ by seed, role, scenario, method, m, block."""

import math

import numpy as np
import pytest

from segshuffle.datasets.sampling import uniform_population
from segshuffle.pipeline.design import Scenario, Setting
from segshuffle.pipeline.seeds import stream
from segshuffle.protocols.balls_into_bins import BallsIntoBins
from segshuffle.protocols.base import Plan, Problem
from segshuffle.protocols.proven import ProvenSegmented
from segshuffle.protocols.segmented import Segmented, plan_at
from segshuffle.studies.levels import compute as levels
from segshuffle.studies.reproduction import simulation

SETTING = Setting("synthetic", 40, 2, 8)
COUNTS, REPETITIONS, BLOCK = (10, 20, 10), 10, 3
CONFIG = {
    "seed": 5,
    "repetitions": REPETITIONS,
    "repetition_block": BLOCK,
    "recentring": False,
    "delta_times_n": 0.4,
    "levels": [0.5, 1.0, 2.0],
    "splits": {"S1": [0.25, 0.5, 0.25], "S2": [0.25, 0.5, 0.25]},
    "private_levels": {"epsilons": [1.0, 4.0]},
    "proven": {"honest_fraction": 1.0},
}
POPULATION = uniform_population(domain_size=8, set_size=2, n_users=40, rng=stream(0, "population"))


def tasks():
    """Methods, several m of one method, an optimum with the m of a curve point, and two budgets of one plan."""
    problem = Problem(8, 2, (0.5, 1.0, 2.0), COUNTS, 0.01)
    points = [(m, plan_at(problem, m, (0.4, 0.7, 1.0))) for m in (0.5, 1.0, 2.5)]
    copied = Plan("any", problem, "exact", 1.0, 0.0, {"copies": (0.3, 0.6, 1.2)}, 0.0)
    return [
        *(simulation.Task(Segmented(m), plan, "grid") for m, plan in points),
        simulation.Task(Segmented(), points[1][1], "best"),
        simulation.Task(BallsIntoBins(), BallsIntoBins().plan(problem), "best"),
        *(simulation.Task(ProvenSegmented(copies_max=4.0), copied, "budget", budget) for budget in (8.0, 16.0)),
    ]


def errors_of(scenario, seed=5):
    found = simulation.simulate_scenario(CONFIG | {"seed": seed}, scenario, "published", POPULATION, {})
    return [errors for _, errors in found]


@pytest.fixture(autouse=True)
def given_tasks(monkeypatch):
    monkeypatch.setattr(simulation, "tasks_of", lambda *_: tasks())


@pytest.fixture
def one_assignment(monkeypatch):
    """The same levels in every repetition and scenario: what still differs are the protocols' own draws."""
    drawn = simulation.draw_levels(CONFIG, Scenario(SETTING, "S1"), POPULATION, COUNTS, 1)
    monkeypatch.setattr(simulation, "draw_levels", lambda *_: np.repeat(drawn, REPETITIONS, axis=0))


def test_no_two_repetitions_of_anything_have_the_same_error(one_assignment):
    """Errors of a method on the same levels are functions of the draws: none may occur twice."""
    runs = [errors_of(Scenario(SETTING, split), seed) for split in ("S1", "S2") for seed in (5, 6)]
    by_task = [np.concatenate([run[task] for run in runs]) for task in range(len(tasks()))]
    # the two budgets have one plan, so they are compared with one another, too
    for errors in (*by_task[:-2], np.concatenate(by_task[-2:])):
        deviates = errors.size - np.unique(errors).size
        # counters are whole numbers, so that two different histograms may have one error; shared draws have ten or more
        assert deviates <= 0.25 * REPETITIONS * len(runs)
    for task in by_task:
        blocks = [
            part[first : first + BLOCK] for part in np.split(task, 4) for first in range(0, REPETITIONS - 1, BLOCK)
        ]
        assert len({tuple(block) for block in blocks}) == len(blocks)


def spied(monkeypatch, module):
    """Roles of all streams that a module asks for."""
    roles = []

    def spy(*role):
        roles.append(role)
        return stream(*role)

    monkeypatch.setattr(module, "stream", spy)
    return roles


def test_every_block_asks_for_a_stream_that_nobody_else_asks_for(monkeypatch):
    roles = spied(monkeypatch, simulation)
    for split in ("S1", "S2"):
        errors_of(Scenario(SETTING, split))
    assert len(roles) == len(set(roles)) == 2 * (REPETITIONS + len(tasks()) * math.ceil(REPETITIONS / BLOCK))
    assert {role[0] for role in roles} == {5}
    assert {role[1] for role in roles} == {"levels", "protocol"}
    for split in ("S1", "S2"):
        assert sum(f"-{split}" in role[2] for role in roles) == len(roles) / 2


def test_private_levels_too(monkeypatch):
    monkeypatch.setattr(levels, "_STEP", 0.5)  # streams do not depend on how fine the plans are
    roles = spied(monkeypatch, levels)
    table = levels.levels_table(CONFIG, SETTING, POPULATION)
    assert len(table) == 6
    assert len(roles) == len(set(roles)) > 2 * math.ceil(REPETITIONS / BLOCK)
    assert {role[0] for role in roles} == {5}
