"""The inverse question, put back to the accountant: the local epsilon meets the target, and nothing better does."""

import math

import pytest

from segshuffle.accounting.single_message.accountants import ACCOUNTANTS
from segshuffle.accounting.single_message.amplification import ask, local_epsilon_for
from segshuffle.accounting.single_message.mechanisms import mechanism


def krr(local_epsilon):
    return mechanism("krr", local_epsilon=local_epsilon, domain_size=4)


@pytest.mark.parametrize("name", ["blanket", "stronger-clone", "tails-specific", "blanket-lower"])
def test_the_answer_meets_the_target_and_a_little_more_does_not(name):
    accountant = ACCOUNTANTS[name]
    found = local_epsilon_for(accountant, krr, n_users=1000, epsilon=0.2, delta=1e-6)
    step = 1e-4 * found
    # a lower bound answers with the least local epsilon that cannot meet it
    inside, outside = (found - step, found) if accountant.kind == "lower" else (found, found + step)

    def meets(local_epsilon):
        if accountant.delta is None:
            return ask(accountant, krr(local_epsilon), 1000, delta=1e-6) <= 0.2
        return ask(accountant, krr(local_epsilon), 1000, epsilon=0.2) <= 1e-6

    assert 0.2 < found < 50
    assert (meets(inside), meets(outside)) == (True, False)


def test_more_than_enough_and_never_enough():
    upper, lower = ACCOUNTANTS["blanket"], ACCOUNTANTS["blanket-lower"]
    # the local guarantee alone is enough, however few the users
    assert local_epsilon_for(upper, krr, n_users=1, epsilon=0.7, delta=1e-9) == pytest.approx(0.7, rel=1e-4)
    assert local_epsilon_for(upper, krr, n_users=10, epsilon=60.0, delta=1e-9) == 50.0
    assert local_epsilon_for(lower, krr, n_users=10, epsilon=60.0, delta=1e-9) == math.inf
    # nothing meets epsilon 0 with one user
    assert local_epsilon_for(upper, krr, n_users=1, epsilon=0.0, delta=1e-280) == 0.0
    assert local_epsilon_for(lower, krr, n_users=1, epsilon=0.0, delta=1e-280) == 1e-6


def test_where_a_theorem_says_nothing_it_promises_nothing():
    """The closed form of the clones needs many users: with ten it answers for no local epsilon above the target."""
    form = ACCOUNTANTS["standard-clone-closed-form"]
    assert local_epsilon_for(form, krr, n_users=10, epsilon=0.2, delta=1e-6) == pytest.approx(0.2, rel=1e-4)
