"""Every rounding goes to the safe side, and by as much as it says: seen with roundings that are far too large.

As they are they hide behind the accuracy of every test.
"""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from segshuffle.accounting.collections import levels
from segshuffle.accounting.numerics import negative_binomial
from segshuffle.accounting.numerics.hockey_stick import DeltaInterval, hockey_stick
from segshuffle.accounting.numerics.poisson_binomial import PoissonBinomialLaw
from segshuffle.accounting.single_message import personalized, ratio_pair, variation_ratio_lower
from segshuffle.accounting.single_message import randomizers as rz
from segshuffle.accounting.single_message.accountants import approximate, blanket_tails, clones, erlingsson, liu_2023
from segshuffle.accounting.single_message.personalized_confusion import PersonalizedUsers

LARGE = 0.01


def test_closed_forms_are_rounded_up(monkeypatch):
    asked = {"n_users": 10**6, "delta": 1e-6}
    forms = (
        (clones, "_NUDGE", clones.standard_clone_closed_form, {"local_epsilon": 1.0, **asked}, 16),
        (erlingsson, "_ROUND", erlingsson.erlingsson_epsilon, {"local_epsilon": 0.3, **asked}, 8),
    )
    for module, name, form, arguments, times in forms:
        exact = form(**arguments)
        monkeypatch.setattr(module, name, LARGE)
        assert form(**arguments) == pytest.approx(exact * (1 + times * LARGE), rel=1e-12)
        monkeypatch.setattr(module, name, 1000.0)
        assert form(**arguments) == arguments["local_epsilon"], "never more than the local guarantee"


def test_a_failure_and_a_divergence_are_added_outwards(monkeypatch):
    asked = {"local_epsilon": 1.0, "n_users": 1000, "epsilon": 0.3}
    pure = clones.standard_clone_delta(**asked)
    failure = (math.exp(0.3) + 1) * (1 + 0.5 * math.exp(-1.0)) * 1000 * 1e-7
    monkeypatch.setattr(approximate, "_ROUND", LARGE)
    found = approximate.approximate_clone_delta(clone="standard", local_delta=1e-7, **asked)
    assert found.lower == pytest.approx(pure.lower + failure * (1 - LARGE), rel=1e-12)
    assert found.upper == pytest.approx((pure.upper + failure) * (1 + LARGE), rel=1e-12)
    # the least epsilon is of the same bound
    epsilon = approximate.approximate_clone_epsilon(
        clone="standard", local_epsilon=1.0, local_delta=1e-9, n_users=1000, delta=1e-3
    )
    bound = [
        approximate.approximate_clone_delta(
            clone="standard", local_epsilon=1.0, local_delta=1e-9, n_users=1000, epsilon=epsilon * share
        ).upper
        for share in (0.999, 1.0)
    ]
    assert bound[1] <= 1e-3 * (1 + 1e-6)
    assert bound[0] > 1e-3


@pytest.mark.parametrize("epsilon", [0.05, 0.4])
def test_a_personalised_bound_is_that_of_its_formula_moved_outwards(epsilon, monkeypatch):
    pair = personalized.ReductionPair(PersonalizedUsers(local_epsilons=[0.5] * 20, mechanism="laplace"))
    monkeypatch.setattr(personalized, "_ROUND", LARGE)
    monkeypatch.setattr(pair.clones, "relative_error", 0.02)
    monkeypatch.setattr(pair.clones, "dropped", 1e-4)
    shifted = math.log1p(math.expm1(epsilon) / pair.contrast)

    def divergence(at):
        found = hockey_stick(pair=personalized.CountPair(1.0, 0.0, pair.clones), epsilon=at, rtol=1e-9)
        return found.lower * 0.98 - 1e-4, found.upper * 1.02 + 1e-4

    found = pair.theorem_delta(epsilon=epsilon, rtol=1e-9)
    assert found.upper == pytest.approx(pair.contrast * 1.01 * divergence(shifted * 0.99)[1], rel=1e-8)
    assert found.lower == pytest.approx(pair.contrast * 0.99 * divergence(shifted * 1.01)[0], rel=1e-8)
    reduction = pair.reduction_delta(epsilon=epsilon, rtol=1e-9)
    exact = hockey_stick(
        pair=ratio_pair.ratio_pair(log_ratio=pair._log_ratio, difference=pair.contrast, blanket=pair.clones),
        epsilon=epsilon,
        rtol=1e-9,
    )
    assert reduction.lower == pytest.approx(max(exact.lower * 0.98 - 1e-4, 0.0), rel=1e-8)
    assert reduction.upper == pytest.approx(exact.upper * 1.02 + 1e-4, rel=1e-8)
    # up to the ratio, and as far beyond as it may be off, the law's own error is left
    assert pair.reduction_delta(epsilon=pair._log_ratio * 1.005).upper == pytest.approx(1e-4, rel=1e-3)
    assert pair.reduction_delta(epsilon=pair._log_ratio * 1.02) == (0.0, 0.0)


