"""What a client accepts and refuses, held against plans, lies, and enumeration of what it would be given."""

import math
from dataclasses import replace

import numpy as np
import pytest
from given_plans import MSNBC
from oracles.changes import counters_of_user, grid_divergence
from scipy import stats

from segshuffle.accounting.collections.blanket_cap import cap_overflow, capped_delta, uncapped_target
from segshuffle.blankets.binomial import BINOMIAL
from segshuffle.collection.messages import Demand, Server, check_announcement, guaranteed_delta
from segshuffle.errors import RefusedError
from segshuffle.plans.plan import PLAIN, Assumptions, Problem
from segshuffle.plans.scheme import Scheme
from segshuffle.protocols.proven import ProvenSegmented

LEVELS, DELTA = MSNBC.levels, MSNBC.delta


def announced(method, assumptions=PLAIN, d=17, s=4):
    problem = replace(MSNBC, domain_size=d, set_size=s, assumptions=assumptions)
    return Server(problem).collections(method.plan(problem))[0].announcement


@pytest.fixture(scope="module")
def honest():
    return announced(ProvenSegmented())


def demand(level=0, honest_users=5000, **more):
    return Demand(LEVELS[level], DELTA, honest_users, **more)


def believing(assumptions, n=5000):
    """Return what a client demands that assumes what a plan assumes."""
    return {"sets": assumptions.sets, "rounds": assumptions.rounds, "honest_users": assumptions.honest_of(n)}


# -- plans and lies ----------------------------------------------------------------------------------------------------


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("method", "assumptions", "d", "s"),
    [
        (ProvenSegmented(), PLAIN, 17, 4),
        (ProvenSegmented(copies_max=3.0), Assumptions("exactly", honest_fraction=0.8), 17, 4),
        (ProvenSegmented(), Assumptions(sets="at-most", rounds=3), 5, 4),
        (ProvenSegmented(blanket_per_user=0.01), PLAIN, 17, 4),
        (ProvenSegmented(max_messages=6.0, laws=("clustered",)), Assumptions("exactly", honest_fraction=0.9), 17, 4),
        (ProvenSegmented(max_messages=1.0), PLAIN, 128, 8),
    ],
)
def test_whoever_assumes_what_the_plan_assumes_accepts_it(method, assumptions, d, s):
    announcement = announced(method, assumptions, d, s)
    for level in range(3):
        given = check_announcement(announcement, demand(level, **believing(assumptions)), level)
        assert given.delta <= DELTA
        if method == ProvenSegmented() and assumptions == PLAIN and announcement.copies[level] < 1:
            assert given.delta > 0.9 * DELTA
        assert (given.level_epsilon, given.level_delta) == (0.0, 0.0), "nothing is asked of the level"


def lies(honest):
    yield "a smaller blanket", replace(honest, blanket_per_user=honest.blanket_per_user * 0.98), {}
    yield "no blanket", replace(honest, blanket_per_user=0.0), {}
    yield "more copies", replace(honest, copies=(honest.copies[0] * 1.02, *honest.copies[1:])), {}
    yield "copies without end", replace(honest, copies=(100.0, *honest.copies[1:])), {}
    yield "a larger domain", replace(honest, domain_size=18), {}
    yield "users who do not exist", replace(honest, n_users=10**9), {"honest_users": 4900}
    yield "no cap worth the name", replace(honest, blanket_cap=math.ceil(honest.blanket_per_user) + 1), {}
    for belief in ({"honest_users": 4900}, {"rounds": 2}, {"level_epsilons": LEVELS[:1] * 3}):
        yield str(belief), honest, belief


def test_lies_are_refused_with_numbers(honest):
    for _, lie, belief in lies(honest):
        with pytest.raises(RefusedError, match=r"delta = .* at epsilon = 0\.5, or .*user asks for epsilon = 0\.5"):
            check_announcement(lie, demand(**belief), 0)


def test_the_refusal_says_what_would_have_been_given(honest):
    """The epsilon that the refusal names holds at the same delta, and a little less does not."""
    lie = replace(honest, blanket_per_user=0.2)
    with pytest.raises(RefusedError) as refusal:
        check_announcement(lie, demand(), 0)
    given = float(str(refusal.value).partition(" or epsilon = ")[2].split()[0])
    assert (
        guaranteed_delta(lie, Demand(given * 1.001, DELTA, 5000), 0)
        <= DELTA
        < guaranteed_delta(lie, Demand(given * 0.997, DELTA, 5000), 0)
    )
    assert "5000 honest users" in str(refusal.value)


