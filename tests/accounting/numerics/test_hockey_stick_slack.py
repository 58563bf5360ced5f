"""Every slack term of the certified interval on its own: parts that err by all they may, where nothing else gives way.

In a whole interval one term hides behind the others, and all of them behind the width of the blocks. Here h is a line,
so that blocks of many totals have no width, and the errors put in are those that one function answers for.
"""

import dataclasses
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from segshuffle.accounting.numerics import hockey_stick as module
from segshuffle.accounting.numerics import laws
from segshuffle.accounting.numerics.hockey_stick import CountPair, hockey_stick
from segshuffle.accounting.numerics.laws import BinomialLaw

ERROR = 1e-7
LAW = BinomialLaw(60, 0.25)
#: Blocks of many totals and of one, below the mean (15 + 1), across it, and above.
TOTALS = np.array([1.0, 9.0, 12.0, 13.0, 15.0, 17.0, 20.0, 21.0, 26.0, 40.0, 62.0])
SINGLE = np.diff(TOTALS) == 1


def exact_edges(silence):
    """Edges of the law, h being the line 2 - rho/4 for every total, with no error yet."""
    point = LAW.pmf(TOTALS - 1)
    tail = np.where(LAW.mean >= TOTALS - 1, LAW.at_most(TOTALS - 2), LAW.at_least(TOTALS - 1))
    rho = silence / (1 - silence) * LAW.ratio(TOTALS)
    nothing = np.zeros_like(TOTALS)
    cross = np.append(line(rho[1:]), 0.0)
    return module._Edges(TOTALS, rho, point, tail, line(rho), nothing - SLOPE, nothing, cross)


SLOPE = 0.25


def line(rho):
    return 2.0 - SLOPE * rho


def halves(edges):
    return module._Edges(*(each[:-1] for each in edges)), module._Edges(*(each[1:] for each in edges))


PAIR = CountPair(0.75, 0.0, LAW)
VALUES = np.array([0.5, 3.0, 0.25, 2.0, 1.0, 5.0, 0.125, 0.5, 4.0, 1.5])


def test_errors_of_all_masses_together_cost_what_is_declared(monkeypatch):
    """Sum of mass times value, with the error of every tail and point at the end where it does most."""
    monkeypatch.setattr(laws, "ROUND_OFF", ERROR)
    edges = exact_edges(0.25)

    def total(tail, point):
        moved = edges._replace(tail=tail, point=point)
        left, right = halves(moved)
        return math.fsum(np.where(SINGLE, left.point, module._masses(PAIR, left, right)) * VALUES)

    worst = 0.0
    plain = total(edges.tail, edges.point)
    for i in range(TOTALS.size):
        # linear in each: one at a time, by 1 rather than by what is small
        bump = np.zeros_like(TOTALS)
        bump[i] = module.round_off(TOTALS)[i]
        worst += abs(total(edges.tail * (1 + bump), edges.point) - plain)
        worst += abs(total(edges.tail, edges.point * (1 + bump)) - plain)
    declared = module._mass_error(edges, SINGLE, VALUES)
    assert worst * (1 - 1e-6) <= declared <= worst * (1 + 1e-6)


def test_differences_of_tails_round_too(monkeypatch):
    """Apart from the tails' own errors, both differences at an edge round: 1e-15 of the tail."""
    monkeypatch.setattr(module, "round_off", np.zeros_like)
    edges = exact_edges(0.25)
    values = np.where(SINGLE, 0.0, VALUES)
    steps = np.abs(np.diff(values, prepend=0.0, append=0.0))
    assert module._mass_error(edges, SINGLE, VALUES) >= 4 * 2.0**-53 * float(edges.tail @ steps) > 0


