"""The published accountant of the segmented protocol against enumeration, and what its searches promise."""

import math
from fractions import Fraction

import oracles as o
import pytest

from segshuffle.accounting.collections.published import (
    item_target,
    largest_sampling_rate,
    least_blanket_per_user,
    proven_lower_item_delta,
    published_item_delta,
)
from segshuffle.errors import InfeasibleError, ParameterError
from segshuffle.numerics.ranges import LARGEST_COUNT

F = Fraction
MSNBC = {"domain_size": 17, "n_users": 5000}
SYNTHETIC = {"domain_size": 128, "n_users": 5000}
DELTA = 0.01 / 5000


# -- the pair of the two theorems ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("domain_size", "n_users", "blanket", "rate"),
    [(4, 2, 1.0, 0.5), (4, 2, 2.0, 0.75), (3, 2, 1.5, 0.5), (4, 1, 2.5, 0.25), (4, 3, 0.25, 1.0), (3, 1, 0.5, 0.5)],
)
@pytest.mark.parametrize("epsilon", [0.0, 0.125, 1.0])
def test_proven_lower_is_the_marginal_of_the_protocol(domain_size, n_users, blanket, rate, epsilon):
    """Two counters of the full view, others hold neither item: the pair with n ceil(m) trials, nothing else."""
    slots = math.ceil(blanket)
    gamma = F(blanket) / slots
    others = [(2,)] * (n_users - 1)
    views = [
        o.segmented_view(domain_size, [(victim,), *others], [F(rate)] * n_users, n_users * slots, gamma)
        for victim in (0, 1)
    ]
    marginals = [o.push_forward(view, lambda counts: counts[:2]) for view in views]
    exact = o.hockey_stick(*marginals, o.exp_fraction(epsilon))
    asked = {"domain_size": domain_size, "n_users": n_users, "blanket_per_user": blanket, "sampling_rate": rate}
    found = proven_lower_item_delta(**asked, epsilon=epsilon)
    # 2 gamma/d is rounded to a double (1e-16 relative); the divergence moves by a few times as much per trial
    assert float(exact) * (1 - 1e-14) <= found.upper
    assert found.lower <= float(exact) * (1 + 1e-14)
    assert found.relative_width < 1e-4
    # and no analysis of the full view can be below it
    assert o.hockey_stick(*views, o.exp_fraction(epsilon)) >= exact

    published = published_item_delta(**asked, epsilon=epsilon, rtol=1e-10)
    p, q = o.count_pair(n_users * slots - 1, 2 * gamma / domain_size, F(rate), F(0))
    as_published = float(o.hockey_stick(p, q, o.exp_fraction(epsilon)))
    assert o.encloses(published, as_published, 1e-14)
    assert published.relative_width <= 1e-10


# -- searches --------------------------------------------------------------------------------------------------------

SETTINGS = [
    (MSNBC, 4, 2.0, 0.5),
    (MSNBC, 4, 0.3, 2.0),
    (SYNTHETIC, 8, 3.3, 1.0),
    ({"domain_size": 128, "n_users": 50_000}, 4, 1.0, 0.5),
    ({"domain_size": 2, "n_users": 100}, 1, 0.5, 0.5),
    ({"domain_size": 10**6, "n_users": 10**9}, 4, 1.0, 0.5),
]


@pytest.mark.quick(3)
@pytest.mark.parametrize(("sizes", "set_size", "blanket", "epsilon"), SETTINGS)
def test_largest_rate_is_safe_and_close(sizes, set_size, blanket, epsilon):
    delta = 0.01 / sizes["n_users"]
    rate = largest_sampling_rate(**sizes, set_size=set_size, blanket_per_user=blanket, epsilon=epsilon, delta=delta)
    item_epsilon, item_delta = item_target(epsilon=epsilon, delta=delta, set_size=set_size)
    found = published_item_delta(**sizes, blanket_per_user=blanket, sampling_rate=rate, epsilon=item_epsilon, rtol=1e-5)
    assert found.lower <= item_delta
    assert found.upper <= item_delta * (1 + 1e-5)  # the search saw an interval of its own width, here a narrower one
    assert 0 < rate < 1
    assert found.lower >= 0.9997 * item_delta


