"""The segmented protocol with a Poisson blanket: sound, tight, and optionally with copies instead of sampling.

Each user draws Poisson(m) uniform blanket messages, so the counters of the d items are independent Poisson(n m/d) plus
what the users send. A user of level k sends every held item M times, M = floor(a_k) or floor(a_k) + 1 with mean a_k
(a_k <= 1 is sampling at rate a_k). The guarantee is the exact product of docs/proof.md; nothing is lost to group
privacy. The server estimates w_j = (C_j - n m/d)/N with N = sum_k n_k a_k.
"""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import interpolate, optimize

from segshuffle.accounting.collections.calibration import largest_copies, least_blanket_mean
from segshuffle.accounting.collections.guides import guided_copies, guided_log_delta, guided_mean
from segshuffle.accounting.collections.product import SMALLEST_DELTA, delta_interval, log_delta_bound
from segshuffle.accounting.collections.published import item_target
from segshuffle.accounting.numerics.loss_distribution import AccuracyError
from segshuffle.arrays import FloatArray, IntArray
from segshuffle.blankets.base import COPIES_RANGE, Blanket
from segshuffle.blankets.named import blanket_from
from segshuffle.blankets.poisson import POISSON
from segshuffle.digits import rounded, rounded_down, rounded_up
from segshuffle.errors import InfeasibleError, ParameterError
from segshuffle.looks import DASHES, PALETTE, Look
from segshuffle.protocols.base import Plan, Problem, Sample, assignment_spread
from segshuffle.protocols.declared import Declared
from segshuffle.protocols.weights import STARTS, ErrorTerms, best_copies

#: Nodes of a curve, and points of a grid.
_NODES = 17
_GRID = 160
_REFINED = 4
_NEAR = 0.02
#: Rough plans were within an eighth of their descents wherever that was tried: those further from the best are left.
_WORTH = 1.25
#: Relative accuracy in delta of the limits that guide the search.
_GUIDE = 0.01
#: The same, and nodes, where many blankets are looked at.
_FEW, _FEW_NODES = 60, 9
#: Whole numbers of copies whose dips are looked for, and how far above them.
_WHOLES, _ABOVE = 8, 1e-3
#: Where a guide promised too much, delta is aimed so much below the target, as an exponent; and how often.
_MARGIN, _LOWERED = 0.02, 6
#: Guided copies so close below a whole number are taken for it.
_HOPE = 1.001
_MOST_COPIES = 64.0
#: Clusters of sizes r near 1 bound the loss of a single message, but no plan wants so few of them.
_AWAY = 3.0
#: A delta so much below its target is not told from 0, where its table would be dear: not for single dummies.
_FAR = 1e-6
# Widths of a certificate that cannot have the usual one: a plan has no accuracy that its user could lower.
_WIDE = (1e-2, 0.1, 1.0)


@dataclass(frozen=True)
class _Target:
    """What one level must meet, without anything that depends on who chose it: equal targets share a calibration."""

    pairs: int
    epsilon: float
    delta: float
    blanket: Blanket = POISSON

    @classmethod
    def of(cls, problem: Problem, level: float, group_privacy: bool, blanket: Blanket = POISSON) -> _Target:
        """The product's own target, or the single item's after group privacy."""
        pairs, delta = problem.pairs, problem.deltas[problem.levels.index(level)]
        if not group_privacy or pairs == 0:
            return cls(pairs, level, delta, blanket)
        epsilon, delta = item_target(epsilon=level, delta=delta, set_size=pairs)
        return cls(1, epsilon, delta, blanket)


@functools.lru_cache(maxsize=65536)
def _largest(target: _Target, blanket_mean: float, copies_max: float) -> float:
    """Largest copies at a blanket of `blanket_mean` messages per item, rounded down; copies_max if nothing to hide."""
    if target.pairs == 0:
        return copies_max
    copies = largest_copies(
        blanket_mean=blanket_mean,
        pairs=target.pairs,
        epsilon=target.epsilon,
        delta=target.delta,
        copies_max=copies_max,
        blanket=target.blanket,
    )
    # that search stops within `rtol` of delta; a whole number just above costs no sampling noise
    whole = float(math.ceil(copies))
    if 0.998 * whole < copies < whole <= copies_max:
        bound = log_delta_bound(target.blanket.pair(blanket_mean, whole), target.pairs, target.epsilon, 1e-3)
        return whole if bound <= math.log(target.delta) else rounded_down(copies)
    return rounded_down(copies)


