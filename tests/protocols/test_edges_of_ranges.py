"""Every range of a protocol's parameters ends where its message says: the end is taken, the next value refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from segshuffle.accounting.collections.blanket_cap import cap_overflow
from segshuffle.blankets.binomial import BINOMIAL
from segshuffle.blankets.clustered import Clustered
from segshuffle.blankets.poisson import POISSON
from segshuffle.errors import ParameterError
from segshuffle.protocols import padding
from segshuffle.protocols.assumptions import Assumptions
from segshuffle.protocols.base import Problem
from segshuffle.protocols.correlated_noise import CorrelatedNoise
from segshuffle.protocols.fake_users import FakeUsers
from segshuffle.protocols.messages import Demand, Scheme, Shuffler
from segshuffle.protocols.messages.budget import left_for_items
from segshuffle.protocols.messages.level_counts import LevelPrivacy, noisy_level_moments
from segshuffle.protocols.messages.shuffler import WireFormat
from segshuffle.protocols.projection import project
from segshuffle.protocols.proven import ProvenSegmented
from segshuffle.protocols.subset_exponential import SubsetExponential

PROBLEM: dict[str, Any] = {
    "domain_size": 8, "set_size": 2, "levels": (0.5, 1.0), "level_counts": (3, 4), "delta": 1e-3
}  # fmt: skip
ANNOUNCED: dict[str, Any] = {
    "domain_size": 8, "set_size": 2, "n_users": 7, "copies": (0.5, 1.0), "blanket_per_user": 1.0
}  # fmt: skip
TINY, ABOVE_ONE, BELOW_ONE = 5e-324, math.nextafter(1.0, 2.0), math.nextafter(1.0, 0.0)


def problem(**changes):
    return Problem(**(PROBLEM | changes))


def announced(**changes):
    return Scheme(**(ANNOUNCED | changes))


def shuffler(**changes):
    Shuffler(WireFormat(8), np.random.default_rng(1), **changes).close()


#: What is called with a value, what an error names, what it says is allowed, values that are taken, and others.
RANGES = {
    "domain": (lambda x: problem(domain_size=x), "domain_size", "in [2, 10000000]", (3, 10**7), (1, 10**7 + 1)),
    "set size": (lambda x: problem(set_size=x), "set_size", "", (1, 8), (0, 9)),
    "delta": (lambda x: problem(delta=x), "delta", "in (0, 1)", (1e-300, BELOW_ONE), (0.0, 1.0)),
    "least level": (lambda x: problem(levels=(x, 1.0)), "epsilon", "", (1e-9, 0.5), (0.0, -1.0)),
    "no users at a level": (lambda x: problem(level_counts=(x, 4)), "level_counts", "all >= 0", (0, 1), (-1,)),
    "no users": (lambda x: problem(level_counts=(x, 0)), "n_users", "", (1,), (0,)),
    "levels": (lambda x: problem(levels=(x, 1.0)), "levels", "increasing", (BELOW_ONE,), (1.0, ABOVE_ONE)),
    "number of levels": (
        lambda x: problem(levels=tuple(range(1, x + 1)), level_counts=(5, 5)),
        "levels", "as many as level_counts (2), at least 1", (2,), (0, 1, 3),
    ),
    "deltas by level": (
        lambda x: problem(level_deltas=(1e-3, x)), "level_deltas", "the least of them delta = 0.001",
        (1e-3, 1e-2), (9e-4,),
    ),
    "number of deltas": (
        lambda x: problem(level_deltas=(1e-3,) * x), "level_deltas", "one for each of 2 levels", (0, 2), (1, 3)
    ),
    "sets": (lambda x: Assumptions(sets=x), "sets", "", ("exactly", "at-most"), ("some",)),
    "honest": (
        lambda x: Assumptions(honest_fraction=x), "honest_fraction", "in (0, 1]",
        (TINY, 1.0), (0.0, ABOVE_ONE, math.nan),
    ),
    "rounds": (lambda x: Assumptions(rounds=x), "rounds", "in [1, 10000]", (1, 10_000), (0, 10_001, 1.5, True)),
    "blanket": (
        lambda x: ProvenSegmented(blanket_per_user=x).plan(problem()), "blanket_per_user", "",
        (1.0,), (-1.0, math.nan, 1e-7),
    ),
    "local epsilon": (
        lambda x: SubsetExponential(local_epsilon=x), "local_epsilon", "in [1e-12, 50]",
        (1e-12, 50.0), (-1.0, 0.0, 1e-13, 50.1, math.inf, math.nan),
    ),
    "copies": (
        lambda x: ProvenSegmented(copies_max=x), "copies_max", "in [1e-120, 64]",
        (1e-120, 64.0), (math.nextafter(1e-120, 0.0), math.nextafter(64.0, 65.0), math.nan),
    ),
    "messages": (
        lambda x: ProvenSegmented(max_messages=x), "max_messages", "positive and finite",
        (TINY, 1e308), (0.0, math.inf),
    ),
    "messages of a search": (
        lambda x: ProvenSegmented(target_error=x), "target_error", "positive and finite",
        (TINY, 1e308), (0.0, math.inf),
    ),
    "flood": (lambda x: CorrelatedNoise(flood_share=x), "flood_share", "in (0, 1)", (TINY, BELOW_ONE), (0.0, 1.0)),
    "fakes": (lambda x: FakeUsers(fakes_per_user=x), "fakes_per_user", "in [1, 1000000]", (1, 10**6), (0, 10**6 + 1)),
    "honest that a client counts on": (
        lambda x: Demand(epsilon=1.0, delta=1e-3, honest_users=x), "honest_users", "an integer >= 1", (1, 10**12), (0,)
    ),
    "announced domain": (lambda x: announced(domain_size=x), "domain_size", "in [1, inf]", (2, 10**12), (0, True, 2.0)),
    "announced users": (lambda x: announced(n_users=x), "n_users", "in [1, inf]", (1, 10**12), (0, True, 1.0)),
    "announced set size": (lambda x: announced(set_size=x), "set_size", "in [1, 8]", (1, 8), (0, 9, 2.0)),
    "announced copies": (
        lambda x: announced(copies=x), "copies", "",
        ((0.0,), (1e308, 1.0)), ((), (-TINY, 1.0), (1.0, math.inf), (0.5, math.nan)),
    ),
    "announced blanket": (
        lambda x: announced(blanket_per_user=x), "blanket_per_user", "in [0, 1e+09]",
        (0.0, 1e9), (-TINY, math.nextafter(1e9, 2e9), math.nan),
    ),
    "announced cap": (
        lambda x: announced(blanket_per_user=1.5, blanket_cap=x), "blanket_cap", "at least m = 1.5",
        (2, 2.0, None), (1, 2.5),
    ),
    "capped law": (
        lambda x: announced(law=x, blanket_cap=9), "blanket_cap", "that can be capped",
        (POISSON,), (BINOMIAL, Clustered(0.5)),
    ),
    "cap": (
        lambda x: cap_overflow(blanket_per_user=1.0, cap=x, honest_users=10, epsilon=1.0, delta=0.1), "blanket_cap", "",
        (0, 9), (-1, 1.5, True),
    ),
    "buckets": (lambda x: shuffler(buckets=x), "buckets", "in [1, 65536]", (1, 2**16), (0, 2**16 + 1)),
    "messages of a sender": (lambda x: shuffler(most_messages=x), "most_messages", "an integer >= 1", (1, None), (0,)),
    "words": (WireFormat, "domain_size", "in [1, 2^32)", (1, 2**32 - 1), (0, 2**32)),
    "level epsilon": (
        lambda x: LevelPrivacy(x, 1e-3), "level_epsilon", "in (0, 100]",
        (TINY, 100.0), (0.0, math.nextafter(100.0, 101.0), math.nan),
    ),
    "level delta": (lambda x: LevelPrivacy(1.0, x), "level_delta", "in (0, 1)", (TINY, BELOW_ONE), (0.0, 1.0)),
    "budget": (
        lambda x: left_for_items(x, -1.0), "max_messages", "positive and finite", (TINY, 1e308), (0.0, math.inf)
    ),
    "weight": (
        lambda x: noisy_level_moments([1.0], [1.0], weight=x, weight_variance=0.0), "weight", "positive",
        (1e-9, 1.0), (0.0, -1.0, math.nan),
    ),
    "projection": (
        lambda x: project(np.zeros((1, 3)), set_size=x), "set_size", "between 0 and domain_size = 3", (0, 3), (-1, 4)
    ),
    "guessed domain": (
        lambda x: padding.guessed_holders({1: 1.0}, x, 1.0), "domain_size", "in [2, 4000]", (2, 4000), (1, 4001)
    ),
    "guessed exponent": (
        lambda x: padding.guessed_holders({1: 1.0}, 9, x), "zipf", "in [0, 10]",
        (0.0, 10.0), (-TINY, math.nextafter(10.0, 11.0)),
    ),
    "exponent": (
        lambda x: padding.zipf_shares(2, 9, x), "zipf", "in [0, 10]", (0.0, 10.0), (-TINY, math.nextafter(10.0, 11.0))
    ),
    "guessed size": (
        lambda x: padding.guessed_holders({1: 0.5, x: 0.5}, 9, 1.0), "guess", "sizes in 0..8", (0, 2, 8), (-1, 9)
    ),
    "guessed share": (
        lambda x: padding.guessed_holders({1: 1.0 - x, 2: x}, 9, 1.0), "guess", "shares >= 0", (0.0, 1.0), (-1e-12,)
    ),
    "sum of guessed shares": (
        lambda x: padding.guessed_holders({1: 0.5, 2: 0.5 + x}, 9, 1.0), "guess", "add up to 1",
        (0.0, 9.9e-10, -9.9e-10), (1.1e-9, -1.1e-9),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", RANGES)
def test_a_range_ends_where_it_says(case):
    call, name, allowed, inside, outside = RANGES[case]
    for value in inside:
        call(value)
    for value in outside:
        with pytest.raises(ParameterError) as refused:
            call(value)
        assert str(refused.value).startswith(f"{name} = "), value
        assert allowed in str(refused.value), value
