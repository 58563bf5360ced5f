"""What liars can do to estimates: attacks, message by message, against what is printed with the plan.

False alarms: |z| above 6.5 (probability 8e-11) fails; there are 20 z-scores per attack, fewer than 300 in all.
"""

import math
from dataclasses import astuple
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
import pytest
from given_plans import given_plan

from segshuffle.blankets.signed import Signed
from segshuffle.collection.messages import Client, Demand, Server
from segshuffle.collection.messages.server import tally
from segshuffle.collection.messages.shuffler import Shuffler
from segshuffle.plans.level_counts import LevelEstimates
from segshuffle.plans.method import Influence
from segshuffle.plans.plan import PLAIN, Plan, Problem
from segshuffle.plans.scheme import Scheme
from segshuffle.protocols.almost_single_message import AlmostSingleMessage, Hash
from segshuffle.protocols.augmented_shuffling import AugmentedShuffling
from segshuffle.protocols.balls_into_bins import BallsIntoBins
from segshuffle.protocols.capped import Capped
from segshuffle.protocols.correlated_noise import CorrelatedNoise
from segshuffle.protocols.fake_users import FakeUsers
from segshuffle.protocols.proven import ProvenSegmented
from segshuffle.protocols.segmented import Segmented, plan_at
from segshuffle.protocols.subset_exponential import SubsetExponential

D, S, LEVELS, COUNTS, DELTA = 5, 2, (0.5, 1.0), (20, 20), 0.01
PROBLEM = Problem(D, S, LEVELS, COUNTS, DELTA, PLAIN)
HELD = (3, 1)
RUNS = 400

PLANS = {
    "capped": lambda: Capped(ProvenSegmented(copies_max=2.0, blanket_per_user=4.0)).plan(PROBLEM),
    "published": lambda: plan_at(PROBLEM, 2.5, (0.4, 0.9)),
}

ATTACKS = {
    "all on one item": [0] * 1000,
    "spread": list(range(D)) * 200,
    "silence": [],
    "many copies of its own": [3, 1] * 500,
    "no items at all": [250] * 1000,
    "one message": [0],
}


class Scene(NamedTuple):
    plan: Plan
    announcement: Scheme
    others: list[list[int]]
    """What all others sent."""
    agreed: list[list[int]]
    """What the last user sends as agreed, again and again."""


@pytest.fixture(scope="module", params=PLANS)
def scene(request):
    plan = PLANS[request.param]()
    announcement = Server(PROBLEM).collections(plan)[0].announcement
    rng = np.random.default_rng(41)

    def sent(items, level):
        client = Client(items, level, Demand(100.0, 0.99, 10**9, "exactly"), below=lambda n: int(rng.integers(n)))
        return client.send_items(announcement)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("segshuffle.collection.messages.client.check_announcement", lambda *_: 0.0)
        others = [sent(rng.choice(D, size=S, replace=False).tolist(), user % 2) for user in range(39)]
        return Scene(plan, announcement, others, [sent(HELD, 1) for _ in range(RUNS)])


def estimate(scene, last):
    """Return the server's estimate if one more sender sends `last`; the shuffler accepts no more than is allowed."""
    most = int(Segmented().influence(scene.plan).most_messages)
    shuffler = Shuffler(np.random.default_rng(42))
    counted = tally(shuffler.release([*scene.others, last[:most]], scene.announcement.dtype), D)
    return (counted - sum(COUNTS) * scene.announcement.blanket_per_user / D) / weight(scene.plan)


def weight(plan):
    return float(np.dot(COUNTS, plan.scheme.copies))


def honest_mean(scene):
    """Return the mean of what the last user adds to each estimate as agreed, and its standard error."""
    counts = np.array([np.bincount(messages, minlength=D) for messages in scene.agreed]) / weight(scene.plan)
    return counts.mean(axis=0), counts.std(axis=0) / np.sqrt(RUNS)


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_attack_moves_more_than_is_printed(scene, attack):
    promised = Segmented().influence(scene.plan)
    mean, spread = honest_mean(scene)
    shift = estimate(scene, ATTACKS[attack]) - estimate(scene, []) - mean
    assert (np.abs(shift) <= promised.item + 6.5 * spread).all()
    assert np.abs(shift).sum() <= promised.all_items + 6.5 * spread.sum()
    if attack == "all on one item":  # this attack attains the bound
        assert shift[0] == pytest.approx(promised.item, abs=6.5 * spread[0])
        assert np.abs(shift).sum() > 0.8 * promised.all_items - 6.5 * spread.sum()


