"""Sets of at most s items, honest users, private levels, rounds: what they ask of a plan, and what a plan then does."""

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from given_plans import MSNBC, given_plan
from hypothesis import given
from hypothesis import strategies as st
from oracles.changes import counters_of_user, grid_divergence
from simulations import check_simulation, make_sample

from segshuffle.arrays import NO_ITEM
from segshuffle.collection.messages import Server, run_protocol
from segshuffle.errors import ParameterError
from segshuffle.plans.level_counts import LevelPrivacy
from segshuffle.plans.plan import PLAIN, Assumptions, Plan, Problem, Sample
from segshuffle.plans.targets import attained
from segshuffle.protocols.balls_into_bins import BallsIntoBins
from segshuffle.protocols.balls_into_bins_proven import ProvenBallsIntoBins
from segshuffle.protocols.proven import ProvenSegmented
from segshuffle.protocols.segmented import Segmented
from segshuffle.protocols.subset_exponential import SubsetExponential

LEVELS = (0.5, 1.0, 2.0)
COUNTS = MSNBC.level_counts


def under(problem: Problem = MSNBC, **assumptions) -> Problem:
    return replace(problem, assumptions=replace(PLAIN, **assumptions))


# -- pairs, means, kinds -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("d", "s", "assumptions", "pairs"),
    [
        (17, 4, {}, 4),
        (5, 4, {}, 1),
        (4, 4, {}, 0),
        (5, 4, {"sets": "at-most"}, 4),
        (5, 4, {"private_levels": True}, 4),
        (17, 4, {"rounds": 3}, 12),
        (5, 4, {"sets": "at-most", "rounds": 2}, 8),
    ],
)
def test_pairs_of_counters(d, s, assumptions, pairs):
    assert under(Problem(d, s, (1.0,), (10,), 0.1, PLAIN), **assumptions).pairs == pairs


@pytest.mark.parametrize(
    ("d", "s", "n", "copies", "assumptions", "expected"),
    [
        (12, 4, 9, 0.5, {}, True),
        (11, 4, 9, 0.5, {}, False),  # the others must hold some of the eight items, and their sampling may help
        (11, 4, 9, 2.0, {}, True),
        (11, 4, 1, 0.5, {}, True),
        (4, 4, 9, 0.5, {}, True),
        (8, 4, 9, 0.5, {"sets": "at-most"}, True),  # the others may hold nothing
        (7, 4, 9, 1.0, {"sets": "at-most"}, False),
        (7, 4, 9, 1.0, {"private_levels": True}, False),
        (12, 4, 9, 0.5, {"private_levels": True}, True),
    ],
)
def test_exact_where_somebody_reaches_it(d, s, n, copies, assumptions, expected):
    problem = under(Problem(d, s, (1.0,), (n,), 0.05, PLAIN), **assumptions)
    assert attained(problem, (copies,)) == expected
    plan = ProvenSegmented(blanket_per_user=30.0, copies_max=copies).plan(problem)
    if plan.scheme.copies == (copies,):
        assert plan.kind == ("exact" if expected else "upper")
        assert (plan.certificate[0]["delta_lower"] > 0) == (expected and problem.pairs > 0)


@given(
    n=st.integers(1, 10**7),
    h=st.floats(1e-6, 1.0),
    m=st.floats(1e-6, 1e6),
    d=st.integers(2, 10**6),
)
def test_the_honest_mean_is_never_above_the_exact_one(n, h, m, d):
    problem = Problem(d, 1, (1.0,), (n,), 0.1, Assumptions("exactly", honest_fraction=h))
    users = problem.honest_users
    assert users == 1 or Fraction(h) * n - 1 < users <= Fraction(h) * n + Fraction(1, 10**5)
    exact = Fraction(m) * users / d
    assert exact * (1 - Fraction(1, 2**51)) <= Fraction(problem.honest_mean(m)) <= exact


@pytest.mark.parametrize("method", [Segmented(), BallsIntoBins(), BallsIntoBins(name="sepmm"), SubsetExponential()])
@pytest.mark.parametrize("assumptions", [{"sets": "at-most"}, {"honest_fraction": 0.9}, {"rounds": 2}], ids=str)
def test_other_protocols_refuse_what_they_have_no_analysis_for(method, assumptions):
    with pytest.raises(ParameterError, match=next(iter(assumptions))):
        method.plan(under(**assumptions))


@pytest.mark.parametrize("name", ["sepmm", "weighted-sepmm", "inverse-variance-sepmm"])
def test_collections_by_level_are_refused_if_levels_are_private(name):
    with pytest.raises(ParameterError, match=f"private_levels = True.*False for {name}"):
        ProvenBallsIntoBins(name=name).plan(under(private_levels=True))


# -- plans -------------------------------------------------------------------------------------------------------------


def test_round_1_relies_on_the_honest_users_too():
    privacy = LevelPrivacy(0.5, 2e-6)
    whole, half, alone = (
        Server(under(replace(MSNBC, level_counts=counts), honest_fraction=h), privacy)
        .announce_levels()
        .blanket_per_user
        for counts, h in ((COUNTS, 1.0), (COUNTS, 0.5), ((0, 0, 2500), 1.0))
    )
    assert half == alone == pytest.approx(2 * whole, rel=1e-9)


def reached(plan: Plan, mu: float, cutoff: int, sets, levels) -> tuple[float, float]:
    """Return the divergence of two users' counters, all rounds together, at the epsilon of the more liberal level."""
    problem, laws = plan.problem, []
    for items, level in zip(sets, levels, strict=True):
        law = counters_of_user(problem.domain_size, items, plan.scheme.copies[level], mu, cutoff).ravel()
        laws.append(law if problem.assumptions.rounds == 1 else np.outer(law, law).ravel())
    return grid_divergence(*laws, problem.levels[max(levels)])


