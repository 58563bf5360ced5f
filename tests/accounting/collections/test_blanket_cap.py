"""A cap on a client's blanket: against the formulas of docs/proof.md in 90 digits, rounded to the safe side."""

import math

import pytest
from oracles import MP

from segshuffle.accounting.collections.blanket_cap import cap_overflow, capped_delta, capped_epsilon, uncapped_target


def kappa(blanket_per_user, cap, honest_users, epsilon, delta, rounds=1):
    """Return n' T e^(k - x) (x/k)^k as in docs/proof.md, with theta = 0.001 delta / e^epsilon."""
    m, n, k = MP.mpf(blanket_per_user), MP.mpf(honest_users), MP.mpf(cap + 1)
    log_tail = MP.log(rounds / (MP.mpf("0.001") * MP.mpf(delta) / MP.exp(MP.mpf(epsilon))))
    x = (n * m + MP.sqrt(2 * n * m * log_tail) + log_tail / 3) / n
    return n * rounds * MP.exp(k - x) * (x / k) ** k if k > x else MP.mpf(1)


CASES = [
    {"blanket_per_user": 1.5, "cap": 40, "honest_users": 10**5, "epsilon": 1.0, "delta": 1e-7},
    {"blanket_per_user": 0.01, "cap": 6, "honest_users": 10**9, "epsilon": 0.1, "delta": 1e-12, "rounds": 30},
    {"blanket_per_user": 30.0, "cap": 130, "honest_users": 50, "epsilon": 4.0, "delta": 1e-3, "rounds": 2},
    {"blanket_per_user": 2.0, "cap": 3, "honest_users": 10**4, "epsilon": 1.0, "delta": 1e-6},
    {"blanket_per_user": 2.0, "cap": 1, "honest_users": 10**4, "epsilon": 1.0, "delta": 1e-6},
    {"blanket_per_user": 0.5, "cap": 0, "honest_users": 1, "epsilon": 1.0, "delta": 0.1},
]


@pytest.mark.parametrize("case", CASES)
def test_overflow_of_a_cap(case):
    exact, found = min(kappa(**case), MP.mpf(1)), cap_overflow(**case)
    assert exact <= found <= exact * (1 + 1e-6)


def test_no_cap_below_the_mean_proves_anything_and_a_higher_one_more():
    found = [
        cap_overflow(blanket_per_user=3.0, cap=cap, honest_users=10**6, epsilon=1.0, delta=1e-6) for cap in range(60)
    ]
    assert found[:3] == [1.0] * 3
    below = [each for each in found if each < 1]
    assert 30 < len(below) == len(set(below))
    assert found == sorted(found, reverse=True)


@pytest.mark.parametrize("overflow", [0.0, 1e-12, 1e-3, 0.5, 0.9985])
@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-6), (8.0, 0.01)])
def test_targets_and_deltas_of_a_cap_undo_each_other(overflow, epsilon, delta):
    share = MP.mpf("0.001")
    k, e, d = MP.mpf(overflow), MP.mpf(epsilon), MP.mpf(delta)
    inner_epsilon, inner_delta = uncapped_target(epsilon=epsilon, delta=delta, overflow=overflow)
    for found, exact in ((inner_epsilon, e + MP.log1p(-k)), (inner_delta, d * (1 - k - share))):
        # a target must be positive
        assert exact * (1 - 1e-13) <= found <= exact * (1 + 1e-16) if exact > 0 else found <= 0
    for uncapped in (inner_delta, 0.3 * delta):
        exact = min((MP.mpf(uncapped) + share * d) / (1 - k), MP.mpf(1))
        found = capped_delta(uncapped=uncapped, delta=delta, overflow=overflow)
        assert exact * (1 - 1e-16) <= found <= exact * (1 + 1e-13)
    assert capped_delta(uncapped=0.9, delta=0.5, overflow=0.5) == 1.0


def test_a_cap_that_proves_nothing_has_no_target():
    for overflow in (1.0, 1.5):
        assert uncapped_target(epsilon=1.0, delta=1e-6, overflow=overflow) == (-math.inf, 0.0)
    assert uncapped_target(epsilon=1.0, delta=1e-6, overflow=0.9995)[1] < 0


@pytest.mark.parametrize("rounds", [1, 7])
@pytest.mark.parametrize("cap", [20, 24, 30, 60])
def test_epsilon_with_a_cap(cap, rounds):
    """Epsilon is -0.05 log(delta); with a cap it is that of delta (1 - kappa - 1/1000), minus log(1 - kappa)."""

    def uncapped(delta):
        return -0.05 * math.log(delta)

    dummies = {"blanket_per_user": 2.0, "honest_users": 1000, "cap": cap, "rounds": rounds}
    free = -0.05 * math.log(1e-6)
    found = capped_epsilon(uncapped, [dummies], delta=1e-6)
    k = kappa(epsilon=1.01 * free, delta=1e-6, **dummies)
    exact = -MP.mpf("0.05") * MP.log(MP.mpf(1e-6) * (1 - k - MP.mpf("0.001"))) - MP.log1p(-k) if k < 0.999 else MP.inf
    if exact > 1.01 * free:
        assert found == math.inf
    else:
        assert exact <= found <= exact * (1 + 1e-8)
        assert found > free
    assert capped_epsilon(uncapped, [], delta=1e-6) == free
    assert capped_epsilon(lambda delta: math.inf, [dummies], delta=1e-6) == math.inf
    assert capped_epsilon(uncapped, [{**dummies, "cap": 0}], delta=1e-6) == math.inf


@pytest.mark.parametrize("inner", [1.0, 1.00123, 1.0047, 1.0099, 1.0101])
def test_epsilons_with_a_cap_are_rounded_up_and_certified_up_to_a_hundredth_more(inner):
    dummies = {"blanket_per_user": 2.0, "honest_users": 1000, "cap": 60}
    found = capped_epsilon(lambda delta: 1.0 if delta == 1e-6 else inner, [dummies], delta=1e-6)
    k = MP.mpf(cap_overflow(epsilon=1.01, delta=1e-6, **dummies))
    if inner > 1.01:
        assert found == math.inf
    else:
        assert MP.mpf(inner) - MP.log1p(-k) <= found <= inner * (1 + 1e-9)
