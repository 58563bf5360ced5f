"""Message level against exact enumeration, and against the count-level simulations, on joint counts.

False alarms: a p-value below 1e-9 or a |z| above 6.5 (probability 8e-11) fails. There are fewer than 40 p-values and
1500 z-scores, so a correct engine fails with probability below 2e-7 over the choice of seeds; the seeds are fixed.
Cells with an expectation below 20 are pooled, so that the chi-square tail holds far out.
"""

from collections import Counter
from fractions import Fraction

import numpy as np
import oracles as o
import pytest
from given_plans import given_plan, separate_plan
from hypothesis import settings
from oracles.clusters import signed_law, with_copies
from scipy import stats
from simulations import POOL_BELOW, law_p_value

from segshuffle.blankets.binomial import BINOMIAL
from segshuffle.blankets.clustered import Clustered
from segshuffle.blankets.poisson import POISSON
from segshuffle.blankets.signed import Signed
from segshuffle.collection.messages import engine, run_protocol
from segshuffle.collection.messages.server import tally
from segshuffle.collection.messages.shuffler import Shuffler
from segshuffle.collection.messages.simulated_clients import SimulatedClients
from segshuffle.plans.plan import PLAIN, Problem, Sample
from segshuffle.plans.scheme import Scheme
from segshuffle.protocols.balls_into_bins import BallsIntoBins
from segshuffle.protocols.balls_into_bins_proven import ProvenBallsIntoBins
from segshuffle.protocols.proven import ProvenSegmented
from segshuffle.protocols.segmented import Segmented, plan_at

ALARM = 1e-9
LARGEST_Z = 6.5


def counters(announcement, items, levels, rng, *, batch):
    """Return the counters of one round, sent in batches."""
    batches = SimulatedClients(np.asarray(items), np.asarray(levels)).batches(batch)
    sent = (each.send_items(announcement, rng) for each in batches)
    messages = Shuffler(rng).release(sent, announcement.dtype)
    counted = tally(messages, announcement.distinct_messages)
    assert counted.sum() == len(messages)
    return tuple(counted.tolist())


def sample_counters(announcement, items, levels, seed, runs, batch):
    rng = np.random.default_rng(seed)
    return Counter(counters(announcement, items, levels, rng, batch=batch) for _ in range(runs))


TINY = [
    # domain, sets, level of each user, rates by level, m
    (3, [(0, 1), (1, 2)], [0, 1], (0.5, 1.0), 0.75),
    (3, [(0,), (2,), (2,)], [1, 0, 1], (0.25, 0.75), 1.5),
    (2, [(0, 1), (0, 1)], [0, 0], (0.375,), 1.0),
    (3, [(0, 1), (1, 2)], [0, 1], (1.5, 0.5), 0.5),  # copies: more than one message about an item
]


def exact_law(law, d, sets, levels, rates, m):
    """Return the law of all counters, and what the enumeration lost."""
    own, slots = [Fraction(rates[k]) for k in levels], int(np.ceil(m))
    if law == BINOMIAL:
        return o.segmented_view(d, sets, own, len(sets) * slots, Fraction(m) / slots), 0
    return o.poisson_blanket_view(d, sets, own, Fraction(m) * len(sets) / d, 14)


BATCHES = pytest.mark.parametrize("batch", [1, 10])


@pytest.mark.quick("law1-2-sets2-levels2-rates2-1.0-1")
@BATCHES
@pytest.mark.parametrize(("d", "sets", "levels", "rates", "m"), TINY)
@pytest.mark.parametrize("law", [BINOMIAL, POISSON])
def test_counters_have_the_exact_law(law, d, sets, levels, rates, m, batch):
    runs = 1500 if batch == 1 else 4000
    exact, lost = exact_law(law, d, sets, levels, rates, m)
    assert float(lost) < 1e-6
    announcement = Scheme(d, len(sets[0]), len(sets), rates, m, law)
    observed = sample_counters(announcement, sets, levels, 12, runs, batch)
    assert law_p_value(observed, exact) > ALARM


@pytest.mark.quick(0)
@BATCHES
def test_signed_blanket_is_the_exact_law(batch):
    """For two items and one user, (N+, N-) is noise and flood by definition, and a copy for the held item."""
    p, flood_p, share, m, copies, size = 0.3, 0.5, 0.3, 1.6, 0.75, 15
    free = signed_law(0.5 * m, p, flood_p, share, size)
    held = with_copies(free, 0, copies)
    exact = {(i, k, j, n): held[i, j] * free[k, n] for i, j, k, n in np.ndindex(10, 10, 10, 10)}
    announcement = Scheme(2, 1, 1, (copies,), m, Signed(p, flood_p, share))
    observed = sample_counters(announcement, [(0,)], [0], 14, 1500, batch)
    beyond = dict.fromkeys(observed, 0.0)  # outside the table: rare, and pooled
    assert law_p_value(observed, beyond | exact) > ALARM


