"""The personalised bound: its numbers as published, and the proof by numbers that they are no guarantees."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from oracles import MP, bernoulli_sum, encloses
from scipy import stats

from segshuffle.accounting.single_message.accountants.personalized import PersonalizedUsers, Reduction, Theorem
from segshuffle.accounting.single_message.decomposition import DatasetsBound
from segshuffle.accounting.single_message.personalized_settings import SETTINGS
from segshuffle.accounting.single_message.randomizers.reference import ReferenceClasses
from segshuffle.errors import ParameterError

LOCAL_DELTA = 1e-10


def report(mechanism, local_epsilon, centre):
    """Return the law of a user's report; the classic Gaussian mechanism has this deviation for a range of length 1."""
    if mechanism == "laplace":
        return stats.laplace(centre, 1 / local_epsilon)
    return stats.norm(centre, math.sqrt(2 * math.log(1.25 / LOCAL_DELTA)) / local_epsilon)


def laplace_users(*budgets):
    return PersonalizedUsers(local_epsilons=budgets)


def cells_of(law, edges):
    """Return probabilities of the cells that `edges` cut the line into, without cancellation in either tail."""
    ends = np.concatenate([[-np.inf], edges, [np.inf]])
    below, above = law.cdf(ends), law.sf(ends)
    right, left = ends[1:] <= law.mean(), ends[:-1] >= law.mean()
    return np.where(right, np.diff(below), np.where(left, -np.diff(above), 1 - below[:-1] - above[1:]))


# -- probabilities of confusion --------------------------------------------------------------------------------------


@pytest.mark.quick("1.0-0.99-gaussian")
@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
@pytest.mark.parametrize(("victim", "other"), [(1.0, 0.05), (1.0, 0.5), (1.0, 0.99), (2.0, 0.5), (6.0, 5.0)])
def test_confusions_by_counting_cells(mechanism, victim, other):
    """Both regions are decided cell by cell from the densities, without solving for a crossing point."""
    fail = 0.0 if mechanism == "laplace" else LOCAL_DELTA
    users = PersonalizedUsers(local_epsilons=[victim, other], local_delta=fail)
    laws = [report(mechanism, *of) for of in ((victim, 0.0), (victim, 1.0), (other, 0.0))]
    span = 40 / other if mechanism == "laplace" else 9 * laws[2].std()
    edges = np.linspace(-span, 1 + span, 2_000_001)
    first, second, own = (law.logpdf(0.5 * (edges[1:] + edges[:-1])) for law in laws)
    mass = cells_of(laws[2], edges)[1:-1]
    least = min(mass[(first > second) & (first > own)].sum(), mass[(second > first) & (second > own)].sum())
    # one cell at each of at most four crossings may be on the wrong side
    assert users.other_confusions == pytest.approx([2 * least], abs=8 * mass.max())
    assert users.victim_confusion == pytest.approx(laws[0].sf(0.5), rel=1e-9)


# -- the published numbers -------------------------------------------------------------------------------------------


def enumerated(users, epsilon):
    """Return the divergences of (P, Q) and of the published trade-off function, cell by cell in 90 digits."""
    gain, p1 = MP.exp(MP.mpf(epsilon)), MP.mpf(users.victim_confusion)
    clones = bernoulli_sum(map(MP.mpf, users.other_confusions.tolist()))
    weight = (1 - MP.mpf(users.local_delta)) * (1 - 2 * p1)
    pair = theorem = MP.mpf(0)
    for c, mass in enumerate(clones):
        for a in range(c + 2):
            up = mass * MP.binomial(c, a - 1) / 2**c if a else MP.mpf(0)
            stay = mass * MP.binomial(c, a) / 2**c if a <= c else MP.mpf(0)
            pair += max(((1 - p1) - gain * p1) * up + (p1 - gain * (1 - p1)) * stay, 0)
            theorem += max(weight * up - (gain - 1 + weight) * stay, 0)
    fail = MP.mpf(users.local_delta)
    return fail + (1 - fail) * pair, theorem


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    "users",
    [
        laplace_users(1.0),
        laplace_users(1.0, 0.4),
        laplace_users(3.0, 0.5, 2.0, 1.0, 2.9, 0.1),
        laplace_users(*np.linspace(0.5, 2.0, 40)),
        PersonalizedUsers(local_epsilons=np.linspace(0.5, 2.0, 25), local_delta=LOCAL_DELTA),
    ],
)
@pytest.mark.parametrize("epsilon", [0.0, 0.02, 0.1, 0.5])
def test_published_numbers_are_enclosed(users, epsilon):
    pair, theorem = enumerated(users, epsilon)
    found = Reduction(users).delta(epsilon=epsilon, rtol=1e-5)
    assert encloses(found, pair, 1e-14)
    found = Theorem(users).delta(epsilon=epsilon, rtol=1e-5)
    assert encloses(found, theorem, 1e-14)
    assert found.relative_width < 1e-4