@functools.lru_cache(maxsize=65536)
def _delta(target: _Target, blanket_mean: float, copies: float) -> tuple[float, float]:
    """Certified interval of delta (lower, upper)."""
    if target.pairs == 0 or copies == 0:
        return 0.0, 0.0
    pair = target.blanket.pair(blanket_mean, copies)
    smallest = SMALLEST_DELTA if target.blanket == POISSON else max(_FAR * target.delta, SMALLEST_DELTA)
    with contextlib.suppress(AccuracyError):
        interval = delta_interval(pair, pairs=target.pairs, epsilon=target.epsilon, smallest=smallest)
        return interval.lower, interval.upper
    # as narrow as the largest lattice allows, with the upper bound that the copies were calibrated by
    bound = min(math.exp(log_delta_bound(pair, target.pairs, target.epsilon, 1e-3)) * (1 + 1e-13), 1.0)
    for rtol in _WIDE:
        with contextlib.suppress(AccuracyError):
            interval = delta_interval(pair, pairs=target.pairs, epsilon=target.epsilon, rtol=rtol, smallest=smallest)
            return interval.lower, min(interval.upper, bound)
    return 0.0, bound


def least_blankets(problem: Problem) -> tuple[float, ...]:
    """Least m of every level that lets it send every item once, rounded up (kind: exact)."""
    targets = [_Target.of(problem, level, group_privacy=False) for level in problem.levels]
    means = [_least_mean(target, 1.0) if target.pairs else target.blanket.means[0] for target in targets]
    return tuple(rounded_up(mean * problem.domain_size / problem.honest_users) for mean in means)


@functools.lru_cache(maxsize=4096)
def _guided(target: _Target, blanket_mean: float, copies_max: float, start: float | None = None) -> float:
    """About the largest copies, for searches; a whole number that is nearly reached is tried in the end."""
    if target.pairs == 0:
        return copies_max
    return guided_copies(
        target.blanket.rough(),
        blanket_mean,
        pairs=target.pairs,
        epsilon=target.epsilon,
        delta=target.delta,
        copies_max=copies_max,
        start=start,
    )


def lowered(target: _Target, blanket_mean: float, copies: float) -> float:
    """Copies that are fewer by what a certificate is above the target; the same, if it is met."""
    if copies == 0:
        return copies
    excess = math.log(max(_delta(target, blanket_mean, copies)[1], 1e-300) / target.delta)
    if excess <= 0:
        return copies
    one, other = (
        guided_log_delta(target.blanket.rough().pair(blanket_mean, a), target.pairs, target.epsilon, target.delta)
        for a in (copies, 0.99 * copies)
    )
    return copies * math.exp(-(excess + _MARGIN) / max(100 * (one - other), 1.0))


@functools.lru_cache(maxsize=256)
def _curve(target: _Target, low: float, high: float) -> interpolate.PchipInterpolator:
    """Log of the largest copies over the log of the blanket's mean: smooth, as long as copies are not capped.

    It guides the search only, so a delta within 1 % of the target will do.
    """
    single = target.blanket == POISSON
    means = np.geomspace(low, high, _NODES if single else _FEW_NODES)
    copies = list[float]()
    for mean in means:
        if single:
            found = largest_copies(
                blanket_mean=float(mean),
                pairs=target.pairs,
                epsilon=target.epsilon,
                delta=target.delta,
                copies_max=_MOST_COPIES,
                rtol=_GUIDE,
            )
        else:
            found = _guided(target, float(mean), _MOST_COPIES, 1.3 * copies[-1] if copies else None)
        copies.append(max(found, COPIES_RANGE[0]))
    return interpolate.PchipInterpolator(np.log(means), np.log(copies))


def _noise(problem: Problem, blanket: Blanket, blanket_per_user: float) -> float:
    """Sum over items of the variance of the blanket in the estimate, before it is divided by N."""
    mean = problem.n_users * blanket_per_user
    return blanket.variance(mean)


def _error_terms(problem: Problem, blanket: Blanket, blanket_per_user: float) -> ErrorTerms:
    """What the error depends on beside the copies, for uniform item frequencies."""
    return ErrorTerms(
        noise=_noise(problem, blanket, blanket_per_user),
        own=float(problem.set_size),
        spread=_uniform_spread(problem.domain_size, problem.set_size, problem.n_users),
    )


@functools.lru_cache(maxsize=256)
def _uniform_spread(domain_size: int, set_size: int, n_users: int) -> float:
    """`assignment_spread` of equally frequent items, asked for at every blanket that a search tries."""
    return assignment_spread(np.full(domain_size, n_users * set_size / domain_size), n_users)


