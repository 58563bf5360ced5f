"""Several collections with one message per user: the composed bound against enumeration."""

import math

import numpy as np
import pytest
from oracles.clusters import excess

import segshuffle
from segshuffle.accounting.single_message.accountants import ACCOUNTANTS
from segshuffle.accounting.single_message.amplification import compare
from segshuffle.accounting.single_message.rounds import RoundsBound


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
        return max(excess(p, q, epsilon), excess(q, p, epsilon))

    bound = RoundsBound(delta, ceiling=local_epsilon, rounds=rounds)
    together = [np.ones(1), np.ones(1)]
    for _ in range(rounds):
        together = [np.outer(law, one).ravel() for law, one in zip(together, (p, q), strict=True)]
    found = [bound.delta(epsilon=share * local_epsilon).upper for share in (0.0, 0.2, 0.5, 0.9)]
    assert found == sorted(found, reverse=True)
    for share, upper in zip((0.0, 0.2, 0.5, 0.9), found, strict=True):
        epsilon = share * local_epsilon
        exact = max(excess(*together, epsilon), excess(*together[::-1], epsilon))
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
        segshuffle.account(krr, n_users=500, delta=1e-6, rounds=4, accountant="erlingsson")


def test_no_epsilon_beyond_the_range_is_called_proven():
    """The loss is 1214 on average, and 2920 at most: delta at 300 is almost 1."""
    krr = segshuffle.mechanism("krr", local_epsilon=8.0, domain_size=100)
    found, left_out = compare(mechanism=krr, n_users=1000, delta=1e-6, rounds=365, only=["blanket"])
    assert not found
    assert left_out["blanket"] == "no epsilon up to 300 is known to reach delta = 1e-06"
    at_300 = segshuffle.account(krr, n_users=1000, epsilon=300.0, rounds=365, accountant="blanket")
    assert at_300 > 0.999
    # what each round may reveal for certain is no guarantee either
    bins = segshuffle.mechanism("balls-into-bins", domain_size=4, special_bins=1)
    asked = {"n_users": 101, "rounds": 2, "accountant": "variation-ratio"}
    assert segshuffle.account(bins, delta=1e-50, **asked) == math.inf
    assert 1e-13 < segshuffle.account(bins, epsilon=300.0, **asked) < 1e-12
    assert segshuffle.account(bins, **asked | {"n_users": 1}, epsilon=1.0) == 1.0


def test_the_infinite_loss_of_every_round_is_counted():
    """All 100 dummies miss the true bin with probability .75^100: then a round reveals everything."""
    bins = segshuffle.mechanism("balls-into-bins", domain_size=4, special_bins=1)
    missed, asked = 0.75**100, {"n_users": 101, "epsilon": 250.0, "accountant": "variation-ratio"}
    for rounds in (1, 2, 50):
        exact = -math.expm1(rounds * math.log1p(-missed))
        assert exact <= segshuffle.account(bins, rounds=rounds, **asked) <= exact * (1 + 1e-3)


CASES = [
    ("krr", {"local_epsilon": 2.0, "domain_size": 5}, 1000, 1e-6),
    ("krr", {"local_epsilon": 8.0, "domain_size": 100}, 1000, 1.234567891e-7),
    ("general", {"local_epsilon": 50.0}, 10, 1e-6),
    ("laplace", {"local_epsilon": 1e-6}, 1, 0.5),
    ("oue", {"local_epsilon": 0.01}, 10, 0.5),
    ("uniform-coin-sum", {}, 101, 1e-6),
    ("mix-dump", {"domain_size": 16, "flip": 0.4}, 1000, 0.01),
    ("balls-into-bins", {"domain_size": 16, "special_bins": 2}, 1000, 1e-12),
]


NAMES = [f"{name}-{delta:g}" for name, _, _, delta in CASES]


@pytest.mark.parametrize("rounds", [1, pytest.param(3, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize(("name", "parameters", "n_users", "delta"), CASES, ids=NAMES)
def test_every_epsilon_reaches_its_delta(name, parameters, n_users, delta, rounds):
    mechanism = segshuffle.mechanism(name, **parameters)
    for accountant, epsilon, kind, *_ in segshuffle.account(mechanism, n_users=n_users, delta=delta, rounds=rounds):
        assert epsilon <= 300
        if kind != "lower" and ACCOUNTANTS[accountant].delta:
            asked = {"n_users": n_users, "rounds": rounds, "accountant": accountant}
            assert segshuffle.account(mechanism, epsilon=epsilon, **asked) <= delta


@pytest.mark.quick("uniform-coin-sum-1e-06", "oue-0.5")
@pytest.mark.parametrize(("name", "parameters", "n_users", "delta"), CASES, ids=NAMES)
def test_no_epsilon_falls_with_more_rounds(name, parameters, n_users, delta):
    mechanism = segshuffle.mechanism(name, **parameters)
    before = {}
    for rounds in (1, 2, 3, 10_000):
        found = segshuffle.account(mechanism, n_users=n_users, delta=delta, rounds=rounds)
        now = {accountant: epsilon for accountant, epsilon, kind, *_ in found if kind == "upper"}
        for accountant in now if rounds > 1 else ():
            assert before[accountant] <= now[accountant]
        before = now
