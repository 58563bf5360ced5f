"""What can have been received from a plan's users: against the laws of totals, added up from their definitions."""

import math
from dataclasses import replace

import numpy as np
import pytest
from given_plans import given_plan
from scipy import signal, stats

from segshuffle.accounting.collections.product import delta_interval
from segshuffle.blankets.clustered import Clustered
from segshuffle.blankets.signed import Signed
from segshuffle.collection.library import simulate
from segshuffle.collection.messages.received import FALSE_ALARM, PossibleCounts, epsilons, impossible
from segshuffle.plans.plan import Assumptions, Problem

LAWS = {"single": {}, "clustered": {"law": Clustered(0.4)}, "signed": {"law": Signed(0.3, 0.6, 0.2)}}
BLANKETS = {**LAWS, "capped": {"blanket_cap": 4}}
COUNTS, COPIES, S = (12, 20, 8), (0.3, 1.5, 2.0), 2


def planned(blanket, *, items=6, dummies=2.5, sets="at-most", private_levels=False, counts=COUNTS, copies=COPIES):
    problem = Problem(items, S, (0.5, 1.0, 2.0), counts, 1e-3, Assumptions(sets, private_levels=private_levels))
    return given_plan(problem, copies, dummies, **BLANKETS[blanket])


def units(mean, p, size):
    grid = np.arange(size)
    return stats.nbinom.pmf(grid, mean * (1 - p) / p, 1 - p) if p else stats.poisson.pmf(grid, mean)


def dummies_law(blanket, mean, *, signs, users, size=1500):
    """Return values and law of all dummies with this mean: their number, or pluses minus minuses (`signs`)."""
    if blanket == "capped":
        # users redraw numbers above the cap; then every dummy is counted with the same probability
        m = 2.5
        kept = stats.poisson.pmf(np.arange(5), m) / stats.poisson.cdf(4, m)
        share = mean / (users * m)
        one = sum(kept[k] * np.pad(stats.binom.pmf(np.arange(k + 1), k, share), (0, 4 - k)) for k in range(5))
        law = np.ones(1)
        for _ in range(users):
            law = np.convolve(law, one)
        return np.arange(law.size), law
    if blanket != "signed":
        return np.arange(size), units(mean, {"single": 0.0, "clustered": 0.4}[blanket], size)
    noise = units(0.4 * mean, 0.3, size)
    if signs:
        return np.arange(1 - size, size), signal.convolve(noise, noise[::-1])
    pairs = np.zeros(2 * size)
    pairs[::2] = units(0.1 * mean, 0.6, size)
    law = signal.convolve(signal.convolve(noise, noise), pairs)
    return np.arange(law.size), law


def own_law(held, counts, copies):
    """Return the law of what users send about `held` items each."""
    law = np.ones(1)
    for number, each in zip(counts, copies, strict=True):
        whole, more = divmod(each, 1.0)
        for _ in range(held * number):
            law = np.convolve(law, np.pad([1 - more, more], (int(whole), 0)))
    return law


def outside(values, law, own, bounds):
    """Return the probabilities of less than the least, and of more than the most."""
    total = signal.convolve(law, own)
    numbers = values[0] + np.arange(total.size)
    return total[numbers < bounds.least].sum(), total[numbers > bounds.most].sum()


@pytest.mark.parametrize("private_levels", [False, True])
@pytest.mark.parametrize("sets", ["at-most", "exactly"])
@pytest.mark.parametrize("blanket", BLANKETS)
def test_false_alarms_are_below_one_in_a_million_and_the_bounds_are_close(blanket, sets, private_levels):
    """Whatever users hold: totals are extreme where all hold most or least, an item where all or nobody hold it.

    The exact tails are summed over both totals and all items. The bounds are not lax either: at 3 times the number
    of deviations that a normal law would have, no count is possible any more.
    """
    plan, n = planned(blanket, sets=sets, private_levels=private_levels), sum(COUNTS)
    can, mean, d = PossibleCounts.of(plan), plan.scheme.mean, 6
    levels = {"least": (COUNTS, COPIES), "most": (COUNTS, COPIES)}
    if private_levels:  # it is not known who has which level
        levels = {"least": ((n,), (min(COPIES),)), "most": ((n,), (max(COPIES),))}
    least = S if sets == "exactly" else 0
    alarms = 0.0
    for bounds, items, signs, held, repeated in (
        (can.messages, d, False, (least, S), 1),
        (can.net, d, True, (least, S), 1),
        (can.item, 1, True, (0, 1), d),
    ):
        values, law = dummies_law(blanket, items * mean, signs=signs, users=n)
        low, high = own_law(held[0], *levels["least"]), own_law(held[1], *levels["most"])
        alarms += repeated * (outside(values, law, low, bounds)[0] + outside(values, law, high, bounds)[1])
        centre = float(values @ law)
        spread = 3 * 6 * math.sqrt(float((values - centre) ** 2 @ law) + 0.25 * S * n)
        sent_least, sent_most = (float(np.arange(own.size) @ own) for own in (low, high))
        assert bounds.least > centre + sent_least - spread
        assert bounds.most < centre + sent_most + spread
    assert 0 < alarms < FALSE_ALARM