def test_a_lower_end_is_of_a_victim_that_tells_less(monkeypatch):
    bound = variation_ratio_lower.LowerBound(log_p0=1.0, beta=0.3, q0=3.0, q1=4.0, symmetric=False)
    monkeypatch.setattr(variation_ratio_lower, "_LOG_RATIO_ERROR", 0.1)
    monkeypatch.setattr(variation_ratio_lower, "_SPEAK_ERROR", 0.2)
    speak = 0.8 * 0.3 / math.tanh(0.5)
    for epsilon in (0.0, 0.3, 0.85):
        pairs = variation_ratio_lower._pairs(bound, 30, log_ratio=0.9, difference=speak * math.tanh(0.45))
        expected = max(hockey_stick(pair=pair, epsilon=epsilon, rtol=1e-8).lower for pair in pairs)
        found = variation_ratio_lower.published_lower_delta(bound=bound, n_users=30, epsilon=epsilon, rtol=1e-8)
        assert found.lower == pytest.approx(expected, rel=1e-9)
        assert found.upper > found.lower
    for epsilon in (0.9, 0.95):
        assert variation_ratio_lower.published_lower_delta(bound=bound, n_users=30, epsilon=epsilon).lower == 0.0


@pytest.mark.parametrize("epsilon", [0.01, 0.5])
def test_quantities_of_tail_bounds_are_rounded_to_what_proves_less(epsilon, monkeypatch):
    """The range, the largest value and the second moment upwards, the blanket downwards."""
    exact = blanket_tails._generic(1.0)(epsilon)
    monkeypatch.setattr(blanket_tails, "_ROUND", LARGE)
    rough = blanket_tails._generic(1.0)(epsilon)
    assert rough.drift == exact.drift
    assert rough.gamma == pytest.approx(exact.gamma * (1 - LARGE), rel=1e-12)
    for name in ("width", "largest", "second_moment"):
        assert getattr(rough, name) == pytest.approx(getattr(exact, name) * (1 + LARGE), rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.0, 0.05, 0.4])
def test_quantities_of_a_law_that_was_rounded_hold_for_all_laws_within(epsilon, monkeypatch):
    """Every entry off by the part that is allowed, in all directions; and little more is given away."""
    law, error = np.array([[0.5, 0.3, 0.2], [0.25, 0.35, 0.4]]), 1e-4
    nominal = blanket_tails._specific(rz.MatrixRandomizer(law, 0.0))(epsilon)
    rough = blanket_tails._specific(rz.MatrixRandomizer(law, error))(epsilon)
    for signs in product((-1, 0, 1), repeat=4):
        (a, b), (c, d) = (signs[:2], signs[2:])
        moved = law * (1 + 0.4 * error * np.array([[a, b, -a], [c, d, -c]]))
        moved[:, 2] = 1 - moved[:, :2].sum(axis=1)
        inside = blanket_tails._specific(rz.MatrixRandomizer(moved, 0.0))(epsilon)
        assert rough.gamma <= inside.gamma
        for name in ("width", "largest", "second_moment"):
            assert getattr(rough, name) >= getattr(inside, name)
    assert rough.gamma >= nominal.gamma * (1 - 5 * error)
    for name in ("width", "largest", "second_moment"):
        assert getattr(rough, name) <= getattr(nominal, name) * (1 + 40 * error) + 40 * error
    assert rough.drift == nominal.drift == math.expm1(epsilon)