class _Guided(NamedTuple):
    """What a search with interpolated limits found, and what it looked at."""

    mean: float
    error: float
    targets: list[_Target]
    curves: list[interpolate.PchipInterpolator | None]


@dataclass(frozen=True)
class PoissonSegmented:
    """The segmented protocol with a Poisson blanket.

    Parameters
    ----------
    blanket_per_user : float or None
        Expected blanket messages per user m; None searches it.
    copies_max : float
        Largest expected copies a_k per held item, in [1e-120, 64]; 1 is the sampling of the paper.
    max_messages : float or None
        Budget of expected messages per user, blanket and copies together; None for no budget.
    group_privacy : bool
        Account for the items by group privacy over one (sound, not tight) instead of by their exact product.
    equal_copies : bool
        Let users of all levels send the same number of copies: the estimate has then no bias where levels depend on
        items (`protocols.messages.dependence`), and the error of the lowest level.
    blanket : Blanket
        Law of the dummies.
    """

    blanket_per_user: float | None = None
    copies_max: float = 1.0
    max_messages: float | None = None
    group_privacy: bool = False
    equal_copies: bool = False
    blanket: Blanket = POISSON

    def __post_init__(self) -> None:
        least, most = COPIES_RANGE
        if not least <= self.copies_max <= most:
            raise ParameterError("copies_max", self.copies_max, f"in [{least:g}, {most:g}]")
        if self.max_messages is not None and not 0 < self.max_messages < math.inf:
            raise ParameterError("max_messages", self.max_messages, "positive and finite")

    @property
    def name(self) -> str:
        """Identifier of the variant."""
        if self.blanket != POISSON:
            return self.blanket.name
        if self.group_privacy:
            return "poisson-group"
        if self.equal_copies:
            return "poisson-equal"
        return "poisson" if self.copies_max <= 1 else "poisson-copies"

    def plan(self, problem: Problem) -> Plan:
        """Fix m and all a_k jointly, and certify every level."""
        if self.blanket_per_user is not None:
            return self.plan_at(problem, self.blanket_per_user)
        return self.plan_at(problem, rounded(self._search(problem)))

    def plan_at(self, problem: Problem, blanket_per_user: float) -> Plan:
        """Calibrate every level at a given m, choose the copies, and return the plan with its certificate.

        Raises
        ------
        InfeasibleError
            If the budget of messages is exceeded by the blanket alone.
        """
        mean = problem.honest_mean(blanket_per_user)
        least, most = self.blanket.means
        if not least <= mean <= most:
            allowed = f"such that n m/d of the honest users is in [{least:g}, {most:g}] (it is {mean:g})"
            raise ParameterError("blanket_per_user", blanket_per_user, allowed)
        targets = [_Target.of(problem, level, self.group_privacy, self.blanket) for level in problem.levels]
        limits = [self._limit(target, mean) for target in targets]
        for _ in range(_LOWERED):
            copies = self._affordable(problem, blanket_per_user, limits)
            if self.blanket == POISSON:
                break
            safe = [lowered(target, mean, float(a)) for target, a in zip(targets, copies, strict=True)]
            if all(a == b for a, b in zip(safe, copies, strict=True)):
                break
            limits = [a if a < b else limit for a, b, limit in zip(safe, copies, limits, strict=True)]
        else:
            limits = [_largest(target, mean, self.copies_max) for target in targets]
            copies = self._affordable(problem, blanket_per_user, limits)
        return Plan(
            method=self.name,
            problem=problem,
            kind="exact" if not self.group_privacy and attained(problem, copies) else "upper",
            blanket_per_user=blanket_per_user,
            messages_per_user=_messages(problem, blanket_per_user, copies),
            parameters={
                "copies": tuple(copies.tolist()),
                "certificate": self._certify(problem, mean, copies),
                **({} if self.blanket == POISSON else {"blanket": self.blanket.as_dict()}),
            },
            mse_bound=_error_terms(problem, self.blanket, blanket_per_user).error(
                copies, np.asarray(problem.level_counts, float)
            ),
        )

    def _limit(self, target: _Target, mean: float) -> float:
        """Largest copies: certified for single dummies, guided for other blankets."""
        if self.blanket == POISSON:
            return _largest(target, mean, self.copies_max)
        copies = _guided(target, mean, self.copies_max)
        whole = float(math.ceil(copies))
        return whole if whole / _HOPE < copies < whole <= self.copies_max else copies

    def _affordable(self, problem: Problem, blanket_per_user: float, limits: Sequence[float]) -> FloatArray:
        """Copies of least error, rounded down."""
        chosen, bound = self.chosen(problem, blanket_per_user, np.array(limits))
        if not math.isfinite(bound):
            raise InfeasibleError(
                f"max_messages = {self.max_messages:g} leaves nothing for data beside "
                f"a blanket of {blanket_per_user:g}."
            )
        return np.array([rounded_down(each) for each in chosen])

    def chosen(
        self, problem: Problem, blanket_per_user: float, limits: FloatArray, starts: int = STARTS
    ) -> tuple[FloatArray, float]:
        """Copies of least expected error within the limits and the budget, for uniform item frequencies."""
        room = math.inf
        if self.max_messages is not None:
            room = (self.max_messages - blanket_per_user) * problem.n_users / problem.set_size
            if room <= 0:
                return limits, math.inf
        counts = np.asarray(problem.level_counts, dtype=float)
        terms = _error_terms(problem, self.blanket, blanket_per_user)
        if self.equal_copies:
            one, error = best_copies(limits.min(keepdims=True), counts.sum(keepdims=True), terms, largest_weight=room)
            return one.repeat(limits.size), error
        return best_copies(limits, counts, terms, largest_weight=room, starts=starts)

    def _certify(self, problem: Problem, mean: float, copies: FloatArray) -> list[dict[str, float]]:
        """Certified delta interval of every level at its own epsilon (user level)."""
        certificate = []
        exact = attained(problem, copies)
        for level, value in zip(problem.levels, copies, strict=True):
            target = _Target.of(problem, level, group_privacy=False, blanket=self.blanket)
            lower, upper = _delta(target, mean, float(value))
            lower = lower if exact else 0.0  # the lower end is about the product, which nobody may reach
            certificate.append({"epsilon": level, "delta_lower": rounded_down(lower), "delta_upper": rounded_up(upper)})
        return certificate

    def _search(self, problem: Problem) -> float:
        """The m of least expected error: the limits are interpolated over m, the plan is certified afresh."""
        found = self._guided(problem)
        whole = _whole_copies_near(found.mean, found.targets, found.curves, self.copies_max)
        best = min([found.mean, *whole], key=lambda mean: self._error_at(problem, found.targets, mean))
        return best * problem.domain_size / problem.honest_users

    def guided_error(self, problem: Problem) -> float:
        """Least expected error by interpolated limits on the copies, a guide to other searches; inf if none."""
        try:
            return self._guided(problem).error
        except InfeasibleError:
            return math.inf

    def _guided(self, problem: Problem) -> _Guided:
        """The best blanket mean for interpolated limits.

        The error has a dip wherever a level reaches a whole number of copies, so all the best local minima of a fine
        grid are refined.
        """
        low, high = self._means(problem)
        if self.max_messages is not None:
            affordable = self.max_messages * problem.honest_users / problem.domain_size
            if affordable <= self.blanket.means[0]:
                raise InfeasibleError(
                    f"max_messages = {self.max_messages:g} is too small: raise it, or lower the domain size."
                )
            # a budget below that range still buys something
            low = max(min(low, 0.1 * affordable), self.blanket.means[0])
        targets = [_Target.of(problem, level, self.group_privacy, self.blanket) for level in problem.levels]
        curves = [_curve(target, low, high) if target.pairs else None for target in targets]
        per_mean = problem.domain_size / problem.honest_users

        def limits(log_mean: FloatArray | float) -> FloatArray:
            guided = [np.full(np.shape(log_mean), math.inf) if c is None else np.exp(c(log_mean)) for c in curves]
            return np.minimum(guided, self.copies_max)

        def at(log_mean: float, within: FloatArray, starts: int = 1) -> float:
            return self.chosen(problem, math.exp(log_mean) * per_mean, within, starts=starts)[1]

        def error(log_mean: float) -> float:
            return at(log_mean, limits(log_mean))

        if self.max_messages is not None:
            high = max(min(high, self.max_messages / per_mean), low * 1.0001)
        grid = np.linspace(math.log(low), math.log(high), _GRID if self.blanket == POISSON else _FEW)
        if self.blanket != POISSON:
            grid = np.unique(np.concatenate([grid, *(_whole_places(c, grid, self.copies_max) for c in curves if c)]))
        along = limits(grid).T
        # rough plans tell where descents are worth their time
        values = np.array([at(z, within, starts=0) for z, within in zip(grid, along, strict=True)])
        worth = np.isfinite(values) & (values <= _WORTH * values.min())
        values = np.array(
            [at(z, within) if close else math.inf for z, within, close in zip(grid, along, worth, strict=True)]
        )
        if not np.isfinite(values).any():
            raise InfeasibleError(
                f"max_messages = {self.max_messages:g} is too small: raise it, or lower the domain size."
            )
        best = min((self._refine(error, grid, values, i) for i in _local_minima(values)), key=lambda found: found[1])
        return _Guided(math.exp(best[0]), best[1], targets, curves)

    def _error_at(self, problem: Problem, targets: list[_Target], mean: float) -> float:
        """Error at a blanket mean, with the limits calibrated there."""
        limits = np.array([self._limit(target, mean) for target in targets])
        return self.chosen(problem, mean * problem.domain_size / problem.honest_users, limits)[1]

    def _refine(
        self, error: Callable[[float], float], grid: FloatArray, values: FloatArray, index: int
    ) -> tuple[float, float]:
        """Refine one local minimum of the grid; returns its place and value."""
        ends = (grid[max(index - 1, 0)], grid[min(index + 1, grid.size - 1)])
        found = optimize.minimize_scalar(error, bounds=ends, method="bounded", options={"xatol": 1e-4})
        if found.fun <= values[index]:
            return float(found.x), float(found.fun)
        return float(grid[index]), float(values[index])

    def _means(self, problem: Problem) -> tuple[float, float]:
        """Range of blanket means worth searching, whatever the budget.

        From a hundredth of what the most liberal level needs to send everything once, to what the most conservative
        one needs to send copies_max copies, or the largest mean where none is enough for that.
        """
        # with one delta these are the last level and the first
        asked = problem.levels if problem.level_deltas else (problem.levels[-1], problem.levels[0])
        targets = [_Target.of(problem, level, self.group_privacy, self.blanket) for level in asked]
        least, most = self.blanket.means
        if problem.pairs == 0:
            return least, 2 * least
        share = 0.01 if self.blanket == POISSON else 0.1
        liberal = min(_about_least_mean(each, min(self.copies_max, 1.0)) for each in targets)
        low = max(share * min(liberal, most), _AWAY * least)
        high = 1.05 * max(_about_least_mean(each, self.copies_max) for each in targets)
        # few copies need less than the least mean: the search starts there all the same
        return low, min(max(high, 2 * low), most)

    def simulate(self, plan: Plan, sample: Sample, rng: np.random.Generator) -> FloatArray:
        """Estimates from counters: independent Poisson blankets, and M copies of every held item."""
        copies, blanket = np.asarray(plan.parameters["copies"]), blanket_from(plan.parameters.get("blanket"))
        weight = float(np.dot(plan.problem.level_counts, copies))
        whole = np.floor(copies)
        sent = (whole.astype(np.int64)[None, :, None] * sample.level_item_counts).sum(axis=1)
        sent = sent + rng.binomial(sample.level_item_counts, (copies - whole)[None, :, None]).sum(axis=1)
        mean = sample.n_users * plan.blanket_per_user / sample.domain_size
        noise = blanket.draw_net(mean, (sample.repetitions, sample.domain_size), rng)
        return np.asarray((sent + noise - blanket.net_mean(mean)) / weight)

    def expected_mse(self, plan: Plan, item_counts: IntArray | FloatArray) -> float:
        """Closed form of `simulate`'s mean squared error."""
        problem, exactly = plan.problem, plan.problem.assumptions.sets == "exactly"
        terms = ErrorTerms(
            noise=_noise(problem, blanket_from(plan.parameters.get("blanket")), plan.blanket_per_user),
            own=float(problem.set_size) if exactly else float(item_counts.sum()) / problem.n_users,
            spread=assignment_spread(item_counts, problem.n_users),
        )
        return terms.error(np.asarray(plan.parameters["copies"]), np.asarray(problem.level_counts, dtype=float))

    def sum_variance(self, plan: Plan, item_counts: IntArray) -> float:
        """The error without the imbalance of levels, which sums to nothing: counters are independent."""
        return self.expected_mse(plan, np.zeros(plan.problem.domain_size))


