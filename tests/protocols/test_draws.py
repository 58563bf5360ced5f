"""Laws of the random draws, by chi-square against exact laws; each test would raise a false alarm once in 1e6 seeds."""

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import oracles as o
import pytest
from protocols.simulations import law_p_value

from segshuffle.blankets.binomial import BINOMIAL
from segshuffle.protocols.subset_exponential import Report

F = Fraction
FALSE_ALARM = 1e-6
SHAPES = [(4, 1, 1), (5, 2, 2), (5, 2, 3), (6, 3, 2), (5, 4, 1), (6, 1, 4)]


def report_of(d, s, k, local_epsilon):
    return Report(domain_size=d, set_size=s, subset_size=k, local_epsilon=local_epsilon)


@pytest.mark.quick(0)
@pytest.mark.parametrize(("d", "s", "k"), SHAPES)
def test_reports_follow_the_matrix(d, s, k):
    """One user at a time, so that the flat answer is that user's subset."""
    gain = F(5, 2)
    rows = o.subsets(d, s)
    index = len(rows) // 2
    law = dict(zip(o.subsets(d, k), o.subset_exponential(d, s, k, gain)[index], strict=True))
    rng = np.random.default_rng(100 * d + 10 * s + k)
    items = np.array([rows[index]])
    reports = [report_of(d, s, k, math.log(gain)).draw(items, rng) for _ in range(4000)]
    assert all(report.size == k for report in reports)
    assert law_p_value(Counter(tuple(sorted(report.tolist())) for report in reports), law) > FALSE_ALARM


def test_users_with_different_items_get_their_own_reports():
    """At a huge local epsilon every report of size s = 1 meets its user's item."""
    items = np.repeat(np.arange(6), 50)[:, None]
    reports = report_of(6, 1, 1, 45.0).draw(items, np.random.default_rng(1))
    np.testing.assert_array_equal(np.bincount(reports, minlength=6), np.full(6, 50))


@pytest.mark.parametrize(("d", "s", "k"), SHAPES)
@pytest.mark.parametrize("gain", [F(3, 2), F(6)])
def test_report_probabilities_and_intersections_are_the_matrix(d, s, k, gain):
    report = report_of(d, s, k, math.log(gain))
    exact = [float(rate) for rate in o.subset_exponential_rates(d, s, k, gain)]
    assert report.probabilities == pytest.approx(exact, rel=1e-13, abs=0)
    row = o.subset_exponential(d, s, k, gain)[0]
    law = [F(0)] * (min(s, k) + 1)
    for z, chance in zip(o.subsets(d, k), row, strict=True):
        law[len(set(z) & set(range(s)))] += chance
    assert report.intersection_law() == pytest.approx([float(x) for x in law], rel=1e-13, abs=0)


@pytest.mark.parametrize(
    ("n_users", "blanket", "domain_size"), [(3, F(3, 4), 2), (2, F(3, 2), 3), (2, F(2), 2), (1, F(1, 4), 3)]
)
def test_blanket_is_the_slots_of_algorithm_2(n_users, blanket, domain_size):
    """The joint law of all counters is that of the enumerated slots."""
    slots = math.ceil(blanket)
    law = o.segmented_view(domain_size, [], [], n_users * slots, blanket / slots)
    counters = BINOMIAL.draw_net(n_users, float(blanket), (20_000, domain_size), np.random.default_rng(17))
    assert counters.shape == (20_000, domain_size)
    assert counters.dtype == np.int64
    assert law_p_value(Counter(map(tuple, counters.tolist())), law) > FALSE_ALARM
