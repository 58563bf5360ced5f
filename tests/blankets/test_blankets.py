"""Clustered and signed blankets against enumeration from their definition."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from oracles.changes import grid_divergence
from oracles.clusters import (
    clustered_law,
    compound_poisson,
    exchange_divergence,
    logarithmic_moves,
    signed_law,
    with_copies,
)

from segshuffle.accounting.collections.guides import guided_copies, guided_log_delta
from segshuffle.accounting.collections.product import delta_interval, log_delta_bound
from segshuffle.blankets.clustered import Clustered
from segshuffle.blankets.poisson import POISSON
from segshuffle.blankets.signed import SampledSigned, Signed
from segshuffle.errors import ParameterError
from segshuffle.numerics.loss_distribution import AccuracyError, log_delta_lower, log_delta_upper

#: What a unit of a signed blanket adds to (N+, N-).
DIRECTIONS = {(1,): (1, 0), (-1,): (0, 1), (1, -1): (1, 1)}


def assert_encloses(bounds, exact, rtol=1e-3):
    inside, with_all = exact
    if inside == 0.0:  # clusters and a fraction of a copy: the loss is bounded
        assert bounds.lower == 0.0
        assert bounds.upper <= 1e-29
        return
    assert bounds.lower <= with_all * (1 + 1e-9)
    assert inside <= bounds.upper * (1 + 1e-9)
    assert bounds.upper <= bounds.lower * (1 + rtol)


@pytest.mark.parametrize(
    "values", [(0.5, 0.1, 0.5), (0.1, 0.5, 0.4), (0.3, 0.9, 0.2), (0.4, 0.0, 0.1), (0.0, 0.3, 0.9)]
)
def test_the_least_mean_of_a_signed_blanket_is_where_the_smaller_of_its_sizes_reaches_one(values):
    blanket = Signed(*values)
    least, most = blanket.means
    sizes = [part.mean * (1 - part.p) / part.p for part in blanket.parts(least) if part.p]
    assert 1 <= min(sizes) <= 1 + 1e-13
    assert most == 1e6
    assert Signed(0.0, 0.0, 0.5).means[0] == 1e-3


SIGNED = [
    (Signed(0.4, 0.5, 0.7), 6.0),
    (Signed(0.5, 0.3, 0.4), 5.0),
    (Signed(0.0, 0.4, 0.5), 4.0),  # Skellam noise
    (Signed(0.3, 0.0, 0.6), 4.0),
    (Signed(0.4, 0.4, 0.1), 13.5),
]
#: Laws, means, and counts below which they are listed.
LAWS = [(Clustered(p), mean, 110) for p, mean in ((0.3, 0.9), (0.5, 3.0), (0.7, 2.5))]
LAWS += [(blanket, mean, 28) for blanket, mean in SIGNED]


def law_of(blanket, mean, size):
    if isinstance(blanket, Clustered):
        return clustered_law(mean, blanket.p, size)
    return signed_law(mean, blanket.p, blanket.flood_p, blanket.flood, size)


@pytest.mark.quick(10)
@pytest.mark.parametrize(("blanket", "mean", "size"), LAWS)
@pytest.mark.parametrize("copies", [0.3, 1.0, 1.6, 3.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0])
def test_one_pair(blanket, mean, size, copies, epsilon):
    b = law_of(blanket, mean, size)
    a = with_copies(b, 0, copies)
    bounds = delta_interval(blanket.pair(mean, copies), pairs=1, epsilon=epsilon)
    for exact in (exchange_divergence(a, b, epsilon), exchange_divergence(b, a, epsilon)):
        assert_encloses(bounds, exact)


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("blanket", "size"), [(Clustered(0.4), 40), pytest.param(Signed(0.1, 0.2, 0.5), 6, marks=pytest.mark.exhaustive)]
)
@pytest.mark.parametrize("copies", [0.5, 1.0, 1.6])
@pytest.mark.parametrize("epsilon", [0.0, 1.0])
def test_two_pairs(blanket, size, copies, epsilon):
    b = law_of(blanket, 1.2, size)
    exact = exchange_divergence(with_copies(b, 0, copies), b, epsilon, pairs=2)
    assert_encloses(delta_interval(blanket.pair(1.2, copies), pairs=2, epsilon=epsilon), exact)


@pytest.mark.quick("0.7-11.0", "1.0-11.0", "1.0-5.0")
@pytest.mark.parametrize("log_tail", [5.0, 11.0])
@pytest.mark.parametrize("copies", [0.7, 1.0])
def test_what_the_windows_cut_off_is_given_away(log_tail, copies):
    """With windows far too narrow, both bounds stay on their sides; if the mass outside is ignored, one does not."""
    blanket, mean = SIGNED[1]
    b = law_of(blanket, mean, 28)
    low, high = exchange_divergence(with_copies(b, 0, copies), b, 0.5)
    table = blanket.pair(mean, copies).loss_table(0.01, log_tail)
    assert table.missing > 0
    assert log_delta_upper([(table, 1)], 0.5, 1.0) >= math.log(low)
    assert log_delta_lower(table, pairs=1, epsilon=0.5, tilt=1.0) <= math.log(high)
    if log_tail > 10:
        return  # finer than the cells
    careless = replace(table, truncated=0.0, missing=0.0)
    assert log_delta_upper([(careless, 1)], 0.5, 1.0) < math.log(low)


def test_the_lower_bound_pays_for_missing_mass():
    pair = POISSON.pair(20.0, 1.0)
    table = pair.loss_table(0.01, 40.0)
    whole = math.exp(log_delta_lower(table, pairs=3, epsilon=0.5, tilt=1.0))
    less = math.exp(log_delta_lower(replace(table, missing=1e-3), pairs=3, epsilon=0.5, tilt=1.0))
    assert less == pytest.approx(whole - 3e-3 * math.exp(0.5), rel=1e-9)
    assert log_delta_lower(replace(table, missing=0.3), pairs=3, epsilon=0.5, tilt=1.0) == -math.inf


@pytest.mark.quick(0)
def test_no_neighbours_are_told_apart_better_in_a_clustered_blanket():
    """Every change of at most two items of three, at one level or two, against the theorem's pairs."""
    clustered, mean, size, epsilon = Clustered(0.35), 0.9, 26, 0.6

    units = np.eye(3, dtype=int).tolist()
    moves = [move for unit in units for move in logarithmic_moves(mean, clustered.p, unit, size)]
    blanket = compound_poisson((size,) * 3, moves)
    bound = {
        (t, a): delta_interval(clustered.pair(mean, a), pairs=t, epsilon=epsilon).upper
        for t in (1, 2)
        for a in (0.6, 1.3)
    }

    def law(items, copies):
        histogram = blanket
        for item in items:
            histogram = with_copies(histogram, item, copies)
        return histogram

    sets = [items for k in range(3) for items in itertools.combinations(range(3), k)]
    laws = {(items, a): law(items, a) for items in sets for a in (0.6, 1.3)}
    reached = 0.0
    for ((one, a), p), ((other, a_other), q) in itertools.product(laws.items(), repeat=2):
        inside, _ = grid_divergence(p, q, epsilon)
        assert inside <= bound[2, max(a, a_other)] * (1 + 1e-9)
        if a == a_other and len(one) == len(other) == 2:  # three items: two sets of two differ in one
            assert inside <= bound[1, a] * (1 + 1e-9)
            reached = max(reached, inside / bound[1, a])
    assert reached > 0.998


