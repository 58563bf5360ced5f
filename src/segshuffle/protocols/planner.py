"""One planner for every law of dummies: the blanket and the copies of least error within a budget, certified.

A law offers shapes, each a curve of blankets of growing variance (`Blanket.shapes`). Along a curve the largest copies
of every level are nearly those of a Gaussian mechanism: what is left, the logarithm of their ratio, is guided on a
lattice and interpolated. So the error is cheap at every point, whatever the budget. Dips, where a level just reaches a
whole number of copies, are among the points. Nothing up to here is proven: the best points are then guided as they are,
and the plan is certified, with fewer copies until it is.
"""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy import interpolate, optimize

from segshuffle.accounting.collections.calibration import largest_copies, least_blanket_mean
from segshuffle.accounting.collections.guides import guided_copies, guided_log_delta
from segshuffle.accounting.collections.product import SMALLEST_DELTA, delta_interval, log_delta_bound
from segshuffle.accounting.collections.published import item_target
from segshuffle.accounting.numerics.gaussian import gaussian_ratio
from segshuffle.accounting.numerics.loss_distribution import AccuracyError
from segshuffle.arrays import FloatArray
from segshuffle.blankets.base import BLANKET_MEAN_RANGE, COPIES_RANGE, Blanket, Shape
from segshuffle.blankets.named import blanket_from
from segshuffle.blankets.poisson import POISSON, Poisson
from segshuffle.digits import rounded, rounded_down, rounded_up
from segshuffle.errors import InfeasibleError, ParameterError
from segshuffle.protocols.base import Plan, Problem, assignment_spread
from segshuffle.protocols.weights import STARTS, ErrorTerms, best_copies

#: Variances at which the copies are guided are powers of this: the ratio to a Gaussian mechanism's is a smooth curve.
_LATTICE = 1.6
#: Errors so much above the best, so often in a row, end a walk.
_FAR_OFF, _PATIENCE = 1.6, 3
#: Change of the dummies, in logarithms, that needs no other guide.
_SETTLED = 0.02
#: Largest share of the budget that is kept for the users' own messages where dummies take the rest.
_MOST_OWN = 0.95
#: Points between two of them, for dips that are no whole copies.
_FINE = 8
#: Best points that are guided as they are, and how far beside the curve whole numbers of copies are still reached.
_BEST, _BESIDE = 3, 0.05
#: Copies so little below a whole number are meant to be it.
_NEAR = 2e-3
#: Room above the guided variance of a whole number of copies: about the accuracy of a guide.
_ROOM = 1e-4
#: Relative accuracy of the fewest messages for an error.
_CLOSE = 3e-3
#: Blankets that are certified where whole copies are just missed.
_TRIES = 4
#: Budgets, in logarithms, so close that their best blankets are neighbours on the lattice of variances.
_SAME_PLACE = 0.25
#: Budgets that are tried where a guide promised too much, and doublings of one that does not reach an error.
_RAISES, _DOUBLINGS = 5, 4
#: Stands for the logarithm of an infinite error.
_NONE = 100.0
#: A delta so much below its target is not told from 0, where its table would be dear.
_FAR = 1e-6
#: Where a guide promised too much, delta is aimed so much below the target, as an exponent; and how often.
_MARGIN, _LOWERED = 5e-3, 6
#: Widths of a certificate, until one can be had: a plan has no accuracy that its user could lower.
_WIDTHS = (1e-3, 1e-2, 0.1, 1.0)


@dataclass(frozen=True)
class Target:
    """What one level must meet, without anything that depends on who chose it: equal targets share a calibration."""

    pairs: int
    epsilon: float
    delta: float

    @classmethod
    def of(cls, problem: Problem, level: float, group_privacy: bool = False) -> Target:
        """The product's own target, or the single item's after group privacy."""
        pairs, delta = problem.pairs, problem.deltas[problem.levels.index(level)]
        if not group_privacy or pairs == 0:
            return cls(pairs, level, delta)
        epsilon, delta = item_target(epsilon=level, delta=delta, set_size=pairs)
        return cls(1, epsilon, delta)

    def gaussian_copies(self, variance: float) -> float:
        """Copies that noise of a normal law and this variance would allow."""
        return _ratio(self.epsilon, self.delta) * math.sqrt(variance / (2 * self.pairs))

    def gaussian_variance(self, copies: float) -> float:
        """Variance of a normal law that would allow these copies."""
        return 2 * self.pairs * (copies / _ratio(self.epsilon, self.delta)) ** 2


