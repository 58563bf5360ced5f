"""The subset exponential randomizer (PrivSet): one message per user, local or shuffled.

A user reports a subset z of k items. Its probability is proportional to exp(eps) if z contains an item of the user's
set, and to 1 otherwise. With a = Pr[j in z | j held], b = Pr[j in z | j not held], and c_j reports that contain j, the
estimate is w_j = (c_j/n - b)/(a - b). If sets have at most s items, users fill them up with some of s padding items, so
that the reports are subsets of d + s items.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from segshuffle.accounting.single_message.randomizers import subsets
from segshuffle.accounting.single_message.variation_ratio import VariationBound
from segshuffle.accounting.single_message.variation_ratio_tables import subset_exponential
from segshuffle.arrays import NO_ITEM, FloatArray, IntArray, Numbers, random_subsets
from segshuffle.digits import rounded_down
from segshuffle.errors import ParameterError
from segshuffle.numerics.ranges import SMALLEST_LOG_RATIO, check_local
from segshuffle.numerics.search import largest_local_epsilon
from segshuffle.plans.method import Influence, MethodEntry
from segshuffle.plans.plan import Plan, Problem, Sample

#: Number of users simulated at once; it bounds the memory of a repetition.
_CHUNK = 65_536
#: Largest subset that is tried; a larger one may be best at a low local epsilon in a large domain.
_LARGEST_SUBSET = 64
#: Relative widths of the intervals that a search for the local epsilon asks for.
SEARCH_RTOL = 2e-4


class Report(subsets.SubsetExponential):
    """The subset that a user sends."""

    @property
    def probabilities(self) -> tuple[float, float]:
        """Probabilities that the report contains a held item (a), and an item that the user does not hold (b)."""
        law = self.intersection_law()
        shared = np.arange(law.size)
        others = law @ (self.subset_size - shared) / (self.domain_size - self.set_size)
        return float(law @ shared / self.set_size), float(others)

    def error(self, n_users: int, domain_size: int, mean_size: float) -> float:
        """Return the expected squared error of all items against the sample, if users hold `mean_size` on average."""
        held, not_held = self.probabilities
        noise = mean_size * held * (1 - held) + (domain_size - mean_size) * not_held * (1 - not_held)
        return noise / (n_users * (held - not_held) ** 2)

    def intersection_law(self) -> FloatArray:
        """Return the probabilities that the report contains exactly i of the user's items, i = 0, ..., min(s, k)."""
        d, s, k = self.domain_size, self.set_size, self.subset_size
        gain, total = math.exp(self.local_epsilon), math.comb(d, k)
        ways = [math.comb(s, i) * math.comb(d - s, k - i) for i in range(min(s, k) + 1)]
        weights = np.array([(1.0 if i == 0 else gain) * (w / total) for i, w in enumerate(ways)])
        return np.asarray(weights / weights.sum())

    def draw(self, items: Numbers, rng: np.random.Generator) -> Numbers:
        """Draw the items of all users' subsets, in no particular order.

        Parameters
        ----------
        items : ndarray of int, shape (n_users, set_size)
            Each user's items, ascending within a row.
        rng : Generator
            Source of randomness.
        """
        below = np.cumsum(self.intersection_law())
        # what rng.choice draws, in a seventh of its time
        shared = (rng.random(items.shape[0]) >= below[:-1, None] / below[-1]).sum(axis=0)
        parts: list[Numbers] = []
        for i in range(below.size):
            rows = items.compress(shared == i, axis=0)
            chosen = random_subsets(rng, rows.shape[0], self.set_size, i)
            parts.append(np.take_along_axis(rows.T, chosen, axis=0).ravel())
            ranks = random_subsets(rng, rows.shape[0], self.domain_size - self.set_size, self.subset_size - i)
            parts.append(_not_held(rows, ranks).ravel())
        return np.concatenate(parts)