@pytest.mark.parametrize("silence", [0.25, 0.75])
@pytest.mark.parametrize(
    ("error", "odds_error", "value_error"),
    [(1e-7, 0.0, 0.0), (1e-7, 3e-6, 0.0), (1e-7, 0.0, 1e-5), (0.03, 0.0, 0.0), (0.2, 0.0, 0.0)],
)
def test_the_mean_of_a_line_is_between_chord_and_tangent(monkeypatch, silence, error, odds_error, value_error):
    """Points, tails, odds and values err by what is declared, upwards or downwards."""
    monkeypatch.setattr(laws, "ROUND_OFF", error)
    monkeypatch.setattr(CountPair, "odds_error", odds_error)
    pair = dataclasses.replace(PAIR, heads=1 - silence)
    edges = exact_edges(silence)
    counts = [np.arange(a, b) for a, b in itertools.pairwise(TOTALS)]
    mass = np.array([math.fsum(LAW.pmf(c - 1)) for c in counts])
    odds = silence / (1 - silence) * np.array([math.fsum(LAW.pmf(c)) for c in counts]) / mass
    relative = module.round_off(TOTALS)
    for first, last, low, high, whole, value in 0.999 * np.array(list(itertools.product((-1, 1), repeat=6))):
        wrong = edges._replace(value=edges.value + value * value_error, error=edges.error + value_error)
        left, right = halves(wrong._replace(cross=edges.cross + (1 + value) * value_error))
        left = left._replace(
            slope=np.nan * left.slope,
            point=left.point * (1 + first * relative[:-1]),
            tail=left.tail * (1 + low * relative[:-1]),
        )
        right = right._replace(
            point=right.point * (1 + last * relative[1:]), tail=right.tail * (1 + high * relative[1:])
        )
        chord, tangent = module._chord_and_tangent(pair, left, right, module._masses(pair, left, right))
        # the pair's own odds are the ones that were computed
        mean = line(odds * (1 + whole * odds_error))
        assert np.all((chord >= mean)[~SINGLE])
        assert np.all((tangent <= mean)[~SINGLE])


@pytest.mark.parametrize("silence", [0.25, 0.75])
def test_chord_and_tangent_of_a_line_are_the_line(silence, monkeypatch):
    """Nothing is lost where h is a line and nothing errs."""
    monkeypatch.setattr(laws, "ROUND_OFF", 1e-13)
    monkeypatch.setattr(CountPair, "odds_error", 0.0)
    pair = dataclasses.replace(PAIR, heads=1 - silence)
    left, right = halves(exact_edges(silence))
    mass = np.array([math.fsum(LAW.pmf(np.arange(a, b) - 1)) for a, b in itertools.pairwise(TOTALS)])
    odds = np.array([math.fsum(LAW.pmf(np.arange(a, b))) for a, b in itertools.pairwise(TOTALS)]) / mass
    mean = line(silence / (1 - silence) * odds)
    for end in module._chord_and_tangent(pair, left, right, module._masses(pair, left, right)):
        np.testing.assert_allclose(end[~SINGLE], mean[~SINGLE], rtol=1e-6, atol=0)


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("heads", [0.5, 1.0])
def test_values_that_are_wrong_by_what_is_declared(monkeypatch, heads, sign):
    """Blocks of one total have no width either: what is left are the errors of h, which all go the same way."""
    law = BinomialLaw(6, 0.5)
    exact = hockey_stick(pair=CountPair(heads, 0.0, law), epsilon=0.25, rtol=1e-9)

    def conditional(self, epsilon, total, rho):
        value, slope, _ = module._conditional(self, epsilon, total, rho)
        return value * (1 + 0.99 * sign * ERROR), slope, value * ERROR

    monkeypatch.setattr(CountPair, "conditional", conditional)
    pair = CountPair(heads, 0.0, law)
    found = hockey_stick(pair=pair, epsilon=0.25, rtol=1e-12)
    assert found.lower <= exact.upper
    assert found.upper >= exact.lower
    assert 1.9 * ERROR < found.relative_width < 2.2 * ERROR
    edges = module._fill_cross(pair, 0.25, module._at_totals(pair, 0.25, np.arange(1.0, 9.0)))
    true, _, _ = module._conditional(pair, 0.25, edges.total[:-1], edges.rho[1:])
    assert np.all(edges.cross[:-1] >= true)


