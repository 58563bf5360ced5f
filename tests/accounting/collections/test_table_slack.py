"""What tables of pairs say of their own errors: enough for what is left out, and no more than that.

As they are the errors hide behind the accuracy of every test of a bound.
"""

import math
from dataclasses import replace

import numpy as np
import pytest
from oracles import MP
from oracles.clusters import compound_poisson, logarithmic_moves
from scipy import stats

from segshuffle.accounting.collections import flipped_bits, privacy_loss, shifted_noise
from segshuffle.accounting.collections.flipped_bits import FlippedPair
from segshuffle.accounting.collections.shifted_noise import ShiftPair
from segshuffle.accounting.numerics.loss_distribution import LossTable
from segshuffle.blankets import atoms, clustered, signed
from segshuffle.blankets import poisson as poisson_pair
from segshuffle.blankets.atoms import Atoms
from segshuffle.blankets.clustered import Clustered
from segshuffle.blankets.poisson import POISSON, ItemPair
from segshuffle.blankets.signed import Signed

PAIRS = [
    ItemPair(20.0, 1.3),
    ItemPair(1e6, 1.3),
    Clustered(0.5).pair(20.0, 1.3),
    FlippedPair(400, 0.2),
    ShiftPair(1.5, 0.7),
]


@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_two_tails_of_two_laws_are_given_away(pair):
    table = pair.loss_table(0.01, 30.0)
    assert table.truncated == pytest.approx(4 * math.exp(-30.0), rel=1e-12, abs=0)
    assert table.missing == 0.0
    assert np.all(table.excess[table.mass == 0] == 0.0)


def test_masses_that_are_left_out_are_given_away_under_both_laws(monkeypatch):
    monkeypatch.setattr(atoms, "SMALLEST_MASS", 0.1)
    ratio, mass = np.array([-0.31, 0.42, 0.9, 12.0, -0.35]), np.array([0.3, 0.4, 0.05, 0.04, 0.2])
    law = Atoms(ratio, np.log(mass), 0.01, 0.02, 0.25, 1e-9, missing=0.005)
    table = law.table(0.1)
    # under the law with copies a value has no more than all: 0.04 e^12 is 1
    lost = 0.05 * (1 + math.exp(0.9)) + 0.04 + 1
    assert table.truncated == pytest.approx(0.02 + lost * 1.25, rel=1e-14)
    assert (table.zero_mass, table.mass_error, table.ratio_error, table.missing) == (0.01, 0.25, 1e-9, 0.005)
    # cells from -0.4 on: two values are in the first, one in that from 0.4 on
    assert (table.first, table.step) == (-4, 0.1)
    np.testing.assert_allclose(table.mass, [0.5, *[0.0] * 7, 0.4], rtol=1e-14)
    inside = (0.3 * math.exp(0.09) + 0.2 * math.exp(0.05)) / 0.5
    np.testing.assert_allclose(table.excess, [inside - 1, *[0.0] * 7, math.expm1(0.02)], rtol=1e-12)
    monkeypatch.setattr(atoms, "SMALLEST_MASS", 1e-300)
    assert law.table(0.1).truncated == 0.02


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if pair.variance < 1e5], ids=str)
def test_a_lattice_is_as_fine_as_asked_or_as_the_largest_table(pair, monkeypatch):
    """On both sides of 0, from the least loss to the largest."""
    fine = pair.loss_table(1e-3, 30.0)
    reach = np.flatnonzero(fine.mass)[[0, -1]] + fine.first
    for module in (atoms, poisson_pair, shifted_noise):
        monkeypatch.setattr(module, "MOST_CELLS", 16)
    coarse = pair.loss_table(1e-3, 30.0)
    assert fine.step == 1e-3
    assert coarse.step == pytest.approx((reach[1] - reach[0]) * 1e-3 / 16, rel=5e-3)
    assert 15 <= coarse.mass.size <= 18


def exact_log_poisson(count, mu):
    return MP.mpf(count) * MP.log(MP.mpf(mu)) - MP.mpf(mu) - MP.loggamma(MP.mpf(count) + 1)


