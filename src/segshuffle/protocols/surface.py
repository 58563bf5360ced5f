"""The search of the planner: about the best blanket of a law within a budget, by guides alone.

A blanket is a point: the logarithms of its variance and of whatever else its law leaves to choose. The largest copies
of every level are nearly those of a Gaussian mechanism of that variance. The logarithm of their ratio is guided at a
few points and interpolated, so that every point promises an error. The point of the least promise is guided next, until
a promise is kept and the neighbours are known. Nothing here is proven.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from segshuffle.arrays import FloatArray
from segshuffle.blankets.base import BLANKET_MEAN_RANGE, COPIES_RANGE, Blanket

if TYPE_CHECKING:
    from scipy.interpolate import RBFInterpolator

    from segshuffle.protocols.planner import Search

#: A promise is kept if the error is at most so much larger: about the accuracy of the guides.
_KEPT = 1e-3
#: Distance at which neighbours of the best point are guided, and share of it within which a point is as good as known.
_STEP, _NEAR = 0.5, 0.6
#: Points all over the choices of a law that are guided first, at one variance, and as many at any.
_SCATTERED = 9
#: Times that points are guided for one budget, at most.
_ROUNDS = 40
#: Where promises are compared: shares of the ranges around the best point, choices beside the variance, variances of
#: all choices together, and then finer ones of each.
_WIDTHS, _CHOICES, _VARIANCES, _FINER = (1.0, 0.3, 0.1), 8, 200, 11
#: Largest share of a budget that is kept for the users' own messages where dummies take the rest.
_MOST_OWN = 0.95
#: Share of the interpolated copies that is promised, so that whole numbers are reached where they are promised.
_CAREFUL = 0.998


class Best(NamedTuple):
    """The blanket of least error, the copies that are sent in it, shape (n_levels,), and about the error."""

    point: FloatArray
    law: Blanket
    mean: float
    copies: FloatArray
    error: float


class Surface:
    """What is known of the blankets of a law.

    Parameters
    ----------
    search : Search
        What is searched for.
    law : type of Blanket
        The law.
    """

    def __init__(self, search: Search, law: type[Blanket]) -> None:
        self.search, self.law = search, law
        self.space = law.space(search.problem.pairs, search.problem.delta)
        high = max(each.gaussian_variance(search.copies_max) for each in search.targets)
        ends = (BLANKET_MEAN_RANGE[0], 2 * max(high, BLANKET_MEAN_RANGE[0]))
        self.low, self.high = np.log([ends, *self.space.bounds]).T
        #: log of the largest copies that noise of a normal law and variance 1 would allow
        self.unit = np.log([each.gaussian_copies(1.0) for each in search.targets])
        #: share of the guided copies that certificates allow
        self.trust = np.ones(self.unit.size)
        self.points: list[FloatArray] = []
        self.ratios: list[FloatArray] = []
        self.barred: list[FloatArray] = []
        self.interpolated: RBFInterpolator | None = None

    def best(self, budget: float) -> Best | None:
        """Return the best blanket for a budget of messages per user; None where nothing can be sent."""
        known, self.trust = None, np.ones(self.unit.size)
        # as if nothing were known: another budget may have its best blanket in another valley
        found, self.interpolated = self.interpolated, None
        first, self.interpolated = self.promised(budget), found
        others = [] if first is None else [first.point] if self.points else self._first(first.point)
        wanted, others = ([], others) if self.points and self.law.spends else (others, [])
        for _ in range(_ROUNDS):
            if not sum(map(self._guide, wanted)) and known:
                if not sum(map(self._guide, others)):
                    break
                others = []
            promised = self.promised(budget)
            if promised is None:
                break
            _, known = self._errors(np.array(self.points), budget, 1.0) if self.points else (None, None)
            if known is None or known.error > promised.error * (1 + _KEPT):
                wanted = [promised.point]
            else:
                wanted = self._neighbours(known.point)
        return known

    def corrected(self, best: Best, copies: FloatArray, budget: float) -> Best | None:
        """Return the best blanket if all allow fewer copies than promised, by as much as these are fewer."""
        short = (copies > 0) & (copies < best.copies)
        self.trust = self.trust * np.divide(copies, best.copies, out=np.ones_like(self.trust), where=short)
        return self.promised(budget)

    def promised(self, budget: float) -> Best | None:
        """Return about the blanket of least promised error: many choices, and for each of them the best variance."""
        best, centre = None, (self.low + self.high) / 2
        free = slice(1, self.low.size - (self.law.spends > 0))
        spread = _spread(_CHOICES, centre[free].size) * (self.high - self.low)[free]
        for width in _WIDTHS:
            choices = np.clip(centre[free] + width * spread, self.low[free], self.high[free])
            x, half = np.full((len(choices), 1), centre[0]), width * (self.high - self.low)[0] / 2
            for count in (_VARIANCES // len(choices), _FINER, _FINER):
                x = np.clip(x + half * np.linspace(-1, 1, count), self.low[0], self.high[0])
                cloud = np.dstack([x, *np.broadcast_to(choices.T[:, :, None], (choices.shape[1], *x.shape))])
                errors, found = self._errors(self._completed(cloud.reshape(x.size, -1), budget), budget, _CAREFUL)
                least = errors.reshape(*x.shape, -1).min(axis=2).argmin(axis=1)
                x, half = x[np.arange(len(x)), least, None], 2 * half / (count - 1)
                if found and (best is None or found.error < best.error):
                    best = found
            centre = best.point if best else centre
        return best

    def _completed(self, points: FloatArray, budget: float) -> FloatArray:
        """Add the dummies where they take what own messages leave, for several caps of these: more rows than points."""
        if not self.law.spends:
            return points
        most = min(max(budget / self.search.problem.set_size, 1.0), self.search.copies_max)
        caps = np.append(2.0 ** np.arange(math.floor(math.log2(most)) + 1), self.search.copies_max)
        points, caps = np.repeat(points, caps.size, axis=0), np.tile(caps, len(points))[:, None]
        own = np.full(len(points), budget / 2)
        for _ in range(2):
            dummies = (budget - np.minimum(own, _MOST_OWN * budget)) / self.search.per_user(1.0)
            whole = self._settled(np.column_stack([points, np.log(dummies)]))[0]
            own = self.search.messages(0.0, np.minimum(self._limits(whole), caps))
        dummies = (budget - np.minimum(own, _MOST_OWN * budget)) / self.search.per_user(1.0)
        return np.column_stack([points, np.log(dummies)])

    def _settled(self, points: FloatArray) -> tuple[FloatArray, tuple[FloatArray, ...], FloatArray]:
        """Return points that laws have, their parameters and their means: nan where there is no law."""
        parameters, means = self.space.make(*np.exp(points.T))
        if self.law.spends:
            points = np.column_stack([points[:, :-1], np.where(np.isfinite(means), np.log(means), points[:, -1])])
        return points, parameters, means

    def _limits(self, points: FloatArray) -> FloatArray:
        """Largest copies by what is known, shape (n_points, n_levels)."""
        ratios = self.interpolated(points) if self.interpolated else np.zeros(self.unit.size)
        log = np.minimum(self.unit + points[:, :1] / 2 + ratios, math.log(COPIES_RANGE[1]))
        return np.asarray(self.trust * np.exp(log))

    def _errors(self, points: FloatArray, budget: float, share: float) -> tuple[FloatArray, Best | None]:
        """Return the errors of points by what is known, inf where there is no law, and the best of them."""
        points, parameters, means = self._settled(points)
        errors = np.full(len(points), math.inf)
        fits = np.flatnonzero(self.search.per_user(np.where(np.isfinite(means), means, math.inf)) < budget)
        if not fits.size:
            return errors, None
        variances, per_user = np.exp(points[fits, 0]), self.search.per_user(means[fits])
        copies, errors[fits] = self.search.guess(variances, per_user, share * self._limits(points[fits]), budget)
        at = int(np.argmin(errors))
        if not math.isfinite(errors[at]):
            return errors, None
        law = self.law(*(float(each[at]) for each in parameters))
        return errors, Best(points[at], law, float(means[at]), copies[np.searchsorted(fits, at)], float(errors[at]))

    def _first(self, point: FloatArray) -> list[FloatArray]:
        """Return points all over what is chosen, at one variance and at any: promises miss far valleys."""
        if self.law.spends or point.size == 1:
            return [point]
        beside, anywhere = (0.5 + _spread(_SCATTERED, size) for size in (point.size - 1, point.size))
        width = self.high - self.low
        return [
            point,
            *np.insert(self.low[1:] + beside * width[1:], 0, point[0], axis=1),
            *(self.low + anywhere * width),
        ]

    def _neighbours(self, point: FloatArray) -> list[FloatArray]:
        """Return points near which nothing is known: a step away in every direction, and up to two steps in others."""
        axes = np.eye(point.size)
        steps = _STEP * np.concatenate([axes, -axes, 4 * _spread(2 * point.size + 1, point.size)[1:]])
        found = np.clip(point + steps, self.low, self.high)
        seen = np.array([*self.points, *self.barred])
        distance = np.abs(found[:, None] - seen).max(axis=2).min(axis=1)
        return list(found[distance > _NEAR * _STEP])

    def _guide(self, point: FloatArray) -> bool:
        """Guide the copies at a point, which are known from then on; return whether anything new is known."""
        (settled,), parameters, (mean,) = self._settled(point[None])
        if not math.isfinite(mean):
            self.barred.append(point)
            return True
        if self.points and np.abs(np.array(self.points) - settled).max(axis=1).min() < 1e-6:
            self.barred.append(point)
            return False
        law = self.law(*(float(each[0]) for each in parameters))
        start = self._limits(settled[None])[0] if self.points else None
        guided = np.maximum(self.search.limits(law, float(mean), start), COPIES_RANGE[0])
        self.points.append(settled)
        self.ratios.append(np.log(guided) - self.unit - settled[0] / 2)
        from scipy.interpolate import RBFInterpolator  # a quarter of a second of every job's start

        known = np.array(self.points)
        spans = np.linalg.matrix_rank(known - known[0]) == known.shape[1]
        smooth: Any = {"kernel": "cubic", "degree": 1} if spans else {"kernel": "linear", "degree": 0}
        self.interpolated = RBFInterpolator(known, self.ratios, **smooth)
        return True


def _spread(count: int, dimensions: int) -> FloatArray:
    """Spread points evenly over a cube of side 1 around its centre, which is the first (the R sequence)."""
    if dimensions == 0:
        return np.zeros((1, 0))
    root = 2.0
    for _ in range(30):
        root = (1 + root) ** (1 / (dimensions + 1))
    return (0.5 + np.outer(np.arange(count), root ** -np.arange(1.0, dimensions + 1))) % 1 - 0.5
