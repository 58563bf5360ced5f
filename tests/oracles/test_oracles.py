"""The two oracles that all others build on, by hand; the others are compared with the package where they are used."""

from __future__ import annotations

from fractions import Fraction

import oracles as o

F = Fraction


def test_hockey_stick_by_hand():
    p = {"a": F(1, 2), "b": F(1, 3), "c": F(1, 6)}
    q = {"a": F(1, 4), "b": F(1, 2), "d": F(1, 4)}
    assert o.hockey_stick(p, q, F(1)) == F(1, 4) + F(1, 6)  # the total variation distance
    assert o.hockey_stick(q, p, F(1)) == F(1, 6) + F(1, 4)
    assert o.hockey_stick(p, q, F(3, 2)) == F(1, 8) + F(1, 6)
    assert o.hockey_stick(p, q, F(100)) == F(1, 6)  # what q cannot produce at all
    assert o.hockey_stick(p, p, F(1)) == 0


def test_shuffled_randomized_response_by_hand():
    # Two users with binary randomized response, truth with probability 3/4: inputs (0, 0) and (0, 1).
    matrix = o.krr(2, F(3))
    assert o.single_message_view(matrix, [0, 0]) == {(2, 0): F(9, 16), (1, 1): F(6, 16), (0, 2): F(1, 16)}
    assert o.single_message_view(matrix, [0, 1]) == {(2, 0): F(3, 16), (1, 1): F(10, 16), (0, 2): F(3, 16)}