@pytest.mark.parametrize("mu", [1e-3, 0.7, 49.0, 50.0, 51.0, 300.0, 2.5e4, 1e7, 1e12])
def test_poisson_masses_have_their_accuracy(mu):
    """Where they are not negligible: small counts, counts near sixteen, and those where a series takes over."""
    deviations = math.sqrt(mu) * np.array([-9.0, -3.0, -0.4, 0.0, 0.7, 5.0, 12.0])
    counts = np.concatenate([[0.0, 1.0, 3.0, 14.0, 15.0, 16.0, 17.0], np.maximum(np.round(mu + deviations), 0.0)])
    counts = np.append(counts, np.round(mu * np.array([0.5, 0.8, 0.82, 1.22, 1.25, 2.0])))
    log_mass = [exact_log_poisson(count, mu) for count in counts.tolist()]
    found = poisson_pair.log_poisson(counts, mu).tolist()
    near = [(one, exact) for one, exact in zip(found, log_mass, strict=True) if exact > -600]
    assert len(near) >= 5
    for one, exact in near:
        assert abs(one - exact) <= 1e-12


@pytest.mark.parametrize(("mu", "copies"), [(0.05, 1.0), (7.0, 2.6), (60.0, 0.3), (2e4, 3.0), (2e4, 0.9)])
def test_ratios_of_single_counts_have_the_error_that_is_said(mu, copies):
    """Of every factor as much, of its logarithm; the masses theirs."""
    pair = ItemPair(mu, copies)
    window = poisson_pair.window_of(pair, 30.0)
    table = poisson_pair.atom_table(pair, 0.1, window, 0.0)
    count = np.arange(window[0], window[1] + 1.0)
    ratio = pair.log_ratio(count)
    assert table.ratio_error == pytest.approx(1e-13 * (pair.floor + 1) * np.abs(ratio).max(), rel=1e-12)
    assert table.mass_error == pytest.approx(1e-11, rel=1e-12)
    k, f = pair.floor, MP.mpf(copies) - pair.floor
    for x, found in zip(count[::7].tolist(), ratio[::7].tolist(), strict=True):
        exact = MP.log(1 - f + f * (MP.mpf(x) - k) / MP.mpf(mu))
        exact += sum(MP.log((MP.mpf(x) - i) / MP.mpf(mu)) for i in range(k))
        assert abs(found - exact) <= table.ratio_error + 1e-15


@pytest.mark.parametrize(("mu", "copies"), [(3.0, 0.4), (3.0, 2.0), (80.0, 5.5)])
def test_windows_hold_what_copies_shift_out_of_the_blankets(mu, copies, monkeypatch):
    """A blanket whose counts are few: no window need be longer."""
    monkeypatch.setattr(poisson_pair, "poisson_window", lambda mean, log_tail: (4, 9))
    monkeypatch.setattr(clustered, "window_of_mass", lambda mean, p, log_tail: (4, 9))
    floor = math.floor(copies)
    least, largest = max(4, floor), 9 + floor + 1
    assert poisson_pair.window_of(ItemPair(mu, copies), 30.0) == (least, largest)
    window, log_mass = clustered._window_law.__wrapped__(0.5, mu, 30.0, floor)
    assert window == (least, largest)
    assert log_mass.size == largest - least + 1


@pytest.mark.parametrize(("mu", "width"), [(1e5, 4), (1e5, 20), (3e6, 9)])
def test_masses_of_blocks_are_sums_over_their_counts(mu, width):
    """Out to eight deviations: the correction of the integral is seen best where blocks are short."""
    pair = ItemPair(mu, 1.0)
    for start in (round(mu + z * math.sqrt(mu)) for z in (-8.0, -2.0, 0.3, 8.0)):
        last = start + width * np.arange(3.0)
        mass, surplus = poisson_pair.block_masses(pair, last)
        for block in range(2):
            counts = [start + width * block + 1 + i for i in range(width)]
            masses = [MP.exp(exact_log_poisson(count, mu)) for count in counts]
            exact = sum(masses)
            more = sum(one * (count / MP.mpf(mu) - 1) for one, count in zip(masses, counts, strict=True))
            assert abs(mass[block] / exact - 1) <= 2e-12
            assert abs(surplus[block] - more) <= 2e-12 * exact