@pytest.mark.parametrize("blanket", LAWS)
def test_repeated_lines_are_told_by_their_multiples(blanket):
    """Here any number of own messages up to thousands is possible, so that totals tell nothing."""
    plan = planned(blanket, items=40, dummies=40.0, counts=(120, 200, 80))
    users = [[user % 40] if user % 5 == 0 else [] for user in range(400)]
    for seed in range(20):
        counts = simulate(plan, users, seed=seed)
        assert impossible(plan, counts, None, str) is None
        for times in (2, 3, 9):
            assert f"is every line there {times} times?" in (impossible(plan, times * counts, None, str) or "")


def test_multiples_that_chance_makes_are_no_repetition():
    """In the worst case for the users' own messages, a count is even with probability (1 + exp(-2 mean))/2."""
    told = []
    for items in range(5, 60):
        plan = planned("single", items=items, dummies=0.02 * items, counts=(10, 10, 20))
        counts = np.where(np.arange(items) % 2, 2, 4)
        told.append("every count is a multiple of 2" in (impossible(plan, counts, None, str) or ""))
        chance = stats.poisson.pmf(np.arange(0, 100, 2), plan.scheme.mean).sum() ** items
        assert told[-1] == (chance < FALSE_ALARM / 32)
    assert 0 < sum(told) < len(told)


@pytest.mark.parametrize("blanket", BLANKETS)
@pytest.mark.parametrize("n_users", [10**3, 10**9, 10**15])
def test_honest_collections_of_any_size_are_possible(blanket, n_users):
    counts = (n_users // 2, n_users - n_users // 2)
    problem = Problem(8, S, (0.5, 1.0), counts, 1e-3, Assumptions("exactly"))
    can = PossibleCounts.of(given_plan(problem, (1.0, 2.0), 3.0, **BLANKETS[blanket]))
    own, dummies = S * (counts[0] + 2 * counts[1]), 3 * n_users
    # a cap of 4 takes a share of the dummies away, which the bounds do not count on
    fewest = 0.85 * dummies if blanket == "capped" else dummies
    assert can.messages.least < own + fewest
    assert own + dummies < can.messages.most
    assert can.messages.most - own - dummies < 40 * math.sqrt(dummies + own) + 100


def test_the_sentence_names_the_cause():
    plan = planned("single")
    even = np.full(6, 30)
    assert impossible(plan, even, 180, str) is None
    for counts, says in (
        (even // 30, "6 messages, but 40 users of this plan send"),
        (even * 2, "is every line there twice, or did another number of users take part (--levels)?"),
        (np.array([180, 0, 0, 0, 0, 1]), "the count of item 'x0', 180, is not in"),
    ):
        assert says in (impossible(plan, counts, int(counts.sum()), lambda item: f"x{item}") or ""), counts
    signed = planned("signed")
    assert "more pluses than minuses" in (impossible(signed, even * 100 + 1, None, str) or "")


@pytest.mark.parametrize("blanket", LAWS)
def test_epsilons_of_those_who_came_are_certified_and_close(blanket):
    copies = (0.3, 0.5, 0.7)
    plan = planned(blanket, dummies=30.0, counts=(30, 30, 40), copies=copies)
    for honest in (100, 99, 60):
        for epsilon, each in zip(epsilons(plan, honest), copies, strict=True):
            pair = plan.scheme.law.pair(30.0 * honest / 6, each)
            assert delta_interval(pair, pairs=S, epsilon=epsilon).upper <= 1e-3 * (1 + 1e-9)
            assert delta_interval(pair, pairs=S, epsilon=epsilon * 0.99).lower > 1e-3


def test_a_cap_costs_those_who_came_a_little():
    free = planned("single", dummies=30.0, counts=(30, 30, 40), copies=(0.3, 0.5, 0.7))
    capped = given_plan(free.problem, (0.3, 0.5, 0.7), 30.0, blanket_cap=90)
    for one, other in zip(epsilons(free, 80), epsilons(capped, 80), strict=True):
        assert one < other < 1.01 * one


def test_of_fewer_the_certificate_is_not_kept():
    plan = planned("single", counts=(10, 10, 10))
    plan = replace(plan, certificate=({"epsilon": 1.0, "delta_lower": 0.0, "delta_upper": 1e-3},))
    assert plan.of_participants((10, 10, 11), fewer=True).certificate
    served = plan.of_participants((10, 10, 9), fewer=True)
    assert not served.certificate
    assert served.problem.honest_users == 29