@pytest.mark.quick(0)
def test_no_neighbours_are_told_apart_better_in_a_signed_blanket():
    blanket, mean, size, epsilon = Signed(0.2, 0.3, 0.5), 2.4, 13, 0.6
    one = law_of(blanket, mean, size)

    def law(items, copies):
        held, free = with_copies(one, 0, copies).ravel(), one.ravel()
        return np.multiply.outer(held if 0 in items else free, held if 1 in items else free)

    sets = [(), (0,), (1,), (0, 1)]
    for a, a_other in [(0.6, 0.6), (0.6, 1.3), (1.0, 1.0), (1.3, 0.6)]:
        for s, (held, other) in itertools.product((1, 2), itertools.product(sets, repeat=2)):
            if max(len(held), len(other)) > s:
                continue
            pair = blanket.pair(mean, max(a, a_other))
            bound = delta_interval(pair, pairs=s, epsilon=epsilon).upper
            inside, _ = grid_divergence(law(held, a), law(other, a_other), epsilon)
            assert inside <= bound * (1 + 1e-9)


def test_sizes_below_one_break_the_order_and_are_refused():
    law = clustered_law(0.5, 0.5, 30)  # r = 1/2
    ratio = law[:-1] / law[1:]
    assert ratio[1] < ratio[0]
    for blanket, mean in [(Clustered(0.5), 0.99), (Signed(0.5, 0.1, 0.5), 3.99), (Signed(0.1, 0.5, 0.5), 3.99)]:
        with pytest.raises(ParameterError, match="blanket_mean"):
            blanket.pair(mean, 1.0)
        blanket.pair(blanket.means[0], 1.0)


