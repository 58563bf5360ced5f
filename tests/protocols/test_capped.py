"""Caps: what a plan pays for one, and what it promises with it."""

from dataclasses import replace

import pytest
from given_plans import MSNBC

from segshuffle.accounting.collections.blanket_cap import cap_overflow
from segshuffle.collection.messages import Demand, Server, check_announcement
from segshuffle.errors import ParameterError
from segshuffle.plans.plan import PLAIN, Assumptions, Problem, uniform_item_counts
from segshuffle.protocols.capped import Capped
from segshuffle.protocols.proven import ProvenSegmented

LEVELS, DELTA = MSNBC.levels, MSNBC.delta


@pytest.fixture(scope="module")
def free():
    return ProvenSegmented().plan(MSNBC)


@pytest.fixture(scope="module")
def capped():
    return Capped(ProvenSegmented()).plan(MSNBC)


def error(plan):
    return ProvenSegmented().expected_mse(plan, uniform_item_counts(MSNBC))


@pytest.mark.parametrize("blanket", [0.5, 1.5, 3.0])
def test_the_plan_takes_the_least_cap(blanket):
    capped = Capped(ProvenSegmented(blanket_per_user=blanket)).plan(MSNBC)
    cap, largest = capped.scheme.blanket_cap, 1e-3 * 0.5
    for number, fits in ((cap, True), (cap - 1, False)):
        overflow = cap_overflow(blanket_per_user=blanket, cap=number, honest_users=5000, epsilon=2.0, delta=DELTA)
        assert (overflow <= largest) == fits


def test_clients_accept_what_is_planned_with_a_cap(capped):
    for plan in (capped, Capped(ProvenSegmented(), 6).plan(MSNBC)):
        announcement = Server(MSNBC).collections(plan)[0].announcement
        assert announcement.blanket_cap == plan.scheme.blanket_cap
        for level, entry in enumerate(plan.certificate):
            given = check_announcement(announcement, Demand(LEVELS[level], DELTA, 5000), level).delta
            # both use the kappa of this cap
            assert entry["delta_upper"] == pytest.approx(given, rel=1e-8)
            assert given <= entry["delta_upper"] * (1 + 1e-9) <= DELTA * (1 + 1e-9)
            assert entry["epsilon"] == LEVELS[level]
        assert plan.kind == "upper"
        assert plan.problem == MSNBC


def test_a_smaller_cap_means_a_smaller_blanket(capped):
    plan = Capped(ProvenSegmented(), 5).plan(MSNBC)
    assert plan.scheme.blanket_cap == 5 < capped.scheme.blanket_cap
    assert plan.blanket_per_user < capped.blanket_per_user
    assert error(plan) > error(capped)
    assert Capped(ProvenSegmented(), 40).plan(MSNBC).scheme.blanket_cap == 40


def test_rounds_and_fewer_honest_users_are_counted(capped):
    many = replace(MSNBC, assumptions=Assumptions("exactly", rounds=4))
    method = ProvenSegmented(blanket_per_user=capped.blanket_per_user)
    assert Capped(method).plan(many).scheme.blanket_cap > capped.scheme.blanket_cap - 1
    with pytest.raises(ParameterError, match=r"blanket_cap = 3 .* at least \d+ for .* dummies per user"):
        Capped(method, 3).plan(MSNBC)
    with pytest.raises(ParameterError, match="large enough for some blanket"):
        Capped(ProvenSegmented(), 0).plan(MSNBC)


def test_a_cap_is_proven_for_single_dummies_alone():
    clusters = ProvenSegmented(max_messages=4.0, laws=("clustered",))
    with pytest.raises(ParameterError, match=r"dummies = .clustered. .* single dummies alone"):
        Capped(clusters).plan(Problem(2, 1, (1.0,), (400,), 1e-3, PLAIN))
