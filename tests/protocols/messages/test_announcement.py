"""What a server announces: the ends of every range, and what follows from an announcement."""

from __future__ import annotations

import math

import pytest

from segshuffle.blankets.clustered import Clustered
from segshuffle.blankets.poisson import POISSON
from segshuffle.blankets.signed import Signed
from segshuffle.errors import ParameterError
from segshuffle.protocols.messages import Announcement

GOOD = {
    "domain_size": 5,
    "set_size": 2,
    "n_users": 9,
    "copies": (0.5, 2.25),
    "blanket_per_user": 1.5,
    "blanket": "poisson",
}


def announced(**changes):
    return Announcement(**{**GOOD, **changes})


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
        {"blanket": "clustered", "cluster": 0.99},
        {"blanket": "signed"},
        {"blanket": "signed", "cluster": 0.99, "flood_cluster": 0.99, "flood": 0.999},
    ],
    ids=str,
)
def test_the_ends_of_the_ranges_are_in_them(changes):
    found = announced(**changes)
    assert found.copies == tuple(changes.get("copies", GOOD["copies"]))


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"domain_size": 0}, "domain_size"),
        ({"domain_size": True}, "domain_size"),
        ({"set_size": 0}, "set_size"),
        ({"set_size": 6}, "set_size"),
        ({"set_size": 2.0}, "set_size"),
        ({"n_users": 0}, "n_users"),
        ({"copies": ()}, "copies"),
        ({"copies": (1.0, math.inf)}, "copies"),
        ({"copies": (-1e-9, 1.0)}, "copies"),
        ({"blanket_per_user": -1e-9}, "blanket_per_user"),
        ({"blanket_per_user": 1.001e9}, "blanket_per_user"),
        ({"blanket": "woollen"}, "blanket"),
        ({"blanket_cap": 1}, "blanket_cap"),
        ({"blanket_cap": 2.5}, "blanket_cap"),
        ({"blanket": "clustered", "cluster": 0.5, "blanket_cap": 9}, "blanket_cap"),
        ({"cluster": 0.5}, "cluster"),
        ({"blanket": "clustered"}, "cluster"),
        ({"blanket": "clustered", "cluster": -0.5}, "cluster"),
        ({"blanket": "clustered", "cluster": 0.995}, "cluster"),
        ({"flood": 0.5}, "flood"),
        ({"flood_cluster": 0.5}, "flood_cluster"),
        ({"blanket": "clustered", "cluster": 0.5, "flood": 0.5}, "flood"),
        ({"blanket": "clustered", "cluster": 0.5, "flood_cluster": 0.5}, "flood_cluster"),
        ({"blanket": "signed", "cluster": 0.995}, "p"),
        ({"blanket": "signed", "flood": 1.0}, "flood"),
    ],
    ids=str,
)
def test_what_is_outside_is_refused_by_its_name(changes, name):
    with pytest.raises(ParameterError) as refusal:
        announced(**changes)
    assert refusal.value.name == name


def test_the_law_of_every_blanket_and_its_words():
    signed = {"blanket": "signed", "cluster": 0.3, "flood_cluster": 0.5, "flood": 0.25}
    expected = [
        ({}, POISSON, 5, 1),
        ({"blanket": "binomial"}, None, 5, 1),
        ({"blanket": "clustered", "cluster": 0.5}, Clustered(0.5), 5, 1),
        (signed, Signed(0.3, 0.5, 0.25), 10, 1),
        ({**signed, "domain_size": 128}, Signed(0.3, 0.5, 0.25), 256, 2),
    ]
    for changes, law, words, size in expected:
        found = announced(**changes)
        assert (found.law, found.words, found.wire.dtype.itemsize) == (law, words, size)
        assert found.dummies.per_user == 1.5
        assert announced(**changes, blanket_per_user=0.0).dummies is None


def test_the_most_that_a_client_sends_and_draws():
    """Two items of three copies each, and two slots, or a cap of seven; 1.5 dummies make two draws."""
    assert announced(blanket="binomial").most_messages == 2 * 3 + 2
    assert announced(blanket_cap=7).most_messages == 2 * 3 + 7
    assert announced().most_messages == math.inf
    assert announced(blanket_per_user=0.0).most_messages == 6
    assert announced(copies=(0.5, 1.0), blanket_per_user=0.0).most_messages == 2
    assert announced(copies=(0.0,), blanket_per_user=0.0).most_messages == 0
    assert announced().most_draws == 2 * 3 + 2
    assert announced(copies=(0.0,)).most_draws == 2 + 2