def attained(problem: Problem, copies: Sequence[float] | FloatArray) -> bool:
    """Whether some neighbouring users reach the bound by `Problem.pairs`, so that no smaller delta is valid.

    That takes sets that differ in all these pairs, and others who leave those counters alone or shift them by a known
    number (docs/proof.md, step 6).
    """
    d, s = problem.domain_size, problem.set_size
    if problem.assumptions.sets == "at-most":
        return d >= 2 * s  # the others may hold nothing
    if problem.assumptions.private_levels and d < 2 * s:
        return False
    others_are_known = all(a == math.floor(a) for a, n in zip(copies, problem.level_counts, strict=True) if n)
    return d >= 3 * s or d == s or problem.n_users == 1 or others_are_known


@functools.lru_cache(maxsize=4096)
def _least_mean(target: _Target, copies: float) -> float:
    return least_blanket_mean(
        copies=copies, pairs=target.pairs, epsilon=target.epsilon, delta=target.delta, blanket=target.blanket
    )


@functools.lru_cache(maxsize=4096)
def _about_least_mean(target: _Target, copies: float) -> float:
    """The same for searches."""
    if target.blanket == POISSON:
        return _mean_worth(target, copies)
    return guided_mean(target.blanket, copies, pairs=target.pairs, epsilon=target.epsilon, delta=target.delta)


