"""The segmented protocol with a Poisson blanket: sound, tight, and optionally with copies instead of sampling.

Each user draws Poisson(m) uniform blanket messages, so the counters of the d items are independent Poisson(n m/d) plus
what the users send. A user of level k sends every held item M times, M = floor(a_k) or floor(a_k) + 1 with mean a_k
(a_k <= 1 is sampling at rate a_k). The guarantee is the exact product of docs/proof.md; nothing is lost to group
privacy. The server estimates w_j = (C_j - n m/d)/N with N = sum_k n_k a_k.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import interpolate, optimize

from segshuffle.accounting.poisson_calibration import largest_copies, least_blanket_mean
from segshuffle.accounting.poisson_pair import ItemPair
from segshuffle.accounting.poisson_product import delta_interval
from segshuffle.accounting.segmented import item_target
from segshuffle.errors import InfeasibleError, ParameterError
from segshuffle.protocols.base import (
    FloatArray,
    IntArray,
    Plan,
    Problem,
    Sample,
    assignment_spread,
    exchanged_items,
    uniform_item_counts,
)
from segshuffle.protocols.weights import ErrorTerms, best_copies

ACCOUNTINGS = ("product", "group")
_NODES = 9
_GRID = 64
_LEAST_MEAN, _LARGEST_MEAN = 1e-3, 1e12


def largest_level_copies(
    problem: Problem, level: float, blanket_mean: float, *, copies_max: float, accounting: str = "product"
) -> float:
    """Largest copies of one level at a blanket of `blanket_mean` messages per item, rounded down (kind: exact).

    `accounting` "group" spends group privacy over the set_size items instead of the product (a sound upper bound).
    """
    pairs = exchanged_items(problem.domain_size, problem.set_size)
    if pairs == 0:
        return copies_max
    epsilon, delta = level, problem.delta
    if accounting == "group":
        epsilon, delta = item_target(epsilon=level, delta=problem.delta, set_size=pairs)
        pairs = 1
    return largest_copies(blanket_mean=blanket_mean, pairs=pairs, epsilon=epsilon, delta=delta, copies_max=copies_max)


@dataclass(frozen=True)
class PoissonSegmented:
    """The segmented protocol with a Poisson blanket.

    Parameters
    ----------
    blanket_per_user : float or None
        Expected blanket messages per user m; None searches it.
    copies_max : float
        Largest expected copies a_k per held item; 1 is the sampling of the paper.
    max_messages : float or None
        Budget of expected messages per user, blanket and copies together; None for no budget.
    accounting : str
        "product" (exact) or "group" (group privacy over the items: sound, not tight).
    """

    blanket_per_user: float | None = None
    copies_max: float = 1.0
    max_messages: float | None = None
    accounting: str = "product"

    def __post_init__(self) -> None:
        if self.accounting not in ACCOUNTINGS:
            raise ParameterError("accounting", self.accounting, f"one of {', '.join(ACCOUNTINGS)}")
        if not 0 < self.copies_max <= 64:
            raise ParameterError("copies_max", self.copies_max, "in (0, 64]")
        if self.max_messages is not None and not 0 < self.max_messages < math.inf:
            raise ParameterError("max_messages", self.max_messages, "positive and finite")

    @property
    def name(self) -> str:
        """Identifier of the variant."""
        if self.accounting == "group":
            return "sound-group"
        return "tight" if self.copies_max <= 1 else "tight-copies"

    @property
    def label(self) -> str:
        """Legend entry."""
        return {
            "sound-group": "Poisson blanket, group privacy",
            "tight": "Tight, sampling",
            "tight-copies": "Tight, copies",
        }[self.name]

    def plan(self, problem: Problem) -> Plan:
        """Fix m and all a_k jointly, and certify every level."""
        if self.blanket_per_user is not None:
            return self.plan_at(problem, self.blanket_per_user)
        return self.plan_at(problem, self._search(problem))

    def plan_at(self, problem: Problem, blanket_per_user: float) -> Plan:
        """Calibrate every level at a given m, choose the copies, and return the plan with its certificate.

        Raises
        ------
        InfeasibleError
            If the budget of messages is exceeded by the blanket alone.
        """
        mean = problem.n_users * blanket_per_user / problem.domain_size
        if not _LEAST_MEAN <= mean <= _LARGEST_MEAN:
            allowed = f"such that n m/d is in [{_LEAST_MEAN:g}, {_LARGEST_MEAN:g}] (it is {mean:g})"
            raise ParameterError("blanket_per_user", blanket_per_user, allowed)
        limits = np.array([self._limit(problem, level, mean) for level in problem.levels])
        copies, bound = self._choose(problem, blanket_per_user, limits)
        if not math.isfinite(bound):
            raise InfeasibleError(
                f"max_messages = {self.max_messages} leaves nothing for data beside a blanket of {blanket_per_user:g}."
            )
        return Plan(
            method=self.name,
            problem=problem,
            kind="exact" if self.accounting == "product" else "upper",
            blanket_per_user=blanket_per_user,
            messages_per_user=_messages(problem, blanket_per_user, copies),
            parameters={"copies": tuple(copies.tolist()), "certificate": self._certify(problem, mean, copies)},
            mse_bound=bound,
        )

    def _limit(self, problem: Problem, level: float, mean: float) -> float:
        return largest_level_copies(problem, level, mean, copies_max=self.copies_max, accounting=self.accounting)

    def _choose(self, problem: Problem, blanket_per_user: float, limits: FloatArray) -> tuple[FloatArray, float]:
        """Copies of least expected error within the limits and the budget, for uniform item frequencies."""
        room = math.inf
        if self.max_messages is not None:
            room = (self.max_messages - blanket_per_user) * problem.n_users / problem.set_size
            if room <= 0:
                return limits, math.inf
        terms = ErrorTerms(
            noise=problem.n_users * blanket_per_user,
            own=float(problem.set_size),
            spread=assignment_spread(uniform_item_counts(problem), problem.n_users),
        )
        return best_copies(limits, np.asarray(problem.level_counts, dtype=float), terms, largest_weight=room)

    def _certify(self, problem: Problem, mean: float, copies: FloatArray) -> list[dict[str, float]]:
        """Certified delta interval of every level at its own epsilon (user level)."""
        pairs = exchanged_items(problem.domain_size, problem.set_size)
        certificate = []
        for level, value in zip(problem.levels, copies, strict=True):
            interval = (0.0, 0.0)
            if pairs > 0 and value > 0:
                interval = tuple(delta_interval(ItemPair(mean, float(value)), pairs=pairs, epsilon=level))  # type: ignore[assignment]
            certificate.append({"epsilon": level, "delta_lower": interval[0], "delta_upper": interval[1]})
        return certificate

    def _search(self, problem: Problem) -> float:
        """The m of least expected error: the limits are interpolated over m, the plan is certified afresh."""
        low, high = self._range(problem)
        nodes = np.geomspace(low, high, _NODES)
        scale = problem.n_users / problem.domain_size
        curves = [self._curve(problem, level, nodes, scale) for level in problem.levels]

        def error(log_blanket: float) -> float:
            limits = np.array([min(math.exp(float(curve(log_blanket))), self.copies_max) for curve in curves])
            return self._choose(problem, math.exp(log_blanket), limits)[1]

        grid = np.linspace(math.log(low), math.log(high), _GRID)
        values = [error(z) for z in grid]
        best = int(np.argmin(values))
        if not math.isfinite(values[best]):
            raise InfeasibleError(
                f"max_messages = {self.max_messages} is too small: not even a blanket of {low:g} fits."
            )
        ends = (grid[max(best - 1, 0)], grid[min(best + 1, _GRID - 1)])
        found = optimize.minimize_scalar(error, bounds=ends, method="bounded", options={"xatol": 1e-4})
        return math.exp(float(found.x) if found.fun <= values[best] else float(grid[best]))

    def _range(self, problem: Problem) -> tuple[float, float]:
        """Range of m worth searching: from a hundredth of the liberal level's least m to the conservative one's."""
        pairs = exchanged_items(problem.domain_size, problem.set_size)
        per_mean = problem.domain_size / problem.n_users
        if pairs == 0:
            return _LEAST_MEAN * per_mean, 2 * _LEAST_MEAN * per_mean
        means = []
        for level in (problem.levels[-1], problem.levels[0]):
            target = (level, problem.delta, pairs)
            if self.accounting == "group":
                target = (*item_target(epsilon=level, delta=problem.delta, set_size=pairs), 1)
            means.append(
                least_blanket_mean(copies=self.copies_max, epsilon=target[0], delta=target[1], pairs=target[2])
            )
        high = means[1] * per_mean * 1.05
        if self.max_messages is not None:
            high = min(high, self.max_messages)
        low = max(min(0.01 * means[0] * per_mean, 0.5 * high), _LEAST_MEAN * per_mean)
        return low, max(high, 2 * low)

    def _curve(self, problem: Problem, level: float, nodes: FloatArray, scale: float) -> Any:
        """Log of the level's limit over log m: smooth, as delta depends on copies/sqrt(mean) almost alone."""
        # without the cap of copies_max the curve has no corner
        uncapped = [
            largest_level_copies(problem, level, m * scale, copies_max=64.0, accounting=self.accounting) for m in nodes
        ]
        return interpolate.PchipInterpolator(np.log(nodes), np.log(uncapped))

    def simulate(self, plan: Plan, sample: Sample, rng: np.random.Generator) -> FloatArray:
        """Estimates from counters: independent Poisson blankets, and M copies of every held item."""
        copies = np.asarray(plan.parameters["copies"])
        weight = float(np.dot(plan.problem.level_counts, copies))
        whole = np.floor(copies)
        sent = (whole.astype(np.int64)[None, :, None] * sample.level_item_counts).sum(axis=1)
        sent = sent + rng.binomial(sample.level_item_counts, (copies - whole)[None, :, None]).sum(axis=1)
        mean = sample.n_users * plan.blanket_per_user / sample.domain_size
        blanket = rng.poisson(mean, size=(sample.repetitions, sample.domain_size))
        return np.asarray((sent + blanket - mean) / weight)

    def expected_mse(self, plan: Plan, item_counts: IntArray) -> float:
        """Closed form of `simulate`'s mean squared error."""
        terms = ErrorTerms(
            noise=plan.problem.n_users * plan.blanket_per_user,
            own=float(plan.problem.set_size),
            spread=assignment_spread(item_counts, plan.problem.n_users),
        )
        return terms.error(np.asarray(plan.parameters["copies"]), np.asarray(plan.problem.level_counts, dtype=float))


def _messages(problem: Problem, blanket_per_user: float, copies: Sequence[float] | FloatArray) -> float:
    """Expected messages per user, blanket and copies."""
    return blanket_per_user + problem.set_size * float(np.dot(problem.level_counts, copies)) / problem.n_users