# ----------------------------------------------------------------------------------------------------------------------
# Count level
# ----------------------------------------------------------------------------------------------------------------------

D, S, LEVELS = 5, 2, (0.5, 1.0, 2.0)
N_USERS = 60
# 360, and 2400 in the thorough profile
RUNS = 24 * settings().max_examples


def scenario():
    rng = np.random.default_rng(20)
    skew = np.array([0.4, 0.25, 0.15, 0.12, 0.08])
    items = np.array([rng.choice(D, size=S, replace=False, p=skew) for _ in range(N_USERS)])
    levels = np.repeat([0, 1, 2], [15, 25, 20])
    held = np.zeros((3, D), dtype=np.int64)
    np.add.at(held, (levels[:, None], items), 1)
    sample = Sample(items, D, np.broadcast_to(held, (RUNS, 3, D)).copy())
    return sample, levels, Problem(D, S, LEVELS, (15, 25, 20), 0.1, PLAIN)


def message_runs(plan, sample, levels, **kwargs):
    """Return estimates, shape (RUNS, D)."""
    rng = np.random.default_rng(21)
    return np.array(
        [
            run_protocol(sample.items, levels, plan.problem, planner=lambda _: plan, rng=rng, **kwargs).estimate
            for _ in range(RUNS)
        ]
    )


def moment_scores(one, other):
    """Return z-scores of the differences of all first and second moments of two samples, shape (runs, columns)."""
    centre = np.concatenate([one, other]).mean(axis=0)
    i, j = np.triu_indices(one.shape[1])
    a, b = (np.hstack([x, (x - centre)[:, i] * (x - centre)[:, j]]) for x in (one, other))
    spread = np.sqrt(a.var(axis=0) / len(a) + b.var(axis=0) / len(b))
    return (a.mean(axis=0) - b.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def joint_p_value(one, other):
    """Return the p-value of a two-sample chi-square: cells of three coordinates cut at quartiles, rare ones pooled."""
    both = np.concatenate([one, other])[:, [0, 1, -1]]
    edges = np.quantile(both, [0.25, 0.5, 0.75], axis=0)
    cell = sum((both[:, c, None] > edges[:, c]).sum(axis=1) * 4**c for c in range(3))
    table = np.array([np.bincount(part, minlength=64) for part in (cell[: len(one)], cell[len(one) :])])
    frequent = table.sum(axis=0) >= 2 * POOL_BELOW
    pooled = np.column_stack([table[:, frequent], table[:, ~frequent].sum(axis=1)])
    return float(stats.chi2_contingency(pooled[:, pooled.sum(axis=0) > 0]).pvalue)


def assert_same_law(one, other):
    assert np.abs(moment_scores(one, other)).max() < LARGEST_Z
    assert joint_p_value(one, other) > ALARM


@pytest.mark.quick("poisson-2.0-1048576")
@pytest.mark.parametrize("batch", [engine.BATCH_DRAWS, 100])
@pytest.mark.parametrize(
    ("method", "blanket"),
    [
        *((Segmented(), blanket) for blanket in (0.6, 1.0, 2.5)),
        (BallsIntoBins(), 3.3),
        (BallsIntoBins(name="sepmm"), (4.5, 2.0, 0.7)),
        (BallsIntoBins(name="weighted-sepmm"), (4.5, 2.0, 0.7)),
        (ProvenSegmented(), 2.0),
        (ProvenSegmented(copies_max=2.0), 4.0),
        (ProvenSegmented(), (Clustered(0.5), 2.0)),
        (ProvenSegmented(copies_max=2.0), (Signed(0.5, 0.6, 0.4), 4.0)),
        (ProvenBallsIntoBins(), 3.3),
        (ProvenBallsIntoBins(name="sepmm"), (4.5, 2.0, 0.7)),
    ],
    ids=lambda value: getattr(value, "name", str(value)),
)
def test_messages_are_counted_as_simulated(method, blanket, batch, monkeypatch):
    monkeypatch.setattr(engine, "BATCH_DRAWS", batch)
    sample, levels, problem = scenario()
    if isinstance(method, Segmented):
        plan = plan_at(problem, blanket, (0.3, 0.7, 1.0))
    elif isinstance(method, ProvenSegmented):
        plan = method.searches(problem)[0].certified_plan(
            *(blanket if isinstance(blanket, tuple) else (POISSON, blanket))
        )
    else:
        law, kind = (POISSON, "exact") if method.analysis == "proven" else (BINOMIAL, "published")
        if method.name != "mm":
            plan = separate_plan(problem, blanket, (0.2, 0.3, 0.5), law, kind=kind)
        else:
            plan = given_plan(problem, (1.0,) * 3, blanket, law, kind=kind)
    estimates = message_runs(plan, sample, levels)
    assert_same_law(estimates, method.simulate(plan, sample, np.random.default_rng(28)))