def test_counts_are_taken_together_from_a_mean_of_a_hundred_thousand_on():
    """Below, the corrections of an integral are not known to be enough: every count has its cell."""
    errors = [ItemPair(mean, 1.0).loss_table(1e-2, 30.0).mass_error for mean in (99_999.0, 1e5)]
    assert errors == [pytest.approx(1e-11, rel=1e-12), pytest.approx(1e-10, rel=1e-12)]


@pytest.mark.parametrize("log_tail", [20.0, 45.0])
def test_blocks_of_counts_say_how_far_they_are_off(log_tail):
    """Errors of the Gauss rule, of log ratios in doubles, and of counts that were found by Newton's method."""
    pair = ItemPair(1e7, 2.3)
    window = poisson_pair.window_of(pair, log_tail)
    table = poisson_pair.block_table(pair, 1.0, window, log_tail)
    low, high = pair.log_ratio(np.array(window, dtype=float))
    # the mass changes by less than e^0.8 within a block
    assert table.step == pytest.approx(0.2 * (high - low) / log_tail, rel=1e-12)
    assert table.first == math.floor(low / table.step)
    assert table.first + table.mass.size == math.floor(high / table.step) + 1
    edges, violation = poisson_pair._first_counts(
        pair, np.arange(table.mass.size + 1) * table.step + table.first * table.step
    )
    means = (table.first + np.arange(table.mass.size)) * table.step + np.log1p(table.excess)
    largest = np.abs(means).max()
    rounding = 1e-13 * 3 * (largest + 10 / np.diff(edges).min())
    assert table.ratio_error == pytest.approx(rounding + 1e-10 * largest + 2 * violation, rel=1e-4, abs=0)
    assert table.mass_error == pytest.approx(1e-10, rel=1e-12)
    assert table.zero_mass == pair.zero_mass


def test_the_first_counts_of_cells_confess_what_they_miss(monkeypatch):
    """Log ratios that stumble: the largest step to the wrong side, in either direction, is what is found."""
    pair = ItemPair(1e6, 1.0)
    true = ItemPair.log_ratio
    monkeypatch.setattr(ItemPair, "log_ratio", lambda self, count: true(self, count) + 3e-6 * np.sin(count))
    levels = np.linspace(-2e-3, 2e-3, 41)
    found, violation = poisson_pair._first_counts(pair, levels)
    below, reached = levels - pair.log_ratio(found), pair.log_ratio(found - 1) - levels
    assert violation == max(below.max(), reached.max()) > 1e-7


@pytest.mark.parametrize(("mean", "copies"), [(1.7, 0.7), (9.0, 2.3), (40.0, 1.0)])
def test_ratios_in_a_clustered_blanket_have_the_error_that_is_said(mean, copies):
    p = 0.6
    pair = Clustered(p).pair(mean, copies)
    law = pair._atoms(27.0)
    floor = math.floor(copies)
    window, _ = clustered._window_law(p, mean, 30.0, floor)
    assert law.ratio.size == window[1] - window[0] + 1, "tails are rounded up to a multiple of six"
    assert law.truncated == pytest.approx(4 * math.exp(-30.0), rel=1e-12, abs=0)
    assert law.ratio_error == pytest.approx(1e-13 * (floor + 1) * (1 + np.abs(law.ratio).max()), rel=1e-12)
    assert law.mass_error == clustered.mass_error(window, mean)
    p, r, f = MP.mpf(p), MP.mpf(mean) * (1 - MP.mpf(p)) / MP.mpf(p), MP.mpf(copies) - floor

    def q(x):
        return MP.mpf(x) / (p * (x + r - 1)) if x else MP.mpf(0)

    for x, found in zip(range(window[0], window[1] + 1, 5), law.ratio[::5].tolist(), strict=True):
        exact = sum(MP.log(q(x - i)) for i in range(floor)) + MP.log(1 - f + f * q(x - floor))
        assert abs(found - exact) <= law.ratio_error


