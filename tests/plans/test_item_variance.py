"""How far the estimate of one item is off: against the law of an item's counter, enumerated from its definition."""

from itertools import permutations

import numpy as np
import pytest
from collection.messages.test_received import LAWS, dummies_law
from given_plans import given_plan
from scipy import special, stats

from segshuffle.plans import item_variance
from segshuffle.plans.item_variance import (
    ItemVariance,
    blanket_quantile,
    coverage_of_nothing,
)
from segshuffle.plans.plan import PLAIN, Problem

LEVELS, COUNTS, COPIES, ITEMS, DUMMIES = (0.5, 1.0, 2.0), (2, 1, 2), (0.25, 1.5, 2.0), 5, 9.0


def planned(blanket, *, copies=COPIES, counts=COUNTS, dummies=DUMMIES):
    """Return a plan of five users and five items, so there are as many dummies per item as per user."""
    return given_plan(Problem(ITEMS, 2, LEVELS[: len(counts)], counts, 0.1, PLAIN), copies, dummies, **LAWS[blanket])


def dummies_of_item(blanket):
    """Return values and probabilities of what all dummies add to the count of one item."""
    return dummies_law(blanket, DUMMIES, signs=True, users=5, size=250)


def moments(values, law):
    mean = float(values @ law)
    central = [float((values - mean) ** k @ law) for k in (2, 3, 4)]
    return mean, central[0], central[1] / central[0] ** 1.5, central[2] / central[0] ** 2 - 3


@pytest.mark.parametrize("blanket", LAWS)
def test_the_dummies_have_the_moments_of_their_law(blanket):
    plan, (mean, variance, skewness, kurtosis) = (
        planned(blanket),
        moments(*dummies_of_item(blanket)),
    )
    found = ItemVariance.of(plan)
    assert plan.scheme.weight(plan.problem.level_counts) == 2 * 0.25 + 1.5 + 2 * 2.0
    assert found.noise * plan.scheme.weight(plan.problem.level_counts) ** 2 == pytest.approx(variance, rel=1e-9)
    assert found.skewness == pytest.approx(skewness, rel=1e-9, abs=1e-12)
    assert found.kurtosis == pytest.approx(kurtosis, rel=1e-9)
    assert plan.scheme.net_mean == pytest.approx(mean, rel=1e-12, abs=1e-12)
    assert plan.scheme.mean == DUMMIES


@pytest.mark.parametrize("holders", range(6))
def test_levels_and_fractions_of_a_copy_by_enumeration(holders):
    """All orders of the levels are equally likely; each holder sends one more copy with probability `held % 1`."""
    weight, means, own = planned("single").scheme.weight(planned("single").problem.level_counts), [], []
    for order in permutations([0.25, 0.25, 1.5, 2.0, 2.0]):
        held = np.array(order[:holders])
        means.append(held.sum())
        own.append((held % 1 * (1 - held % 1)).sum())
    expected = (DUMMIES + np.var(means) + np.mean(own)) / weight**2
    assert ItemVariance.of(planned("single")).at(holders / 5) == pytest.approx(expected, rel=1e-12)


def test_without_dummies_and_with_one_user_only_the_fraction_is_left():
    found = ItemVariance.of(planned("single", copies=(0.25,), counts=(1,), dummies=0.0))
    assert found == (0.0, 0.25 * 0.75 / 0.25**2, 0.0, 0.0, 0.0)


FOUND = np.linspace(-0.3, 1.3, 33)


def deviations(variance, confidence):
    """Return distances of both ends of the intervals, in the standard deviations that hold at these ends."""
    low, high = variance.interval(FOUND, confidence)
    return (FOUND - low) / np.sqrt(variance.at(low)), (high - FOUND) / np.sqrt(variance.at(high))


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.999])
@pytest.mark.parametrize(
    "variance", [ItemVariance(0.004, 0.002, 0.01, 0.3, 0.1), ItemVariance(0.02, 0.03, 0.0, -0.2, 0.2)]
)
def test_intervals_have_the_edgeworth_number_of_deviations(variance, confidence):
    """P(|Z| <= z) = 2 Phi(z) - 1 - 2 phi(z) (kurtosis He3(z)/24 + skewness^2 He5(z)/72), solved for z to first order.

    Only the dummies' share of the variance is not normal.
    """
    z, share = stats.norm.isf((1 - confidence) / 2), variance.noise / variance.at(FOUND)
    more = share**2 * variance.kurtosis * special.eval_hermitenorm(3, z) / 24
    more = more + share**3 * variance.skewness**2 * special.eval_hermitenorm(5, z) / 72
    assert np.abs(more).max() < 0.2 * z
    for end in deviations(variance, confidence):
        np.testing.assert_allclose(end, z + more, rtol=1e-9)


@pytest.mark.parametrize(("skewness", "kurtosis", "factor"), [(0.0, 50.0, 1.2), (0.0, -50.0, 0.8), (9.0, 0.0, 1.2)])
def test_a_series_that_is_no_small_correction_is_cut(skewness, kurtosis, factor):
    variance = ItemVariance(0.01, 0.0, 0.0, skewness, kurtosis)
    for end in deviations(variance, 0.999):
        np.testing.assert_allclose(end, factor * stats.norm.isf(0.0005), rtol=1e-9)


@pytest.mark.parametrize("blanket", LAWS)
@pytest.mark.parametrize("tail", [0.4, 0.05, 1e-3, 1e-8, 1e-12])
def test_the_quantile_is_the_least_number_that_is_seldom_exceeded(blanket, tail):
    values, law = dummies_of_item(blanket)
    found = blanket_quantile(planned(blanket), tail)
    assert law[values > found].sum() <= tail < law[values >= found].sum()


@pytest.mark.parametrize("confidence", [0.6, 0.95, 0.999])
@pytest.mark.parametrize("blanket", LAWS)
def test_the_coverage_of_an_item_that_nobody_holds_is_that_of_its_counts(blanket, confidence):
    plan, (values, law) = planned(blanket), dummies_of_item(blanket)
    centre = 0.0 if blanket == "signed" else DUMMIES
    low, high = ItemVariance.of(plan).interval((values - centre) / 6.0, confidence)
    expected = law[(low <= 0) & (high >= 0)].sum()
    assert 0 < expected < 1
    assert coverage_of_nothing(plan, confidence) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("blanket", LAWS)
def test_very_many_dummies_are_counted_in_blocks(monkeypatch, blanket):
    """The quantile is on the safe side, by two blocks at most; here the blocks are larger than they ever are."""
    plan = given_plan(Problem(3, 1, (1.0,), (10**4,), 0.1), (1.0,), 20.0, **LAWS[blanket])
    exact, covered = blanket_quantile(plan, 1e-6), coverage_of_nothing(plan, 0.95)
    monkeypatch.setattr(item_variance, "_MOST_BLOCKS", 300)
    deviation = plan.scheme.noise**0.5
    assert 0 <= blanket_quantile(plan, 1e-6) - exact < 0.3 * deviation
    assert coverage_of_nothing(plan, 0.95) == pytest.approx(covered, abs=0.02)