def _mean_worth(target: _Target, copies: float) -> float:
    """Least mean for these copies; inf if there is none: a level that sends fewer is no reason to refuse a plan."""
    try:
        return _least_mean(target, copies)
    except InfeasibleError:
        return math.inf


def _whole_copies_near(
    mean: float, targets: list[_Target], curves: list[interpolate.PchipInterpolator | None], copies_max: float
) -> list[float]:
    """Means at which a level just reaches a whole number of copies: the error dips there, interpolation misses it."""
    near = []
    for target, curve in zip(targets, curves, strict=True):
        limit = math.inf if curve is None else math.exp(float(curve(math.log(mean))))
        if limit <= copies_max * (1 + _NEAR) and round(limit) >= 1 and abs(limit / round(limit) - 1) <= _NEAR:
            near.append((abs(limit / round(limit) - 1), target, float(round(limit))))
    found = [_mean_worth(target, whole) for _, target, whole in sorted(near, key=lambda entry: entry[0])[:_REFINED]]
    # rounding of n m/d must not undo it
    return [m * (1 + 1e-9) for m in found if m < targets[0].blanket.means[1] / 2]


def _whole_places(curve: interpolate.PchipInterpolator, grid: FloatArray, copies_max: float) -> FloatArray:
    """Points, just above which a level reaches its first whole numbers of copies: a coarse grid would miss the dips."""
    wholes = np.log(np.arange(1.0, min(math.floor(copies_max), _WHOLES) + 1))
    fine = np.linspace(grid[0], grid[-1], 8 * grid.size)
    reached = curve(fine)
    inside = wholes[(wholes > reached[0]) & (wholes < reached[-1])]
    return np.asarray(np.interp(inside, reached, fine) + _ABOVE)


