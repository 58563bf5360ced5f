"""The competitors with the exact product: a Poisson blanket, the least mean that is safe, and errors as simulated."""

import math
from functools import cache

import numpy as np
import pytest
from protocols.test_conformance import make_sample
from scipy import stats

from segshuffle.accounting.collections.product import delta_interval
from segshuffle.blankets.poisson import ItemPair
from segshuffle.protocols.balls_into_bins import BallsIntoBins, SeparateBallsIntoBins
from segshuffle.protocols.base import Problem, Sample

REPETITIONS = 6000
PROBLEM = Problem(domain_size=8, set_size=2, levels=(0.5, 1.0, 2.0), level_counts=(30, 50, 40), delta=1e-3)
METHODS = {
    "mm": BallsIntoBins(analysis="proven"),
    "sepmm": SeparateBallsIntoBins(analysis="proven"),
    "weighted-sepmm": SeparateBallsIntoBins(weights="published", analysis="proven"),
    "inverse-variance-sepmm": SeparateBallsIntoBins(weights="inverse-variance", analysis="proven"),
}
SETTINGS = [
    PROBLEM,
    Problem(17, 4, (0.5, 1.0, 2.0), (1250, 2500, 1250), 2e-6),
    Problem(128, 8, (0.5, 1.0, 2.0), (12_500, 12_500, 25_000), 2e-7),
    Problem(5, 4, (0.5, 1.0), (200, 100), 1e-4),
]


@cache
def planned(name, problem):
    return METHODS[name].plan(problem)


@pytest.mark.parametrize("name", METHODS)
def test_plans_say_what_they_are(name):
    plan = planned(name, PROBLEM)
    assert (plan.method, METHODS[name].name, plan.kind) == (name, name, "exact")
    assert plan.parameters["analysis"] == "proven"
    assert plan.messages_per_user == pytest.approx(plan.blanket_per_user + 2, rel=1e-14)


@pytest.mark.quick(5)
@pytest.mark.parametrize("problem", SETTINGS, ids=str)
@pytest.mark.parametrize("name", METHODS)
def test_least_mean_is_safe_and_least(name, problem):
    """min(s, d - s) pairs, every item sent once: within 0.1 % of delta, and 1 % less blanket is too little."""
    plan, pairs = planned(name, problem), min(problem.set_size, problem.domain_size - problem.set_size)
    if name == "mm":
        inside = [(problem.levels[0], problem.n_users, plan.blanket_per_user)]
    else:
        inside = list(zip(problem.levels, problem.level_counts, plan.parameters["blankets"], strict=True))
    for level, users, blanket in inside:
        mean = users * blanket / problem.domain_size
        found = delta_interval(ItemPair(mean, 1.0), pairs=pairs, epsilon=level)
        assert 0.999 * problem.delta <= found.upper <= problem.delta
        assert delta_interval(ItemPair(0.99 * mean, 1.0), pairs=pairs, epsilon=level).lower > problem.delta


@pytest.mark.parametrize("name", METHODS)
def test_simulation_has_the_expected_error_and_no_bias(name):
    """Five standard errors: false alarm 6e-7 each."""
    method, plan, sample = METHODS[name], planned(name, PROBLEM), make_sample(PROBLEM, REPETITIONS)
    deviation = method.simulate(plan, sample, np.random.default_rng(23)) - sample.frequencies
    errors = (deviation**2).sum(axis=1)
    standard_error = errors.std(ddof=1) / math.sqrt(REPETITIONS)
    expected = method.expected_mse(plan, sample.item_counts)
    assert abs(errors.mean() - expected) <= 5 * standard_error < 0.1 * expected
    assert np.all(np.abs(deviation.mean(axis=0)) <= 5 * deviation.std(axis=0, ddof=1) / math.sqrt(REPETITIONS))


@pytest.mark.parametrize("name", ["mm", "sepmm"])
def test_counters_have_independent_poisson_noise(name):
    """One level: the law by chi-square (p > 1e-7), and no correlation, which a fixed number of messages would show."""
    problem, runs = Problem(4, 1, (2.0,), (6,), 0.05), 20_000
    plan = planned(name, problem)
    items = np.array([[0], [0], [1], [2], [2], [2]])
    held = np.bincount(items.ravel(), minlength=4)
    sample = Sample(items=items, domain_size=4, level_item_counts=np.tile(held, (runs, 1, 1)))
    mean = 6 * plan.blanket_per_user / 4
    noise = METHODS[name].simulate(plan, sample, np.random.default_rng(2)) * 6 - held + mean
    whole = np.rint(noise).astype(int)
    np.testing.assert_allclose(noise, whole, atol=1e-9)
    for j in range(4):
        law = stats.poisson.pmf(np.arange(whole.max() + 1), mean) * runs
        common = law >= 20
        seen = np.bincount(whole[:, j], minlength=law.size)
        pooled = [np.append(x[common], runs - x[common].sum()) for x in (seen, law)]
        assert stats.chisquare(*pooled, sum_check=False).pvalue > 1e-7
    correlation = np.corrcoef(whole.T)[np.triu_indices(4, 1)]
    assert np.abs(correlation).max() < 5.5 / math.sqrt(runs)


@pytest.mark.quick(1)
@pytest.mark.parametrize("problem", SETTINGS[1:3], ids=str)
def test_exact_accounting_never_costs(problem):
    """Against group privacy over the items it saves a factor that grows with s."""
    for published, exact in (
        (BallsIntoBins(), METHODS["mm"]),
        (SeparateBallsIntoBins(), METHODS["sepmm"]),
    ):
        ratio = published.plan(problem).blanket_per_user / exact.plan(problem).blanket_per_user
        assert ratio > 0.6 * problem.set_size


def test_inverse_variance_weights_are_the_best_of_the_three():
    for problem in SETTINGS[1:3]:
        bounds = [planned(name, problem).mse_bound for name in METHODS if "sepmm" in name]
        assert bounds[2] < min(bounds[:2])


def test_nobody_at_a_level_and_nothing_to_hide():
    problem = Problem(9, 2, (0.5, 1.0, 2.0), (0, 120, 80), 1e-4)
    for name in METHODS:
        assert 0 < METHODS[name].expected_mse(planned(name, problem), np.full(9, 44)) < math.inf
    assert planned("sepmm", problem).parameters["weights"] == (0.0, 0.5, 0.5)
    everything = Problem(4, 4, (0.5, 1.0), (20, 30), 1e-4)
    assert planned("mm", everything).blanket_per_user < 1e-3