def test_the_mass_that_copies_make_impossible():
    copies, floor, size = 4.7, 4, 6
    assert [blanket.pair(4.0, 0.9).zero_mass for blanket in (POISSON, Clustered(0.6), Signed(0.3, 0.4, 0.6))] == [
        0.0
    ] * 3
    poisson = [MP.exp(exact_log_poisson(x, 2.5)) for x in range(floor)]
    assert POISSON.pair(2.5, copies).zero_mass == pytest.approx(float(sum(poisson)), rel=1e-12)
    law = compound_poisson((size,), logarithmic_moves(2.5, 0.6, (1,), size))
    assert Clustered(0.6).pair(2.5, copies).zero_mass == pytest.approx(law[:floor].sum(), rel=1e-9)
    for blanket in (Signed(0.3, 0.4, 0.6), Signed(0.0, 0.0, 0.5), Signed(0.3, 0.0, 0.0)):
        mean = blanket.means[0] + 3.0
        # of the noise of sign + and of the flood, whose sum N+ is
        moves = logarithmic_moves(0.5 * mean * (1 - blanket.flood), blanket.p, (1,), size)
        moves += logarithmic_moves(0.5 * mean * blanket.flood, blanket.flood_p, (1,), size) if blanket.flood else []
        law = compound_poisson((size,), moves)
        assert blanket.pair(mean, copies).zero_mass == pytest.approx(law[:floor].sum(), rel=1e-9)


# -- signed blankets ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("group", [1, 3])
@pytest.mark.parametrize("flood", [0.0, 0.5])
def test_what_windows_and_corners_cut_off_is_missing(flood, group, monkeypatch):
    """Laws of which every window holds all but twice e^-log_tail: six tails, and the corners that are left out."""
    log_tail, size = 9.0, 15
    tail = math.exp(-log_tail)
    shape = np.exp(-0.5 * (np.arange(size) - 7) ** 2 / 1.5**2)
    monkeypatch.setattr(signed, "_window", lambda part, asked: (20, 20 + size - 1))
    monkeypatch.setattr(signed, "_masses", lambda part, window: shape * (1 - 2 * tail) / shape.sum())
    errors = {4.0: 0.011, 2.0: 0.011}
    monkeypatch.setattr(signed, "mass_error", lambda window, mean: errors[mean] if window[0] else 1.0)
    joint = signed._joint.__wrapped__(Signed(0.0, 0.0, flood), 8.0, log_tail, group)
    lacks = 1 - joint.mass.sum()
    tails = 6 if flood else 4
    assert lacks <= joint.missing <= lacks * (1 + 4 * tail) + (6 - tails) * tail
    whole, columns = 2 * size - 1, joint.mass.shape[1]
    assert (whole - columns) % 2 == 0
    assert whole - columns > 0
    np.testing.assert_allclose(joint.mass.sum(axis=0), joint.mass.sum(axis=0)[::-1], rtol=1e-12)
    # a corner more would be more than a tail
    corners = lacks - (1 - (1 - 2 * tail) ** (3 if flood else 2))
    assert 0.05 * tail < corners < 2 * tail
    assert joint.mass.shape[0] == math.ceil((2 * size - 1 if flood else size) / group)
    expected = 3 * 0.011 if flood else 2 * 0.011
    assert joint.mass_error == pytest.approx(expected + size * 2.3e-16, rel=1e-15)
    monkeypatch.setattr(signed, "_ROUND_OFF", 0.5)
    rough = signed._joint.__wrapped__(Signed(0.0, 0.0, flood), 8.0, log_tail, group)
    assert rough.missing == pytest.approx(1.5 * joint.missing, rel=2e-9)


JOINT = np.array([[0.1, 0.2, 0.0, 0.15, 0.02], [0.2, 0.1, 0.05, 0.1, 0.06]])


