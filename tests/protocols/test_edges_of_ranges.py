"""Every range of a protocol's parameters ends where its message says: the end is taken, the next value refused."""

import math
from functools import partial

import numpy as np
import pytest

from segshuffle.blankets.binomial import BINOMIAL
from segshuffle.collection.messages import Demand
from segshuffle.collection.padding import guessed_holders
from segshuffle.errors import ParameterError
from segshuffle.plans.item_variance import ItemVariance
from segshuffle.plans.level_counts import LevelPrivacy, left_for_items
from segshuffle.plans.plan import PLAIN, Assumptions, Problem
from segshuffle.plans.scheme import Scheme
from segshuffle.protocols.correlated_noise import CorrelatedNoise
from segshuffle.protocols.fake_users import FakeUsers
from segshuffle.protocols.proven import ProvenSegmented
from segshuffle.protocols.subset_exponential import SubsetExponential
from segshuffle.reproduction.studies.panels.postprocessing import project

TINY, ABOVE_ONE, BELOW_ONE = 5e-324, math.nextafter(1.0, 2.0), math.nextafter(1.0, 0.0)

problem = partial(Problem, domain_size=8, set_size=2, levels=(0.5, 1.0), level_counts=(3, 4), delta=1e-3)
plain = problem(assumptions=PLAIN)
announced = partial(Scheme, domain_size=8, set_size=2, n_users=7, copies=(0.5, 1.0), blanket_per_user=1.0)
privacy = partial(LevelPrivacy, epsilon=1.0, delta=1e-3)
intervals = partial(ItemVariance(1.0, 1.0, 1.0).interval, 0.5)
holders = partial(guessed_holders, {1: 1.0}, domain_size=9, zipf=1.0)


#: What is called, the name of its argument and of the error, what is allowed, values that are taken, and others.
RANGES = [
    (problem, "domain_size", "in [2, 10000000]", (3, 10**7), (1, 10**7 + 1)),
    (problem, "set_size", "", (1, 8), (0, 9)),
    (problem, "levels", "as many as level_counts (2), at least 1", ((1, 2),), ((), (1,), (1, 2, 3))),
    (problem, "level_counts", "an integer >= 0", ((0, 4), (1, 4)), ((-1, 4),)),
    (problem, "level_deltas", "the least of them delta = 0.001", ((1e-3, 1e-3), (1e-3, 1e-2)), ((1e-3, 9e-4),)),
    (problem, "level_deltas", "one for each of 2 levels", ((), (1e-3,) * 2), ((1e-3,), (1e-3,) * 3)),
    (Assumptions, "sets", "", ("exactly", "at-most"), ("some",)),
    (Assumptions, "honest_fraction", "in (0, 1]", (TINY, 1.0), (0.0, ABOVE_ONE, math.nan)),
    (
        partial(ProvenSegmented, laws=("clustered",)), "blanket_per_user", "left out for clustered dummies",
        (None,), (1.0,),
    ),
    (
        ProvenSegmented, "copies_max", "in [1e-120, 64]",
        (1e-120, 64.0), (math.nextafter(1e-120, 0.0), math.nextafter(64.0, 65.0), math.nan),
    ),
    (ProvenSegmented, "target_error", "positive and finite", (TINY, 1e308), (0.0, math.inf)),
    (
        SubsetExponential, "local_epsilon", "in [1e-12, 50]",
        (1e-12, 50.0), (-1.0, 0.0, 1e-13, 50.1, math.inf, math.nan),
    ),
    (
        lambda subset_size: SubsetExponential(1.0, subset_size=subset_size).plan(plain), "subset_size", "",
        (1, 6), (0, 7),
    ),
    (intervals, "confidence", "in (0, 1)", (1e-9, BELOW_ONE), (0.0, 1.0, math.nan)),
    (CorrelatedNoise, "flood_share", "in (0, 1)", (TINY, BELOW_ONE), (0.0, 1.0)),
    (FakeUsers, "fakes_per_user", "an integer in [1, 1000000]", (1, 10**6), (0, 10**6 + 1)),
    (partial(Demand, 1.0, 1e-3), "honest_users", "an integer >= 1", (1, 10**12), (0,)),
    (lambda epsilon: Demand(1.0, 1e-3, 9, level_epsilons=(epsilon,)), "epsilon", "in (0, 100]", (1.0,), (0.0,)),
    (announced, "domain_size", "an integer >= 1", (2, 10**12), (0, True, 2.0)),
    (announced, "set_size", "in [1, 8]", (1, 8), (0, 9, 2.0)),
    (
        announced, "copies", "",
        ((0.0,), (1e308, 1.0)), ((), (-TINY, 1.0), (1.0, math.inf), (0.5, math.nan)),
    ),
    (
        announced, "blanket_per_user", "in [0, 1e+09]",
        (0.0, 1e9), (-TINY, math.nextafter(1e9, 2e9), math.nan),
    ),
    (partial(announced, blanket_per_user=1.5), "blanket_cap", "at least m = 1.5", (2, 2.0, None), (1, 2.5)),
    (partial(announced, law=BINOMIAL), "blanket_cap", "that can be capped", (None,), (9,)),
    (
        lambda level_epsilon: privacy(epsilon=level_epsilon), "level_epsilon", "in (0, 100]",
        (TINY, 100.0), (0.0, math.nextafter(100.0, 101.0), math.nan),
    ),
    (partial(left_for_items, spent=-1.0), "max_messages", "positive and finite", (TINY, 1e308), (0.0, math.inf)),
    (partial(project, np.zeros((1, 3))), "set_size", "an integer in [0, 3]", (0, 3), (-1, 4)),
    (holders, "domain_size", "an integer", (2, 5000), (1, 10**7 + 1)),
    (holders, "zipf", "in [0, 10]", (0.0, 10.0), (-TINY, math.nextafter(10.0, 11.0), math.nan)),
    (lambda guess: guessed_holders({1: 0.5, guess: 0.5}, 9, 1.0), "guess", "sizes in 0..8", (0, 2, 8), (-1, 9)),
    (lambda guess: guessed_holders({1: 1.0 - guess, 2: guess}, 9, 1.0), "guess", "shares >= 0", (0.0, 1.0), (-1e-12,)),
    (
        lambda guess: guessed_holders({1: 0.5, 2: 0.5 + guess}, 9, 1.0), "guess", "add up to 1",
        (0.0, 9.9e-10, -9.9e-10), (1.1e-9, -1.1e-9),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("call", "name", "allowed", "inside", "outside"), RANGES)
def test_a_range_ends_where_it_says(call, name, allowed, inside, outside):
    for value in inside:
        call(**{name: value})
    for value in outside:
        with pytest.raises(ParameterError) as refused:
            call(**{name: value})
        assert str(refused.value).startswith(f"{name} = "), value
        assert allowed in str(refused.value), value