def _local_minima(values: FloatArray) -> list[int]:
    """Indices of the few lowest local minima, ends included."""
    padded = np.concatenate([[math.inf], values, [math.inf]])
    minima = np.flatnonzero((values <= padded[:-2]) & (values <= padded[2:]) & np.isfinite(values))
    return [int(i) for i in minima[np.argsort(values[minima])][:_REFINED]]


def _messages(problem: Problem, blanket_per_user: float, copies: Sequence[float] | FloatArray) -> float:
    """Expected messages per user, blanket and copies."""
    return blanket_per_user + problem.set_size * float(np.dot(problem.level_counts, copies)) / problem.n_users


METHODS = (
    Declared(
        "poisson-group",
        Look("Poisson blanket, group privacy (proven)", PALETTE["grey"], "s", DASHES[1]),
        lambda _: PoissonSegmented(group_privacy=True),
        accounting="proven",
        role="curve",
    ),
    Declared(
        "poisson",
        Look("Poisson blanket, sampling (ours, proven)", PALETTE["blue"], "o", "-"),
        lambda _: PoissonSegmented(),
        accounting="proven",
        role="curve",
    ),
    Declared(
        "poisson-copies",
        Look("Poisson blanket, copies (ours, proven)", PALETTE["wine"], "D", "-"),
        lambda options: PoissonSegmented(copies_max=float(options["copies_max"])),
        accounting="proven",
        role="curve",
    ),
    Declared(
        "poisson-equal",
        Look("Poisson blanket, equal copies for all levels (ours, proven)", PALETTE["teal"], "v", DASHES[2]),
        lambda _: PoissonSegmented(equal_copies=True),
        accounting="proven",
        role="variant",
    ),
)
