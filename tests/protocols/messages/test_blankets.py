"""Dummies of clients and of simulated clients: the moments of every counter, by the law that is accounted for."""

from __future__ import annotations

import math

import numpy as np
import pytest

from segshuffle.blankets.binomial import BINOMIAL
from segshuffle.blankets.clustered import Clustered
from segshuffle.blankets.poisson import POISSON
from segshuffle.blankets.signed import Signed
from segshuffle.protocols.scheme import Scheme

RUNS, CLIENTS, D, M = 1500, 6, 3, 2.4
LAWS = [POISSON, BINOMIAL, Clustered(0.6), Signed(0.3, 0.5, 0.4), Signed(0.0, 0.0, 0.4), Signed(0.3, 0.0, 0.0)]


def scheme(law):
    return Scheme(D, 1, CLIENTS, (1.0,), M, law)


def moments(law):
    """Mean and variance of one counter of all clients, and covariances: with the same item's other sign, and others."""
    mean = CLIENTS * M / D
    if law == BINOMIAL:  # three slots, filled with probability 0.8
        hit = 0.8 / D
        return mean, CLIENTS * 3 * hit * (1 - hit), None, -CLIENTS * 3 * hit**2
    if not law.has_signs:
        return mean, mean / (1 - getattr(law, "p", 0.0)), None, 0.0
    noise, both = mean / 2 * (1 - law.flood), mean / 2 * law.flood / (1 - law.flood_p)
    return mean / 2, noise / (1 - law.p) + both, both, 0.0


def check(law, counters):
    """Within 6 standard errors; a product of counters has a spread of at most some five variances."""
    mean, variance, signs, others = moments(law)
    found = np.cov(counters.T)
    assert np.abs(counters.mean(axis=0) - mean).max() < 6 * math.sqrt(variance / len(counters))
    allowed = 6 * 3.0 * variance / math.sqrt(len(counters))
    expected = np.full_like(found, others)
    np.fill_diagonal(expected, variance)
    for item in range(D) if signs is not None else ():
        expected[item, D + item] = expected[D + item, item] = signs
    assert np.abs(found - expected).max() < allowed


@pytest.mark.parametrize("law", LAWS)
def test_simulated_dummies_have_the_moments_of_their_law(law):
    found_scheme, rng = scheme(law), np.random.default_rng(3)
    counters = [
        np.bincount(found_scheme.simulate_dummies(CLIENTS, rng), minlength=found_scheme.words) for _ in range(RUNS)
    ]
    check(law, np.array(counters))


@pytest.mark.parametrize("law", LAWS)
def test_exact_dummies_have_the_moments_of_their_law(law):
    found_scheme, rng = scheme(law), np.random.default_rng(4)
    integers = iter(rng.random(400_000).tolist())

    def below(n):
        return int(next(integers) * n)

    runs = 60
    counters = [
        np.bincount(
            [word for _ in range(CLIENTS) for word in found_scheme.law.sample(M, D, below)],
            minlength=found_scheme.words,
        )
        for _ in range(runs)
    ]
    check(law, np.array(counters))


def test_a_whole_number_of_slots_is_filled_always():
    full, rng = Scheme(D, 1, 5, (1.0,), 2.0, BINOMIAL), np.random.default_rng(5)
    assert full.simulate_dummies(40, rng).size == 80
    assert len(full.send([], 0, lambda n: int(rng.integers(n)))) == 2
