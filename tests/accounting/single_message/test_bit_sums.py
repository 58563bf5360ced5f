"""Sums of flipped bits: the bound against enumeration of what all others hold, and the figures of a deployment."""

import itertools
import math
import time
from functools import reduce

import numpy as np
import pytest
from oracles.clusters import excess

import segshuffle
from segshuffle.accounting.single_message.bit_sums import BitSums, rejection
from segshuffle.errors import ParameterError


def column(bits, flip):
    """Return the law of the sum of the bits, each flipped with probability `flip`."""
    return reduce(np.convolve, [[flip, 1 - flip] if bit else [1 - flip, flip] for bit in bits], np.ones(1))


def products(pairs):
    """Return the laws of independent columns together."""
    return [reduce(np.multiply.outer, laws).ravel() for laws in zip(*pairs, strict=True)]


def worst(n_users, flip, epsilon, held, other):
    """Return the largest divergence over all data of the others between two rows of bits of one user, both ways."""
    found = 0.0
    for holders in itertools.product(range(n_users), repeat=len(held)):
        pairs = []
        for count, one, two in zip(holders, held, other, strict=True):
            bits = [True] * count + [False] * (n_users - 1 - count)
            pairs.append((column([*bits, one], flip), column([*bits, two], flip)))
        p, q = products(pairs)
        found = max(found, excess(p, q, epsilon), excess(q, p, epsilon))
    return found


@pytest.mark.parametrize("set_size", [1, 2])
@pytest.mark.parametrize(("n_users", "flip"), [(1, 0.1), (2, 0.3), (3, 0.001), (4, 0.2), (6, 0.05)])
def test_no_data_of_the_others_exceeds_the_bound(n_users, flip, set_size):
    """Exchanged sets, and items taken away, in both directions; one column is met exactly."""
    local = math.log((1 - flip) / flip)
    for share in (0.0, 0.3, 0.8):
        epsilon = share * local
        one = worst(n_users, flip, epsilon, [True], [False])
        bit = BitSums(n_users=n_users, local_epsilon=local, exchanged=False).delta(epsilon=epsilon)
        assert bit.lower * (1 - 1e-9) <= one <= bit.upper <= one * (1 + 1e-8) + 1e-12
        zeros = [False] * set_size
        taken = BitSums(n_users=n_users, local_epsilon=local, set_size=set_size, exchanged=False).delta(epsilon=epsilon)
        exact = worst(n_users, flip, epsilon, [True] * set_size, zeros)
        assert taken.lower * (1 - 1e-9) <= exact <= taken.upper * (1 + 1e-12)
        if n_users <= 4 or set_size == 1:
            swapped = BitSums(n_users=n_users, local_epsilon=local, set_size=set_size).delta(epsilon=epsilon)
            exact = worst(n_users, flip, epsilon, [True] * set_size + zeros, zeros + [True] * set_size)
            assert swapped.lower * (1 - 1e-9) <= exact <= swapped.upper * (1 + 1e-12)
            assert swapped.upper <= 1.4 * exact + 1e-9


def test_the_extreme_data_are_not_always_the_worst():
    values = []
    for holders in range(3):
        bits = [True] * holders + [False] * (2 - holders)
        values.append(excess(column([*bits, True], 0.001), column([*bits, False], 0.001), 0.0))
    assert round(values[1], 6) == 0.996006
    assert values[1] > max(values[0], values[2])
    bound = BitSums(n_users=3, local_epsilon=math.log(999), exchanged=False)
    assert values[2] < values[1] <= bound.delta(epsilon=0.0).upper


@pytest.mark.quick("6.5-0.7001-0.7004")
@pytest.mark.parametrize(
    ("local", "least", "most"), [(5.0, 0.2974, 0.2975), (6.5, 0.7001, 0.7004), (7.0, 0.9504, 0.9507)]
)
def test_a_hundred_thousand_users_have_narrow_intervals_in_two_seconds(local, least, most):
    """Settings of draft-wang-ppm-differential-privacy; the lower end is a pair of datasets."""
    began = time.process_time()
    bound = BitSums(n_users=100_000, local_epsilon=local)
    assert bound.epsilon(delta=1e-9) <= most
    assert time.process_time() - began < 4.0  # twice what is promised, for slow machines
    assert bound.delta(epsilon=least).lower > 1e-9


