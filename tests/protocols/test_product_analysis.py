"""The competitors with the exact product: a Poisson blanket of the least mean that is safe."""

from functools import cache

import pytest
from given_plans import MSNBC, SMALL

from segshuffle.accounting.collections.product import delta_interval
from segshuffle.blankets.poisson import ItemPair
from segshuffle.plans.plan import PLAIN, Problem
from segshuffle.protocols.balls_into_bins_proven import ProvenBallsIntoBins

METHODS = {
    "mm": ProvenBallsIntoBins(),
    "sepmm": ProvenBallsIntoBins(name="sepmm"),
    "weighted-sepmm": ProvenBallsIntoBins(name="weighted-sepmm"),
    "inverse-variance-sepmm": ProvenBallsIntoBins(name="inverse-variance-sepmm"),
}
SETTINGS = [
    SMALL,
    MSNBC,
    Problem(128, 8, (0.5, 1.0, 2.0), (12_500, 12_500, 25_000), 2e-7, PLAIN),
    Problem(5, 4, (0.5, 1.0), (200, 100), 1e-4, PLAIN),
]


@cache
def planned(name, problem):
    return METHODS[name].plan(problem)


@pytest.mark.quick(5)
@pytest.mark.parametrize("problem", SETTINGS, ids=str)
@pytest.mark.parametrize("name", METHODS)
def test_least_mean_is_safe_and_least(name, problem):
    """min(s, d - s) pairs, every item sent once: within 0.1 % of delta, and 1 % less blanket is too little."""
    plan, pairs = planned(name, problem), min(problem.set_size, problem.domain_size - problem.set_size)
    assert plan.messages_per_user == pytest.approx(plan.blanket_per_user + problem.set_size, rel=1e-14)
    counts = [problem.n_users] if name == "mm" else problem.level_counts
    for level, users, each in zip(problem.levels, counts, plan.collections, strict=name != "mm"):
        mean = users * each.announcement.blanket_per_user / problem.domain_size
        found = delta_interval(ItemPair(mean, 1.0), pairs=pairs, epsilon=level)
        assert 0.999 * problem.delta <= found.upper <= problem.delta
        assert delta_interval(ItemPair(0.99 * mean, 1.0), pairs=pairs, epsilon=level).lower > problem.delta


def test_nothing_to_hide():
    assert planned("mm", Problem(4, 4, (0.5, 1.0), (20, 30), 1e-4, PLAIN)).blanket_per_user < 1e-3
