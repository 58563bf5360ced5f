"""Loss distributions handed to dp_accounting: never below the exact deltas, and close to them."""

from __future__ import annotations

import importlib.util
import math
from dataclasses import replace

import numpy as np
import pytest
from oracles.changes import collections_divergence, counters_of_user, grid_divergence
from scipy import special

from segshuffle import compose, plan, read_plan, save_plan
from segshuffle.accounting.collections.composition import privacy_loss_distribution
from segshuffle.accounting.collections.product import delta_interval
from segshuffle.blankets.poisson import ItemPair
from segshuffle.errors import MissingExtraError, ParameterError
from segshuffle.plans.plan import PLAIN, Assumptions, Problem
from segshuffle.plans.privacy_loss import privacy_loss_distribution as of_plan
from segshuffle.protocols.proven import ProvenSegmented
from segshuffle.protocols.segmented import Segmented

pld = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")

MSNBC = Problem(17, 4, (0.5, 1.0, 2.0), (1250, 2500, 1250), 2e-6, PLAIN)


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("mu", "copies", "pairs", "epsilon", "interval"),
    [
        (100.0, 0.6, 4, 0.5, 1e-4),
        (40.0, 1.0, 8, 2.0, 1e-4),
        (3.0, 2.3, 2, 2.0, 1e-3),
        (1e6, 3.5, 40, 0.15, 1e-5),  # one block of counts per cell
        (1e6, 1.0, 8, 0.01, 1e-4),  # finer blocks, split again
    ],
)
def test_between_the_exact_delta_and_a_little_more(mu, copies, pairs, epsilon, interval):
    found = privacy_loss_distribution([(ItemPair(mu, copies), pairs)], interval=interval)
    exact = delta_interval(ItemPair(mu, copies), pairs=pairs, epsilon=epsilon, rtol=1e-5)
    delta = found.get_delta_for_epsilon(epsilon)
    assert exact.upper > 1e-9
    assert exact.lower <= delta
    assert delta <= exact.upper * (1.02 if mu == 1e6 else 1.001)


def gaussian_delta(deviation, epsilon):
    """Return the divergence of N(1, sigma^2) from N(0, sigma^2) at any real epsilon, by the analytic formula."""
    half, scaled = 0.5 / deviation, epsilon * deviation
    return special.ndtr(half - scaled) - np.exp(epsilon + special.log_ndtr(-half - scaled))


@pytest.mark.quick(0)
@pytest.mark.parametrize(("mu", "copies"), [(2.0, 0.5), (4.0, 1.0), (3.0, 2.4)])
@pytest.mark.parametrize("epsilon", [0.3, 1.5])
def test_composed_with_a_gaussian_mechanism(mu, copies, epsilon):
    """Every outcome of the pair is enumerated; given its loss, the Gaussian mechanism has what is left of epsilon."""
    p, q = (counters_of_user(2, (item,), copies, mu, 34).ravel() for item in (0, 1))
    inside = (p > 0) & (q > 0)
    losses = np.log(p[inside] / q[inside])
    exact = float(p[inside] @ gaussian_delta(3.0, epsilon - losses)) + float(p[~inside].sum())
    collection = privacy_loss_distribution([(ItemPair(mu, copies), 1)])
    found = collection.compose(pld.from_gaussian_mechanism(3.0)).get_delta_for_epsilon(epsilon)
    assert exact <= found <= exact * (1 + 1e-3)
    # without the Gaussian mechanism, from the same outcomes
    alone = collection.get_delta_for_epsilon(epsilon)
    assert grid_divergence(p, q, epsilon)[0] <= alone < found


def test_collections_with_different_plans_multiply():
    """All four counters of two collections are enumerated."""
    plans = [(2.0, 0.7), (3.5, 1.0)]
    inside, outside = collections_divergence(plans, 22, 0.9)
    collections = [(ItemPair(mu, a), 1) for mu, a in plans]
    found = privacy_loss_distribution(collections, interval=1e-3).get_delta_for_epsilon(0.9)
    assert inside <= found <= outside * 1.001 + 1e-12
    assert privacy_loss_distribution([]).get_delta_for_epsilon(0.0) == 0.0