@functools.lru_cache(maxsize=4096)
def _ratio(epsilon: float, delta: float) -> float:
    return gaussian_ratio(epsilon=epsilon, delta=delta)


@functools.lru_cache(maxsize=65536)
def _guided(law: Blanket, mean: float, target: Target) -> float:
    """About the largest copies, for searches."""
    return guided_copies(
        law.rough(), mean, pairs=target.pairs, epsilon=target.epsilon, delta=target.delta, copies_max=COPIES_RANGE[1]
    )


@dataclass(frozen=True)
class ErrorMeasure:
    """The error that is asked for, as weights of its three sources (see `weights`).

    Parameters
    ----------
    items : float
        Items whose noise counts.
    own : float
        Expected number of these items that a user holds.
    spread : float
        Variance of that number over the users, summed item by item.
    """

    items: float
    own: float
    spread: float

    @classmethod
    def of_all(cls, problem: Problem) -> ErrorMeasure:
        """Squared error of all items together, for equally frequent ones."""
        d, s, n = problem.domain_size, problem.set_size, problem.n_users
        return cls(d, s, assignment_spread(np.array([n * s / d]), n) * d)

    @classmethod
    def of_item(cls, share: float, n_users: int) -> ErrorMeasure:
        """Variance of the estimate of one item that so large a share of the users hold."""
        return cls(1.0, share, share * (1 - share) * n_users / max(n_users - 1, 1))

    def terms(self, variance: float) -> ErrorTerms:
        """Coefficients of the error where every item's count has noise of this variance."""
        return ErrorTerms(self.items * variance, self.own, self.spread)