@pytest.mark.parametrize("epsilon", [0.25, 1.0])
@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("declared", [(ERROR, 0.0), (0.0, ERROR), (ERROR, ERROR)])
def test_odds_and_headroom_that_are_wrong_move_a_value_by_what_is_declared(monkeypatch, declared, sign, epsilon):
    """h falls in rho and grows in headroom, so both errors go together; they are seen where h is convex, too."""
    term, odds = declared
    monkeypatch.setattr(module, "TERM_ERROR", term)
    monkeypatch.setattr(CountPair, "odds_error", odds)
    monkeypatch.setattr(CountPair, "headroom", wrong_headroom(CountPair.headroom, 0.999 * sign * term))
    monkeypatch.setattr(module, "round_off", lambda count: np.zeros_like(count) + 1e-13)
    total = np.arange(2.0, 400.0)
    rho = LAW.ratio(total / 8) / 2 + 0.01
    value, _, error = PAIR.conditional(epsilon, total, rho * (1 - 0.999 * sign * (term + odds)))
    monkeypatch.undo()
    exact, _, _ = PAIR.conditional(epsilon, total, rho)
    assert np.all(np.abs(value - exact) <= error)
    assert np.any(np.abs(value - exact)[error > 0] > 0.99 * error[error > 0])


def wrong_headroom(headroom, relative):
    return lambda self, epsilon: headroom(self, epsilon) + relative * self.headroom_terms(epsilon)


def test_a_slope_is_rounded_away_from_the_value(monkeypatch):
    """The tangent of a line falls by 1e-9 more than the line does."""
    monkeypatch.setattr(module, "round_off", np.zeros_like)
    monkeypatch.setattr(CountPair, "odds_error", 0.0)
    edges = exact_edges(0.25)
    left, right = halves(edges)
    mass = np.array([math.fsum(LAW.pmf(np.arange(a, b) - 1)) for a, b in itertools.pairwise(TOTALS)])
    chord, tangent = module._chord_and_tangent(PAIR, left, right, mass)
    fall = (right.value - chord)[~SINGLE]
    np.testing.assert_allclose((chord - tangent)[~SINGLE], 1e-9 * fall, rtol=1e-3, atol=0)


def test_a_value_below_its_error_is_no_less_than_nothing(monkeypatch):
    """Half of the blocks may be 0: the others' mass is what is left of the lower end."""
    monkeypatch.setattr(module, "_mass_error", lambda *_: 0.0)
    edges = exact_edges(0.25)
    error = np.where(np.arange(TOTALS.size) % 2, 100.0, 0.0)
    found = module._bounds(PAIR, edges._replace(error=error, slope=0.0 * edges.slope, value=np.ones_like(TOTALS)))
    left, right = halves(edges)
    mass = np.where(SINGLE, left.point, module._masses(PAIR, left, right))
    sure = np.where(SINGLE, error[:-1], error[1:]) == 0.0
    assert found.total_lower == pytest.approx(PAIR.speak * PAIR.contrast * mass[sure].sum(), rel=1e-12)


@pytest.mark.parametrize("total", [1, 4, 9])
def test_a_slope_is_that_of_the_larger_room(total):
    """E[(a - total + r)^+] has the slope Pr[a > total - r], seen up to `room` from the r of a threshold."""
    rooms = np.array([0.0, 0.3, 1.0, 1.2, 2.0, 2.5, 4.0, 4.1])
    rooms = rooms[rooms <= total]
    for r in rooms:
        threshold = np.full_like(rooms, total - math.ceil(r) + 1)
        c = np.full_like(rooms, float(total))
        tail = laws.half_binomial_tail(c, threshold)
        found = module.tail_within(rooms, c, threshold, tail, laws.half_binomial_tail)
        for room, slope in zip(rooms, found, strict=True):
            chosen = [math.comb(total, a) for a in range(total + 1) if a > total - math.ceil(max(room, r))]
            assert slope == pytest.approx(sum(chosen) / 2**total, rel=1e-12, abs=0)


def test_a_victim_who_speaks_for_certain_up_to_rounding_is_never_silent():
    pair = CountPair(0.7, 0.3000000000000005, LAW)
    assert pair.heads + pair.tails > 1
    assert (pair.speak, pair.silence) == (1.0, 0.0)
    assert CountPair(0.5, 0.25, LAW).silence == 0.25
    # one rounding: 1 - (heads + tails) would be off by as much as it is
    assert CountPair(0.7, 0.29999999999999993, LAW).silence == float(1 - Fraction(0.7) - Fraction(0.29999999999999993))