# -- enumeration -------------------------------------------------------------------------------------------------------


def divergence(d, one, other, mu, epsilon, totals=None):
    """Return the divergence of two users (items, copies): without what is off the grid, and with all of it."""
    laws = [counters_of_user(d, items, copies, mu, 30, totals) for items, copies in (one, other)]
    return grid_divergence(*laws, epsilon)


@pytest.mark.quick(5)
@pytest.mark.parametrize("seed", range(30))
def test_delta_is_never_below_the_exact_one(seed):
    """For random announcements and beliefs, with two items, the client's number is the exact one or above it."""
    rng = np.random.default_rng(seed)
    n, copies = int(rng.integers(2, 12)), (round(float(rng.uniform(0.1, 1.6)), 3), 1.0)
    announcement = Scheme(2, 1, n, copies, float(rng.uniform(0.2, 8.0 / n)))
    believed = int(rng.integers(1, n + 1))
    epsilon = float(rng.uniform(0.1, 2.0))
    mu = believed * announcement.blanket_per_user / 2
    # a delta far below the one asked for need not be close
    given = guaranteed_delta(announcement, Demand(epsilon, 1e-6, believed, "exactly"), 0)
    low, high = divergence(2, ((0,), copies[0]), ((1,), copies[0]), mu, epsilon)
    assert low * (1 - 1e-9) <= given <= high * (1 + 2e-3)
    # neighbours may hold nothing, and may be of another level
    asked = Demand(epsilon, 0.999, believed, level_epsilons=(epsilon, epsilon), level_delta=0.999999)
    given = check_announcement(announcement, asked, 0)
    assert given.level_epsilon == epsilon
    for other in [((), 0.0), ((1,), 1.0), ((0,), 1.0)]:
        for pair in ((((0,), copies[0]), other), (other, ((0,), copies[0]))):
            assert divergence(2, *pair, mu, epsilon)[0] * (1 - 1e-9) <= given.level_delta


@pytest.mark.parametrize("counts", [(6, 4), (2, 9)])
def test_two_levels_are_told_apart_at_the_larger_epsilon_and_not_at_the_smaller(counts):
    """By enumeration: a plan with private levels keeps delta at the larger epsilon, and not at the smaller one."""
    levels, delta, n = (0.5, 1.5), 0.05, sum(counts)
    problem = Problem(2, 1, levels, counts, delta, Assumptions("exactly", private_levels=True))
    plan = ProvenSegmented(blanket_per_user=12 / n).plan(problem)
    users = [((item,), copies) for item, copies in enumerate(plan.scheme.copies)]
    for own, one, other in ((0, *users), (1, *users[::-1])):
        asked = Demand(levels[own], delta, n, level_epsilons=levels)
        assert check_announcement(plan.scheme, asked, own).level_epsilon == 1.5
        assert divergence(2, one, other, 6.0, 1.5)[1] <= delta
        assert divergence(2, one, other, 6.0, 0.5)[0] > delta
    with pytest.raises(RefusedError, match="a user of level 0 who may be one of level 1"):
        check_announcement(plan.scheme, Demand(0.5, delta, n, level_epsilons=(0.5, 0.5)), 0)


def capped_totals(n, m, cap):
    """Return the law of the sum of n Poisson(m) numbers, each at most the cap."""
    one = np.array([m**k / math.factorial(k) for k in range(cap + 1)])
    one, law = one / one.sum(), np.ones(1)
    for _ in range(n):
        law = np.convolve(law, one)
    return law.tolist()


@pytest.mark.parametrize(
    ("n", "m", "cap"), [(2, 0.5, 12), (5, 1.0, 14), (30, 0.3, 5), (30, 0.3, 6), (60, 0.2, 4), (60, 0.2, 5)]
)
@pytest.mark.parametrize("copies", [0.3, 1.0, 1.4])
def test_the_capped_delta_is_above_the_exact_one(n, m, cap, copies):
    epsilon, delta = 0.7, 0.05
    users, mu = (((0,), copies), ((1,), copies)), n * m / 2
    overflow = cap_overflow(blanket_per_user=m, cap=cap, honest_users=n, epsilon=epsilon, delta=delta)
    assert overflow < 0.9
    inner, inner_delta = uncapped_target(epsilon=epsilon, delta=delta, overflow=overflow)
    uncapped = divergence(2, *users, mu, inner)[1]
    bound = capped_delta(uncapped=uncapped, delta=delta, overflow=overflow)
    assert divergence(2, *users, mu, epsilon, capped_totals(n, m, cap))[1] <= bound
    # meeting the inner target is what makes the capped protocol meet its own
    assert capped_delta(uncapped=inner_delta, delta=delta, overflow=overflow) <= delta * (1 + 1e-14)
    announcement = Scheme(2, 1, n, (copies,), m, blanket_cap=cap)
    given = guaranteed_delta(announcement, Demand(epsilon, delta, n, "exactly"), 0)
    assert bound * (1 - 1e-9) <= given <= bound * (1 + 2e-3)


