"""The scheme of a collection: the ends of every range, what follows from it, and the moments of its dummies."""

import json
import math

import numpy as np
import pytest

from segshuffle.blankets.binomial import BINOMIAL
from segshuffle.blankets.clustered import Clustered
from segshuffle.blankets.named import law_from
from segshuffle.blankets.poisson import POISSON
from segshuffle.blankets.signed import Signed
from segshuffle.errors import ParameterError
from segshuffle.plans.scheme import Scheme

GOOD = {"domain_size": 5, "set_size": 2, "n_users": 9, "copies": (0.5, 2.25), "blanket_per_user": 1.5}


def scheme(**changes):
    return Scheme(**{**GOOD, **changes})


@pytest.mark.parametrize("law", [POISSON, BINOMIAL, Clustered(0.99), Signed(0.99, 0.99, 0.999)], ids=str)
def test_schemes_survive_json(law):
    for found in (scheme(law=law), scheme(blanket_cap=2)):
        assert Scheme.from_dict(json.loads(json.dumps(found.as_dict()))) == found


@pytest.mark.parametrize(
    "values",
    [{"name": "woollen"}, {}, {"name": "clustered"}, {"name": "clustered", "p": 0.995}, {"name": "poisson", "p": 0.5}],
    ids=str,
)
def test_laws_that_there_are_not(values):
    with pytest.raises(ParameterError):
        law_from(values)


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


RUNS, CLIENTS, D, M = 1500, 6, 3, 2.4
LAWS = [POISSON, BINOMIAL, Clustered(0.6), Signed(0.3, 0.5, 0.4), Signed(0.0, 0.0, 0.4), Signed(0.3, 0.0, 0.2)]


def moments(law):
    """Return mean and variance of a counter, and its covariances with the same item's other sign and other items."""
    mean = CLIENTS * M / D
    if law == BINOMIAL:  # three slots, filled with probability 0.8
        hit = 0.8 / D
        return mean, CLIENTS * 3 * hit * (1 - hit), None, -CLIENTS * 3 * hit**2
    if not law.has_signs:
        return mean, mean / (1 - getattr(law, "p", 0.0)), None, 0.0
    noise, both = mean / 2 * (1 - law.flood), mean / 2 * law.flood / (1 - law.flood_p)
    return mean / 2, noise / (1 - law.p) + both, both, 0.0


@pytest.mark.parametrize("law", LAWS)
def test_simulated_dummies_have_the_moments_of_their_law(law):
    """They agree within 6 standard errors; a product of counters has a deviation of about three variances at most."""
    sent, rng = Scheme(D, 1, CLIENTS, (1.0,), M, law), np.random.default_rng(3)
    counters = np.array(
        [np.bincount(sent.simulate_dummies(CLIENTS, rng), minlength=sent.distinct_messages) for _ in range(RUNS)]
    )
    mean, variance, signs, others = moments(law)
    found = np.cov(counters.T)
    assert np.abs(counters.mean(axis=0) - mean).max() < 6 * math.sqrt(variance / RUNS)
    expected = np.full_like(found, others)
    np.fill_diagonal(expected, variance)
    for item in range(D) if signs is not None else ():
        expected[item, D + item] = expected[D + item, item] = signs
    assert np.abs(found - expected).max() < 6 * 3.0 * variance / math.sqrt(RUNS)
