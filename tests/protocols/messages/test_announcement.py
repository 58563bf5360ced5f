"""The scheme of a collection: the ends of every range, and what follows from it."""

from __future__ import annotations

import json
import math

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
