"""The search of the planner: about the best blanket of a law within a budget, by guides alone.

Along a curve of blankets of growing variance the largest copies of every level are nearly those of a Gaussian
mechanism. The logarithm of their ratio is guided at a few places and interpolated, so that every place promises an
error. The place of the least promise is guided next, until a promise is kept. Nothing here is proven.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from segshuffle.arrays import FloatArray
from segshuffle.blankets.base import BLANKET_MEAN_RANGE, COPIES_RANGE, Blanket, Shape, Shapes

if TYPE_CHECKING:
    from segshuffle.protocols.planner import Search

#: Logarithms of variance between two places of a curve: half of it beside a minimum, the error is 0.03 % above it.
_STEP = 0.1
#: A promise is kept if the error is at most so much larger: about the accuracy of the guides.
_KEPT = 1e-3
#: Places that are guided on one curve before the best of them is taken.
_ROUNDS = 10
#: One known place says little of the others: the best of them may have an error so many times smaller.
_HOPE = 1.05
#: Best promises whose copies are optimised.
_BEST = 3
#: How far on both sides of the best place guides are wanted, and how far from it a neighbouring shape has its own.
_REACH, _NEAR = 0.5, 1.0
#: Places that are looked at in a step of either side of the best.
_FINE = 21
#: Errors so many times the least one are not looked at.
_FAR_OFF = 10.0
#: Known places so close, of which copies stay whole at one, have the least variance between them.
_CLOSE = 0.01
#: A place where copies just reach a whole number is moved up by so much.
_ROOM = 2e-3
#: Largest share of the budget that is kept for the users' own messages where dummies take the rest.
_MOST_OWN = 0.95


class Place(NamedTuple):
    """A blanket, the copies of least error in it by the guides, and that error."""

    log_variance: float
    law: Blanket
    mean: float
    copies: FloatArray
    error: float
    curve: Curve


class Curves:
    """The curves of all shapes of a law.

    Parameters
    ----------
    search : Search
        What is searched for.
    shapes : Shapes
        The shapes, on a grid.
    spends : bool
        Whether the law takes whatever messages the users do not need for their own: then guides are of one budget.
    """

    def __init__(self, search: Search, shapes: Shapes, spends: bool) -> None:
        self.search, self.shapes, self.spends = search, shapes, spends
        self.made: dict[tuple[int, ...], Curve] = {}
        self.start = shapes.start

    def best(self, budget: float) -> Place | None:
        """Return the best place of all shapes, by steps to neighbouring shapes as long as one is better."""
        best, tried, ways = None, set[tuple[int, ...]](), [self.start]
        while ways:
            way = ways.pop(0)
            tried.add(way)
            if self.spends or way not in self.made:
                near = best.log_variance if self.spends and best else None
                like = best.curve if best else self.made.get(self.start)
                self.made[way] = Curve(self.search, self.shapes.make(way), self.spends, like, near)
            found = self.made[way].best(budget, best.error if best else math.inf)
            if found is not None and (best is None or found.error < best.error):
                best, self.start = found, way
            if best is None or found is best:
                ways += [each for each in self.shapes.beside(way) if each not in tried and each not in ways]
        return best


class Curve:
    """The blankets of one shape, by the logarithm of their variance.

    Parameters
    ----------
    search : Search
        What is searched for.
    shape : Shape
        Law and mean of a variance.
    spends : bool
        Whether the shape takes whatever messages the users do not need for their own.
    like : Curve or None
        Curve whose ratios are nearly these.
    near : float or None
        Logarithm of a variance: only places near it are looked at.
    """

    def __init__(
        self, search: Search, shape: Shape, spends: bool, like: Curve | None, near: float | None = None
    ) -> None:
        self.search, self.shape, self.spends = search, shape, spends
        # the least mean of all may be rounded below its range
        self.places = np.arange(*_range(search), _STEP)[1:]
        if near is not None:
            self.places = self.places[np.abs(self.places - near) <= _NEAR]
        #: log of the largest copies that noise of a normal law and variance 1 would allow
        self.unit = np.log([each.gaussian_copies(1.0) for each in search.targets])
        self.is_new = like is None
        self.base = np.zeros((self.places.size, self.unit.size)) if like is None else like.ratios(self.places)
        self.known: dict[float, FloatArray] = {}
        self.barred: list[float] = []

    def best(self, budget: float, wanted: float = math.inf) -> Place | None:
        """Return the best place, with less care if it is not below a wanted error; None where nothing can be sent."""
        best: Place | None = None
        unknown = self._survey(budget) if self.is_new and not self.known else []
        for tried in range(_ROUNDS):
            for x in unknown:
                found = self._guide(x, budget)
                if found is not None and (best is None or found.error < best.error):
                    best = found
            promise = self._promise(budget)
            if promise is None:
                break
            x, error = promise
            hoped = wanted * (_HOPE if len(self.known) == 1 else 1)
            if self.known and error >= hoped:
                break
            if best is None or best.error > error * (1 + _KEPT):
                unknown = [x, *self._halves(x)] if tried else [x]
            elif best.error >= hoped or not (unknown := self._unknown(best)):
                break
        return best

    def _survey(self, budget: float) -> list[float]:
        """Places some way apart, wherever a normal law's error is not far above the least one."""
        places, per_user = self._lattice(budget)
        errors = self.search.guess(np.exp(places), per_user, self._limits(places), budget)[1]
        good = places[errors < _FAR_OFF * errors.min(initial=math.inf)]
        return np.arange(good.min(), good.max() + _REACH, 2 * _REACH).tolist() if good.size else []

    def _halves(self, x: float) -> list[float]:
        """Return the middle between a place and the next known one: in a bend, promises are broken on one side only."""
        return [(x + min(each for each in self.known if each > x)) / 2] if self.known and max(self.known) > x else []

    def _unknown(self, place: Place) -> list[float]:
        """Where more should be known: some way off on both sides, and left of a place where copies stay whole."""
        x, seen = place.log_variance, [*self.known, *self.barred]
        beside = [y for y in (x - _REACH, x + _REACH) if self.places[0] <= y <= self.places[-1]]
        unknown = [y for y in beside if min(abs(y - each) for each in seen) > _REACH / 2]
        limits = self._limits(np.array([x]))[0]
        if np.any((limits > 0.5) & (np.abs(limits - np.round(limits)) < _KEPT)):
            left = max((each for each in seen if each < x), default=x)
            unknown += [(left + x) / 2] if x - left > _CLOSE else []
        return unknown

    def corrected(self, place: Place, copies: FloatArray, budget: float) -> Place | None:
        """Return the best place if all places allow fewer copies than promised, by as much as these are fewer."""
        short = (copies > 0) & (copies < place.copies)
        shift = np.log(np.where(short, copies, 1.0) / np.where(short, place.copies, 1.0))
        self.base = self.base + np.maximum(shift, -_STEP)
        promise = self._promise(budget)
        if promise is None:
            return None
        at = np.array(promise[:1])
        limits = self._limits(at)
        found = self._blanket(promise[0], float(self._free(at, limits, budget)[0]), budget)
        return found and self._place(promise[0], found, limits[0], budget)

    def ratios(self, x: FloatArray) -> FloatArray:
        """Return logarithms of the ratio of the copies to a Gaussian mechanism's, shape (n_places, n_levels)."""
        known = sorted(self.known)
        columns = []
        for level, base in enumerate(self.base.T):
            column = np.interp(x, self.places, base)
            if known:
                column += np.interp(x, known, [self.known[each][level] for each in known])
            columns.append(column)
        return np.stack(columns, axis=1)

    def _limits(self, x: FloatArray) -> FloatArray:
        """Largest copies by what is known, shape (n_places, n_levels)."""
        return np.exp(np.minimum(self.unit + x[:, None] / 2 + self.ratios(x), math.log(COPIES_RANGE[1])))

    def _lattice(self, budget: float) -> tuple[FloatArray, FloatArray]:
        """Places where a blanket fits into the budget, and its messages per user."""
        dummies = self._free(self.places, self._limits(self.places), budget).tolist()
        found = [self._blanket(x, each, budget) for x, each in zip(self.places.tolist(), dummies, strict=True)]
        per_user = np.array([self.search.per_user(each[1]) if each else math.nan for each in found])
        fits = np.isfinite(per_user)
        return self.places[fits], per_user[fits]

    def _promise(self, budget: float) -> tuple[float, float] | None:
        """Find the place of the least error by what is known, and that error; None where nothing can be sent."""
        lattice, messages = self._lattice(budget)
        if lattice.size == 0:
            return None
        places = np.concatenate([lattice, *self._wholes(lattice)])
        around = np.linspace(-_STEP, _STEP, _FINE)
        _, _, best = self._minima(np.setdiff1d(places, self.barred), lattice, messages, budget)
        finer = np.clip((best[:, None] + around).ravel(), lattice[0], lattice[-1])
        per_user, limits, best = self._minima(
            np.setdiff1d(np.concatenate([places, finer]), self.barred), lattice, messages, budget
        )
        chosen = [
            (float(x), self.search.choose(math.exp(x), m, a, budget)[1])
            for x, m, a in zip(best, per_user, limits, strict=True)
        ]
        return min(chosen, key=lambda each: each[1], default=None)

    def _minima(
        self, places: FloatArray, lattice: FloatArray, messages: FloatArray, budget: float
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Dummies per user, limits and places of the least minima of the promised error."""
        limits = self._limits(places)
        per_user = np.interp(places, lattice, messages)
        if self.spends:
            per_user = np.minimum(per_user, self._free(places, limits, budget))
        errors = self.search.guess(np.exp(places), per_user, limits, budget)[1]
        padded = np.concatenate([[math.inf], errors, [math.inf]])
        minima = np.flatnonzero((errors <= padded[:-2]) & (errors <= padded[2:]) & np.isfinite(errors))
        best = minima[np.argsort(errors[minima], kind="stable")[:_BEST]]
        return per_user[best], limits[best], places[best]

    def _wholes(self, x: FloatArray) -> Iterator[FloatArray]:
        """Places just above which a level reaches a whole number of copies: the error dips there."""
        for reached in self._limits(x).T:
            most = math.floor(min(reached.max(), self.search.copies_max))
            wholes = np.arange(math.floor(reached.min()) + 1.0, most + 1)
            yield np.interp(np.log(wholes), np.log(np.maximum.accumulate(reached)), x) + _ROOM

    def _free(self, x: FloatArray, limits: FloatArray, budget: float) -> FloatArray:
        """Messages per user that are left for dummies where users send what they like best."""
        if not self.spends:
            return np.zeros_like(x)
        own, _ = self.search.guess(np.exp(x), np.zeros_like(x), limits, math.inf)
        return budget - np.minimum(own, _MOST_OWN * budget)

    def _blanket(self, x: float, dummies: float, budget: float) -> tuple[Blanket, float] | None:
        """Law and mean of a variance, where so many messages per user are for dummies; None where there is none."""
        found = self.shape(math.exp(x), dummies / self.search.per_user(1.0))
        if found is None or not found[0].means[0] <= found[1] <= found[0].means[1]:
            return None
        return found if self.search.per_user(found[1]) < budget else None

    def _guide(self, x: float, budget: float) -> Place | None:
        """Guide the copies at a place, which are known from then on; None where there is no blanket."""
        place = np.array([x])
        limits = self._limits(place)
        found = self._blanket(x, float(self._free(place, limits, budget)[0]), budget)
        if found is None:
            self.barred.append(x)
            return None
        is_near = min((abs(x - each) for each in self.known), default=math.inf) <= _REACH
        guided = np.maximum(self.search.limits(*found, limits[0] if is_near else None), COPIES_RANGE[0])
        base = [np.interp(x, self.places, column) for column in self.base.T]
        self.known[x] = np.log(guided) - self.unit - x / 2 - base
        return self._place(x, found, guided, budget)

    def _place(self, x: float, found: tuple[Blanket, float], limits: FloatArray, budget: float) -> Place:
        law, mean = found
        copies, error = self.search.choose(law.variance(mean), self.search.per_user(mean), limits, budget)
        return Place(x, *found, copies, error, self)


def _range(search: Search) -> tuple[float, float]:
    """Logarithms of the least and largest variance that may be of use."""
    high = max(each.gaussian_variance(search.copies_max) for each in search.targets)
    return math.log(BLANKET_MEAN_RANGE[0]), math.log(2 * max(high, BLANKET_MEAN_RANGE[0]))