@pytest.mark.quick(0)
@pytest.mark.parametrize("assumptions", [PLAIN, Assumptions("at-most", 0.8, rounds=3)], ids=str)
def test_of_a_plan(assumptions):
    problem = Problem(17, 4, MSNBC.levels, MSNBC.level_counts, 2e-6, assumptions)
    plan = ProvenSegmented(copies_max=3.0).plan(problem)
    for entry in plan.certificate:
        found = of_plan(plan, level=entry["epsilon"])
        delta = found.get_delta_for_epsilon(entry["epsilon"])
        assert entry["delta_lower"] <= delta
        if entry["delta_upper"] > 0.99 * problem.delta:  # far out a lattice of 1e-4 costs more
            assert delta <= entry["delta_upper"] * 1.001
    signed = ProvenSegmented(max_messages=4.0, laws=("signed",)).plan(Problem(17, 1, (1.0,), (5000,), 2e-6, PLAIN))
    assert of_plan(signed, level=1.0).get_delta_for_epsilon(1.0) <= 2e-6 * 1.001
    everything = ProvenSegmented().plan(Problem(4, 4, (1.0,), (10,), 1e-3, PLAIN))
    assert of_plan(everything, level=1.0).get_delta_for_epsilon(0.0) == 0.0


def test_a_change_of_level_is_covered_where_levels_are_private():
    """The item, one of two, and the level are both changed: both counters are enumerated, in both directions."""
    problem = Problem(2, 1, (0.5, 3.0), (5, 35), 0.05, Assumptions("exactly", private_levels=True))
    plan = ProvenSegmented().plan(problem)
    mu, (low, high) = problem.honest_mean(plan.blanket_per_user), plan.scheme.copies
    laws = [counters_of_user(2, (item,), a, mu, 40).ravel() for item, a in ((0, low), (1, high))]
    for epsilon in (0.5, 2.0):
        exact = max(grid_divergence(*ordered, epsilon)[0] for ordered in (laws, laws[::-1]))
        for level in problem.levels:
            assert exact <= of_plan(plan, level=level, interval=1e-3).get_delta_for_epsilon(epsilon)
    assert low < high


def test_a_cap_costs_what_compose_says(tmp_path):
    """Every saved plan has a cap. At other epsilons than the level's, the tails get another share of delta."""
    free = plan(replace(MSNBC, delta=1e-4))
    save_plan(plan(replace(MSNBC, delta=1e-4), blanket_cap="auto"), tmp_path / "p.json")
    capped = read_plan(tmp_path / "p.json").plan
    whole = of_plan(capped, level=1.0)
    for epsilon in (0.3, 0.9, 1.0):
        bound = compose([(capped, 1.0)], epsilon=epsilon)
        assert bound * (1 - 2e-3) <= whole.get_delta_for_epsilon(epsilon) <= bound * 1.02
    assert whole.get_delta_for_epsilon(1.0) <= 1e-4 < of_plan(free, level=1.0).get_delta_for_epsilon(0.99)
    with pytest.raises(ParameterError, match="interval = 1e-07"):
        of_plan(capped, level=1.0, interval=1e-7)
    both = whole.compose(pld.from_gaussian_mechanism(10.0))
    assert both.get_delta_for_epsilon(1.0) > whole.get_delta_for_epsilon(1.0)


def test_what_is_refused(monkeypatch):
    plan = ProvenSegmented().plan(MSNBC)
    with pytest.raises(ParameterError, match=r"level = 0\.7 .* 0\.5, 1, 2"):
        of_plan(plan, level=0.7)
    with pytest.raises(ParameterError, match="a plan with proven accounting"):
        of_plan(Segmented(1.0).plan(MSNBC), level=0.5)
    with pytest.raises(ParameterError, match="interval"):
        of_plan(plan, level=0.5, interval=math.nan)
    with pytest.raises(ParameterError, match=r"interval = 1e-07 is not allowed: it must be at least 1.04e-05"):
        privacy_loss_distribution([(ItemPair(1.0, 2.0), 1)], interval=1e-7)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(
        MissingExtraError, match=r"needs dp_accounting, which is not installed: pip install 'segshuffle\[pld\]'"
    ):
        of_plan(plan, level=0.5)