@pytest.mark.quick("blanket0", "blanket1")
@pytest.mark.parametrize("blanket", [POISSON, Clustered(0.6), Signed(0.4, 0.5, 0.7)])
def test_parts_say_what_a_blanket_costs_and_how_noisy_it_is(blanket):
    parts = blanket.parts(6.0)
    assert sum(part.mean * len(part.signs) for part in parts) == pytest.approx(6.0, rel=1e-14)
    size = 60
    moves = []
    for part in parts:
        direction = DIRECTIONS[part.signs] if blanket.name == "signed" else (1,)
        moves += logarithmic_moves(part.mean, part.p, direction, size)
    law = compound_poisson((size,) * len(moves[0][1]), moves)
    count = np.indices(law.shape)
    net = count[0] - (count[1] if law.ndim == 2 else 0)
    mean = float((law * net).sum())
    assert mean == pytest.approx(sum(part.net * part.mean for part in parts), rel=1e-6, abs=1e-9)
    assert float((law * (net - mean) ** 2).sum()) == pytest.approx(blanket.variance(6.0), rel=1e-5)
    assert blanket.pair(6.0, 1.0).variance == blanket.variance(6.0)


def test_a_table_too_large_gives_no_bound():
    pair = Signed(0.5, 0.98, 0.5).pair(1e5, 1.0)
    with pytest.raises(AccuracyError, match="too many values"):
        pair.loss_table(0.1, 30.0)
    assert log_delta_bound([(pair, 1)], 1.0) == 0.0


def test_laws_that_hardly_meet_are_refused_not_tabulated():
    """64 copies against clusters that are rarely so large: no value has mass under both."""
    pair = SampledSigned(0.43, 0.93, 0.95).pair(59.0, 64.0)
    with pytest.raises(AccuracyError, match="two laws hardly overlap"):
        pair.loss_table(0.01, 20.0)
    assert guided_log_delta(pair, 1, 1.0, 1e-5) == 0.0
    never = Signed(1e-3, 0.97, 0.9).pair(74.742, 64.0)
    for ask in (lambda: never.coarse_law(30.0), lambda: delta_interval(never, pairs=1, epsilon=1.0)):
        with pytest.raises(AccuracyError, match=r"two laws hardly overlap\. Send fewer copies"):
            ask()
    assert log_delta_bound([(never, 1)], 1.0) == 0.0


@pytest.mark.parametrize("pairs", [1, 4])
@pytest.mark.parametrize("copies", [16.0, 40.0, 64.0])
def test_guides_see_that_many_copies_are_not_private(pairs, copies):
    """Nearly all mass of A lies beyond the tabulated values of B: delta is about 1, not about 0."""
    pair = SampledSigned(0.6, 0.93, 0.98).pair(200.0, copies)
    assert guided_log_delta(pair, pairs, 1.0, 1e-5) > math.log(0.9)


def test_guides_see_an_epsilon_that_no_loss_reaches():
    """Three losses of at most 2.3 each stay below it: delta is what the table leaves out, however large the tilt."""
    pair = Clustered(0.056466).pair(0.05984631039568867, 0.5163419670098013)
    assert guided_log_delta(pair, 3, 9.990304086853557, 8.867213478164487e-08) < math.log(1e-10)


@pytest.mark.parametrize(
    ("blanket", "mean"),
    [
        (POISSON, 400.0),
        (Clustered(0.6), 300.0),
        (Clustered(0.6), 4e3),
        (Signed(0.5, 0.5, 0.5), 60.0),
        (Signed(0.8, 0.95, 0.95), 800.0),
    ],
)
@pytest.mark.parametrize(("pairs", "epsilon", "delta"), [(1, 1.0, 1e-6), (4, 0.5, 1e-9), (2, 3.0, 1e-3)])
def test_guides_are_near_what_is_certified(blanket, mean, pairs, epsilon, delta):
    asked = {"pairs": pairs, "epsilon": epsilon, "delta": delta}
    rough = blanket.rough()
    copies = guided_copies(rough, mean, copies_max=64.0, **asked)
    log_delta = log_delta_bound([(blanket.pair(mean, copies), pairs)], epsilon)
    # delta at these copies is near the target
    assert log_delta == pytest.approx(math.log(delta), abs=0.2)
    guided = guided_log_delta(rough.pair(mean, copies), pairs, epsilon, delta)
    assert guided == pytest.approx(log_delta, abs=0.03)
    # the same copies wherever the search starts, and never more than allowed
    for start in (0.3 * copies, 3 * copies):
        found = guided_copies(rough, mean, copies_max=64.0, start=start, **asked)
        assert found == pytest.approx(copies, rel=0.01)
    assert guided_copies(blanket, mean, copies_max=0.5 * copies, **asked) == pytest.approx(0.5 * copies, rel=1e-12)


def test_guides_sample_enough_counts_of_a_signed_blanket():
    """With counts a standard deviation apart, this estimate is .055 too large."""
    blanket, mean, copies, epsilon, delta = Signed(0.39, 0.0, 0.95), 31.5, 0.754, 2.0, 1e-8
    certified = log_delta_bound([(blanket.pair(mean, copies), 1)], epsilon)
    guided = guided_log_delta(blanket.rough().pair(mean, copies), 1, epsilon, delta, 1e-3)
    assert guided == pytest.approx(certified, abs=0.01)