@pytest.mark.parametrize("copies", [0.3, 1.0, 1.6, 3.0, 4.5, 7.0])
def test_what_copies_shift_beyond_the_last_difference_is_given_away(copies, monkeypatch):
    missing, error = 0.003, 1e-3
    monkeypatch.setattr(signed, "_joint", lambda *_: signed._Joint(JOINT, missing, error))
    found = signed._atoms.__wrapped__(Signed(0.0, 0.0, 0.5).pair(6.0, copies), 30.0)
    floor, width = math.floor(copies), JOINT.shape[1]
    shifted = np.zeros((2, width + 9))
    for more, share in ((0, 1 - copies + floor), (1, copies - floor)):
        shifted[:, floor + more : floor + more + width] += share * JOINT
    inside = shifted[:, :width]
    both = (inside > 0) & (JOINT > 0)
    np.testing.assert_allclose(np.exp(found.log_mass), JOINT[both], rtol=1e-13)
    np.testing.assert_allclose(np.exp(found.ratio), (inside / np.where(both, JOINT, 1.0))[both], rtol=1e-13)
    assert found.zero_mass == pytest.approx(JOINT[inside == 0].sum(), rel=1e-14)
    # as if the copy that may or may not come came
    nowhere = inside[JOINT == 0].sum()
    lost, most = (nowhere + JOINT[:, max(width - k, 0) :].sum() for k in (floor + math.ceil(copies - floor), floor + 1))
    assert lost - 1e-15 <= found.truncated - 2 * missing <= most + 1e-15
    assert found.truncated - 2 * missing >= nowhere + shifted[:, width:].sum() - 1e-15
    assert found.missing == 2 * missing, "of either law"
    assert found.mass_error == error
    # entries of either law off by as much, in opposite directions, and the same again
    assert found.ratio_error == pytest.approx(2 * math.log((1 + error) / (1 - error)), rel=1e-5)


# -- flipped bits ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("fakes", "flip"), [(1, 0.3), (6, 0.45), (40, 0.1), (3000, 1e-3), (10**6, 0.4), (10**9, 0.01)])
def test_columns_of_flipped_bits(fakes, flip):
    """A vector of the victim among the fakes; Bennett's inequality where the window ends, and one more for its bit."""
    log_tail = 25.0
    pair = FlippedPair(fakes, flip)
    law = pair._atoms(log_tail)
    vectors, q = fakes + 1, MP.mpf(flip)
    spread = vectors * flip * (1 - flip)
    assert (pair.copies, pair.variance, pair.zero_mass) == (1 - 2 * flip, pytest.approx(spread, rel=1e-14), 0.0)
    reach = math.sqrt(2 * log_tail * spread) + log_tail
    low = max(math.floor(vectors * flip - reach), 0)
    high = min(math.ceil(vectors * flip + reach) + 1, vectors)
    assert law.ratio.size == high - low + 1
    assert law.mass_error == pytest.approx(1e-11 + 1e-15 * (reach + 2), rel=1e-12)
    assert (law.zero_mass, law.ratio_error, law.missing) == (0.0, 1e-14, 0.0)

    def mass(trials, x):
        if not 0 <= x <= trials:
            return MP.mpf(0)
        ways = MP.loggamma(trials + 1) - MP.loggamma(x + 1) - MP.loggamma(trials - x + 1)
        return MP.exp(ways + x * MP.log(q) + (trials - x) * MP.log(1 - q))

    for place in np.unique(np.linspace(0, high - low, 9).round().astype(int)).tolist():
        x = low + place
        held = q * mass(fakes, x) + (1 - q) * mass(fakes, x - 1)
        assert abs(law.log_mass[place] - MP.log(mass(vectors, x))) <= law.mass_error
        assert abs(law.ratio[place] - MP.log(held / mass(vectors, x))) <= 1e-13 * max(abs(law.ratio[place]), 1)


def test_the_least_flip_meets_its_target_and_no_smaller_one_does():
    fakes, epsilon, delta = 2000, 0.5, 1e-6
    found = flipped_bits.least_flip(fakes=fakes, pairs=1, epsilon=epsilon, delta=delta)

    def exact(flip):
        b = stats.binom.pmf(np.arange(fakes + 2), fakes + 1, flip)
        fewer = stats.binom.pmf(np.arange(fakes + 1), fakes, flip)
        a = np.convolve(fewer, [flip, 1 - flip])
        ratio = np.divide(a, b, out=np.zeros_like(a), where=b > 0)
        inside = (b > 1e-300) & (a > 1e-300)
        a, b, ratio = a[inside], b[inside], ratio[inside]
        below = np.searchsorted(ratio, ratio * math.exp(-epsilon))
        sums = [np.append(0.0, np.cumsum(each))[below] for each in (b, a)]
        return float(a @ sums[0] - math.exp(epsilon) * (b @ sums[1]))

    assert exact(found) <= delta
    assert exact(found * (1 - 1e-3)) > delta


