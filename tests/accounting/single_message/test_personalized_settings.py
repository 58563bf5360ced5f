"""Settings of the personalised experiments and the numbers for its figure and table."""

import math

import numpy as np
import pytest
from oracles import gaussian_delta

from segshuffle.accounting.single_message.accountants.personalized import PersonalizedUsers
from segshuffle.accounting.single_message.amplification import compare_budgets
from segshuffle.accounting.single_message.personalized_settings import LOCAL_DELTA, SETTINGS, bounds_of


def users_of(name, n_users, local_delta):
    """Return the users of a setting."""
    return PersonalizedUsers(local_epsilons=SETTINGS[name].budgets(n_users), local_delta=local_delta)


@pytest.mark.quick(0)
@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
@pytest.mark.parametrize("name", SETTINGS)
def test_bounds_of_the_figure(name, mechanism):
    fail = 0.0 if mechanism == "laplace" else LOCAL_DELTA
    few, many = (
        {each: (kind, bound) for each, kind, bound in bounds_of(users_of(name, n, fail))} for n in (1000, 4000)
    )
    assert list(few) == list(many)
    kinds = {each: kind for each, (kind, _) in few.items()}
    assert kinds.pop("chen-cao-ge") == "asymptotic"
    assert set(kinds.values()) == {"published"}
    assert len(few) == (8 if mechanism == "laplace" else 5)
    epsilons = {each: bound.epsilon(delta=1e-5) for each, (_, bound) in few.items()}
    assert all(0 < many[each][1].epsilon(delta=1e-5) <= epsilons[each] <= SETTINGS[name].high for each in few)
    # the paper's ordering: its own bound is the smallest of the claimed epsilons
    ours = epsilons.pop("personalized")
    del epsilons["personalized-reduction"]
    assert ours < min(epsilons.values())


def test_nothing_that_two_datasets_refute_is_called_a_guarantee():
    """A user of budget 1 holds 1 or 0, all others have next to no budget: the event is that a message is in [1, 20]."""
    small, n_users, epsilon = 1e-6, 1000, 0.3
    held = (1 - math.exp(-19)) / 2  # Laplace noise of scale 1
    density = small / 2  # the largest of the others
    absent = (math.exp(-1) - math.exp(-20)) / 2 + (n_users - 1) * 19 * density
    least_delta = held - math.exp(epsilon) * absent
    users = PersonalizedUsers(local_epsilons=np.array([1.0] + [small] * (n_users - 1)))
    refuted = {name: kind for name, kind, bound in bounds_of(users) if bound.delta(epsilon=epsilon).upper < least_delta}
    assert {"standard-clone", "stronger-clone"} <= set(refuted)
    assert not {"upper", "exact"} & set(refuted.values())


def test_a_gaussian_guarantee_ends_at_the_largest_budget():
    """Delta is 0 from the largest budget on; below it, delta is that of a Gaussian mechanism."""
    budgets = [(0.5, 400), (1.25, 100)]

    def delta(epsilon):
        entries, _ = compare_budgets(budgets=budgets, epsilon=epsilon)
        return next(entry.value for entry in entries if entry.accountant == "chen-cao-ge")

    assert delta(1.25) == delta(2.0) == 0.0
    for epsilon in (0.3, 1.2):
        # mu = sqrt(2 / (the sum of 1/(1 + e^epsilon_i) over all but the largest term))
        mu = math.sqrt(2 / (399 / (1 + math.exp(0.5)) + 100 / (1 + math.exp(1.25))))
        assert delta(epsilon) == pytest.approx(float(gaussian_delta(mu, epsilon)), rel=1e-8)