@pytest.mark.quick(0)
def test_epsilons_meet_their_targets():
    users = laplace_users(*SETTINGS["Uniform2"].budgets(3000))
    for bound in (Theorem(users), Reduction(users)):
        for delta in (1e-3, 1e-9, 1e-100):
            epsilon = bound.epsilon(delta=delta)
            assert 0 < epsilon <= users.largest_budget
            assert bound.delta(epsilon=epsilon).upper <= delta * (1 + 1e-3)
            assert epsilon == users.largest_budget or bound.delta(epsilon=0.999 * epsilon).upper > delta


def test_a_failure_probability_is_not_amplified_away():
    users = PersonalizedUsers(local_epsilons=[1.0] * 100, local_delta=1e-6)
    assert Reduction(users).delta(epsilon=3.0).lower == pytest.approx(1e-6, rel=1e-12, abs=0)
    with pytest.raises(ParameterError, match="which no epsilon removes"):
        Reduction(users).epsilon(delta=1e-6)
    with pytest.raises(ParameterError, match="above local_delta"):
        Theorem(users).epsilon(delta=1e-7)


# -- the published numbers are no guarantees ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Binned:
    """One victim (from 0 or 1) among users who all report from `centre`, outputs rounded to cells.

    Rounding the reports is post-processing, and two datasets are no more than two: every divergence is a proven lower
    bound of the true one.
    """

    mechanism: str
    victim: float
    other: float
    centre: float

    @property
    def local_epsilon(self):
        # the Gaussian has no pure guarantee; this only ends the search for epsilon
        return self.victim if self.mechanism == "laplace" else 49.0

    def cells(self):
        who = ((self.victim, 0.0), (self.victim, 1.0), (self.other, self.centre))
        laws = [report(self.mechanism, *of) for of in who]
        edges = np.linspace(0.0, 1.0, 301)
        if self.mechanism == "gaussian":
            edges = np.linspace(-7 * laws[0].std(), 1 + 7 * laws[0].std(), 400)
        elif self.victim != self.other:
            outside = np.geomspace(1e-3, 30 / (self.victim - self.other), 100)
            edges = np.unique(np.concatenate([-outside, edges, 1 + outside]))
        return [cells_of(law, edges) for law in laws]

    def blankets(self, side):
        return ()

    def common_input(self, side="lower"):
        first, second, own = self.cells()
        return (ReferenceClasses(own, np.log(first / own), np.log(second / own)),)


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    ("mechanism", "victim", "other", "n_users", "delta", "theorem", "proven"),
    [
        ("laplace", 4.0, 4.0, 1000, 1e-5, 0.56752, 0.857),
        ("laplace", 2.0, 0.2, 1000, 1e-5, 0.27203, 0.2801),
        ("laplace", 1.0, 0.1, 10_000, 1e-5, 0.045943, 0.0490),
        ("gaussian", 1.0, 1.0, 1000, 1e-5, 0.010040, 0.01153),
        ("gaussian", 2.0, 2.0, 1000, 1e-5, 0.022763, 0.02558),
    ],
)
def test_theorem_lies_below_a_proven_lower_bound(mechanism, victim, other, n_users, delta, theorem, proven):
    """All others hold 0. The true epsilon exceeds the theorem's, the larger published one, by at least 2.9 to 51 %."""
    users = PersonalizedUsers(
        local_epsilons=[victim] + [other] * (n_users - 1),
        local_delta=0.0 if mechanism == "laplace" else LOCAL_DELTA,
    )
    claimed = Theorem(users).epsilon(delta=delta)
    assert claimed == pytest.approx(theorem, rel=1e-3)
    assert Reduction(users).epsilon(delta=delta) < claimed
    randomizer = Binned(mechanism, victim, other, 0.0)
    needed = DatasetsBound(randomizer=randomizer, n_users=n_users, rtol=1e-3).epsilon(delta=delta)
    assert claimed < proven < needed


# -- small budgets ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("budget", [1e-1, 1e-6, 1e-10, 1e-14, 1e-45])
def test_personalized_numbers_keep_their_digits_at_small_budgets(budget):
    """One Laplace user at epsilon = 0: both numbers are 1 - 2 p_1 = 1 - e^(-budget/2)."""
    users = PersonalizedUsers(local_epsilons=[budget])
    exact = -MP.expm1(-MP.mpf(budget) / 2)
    for found in (bound(users).delta(epsilon=0.0) for bound in (Theorem, Reduction)):
        assert encloses(found, exact)
        assert found.relative_width < 1e-11
