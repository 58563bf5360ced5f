"""The client as it would run: exact draws, by enumeration of its integers, and what it sends against the simulator.

False alarms: as in test_equivalence, whose comparison is used; 7 more p-values.
"""

import io
import math
import os
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from segshuffle.blankets import exact
from segshuffle.blankets.binomial import BINOMIAL
from segshuffle.collection.messages import Client, Demand, send_all
from segshuffle.errors import DataError, ParameterError, RefusedError
from segshuffle.plans.scheme import Scheme

ALARM = 1e-9
#: A demand that every plan meets: the tests of the draws are not about it.
ANYTHING = Demand(100.0, 0.999999, 10**9, "exactly")


class DeeperError(Exception):
    """The path that is followed has another branch here."""


def enumerated(draw: Callable[[exact.Below], Any], stop: Callable[[int, int], bool] = lambda n, value: False):
    """Return the exact law of a draw over all integers that it can be given; paths on which `stop` is true are lost.

    It walks the tree of all answers of ``below``: each of its n values has probability 1/n.
    """
    law: Counter = Counter()
    paths: list[tuple[int, ...]] = [()]
    while paths:
        path = paths.pop()
        sizes: list[int] = []

        def below(n, path=path, sizes=sizes):
            sizes.append(n)
            if len(sizes) > len(path):
                raise DeeperError
            return path[len(sizes) - 1]

        try:
            result = draw(below)
        except DeeperError:
            n = sizes[-1]
            paths += [(*path, value) for value in range(n) if not stop(n, value)]
            continue
        law[result] += Fraction(1, math.prod(sizes))
    return law


# -- exact draws -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("p", [Fraction(0), Fraction(1), Fraction(3, 8), Fraction(5, 7)])
def test_bernoulli_by_enumeration(p):
    assert enumerated(lambda below: exact.bernoulli(p, below))[True] == p


@given(rate=st.floats(1e-300, 1.0))
def test_a_rate_is_the_number_that_the_accountant_uses(rate):
    """A double is a fraction: of the integers below its denominator, those below its numerator say yes."""
    asked: list[int] = []
    numerator = Fraction(rate).numerator
    assert exact.bernoulli(Fraction(rate), lambda n: asked.append(n) or numerator - 1)
    assert not exact.bernoulli(Fraction(rate), lambda n: asked.append(n) or numerator)
    assert {Fraction(numerator, n) for n in asked} == {Fraction(rate)}


@pytest.mark.parametrize(
    ("draw", "odds", "first", "growth"),
    [
        (lambda below: exact.poisson(Fraction(3, 8), below), Fraction(1, 2), Fraction(3, 4), 0),
        (lambda below: exact.poisson(Fraction(3, 4), below), Fraction(1, 2), Fraction(3, 2), 0),
        (
            lambda below: exact.negative_binomial(Fraction(1, 2), Fraction(1, 3), below),
            Fraction(1, 3),
            Fraction(1, 2),
            1,
        ),
        (
            lambda below: exact.negative_binomial(Fraction(5, 4), Fraction(1, 3), below),
            Fraction(1, 3),
            Fraction(5, 4),
            1,
        ),
    ],
    ids=["poisson", "poisson of two pieces", "negative binomial", "negative binomial of two pieces"],
)
@pytest.mark.quick("poisson", "negative binomial")
def test_counts_by_enumeration(draw, odds, first, growth):
    """At the first attempt of every piece, k has the probability (1 - odds)^pieces odds^k times its weight."""
    pieces = math.ceil(first)

    def once(below):
        kept = []

        def flip(over, under, below):
            if Fraction(over, under) == odds:  # a coin of the proposal
                if kept and not all(kept):  # another attempt
                    raise OverflowError
                kept.clear()
                heads.append(exact_chance(over, under, below))
                if sum(heads) > 3:
                    raise OverflowError
                return heads[-1]
            kept.append(exact_chance(over, under, below))
            return kept[-1]

        heads: list[bool] = []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(exact, "chance", flip)
            try:
                return draw(below)
            except OverflowError:
                return None

    law = enumerated(once)
    weight = Fraction(1)
    for k in range(4):
        assert law[k] == (1 - odds) ** pieces * odds**k * weight
        weight *= (first + growth * k) / (k + 1)


exact_chance = exact.chance


@pytest.mark.parametrize("size", [Fraction(1, 2), Fraction(3)])
def test_clusters_by_enumeration(size):
    """Three units at two places have Dirichlet-multinomial counts, and all orders of the same counts are as likely."""
    law = enumerated(lambda below: tuple(exact.clustered(3, size, 2, below)))
    each = size / 2
    total = size * (size + 1) * (size + 2)
    for places, probability in law.items():
        counts = (places.count(0), places.count(1))
        expected = Fraction(1)
        for count in counts:
            for i in range(count):
                expected *= each + i
        assert probability == expected / total
    assert sum(law.values()) == 1


