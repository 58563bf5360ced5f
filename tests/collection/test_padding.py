"""Padding and truncation, by enumeration of what every user may send."""

import math
from itertools import combinations, product

import numpy as np
import pytest
from given_plans import given_plan

from segshuffle.collection.padding import Holders, error_of_sets, guessed_holders, zipf_shares
from segshuffle.plans.plan import Assumptions, Problem
from segshuffle.protocols.proven import ProvenSegmented

HELD = [(0, 1, 2), (1,), (), (0, 2)]
D = 4


class Given(ProvenSegmented):
    """A method whose plan is given."""

    def plan(self, problem):
        return given_plan(problem, (0.5, 1.25), 0.5)


def matrix():
    found = np.zeros((len(HELD), D), dtype=bool)
    for user, held in enumerate(HELD):
        found[user, list(held)] = True
    return found


def counted():
    """Return the users by the number of their items, and who holds each item."""
    sizes = matrix().sum(axis=1)
    users = np.bincount(sizes, minlength=D + 1)
    return users, np.stack([matrix()[sizes == size].sum(axis=0) for size in range(D + 1)])


def sendings(s, sets):
    """Return the counts of items of every choice of all users, with the probability of the choice."""
    each = []
    for held in HELD:
        if len(held) >= s:
            each.append(list(combinations(held, s)))
        elif sets == "at-most":
            each.append([held])
        else:
            free = [item for item in range(D) if item not in held]
            each.append([held + more for more in combinations(free, s - len(held))])
    # all choices of all users are equally likely
    weight = 1 / math.prod(map(len, each))
    return [(weight, np.bincount([item for sent in choice for item in sent], minlength=D)) for choice in product(*each)]


@pytest.mark.parametrize("sets", ["exactly", "at-most"])
@pytest.mark.parametrize("s", [1, 2, 3])
def test_what_is_sent_and_its_error_by_enumeration(s, sets):
    users, holders = counted()
    found = sendings(s, sets)
    truth, n = matrix().mean(axis=0), len(HELD)
    expected = sum(weight * counts for weight, counts in found) / n
    problem = Problem(D, s, (0.5, 1.0), (1, 3), 0.1, Assumptions(sets=sets))
    plan, squared_bias, error = error_of_sets(Given(), problem, Holders(np.arange(D + 1), users, holders))
    # estimates have the sent shares as their means; those miss the true ones
    mse = sum(
        weight * (Given().expected_mse(plan, counts) + ((counts / n - truth) ** 2).sum()) for weight, counts in found
    )
    assert error == pytest.approx(mse, rel=1e-12)
    assert squared_bias == pytest.approx(((expected - truth) ** 2).sum(), rel=1e-12, abs=1e-16)
    assert plan == Given().plan(problem)


@pytest.mark.parametrize(("size", "d", "zipf"), [(1, 5, 0.0), (3, 5, 1.0), (4, 5, 2.5), (1, 2, 10.0)])
def test_items_are_as_frequent_as_their_exponent_says(size, d, zipf):
    """-ln(1 - share) falls as j^-zipf, and `size` items are held."""
    shares = zipf_shares(size, d, zipf)
    assert shares.sum() == pytest.approx(size, rel=1e-10)
    rates = -np.log1p(-shares[shares < 1 - 1e-9])
    rank = np.arange(1, d + 1)[shares < 1 - 1e-9]
    np.testing.assert_allclose(rates * rank**zipf, (rates * rank**zipf)[0], rtol=1e-6)
    assert zipf_shares(d, d, zipf).tolist() == [1.0] * d


SHARES = {0: 0.1, 1: 0.5, 2: 0.0, 3: 0.3, 6: 0.1}


@pytest.mark.parametrize("zipf", [0.0, 1.0, 3.0])
def test_everybody_holds_as_many_as_guessed(zipf):
    sizes, users, holders = guessed_holders(SHARES, 7, zipf)
    assert dict(zip(sizes.tolist(), users.tolist(), strict=True)) == SHARES
    for size, share, holding in zip(sizes, users, holders, strict=True):
        # as many items as the size says, no item by more users than there are, or than hold a lower number
        assert holding.sum() == pytest.approx(size * share, rel=1e-9)
        assert (holding <= share + 1e-15).all()
        assert (np.diff(holding) <= 1e-15).all()
    assert sizes.tolist() == [0, 1, 2, 3, 6]
    if zipf == 0.0:
        np.testing.assert_allclose(holders[3], 0.3 * 3 / 7, rtol=1e-9)
    else:
        assert holders[1, 0] / holders[1, 6] > 1.5**zipf
