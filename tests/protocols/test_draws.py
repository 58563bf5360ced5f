"""Laws of the random draws, by chi-square against exact laws; each test would raise a false alarm once in 1e6 seeds."""

import math
import tracemalloc
from collections import Counter
from fractions import Fraction

import numpy as np
import oracles as o
import pytest
from simulations import law_p_value

from segshuffle.blankets.binomial import BINOMIAL
from segshuffle.plans.plan import PLAIN, Problem, Sample
from segshuffle.plans.scheme import Scheme
from segshuffle.protocols import central
from segshuffle.protocols.balls_into_bins import BallsIntoBins
from segshuffle.protocols.proven import ProvenSegmented
from segshuffle.protocols.segmented import Segmented
from segshuffle.protocols.subset_exponential import Report, SubsetExponential

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


# ----------------------------------------------------------------------------------------------------------------------
# Large domains
# ----------------------------------------------------------------------------------------------------------------------


def large_sample(domain_size):
    """Return one repetition with three levels in which user i holds item i."""
    held = np.zeros((1, 3, domain_size), dtype=np.int32)
    for level, users in enumerate(((0, 250), (250, 750), (750, 1000))):
        held[0, level, slice(*users)] = 1
    return Sample(np.arange(1000)[:, None], domain_size, held)


def test_a_large_domain_gets_the_same_draws_as_a_small_one():
    """Counters of one repetition are drawn in pieces of 262,144 items."""
    sample, copies = large_sample(2**19 + 3), (0.4, 1.0, 2.5)
    scheme = Scheme(sample.domain_size, 1, 1000, copies, 200.0)
    rng, held = np.random.default_rng(3), sample.level_item_counts
    sent = (np.array([0, 1, 2]) @ held) + rng.binomial(held, np.array([[0.4], [0.0], [0.5]])).sum(axis=1)
    sent += rng.poisson(1000 * 200.0 / sample.domain_size, size=sent.shape)
    assert (scheme.count(held, np.random.default_rng(3)) == sent).all()


def test_slots_of_a_large_domain_are_all_filled():
    """With whole slots the number of dummies is known; every piece of the domain gets its share of them."""
    drawn = BINOMIAL.draw_net(1000, 1000.0, (2, 2**21 + 5), np.random.default_rng(4))
    assert drawn.sum(axis=1).tolist() == [1_000_000] * 2
    # half a million with a standard deviation of 500
    assert (np.abs(drawn[:, : 2**20].sum(axis=1) - 500_000) < 5.2 * 500).all()


@pytest.mark.quick("poisson")
@pytest.mark.parametrize(
    "method",
    [
        ProvenSegmented(),
        BallsIntoBins(name="sepmm"),
        Segmented(0.3),
        SubsetExponential(2.0),
        central.WEIGHTED,
        central.DISCRETE_LAPLACE,
        central.BEST,
    ],
    ids=lambda method: method.name,
)
def test_a_simulation_needs_three_numbers_for_each_item(method):
    d = 4_000_000
    plan = method.plan(Problem(d, 1, (0.5, 1.0, 2.0), (250, 500, 250), 1e-5, PLAIN))
    sample, rng = large_sample(d), np.random.default_rng(0)
    tracemalloc.start()
    try:
        method.simulate(plan, sample, rng)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # of 8 bytes each, and up to four pieces of 262,144 numbers
    assert peak < 3 * 8 * d + 4 * 8 * 2**18
