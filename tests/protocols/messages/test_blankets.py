"""Dummies of clients and of simulated clients: the moments of every counter, by the law that is accounted for."""

from __future__ import annotations

import math

import numpy as np
import pytest

from segshuffle.protocols.messages import Announcement

RUNS, CLIENTS, D, M = 1500, 6, 3, 2.4
KINDS = {
    "binomial": {},
    "poisson": {},
    "clustered": {"cluster": 0.6},
    "signed": {"cluster": 0.3, "flood_cluster": 0.5, "flood": 0.4},
    "signed, single": {"cluster": 0.0, "flood_cluster": 0.0, "flood": 0.4},
    "signed, no flood": {"cluster": 0.3},
}


def announced(kind):
    return Announcement(D, 1, CLIENTS, (1.0,), M, kind.partition(",")[0], **KINDS[kind])


def moments(kind):
    """Mean and variance of one counter of all clients, and covariances: with the same item's other sign, and others."""
    mean = CLIENTS * M / D
    if kind == "binomial":  # three slots, filled with probability 0.8
        hit = 0.8 / D
        return mean, CLIENTS * 3 * hit * (1 - hit), None, -CLIENTS * 3 * hit**2
    if kind in ("poisson", "clustered"):
        return mean, mean / (1 - KINDS[kind].get("cluster", 0.0)), None, 0.0
    given = {"cluster": 0.0, "flood_cluster": 0.0, "flood": 0.0, **KINDS[kind]}
    noise, flood = mean / 2 * (1 - given["flood"]), mean / 2 * given["flood"]
    both = flood / (1 - given["flood_cluster"])
    return mean / 2, noise / (1 - given["cluster"]) + both, both, 0.0


def check(kind, counters):
    """Within 6 standard errors; a product of counters has a spread of at most some five variances."""
    mean, variance, signs, others = moments(kind)
    found = np.cov(counters.T)
    assert np.abs(counters.mean(axis=0) - mean).max() < 6 * math.sqrt(variance / len(counters))
    allowed = 6 * 3.0 * variance / math.sqrt(len(counters))
    expected = np.full_like(found, others)
    np.fill_diagonal(expected, variance)
    for item in range(D) if signs is not None else ():
        expected[item, D + item] = expected[D + item, item] = signs
    assert np.abs(found - expected).max() < allowed


@pytest.mark.parametrize("kind", KINDS)
def test_simulated_dummies_have_the_moments_of_their_law(kind):
    announcement, rng = announced(kind), np.random.default_rng(3)
    counters = [
        np.bincount(announcement.dummies.simulate(CLIENTS, rng, np.dtype(np.uint8)), minlength=announcement.words)
        for _ in range(RUNS)
    ]
    check(kind, np.array(counters))


@pytest.mark.parametrize("kind", KINDS)
def test_exact_dummies_have_the_moments_of_their_law(kind):
    announcement, rng = announced(kind), np.random.default_rng(4)
    integers = iter(rng.random(400_000).tolist())

    def below(n):
        return int(next(integers) * n)

    runs = 60
    counters = [
        np.bincount(
            [word for _ in range(CLIENTS) for word in announcement.dummies.sample(below)], minlength=announcement.words
        )
        for _ in range(runs)
    ]
    check(kind, np.array(counters))


def test_the_most_dummies_of_a_client():
    assert announced("binomial").dummies.most == 3
    assert Announcement(D, 1, 5, (1.0,), 2.4, "poisson", blanket_cap=7).dummies.most == 7
    assert all(announced(kind).dummies.most == math.inf for kind in KINDS if kind != "binomial")


def test_a_whole_number_of_slots_is_filled_always():
    blanket = Announcement(D, 1, 5, (1.0,), 2.0, "binomial").dummies
    rng = np.random.default_rng(5)
    assert blanket.simulate(40, rng, np.dtype(np.uint8)).size == 80
    assert len(blanket.sample(lambda n: int(rng.integers(n)))) == 2
