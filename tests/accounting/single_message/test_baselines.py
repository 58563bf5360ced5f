"""The baseline accountants against enumeration, 90-digit sums and the bounds that they must not cross."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
import oracles as o
import pytest
from oracles import MP

from segshuffle.accounting.single_message.accountants.blanket_tails import TailBound
from segshuffle.accounting.single_message.accountants.clones import CloneBound, standard_clone_closed_form
from segshuffle.accounting.single_message.accountants.erlingsson import erlingsson_epsilon
from segshuffle.accounting.single_message.accountants.personalized import (
    Echo,
    Gaussian,
    PersonalizedUsers,
    echo_probabilities,
    gaussian_of_equals,
    gaussian_of_users,
)
from segshuffle.accounting.single_message.decomposition import BlanketBound, DatasetsBound
from segshuffle.accounting.single_message.randomizers.subsets import KaryRandomizedResponse
from segshuffle.errors import ParameterError

F = Fraction

hoeffding, bennett = (partial(TailBound, inequality=each) for each in ("hoeffding", "bennett"))
standard, stronger = (partial(CloneBound, clone=each) for each in ("standard", "stronger"))

BY_LOCAL = {
    "standard": standard,
    "stronger": stronger,
    "hoeffding": hoeffding,
    "bennett": bennett,
    "chen-cao-ge": gaussian_of_equals,
}


def users_of(*budgets):
    return PersonalizedUsers(local_epsilons=budgets)


# -- clones ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_users", [1, 2, 9])
@pytest.mark.parametrize("gain", [F(3, 2), F(4)])
@pytest.mark.parametrize("exp_epsilon", [F(1), F(6, 5), F(7, 5)])
def test_clone_deltas_are_the_divergences_of_their_pairs(n_users, gain, exp_epsilon):
    for clone, bound in ((1 / gain, standard), (2 / (gain + 1), stronger)):
        p, q = o.count_pair(n_users - 1, clone, gain / (gain + 1), 1 / (gain + 1))
        exact = float(o.hockey_stick(p, q, exp_epsilon))
        made = bound(local_epsilon=math.log(gain), n_users=n_users)
        found = made.delta(epsilon=math.log(exp_epsilon), rtol=1e-6)
        # log and exp of e^epsilon round at 1e-16
        assert o.encloses(found, exact, 1e-14)
        assert found.relative_width <= 2e-6


@pytest.mark.parametrize("n_users", [1, 3, 50, 2000])
@pytest.mark.parametrize("local_epsilon", [0.3, 2.0])
def test_stronger_clone_is_the_blanket_bound_of_binary_randomized_response(n_users, local_epsilon):
    """So for binary randomized response the published number is a proven upper bound."""
    randomizer = KaryRandomizedResponse(local_epsilon=local_epsilon, domain_size=2)
    for share in (0.05, 0.4, 0.9):
        epsilon = share * local_epsilon / math.sqrt(n_users)
        one = stronger(local_epsilon=local_epsilon, n_users=n_users).delta(epsilon=epsilon, rtol=1e-5)
        other = BlanketBound(randomizer=randomizer, n_users=n_users, rtol=1e-5).delta(epsilon=epsilon)
        assert one.lower <= other.upper
        assert other.lower <= one.upper
        assert one.relative_width <= 1e-4
        assert other.relative_width <= 1e-4


def test_closed_form_in_ninety_digits():
    e, n, d = MP.mpf(1), MP.mpf(10) ** 6, MP.mpf("1e-8")
    spread = 8 * MP.sqrt(MP.exp(e) * MP.log(4 / d) / n) + 8 * MP.exp(e) / n
    exact = MP.log(1 + (MP.exp(e) - 1) / (MP.exp(e) + 1) * spread)
    found = standard_clone_closed_form(local_epsilon=1.0, n_users=10**6, delta=1e-8)
    assert exact <= found <= exact * (1 + 1e-13)


# -- blanket with tail inequalities ----------------------------------------------------------------------------------


def exact_tail(n_users, gamma, term):
    """Return 1/(gamma n) sum over m >= 1 of Pr[Bin(n, gamma) = m] term(m), in 90 digits."""
    terms = (MP.binomial(n_users, m) * gamma**m * (1 - gamma) ** (n_users - m) * term(m) for m in range(1, n_users + 1))
    return sum(terms, MP.mpf(0)) / (gamma * n_users)


def krr_quantities(local_epsilon, k, epsilon):
    """Return gamma, a, b, b_+, c of k-ary randomized response, from the definition of L."""
    gain, e = MP.exp(MP.mpf(epsilon)), MP.exp(MP.mpf(local_epsilon))
    gamma = k / (e + k - 1)
    values = [(gamma * (e - gain), 1), (gamma * (1 - gain * e), 1), (gamma * (1 - gain), k - 2)]
    square = sum(weight * value**2 for value, weight in values) / k
    present = [value for value, weight in values if weight]
    return gamma, gain - 1, max(present) - min(present), max(present), square


def generic_quantities(local_epsilon, _, epsilon):
    gain, e = MP.exp(MP.mpf(epsilon)), MP.exp(MP.mpf(local_epsilon))
    square = e * (gain**2 + 1) - 2 / e * gain / e**2
    return 1 / e, gain - 1, (gain + 1) * (e - 1 / e), e - gain / e, square


@pytest.mark.quick(1)
@pytest.mark.parametrize("quantities", [krr_quantities, generic_quantities])
@pytest.mark.parametrize(
    ("local_epsilon", "k", "n_users", "epsilon"),
    [(1.0, 2, 50, 0.5), (2.0, 10, 300, 0.4), (0.5, 4, 1000, 0.3), (1.0, 3, 700, 0.9), (3.0, 5, 1, 1.0)],
)
def test_tail_bounds_are_their_sums_over_the_blanket_users(quantities, local_epsilon, k, n_users, epsilon):
    gamma, a, width, largest, square = quantities(local_epsilon, k, epsilon)
    u = a * largest / square
    rate = square / largest**2 * ((1 + u) * MP.log(1 + u) - u)
    exact = {
        hoeffding: exact_tail(n_users, gamma, lambda m: width**2 / (4 * a) * MP.exp(-2 * m * a**2 / width**2)),
        bennett: exact_tail(n_users, gamma, lambda m: largest / MP.log(1 + u) * MP.exp(-m * rate)),
    }
    who = (
        {"randomizer": KaryRandomizedResponse(local_epsilon=local_epsilon, domain_size=k)}
        if quantities is krr_quantities
        else {"local_epsilon": local_epsilon}
    )
    for bound, value in exact.items():
        found = bound(**who, n_users=n_users).delta(epsilon=epsilon)
        assert found.upper >= min(value, 1) * (1 - MP.mpf("1e-30"))
        # the parameters carry a margin of 1e-13, multiplied by the exponent
        assert found.upper <= min(value, 1) * (1 + 1e-12 * (5 + abs(MP.log(value))))
        assert 0 <= found.lower <= found.upper


@dataclass(frozen=True)
class Modest:
    """Somebody's own randomizer: binary randomized response that claims a larger epsilon than it has."""

    actual: float
    local_epsilon: float

    def blankets(self, side):
        return KaryRandomizedResponse(local_epsilon=self.actual, domain_size=2).blankets(side)

    def common_input(self, side):
        return KaryRandomizedResponse(local_epsilon=self.actual, domain_size=2).common_input(side)