@dataclass(frozen=True)
class Search:
    """What is planned for, and how the copies may be chosen.

    Parameters
    ----------
    problem : Problem
        Public quantities.
    copies_max : float
        Largest expected copies a_k per held item, in [1e-120, 64]; 1 is the sampling of the paper.
    laws : tuple of type
        Laws of dummies to choose from, the simplest first.
    measure : ErrorMeasure or None
        The error that is least; None for that of all items.
    equal_copies : bool
        Whether all levels send the same number of copies.
    group_privacy : bool
        Whether the items are accounted for by group privacy over one (sound, not tight).
    name : str
        Name of the method in the plans.
    """

    problem: Problem
    copies_max: float = 1.0
    laws: tuple[type[Blanket], ...] = (Poisson,)
    measure: ErrorMeasure | None = None
    equal_copies: bool = False
    group_privacy: bool = False
    name: str = "poisson"

    @functools.cached_property
    def error(self) -> ErrorMeasure:
        """The error that is least."""
        return self.measure or ErrorMeasure.of_all(self.problem)

    @functools.cached_property
    def targets(self) -> list[Target]:
        """What every level must meet."""
        return [Target.of(self.problem, level, self.group_privacy) for level in self.problem.levels]

    @functools.cached_property
    def counts(self) -> FloatArray:
        """Users of every level."""
        return np.asarray(self.problem.level_counts, dtype=float)

    # -- a blanket and what may be sent in it --------------------------------------------------------------------------

    def choose(
        self, law: Blanket, blanket_per_user: float, limits: FloatArray, budget: float, *, thorough: bool = True
    ) -> tuple[FloatArray, float]:
        """Copies of least error within the limits and the budget of messages per user, and that error."""
        variance = law.variance(blanket_per_user * self.problem.honest_users / self.problem.domain_size)
        return self.choose_at(variance, blanket_per_user, limits, budget, thorough=thorough)

    def choose_at(
        self, variance: float, blanket_per_user: float, limits: FloatArray, budget: float, *, thorough: bool = True
    ) -> tuple[FloatArray, float]:
        """The same by the variance of the honest users' dummies about one item."""
        room = (budget - blanket_per_user) * self.problem.n_users / self.problem.set_size
        if room <= 0:
            return np.zeros_like(limits), math.inf
        terms = self.error.terms(variance * self.problem.n_users / self.problem.honest_users)
        starts = STARTS if thorough else 0
        if self.equal_copies:
            least, users = limits.min(keepdims=True), self.counts.sum(keepdims=True)
            one, error = best_copies(least, users, terms, largest_weight=room, starts=starts)
            return one.repeat(limits.size), error
        return best_copies(limits, self.counts, terms, largest_weight=room, starts=starts)

    def messages(self, blanket_per_user: float, copies: FloatArray) -> float:
        """Expected messages per user, blanket and copies."""
        return blanket_per_user + self.problem.set_size * float(self.counts @ copies) / self.problem.n_users

    def per_user(self, mean: float) -> float:
        """Dummies per user of which the honest ones make `mean` per item."""
        return mean * self.problem.domain_size / self.problem.honest_users

    def limits(self, law: Blanket, mean: float) -> FloatArray:
        """About the largest copies of every level, up to 64."""
        return np.array([_guided(law, mean, each) if each.pairs else self.copies_max for each in self.targets])

    # -- the search ----------------------------------------------------------------------------------------------------

    def least_error(self, budget: float = math.inf) -> Plan:
        """Plan of least error within a budget of expected messages per user.

        Raises
        ------
        InfeasibleError
            If nothing can be sent within it.
        """
        plans = list[Plan]()
        for law in self.laws:
            allowed = budget
            if math.isinf(budget) and law.spends and plans:
                allowed = law.spends * plans[0].messages_per_user
            with contextlib.suppress(InfeasibleError):
                plans.append(self._best_of(law, allowed))
        if not plans:
            raise InfeasibleError(f"max_messages = {budget:g} is too small: raise it, or lower the domain size.")
        # of equals the first, which is the simplest
        return min(plans, key=self.error_of)

    def error_of(self, plan: Plan) -> float:
        """The error that is asked for, of a plan for the same problem."""
        mean = plan.blanket_per_user * self.problem.n_users / self.problem.domain_size
        variance = blanket_from(plan.parameters.get("blanket")).variance(mean)
        return self.error.terms(variance).error(np.asarray(plan.parameters["copies"]), self.counts)

    def fewest_messages(self, error: float) -> Plan:
        """Plan of about the fewest messages whose error is at most `error`.

        Raises
        ------
        InfeasibleError
            If no number of messages reaches it.
        """
        best: Plan | None = None
        if self.problem.pairs == 0 and self.error_of(free := self.least_error()) <= error:
            return free  # nothing to hide: there are hardly any dummies to save
        for law in self.laws if self.problem.pairs else ():
            found = self._fewest_of(law, error, best.messages_per_user if best else math.inf)
            best = found or best
        if best is None:
            least = self.least_error()
            raise InfeasibleError(
                f"target_error = {error:g} is below {self.error_of(least):g}, the least that was found, with "
                f"{least.messages_per_user:.4g} messages per user: raise it, or copies_max."
            )
        return best

    def _fewest_of(self, law: type[Blanket], error: float, most: float) -> Plan | None:
        """The plan of a law that has fewer messages than `most`, and about the fewest; None if there is none."""
        near: tuple[float, _Point] | None = None

        @functools.cache
        def excess(log_budget: float) -> float:
            nonlocal near
            close = near is not None and abs(log_budget - near[0]) < _SAME_PLACE
            found = self._candidate(law, math.exp(log_budget), near[1] if near and close else None)
            near = (log_budget, found.point) if found else None
            return math.log(found.error / error) if found else _NONE

        if math.isinf(most):
            most = (law.spends or 1.0) * self._best_of(self.laws[0], math.inf).messages_per_user
            tops = [math.log(most) + double * math.log(2) for double in range(_DOUBLINGS if law.spends else 1)]
        else:
            tops = [math.log(most / (1 + _CLOSE))]
        high = next((top for top in tops if excess(top) <= 0), None)
        if high is None:
            return None
        low = high - math.log(2)
        while excess(low) <= 0:
            high, low = low, low - math.log(2)
        budget = optimize.brentq(excess, low, high, xtol=_CLOSE, rtol=_CLOSE)
        # guides may promise a little too much: budgets are raised in steps that double
        for more in _CLOSE * (2.0 ** np.arange(_RAISES) - 1):
            with contextlib.suppress(InfeasibleError):
                plan = self._best_of(law, math.exp(budget + more))
                if self.error_of(plan) <= error and plan.messages_per_user < (most if len(tops) == 1 else math.inf):
                    return plan
        return None

    def _best_of(self, law: type[Blanket], budget: float) -> Plan:
        if self.problem.pairs == 0:  # nothing to hide: any blanket will do
            return self.plan_at(POISSON, rounded(self.per_user(2 * BLANKET_MEAN_RANGE[0])), budget)
        best = self._candidate(law, budget)
        if best is None:
            raise InfeasibleError(f"max_messages = {budget:g} is too small: raise it, or lower the domain size.")
        blanket, plans = best.point.law, list[Plan]()
        for _ in range(_TRIES):
            plans.append(self.plan_at(best.point.law, rounded(self.per_user(best.point.mean)), budget))
            # whole copies that the guide promised and the certificate just misses are worth a little more noise
            missed = _missed(best.copies, np.array(plans[-1].parameters["copies"]))
            more = best.raised(4 * missed) if 0 < missed < _BESIDE and blanket.rough() is not blanket else None
            if more is None:
                break
            best = more
        if blanket.rough() is blanket:
            plans += self._at_whole(blanket, best.copies, budget)
        return min(plans, key=self.error_of)

    def _at_whole(self, law: Blanket, copies: FloatArray, budget: float) -> Iterator[Plan]:
        """Plan with exactly the dummies that whole numbers of copies need."""
        whole = [(each, float(a)) for each, a in zip(self.targets, copies, strict=True) if a and a == math.floor(a)]
        if not whole:
            return
        with contextlib.suppress(InfeasibleError):
            mean = max(_least_mean(law, each, a) for each, a in whole)
            yield self.plan_at(law, rounded_up(self.per_user(mean)), budget)

    def _candidate(self, law: type[Blanket], budget: float, near: _Point | None = None) -> Candidate | None:
        """The best point of all shapes: steps to neighbouring ones, as long as one is better."""
        shapes = law.shapes(self.problem.pairs, self.problem.delta)
        best, tried, ways = None, set[tuple[int, ...]](), [shapes.start]
        while ways:
            way = ways.pop(0)
            tried.add(way)
            found = _Curve(self, shapes.make(way), budget, law.spends > 0, best.point if best else near).best()
            if best is None or (found is not None and found.error < best.error):
                best = found
                ways += [each for each in shapes.beside(way) if each not in tried]
        return best

    # -- the end -------------------------------------------------------------------------------------------------------

    def plan_at(self, law: Blanket, blanket_per_user: float, budget: float = math.inf) -> Plan:
        """Calibrate every level in a given blanket, choose the copies, and certify them.

        Raises
        ------
        InfeasibleError
            If the budget of messages is used up by the blanket alone.
        ParameterError
            If the accountant has no numbers for such a blanket.
        """
        problem = self.problem
        mean = problem.honest_mean(blanket_per_user)
        least, most = law.means
        if not least <= mean <= most:
            allowed = f"such that n m/d of the honest users is in [{least:g}, {most:g}] (it is {mean:g})"
            raise ParameterError("blanket_per_user", blanket_per_user, allowed)
        limits, sure = self.limits(law, mean), law.rough() is law
        if sure:
            limits = np.array([_largest(law, mean, each, self.copies_max) for each in self.targets])
        for _ in range(_LOWERED):
            chosen, error = self.choose(law, blanket_per_user, np.minimum(limits, self.copies_max), budget)
            if not math.isfinite(error):
                raise InfeasibleError(
                    f"max_messages = {budget:g} leaves nothing for data beside a blanket of {blanket_per_user:g}."
                )
            lowered = [self._lowered(law, mean, each, a) for each, a in zip(self.targets, chosen, strict=True)]
            if sure or all(a == b for a, b in zip(lowered, chosen, strict=True)):
                break
            limits = np.where(np.array(lowered) < chosen, lowered, limits)
        copies = np.array([rounded_down(each) for each in chosen])
        exact = not self.group_privacy and attained(problem, copies)
        variance = law.variance(problem.n_users * blanket_per_user / problem.domain_size)
        return Plan(
            method=self.name,
            problem=problem,
            kind="exact" if exact else "upper",
            blanket_per_user=blanket_per_user,
            messages_per_user=self.messages(blanket_per_user, copies),
            parameters={
                "copies": tuple(copies.tolist()),
                "certificate": self._certificate(law, mean, copies),
                **({} if law == POISSON else {"blanket": law.as_dict()}),
            },
            mse_bound=ErrorMeasure.of_all(problem).terms(variance).error(copies, self.counts),
        )

    def _lowered(self, law: Blanket, mean: float, target: Target, copies: float) -> float:
        """Copies that are fewer by what their certificate is above the target; the same, if it is met."""
        if copies == 0:
            return copies
        excess = math.log(max(_delta(law, mean, target, rounded_down(copies))[1], SMALLEST_DELTA) / target.delta)
        if excess <= 0:
            return copies
        one, other = (
            guided_log_delta(law.rough().pair(mean, a), target.pairs, target.epsilon, target.delta)
            for a in (copies, 0.99 * copies)
        )
        return copies * math.exp(-(excess + _MARGIN) / max(100 * (one - other), 1.0))

    def _certificate(self, law: Blanket, mean: float, copies: FloatArray) -> list[dict[str, float]]:
        """Certified delta interval of every level at its own epsilon (user level)."""
        certificate = []
        exact = attained(self.problem, copies)
        for level, value in zip(self.problem.levels, copies, strict=True):
            lower, upper = _delta(law, mean, Target.of(self.problem, level), float(value))
            lower = lower if exact else 0.0  # the lower end is about the product, which nobody may reach
            certificate.append({"epsilon": level, "delta_lower": rounded_down(lower), "delta_upper": rounded_up(upper)})
        return certificate


