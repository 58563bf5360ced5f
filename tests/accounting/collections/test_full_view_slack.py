"""The parts of the full view that windows, blocks and roundings are in, one by one."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from segshuffle.accounting.collections import full_view, full_view_users, silence_ratio
from segshuffle.accounting.collections.full_view import FullView, count_grid
from segshuffle.accounting.collections.silence_ratio import RatioLaw, Rest, RestLaws, merged, spread
from segshuffle.blankets import clustered


@pytest.fixture
def fresh_grids():
    count_grid.cache_clear()
    yield
    count_grid.cache_clear()


def usual(**changed):
    values = {"domain_size": 6, "n_users": 10, "blanket_per_user": 1.5, "sampling_rate": 0.4}
    return FullView(**values | {"sent": [(3, 0.5)], "covered_items": 2} | changed)


def test_both_ends_are_rounded_outwards_and_at_most_the_rate(monkeypatch):
    view = usual()
    exact = [view.one_sided(0.3, upper=side) for side in (False, True)]
    monkeypatch.setattr(full_view, "_ROUND_OFF", 0.01)
    found = [view.one_sided(0.3, upper=side) for side in (False, True)]
    assert found[0] == pytest.approx(exact[0] * 0.99, rel=2e-9)
    assert found[1] == pytest.approx(exact[1] * 1.01, rel=2e-9)
    monkeypatch.setattr(full_view, "_ROUND_OFF", 100.0)
    assert view.one_sided(0.3, upper=True) == 0.4
    arguments = {"domain_size": 12, "set_size": 2, "n_users": 30, "blanket_per_user": 1}
    exact = full_view_users.worst_split_user_lower(**arguments, sampling_rate=0.6, epsilon=0.4)
    monkeypatch.setattr(full_view_users, "_ROUND_OFF", 0.01)
    rough = full_view_users.worst_split_user_lower(**arguments, sampling_rate=0.6, epsilon=0.4)
    assert rough == pytest.approx(exact * 0.99, rel=2e-9)
    # of every block as much mass may be lacking, of none more than it has
    monkeypatch.setattr(full_view_users, "_MASS_ERROR", 1e-4)
    less = full_view_users.worst_split_user_lower(**arguments, sampling_rate=0.6, epsilon=0.4)
    assert rough - 30 * 1e-4 < less < rough - 3 * 1e-4
    monkeypatch.setattr(full_view_users, "_MASS_ERROR", 1.0)
    assert full_view_users.worst_split_user_lower(**arguments, sampling_rate=0.6, epsilon=0.4) == 0.0


@pytest.mark.parametrize(("slots", "probability"), [(30, 0.3), (9000, 0.4), (5, 1.0)])
@pytest.mark.parametrize(("total_width", "cell_width"), [(7.5, 8.0), (0.4, 0.5)])
def test_a_grid_knows_what_lies_outside(slots, probability, total_width, cell_width, monkeypatch, fresh_grids):
    monkeypatch.setattr(full_view, "_TOTAL_WIDTH", total_width)
    monkeypatch.setattr(full_view, "_CELL_WIDTH", cell_width)
    grid = count_grid(slots, probability)
    law = stats.binom(slots, probability)
    reach = total_width * law.std() + 12
    first = max(math.floor(law.mean() - reach), 0)
    assert grid.total.tolist() == list(range(first + 1, min(math.ceil(law.mean() + reach), slots) + 2))
    np.testing.assert_allclose(grid.spoke, law.pmf(grid.total - 1), rtol=1e-9)
    assert grid.outside == pytest.approx(1 - law.pmf(grid.total - 1).sum(), rel=1e-9, abs=1e-13)
    np.testing.assert_allclose(grid.ratio * grid.spoke, np.where(grid.spoke > 0, law.pmf(grid.total), 0.0), rtol=1e-9)
    from_half = np.floor(grid.total / 2)
    columns = grid.cell.shape[1]
    assert columns == math.ceil(0.5 * cell_width * math.sqrt(grid.total[-1])) + 3
    a = from_half[:, None] + np.arange(columns)
    np.testing.assert_allclose(grid.cell, stats.binom.pmf(a, grid.total[:, None], 0.5), rtol=1e-9, atol=1e-300)
    np.testing.assert_allclose(grid.beyond, stats.binom.sf(a[:, -1], grid.total, 0.5), rtol=1e-9, atol=1e-300)
    # 1 - (2a - c)/c where a is at most c
    np.testing.assert_allclose(grid.short, np.maximum(2 - 2 * a / grid.total[:, None], 0.0), rtol=1e-12, atol=1e-15)


def test_the_rest_is_not_looked_at_where_no_cell_has_a_gain():
    """At a large epsilon the threshold lies beyond the last cell: what is outside the grid is all that is counted."""
    view = FullView(domain_size=6, n_users=3000, blanket_per_user=1.5, sampling_rate=0.4)
    assert view.one_sided(30.0, upper=False) == 0.0
    grid = count_grid(view._slots, view._chance)
    found = view.one_sided(30.0, upper=True)
    assert found == pytest.approx(0.4 * (grid.outside + 2 * float(grid.spoke @ grid.beyond)), rel=1e-8)
    assert [view._pieces[upper]._known for upper in (False, True)] == [{}, {}]
    view.one_sided(0.05, upper=True)
    assert view._pieces[True]._known


def test_what_lies_outside_the_grid_is_counted_in_full(monkeypatch):
    """A total outside tells everything; a cell beyond the last at most 2, over (1 + e^eps) tanh(eps/2) (e^eps - 1)."""
    view = usual()
    lower, upper = (view.one_sided(0.3, upper=side) for side in (False, True))
    grid = count_grid(view._slots, view._chance)
    monkeypatch.setattr(
        full_view, "count_grid", lambda *_: replace(grid, outside=grid.outside + 0.01, beyond=grid.beyond + 0.02)
    )
    more = 0.4 * (0.01 + 2 * 0.02 * grid.spoke.sum())
    assert view.one_sided(0.3, upper=True) == pytest.approx(upper + more, rel=1e-8)
    assert view.one_sided(0.3, upper=False) == lower


@pytest.mark.parametrize("covered", [0, 2, 4])
def test_narrow_windows_of_the_rest_still_bound(covered, monkeypatch):
    """Mass outside is at a ratio of 0 above, which leaks the most, and left out below."""
    exact = usual(covered_items=covered, n_users=60, sent=[(60, 0.5)]).delta(0.2)
    silence_ratio._windowed.cache_clear()
    silence_ratio.sum_of_binomials.cache_clear()
    monkeypatch.setattr(silence_ratio, "window", lambda mean, std, width, largest: (
        max(0, math.floor(mean - 2 * std)), min(math.ceil(mean + 2 * std), int(largest))
    ))  # fmt: skip
    view = usual(covered_items=covered, n_users=60, sent=[(60, 0.5)])
    lower, upper = (view.one_sided(0.2, upper=side) for side in (False, True))
    silence_ratio._windowed.cache_clear()
    silence_ratio.sum_of_binomials.cache_clear()
    assert lower <= exact.lower
    assert exact.upper <= upper
    assert upper > exact.upper * 1.01 or covered == 4


def test_any_anchors_between_one_and_all_slots_give_bounds(monkeypatch):
    exact = usual(n_users=30, sent=[(40, 0.5)]).delta(0.2, rtol=1e-4)
    monkeypatch.setattr(full_view, "_inner_anchors", lambda grid, slots, *_: np.array([slots * 0.3, slots * 0.31]))
    view = usual(n_users=30, sent=[(40, 0.5)])
    lower, upper = (view.one_sided(0.2, upper=side) for side in (False, True))
    assert lower < exact.lower
    assert exact.upper < upper < 1.3 * lower
    anchors = view._pieces[True]._laws.anchors
    assert anchors.tolist() == [1, 18, 61]


def test_where_two_counters_are_all_there_is_the_interval_is_narrow():
    view = usual(sampling_rate=1.0)
    assert view.delta(0.3).relative_width <= 1e-4
    assert view.delta(0.3, rtol=1e-7).relative_width <= 1e-7


LAWS = {
    "many": RatioLaw(np.sort(np.random.default_rng(1).gamma(3.0, size=300)), np.full(300, 1 / 300)),
    "few": RatioLaw(np.array([0.0, 0.4, 0.9, 3.0]), np.array([0.1, 0.3, 0.5, 0.08])),
    "empty places": RatioLaw(np.arange(40.0), np.where(np.arange(40) % 7 == 2, 0.16, 0.0)),
    "one": RatioLaw(np.ones(3), np.array([0.2, 0.3, 0.4])),
}


def positive_part(law, x):
    return math.fsum(law.mass * np.maximum(x - law.value, 0.0))


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("step", [0.1, 0.5, 2.0])
def test_blocks_of_a_law_bound_its_means_from_either_side(name, step):
    """E max(0, x - L) at every x: no larger with blocks at their means, no smaller with blocks at their ends."""
    law = LAWS[name]
    below, above = merged(law, step), spread(law, step)
    for found in (below, above):
        assert found.mass.sum() == pytest.approx(law.mass.sum(), rel=1e-13)
        assert found.mass @ found.value == pytest.approx(law.mass @ law.value, rel=1e-12)
        assert np.all(np.diff(found.value) >= 0)
        assert np.all(found.mass >= 0)
    if name == "many":
        assert above.value.size <= 160
    for x in np.concatenate([np.linspace(-1, 12, 40), law.value]).tolist():
        assert positive_part(below, x) <= positive_part(law, x) * (1 + 1e-12) + 1e-15
        assert positive_part(above, x) >= positive_part(law, x) * (1 - 1e-12) - 1e-15
    # nothing is moved further than its block is wide
    width = step * law.value.std() * 12 + 1e-12
    x = float(np.median(law.value))
    assert positive_part(above, x) - positive_part(below, x) <= width


def test_ends_of_a_block_share_its_mass_so_that_the_mean_stays():
    low, mean, high = np.array([1.0, 1.0, 1.0, 2.0, 1.0]), np.array([1.5, 1.0, 3.0, 2.0, 1.0 - 1e-15]), np.full(5, 3.0)
    high[3] = 2.0
    assert silence_ratio._share(low, mean, high).tolist() == [0.25, 0.0, 1.0, 0.0, 0.0]


@pytest.mark.parametrize("name", LAWS)
def test_knots_are_the_mean_of_the_positive_part(name):
    law = LAWS[name]
    at, value = law.knots()
    for x in (-0.5, 0.0, 0.7, 2.9, 50.0, 1e6):
        expected = positive_part(law, x)
        assert np.interp(x, at, value, left=0.0) == pytest.approx(expected, rel=1e-9, abs=1e-12)


def rest(free, covered, users=((6, 0.4),)):
    return Rest(free, covered, silence_ratio.sum_of_binomials(tuple(users)))


def exact_ratios(free, covered, slots, users):
    """All outcomes: how many slots are free, what falls on the covered items; spoke has one slot more of the rest.

    The law under "spoke" of Pr[outcome given silent] / Pr[outcome given spoke], one free slot less when silent.
    """
    sent = np.ones(1)
    for trials, rate in users:
        sent = np.convolve(sent, stats.binom.pmf(np.arange(trials + 1), trials, rate))

    def histogram(number):
        law = np.zeros((slots + 1, slots + sent.size))
        for k in range(number + 1):
            hit = np.convolve(stats.binom.pmf(np.arange(k + 1), k, covered), sent)
            # uncovered items hold number - k
            law[number - k, : hit.size] += stats.binom.pmf(k, number, free) * hit
        return law

    spoke, silent = histogram(slots), histogram(slots - 1)
    seen = spoke > 0
    return RatioLaw(silent[seen] / spoke[seen], spoke[seen])


@pytest.mark.parametrize(("free", "covered"), [(1.0, 0.0), (1.0, 0.5), (0.7, 0.0), (0.7, 0.4), (0.8, 1.0), (0.3, 0.9)])
@pytest.mark.parametrize("slots", [1, 2, 9])
@pytest.mark.parametrize("step", [0.125, 1.0])
def test_laws_of_the_rest_bound_those_of_all_its_outcomes(free, covered, slots, step):
    users = ((6, 0.4), (2, 1.0), (3, 0.0))
    exact = exact_ratios(free, covered, slots, users)
    for anchors in (np.arange(1, 12), np.array([1, 5, 12])):
        laws = RestLaws(rest(free, covered, users), anchors, step)
        below, above = (laws.bound(slots, upper=upper) for upper in (False, True))
        assert 1.0 <= above.mass.sum() <= 1.0 + 1e-9
        assert 1.0 - 1e-9 <= below.mass.sum() <= 1.0 + 1e-12
        for x in np.linspace(0.0, 4.0, 17).tolist():
            assert positive_part(below, x) <= positive_part(exact, x) * (1 + 1e-9) + 1e-12
            assert positive_part(above, x) >= positive_part(exact, x) * (1 - 1e-9)
            if free == 1.0:  # nothing is merged
                assert positive_part(below, x) == pytest.approx(positive_part(exact, x), rel=1e-9, abs=1e-11)
                assert positive_part(above, x) == pytest.approx(positive_part(exact, x), rel=1e-9, abs=1e-11)
            if anchors.size > 3 and step < 1:
                assert positive_part(above, x) - positive_part(below, x) <= 0.05


@pytest.mark.parametrize(("free", "covered", "slots"), [(0.5, 0.5, 0), (0.0, 0.0, 5)])
@pytest.mark.parametrize("upper", [False, True])
def test_without_slots_or_free_ones_silence_shows(free, covered, slots, upper):
    law = RestLaws(rest(free, covered), np.array([1]), 0.1).bound(slots, upper=upper)
    assert (law.value.tolist(), law.mass.tolist()) == ([0.0], [1.0])


def test_sums_of_binomials_with_certain_and_idle_users():
    found = silence_ratio.sum_of_binomials(((4, 1.0), (5, 0.3), (0, 0.5), (7, 0.0), (2, 0.9)))
    exact = np.convolve(stats.binom.pmf(np.arange(6), 5, 0.3), stats.binom.pmf(np.arange(3), 2, 0.9))
    assert found.start == 4
    np.testing.assert_allclose(found.pmf, exact, rtol=1e-10)
    certain = silence_ratio._windowed(40, 1.0)
    assert (certain.start, certain.pmf.tolist()) == (40, [1.0]), "no window around one place"


def test_long_convolutions_by_transforms_are_those_of_the_sum():
    one, other = (stats.binom.pmf(np.arange(n + 1), n, p) for n, p in ((900, 0.3), (700, 0.6)))
    found = silence_ratio._convolve(one, other)
    assert one.size * other.size > silence_ratio._DIRECT_CONVOLUTION
    np.testing.assert_allclose(found, np.convolve(one, other), rtol=0, atol=1e-16)
    assert np.all(found >= 0)
    # short ones keep the digits of their tails
    few = stats.binom.pmf(np.arange(41), 40, 1e-3)
    np.testing.assert_allclose(silence_ratio._convolve(few, few), stats.binom.pmf(np.arange(81), 80, 1e-3), rtol=1e-10)


def test_laws_that_are_shared_cannot_be_changed():
    for shared in (silence_ratio._windowed(9, 0.3).pmf, clustered._window_law(0.5, 3.0, 30.0, 1)[1]):
        with pytest.raises(ValueError, match="read-only"):
            shared[0] = 1.0


def test_a_window_has_room_for_small_means():
    assert silence_ratio.window(100.3, 5.0, 2.0, 1000.0) == (78, 123)
    assert silence_ratio.window(3.0, 1.0, 2.0, 10.0) == (0, 10)
