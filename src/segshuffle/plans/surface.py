"""The search of the planner for nearly the best blanket of a law with further choices, by quick estimates.

A blanket is a *point*: the logarithms of its variance and of the other parameters that its law leaves to choose. The
largest copies of every level are nearly those of a Gaussian mechanism with this variance. The log of the ratio between
them is computed at a few points (`guides`) and interpolated. So every point has a predicted error. The point with the
least predicted error is computed next. If a prediction was right, the points around it are computed, first far and then
close ones, and those that are predicted to be nearly as good; if all of these are known, the search ends. Every round
compares other choices.

The error has several valleys, because whole copies are better than slightly fewer. So the first points are a guess, few
dummies, and points all around; and predictions are compared in several valleys of every choice, and for several limits
on the copies. Nothing here is proven.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from segshuffle.accounting.collections.guides import CLOSE, FINE, REACH, ROUGH
from segshuffle.arrays import FloatArray, IntArray
from segshuffle.blankets.base import BLANKET_MEAN_RANGE, COPIES_RANGE, Blanket
from segshuffle.plans.copy_rules import Candidate, CopyRules

#: Distances between the best point and its neighbours: first far ones are computed, then close ones. A neighbour is not
#: computed if a computed point is closer to it than half of the distance.
_STEP, _SHORT_STEP = 0.5, 0.5 / 3
#: For every budget this many points that have a law are computed first, over the whole range of the choices, with
#: variances and means whose logs are up to this far from those of a guess.
_SCATTERED, _FAR = 10, 4.0
#: This share of the dummies within a budget is spared, because their number is rounded up.
_SPARED = 5e-4
#: Most rounds of computing points for one budget.
_ROUNDS = 40
#: Limits on the copies that leave different numbers of dummies within a budget.
_COPIES = (1.0, 2.0, 4.0, 8.0, 16.0)
#: Logs of variances of few dummies, at which one point each is computed; also at that of a first guess if it is less.
_FEW = (0.0, 2.0)
#: Predictions are compared for this many choices of the parameters other than variance and mean all over their ranges,
#: and for as many in this share of the ranges around the best point: the middle, and others every round.
_CHOICES, _NARROW = 6, 0.2
#: So many variances of each choice are compared first, over the whole range.
_VARIANCES = 70
#: So many valleys of each choice are looked at more finely, if their errors are at most this multiple of the least one.
_VALLEYS, _HOPEFUL = 4, 1.3
#: Around the best variance of a valley, ever finer grids have so many: whole copies and budgets make sharp kinks.
_FINER = (16, 16, 16)
#: A prediction is right if the least error of a computed point is hardly above it, relatively.
_RIGHT = 2e-4
#: Points whose predicted errors are less than this multiple of the least one are computed, too, before a search ends.
_ALMOST = 1.03


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
        for number in range(_ROUNDS):
            # first points are far apart, which limits the accuracy of what is interpolated between them
            rtol = CLOSE if number else ROUGH
            if not sum(self._guide(each, rtol) for each in wanted) and known:
                break
            points, errors = self._promised(number, budget, known)
            least = float(errors.min())
            if not math.isfinite(least):
                break
            promised = points[errors.argmin()]
            _, known = self._errors(np.array(self.points), budget) if self.points else (None, None)
            if known is None or known.error > least * (1 + _RIGHT):
                wanted = [promised]
            else:
                wanted = [*self._new(promised[None]), *self._neighbours(known.point, _STEP)]
                wanted = wanted or self._neighbours(known.point, _SHORT_STEP)
                wanted = wanted or self._new(points[errors < known.error * _ALMOST])
        return known

    def elsewhere(self, point: FloatArray, budget: float) -> list[Candidate]:
        """Return the computed point with the least error of those that are far from a point, if there is one."""
        far = [each for each in self.points if np.abs(each - point).max() > 2 * _STEP]
        _, best = self._errors(np.array(far), budget) if far else (None, None)
        return [best] if best else []

    def _promised(self, number: int, budget: float, known: Candidate | None = None) -> tuple[FloatArray, FloatArray]:
        """Return the points with the least predicted errors, some valleys of each choice of a round, and the errors.

        Choices are all over the ranges, and then near the best point, computed or predicted.
        """
        spread = _spread(_CHOICES, self.middle[self.free].size, number * (_CHOICES - 1)) * self.ranges[self.free]
        points, errors = self._valleys(self.middle[self.free] + spread, budget)
        centre = known.point if known and known.error <= errors.min() else points[errors.argmin()]
        near_points, near_errors = self._valleys(centre[self.free] + _NARROW * spread, budget)
        return np.concatenate([points, near_points]), np.concatenate([errors, near_errors])

    def _valleys(self, choices: FloatArray, budget: float) -> tuple[FloatArray, FloatArray]:
        """Return the points of least predicted error in the valleys of choices, and the errors."""
        choices = np.clip(choices, self.low[self.free], self.high[self.free])
        variances, half = np.full((len(choices), 1), self.middle[0]), self.ranges[0] / 2
        # only a law that spends a budget divides it between dummies and copies
        caps = np.tile(self._caps(budget) if self.law.spends else [math.inf], (len(choices), 1))
        # how many variances a grid has, and how many valleys of each row go on
        grids = [(_VARIANCES, _VALLEYS), *[(number, 1) for number in _FINER]]
        for number, most in grids:
            # a row per choice, or one of its valleys
            variances = np.clip(variances + half * np.linspace(-1, 1, number), self.low[0], self.high[0])
            grid = np.column_stack([variances.ravel(), np.repeat(choices, number, axis=0)])
            points = self._completed(grid, np.repeat(caps, number, axis=0), budget)
            errors, _ = self._errors(points, budget)
            # every variance has a point for each of its caps, of which only the best one counts
            points, errors = points.reshape(*variances.shape, -1, points.shape[1]), errors.reshape(*variances.shape, -1)
            best, errors = errors.argmin(axis=2), errors.min(axis=2)
            rows, columns = _minima(errors, most)
            hopeful = errors[rows, columns] <= _HOPEFUL * errors.min()
            rows, columns = rows[hopeful], columns[hopeful]
            best = best[rows, columns]
            points, errors, choices = points[rows, columns, best], errors[rows, columns], choices[rows]
            caps = caps[rows, best, None]
            # the next grid lies between the neighbours of the best variances
            variances, half = points[:, :1], 2 * half / (number - 1)
        return points, errors

    def _completed(self, points: FloatArray, caps: FloatArray, budget: float) -> FloatArray:
        """Add the mean of the dummies, which use the rest of the budget; return a row for each point and its every cap.

        A cap limits the copies that the dummies leave room for; `caps` has a row of them for each point.
        """
        if not self.law.spends:
            return points
        # more cannot be used
        budget = min(budget, self.rules.per_user(2 * math.exp(self.high[-1])))

        def rest(limits: FloatArray) -> FloatArray:
            spent = self.rules.messages(0.0, np.minimum(limits, caps))
            return np.asarray(np.maximum((1 - _SPARED) * (budget - spent), FINE * budget))

        # first guess: dummies take half of the budget; the copies that they allow tell how much is left for dummies
        before = np.full(len(points), budget / 2)
        limits = self._limits(self._spending(points, before))
        points, limits, before = (np.repeat(each, caps.shape[1], axis=0) for each in (points, limits, before))
        caps = caps.reshape(-1, 1)
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

    def _errors(self, points: FloatArray, budget: float) -> tuple[FloatArray, Candidate | None]:
        """Return the predicted errors of points, inf if there is no such law, and the best one."""
        points, parameters, means = self._settled(points)
        errors = np.full(len(points), math.inf)
        fits = np.flatnonzero(self.rules.per_user(np.where(np.isfinite(means), means, math.inf)) < budget)
        if not fits.size:
            return errors, None
        variances, per_user = np.exp(points[fits, 0]), self.rules.per_user(means[fits])
        # just above a whole number, interpolated copies may be a little too many, and fewer than whole ones cost much
        limits = self._limits(points[fits])
        limits = np.where(limits % 1 < FINE * limits, (1 - FINE) * limits, limits)
        copies, errors[fits] = self.rules.best_copies(variances, per_user, limits, budget)
        at = int(np.argmin(errors))
        if not math.isfinite(errors[at]):
            return errors, None
        law = self._law(parameters, at)
        return errors, Candidate(
            points[at], law, float(means[at]), copies[np.searchsorted(fits, at)], float(errors[at])
        )

    def _first(self, budget: float) -> list[FloatArray]:
        """Return the point that is predicted to be best, points of few dummies, and others all around."""
        guesses, errors = self._promised(0, budget)
        if not np.isfinite(errors).any():
            return []
        guess = guesses[errors.argmin()]
        centre, extent = guess.copy(), np.full(guess.size, 2 * _FAR)
        centre[self.free], extent[self.free] = self.middle[self.free], self.ranges[self.free]
        scattered = np.clip(centre + extent * _spread(4 * _SCATTERED, guess.size), self.low, self.high)
        scattered, _, means = self._settled(scattered)
        scattered = scattered[np.isfinite(means)][:_SCATTERED]
        # points of an earlier budget serve this one, too
        scattered = [each for each in scattered if self._distance(each) > 2 * _STEP]
        mean = guess[self.free.stop :]  # none if the law does not spend
        few = [np.concatenate([[each], np.log(self.space.few), mean]) for each in (*_FEW, min(guess[0], *_FEW))]
        return self._new(np.array([guess, *scattered, *few]))

    def _caps(self, budget: float) -> list[float]:
        """Return limits on the copies: those that a budget has room for, and the largest copies of all."""
        most = self.rules.copies_max
        room = budget / self.rules.problem.set_size
        return [*(each for each in _COPIES if each <= room and each < most), most]

    def _distance(self, point: FloatArray, others: Sequence[FloatArray] = ()) -> float:
        """Return the distance of a point from the closest of some others and those where a computation was tried."""
        seen = [*self.points, *self.barred, *others]
        return float(np.abs(np.array(seen) - point).max(axis=1).min()) if seen else math.inf

    def _neighbours(self, point: FloatArray, step: float) -> list[FloatArray]:
        """Return neighbours, one step away on an axis, without a computed point nearby."""
        steps = step * np.concatenate([np.eye(point.size), -np.eye(point.size)])
        return self._new(np.clip(point + steps, self.low, self.high), step / 2)

    def _new(self, points: FloatArray, close: float = _STEP / 2) -> list[FloatArray]:
        """Return points, without those that are close to one before, or to one that was tried."""
        new = list[FloatArray]()
        for point in self._settled(points)[0] if len(points) else points:
            if self._distance(point, new) > close:
                new.append(point)
        return new

    def _guide(self, point: FloatArray, rtol: float) -> bool:
        """Compute the copies at a point and update the interpolation; return whether it was new, and has a law."""
        (settled,), parameters, (mean,) = self._settled(point[None])
        if not math.isfinite(mean) or self._distance(settled) < 1e-6:
            self.barred.append(point)
            return False
        # a prediction far from all computed points may be a bad first guess, which ends at a wrong answer
        start = self._limits(settled[None])[0] if self._distance(settled) < 2 * _STEP else None
        guided = np.maximum(self.rules.limits(self._law(parameters), float(mean), start, rtol), COPIES_RANGE[0])
        self.points.append(settled)
        self.ratios.append(np.maximum(np.log(guided) - self.unit - settled[0] / 2, -REACH))
        self.interpolated = _interpolated(np.array(self.points), np.array(self.ratios))
        return True


def _interpolated(points: FloatArray, values: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """Return a smooth function with given values at given points, both with a row per point."""
    from scipy.interpolate import RBFInterpolator  # at the top it would slow the start of every plan

    spans = np.linalg.matrix_rank(points - points[0]) == points.shape[1]
    return RBFInterpolator(points, values, kernel="cubic" if spans else "linear", degree=int(spans))


def _minima(values: FloatArray, most: int) -> tuple[IntArray, IntArray]:
    """Return rows and columns of the least local minima, at most so many of a row."""
    around = np.pad(values, [(0, 0), (1, 1)], constant_values=math.inf)
    is_least = (values <= around[:, :-2]) & (values < around[:, 2:])
    is_least[np.arange(len(values)), values.argmin(axis=1)] = True
    columns = np.argsort(np.where(is_least, values, math.inf), axis=1, kind="stable")[:, :most]
    rows = np.broadcast_to(np.arange(len(values))[:, None], columns.shape)
    found = is_least[rows, columns]
    return rows[found], columns[found]


def _spread(count: int, dimensions: int, skipped: int = 0) -> FloatArray:
    """Return 0, and points spread evenly over a cube of side 1 around it: the R sequence without its first ones."""
    if dimensions == 0:
        return np.zeros((1, 0))
    root = 2.0
    for _ in range(30):
        root = (1 + root) ** (1 / (dimensions + 1))
    numbers = np.append(0, skipped + np.arange(1, count))
    return (0.5 + np.outer(numbers, root ** -np.arange(1.0, dimensions + 1))) % 1 - 0.5