@pytest.mark.parametrize("rate", [1e-9, 0.3, 2.0])
@pytest.mark.parametrize("n_users", [1, 50, 10**12])
@pytest.mark.parametrize("gamma", [1e-3, 0.5, 1.0])
def test_the_margin_of_a_tail_bound_has_a_part_for_every_term(n_users, rate, gamma, monkeypatch):
    """log of scale/(gamma n) (1 - gamma + gamma q)^n (1 - (none at all)): each term may be off, relatively."""
    tail = blanket_tails.BlanketTail(gamma=gamma, drift=0.1, width=1.0, largest=1.0, second_moment=1.0)
    value, margin = tail._over_users(n_users, -7.0, rate)
    q = math.exp(-rate)
    rest = 1 - gamma + gamma * q
    bulk, size = n_users * math.log1p(gamma * math.expm1(-rate)), math.log(gamma * n_users)
    none = ((1 - gamma) / rest) ** n_users
    some = math.log1p(-none)
    assert value == pytest.approx(-7.0 + bulk + some - size, rel=1e-9, abs=1e-6)
    parts = [1.0, 7.0, abs(bulk), abs(bulk) / rest, abs(math.log(gamma)), math.log(n_users), abs(some)]
    assert margin >= 64 * 2.0**-52 * max(parts) * (1 - 1e-6)
    assert margin <= 64 * 2.0**-52 * sum(parts) * (1 + 1e-6)


def test_masses_of_a_window_have_the_error_of_their_farthest_count(monkeypatch):
    for low, high, mean in ((3, 1000, 10.0), (0, 50, 40.0), (10, 10**9, 5e8)):
        found = negative_binomial.mass_error((low, high), mean)
        assert found == pytest.approx(1e-11 + 1e-15 * max(high - mean, mean - low), rel=1e-12)


def test_sums_of_local_epsilons_are_rounded_up():
    rng = np.random.default_rng(3)
    rounded = 0
    for _ in range(200):
        epsilons = rng.uniform(0.1, 5.0, size=int(rng.integers(1, 6))).tolist()
        parts = tuple(rz.KaryRandomizedResponse(local_epsilon=epsilon, domain_size=2) for epsilon in epsilons)
        for differing in (None, 1):
            kept = epsilons[:differing]
            found = rz.JointComposition(components=parts, differing=differing).local_epsilon
            exact = sum(map(Fraction, kept))
            assert Fraction(found) >= exact
            assert Fraction(math.nextafter(found, 0.0)) < exact
            rounded += Fraction(found) > exact
    assert rounded > 50


def test_sums_of_guarantees_are_never_below_the_true_ones():
    rng = np.random.default_rng(4)
    for one, other in rng.uniform(0.0, 3.0, size=(500, 2)).tolist():
        found = levels._sum_up(one, other)
        assert Fraction(found) >= Fraction(one) + Fraction(other)
        assert found <= (one + other) * (1 + 4e-16)
    assert levels._sum_up(0.7, 0.0) == 0.7


def test_an_epsilon_too_large_to_be_resolved_is_enclosed(monkeypatch):
    """No dummy of either level has probability e^-mu, whatever the epsilon; the upper end is that at epsilon = 20."""
    for mean in (0.5, 5.0, 30.0):
        at = {epsilon: levels._delta(mean, epsilon, 1e-6) for epsilon in (19.0, 20.0, 20.5, 90.0)}
        assert at[90.0] == at[20.5]
        assert at[90.0].upper == at[20.0].upper
        assert math.exp(-mean) * (1 - 1e-14) < at[90.0].lower < math.exp(-mean)
        assert at[19.0].upper >= at[20.0].lower
        assert at[20.0].lower >= math.exp(-mean) * (1 - 1e-6)


def test_errors_of_a_table_of_counts_widen_both_ends(monkeypatch):
    law = PoissonBinomialLaw(np.full(5, 0.3))
    monkeypatch.setattr(law, "relative_error", 0.02)
    monkeypatch.setattr(law, "dropped", 1e-4)
    found = law.widened(DeltaInterval(0.5, 0.6))
    assert found.lower == pytest.approx(0.5 * 0.98 - 1e-4, rel=1e-12)
    assert found.upper == pytest.approx(0.6 * 1.02 + 1e-4, rel=1e-12)
    assert law.widened(DeltaInterval(5e-5, 0.999)) == (0.0, 1.0)
    exact = PoissonBinomialLaw(np.zeros(0))
    monkeypatch.setattr(exact, "relative_error", 0.0)
    assert exact.widened(DeltaInterval(0.0, 0.0)) == (0.0, 1e-290)
    # every accountant of budgets uses it
    echo = liu_2023.EchoPair([0.5] * 20)
    before = echo.delta(epsilon=0.1, rtol=1e-9)
    monkeypatch.setattr(echo.clones, "relative_error", 0.02)
    monkeypatch.setattr(echo.clones, "dropped", 1e-4)
    after = echo.delta(epsilon=0.1, rtol=1e-9)
    assert after.upper == pytest.approx(before.upper * 1.02 + 1e-4, rel=1e-8)
    assert after.lower == pytest.approx(before.lower * 0.98 - 1e-4, rel=1e-8)
