"""Pairs of one message: what their odds and their headroom may be wrong by is all counted, and little more."""

import math

import numpy as np
import pytest
from oracles import MP

from segshuffle.accounting.numerics import hockey_stick
from segshuffle.accounting.numerics.laws import BinomialLaw
from segshuffle.accounting.single_message import ratio_pair as module
from segshuffle.errors import ParameterError

ERROR = 1e-7
LAW = BinomialLaw(60, 0.25)
TOTAL = np.arange(2.0, 300.0)
RHO = 0.01 + 0.4 / TOTAL


@pytest.mark.parametrize("split", [0.5, 0.3, 0.8])
@pytest.mark.parametrize("epsilon", [0.25, 1.0])
@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize(("term", "odds"), [(ERROR, 0.0), (0.0, ERROR), (ERROR, ERROR)])
def test_errors_of_odds_and_headroom_are_counted(monkeypatch, split, epsilon, sign, term, odds):
    pair = module.ratio_pair(log_ratio=1.5, difference=0.4, blanket=LAW, split=split)
    exact, _, _ = pair.conditional(epsilon, TOTAL, RHO)
    for place in (module, hockey_stick):
        monkeypatch.setattr(place, "TERM_ERROR", term)
        monkeypatch.setattr(place, "round_off", lambda count: np.zeros_like(count) + 1e-13)
    monkeypatch.setattr(module.RatioPair, "odds_error", odds)
    right = module.RatioPair.headroom
    monkeypatch.setattr(module.RatioPair, "headroom", lambda self, at: right(self, at) * (1 + 0.999 * sign * term))
    value, _, error = pair.conditional(epsilon, TOTAL, RHO * (1 - 0.999 * sign * (term + odds)))
    off = np.abs(value - exact)
    assert np.all(off <= error)
    # headroom matters only near the end of the range
    assert term or np.any(off[error > 0] > 0.99 * error[error > 0])


@pytest.mark.parametrize("difference", [1e-3, 0.4, 0.6, 0.635, 0.63514, 0.635148, 0.6351489, 0.63514895])
def test_odds_are_as_accurate_as_declared(difference):
    """Silence is 1 less what is said: where hardly anything is left of it, its error counts many times."""
    log_ratio = 1.5
    pair = module.ratio_pair(log_ratio=log_ratio, difference=difference, blanket=LAW)
    speak = MP.mpf(difference) / MP.tanh(MP.mpf(log_ratio) / 2)
    assert abs(MP.mpf(pair.silence / pair.speak) * speak / (1 - speak) - 1) <= pair.odds_error
    assert pair.odds_error <= 2e-14 / pair.silence


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 1.4999, 1.5])
def test_headroom_is_accurate_to_its_last_digits(epsilon):
    pair = module.ratio_pair(log_ratio=1.5, difference=0.4, blanket=LAW)
    exact = MP.tanh(MP.mpf(0.75)) - MP.tanh(MP.mpf(epsilon) / 2)
    assert abs(MP.mpf(pair.headroom(epsilon)) - exact) <= hockey_stick.TERM_ERROR * pair.headroom_terms(epsilon)
    assert math.isclose(pair.headroom_terms(epsilon), abs(float(exact)), rel_tol=1e-12)


@pytest.mark.parametrize("log_ratio", [1e-6, 1e-3, 0.1, 0.7, 1.0, 2.3, 5.0, 20.0])
@pytest.mark.parametrize("split", [0.5, 0.3])
def test_heads_and_tails_are_all_there_is_at_most(log_ratio, split):
    """At difference = tanh(log_ratio/2) the victim is never silent; a rounding more is forgiven, a millionth is not."""
    largest = math.tanh(0.5 * log_ratio)
    for rounding in (largest, math.nextafter(largest, 0.0), math.nextafter(largest, 1.0)):
        pair = module.ratio_pair(log_ratio=log_ratio, difference=rounding, blanket=LAW, split=split)
        assert pair.heads + pair.tails <= 1.0
        assert pair.silence <= 1e-15
        assert pair.speak == pytest.approx(1.0, rel=1e-15)
        assert math.log(pair.heads / pair.tails) == pytest.approx(log_ratio, rel=1e-9, abs=1e-15)
    with pytest.raises(ParameterError, match="tails"):
        module.ratio_pair(log_ratio=log_ratio, difference=largest * (1 + 1e-6), blanket=LAW, split=split)
    half = module.ratio_pair(log_ratio=log_ratio, difference=0.5 * largest, blanket=LAW, split=split)
    assert half.silence == pytest.approx(0.5, rel=1e-14)
    assert half.heads - half.tails == pytest.approx(0.5 * largest, rel=1e-9)
    assert isinstance(half, module.UnevenPair) == (split != 0.5)
