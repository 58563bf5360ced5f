"""Baselines in closed form or with budgets of their own: Erlingsson et al., Chen, Cao and Ge, Liu et al."""

import math
from fractions import Fraction

import mpmath
import pytest

from segshuffle.accounting.single_message import accountants as b
from segshuffle.accounting.single_message.accountants.liu_2023 import echo_probabilities
from segshuffle.accounting.single_message.decomposition import lower_bound_epsilon
from segshuffle.accounting.single_message.randomizers import KaryRandomizedResponse
from segshuffle.errors import ParameterError

F = Fraction
MP = mpmath.mp.clone()
MP.dps = 60


# -- Erlingsson et al. -----------------------------------------------------------------------------------------------


def test_erlingsson_closed_form():
    """12 * 0.25 * sqrt(log(1e8)/1e6): sqrt(18.4206807439523.../1e6) = 4.2919320...e-3."""
    found = b.erlingsson_epsilon(local_epsilon=0.25, n_users=10**6, delta=1e-8)
    exact = 3 * MP.sqrt(8 * MP.log(10) / MP.mpf(10) ** 6)
    assert exact <= found <= exact * (1 + 1e-14)
    assert found == pytest.approx(0.0128757961, rel=1e-8)
    assert b.erlingsson_delta(local_epsilon=0.25, n_users=10**6, epsilon=found).upper == pytest.approx(
        1e-8, rel=1e-11, abs=0
    )


def test_erlingsson_stays_within_its_theorem():
    assert b.erlingsson_epsilon(local_epsilon=0.4, n_users=1000, delta=1e-6) == 0.4
    # exp(-n (0.1/2.4)^2) = 0.176 >= 0.01: the theorem has no such delta
    assert b.erlingsson_delta(local_epsilon=0.2, n_users=1000, epsilon=0.1).upper == 1.0
    for arguments, name in (
        ({"local_epsilon": 0.5, "n_users": 1000, "delta": 1e-6}, "local_epsilon"),
        ({"local_epsilon": 0.4, "n_users": 999, "delta": 1e-6}, "n_users"),
        ({"local_epsilon": 0.4, "n_users": 1000, "delta": 0.01}, "delta"),
    ):
        with pytest.raises(ParameterError, match=rf"^{name} = .*condition of the theorem"):
            b.erlingsson_epsilon(**arguments)


def test_erlingsson_lies_above_the_standard_clone():
    for n_users in (10**4, 10**6, 10**8):
        arguments = {"local_epsilon": 0.3, "n_users": n_users, "delta": 1e-8}
        assert b.standard_clone_epsilon(**arguments) < b.erlingsson_epsilon(**arguments)


# -- Chen, Cao, Ge ---------------------------------------------------------------------------------------------------


def test_mu_of_equal_and_of_personal_budgets():
    budgets = [0.3, 1.0, 0.7, 2.0]
    weights = [(1 - F(1, 1000)) / (1 + F(math.exp(e))) for e in budgets]
    exact = math.sqrt(2 / float(sum(weights) - max(weights)))
    assert b.personalized_mu(local_epsilons=budgets, local_deltas=1e-3) == pytest.approx(exact, rel=1e-14)
    equal = b.equal_mu(local_epsilon=0.8, n_users=50, local_delta=1e-4)
    assert equal == pytest.approx(b.personalized_mu(local_epsilons=[0.8] * 50, local_deltas=[1e-4] * 50), rel=1e-13)


@pytest.mark.parametrize(("mu", "epsilon"), [(0.05, 0.1), (0.3, 0.0), (1.0, 2.0), (0.01, 0.3)])
def test_gdp_is_converted_exactly(mu, epsilon):
    m, e = MP.mpf(mu), MP.mpf(epsilon)
    exact = MP.ncdf(-e / m + m / 2) - MP.exp(e) * MP.ncdf(-e / m - m / 2)
    found = b.gdp_delta(mu=mu, epsilon=epsilon)
    assert found.lower <= exact <= found.upper
    assert found.relative_width < 1e-8