def check_plans(seed: int, cases: int) -> Counter[str]:
    """Check random plans by enumeration of every counter of every round, and count the cases of each assumption.

    Neighbours differ in sets and levels. None is above the certificate, and the farthest one is within 1e-3 of it if
    the plan calls it exact.
    """
    rng, called_exact, tally = np.random.default_rng(seed), 0, Counter[str]()
    for _ in range(cases):
        rounds, sets = int(rng.integers(1, 3)), str(rng.choice(["exactly", "at-most"]))
        d, cutoff = (2, 21) if rounds == 2 else (int(rng.integers(2, 4)), 21)
        s, n = int(rng.integers(1, d + 1)), int(rng.integers(1, 9))
        private, share = bool(rng.integers(2)), float(rng.uniform(0.1, 1.0))
        levels, delta = tuple(sorted(rng.uniform(0.2, 2.0, size=2).tolist())), float(rng.uniform(0.005, 0.1))
        problem = Problem(d, s, levels, (n, n), delta, Assumptions(sets, share, private, rounds))
        tally.update({"rounds": rounds > 1, "at-most": sets == "at-most", "honest": share < 1, "levels": private})
        # the blankets of those who can be relied on, all others being known or missing
        honest = max(math.floor(Fraction(share) * 2 * n), 1)
        mu = float(rng.uniform(0.3, 2.5))
        plan = ProvenSegmented(mu * d / honest, copies_max=float(rng.choice([1.0, 2.5]))).plan(problem)
        copies, certificate = plan.scheme.copies, plan.certificate
        own, other = rng.integers(2, size=2) if private else (int(rng.integers(2)),) * 2
        sizes = rng.integers(s + 1, size=2) if sets == "at-most" else (s, s)
        drawn = [rng.choice(d, size=size, replace=False).tolist() for size in sizes]
        inside, _ = reached(plan, mu, cutoff, drawn, (own, other))
        bound = certificate[own]["delta_upper"] if own == other else delta
        assert inside <= bound + 1e-12, (problem, plan.parameters, own, other)
        assert bound <= delta
        # the farthest change at one level, the others' items known
        level = int(rng.integers(2))
        inside, outside = reached(plan, mu, cutoff, (range(s), range(d - s, d)), (level, level))
        entry = certificate[level]
        assert inside <= entry["delta_upper"] + 1e-12
        if plan.kind == "exact" and copies[level] > 0 and problem.pairs:
            called_exact += 1
            assert entry["delta_lower"] <= outside + 1e-12
            assert entry["delta_upper"] <= outside * (1 + 1e-3) + 1e-12, (problem, plan.parameters, level)
    assert called_exact > cases / 10
    return tally


def test_plans_by_enumeration():
    check_plans(seed=1, cases=40)


@pytest.mark.exhaustive
def test_many_plans_by_enumeration():
    assert min(check_plans(seed=2, cases=1100).values()) >= 500


# -- who took part -----------------------------------------------------------------------------------------------------


def test_estimates_divide_by_those_who_took_part():
    """Half of the users stay away: with the plan for all users, estimates would be half as large."""
    plan = ProvenSegmented().plan(
        Problem(5, 2, (0.5, 1.0), (40, 60), 0.01, Assumptions("exactly", honest_fraction=0.5))
    )
    present = plan.of_participants((20, 31))
    assert present.problem.honest_users == plan.problem.honest_users == 50
    check_simulation(ProvenSegmented(), present, make_sample(present.problem, 4000))
    with pytest.raises(ParameterError, match="at least 50 users"):
        plan.of_participants((20, 29))


# -- sets of at most s items -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("copies", [(1.0, 2.0), (0.5, 1.5)])
def test_messages_of_ragged_sets(copies):
    """Message by message, the counters and the estimates have the right means."""
    sets = [[0, 1], [2, NO_ITEM], [NO_ITEM, NO_ITEM], [1, 3], [0, NO_ITEM]] * 60
    levels, d, blanket = np.repeat([0, 1], 150), 4, 0.3

    def planner(problem: Problem) -> Plan:
        assert problem.assumptions.sets == "at-most"
        return given_plan(problem, copies, blanket)

    asked = Problem(d, 2, LEVELS[:2], (150, 150), 1e-3)
    run = run_protocol(sets, levels, asked, planner=planner, rng=np.random.default_rng(4))
    means = 300 * blanket / d + 60 * sum(copies) / 2 * np.array([2, 2, 1, 1])
    assert run.announcements[1].set_size == 2
    assert np.all(np.abs(run.counters[0] - means) < 6 * np.sqrt(means))
    truth = np.array([2, 2, 1, 1]) / 5
    assert np.sum((run.estimate - truth) ** 2) < 0.1


def test_a_local_protocol_pads_sets_of_at_most_s_items():
    """Reports are subsets of the items and s padding items, and so as private as those of full sets."""
    problem = Problem(6, 3, (1.0,), (300,), 1e-3)
    method = SubsetExponential(local_epsilon=1.0)
    plan = method.plan(problem)
    full = method.plan(Problem(9, 3, (1.0,), (300,), 1e-3, PLAIN))
    assert (plan.parameters, plan.kind) == (full.parameters, "exact")
    rng = np.random.default_rng(5)
    items = np.argsort(rng.random((300, 6)), axis=1)[:, :3]
    items[np.arange(3) >= rng.integers(4, size=300)[:, None]] = NO_ITEM
    held = np.bincount(items[items != NO_ITEM], minlength=6)
    sample = Sample(items, 6, np.broadcast_to(held, (3000, 1, 6)))
    check_simulation(method, plan, sample)
    assert method.expected_mse(plan, held) < plan.mse_bound
