"""Users with sets of any size: counts, cuts and rows, against loops."""

from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pytest

from segshuffle.arrays import NO_ITEM
from segshuffle.datasets.own.transactions import Transactions
from segshuffle.errors import DataError, ParameterError

SETS = [["b", "a"], [], ["c"], ["a", "b", "c", "d"], ["d", "a"]]


@pytest.fixture
def users():
    return Transactions.from_sets(SETS)


def held(users):
    return [[users.name(code) for code in row if code != NO_ITEM] for row in users.rows().tolist()]


def test_what_everybody_holds(users):
    assert held(users) == [sorted(items) for items in SETS]
    assert (users.n_users, users.domain_size, users.largest_set) == (5, 4, 4)
    assert users.sizes.tolist() == [2, 0, 1, 4, 2]
    assert users.item_counts.tolist() == [sum(name in items for items in SETS) for name in "abcd"]
    assert users.frequencies.tolist() == [0.6, 0.4, 0.4, 0.4]
    levels = np.array([0, 1, 1, 0, 1])
    assert users.level_item_counts(levels, 3).tolist() == [[2, 2, 1, 1], [1, 0, 1, 1], [0, 0, 0, 0]]


@pytest.mark.quick(1)
@pytest.mark.parametrize("copies", [1, 40], ids=["few users", "many users"])
def test_cutting_keeps_a_random_subset(copies):
    """Of four items two are kept, of two one: each choice equally often, within 5 standard deviations."""
    users, rng, runs = Transactions.from_sets(SETS * copies), np.random.default_rng(5), 3000 // copies
    pairs, ones = Counter(), Counter()
    for _ in range(runs):
        cut, cut_to_one = users.cut(2, rng), users.cut(1, rng)
        assert cut.sizes.tolist() == [2, 0, 1, 2, 2] * copies
        for four, two in zip(range(3, 5 * copies, 5), range(0, 5 * copies, 5), strict=True):
            pairs[tuple(cut.codes[cut.offsets[four] : cut.offsets[four + 1]])] += 1
            ones[cut_to_one.codes[cut_to_one.offsets[two]]] += 1
    for kept, choices in ((pairs, 6), (ones, 2)):
        assert len(kept) == choices
        spread = np.sqrt(runs * copies * (1 / choices) * (1 - 1 / choices))
        assert max(abs(number - runs * copies / choices) for number in kept.values()) < 5 * spread
    assert users.cut(4, rng) is users
    assert all(set(few) <= set(many) for few, many in zip(held(cut), SETS * copies, strict=True))
    with pytest.raises(ParameterError, match="set_size"):
        users.cut(0, rng)


def test_some_of_the_users(users):
    assert held(users.take(np.array([3, 0, 0]))) == [list("abcd"), ["a", "b"], ["a", "b"]]
    assert held(users.take(np.array([True, True, False, False, True]))) == [["a", "b"], [], ["a", "d"]]


def test_a_larger_collection_is_drawn_with_replacement(users):
    """Each of 20,000 is every user with the same probability; false alarm below 1e-5."""
    drawn = users.resampled(20_000, np.random.default_rng(3))
    found = Counter(map(tuple, held(drawn)))
    for user, number in Counter(map(tuple, held(users))).items():
        share = number / users.n_users
        assert abs(found[user] - 20_000 * share) < 5 * np.sqrt(20_000 * share * (1 - share))
    with pytest.raises(ParameterError, match="n_users"):
        users.resampled(0, np.random.default_rng(3))


def test_what_is_refused():
    with pytest.raises(DataError, match=r"user 0.*'a' is held twice"):
        Transactions.from_sets([["a", "a"]])
    with pytest.raises(DataError, match=r"user 1.*'x' is held twice, or is not in items"):
        Transactions.from_sets([["a"], ["x"]], items=["a", "b"])
    for sets, items in ((3, None), (["milk"], None), ([["a"]], "ab"), ([["a"]], 3)):
        with pytest.raises(DataError, match="users must be lists"):
            Transactions.from_sets(sets, items)
    with pytest.raises(DataError, match="users are given as a table"):  # its columns are no users
        Transactions.from_sets(pl.DataFrame({"user": [1, 2], "item": ["a", "b"]}))
    with pytest.raises(ParameterError, match=r"offsets = \[0, 1\] is not allowed: it must be an array"):
        Transactions([0, 1], np.array([0]), 2)
    for codes in ([0, 2], [-1, 0], [0]):
        with pytest.raises(ParameterError, match=r"codes = .* 2 integers in \[0, 2\)"):
            Transactions(np.array([0, 1, 2]), np.array(codes), 2)


@pytest.mark.parametrize("missing", [None, float("nan"), np.nan, pd.NA, pd.NaT, "", " "])
def test_what_is_missing_is_no_item_in_sets_as_in_files(missing):
    users = Transactions.from_sets([["a", missing], [missing], [" b ", "a"]])
    assert (users.names, held(users)) == (["a", "b"], [["a"], [], ["a", "b"]])
    with pytest.raises(DataError, match=r"entry 1 \(from 0\) of the list of items has no name"):
        Transactions.from_sets([["a"]], ["a", missing])


def test_a_name_is_the_same_however_it_is_written():
    """A number is called as its digits, and accents are composed."""
    users = Transactions.from_sets([[1], ["1"], [1.0], ["cafe\u0301"], ["caf\u00e9 "]])
    assert (users.names, users.item_counts.tolist()) == (["1", "caf\u00e9"], [3, 2])
    with pytest.raises(DataError, match="'1' is held twice"):
        Transactions.from_sets([[1, "1"]])


def test_a_text_that_says_missing_is_an_item_only_if_a_list_has_it():
    with pytest.raises(DataError, match="'NaN' looks like a missing value"):
        Transactions.from_sets([["a", "NaN"]])
    assert Transactions.from_sets([["a", "NaN"]], ["a", "NaN"]).item_counts.tolist() == [1, 1]