def test_chen_cao_ge_is_no_guarantee():
    """3-RR at epsilon_0 = 8, 30,000 users who hold the third value: proven to need epsilon > 7.3 at 1e-6, claimed 1.99.

    About nine others answer with either of the victim's values: the central limit is far away.
    """
    arguments = {"n_users": 30_000, "delta": 1e-6}
    claimed = b.chen_cao_ge_epsilon(local_epsilon=8.0, **arguments)
    needed = lower_bound_epsilon(randomizer=KaryRandomizedResponse(local_epsilon=8.0, domain_size=3), **arguments)
    assert claimed == pytest.approx(1.98799, rel=1e-5)
    assert needed > 7.3


def test_chen_cao_ge_local_failure():
    assert b.chen_cao_ge_epsilon(local_epsilon=1.0, n_users=3, delta=1e-9) == 1.0
    # with a local failure above delta the local epsilon is no guarantee and no ceiling
    assert b.chen_cao_ge_epsilon(local_epsilon=1.0, n_users=30, delta=1e-9, local_delta=1e-6) > 1.0
    with pytest.raises(ParameterError, match="at least 2"):
        b.chen_cao_ge_delta(local_epsilon=1.0, n_users=1, epsilon=0.5)
    for bad in ([1.0], [1.0, -1.0], [[1.0, 2.0]]):
        with pytest.raises(ParameterError, match=r"^local_epsilons = "):
            b.personalized_mu(local_epsilons=bad)


# -- Liu et al. 2023 and approximate local privacy -------------------------------------------------------------------


def test_echo_probabilities_by_the_double_sum():
    budgets = [0.2, 1.5, 0.9, 0.9, 0.05]
    exact = []
    for one in sorted(budgets, reverse=True):
        terms = [
            one / -math.expm1(-one) * -math.expm1(-other) / other * math.exp(-max(one, other)) for other in budgets
        ]
        exact.append(math.fsum(terms) / len(budgets))
    assert echo_probabilities(local_epsilons=budgets) == pytest.approx(exact, rel=1e-13)


def test_liu_2023_with_equal_budgets_is_the_standard_clone():
    """p_i = e^{-epsilon} and the same victim: the same pair."""
    one = b.liu_2023_delta(local_epsilons=[0.8] * 400, epsilon=0.15)
    other = b.standard_clone_delta(local_epsilon=0.8, n_users=400, epsilon=0.15)
    assert one.lower <= other.upper
    assert other.lower <= one.upper
    epsilon = b.liu_2023_epsilon(local_epsilons=[0.8] * 400, delta=1e-6)
    assert epsilon == pytest.approx(b.standard_clone_epsilon(local_epsilon=0.8, n_users=400, delta=1e-6), rel=1e-3)
    # two users hide nothing at such a delta: the largest budget, less what a delta of 1e-9 buys
    assert 0.8 - 1e-8 < b.liu_2023_epsilon(local_epsilons=[0.8, 0.5], delta=1e-9) < 0.8


@pytest.mark.parametrize("clone", ["standard", "stronger"])
def test_clones_for_approximate_local_privacy(clone):
    arguments = {"clone": clone, "local_epsilon": 1.0, "local_delta": 1e-12, "n_users": 1000}
    pure_delta = b.standard_clone_delta if clone == "standard" else b.stronger_clone_delta
    pure = pure_delta(local_epsilon=1.0, n_users=1000, epsilon=0.2)
    failure = (math.exp(0.2) + 1) * (1 + math.exp(-1.0) / 2) * 1000 * 1e-12
    found = b.approximate_clone_delta(**arguments, epsilon=0.2)
    assert found.upper == pytest.approx(pure.upper + failure, rel=1e-10, abs=0)
    epsilon = b.approximate_clone_epsilon(**arguments, delta=1e-6)
    assert b.approximate_clone_delta(**arguments, epsilon=epsilon).upper <= 1e-6 * (1 + 1e-3)
    # here n delta_0 alone exceeds the target
    assert b.approximate_clone_epsilon(**(arguments | {"local_delta": 1e-9}), delta=1e-8) == 1.0
    with pytest.raises(ParameterError, match="at least local_delta"):
        b.approximate_clone_epsilon(**arguments, delta=1e-13)
