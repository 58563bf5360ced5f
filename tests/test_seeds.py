"""Random streams by role: equal roles give equal streams everywhere, different roles unrelated ones."""

import hashlib
import json

import numpy as np
import pytest

from segshuffle.seeds import stream

ROLE = ("protocol", "msnbc-n5000-s4-S1", "segmented", "2.0", 50)


def first(root, *role):
    return stream(root, *role).integers(2**63, size=4).tolist()


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (("ab", "c"), ("a", "bc")),
        (("a", 1), ("a", "1")),
        (("a", 1), ("a", 1.0)),
        (("a", "b"), ("b", "a")),
        (("a",), ("a", "")),
    ],
)
def test_roles_are_told_apart_by_part_type_and_order(one, two):
    assert first(0, *one) != first(0, *two)


def test_the_recipe_is_the_documented_one():
    """PCG64 seeded by the SHA-256 of the JSON list of root and role: anybody can derive it again."""
    digest = hashlib.sha256(json.dumps([7, *ROLE]).encode()).hexdigest()
    expected = np.random.Generator(np.random.PCG64(int(digest, 16))).integers(2**63, size=4).tolist()
    assert first(7, *ROLE) == expected