@pytest.mark.parametrize("rounds", [1, 3])
def test_overflow_bounds_what_the_proof_says_it_does(rounds):
    """Exact tails are below it: those of the total, and those of one client's share of the total."""
    for n, m, cap, delta in [(50, 0.4, 8, 1e-3), (5000, 4.0, 25, 2e-6), (10**6, 0.01, 5, 1e-9)]:
        overflow = cap_overflow(blanket_per_user=m, cap=cap, honest_users=n, epsilon=1.0, delta=delta, rounds=rounds)
        total = n * m
        theta = 1e-3 * delta / math.e
        most = stats.poisson.isf(theta / rounds, total)
        assert rounds * stats.poisson.sf(most, total) <= theta
        assert rounds * n * stats.binom.sf(cap, int(most), 1 / n) <= overflow < 1
        assert rounds * n * stats.poisson.sf(cap, m) <= overflow


# -- edges -------------------------------------------------------------------------------------------------------------


def test_as_many_messages_as_a_client_is_ready_to_send_are_accepted():
    announcement = Scheme(9, 2, 5000, (0.5, 1.0), 4.0)
    check_announcement(announcement, Demand(3.0, 1e-3, 5000, most_messages=6.0), 1)
    with pytest.raises(RefusedError, match=r"asks for 6 messages on average, more than the 5.999 "):
        check_announcement(announcement, Demand(3.0, 1e-3, 5000, most_messages=5.999), 1)
    check_announcement(announcement, Demand(3.0, 1e-3, 5000, most_messages=5.0), 0)


def test_where_nothing_is_known_delta_is_1():
    few = Scheme(9, 2, 5000, (1.0,), 1e-9)
    assert guaranteed_delta(few, Demand(1.0, 1e-3, 5000), 0) == 1.0
    many = Scheme(9, 2, 5000, (64.0, 64.5), 400.0)
    assert guaranteed_delta(many, Demand(100.0, 1e-3, 5000), 0) < 1.0
    assert guaranteed_delta(many, Demand(100.0, 1e-3, 5000), 1) == 1.0
    tight = Scheme(9, 2, 5000, (1.0,), 4.0, blanket_cap=4)
    assert guaranteed_delta(tight, Demand(0.01, 1e-3, 5000), 0) == 1.0
    binomial = Scheme(9, 2, 5000, (1.0,), 4.0, BINOMIAL)
    assert guaranteed_delta(binomial, Demand(100.0, 1e-3, 5000), 0) == 1.0
    for unknown in (few, binomial):
        with pytest.raises(RefusedError, match="or no certified epsilon"):
            check_announcement(unknown, Demand(1.0, 1e-3, 5000), 0)


def test_who_sends_nothing_gives_nothing_away_but_the_level():
    silent = Scheme(9, 2, 5000, (0.0, 1.0), 1e-9)
    asked = Demand(1e-3, 1e-9, 5000)
    assert check_announcement(silent, asked, 0) == (0.0, 0.0, 0.0)
    with pytest.raises(RefusedError, match="a user of level 0 who may be one of level 1"):
        check_announcement(silent, replace(asked, level_epsilons=(100.0, 100.0)), 0)


def test_sets_of_all_items_are_refused_where_others_are_trusted_to_hold_them():
    """Whoever does not hold them all would send the set in the clear."""
    alike = Scheme(2, 2, 5000, (1.0,), 1e-9)
    with pytest.raises(RefusedError, match="sets of exactly 2 of 2 items are all the same"):
        check_announcement(alike, Demand(1e-3, 1e-9, 5000, "exactly"), 0)
    assert guaranteed_delta(alike, Demand(1e-3, 1e-9, 5000), 0) == 1.0


def test_no_more_honest_users_than_are_announced_are_relied_on():
    announcement = Scheme(9, 2, 1000, (1.0,), 4.0)
    for believed, expected in ((1000, 1000), (300, 300), (1, 1), (5000, 1000)):
        assert Demand(1.0, 1e-3, believed).problem(announcement).honest_users == expected
