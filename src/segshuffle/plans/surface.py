"""The search of the planner for nearly the best blanket of a law with further choices, by quick estimates.

A blanket is a *point*: the logarithms of its variance and of the other parameters that its law leaves to choose. The
largest copies of every level are nearly those of a Gaussian mechanism with this variance. The log of the ratio between
them is computed at a few points (`guides`) and interpolated. So every point has a predicted error. The point with the
least predicted error is computed next. The search ends if a prediction was right and the points around it are computed.

The error has several valleys, because whole copies are better than slightly fewer. So the first points are guesses for
several limits on the copies, for few dummies, and points all around. Nothing here is proven.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from segshuffle.accounting.collections.guides import FINE, REACH
from segshuffle.arrays import FloatArray
from segshuffle.blankets.base import BLANKET_MEAN_RANGE, COPIES_RANGE, Blanket
from segshuffle.plans.copy_rules import Candidate, CopyRules

#: Distance between the best point and its neighbours. A neighbour is not computed if a computed point is closer to it
#: than half of the distance.
_STEP = 0.5
#: For every budget this many points are computed first, over the whole range of the choices, with variances and means
#: whose logs are up to this far from those of a guess.
_SCATTERED, _FAR = 10, 4.0
#: This share of the dummies within a budget is spared, because their number is rounded up.
_SPARED = 5e-4
#: Most rounds of computing points for one budget.
_ROUNDS = 40
#: Whole copies make valleys: each of these limits on the copies has a guess.
_COPIES = (1.0, 2.0, 4.0, 8.0, 16.0)
#: Logs of variances of few dummies, at which one point each is computed.
_FEW = (0.0, 2.0)
#: Widths of the grids on which predictions are compared, as shares of the parameters' ranges.
_WIDTHS = (1.0, 0.2)
#: A grid has this many choices of the parameters other than variance and mean.
_CHOICES = 6
#: The widest grid first has this many variances, which its choices share equally; a narrower one has fewer.
_VARIANCES = 400
#: Around the best variance of a choice, a finer grid has this many.
_FINER = 11


class Surface:
    """The computed points of a law, and predictions for all others.

    Parameters
    ----------
    rules : CopyRules
        The problem, and the rules for choosing copies.
    """

    def __init__(self, rules: CopyRules) -> None:
        self.rules, self.law = rules, rules.law
        self.space = self.law.space(rules.problem.pairs, rules.problem.delta)
        copies = np.array([each.gaussian_copies for each in rules.targets])
        ends = (BLANKET_MEAN_RANGE[0], rules.enough_variance)
        self.low, self.high = np.log([ends, *self.space.bounds]).T
        self.middle, self.ranges = (self.low + self.high) / 2, self.high - self.low
        #: places of all choices but variance and mean
        self.free = slice(1, self.low.size - (self.law.spends > 0))
        #: log of the largest copies that Gaussian noise with variance 1 would allow
        self.unit = np.log(copies)
        self.points: list[FloatArray] = []
        self.ratios: list[FloatArray] = []
        self.barred: list[FloatArray] = []
        self.interpolated: Callable[[FloatArray], FloatArray] | None = None

    def best(self, budget: float, quick: bool = False) -> Candidate | None:
        """Return the best blanket for a budget of messages per user; None if nothing can be sent.

        A quick search starts from what is known, if anything is, without points around a first guess.
        """
        return self._refined([] if quick and self.points else self._first(budget), budget)

    def _refined(self, wanted: list[FloatArray], budget: float) -> Candidate | None:
        """Compute points, and then those of least predicted error, until predictions are right; return the best."""
        known = None
        for _ in range(_ROUNDS):
            if not sum(map(self._guide, wanted)) and known:
                break
            promised = self.promised(budget)
            if promised is None:
                break
            _, known = self._errors(np.array(self.points), budget, 1 - FINE) if self.points else (None, None)
            if known is None or known.error > promised.error * (1 + FINE):
                wanted = [promised.point]
            else:
                wanted = [*self._new(promised.point[None]), *self._neighbours(known.point)]
        return known

    def promised(self, budget: float) -> Candidate | None:
        """Return the blanket with nearly the least predicted error, of many choices, each with its best variance."""
        best, centre = None, self.middle
        spread = _spread(_CHOICES, centre[self.free].size) * self.ranges[self.free]
        for width in _WIDTHS:
            choices = centre[self.free] + width * spread
            choices = np.clip(choices, self.low[self.free], self.high[self.free])
            # a row per choice, a column per variance
            variances, half = np.full((len(choices), 1), centre[0]), width * self.ranges[0] / 2
            first = max(round(width * _VARIANCES / len(choices)), _FINER)
            for count in (first, _FINER, _FINER):
                variances = np.clip(variances + half * np.linspace(-1, 1, count), self.low[0], self.high[0])
                grid = np.column_stack([variances.ravel(), np.repeat(choices, count, axis=0)])
                # somewhat fewer copies than interpolated: a whole number that is predicted is then mostly allowed
                errors, candidate = self._errors(self._completed(grid, budget), budget, 1 - 2 * FINE)
                least = errors.reshape(*variances.shape, -1).min(axis=2).argmin(axis=1)
                # the next grid lies between the neighbours of each choice's best variance
                variances, half = variances[np.arange(len(variances)), least, None], 2 * half / (count - 1)
                if candidate and (best is None or candidate.error < best.error):
                    best = candidate
            centre = best.point if best else centre
        return best

    def _completed(self, points: FloatArray, budget: float) -> FloatArray:
        """Add the mean of the dummies, which use the rest of the budget; return a row per point and cap on copies."""
        if not self.law.spends:
            return points
        # more cannot be used
        budget = min(budget, self.rules.per_user(2 * math.exp(self.high[-1])))
        caps = np.array(self._caps(budget))

        def rest(limits: FloatArray) -> FloatArray:
            spent = self.rules.messages(0.0, np.minimum(limits, caps))
            return np.asarray(np.maximum((1 - _SPARED) * (budget - spent), FINE * budget))

        # first guess: dummies take half of the budget; the copies that they allow tell how much is left for dummies
        before = np.full(len(points), budget / 2)
        limits = self._limits(self._spending(points, before))
        points, limits, before = (np.repeat(each, caps.size, axis=0) for each in (points, limits, before))
        caps = np.tile(caps, len(points) // caps.size)[:, None]
        dummies = rest(limits)
        unused = dummies - before
        for _ in range(2):
            limits = self._limits(self._spending(points, dummies))
            still_unused = rest(limits) - dummies
            with np.errstate(invalid="ignore"):  # 0/0 where nothing is unused
                # of one more dummy, less is unused by 1 and by the copies that it allows
                slope = np.fmin((still_unused - unused) / (dummies - before), -1.0)
            before, unused = dummies, still_unused
            dummies = np.clip(dummies - still_unused / slope, FINE * budget, (1 - _SPARED) * budget)
        return self._spending(points, dummies)

    def _spending(self, points: FloatArray, per_user: FloatArray) -> FloatArray:
        """Append to points the log of the mean that so many dummies per user give, at most the largest."""
        return np.column_stack([points, np.minimum(np.log(per_user / self.rules.per_user(1.0)), self.high[-1])])

    def blanket(self, point: FloatArray) -> tuple[Blanket, float] | None:
        """Return the law and the mean of a point; None if there is no such law."""
        _, parameters, (mean,) = self._settled(point[None])
        return (self._law(parameters), float(mean)) if math.isfinite(mean) else None

    def _law(self, parameters: tuple[FloatArray, ...], at: int = 0) -> Blanket:
        """Return the law whose parameters are at one place of the arrays."""
        return self.law(*(float(each[at]) for each in parameters))

    def _settled(self, points: FloatArray) -> tuple[FloatArray, tuple[FloatArray, ...], FloatArray]:
        """Return the points, the parameters of their laws, and their means; nan if there is no such law."""
        parameters, means = self.space.make(*np.exp(points.T))
        if self.law.spends:
            points = np.column_stack([points[:, :-1], np.where(np.isfinite(means), np.log(means), points[:, -1])])
        return points, parameters, means

    def _limits(self, points: FloatArray) -> FloatArray:
        """Return the predicted largest copies, shape (n_points, n_levels)."""
        ratios = self.interpolated(points) if self.interpolated else np.zeros(self.unit.size)
        log = np.minimum(self.unit + points[:, :1] / 2 + ratios, math.log(COPIES_RANGE[1]))
        return np.asarray(np.exp(log))

    def _errors(self, points: FloatArray, budget: float, share: float) -> tuple[FloatArray, Candidate | None]:
        """Return the errors of points, inf if there is no such law, and the best one, by shares of predicted copies."""
        points, parameters, means = self._settled(points)
        errors = np.full(len(points), math.inf)
        fits = np.flatnonzero(self.rules.per_user(np.where(np.isfinite(means), means, math.inf)) < budget)
        if not fits.size:
            return errors, None
        variances, per_user = np.exp(points[fits, 0]), self.rules.per_user(means[fits])
        copies, errors[fits] = self.rules.best_copies(variances, per_user, share * self._limits(points[fits]), budget)
        at = int(np.argmin(errors))
        if not math.isfinite(errors[at]):
            return errors, None
        law = self._law(parameters, at)
        return errors, Candidate(
            points[at], law, float(means[at]), copies[np.searchsorted(fits, at)], float(errors[at])
        )

    def _first(self, budget: float) -> list[FloatArray]:
        """Return points that would be best if every blanket were as good as Gaussian noise, and others all around."""
        guesses = [Surface(replace(self.rules, copies_max=each)).promised(budget) for each in self._caps(budget)]
        points = [each.point for each in guesses if each]
        if not points:
            return []
        guess = points[-1]
        centre, extent = guess.copy(), np.full(guess.size, 2 * _FAR)
        centre[self.free], extent[self.free] = self.middle[self.free], self.ranges[self.free]
        points = [guess, *points[:-1], *(centre + extent * _spread(_SCATTERED, guess.size))]
        mean = guess[self.free.stop :]  # none if the law does not spend
        few = [np.concatenate([[each], np.log(self.space.few), mean]) for each in _FEW]
        return self._new(np.array([*np.clip(points, self.low, self.high), *few]))

    def _caps(self, budget: float) -> list[float]:
        """Return limits on the copies: those that a budget has room for, and the largest copies of all."""
        most = self.rules.copies_max
        room = budget / self.rules.problem.set_size
        return [*(each for each in _COPIES if each <= room and each < most), most]

    def _distance(self, point: FloatArray, others: Sequence[FloatArray] = ()) -> float:
        """Return the distance of a point from the closest of some others and those where a computation was tried."""
        seen = [*self.points, *self.barred, *others]
        return float(np.abs(np.array(seen) - point).max(axis=1).min()) if seen else math.inf

    def _neighbours(self, point: FloatArray) -> list[FloatArray]:
        """Return neighbours, one step away on an axis, without a computed point nearby."""
        steps = _STEP * np.concatenate([np.eye(point.size), -np.eye(point.size)])
        return self._new(np.clip(point + steps, self.low, self.high))

    def _new(self, points: FloatArray) -> list[FloatArray]:
        """Return points, without those that are close to one before, or to one that was tried."""
        new = list[FloatArray]()
        for point in self._settled(points)[0]:
            if self._distance(point, new) > _STEP / 2:
                new.append(point)
        return new

    def _guide(self, point: FloatArray) -> bool:
        """Compute the copies at a point and update the interpolation; return whether it was new, and has a law."""
        (settled,), parameters, (mean,) = self._settled(point[None])
        if not math.isfinite(mean) or self._distance(settled) < 1e-6:
            self.barred.append(point)
            return False
        # a prediction far from all computed points may be a bad first guess, which ends at a wrong answer
        start = self._limits(settled[None])[0] if self._distance(settled) < 2 * _STEP else None
        guided = np.maximum(self.rules.limits(self._law(parameters), float(mean), start), COPIES_RANGE[0])
        self.points.append(settled)
        self.ratios.append(np.maximum(np.log(guided) - self.unit - settled[0] / 2, -REACH))
        self.interpolated = _interpolated(np.array(self.points), np.array(self.ratios))
        return True


def _interpolated(points: FloatArray, values: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """Return a smooth function with given values at given points, both with a row per point."""
    from scipy.interpolate import RBFInterpolator  # at the top it would slow the start of every plan

    spans = np.linalg.matrix_rank(points - points[0]) == points.shape[1]
    return RBFInterpolator(points, values, kernel="cubic" if spans else "linear", degree=int(spans))


def _spread(count: int, dimensions: int) -> FloatArray:
    """Spread points evenly over a cube of side 1 around 0 (the R sequence); the first is 0."""
    if dimensions == 0:
        return np.zeros((1, 0))
    root = 2.0
    for _ in range(30):
        root = (1 + root) ** (1 / (dimensions + 1))
    return (0.5 + np.outer(np.arange(count), root ** -np.arange(1.0, dimensions + 1))) % 1 - 0.5
