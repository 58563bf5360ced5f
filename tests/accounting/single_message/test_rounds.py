"""Several collections with one message per user: the composed bound against enumeration."""

import math

import numpy as np
import pytest

import segshuffle
from segshuffle.accounting.single_message.rounds import RoundsBound


def hockey_stick(p, q, epsilon):
    return float(np.maximum(p - math.exp(epsilon) * q, 0.0).sum())


def laws_of_ones(share, others):
    """Return the laws of the number of ones that the server sees, if the victim holds 1 or 0 and all others hold 0."""
    law = np.ones(1)
    for _ in range(others):
        law = np.convolve(law, [share, 1 - share])
    return np.convolve(law, [1 - share, share]), np.convolve(law, [share, 1 - share])


@pytest.mark.parametrize(("local_epsilon", "others"), [(1.0, 3), (2.0, 5), (0.3, 8)])
@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_products_of_a_pair_are_enclosed(local_epsilon, others, rounds):
    """The composed bound is that of the worse direction in every round: never below either, and near the worse one."""
    p, q = laws_of_ones(1 / (1 + math.exp(-local_epsilon)), others)

    def delta(epsilon):
        return max(hockey_stick(p, q, epsilon), hockey_stick(q, p, epsilon))

    bound = RoundsBound(delta, ceiling=local_epsilon, rounds=rounds)
    together = [np.ones(1), np.ones(1)]
    for _ in range(rounds):
        together = [np.outer(law, one).ravel() for law, one in zip(together, (p, q), strict=True)]
    found = [bound.delta(epsilon=share * local_epsilon).upper for share in (0.0, 0.2, 0.5, 0.9)]
    assert found == sorted(found, reverse=True)
    for share, upper in zip((0.0, 0.2, 0.5, 0.9), found, strict=True):
        epsilon = share * local_epsilon
        exact = max(hockey_stick(*together, epsilon), hockey_stick(*together[::-1], epsilon))
        assert exact <= upper * (1 + 1e-12)
        if rounds == 1:
            assert upper <= exact * 1.01 + 1e-9


def test_account_composes_rounds_and_does_not_lose_against_sums():
    krr = segshuffle.mechanism("krr", local_epsilon=2.0, domain_size=3)
    one, four = (
        segshuffle.account(krr, n_users=500, delta=delta, rounds=rounds, accountant="blanket")
        for delta, rounds in ((1e-6 / 4, 1), (1e-6, 4))
    )
    assert one < four < 4 * one
    assert segshuffle.account(krr, n_users=500, epsilon=four, rounds=4, accountant="blanket") <= 1e-6
    pure = segshuffle.account(krr, n_users=10, delta=1e-200, rounds=4, accountant="blanket")
    assert pure == 4 * krr.local_epsilon
    with pytest.raises(segshuffle.errors.ParameterError, match="rounds"):
        segshuffle.account(krr, n_users=500, delta=1e-6, rounds=4, accountant="bennett")