def test_the_influence_without_a_cap_and_with_one_dummy_by_hand():
    """Poisson dummies without a cap set no limit. With one slot for a dummy, two messages about one item are worst."""
    plan = ProvenSegmented(blanket_per_user=3.0, copies_max=1.0).plan(Problem(5, 1, (3.0,), (40,), 0.2, PLAIN))
    mm = BallsIntoBins().plan(Problem(200, 1, (1.0,), (40000,), 1e-3, PLAIN))
    assert astuple(Segmented().influence(plan)) == (math.inf, math.inf, math.inf)
    assert mm.blanket_per_user < 1
    assert Segmented().influence(mm).item == pytest.approx((2 - mm.blanket_per_user / 200) / 40000)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_reports_by_enumeration(size):
    """Every report against every honest one, whose law is enumerated from its definition."""
    epsilon, n = 0.8, 30
    method = SubsetExponential(local_epsilon=epsilon, subset_size=size)
    plan = method.plan(Problem(D, S, (epsilon,), (n,), 1e-3, PLAIN))
    reports = [set(z) for z in combinations(range(D), size)]
    weights = np.array([np.exp(epsilon) if z & set(HELD) else 1.0 for z in reports])
    inside = np.array([[j in z for j in range(D)] for z in reports], dtype=float)
    honest = weights @ inside / weights.sum()
    a, b = honest[3], honest[0]
    shifts = (inside - honest) / (n * (a - b))
    promised = method.influence(plan)
    assert promised.item == pytest.approx(np.abs(shifts).max(), rel=1e-12)
    assert promised.all_items == pytest.approx(np.abs(shifts).sum(axis=1).max(), rel=1e-12)
    assert promised.most_messages == 1


def test_a_liar_in_round_one_moves_the_denominator_by_little():
    """Up to three messages on any levels instead of one: within (3 + 1)(max a - min a), by enumeration."""
    copies, honest = np.array([0.3, 0.8, 1.0]), np.array([25, 30, 45])

    def weight(counts):
        return LevelEstimates(counts, 100, 0.0).balanced @ copies

    for sent in product(range(4), repeat=3):
        if sum(sent) <= 3:
            for own in np.eye(3, dtype=int):
                assert abs(weight(honest + np.array(sent) - own) - weight(honest)) <= 4 * 0.7


# -- other kinds of messages ------------------------------------------------------------------------------------------


def test_fake_users_by_enumeration():
    """All ones or all noughts in every bit of every vector, against the mean of an honest user's column sums."""
    n = 2000
    plan = FakeUsers(2).plan(Problem(D, S, (1.0,), (n,), 1e-3, PLAIN))
    flip, vectors = plan.parameters["flip"], int(plan.messages_per_user)
    honest = np.array([vectors * flip] * D)
    honest[list(HELD)] += 1 - 2 * flip
    shifts = [np.abs(sent - honest) / (n * (1 - 2 * flip)) for sent in (0, vectors)]
    assert FakeUsers(2).influence(plan).item == pytest.approx(max(shift.max() for shift in shifts))
    assert FakeUsers(2).influence(plan).all_items == pytest.approx(np.maximum(*shifts).sum())


def test_what_is_known_of_the_others():
    problem = Problem(D, S, (1.0,), (50,), 1e-3, PLAIN)
    for method in (CorrelatedNoise(), AlmostSingleMessage(accounting="proven")):  # Poisson numbers have no end
        assert astuple(method.influence(method.plan(problem))) == (math.inf,) * 3
    kept = AugmentedShuffling().influence(AugmentedShuffling().plan(problem))
    assert (kept.item, kept.all_items) == (S / 50, 2 * S / 50)
    assert np.isinf(Segmented().influence(given_plan(problem, (1.0,), 1.0, Signed(0.5, 0.5, 0.5))).item)


@pytest.mark.parametrize("counts", [COUNTS, (0, 40)])
def test_separate_collections_have_their_worst_level(counts):
    plan = BallsIntoBins(name="sepmm").plan(Problem(D, S, LEVELS, counts, DELTA, PLAIN))
    sent = [(each.weight, each.announcement) for each in plan.collections]
    levels = [(w / one.n_users, one.blanket_per_user, np.ceil(one.blanket_per_user) + S) for w, one in sent]
    found = Segmented().influence(plan)
    assert found.item == pytest.approx(max(share * (most - m / D) for share, m, most in levels))
    assert found.all_items == pytest.approx(max(share * (most + m + S) for share, m, most in levels))
    assert found.most_messages == max(most for _, _, most in levels)
    assert found.of(3) == Influence(found.most_messages, 3 * found.item, 3 * found.all_items)


@pytest.mark.parametrize("domain_size", [5, 60])
def test_hashed_messages_by_hand(domain_size):
    """A hashed message counts for at most `reach` items, as simulations show; with d <= b it is an item."""
    plan = AlmostSingleMessage().plan(Problem(domain_size, S, (2.0,), (80,), 1e-2, PLAIN))
    prime, buckets = plan.parameters["prime"], plan.parameters["buckets"]
    assert (prime > 0) == (domain_size == 60)
    hashing, most = Hash(domain_size, prime, buckets), S + math.ceil(plan.blanket_per_user)
    promised = AlmostSingleMessage().influence(plan)
    dummies, reach = plan.blanket_per_user / buckets, math.ceil(prime / buckets) if prime else 1
    means = np.full(domain_size, dummies + S * hashing.collision)
    means[:S] = 1 + dummies + (S - 1) * hashing.collision
    scale = 80 * (1 - hashing.collision)
    assert promised.most_messages == most
    assert promised.item == pytest.approx((most - means[-1]) / scale)
    assert promised.all_items == pytest.approx((most * reach + means.sum()) / scale, rel=1e-12)
    if prime:
        u, v, w = np.random.default_rng(45).integers((1, 0, 0), (prime, prime, buckets), size=(200, 3)).T[:, :, None]
        assert 1 < ((u * np.arange(domain_size) + v) % prime % buckets == w).sum(axis=1).max() <= reach
