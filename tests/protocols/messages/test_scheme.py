"""The scheme of a collection: the ends of every range, what follows from it, and the moments of its dummies."""

import json
import math

import numpy as np
import pytest

from segshuffle.blankets.binomial import BINOMIAL
from segshuffle.blankets.clustered import Clustered
from segshuffle.blankets.named import dummies_from
from segshuffle.blankets.poisson import POISSON
from segshuffle.blankets.signed import Signed
from segshuffle.errors import ParameterError
from segshuffle.protocols.scheme import Scheme

GOOD = {"domain_size": 5, "set_size": 2, "n_users": 9, "copies": (0.5, 2.25), "blanket_per_user": 1.5}


def scheme(**changes):
    return Scheme(**{**GOOD, **changes})


@pytest.mark.parametrize(
    "changes",
    [
        {"domain_size": 1, "set_size": 1},
        {"set_size": 1},
        {"set_size": 5},
        {"n_users": 1},
        {"copies": (0.0,)},
        {"copies": [1e308]},
        {"blanket_per_user": 0.0},
        {"blanket_per_user": 1e9},
        {"blanket_cap": 2},
        {"blanket_per_user": 2.0, "blanket_cap": 2},
        {"blanket_cap": 2.0},
        {"law": Clustered(0.99)},
        {"law": Signed(0.99, 0.99, 0.999)},
        {"law": BINOMIAL},
    ],
    ids=str,
)
def test_the_ends_of_the_ranges_are_in_them(changes):
    found = scheme(**changes)
    assert found.copies == tuple(changes.get("copies", GOOD["copies"]))
    assert Scheme.from_dict(json.loads(json.dumps(found.as_dict()))) == found


@pytest.mark.parametrize(
    "values",
    [{"name": "woollen"}, {}, {"name": "clustered"}, {"name": "clustered", "p": 0.995}, {"name": "poisson", "p": 0.5}],
    ids=str,
)
def test_laws_that_there_are_not(values):
    with pytest.raises(ParameterError):
        dummies_from(values)


def test_words_of_every_law():
    for law, domain_size, words, size in (
        (POISSON, 5, 5, 1),
        (BINOMIAL, 5, 5, 1),
        (Clustered(0.5), 5, 5, 1),
        (Signed(0.3, 0.5, 0.25), 5, 10, 1),
        (Signed(0.3, 0.5, 0.25), 128, 256, 2),
    ):
        found = scheme(law=law, domain_size=domain_size)
        assert (found.words, found.wire.dtype.itemsize) == (words, size)


def test_the_most_that_a_client_sends_and_draws():
    """Two items of three copies each, and two slots, or a cap of seven; 1.5 dummies make two draws."""
    assert scheme(law=BINOMIAL).most_messages == 2 * 3 + 2
    assert scheme(blanket_cap=7).most_messages == 2 * 3 + 7
    assert scheme().most_messages == math.inf
    assert scheme(blanket_per_user=0.0).most_messages == 6
    assert scheme(copies=(0.5, 1.0), blanket_per_user=0.0).most_messages == 2
    assert scheme(copies=(0.0,), blanket_per_user=0.0).most_messages == 0
    assert scheme().most_draws == 2 * 3 + 2
    assert scheme(copies=(0.0,)).most_draws == 2 + 2


# -- dummies of clients and of simulated clients: the moments of every counter ----------------------------------------

RUNS, CLIENTS, D, M = 1500, 6, 3, 2.4
LAWS = [POISSON, BINOMIAL, Clustered(0.6), Signed(0.3, 0.5, 0.4), Signed(0.0, 0.0, 0.4), Signed(0.3, 0.0, 0.0)]


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
    found_scheme, rng = Scheme(D, 1, CLIENTS, (1.0,), M, law), np.random.default_rng(3)
    counters = [
        np.bincount(found_scheme.simulate_dummies(CLIENTS, rng), minlength=found_scheme.words) for _ in range(RUNS)
    ]
    check(law, np.array(counters))


@pytest.mark.parametrize("law", LAWS)
def test_exact_dummies_have_the_moments_of_their_law(law):
    found_scheme, rng = Scheme(D, 1, CLIENTS, (1.0,), M, law), np.random.default_rng(4)
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