def test_rate_without_any_cover_is_at_least_the_item_delta():
    rate = largest_sampling_rate(
        domain_size=10**6, n_users=1, set_size=1, blanket_per_user=1e-6, epsilon=0.1, delta=1e-3
    )
    _, item_delta = item_target(epsilon=0.1, delta=1e-3, set_size=1)
    assert rate == pytest.approx(item_delta, rel=1e-3)


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    ("sizes", "set_size", "epsilon"),
    [(MSNBC, 4, 0.5), (MSNBC, 4, 2.0), (SYNTHETIC, 4, 1.0), ({"domain_size": 128, "n_users": 50_000}, 8, 2.0)],
)
def test_least_blanket_is_feasible_and_least(sizes, set_size, epsilon):
    delta = 0.01 / sizes["n_users"]
    blanket = least_blanket_per_user(**sizes, set_size=set_size, epsilon=epsilon, delta=delta)
    item_epsilon, item_delta = item_target(epsilon=epsilon, delta=delta, set_size=set_size)

    def at(m):
        return published_item_delta(**sizes, blanket_per_user=m, sampling_rate=1.0, epsilon=item_epsilon, rtol=1e-5)

    assert at(blanket).upper <= item_delta * (1 + 1e-5)
    assert at(0.998 * blanket).lower > item_delta
    assert at(0.5 * blanket).lower > item_delta
    assert math.ceil(0.998 * blanket) == math.ceil(blanket)  # none of these lies at a jump


def test_no_blanket_is_enough():
    with pytest.raises(InfeasibleError, match="raise epsilon or delta, or collect from more users"):
        least_blanket_per_user(domain_size=10**6, n_users=1, set_size=1, epsilon=1e-4, delta=1e-9)


def test_a_target_too_small_for_so_many_items_names_the_least_that_is_not():
    """The least delta is twice the smallest sampling rate, 1e-290, for every item, times s e^epsilon."""
    least = 2e-290 * 8 * math.exp(40.0)
    assert item_target(epsilon=40.0, delta=least * (1 + 1e-9), set_size=8)[0] == 5.0
    with pytest.raises(ParameterError, match=f"at least {least:.3g} for 8 items at epsilon = 40"):
        item_target(epsilon=40.0, delta=least * (1 - 1e-9), set_size=8)


@pytest.mark.parametrize("set_size", [1, 3, 8])
def test_group_privacy_arithmetic(set_size):
    """s items at (eps', delta') make (s eps', s exp(s eps') delta') for the user: the inverse is exact."""
    epsilon, delta = item_target(epsilon=1.5, delta=1e-6, set_size=set_size)
    assert set_size * epsilon == pytest.approx(1.5, rel=1e-15)
    assert set_size * math.exp(set_size * epsilon) * delta == pytest.approx(1e-6, rel=1e-14, abs=0)


# -- counts beyond double precision -----------------------------------------------------------------------------------


@pytest.mark.quick(0)
def test_counts_beyond_double_precision_are_refused():
    common = {"domain_size": 17, "blanket_per_user": 1, "sampling_rate": 0.5, "epsilon": 0.0}
    largest = proven_lower_item_delta(**common, n_users=LARGEST_COUNT)
    # with probability 1/2 a normal law of deviation sqrt(c)/2, c = 2 n/17 messages on both items, is moved by one
    assert largest.lower == pytest.approx(0.5 * 2 / math.sqrt(2 * math.pi * 2 * LARGEST_COUNT / 17), rel=1e-3)
    assert largest.relative_width < 1e-3
    with pytest.raises(ParameterError, match="n_users"):
        proven_lower_item_delta(**common, n_users=9 * 10**15)