def test_a_randomizer_that_keeps_more_than_it_claims():
    """Between the actual and the claimed epsilon delta is 0; below both it is that of the actual randomizer."""
    modest, exact = Modest(1.0, 1.5), KaryRandomizedResponse(local_epsilon=1.0, domain_size=2)
    for bound in (hoeffding, bennett):
        assert bound(randomizer=modest, n_users=10).delta(epsilon=1.2) == (0.0, 0.0)
    for bound in (BlanketBound, DatasetsBound):
        found, known = (bound(randomizer=each, n_users=10).delta(epsilon=0.3) for each in (modest, exact))
        assert found == known
        assert 0 < found.upper < 1


# -- what holds for all ----------------------------------------------------------------------------------------------


@pytest.mark.quick(2)
@pytest.mark.parametrize("name", BY_LOCAL)
@pytest.mark.parametrize(
    ("local_epsilon", "n_users", "delta"),
    [(1.0, 1000, 1e-6), (0.05, 10**12, 1e-280), (20.0, 10**12, 1e-12), (4.0, 10**5, 1e-100), (1e-5, 500, 1e-9)],
)
def test_epsilon_meets_its_target_and_not_by_much(name, local_epsilon, n_users, delta):
    bound = BY_LOCAL[name](local_epsilon=local_epsilon, n_users=n_users)
    epsilon = bound.epsilon(delta=delta)
    assert 0 < epsilon <= local_epsilon
    assert bound.delta(epsilon=epsilon).upper <= delta * (1 + 1e-3)
    assert bound.delta(epsilon=0.999 * epsilon).upper > delta * (1 - 1e-3)