class _Point(NamedTuple):
    """One blanket of a curve, with the largest copies of every level by the guide."""

    law: Blanket
    mean: float
    limits: FloatArray


@dataclass(frozen=True)
class Candidate:
    """A blanket, the copies of least error in it by the guides, and that error."""

    point: _Point
    copies: FloatArray
    error: float
    curve: _Curve

    def raised(self, more: float) -> Candidate | None:
        """Return the same copies in a blanket whose variance has a logarithm so much larger."""
        point = self.curve._guided(math.log(self.point.law.variance(self.point.mean)) + more, self.point)
        return point and replace(self, point=point)


def _missed(intended: FloatArray, reached: FloatArray) -> float:
    """Logarithm by which whole copies are missed, or negative where there is room; 0 where no whole ones are meant."""
    whole = (intended == np.floor(intended)) & (intended > 0) & (reached > 0)
    return float(np.log(intended[whole] / reached[whole]).max(initial=-math.inf)) if whole.any() else 0.0


@dataclass(frozen=True)
class _Curve:
    """The blankets of one shape within a budget, by the logarithm of their variance.

    Parameters
    ----------
    search : Search
        What is searched for.
    shape : Shape
        Law and mean of a variance.
    budget : float
        Messages per user.
    spends : bool
        Whether the shape takes whatever messages the users do not need for their own.
    near : _Point or None
        The best of another shape: only what is near it is looked at.
    """

    search: Search
    shape: Shape
    budget: float
    spends: bool
    near: _Point | None = None

    def best(self) -> Candidate | None:
        """The best point; None where nothing can be sent."""
        known = self._walk()
        if not known:
            return None
        places = np.array(list(known))
        ratios = np.log([np.maximum(each.limits, COPIES_RANGE[0]) for each in known.values()]) - places[:, None] / 2
        if len(known) == 1:
            return self._true(float(places[0]), self._chosen(next(iter(known.values())))[0])
        order = np.argsort(places)
        curve = interpolate.PchipInterpolator(places[order], ratios[order])

        def at(x: float, *, thorough: bool = True) -> tuple[FloatArray, float]:
            return self._chosen(self._with(x, np.exp(curve(x) + x / 2)), thorough=thorough)

        fine = np.linspace(places.min(), places.max(), _FINE * (len(known) - 1) + 1)
        fine = np.unique(np.concatenate([fine, *self._wholes(curve, fine)]))
        errors = np.array([at(float(x), thorough=False)[1] for x in fine])
        padded = np.concatenate([[math.inf], errors, [math.inf]])
        minima = np.flatnonzero((errors <= padded[:-2]) & (errors <= padded[2:]) & np.isfinite(errors))
        found = list[Candidate]()
        for i in minima[np.argsort(errors[minima], kind="stable")][:_BEST]:
            ends = float(fine[max(i - 1, 0)]), float(fine[min(i + 1, fine.size - 1)])
            refined = optimize.minimize_scalar(lambda x: at(x)[1], bounds=ends, options={"xatol": 1e-3})
            x = float(refined.x) if refined.fun < at(float(fine[i]))[1] else float(fine[i])
            copies = at(x)[0]
            # a hair below a whole number is meant to be it
            whole = np.ceil(copies)
            meant = np.where((copies > (1 - _NEAR) * whole) & (whole <= self.search.copies_max), whole, copies)
            candidate = self._true(x, meant)
            found += [candidate] if candidate else []
        return min(found, key=lambda each: each.error, default=None)

    def _wholes(self, curve: interpolate.PchipInterpolator, fine: FloatArray) -> Iterator[FloatArray]:
        """Points just above which a level reaches a whole number of copies: the error dips there."""
        limits = curve(fine) + fine[:, None] / 2
        for reached in limits.T:
            most = min(math.exp(reached.max()), self.search.copies_max)
            wholes = np.log(np.arange(1.0, math.floor(most) + 1))
            yield np.interp(wholes[wholes > reached.min()], np.maximum.accumulate(reached), fine) + _ROOM

    def _walk(self) -> dict[float, _Point]:
        """Points of the lattice around the best one, as far as the error is not much larger."""
        step = math.log(_LATTICE)
        near = self.near and math.log(self.near.law.variance(self.near.mean))
        low, high = self._range() if near is None else (near - step, near + step)
        places = step * np.arange(math.floor(low / step), math.ceil(high / step) + 1)
        rough = [self._chosen(self._gaussian(float(x)))[1] for x in places]
        start = int(np.argmin(rough))
        known, best = dict[float, _Point](), math.inf
        for steps in (range(start, len(places)), range(start - 1, -1, -1)):
            point, far = known.get(float(places[start]), self.near), 0
            for i in steps:
                point = self._guided(float(places[i]), point)
                error = self._chosen(point)[1]
                if point is not None:
                    known[float(places[i])] = point
                best = min(best, error)
                far = far + 1 if error > _FAR_OFF * best else 0
                if far == _PATIENCE:
                    break
        return known

    def _range(self) -> tuple[float, float]:
        """Logarithms of the least and largest variance that may be of use."""
        search = self.search
        low = min(each.gaussian_variance(min(search.copies_max, 1.0)) for each in search.targets)
        if math.isfinite(self.budget):
            low = min(low, 10 * self.budget * search.problem.honest_users / search.problem.domain_size)
        high = max(each.gaussian_variance(search.copies_max) for each in search.targets)
        return math.log(max(0.01 * low, BLANKET_MEAN_RANGE[0])), math.log(2 * high)

    def _chosen(self, point: _Point | None, *, thorough: bool = False) -> tuple[FloatArray, float]:
        """Copies of least error at a point, and that error."""
        if point is None:
            return self.search.counts, math.inf
        limits = np.minimum(point.limits, self.search.copies_max)
        return self.search.choose(point.law, self.search.per_user(point.mean), limits, self.budget, thorough=thorough)

    def _gaussian(self, x: float, like: _Point | None = None) -> _Point | None:
        """The point with the copies that noise of a normal law would allow, times those of a point like it."""
        variance = math.exp(x) if like is None else math.exp(x) / like.law.variance(like.mean)
        if like is not None:
            return self._with(x, like.limits * math.sqrt(variance))
        return self._with(x, np.array([each.gaussian_copies(variance) for each in self.search.targets]))

    def _guided(self, x: float, like: _Point | None = None) -> _Point | None:
        """The point with guided copies; what users' own messages do not need is known when these are."""
        point = self._gaussian(x, like)
        for _ in range(2):
            if point is None:
                return None
            guided = self.search.limits(point.law, point.mean)
            mean, point = point.mean, self._with(x, guided) if self.spends else point._replace(limits=guided)
            if point is not None and abs(math.log(point.mean / mean)) < _SETTLED:
                break
        return point

    def _with(self, x: float, limits: FloatArray) -> _Point | None:
        """Law and mean of a variance, where users may send so many copies."""
        search, problem, rest = self.search, self.search.problem, 0.0
        if self.spends:
            capped = np.minimum(limits, search.copies_max)
            free, _ = search.choose_at(math.exp(x), 0.0, capped, math.inf, thorough=False)
            own = min(search.messages(0.0, free), _MOST_OWN * self.budget)
            rest = (self.budget - own) * problem.honest_users / problem.domain_size
        found = self.shape(math.exp(x), rest)
        if found is None or not found[0].means[0] <= found[1] <= found[0].means[1]:
            return None
        return _Point(*found, limits) if search.per_user(found[1]) < self.budget else None

    def _true(self, x: float, intended: FloatArray) -> Candidate | None:
        """The candidate at a point, moved up a little where whole copies are only just missed."""
        best: Candidate | None = None
        for _ in range(4):
            point = self._guided(x, best.point if best else self.near)
            if point is None:
                break
            _, error = self._chosen(point, thorough=True)
            if best is None or error < best.error:
                best = Candidate(point, intended, error, self)
            short = _missed(intended, point.limits)
            if short == 0 or not -_BESIDE < short < 4 * _BESIDE or -2 * _ROOM < short < 0:
                break
            x += 2 * short + _ROOM
        return best if best and math.isfinite(best.error) else None


