"""What a change of items, of the number of items, of the level, or of all of them costs: every counter enumerated."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest
from oracles.changes import counters_of_user, grid_divergence
from scipy import stats

from segshuffle.accounting.collections.calibration import largest_copies, least_blanket_mean
from segshuffle.accounting.collections.levels import compose_rounds
from segshuffle.accounting.collections.product import delta_interval
from segshuffle.blankets.poisson import ItemPair
from segshuffle.plans.plan import PLAIN, Problem
from segshuffle.protocols.proven import ProvenSegmented

#: Round-off of the sums over a grid.
ROUND_OFF = 1e-13
# items d, largest sets s, blanket mean, counts up to this one
SIZES = [
    (2, 1, 1.5, 24),
    (2, 2, 1.5, 24),
    (3, 1, 3.0, 26),
    (3, 2, 1.0, 18),
    (3, 3, 0.6, 17),
    (4, 2, 0.5, 13),
    (4, 3, 0.7, 13),
]


@functools.lru_cache(maxsize=64)
def law(d, items, copies, mu, cutoff):
    return counters_of_user(d, items, copies, mu, cutoff)


def drawn_set(rng, d, most):
    return tuple(sorted(rng.choice(d, size=rng.integers(most + 1), replace=False).tolist()))


@pytest.mark.exhaustive
def test_any_change_costs_at_most_s_pairs_at_the_larger_copies():
    """Any two sets of at most s items, any two numbers of copies: s pairs at the larger one bound both directions."""
    rng = np.random.default_rng(2)
    for case in range(5000):
        if case % 8 == 0:  # many changes at the same numbers
            d, s, mu, cutoff = SIZES[rng.integers(len(SIZES))]
            copies = rng.choice([0.0, 1.0, 2.0, *rng.uniform(0.02, 2.7, size=4)], size=2)
            epsilon = float(rng.choice([0.0, rng.uniform(0.0, 2.5)]))
            bound = delta_interval(ItemPair(mu, float(copies.max())), pairs=s, epsilon=epsilon, rtol=1e-2).upper
        one, other = drawn_set(rng, d, s), drawn_set(rng, d, s)
        p, q = (law(d, items, float(a), mu, cutoff) for items, a in zip((one, other), copies, strict=True))
        for first, second in ((p, q), (q, p)):
            inside, _ = grid_divergence(first, second, epsilon)
            assert inside <= bound + ROUND_OFF, (d, s, mu, one, other, copies, epsilon)


@pytest.mark.quick(0)
def test_few_items_not_held_do_not_make_a_change_of_level_cheap():
    """Four items, sets of three: exchanges of one item calibrate (2, 2e-6), but a new level costs a lot more.

    If exchanges of one item were enough, round 1 at epsilon 0.02 would make the sum about (2.02, 2e-6).
    """
    mu, delta, epsilon = 12.0, 2e-6, 2.02
    own, other = (largest_copies(blanket_mean=mu, pairs=1, epsilon=level, delta=delta) for level in (0.1, 2.0))
    p = counters_of_user(4, (0, 1, 2), own, mu, 30)
    true = grid_divergence(p, counters_of_user(4, (1, 2, 3), other, mu, 30), epsilon)[0]
    assert 3e-5 < true < 3.2e-5
    assert delta_interval(ItemPair(mu, other), pairs=3, epsilon=epsilon).upper > true
    safe = largest_copies(blanket_mean=mu, pairs=3, epsilon=2.0, delta=delta)
    assert safe < other
    q = counters_of_user(4, (1, 2, 3), safe, mu, 30)
    assert grid_divergence(counters_of_user(4, (0, 1, 2), min(own, safe), mu, 30), q, 2.0)[0] <= delta


def test_a_conservative_user_is_not_protected_at_its_own_level():
    """MSNBC's sizes: one function of the histogram alone has ten times delta + delta_p at E_1 + epsilon_p.

    It is the counts of the liberal set minus those of the conservative one: blankets, and what one user sends less
    what the other sends.
    """
    levels, delta, s, level_epsilon = (0.5, 1.0, 2.0), 2e-6, 4, 0.1
    plan = ProvenSegmented().plan(Problem(17, s, levels, (1250, 2500, 1250), delta, PLAIN))
    mu, copies = 5000 * plan.blanket_per_user / 17, plan.scheme.copies
    assert (mu, *copies) == pytest.approx((135.2, 0.53, 1.0, 1.0), rel=1e-3)
    blankets = stats.skellam.pmf(np.arange(-500, 501), s * mu, s * mu)
    liberal, conservative = np.zeros((2, 1001 + 2 * s))
    liberal[2 * s :] = blankets  # all s items, each once
    conservative[: 1001 + s] = np.convolve(blankets, stats.binom.pmf(np.arange(s + 1), s, copies[0])[::-1])
    # columns are differences from -500 - s on: the liberal set shifts them up by s, the conservative one down
    assert liberal @ np.arange(liberal.size) - conservative @ np.arange(liberal.size) == pytest.approx(
        s * 1.53, rel=1e-3
    )
    reached = grid_divergence(conservative, liberal, levels[0] + level_epsilon)[0]
    assert reached > 10 * 2 * delta
    covered = compose_rounds(
        levels=levels, deltas=[delta] * len(levels), kind=plan.kind, levels_epsilon=level_epsilon, levels_delta=delta
    )[0]
    assert covered.against[0] == (0.5, 0.5, delta)
    assert covered.against[1].epsilon >= 1.1
    assert covered.total_epsilon >= 2.1
    for other in (1, 2):
        pair = ItemPair(mu, copies[other])
        assert delta_interval(pair, pairs=s, epsilon=levels[other]).upper <= delta
        assert delta_interval(pair, pairs=s, epsilon=levels[0] + level_epsilon).upper > reached


@pytest.mark.parametrize("d", [2, 3])
def test_both_rounds_together_are_within_the_total(d):
    """All counters of both rounds are enumerated; the plan of round 2 depends on what round 1 showed."""
    levels, delta, s, level_epsilon, level_delta = (0.5, 1.5), 0.02, 2, 0.7, 0.03
    mean = least_blanket_mean(copies=1.0, pairs=1, epsilon=level_epsilon, delta=level_delta)
    guarantees = compose_rounds(
        levels=levels, deltas=[delta] * 2, kind="upper", levels_epsilon=level_epsilon, levels_delta=level_delta
    )
    first = 8 if d == 3 else 14
    plain = np.array([math.exp(-mean) * mean**x / math.factorial(x) for x in range(first + 1)])
    one_more = np.append(0.0, plain[:-1])
    seen = [np.outer(one_more, plain), np.outer(plain, one_more)]
    cutoff = 15 if d == 3 else 22
    plans = [
        (mu, tuple(largest_copies(blanket_mean=mu, pairs=s, epsilon=e, delta=delta, copies_max=2.5) for e in levels))
        for mu in (0.9, 2.2)
    ]
    rng = np.random.default_rng(3)
    chosen = rng.integers(len(plans), size=seen[0].shape)
    sets = [(), (0,), (0, 1), (1,), (d - 2, d - 1)]
    for own, other in ((0, 1), (1, 0)):
        total = next(each for each in guarantees[own].against if each.level == levels[other])
        for x in sets:
            for y in sets:
                reached = 0.0
                for number, (mu, copies) in enumerate(plans):
                    p, q = law(d, x, copies[own], mu, cutoff), law(d, y, copies[other], mu, cutoff)
                    for at_p, at_q in zip(seen[own][chosen == number], seen[other][chosen == number], strict=True):
                        joint = np.maximum(at_p * p - math.exp(total.epsilon) * at_q * q, 0.0)
                        reached += float(joint.sum())
                assert reached <= total.delta + ROUND_OFF