# -- noise of a curator ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("exponent", [1.0, 1.5, 2.0])
def test_tables_of_shifted_noise_confess_the_rounding_of_large_powers(exponent):
    """Of |x|^q as many as sixteen units in its last place; the window ends where the tails are e^-log_tail."""
    pair = ShiftPair(exponent, 3.0)
    low, high = pair._window(30.0)
    assert -low == pytest.approx(30.0 ** (1 / exponent), rel=1e-14)
    assert high == pytest.approx(3.0 - low, rel=1e-14)
    table = pair.loss_table(0.01, 30.0)
    assert table.mass_error == shifted_noise._MASS_ERROR == 1e-9
    assert table.ratio_error - 1e-9 == pytest.approx(16 * 2.3e-16 * high**exponent, rel=1e-4, abs=0)
    assert table.zero_mass == 0.0
    mean = table.mass * (1 + table.excess) * np.exp((table.first + np.arange(table.mass.size)) * table.step)
    assert table.mass.sum() == pytest.approx(1.0, abs=1e-9)
    assert mean.sum() == pytest.approx(1.0, abs=1e-9)


# -- what is handed to dp_accounting -----------------------------------------------------------------------------------


def test_losses_that_are_handed_over_have_all_errors_on_the_worse_side(monkeypatch):
    table = LossTable(-2, 0.5, np.array([0.3, 0.0, 0.5]), np.array([0.1, 0.0, 0.4]), 0.15, 0.01, 0.02, 0.003)
    monkeypatch.setattr(privacy_loss, "_on_lattice", lambda pair, interval: table)
    (held, lost_held), (other, lost_other) = privacy_loss.counter_losses(ItemPair(1.0, 1.0), 0.5)
    # a cell of mean ratio e^g (1 + excess) between the two points e^g and e^(g + h)
    shares = [0.1 / math.expm1(0.5), 0.4 / math.expm1(0.5)]
    masses = {-2: 0.3 * (1 - shares[0]), -1: 0.3 * shares[0], 0: 0.5 * (1 - shares[1]), 1: 0.5 * shares[1]}
    assert held == pytest.approx({k: q * math.exp(0.5 * k) * 1.02 for k, q in masses.items()}, rel=1e-13)
    assert other == pytest.approx({-k: q * 1.02 for k, q in masses.items()}, rel=1e-13)
    assert lost_held == pytest.approx(0.01 + 4 * 0.003, rel=1e-14)
    assert lost_other == pytest.approx(0.01 + 4 * 0.003 + 0.15 * 1.02, rel=1e-14)


def test_a_finer_lattice_is_split_again_with_its_errors():
    class Pair:
        def loss_table(self, step, log_tail):
            assert log_tail == pytest.approx(16 * math.log(10), rel=1e-14)
            return fine

    fine = LossTable(3, 0.1, np.array([0.4, 0.5]), np.array([0.02, 0.05]), 0.05, 0.01, 0.02, 0.003)
    found = privacy_loss._on_lattice(Pair(), 0.25)
    assert (found.step, found.zero_mass, found.truncated) == (0.25, 0.05, 0.01)
    assert (found.mass_error, found.ratio_error) == (0.02, 0.003)
    at = (found.first + np.arange(found.mass.size)) * 0.25
    assert found.mass.sum() == pytest.approx(0.9, rel=1e-14)
    held = 0.4 * 1.02 * math.exp(0.3) + 0.5 * 1.05 * math.exp(0.4)
    assert (found.mass * (1 + found.excess)) @ np.exp(at) == pytest.approx(held, rel=1e-13)
    same = replace(fine, step=0.25)
    fine = same
    assert privacy_loss._on_lattice(Pair(), 0.25) is same