def test_a_client_by_enumeration():
    """A client's counters have the law of its own message at rate 1/2 and independent Poisson(3/16) dummies."""
    announcement = Scheme(2, 1, 1, (0.5,), 0.375)

    def counters(below):
        def at_most_two(n):
            value = below(n)
            heads.append(n == 2 and not value)
            if heads[1:4] == [True] * 3:  # after the client's own coin
                raise OverflowError
            return value

        heads: list[bool] = []
        try:
            sent = Client((1,), 0, ANYTHING, below=at_most_two).send_items(announcement)
        except OverflowError:
            return "more"
        return sent.count(0), sent.count(1)

    # the third acceptance asks below 12 and is not reached; a client shuffles at most three messages: below 2 and 3
    law = enumerated(counters, stop=lambda n, value: n in (4, 8) and value >= 3)

    def poisson(k):
        return Fraction(3, 16) ** k / math.factorial(k)

    for first, second in [(0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2)]:
        silent = poisson(first) * poisson(second)
        spoke = poisson(first) * poisson(second - 1) if second else 0
        assert law[first, second] == (silent + spoke) / 4  # its coin, and the first coin of the rejection


def test_every_order_is_equally_likely():
    law = enumerated(lambda below: tuple(exact.shuffled([1, 2, 3], below)))
    assert set(law.values()) == {Fraction(1, 6)}
    assert len(law) == 6


def test_binomial_blanket_by_enumeration():
    law = enumerated(lambda below: tuple(BINOMIAL.sample(1.5, 2, below)))
    assert law[()] == Fraction(1, 16)
    assert law[(0,)] == law[(1,)] == Fraction(3, 16)
    assert law[(0, 1)] == Fraction(9, 64)


def test_a_cap_redraws():
    """Given at most c, the number has the Poisson weights."""
    rng = np.random.default_rng(31)
    capped = Scheme(3, 1, 1, (1.0,), 1.5, blanket_cap=2)
    below = rng.integers
    drawn = np.bincount([len(capped.send([], 0, lambda n: int(below(n)))) for _ in range(1000)], minlength=3)
    expected = np.array([1, 1.5, 1.125]) / 3.625
    assert drawn.size == 3
    assert stats.chisquare(drawn, 1000 * expected).pvalue > ALARM
    assert capped.simulate_dummies(1000, rng).size <= 2000
    simulated = np.bincount([capped.simulate_dummies(1, rng).size for _ in range(1000)], minlength=3)
    assert stats.chisquare(simulated, 1000 * expected).pvalue > ALARM


# -- refusals ----------------------------------------------------------------------------------------------------------

GOOD = Scheme(17, 4, 5000, (0.5, 1.0), 4.0)


@pytest.mark.parametrize(
    ("items", "level", "error", "message"),
    [
        ((1, 2, 3), 0, DataError, "allowed are at least 4 items"),
        ((1, 2, 3, 17), 0, DataError, r"17\); .* in 0\.\.16"),
        ((1, 2, 3, 3), 0, DataError, "all different"),
        ((1, 2, 3, 4), 2, ParameterError, "level = 2"),
        ((1, 2, 3, 4), -1, ParameterError, "level = -1"),
    ],
)
def test_nothing_is_sent_that_is_not_announced(items, level, error, message):
    with pytest.raises(error, match=message):
        Client(items, level, ANYTHING).send_items(GOOD)


def test_many_clients_are_checked_first_and_send_in_their_order():
    """One more than a process draws for at a time; false alarm 1e-9."""
    users, scheme = iter([((user % 17,), 1) for user in range(5001)]), Scheme(17, 4, 5000, (0.5, 1.0), 4.0)
    with pytest.raises(RefusedError):
        next(send_all(users, scheme, {1: Demand(0.1, 1e-9, 5000)}))
    most, last = (part.splitlines() for part in send_all(users, scheme, {1: replace(ANYTHING, sets="at-most")}))
    assert abs(len(most) - 5000 * 5) < 6.2 * math.sqrt(5000 * 4)
    assert str(5000 % 17) in last
    assert len(last) < 40


@pytest.mark.parametrize(("n", "size"), [(1, 0), (2, 1), (3, 1), (17, 1), (255, 1), (256, 1), (257, 2), (1000, 2)])
def test_every_number_comes_from_equally_many_bytes(n, size):
    """All values of the first bytes are tried; those that are thrown away need more, and there are none."""
    law = Counter()
    for value in range(256**size):
        try:
            law[exact.uniform(io.BytesIO(value.to_bytes(size, "big")).read)(n)] += 1
        except EOFError:
            law["again"] += 1
    again = law.pop("again", 0)
    assert (sorted(law), len(set(law.values()))) == ([*range(n)], 1)
    assert again < 256**size / 2


def test_every_client_has_numbers_of_its_own_from_the_system():
    assert len({id(each.below) for each in [Client((1,), 0, ANYTHING) for _ in range(9)]}) == 9
    assert exact.uniform.__defaults__ == (os.urandom,)
