"""What every accountant of one message promises of its numbers."""

from dataclasses import replace
from itertools import pairwise

import pytest

from segshuffle.accounting.single_message.accountants import ACCOUNTANTS
from segshuffle.accounting.single_message.decomposition import BlanketBound, DatasetsBound
from segshuffle.accounting.single_message.mechanisms import mechanism
from segshuffle.accounting.single_message.randomizers.laplace import Laplace


@pytest.mark.parametrize("n_users", [2, 40, pytest.param(200_000, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("asked", [("krr", 3), ("krr", 2), ("blh", None), ("laplace", None)], ids=str)
def test_every_delta_is_a_probability_and_falls_with_epsilon_and_with_users(asked, n_users):
    """Epsilon goes from 0 to beyond the local one, where every proven upper bound is 0."""
    name, size = asked
    made = mechanism(name, local_epsilon=1.5, **({"domain_size": size} if size else {}))
    if name == "laplace":  # a tenth of the classes: coarser, and as valid
        made = replace(made, randomizer=Laplace(local_epsilon=1.5, cells=40))
    for each in ACCOUNTANTS.values():
        if each.delta is None or not each.applies(made):
            continue
        found = [each.delta_of(made, n_users, epsilon) for epsilon in (0.0, 0.02, 0.5, 1.499, 1.5, 1.6)]
        assert all(0.0 <= delta <= 1.0 for delta in found), each.name
        # each is within a relative 1e-4 of what it bounds
        assert all(after <= before * (1 + 1e-4) for before, after in pairwise(found)), each.name
        if n_users < 200_000:
            assert each.delta_of(made, 4 * n_users, 0.02) <= found[1] * (1 + 1e-4), each.name
        if each.kind_for(made) == "upper":
            assert all(after <= before for before, after in pairwise(found)), each.name
            assert found[-2] == found[-1] == 0.0, each.name


@pytest.mark.parametrize(("name", "bound", "end"), [("blanket", BlanketBound, 1), ("blanket-lower", DatasetsBound, 0)])
def test_a_delta_is_the_safe_end_of_its_interval(name, bound, end):
    made = mechanism("krr", local_epsilon=2.0, domain_size=4)
    interval = bound(randomizer=made.randomizer, n_users=1000).delta(epsilon=0.3)
    assert interval.lower < interval.upper
    assert ACCOUNTANTS[name].delta_of(made, 1000, 0.3) == interval[end]