@functools.lru_cache(maxsize=65536)
def _largest(law: Blanket, mean: float, target: Target, copies_max: float) -> float:
    """Largest certified copies, rounded down; copies_max if nothing to hide."""
    if target.pairs == 0:
        return copies_max
    copies = largest_copies(
        blanket_mean=mean,
        copies_max=copies_max,
        blanket=law,
        pairs=target.pairs,
        epsilon=target.epsilon,
        delta=target.delta,
    )
    # that search stops within `rtol` of delta; a whole number just above costs no sampling noise
    whole = float(math.ceil(copies))
    if 0.998 * whole < copies < whole <= copies_max:
        bound = log_delta_bound(law.pair(mean, whole), target.pairs, target.epsilon, 1e-3)
        return whole if bound <= math.log(target.delta) else rounded_down(copies)
    return rounded_down(copies)


@functools.lru_cache(maxsize=65536)
def _delta(law: Blanket, mean: float, target: Target, copies: float) -> tuple[float, float]:
    """Certified interval of delta (lower, upper), as narrow as can be had."""
    if target.pairs == 0 or copies == 0:
        return 0.0, 0.0
    pair = law.pair(mean, copies)
    smallest = SMALLEST_DELTA if law.rough() is law else max(_FAR * target.delta, SMALLEST_DELTA)
    bound = 1.0
    for rtol in _WIDTHS:
        with contextlib.suppress(AccuracyError):
            interval = delta_interval(pair, pairs=target.pairs, epsilon=target.epsilon, rtol=rtol, smallest=smallest)
            return interval.lower, min(interval.upper, bound)
        # the upper bound that the copies were calibrated by
        bound = min(math.exp(log_delta_bound(pair, target.pairs, target.epsilon, 1e-3)) * (1 + 1e-13), 1.0)
    return 0.0, bound


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


def least_blankets(problem: Problem) -> tuple[float, ...]:
    """Least m of single dummies that lets every level send every item once, rounded up (kind: exact)."""
    return tuple(
        rounded_up(_least_mean(POISSON, Target.of(problem, level), 1.0) * problem.domain_size / problem.honest_users)
        for level in problem.levels
    )


@functools.lru_cache(maxsize=4096)
def _least_mean(law: Blanket, target: Target, copies: float) -> float:
    if target.pairs == 0:
        return law.means[0]
    return least_blanket_mean(
        copies=copies, pairs=target.pairs, epsilon=target.epsilon, delta=target.delta, blanket=law
    )
