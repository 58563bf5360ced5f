"""Message level against exact enumeration, and against the count-level simulations, on joint counts.

False alarms: a p-value below 1e-9 or a |z| above 6.5 (probability 8e-11) fails. There are fewer than 40 p-values and
1500 z-scores, so a correct engine fails with probability below 2e-7 over the choice of seeds; the seeds are fixed.
Cells with an expectation below 20 are pooled, so that the chi-square tail holds far out.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import oracles as o
import pytest
from hypothesis import settings
from scipy import stats

from segshuffle.blankets.binomial import BINOMIAL
from segshuffle.blankets.clustered import Clustered
from segshuffle.blankets.poisson import POISSON
from segshuffle.blankets.signed import Signed
from segshuffle.protocols.balls_into_bins import BallsIntoBins, SeparateBallsIntoBins
from segshuffle.protocols.base import Problem, Sample, draw_blanket
from segshuffle.protocols.messages import Scheme, Shuffler, SimulatedClients, run_protocol, tally
from segshuffle.protocols.proven import ProvenSegmented
from segshuffle.protocols.segmented import Segmented, plan_at

ALARM = 1e-9
LARGEST_Z = 6.5
POOL_BELOW = 20.0


def counters(announcement, items, levels, rng, *, buckets=1, batch=None):
    """Counters of one round, in batches."""
    items, levels = np.asarray(items), np.asarray(levels)
    batch = batch or len(levels)
    with Shuffler(announcement.wire, rng, buckets=buckets) as shuffler:
        for i in range(0, len(levels), batch):
            shuffler.collect(
                SimulatedClients(items[i : i + batch], levels[i : i + batch]).send_items(announcement, rng)
            )
        with shuffler.release() as messages:
            counted = tally(messages, announcement.words)
    assert counted.refused == 0
    return tuple(counted.counts.tolist())


def goodness_of_fit(observed: dict, law: dict, runs: int) -> float:
    """p-value of observed histograms under an exact law, rare cells pooled; 0 for anything impossible."""
    law = {cell: float(p) for cell, p in law.items()}
    frequent = [cell for cell, p in law.items() if p * runs >= POOL_BELOW]
    expected = [law[cell] * runs for cell in frequent]
    seen = [observed.get(cell, 0) for cell in frequent]
    rest = runs - sum(expected)
    if rest < POOL_BELOW:  # the remaining cells join the rarest of the others
        expected[int(np.argmin(expected))] += rest
        seen[int(np.argmin(expected))] += runs - sum(seen)
    else:
        expected.append(rest)
        seen.append(runs - sum(seen))
    return float(stats.chisquare(seen, expected, sum_check=False).pvalue)


def sample_counters(announcement, items, levels, rng, runs, **streaming):
    observed: dict = {}
    for _ in range(runs):
        cell = counters(announcement, items, levels, rng, **streaming)
        observed[cell] = observed.get(cell, 0) + 1
    return observed


TINY = [
    # domain, sets, level of each user, rates by level, m
    (3, [(0, 1), (1, 2)], [0, 1], (0.5, 1.0), 0.75),
    (3, [(0,), (2,), (2,)], [1, 0, 1], (0.25, 0.75), 1.5),
    (2, [(0, 1), (0, 1)], [0, 0], (0.375,), 1.0),
    (3, [(0, 1), (1, 2)], [0, 1], (1.5, 0.5), 0.5),  # copies: more than one message about an item
]


@pytest.mark.quick(0)
@pytest.mark.parametrize("streaming", [{}, {"buckets": 3, "batch": 1}], ids=["memory", "streamed"])
@pytest.mark.parametrize(("d", "sets", "levels", "rates", "m"), TINY)
def test_binomial_blanket_is_the_exact_law(d, sets, levels, rates, m, streaming):
    runs = 1500 if streaming else 4000  # the same law through files: only the streaming itself is new
    slots = int(np.ceil(m))
    exact = o.segmented_view(d, sets, [Fraction(rates[k]) for k in levels], len(sets) * slots, Fraction(m) / slots)
    announcement = Scheme(d, len(sets[0]), len(sets), rates, m, BINOMIAL)
    observed = sample_counters(announcement, sets, levels, np.random.default_rng(11), runs, **streaming)
    assert set(observed) <= set(exact)
    assert goodness_of_fit(observed, exact, runs) > ALARM


@pytest.mark.quick("2-sets2-levels2-rates2-1.0-streamed")
@pytest.mark.parametrize("streaming", [{}, {"buckets": 3, "batch": 1}], ids=["memory", "streamed"])
@pytest.mark.parametrize(("d", "sets", "levels", "rates", "m"), TINY)
def test_poisson_blanket_is_the_exact_law(d, sets, levels, rates, m, streaming):
    runs = 1500 if streaming else 4000  # the same law through files: only the streaming itself is new
    mu = Fraction(m) * len(sets) / d
    exact, lost = o.poisson_blanket_view(d, sets, [Fraction(rates[k]) for k in levels], mu, 14)
    assert float(lost) < 1e-6
    announcement = Scheme(d, len(sets[0]), len(sets), rates, m)
    observed = sample_counters(announcement, sets, levels, np.random.default_rng(12), runs, **streaming)
    assert goodness_of_fit(observed, exact, runs) > ALARM


@pytest.mark.quick(0)
@pytest.mark.parametrize("streaming", [{}, {"buckets": 3, "batch": 1}], ids=["memory", "streamed"])
def test_signed_blanket_is_the_exact_law(streaming):
    """Two items, one user: for each, (N+, N-) is noise and flood by definition, and a copy for the held one."""
    p, flood_p, share, m, copies = 0.3, 0.5, 0.3, 1.6, 0.75
    noise, flood = (
        stats.nbinom.pmf(np.arange(15), mean * (1 - q) / q, 1 - q)
        for mean, q in ((0.25 * m * (1 - share), p), (0.25 * m * share, flood_p))
    )
    free = np.zeros((16, 16))
    for z, g in enumerate(flood[:8]):
        free[z:15, z:15] += g * np.outer(noise[: 15 - z], noise[: 15 - z])
    held = (1 - copies) * free
    held[1:] += copies * free[:-1]
    exact = {
        (i, k, j, n): held[i, j] * free[k, n] for i, j, k, n in np.ndindex(6, 6, 6, 6) if held[i, j] * free[k, n] > 1e-9
    }
    runs = 1500
    announcement = Scheme(2, 1, 1, (copies,), m, Signed(p, flood_p, share))
    observed = sample_counters(announcement, [(0,)], [0], np.random.default_rng(14), runs, **streaming)
    assert goodness_of_fit({cell: observed.get(cell, 0) for cell in exact}, exact, runs) > ALARM


@pytest.mark.quick(0)
def test_the_test_tells_the_two_blankets_apart():
    d, sets, levels, rates, m = TINY[0]
    exact = o.segmented_view(d, sets, [Fraction(rates[k]) for k in levels], 2, Fraction(m))
    announcement = Scheme(d, 2, 2, rates, m)
    observed = sample_counters(announcement, sets, levels, np.random.default_rng(13), 4000)
    assert goodness_of_fit(observed, exact, 4000) < ALARM


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
    return sample, levels, Problem(D, S, LEVELS, (15, 25, 20), 0.1)


def message_runs(plan, sample, levels, **kwargs):
    """Estimates, shape (RUNS, D), and counters by collection."""
    rng = np.random.default_rng(21)
    runs = [
        run_protocol(sample.items, D, levels, LEVELS, 0.1, planner=lambda problem: plan, rng=rng, **kwargs)
        for _ in range(RUNS)
    ]
    return np.array([run.estimate for run in runs]), np.array([run.counters for run in runs])


def moment_scores(one, other):
    """z-scores of the differences of all first and second moments of two samples, shape (runs, columns)."""
    centre = np.concatenate([one, other]).mean(axis=0)
    scores = []
    for a, b in ((one, other), ((one - centre) ** 2, (other - centre) ** 2)):
        scores.append(_welch(a, b))
    i, j = np.triu_indices(one.shape[1], 1)
    cross_one, cross_other = ((x - centre)[:, i] * (x - centre)[:, j] for x in (one, other))
    scores.append(_welch(cross_one, cross_other))
    return np.concatenate(scores)


def _welch(a, b):
    spread = np.sqrt(a.var(axis=0) / len(a) + b.var(axis=0) / len(b))
    return (a.mean(axis=0) - b.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def joint_p_value(one, other):
    """Two-sample chi-square on cells of three coordinates cut at common quartiles, rare cells pooled."""
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


@pytest.mark.quick(0)
@pytest.mark.parametrize(("blanket", "chunk_users"), [(0.6, None), (1.0, 16), (2.5, None), (2.5, 16)])
def test_segmented_binomial(blanket, chunk_users):
    sample, levels, problem = scenario()
    plan = plan_at(problem, blanket, (0.3, 0.7, 1.0))
    estimates, counts = message_runs(plan, sample, levels, chunk_users=chunk_users)
    reference = Segmented().simulate(plan, sample, np.random.default_rng(22))
    assert_same_law(estimates, reference)
    weight = float(np.dot(problem.level_counts, plan.parameters["sampling_rates"]))
    np.testing.assert_allclose(estimates, (counts[:, 0] - N_USERS * blanket / D) / weight, rtol=1e-12, atol=1e-12)


@pytest.mark.quick(1)
@pytest.mark.parametrize("chunk_users", [None, 16])
def test_segmented_poisson(chunk_users):
    sample, levels, problem = scenario()
    rates = np.array([0.3, 0.7, 1.0])
    plan = plan_at(problem, 1.0, tuple(rates))
    plan = replace(plan, parameters={**plan.parameters, "blanket": "poisson"})
    _, counts = message_runs(plan, sample, levels, chunk_users=chunk_users)
    rng = np.random.default_rng(23)
    own = rng.binomial(sample.level_item_counts, rates[:, None]).sum(axis=1)
    assert_same_law(counts[:, 0].astype(float), own + rng.poisson(N_USERS * 1.0 / D, size=(RUNS, D)).astype(float))
    # with m = 1 the binomial blanket has a fixed total, which the moments must show
    binomial = own + draw_blanket(rng, n_users=N_USERS, blanket_per_user=1.0, domain_size=D, repetitions=RUNS)
    assert counts[:, 0].sum(axis=1).var() > 3 * binomial.sum(axis=1).var()


@pytest.mark.quick(0)
def test_balls_into_bins():
    sample, levels, problem = scenario()
    method = BallsIntoBins()
    plan = replace(method.plan(problem), blanket_per_user=3.3)
    estimates, _ = message_runs(plan, sample, levels)
    assert_same_law(estimates, method.simulate(plan, sample, np.random.default_rng(24)))


@pytest.mark.exhaustive
@pytest.mark.parametrize("weights", ["plain", "published"])
def test_separate_balls_into_bins(weights):
    sample, levels, problem = scenario()
    method = SeparateBallsIntoBins(weights=weights)
    plan = method.plan(problem)
    plan = replace(plan, parameters={**plan.parameters, "blankets": (4.5, 2.0, 0.7)})
    estimates, counts = message_runs(plan, sample, levels, chunk_users=16)
    assert_same_law(estimates, method.simulate(plan, sample, np.random.default_rng(25)))
    rng = np.random.default_rng(26)
    parts = [
        sample.level_item_counts[:, k]
        + draw_blanket(rng, n_users=n_k, blanket_per_user=m, domain_size=D, repetitions=RUNS)
        for k, (n_k, m) in enumerate(zip(problem.level_counts, (4.5, 2.0, 0.7), strict=True))
    ]
    assert_same_law(counts.reshape(RUNS, -1).astype(float), np.concatenate(parts, axis=1).astype(float))


@pytest.mark.quick(0)
@pytest.mark.parametrize(
    "method",
    [
        ProvenSegmented(blanket_per_user=2.0),
        ProvenSegmented(blanket_per_user=4.0, copies_max=2.0),
        ProvenSegmented(blanket_per_user=2.0, blanket=Clustered(0.5)),
        ProvenSegmented(blanket_per_user=4.0, copies_max=2.0, blanket=Signed(0.5, 0.6, 0.4)),
        BallsIntoBins(analysis="proven"),
        SeparateBallsIntoBins(analysis="proven"),
    ],
    ids=lambda method: method.name,
)
def test_proven_methods_send_their_blanket(method):
    sample, levels, problem = scenario()
    plan = method.plan(problem)
    estimates, _ = message_runs(plan, sample, levels)
    assert_same_law(estimates, method.simulate(plan, sample, np.random.default_rng(28)))


@pytest.mark.quick(0)
def test_a_batch_is_the_union_of_its_clients():
    """Batches of one client, the client as it would run, against one batch of all."""
    sample, levels, _ = scenario()
    few = slice(10, 22)
    for law in (BINOMIAL, POISSON):
        announcement = Scheme(D, S, 12, (0.3, 0.7, 1.0), 1.3, law)
        rng = np.random.default_rng(27)
        one, other = (
            np.array([counters(announcement, sample.items[few], levels[few], rng, batch=b) for _ in range(RUNS)])
            for b in (1, None)
        )
        assert_same_law(one.astype(float), other.astype(float))