# -- Erlingsson et al. -----------------------------------------------------------------------------------------------


def test_erlingsson_closed_form():
    """12 * 0.25 * sqrt(log(1e8)/1e6): sqrt(18.4206807439523.../1e6) = 4.2919320...e-3."""
    found = erlingsson_epsilon(local_epsilon=0.25, n_users=10**6, delta=1e-8)
    exact = 3 * MP.sqrt(8 * MP.log(10) / MP.mpf(10) ** 6)
    assert exact <= found <= exact * (1 + 1e-14)


# -- Chen, Cao, Ge ---------------------------------------------------------------------------------------------------


def test_mu_of_equal_and_of_personal_budgets():
    budgets = [0.3, 1.0, 0.7, 2.0]
    weights = [(1 - F(1, 1000)) / (1 + F(math.exp(e))) for e in budgets]
    exact = math.sqrt(2 / float(sum(weights) - max(weights)))
    noisy = PersonalizedUsers(local_epsilons=budgets, local_delta=1e-3)
    assert gaussian_of_users(noisy).mu == pytest.approx(exact, rel=1e-14)
    # next to a user whose weight is 1e22 times the other's
    for budgets in ([1.0, 50.0], [50.0, 1.0]):
        assert gaussian_of_users(users_of(*budgets)).mu == pytest.approx(math.sqrt(2 * (1 + math.exp(50))), rel=1e-14)
    equal = gaussian_of_equals(local_epsilon=0.8, n_users=50).mu
    assert equal == pytest.approx(gaussian_of_users(users_of(*[0.8] * 50)).mu, rel=1e-13)


@pytest.mark.parametrize(("mu", "epsilon"), [(0.05, 0.1), (0.3, 0.0), (1.0, 2.0), (0.01, 0.3)])
def test_gdp_is_converted_exactly(mu, epsilon):
    exact = o.gaussian_delta(mu, epsilon)
    found = Gaussian(mu).delta(epsilon=epsilon)
    assert o.encloses(found, exact)
    assert found.relative_width < 1e-8


# -- Liu et al. 2023 and approximate local privacy -------------------------------------------------------------------


def test_echo_probabilities_by_the_double_sum():
    budgets = np.array([1.5, 0.9, 0.9, 0.2, 0.05])
    exact = []
    for one in budgets:
        terms = [
            one / -math.expm1(-one) * -math.expm1(-other) / other * math.exp(-max(one, other)) for other in budgets
        ]
        exact.append(math.fsum(terms) / len(budgets))
    assert echo_probabilities(budgets) == pytest.approx(exact, rel=1e-13)


def test_liu_2023_with_equal_budgets_is_the_standard_clone():
    """p_i = e^{-epsilon} and the same victim: the same pair."""

    many, clones = Echo(users_of(*[0.8] * 400)), standard(local_epsilon=0.8, n_users=400)
    one, other = (bound.delta(epsilon=0.15) for bound in (many, clones))
    assert one.lower <= other.upper
    assert other.lower <= one.upper
    assert many.epsilon(delta=1e-6) == pytest.approx(clones.epsilon(delta=1e-6), rel=1e-3)
    # two users hide nothing at such a delta: the largest budget, less what a delta of 1e-9 buys
    assert 0.8 - 1e-8 < Echo(users_of(0.8, 0.5)).epsilon(delta=1e-9) < 0.8


@pytest.mark.parametrize("bound", [standard, stronger])
def test_clones_for_approximate_local_privacy(bound):
    pure, found, worse = (bound(local_epsilon=1.0, n_users=1000, local_delta=each) for each in (0.0, 1e-12, 1e-9))
    failure = (math.exp(0.2) + 1) * (1 + math.exp(-1.0) / 2) * 1000 * 1e-12
    for end, without in zip(found.delta(epsilon=0.2), pure.delta(epsilon=0.2), strict=True):
        assert end == pytest.approx(without + failure, rel=1e-10, abs=0)
    assert bound(local_epsilon=1.0, n_users=1000, local_delta=0.1).delta(epsilon=0.2) == (1.0, 1.0)
    assert found.delta(epsilon=found.epsilon(delta=1e-6)).upper <= 1e-6 * (1 + 1e-3)
    # here n delta_0 alone exceeds the target
    assert worse.epsilon(delta=1e-8) == 1.0
    with pytest.raises(ParameterError, match="above local_delta"):
        found.epsilon(delta=1e-13)