@pytest.mark.exhaustive
def test_ten_million_users_are_answered_in_two_seconds():
    began = time.process_time()
    bound = BitSums(n_users=10**7, local_epsilon=6.5)
    assert 0.0571 < bound.epsilon(delta=1e-9) < 0.0574
    assert time.process_time() - began < 4.0
    assert bound.delta(epsilon=0.0571).lower > 1e-9


@pytest.mark.quick("6.5-0.52924")
@pytest.mark.parametrize(("local", "expected"), [(5.0, 0.21748), (6.5, 0.52924), (7.0, 0.73550)])
def test_binary_randomized_response_has_an_upper_bound_that_meets_its_lower_one(local, expected):
    krr = segshuffle.mechanism("krr", local_epsilon=local, domain_size=2)
    upper, lower = (
        segshuffle.account(krr, n_users=100_000, delta=5e-10, accountant=each) for each in ("bit-sums", "blanket-lower")
    )
    assert lower < upper < 1.0003 * lower
    assert upper == pytest.approx(expected, rel=3e-4)
    entries = segshuffle.account(krr, n_users=100_000, delta=5e-10)
    assert entries.proven[1] == upper


def test_rounds_count_as_more_columns():
    two = BitSums(n_users=50, local_epsilon=1.0, set_size=2)
    assert two.delta(epsilon=0.5) == BitSums(n_users=50, local_epsilon=1.0, rounds=2).delta(epsilon=0.5)


def test_rejected_reports_cost_what_the_lemma_says():
    """Every case of two users and three bits, reports with more than m ones left out."""
    flip, epsilon = 0.2, 0.4
    local = math.log((1 - flip) / flip)

    def sums(held, others, most):
        law = {}
        rows = list(itertools.product((0, 1), repeat=3))
        for mine, theirs in itertools.product(rows, repeat=2):
            chance = math.prod(flip if bit != (item == held) else 1 - flip for item, bit in enumerate(mine))
            chance *= math.prod(flip if bit != (item == others) else 1 - flip for item, bit in enumerate(theirs))
            kept = [row for row in (mine, theirs) if sum(row) <= most]
            total = (len(kept), *(sum(each) for each in zip(*kept, strict=True)))
            law[total] = law.get(total, 0.0) + chance
        return law

    for most in (1, 2):
        rejected = rejection(local_epsilon=local, set_size=1, domain_size=3, most_ones=most)
        honest = sum(chance for total, chance in sums(0, 1, most).items() if total[0] < 2)
        assert honest <= 2 * rejected
        bound = BitSums(n_users=2, local_epsilon=local, rejected=rejected)
        for others in range(3):
            p, q = sums(0, others, most), sums(1, others, most)
            exact = sum(max(p[key] - math.exp(epsilon) * q.get(key, 0.0), 0.0) for key in p)
            assert exact <= bound.delta(epsilon=epsilon).upper
    rare = rejection(local_epsilon=7.0, set_size=1, domain_size=1000, most_ones=20)
    costly = BitSums(n_users=100_000, local_epsilon=7.0, rejected=rare)
    found, free = costly.epsilon(delta=1e-9), BitSums(n_users=100_000, local_epsilon=7.0).epsilon(delta=1e-9)
    assert free < found < 1.01 * free
    assert costly.delta(epsilon=found).upper <= 1e-9
    assert math.isinf(BitSums(n_users=100_000, local_epsilon=7.0, rejected=1e-13).epsilon(delta=1e-9))


@pytest.mark.parametrize(
    "wrong", [{"n_users": 0}, {"n_users": 10**12}, {"local_epsilon": 31.0}, {"set_size": 0}, {"rejected": 1.5}]
)
def test_values_outside_their_ranges_are_refused(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        BitSums(**{"n_users": 10, "local_epsilon": 1.0} | wrong)
