"""Laws of the random draws, by chi-square against exact laws; each test would raise a false alarm once in 1e6 seeds."""

import math
from fractions import Fraction

import numpy as np
import oracles as o
import pytest
from scipy import stats

from segshuffle.protocols.base import draw_blanket
from segshuffle.protocols.subset_exponential import draw_reports, intersection_law, report_probabilities

F = Fraction
FALSE_ALARM = 1e-6
SHAPES = [(4, 1, 1), (5, 2, 2), (5, 2, 3), (6, 3, 2), (5, 4, 1), (6, 1, 4)]


def assert_law(observed, law):
    """Chi-square of the counts of outcomes against their exact probabilities; rare outcomes are pooled."""
    assert set(observed) <= set(law)
    total = sum(observed.values())
    assert sum(law.values()) == 1
    common = [x for x in law if float(law[x]) * total >= 5]
    expected = [float(law[x]) * total for x in common]
    seen = [observed.get(x, 0) for x in common]
    if (rest := total - sum(expected)) > 1e-6:
        expected.append(rest)
        seen.append(total - sum(seen))
    assert len(expected) > 1
    assert stats.chisquare(seen, expected).pvalue > FALSE_ALARM


def tally(outcomes):
    result = {}
    for outcome in outcomes:
        result[outcome] = result.get(outcome, 0) + 1
    return result


@pytest.mark.quick(0)
@pytest.mark.parametrize(("d", "s", "k"), SHAPES)
def test_reports_follow_the_matrix(d, s, k):
    """One user at a time, so that the flat answer is that user's subset."""
    gain = F(5, 2)
    rows = o.subsets(d, s)
    index = len(rows) // 2
    law = dict(zip(o.subsets(d, k), o.subset_exponential(d, s, k, gain)[index], strict=True))
    intersections = intersection_law(domain_size=d, set_size=s, subset_size=k, local_epsilon=math.log(gain))
    rng = np.random.default_rng(100 * d + 10 * s + k)
    items = np.array([rows[index]])
    reports = [draw_reports(rng, items, domain_size=d, subset_size=k, law=intersections) for _ in range(4000)]
    assert all(report.size == k for report in reports)
    assert_law(tally(tuple(sorted(report.tolist())) for report in reports), law)


@pytest.mark.parametrize(("d", "s", "k"), SHAPES)
def test_reports_of_many_users_at_once(d, s, k):
    """The number of users who report each item, all users with the same items, against the inclusion rates."""
    gain, n_users = F(3), 200_000
    items = np.tile(np.arange(d - s, d), (n_users, 1))
    law = intersection_law(domain_size=d, set_size=s, subset_size=k, local_epsilon=math.log(gain))
    reports = draw_reports(np.random.default_rng(d * s + k), items, domain_size=d, subset_size=k, law=law)
    assert reports.size == n_users * k
    counts = np.bincount(reports, minlength=d)
    held, not_held = o.subset_exponential_rates(d, s, k, gain)
    for j in range(d):
        rate = float(held if j >= d - s else not_held)
        assert stats.binomtest(int(counts[j]), n_users, rate).pvalue > FALSE_ALARM


def test_users_with_different_items_get_their_own_reports():
    """At a huge local epsilon every report of size s = 1 meets its user's item."""
    items = np.repeat(np.arange(6), 50)[:, None]
    law = intersection_law(domain_size=6, set_size=1, subset_size=1, local_epsilon=45.0)
    reports = draw_reports(np.random.default_rng(1), items, domain_size=6, subset_size=1, law=law)
    np.testing.assert_array_equal(np.bincount(reports, minlength=6), np.full(6, 50))


@pytest.mark.parametrize(("d", "s", "k"), SHAPES)
@pytest.mark.parametrize("gain", [F(3, 2), F(6)])
def test_report_probabilities_and_intersections_are_the_matrix(d, s, k, gain):
    arguments = {"domain_size": d, "set_size": s, "subset_size": k, "local_epsilon": math.log(gain)}
    exact = [float(rate) for rate in o.subset_exponential_rates(d, s, k, gain)]
    assert report_probabilities(**arguments) == pytest.approx(exact, rel=1e-13, abs=0)
    row = o.subset_exponential(d, s, k, gain)[0]
    law = [F(0)] * (min(s, k) + 1)
    for z, chance in zip(o.subsets(d, k), row, strict=True):
        law[len(set(z) & set(range(s)))] += chance
    assert intersection_law(**arguments) == pytest.approx([float(x) for x in law], rel=1e-13, abs=0)


@pytest.mark.parametrize(
    ("n_users", "blanket", "domain_size"), [(3, F(3, 4), 2), (2, F(3, 2), 3), (2, F(2), 2), (1, F(1, 4), 3)]
)
def test_blanket_is_the_slots_of_algorithm_2(n_users, blanket, domain_size):
    """The joint law of all counters, against the enumeration of the slots."""
    slots = math.ceil(blanket)
    law = o.segmented_view(domain_size, [], [], n_users * slots, blanket / slots)
    counters = draw_blanket(
        np.random.default_rng(17),
        n_users=n_users,
        blanket_per_user=float(blanket),
        domain_size=domain_size,
        repetitions=20_000,
    )
    assert counters.shape == (20_000, domain_size)
    assert counters.dtype == np.int64
    assert_law(tally(map(tuple, counters.tolist())), law)


def test_blanket_of_an_integer_number_of_messages_is_a_constant_in_total():
    """The leak of math.md section 3 (a): with integer m the total number of blanket messages is no secret."""
    counters = draw_blanket(np.random.default_rng(3), n_users=50, blanket_per_user=2.0, domain_size=7, repetitions=100)
    assert np.all(counters.sum(axis=1) == 100)
    counters = draw_blanket(np.random.default_rng(3), n_users=50, blanket_per_user=1.9, domain_size=7, repetitions=100)
    assert np.unique(counters.sum(axis=1)).size > 5


def test_blanket_moments_at_size():
    """n m/d per counter, variance n m/d (1 - m/(d ceil(m))) and covariance -n gamma m/d^2, within 5 standard errors."""
    n_users, m, d, repetitions = 5000, 2.5, 5, 40_000
    counters = draw_blanket(
        np.random.default_rng(4), n_users=n_users, blanket_per_user=m, domain_size=d, repetitions=repetitions
    )
    mean, gamma = n_users * m / d, m / 3
    variance = mean * (1 - gamma / d)
    np.testing.assert_allclose(counters.mean(axis=0), mean, rtol=0, atol=5 * math.sqrt(variance / repetitions))
    covariance = np.cov(counters.T)
    exact = np.full((d, d), -mean * gamma / d)
    np.fill_diagonal(exact, variance)
    np.testing.assert_allclose(covariance, exact, rtol=0, atol=5 * variance * math.sqrt(2 / repetitions))