@dataclass(frozen=True)
class SubsetExponential:
    """Subexp, local (all users at `local_epsilon`) or shuffled (amplified to the lowest level).

    Parameters
    ----------
    local_epsilon : float or None
        The local privacy parameter, in [1e-12, 50]; None calibrates it so that shuffling gives the lowest level.
    subset_size : int or None
        k; None takes the size up to 64 with the least error. If shuffled, every size has its own local epsilon.
    """

    local_epsilon: float | None = None
    subset_size: int | None = None
    #: Kind of the numbers if shuffled, and what their analysis covers beyond plain assumptions.
    amplified: ClassVar[str] = "published"
    covered: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        if self.local_epsilon is not None:
            check_local(self.local_epsilon, least=SMALLEST_LOG_RATIO)

    @property
    def name(self) -> str:
        """Identifier of the variant."""
        return "subexp-shuffle" if self.local_epsilon is None else "subexp-local"

    def plan(self, problem: Problem) -> Plan:
        """Fix the subset size and the local epsilon.

        Raises
        ------
        ParameterError
            If every user holds all items, or, if shuffled, the lowest level is below 1e-12.
        """
        covered = self.covered if self.local_epsilon is None else ("honest_fraction", "sets")
        problem.assumptions.refuse_beyond_plain(self.name, covered=covered)
        subsets.check_subset(
            domain_size=_reported(problem), set_size=problem.set_size, subset_size=self.subset_size or 1
        )
        if self.local_epsilon is None and problem.levels[0] < SMALLEST_LOG_RATIO:
            raise ParameterError("levels", problem.levels, f"all at least {SMALLEST_LOG_RATIO:g} for this randomizer")
        (d, s, n_users), means = problem.sizes, [problem.set_size]
        if problem.assumptions.sets == "at-most":
            means = [0, s]  # the error is linear in the mean
        largest = min(_reported(problem) - s, _LARGEST_SUBSET)
        sizes = range(1, largest + 1) if self.subset_size is None else [self.subset_size]
        tried, errors = list[Report](), list[float]()
        for size in sizes:
            tried.append(self._report(problem, size))
            errors.append(max(tried[-1].error(n_users, d, mean) for mean in means))
            # the error has one minimum in k; a few larger sizes are tried because of ties
            if len(errors) - errors.index(min(errors)) > 4:
                break
        report = tried[errors.index(min(errors))]
        return Plan(
            method=self.name,
            problem=problem,
            kind=self.amplified if self.local_epsilon is None else "exact",
            blanket_per_user=0.0,
            messages_per_user=1.0,
            parameters={"local_epsilon": report.local_epsilon, "subset_size": report.subset_size},
            mse_bound=min(errors),
        )

    def _report(self, problem: Problem, subset_size: int) -> Report:
        """Return the report of one size, with the largest local epsilon that satisfies the lowest level."""
        shape = {"domain_size": _reported(problem), "set_size": problem.set_size, "subset_size": subset_size}
        if self.local_epsilon is not None:
            return Report(**shape, local_epsilon=self.local_epsilon)
        target = problem.levels[0]

        def bound(local_epsilon: float) -> float:
            return self.delta_at(Report(local_epsilon=local_epsilon, **shape), problem, target)

        largest = largest_local_epsilon(bound, epsilon=target, delta=problem.delta)
        return Report(**shape, local_epsilon=rounded_down(largest))

    def delta_at(self, report: Report, problem: Problem, epsilon: float) -> float:
        """Return the delta of a shuffled report at some epsilon, by the variation ratio (kind: published)."""
        variation = subset_exponential(
            local_epsilon=report.local_epsilon,
            domain_size=report.domain_size,
            set_size=report.set_size,
            subset_size=report.subset_size,
        )
        bound = VariationBound(variation=variation, n_users=problem.n_users)
        return bound.delta(epsilon=epsilon, rtol=SEARCH_RTOL).upper

    def simulate(self, plan: Plan, sample: Sample, rng: np.random.Generator) -> FloatArray:
        """Simulate one subset per user, user by user, because the items of one report are not independent."""
        report, padding = _sent(plan), sample.domain_size + np.arange(plan.problem.set_size)
        items = np.sort(np.where(sample.items == NO_ITEM, padding, sample.items), axis=1)
        held, not_held = report.probabilities
        estimates = np.zeros((sample.repetitions, report.domain_size))
        for repetition in range(sample.repetitions):
            for start in range(0, sample.n_users, _CHUNK):
                reported = report.draw(items[start : start + _CHUNK], rng)
                # in place: a large domain takes much memory
                np.add.at(estimates[repetition], reported, 1.0)
        estimates = estimates[:, : sample.domain_size]
        estimates /= sample.n_users
        estimates -= not_held
        estimates /= held - not_held
        return estimates

    def expected_mse(self, plan: Plan, item_counts: IntArray) -> float:
        """Return the closed form of `simulate`'s mean squared error."""
        problem = plan.problem
        exactly, n_users = problem.assumptions.sets == "exactly", problem.n_users
        mean_size = problem.set_size if exactly else float(item_counts.sum()) / n_users
        return _sent(plan).error(n_users, problem.domain_size, mean_size)

    def sum_variance(self, plan: Plan) -> float | None:
        """Return 0 without padding, because every report then has the same number of items."""
        return 0.0 if plan.problem.assumptions.sets == "exactly" else None

    def influence(self, plan: Plan) -> Influence:
        """Return the influence of a liar who picks k items; each adds 1/(n (a - b)), minus the mean b/(n (a - b))."""
        report = _sent(plan)
        d, s, k = report.domain_size, report.set_size, report.subset_size
        held, not_held = report.probabilities
        weight = plan.problem.n_users * (held - not_held)
        # items of the honest report are removed, others are added
        moved = k * (1 - not_held) + s * held + max(d - s - k, 0) * not_held
        return Influence(1.0, max(1 - not_held, held) / weight, moved / weight)


def _reported(problem: Problem) -> int:
    """Return the number of items of which a report is a subset, padding included."""
    return problem.domain_size + (problem.set_size if problem.assumptions.sets == "at-most" else 0)


def _sent(plan: Plan) -> Report:
    """Return the report of a plan."""
    return Report(domain_size=_reported(plan.problem), set_size=plan.problem.set_size, **plan.parameters)


def _not_held(rows: Numbers, ranks: Numbers) -> Numbers:
    """Return the items of the given ranks, shape (ranks, n_rows), among those not in each (ascending) row."""
    # item = rank + number of held items at or below it; held item l counts if rows[l] - l <= rank
    ranks = ranks.astype(rows.dtype)
    items = ranks.copy()
    for place, held in enumerate(np.ascontiguousarray(rows.T)):
        items += held - place <= ranks
    return items


OPTIONS = {
    "local_epsilon": {
        "description": "Privacy level of subexp-local, without shuffling",
        "type": "number",
        "minimum": 1.0e-12,
        "maximum": 50,
        "default": 2.0,
    }
}
METHODS = (
    MethodEntry(
        "subexp-local",
        lambda options: SubsetExponential(local_epsilon=options["local_epsilon"]),
        in_paper=True,
        local=True,
    ),
    MethodEntry(
        "subexp-shuffle",
        lambda _: SubsetExponential(),
        in_paper=True,
    ),
)
