r"""Deltas of the segmented protocol when the server sees the whole histogram: item level, then user level.

The published analysis (`published`) is about two counters. The server sees all counters: c = c_0 + c_1 messages about
the two items in question, and the rest of the histogram. The size of the rest tells whether the *victim*, the user
whose item changes, *spoke* (sent it) or was *silent*, unless messages hide it. Here the view is (c_0, c_1, u, r). u
counts the messages about `covered_items` other items. They include random messages that do not depend on the victim,
because users sample their own items. r counts the messages about all other items.

- `covered_items` = 0: the blanket alone hides the victim. What other users send is independent of it, so adding it is
  post-processing: the result is an upper bound of the item-level delta for every dataset and every choice of levels.
  It is attained if all other messages are certain (sampling rate 1, or no messages).
- `covered_items` = d - 2: others' items are spread, and only the total matters. This is a function of the histogram, so
  the result is a lower bound for every dataset in which nobody else holds the two items. It equals the full view if the
  sent messages, given their number, fall on the d - 2 items independently and uniformly (always for d = 3).
- `covered_items` = h: the items of all other users are among the same h items. This is a lower bound for each such
  dataset, too. It equals the full view if h = 1, or if the messages are independent and uniform on the h items.

If the number of blanket messages per user is an integer, all are sent. With `covered_items` = 0 the total then shows
silence for certain, and delta is the sampling rate times the divergence of the pair of counts at sampling rate 1. That
closed form is used here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from segshuffle.accounting.collections.silence_ratio import Rest, silence_law, sum_of_binomials, window
from segshuffle.arrays import FloatArray
from segshuffle.digits import added
from segshuffle.errors import ParameterError
from segshuffle.numerics.hockey_stick import CountPair, hockey_stick
from segshuffle.numerics.intervals import DeltaInterval
from segshuffle.numerics.laws import BinomialLaw, binomial_pmf, binomial_tail, round_off
from segshuffle.numerics.ranges import (
    LARGEST_EPSILON,
    all_slots,
    check_guarantee,
    check_integer,
    check_sizes,
    check_within,
)
from segshuffle.numerics.search import Function, safe_edge

#: Relative room for the round-off of point probabilities and sums.
_ROUND_OFF = 1e-9
#: Widths below this come from the mass outside the windows: no refinement helps.
_LOST = 1e-12
_RTOL = 1e-3
_FIRST_PARTS = 3
_MAX_REFINEMENTS = 5
#: Half widths of the windows in standard deviations; what lies outside is counted (upper) or dropped (lower).
_TOTAL_WIDTH, _CELL_WIDTH = 7.5, 8.0
#: Largest mean count of blanket messages on the two items: a grid takes 1 kB per such message, twice that while in use.
LARGEST_MEAN = 1.5e6
_CELLS_AT_ONCE = 2**18
#: Error of the mass of a block of blanket counts, in `worst_split_user_lower`.
_MASS_ERROR = 1e-12
#: Largest epsilon of a user, and how close to the root its search ends.
_LARGEST_USER_EPSILON, _EPSILON_RTOL = 100.0, 2e-5


class _Part(NamedTuple):
    """A range of totals (rows first, ..., last - 1 of the grid), and how often it was refined."""

    first: int
    last: int
    refinement: int

    def halves(self) -> list[_Part]:
        """Return both halves, refined once more; a single row cannot be halved."""
        bounds = sorted({self.first, (self.first + self.last) // 2, self.last})
        return [_Part(*each, self.refinement + 1) for each in pairwise(bounds)]


class FullView:
    """Item-level delta of one victim in the full view, for any epsilon.

    Parameters
    ----------
    domain_size, n_users : int
        Number of items d >= 2 and of users n >= 1.
    blanket_per_user : float
        Expected blanket messages per user m > 0; n ceil(m) at most 4e15. See `computable` for the size of the grid.
    sampling_rate : float
        Probability lambda in (0, 1] that the victim sends its item.
    sent : sequence of (int, float)
        Other messages that fall on the covered items: (number of held items, sampling rate) per group of users.
        The victim's own further items may be among them.
    covered_items : int
        Number of items, other than the two in question, on which `sent` falls, in [0, d - 2]. If it is 0, `sent` is
        ignored.
    """

    def __init__(
        self,
        *,
        domain_size: int,
        n_users: int,
        blanket_per_user: float,
        sampling_rate: float,
        sent: Sequence[tuple[int, float]] = (),
        covered_items: int = 0,
    ) -> None:
        check_sizes(domain_size=domain_size, n_users=n_users)
        check_within("sampling_rate", sampling_rate, 0, 1, "(]")
        check_integer("covered_items", covered_items, 0, most=domain_size - 2)
        self._slots, gamma = all_slots(n_users, blanket_per_user)
        self._blanket = blanket_per_user
        self.sampling_rate = sampling_rate
        self._chance = 2.0 * gamma / domain_size
        if not any(messages > 0 and 0.0 < rate < 1.0 for messages, rate in sent):
            covered_items = 0  # constants hide nothing
        uncovered = domain_size - 2 - covered_items
        off = 1.0 - gamma + gamma * (domain_size - 2) / domain_size
        free = 1.0 - gamma + gamma * covered_items / domain_size
        first, last = _totals(BinomialLaw(self._slots, self._chance))
        self._rest = Rest(
            free=free / off if uncovered else 1.0,
            covered=gamma * covered_items / domain_size / free if covered_items else 0.0,
            sent=sum_of_binomials(tuple(map(tuple, sent)) if covered_items else ()),
            least=max(self._slots - last, 1),
            most=self._slots - first + 1,
        )
        self._parts = list[_Part]()

    @property
    def computable(self) -> bool:
        """Whether the grid of counts fits into memory: mean 2 n m/d at most 1.5e6, unless a pair of counts suffices."""
        return self._is_pair or self._slots * self._chance <= LARGEST_MEAN

    @property
    def _is_pair(self) -> bool:
        """Whether no grid is needed: the victim always speaks, or the rest of the histogram shows if it did."""
        return self.sampling_rate == 1.0 or self._rest.free == 0.0

    def delta(self, epsilon: float) -> DeltaInterval:
        """Return a certified interval for the divergence at `epsilon`, item level.

        Parameters
        ----------
        epsilon : float
            In (0, 300].

        Returns
        -------
        DeltaInterval
            Encloses the divergence of the view, to a relative 1e-3 if it is above about 1e-9.

        Raises
        ------
        ParameterError
            If epsilon is outside its range, or the view is not `computable`.
        """
        check_within("epsilon", epsilon, 0, LARGEST_EPSILON, "(]")
        if not self.computable:
            largest = self._blanket * LARGEST_MEAN / (self._slots * self._chance)
            allowed = f"at most {largest:g} at these sizes: the full view takes 1 kB per message on the two items"
            raise ParameterError("blanket_per_user", self._blanket, allowed)
        if self._is_pair:
            law = BinomialLaw(self._slots, self._chance)
            pair = hockey_stick(CountPair(1.0, math.inf, law), epsilon)
            return DeltaInterval(self.sampling_rate * pair.lower, self.sampling_rate * pair.upper)
        bounds = {part: self._bounds(part, epsilon) for part in self._parts or self._first_parts()}
        while True:
            self._parts = list(bounds)
            lower = self._sum([low for low, _ in bounds.values()], upper=False)
            upper = self._sum([high for _, high in bounds.values()], upper=True)
            tolerance = _RTOL * lower + _LOST
            # mostly few parts make the interval wide, and only these are worth the time of finer laws
            wide = [
                part
                for part, (low, high) in bounds.items()
                if high - low > tolerance / len(bounds) and part.refinement < _MAX_REFINEMENTS
            ]
            if upper - lower <= tolerance or not wide:
                return DeltaInterval(lower, upper)
            for part in wide:
                del bounds[part]
                for half in part.halves():
                    bounds[half] = self._bounds(half, epsilon)

    def one_sided(self, epsilon: float, *, upper: bool) -> float:
        """Return one end of the interval.

        After a call of `delta` this takes half the work, for its refinement is used again.
        """
        if self._is_pair or not self.computable or not self._parts:
            return self.delta(epsilon)[upper]
        return self._sum([self._bound(part, epsilon, upper) for part in self._parts], upper)

    def _first_parts(self) -> list[_Part]:
        """Cut all totals into a few parts."""
        size = count_grid(self._slots, self._chance).total.size
        cuts = sorted({round(size * i / _FIRST_PARTS) for i in range(_FIRST_PARTS + 1)})
        return [_Part(first, last, 0) for first, last in pairwise(cuts)]

    def _sum(self, bounds: Sequence[float], upper: bool) -> float:
        """Return one end of the interval from the bounds of all parts."""
        if not upper:
            return added(bounds) * (1.0 - _ROUND_OFF)
        lost = self.sampling_rate * count_grid(self._slots, self._chance).lost
        return min((added(bounds) + lost) * (1.0 + _ROUND_OFF), self.sampling_rate)

    def _bounds(self, part: _Part, epsilon: float) -> tuple[float, float]:
        """Bound what a part adds to delta, from below and from above."""
        return self._bound(part, epsilon, upper=False), self._bound(part, epsilon, upper=True)

    def _bound(self, part: _Part, epsilon: float, upper: bool) -> float:
        """Bound what a part adds to delta, from one side."""
        grid, tanh = count_grid(self._slots, self._chance), math.tanh(0.5 * epsilon)
        column = math.floor(0.5 * tanh * grid.total[part.first])  # before it 2a - c is at most c tanh
        if column >= grid.mass.shape[1]:
            return 0.0
        # the slots off the two items when the victim spoke and c - 1 blanket messages are on them
        elsewhere = self._slots - int(grid.total[part.last - 1 if upper else part.first]) + 1
        law = silence_law(self._rest, part.refinement, elsewhere, upper)
        rows = slice(part.first, part.last)
        # 1 - short - tanh with 1 - tanh = 2/(1 + e^eps): the plain difference cancels, and e^eps multiplies it
        excess = 2.0 / (1.0 + math.exp(epsilon)) - grid.short[rows, column:]
        odds = (1.0 - self.sampling_rate) / self.sampling_rate * grid.ratio[rows] * tanh
        gain = float(np.vdot(grid.mass[rows, column:], law.gain(excess, odds[:, None])))
        return self.sampling_rate * (1.0 + math.exp(epsilon)) * gain  # (e^eps - 1)/tanh


class CountGrid(NamedTuple):
    """Cells (c, a) of the two counters in question: c their total, a the first of them, a >= floor(c/2).

    Parameters
    ----------
    total : array, shape (n_totals,)
        Every c in the window, ascending.
    ratio : array, shape (n_totals,)
        Pr[C = c]/Pr[C = c - 1].
    mass : array, shape (n_totals, n_cells)
        Pr[C = c - 1] binom(c, a)/2^c for a = floor(c/2), floor(c/2) + 1, ...
    short : array, shape (n_totals, n_cells)
        2(c - a)/c, by how much (2a - c)/c falls short of 1.
    lost : float
        Upper bound of the mass outside the grid, divided by the sampling rate.
    """

    total: FloatArray
    ratio: FloatArray
    mass: FloatArray
    short: FloatArray
    lost: float


def _totals(law: BinomialLaw) -> tuple[int, int]:
    """Return the least and the largest total c in the window, counting the victim's message."""
    first, last = window(law.mean, law.std, _TOTAL_WIDTH, law.trials)
    return first + 1, last + 1


@lru_cache(maxsize=1)
def count_grid(slots: int, probability: float) -> CountGrid:
    """Make the grid of C ~ Binomial(slots, probability), of mean at most 1.5e6; it serves all levels and views."""
    law = BinomialLaw(slots, probability)
    first, last = _totals(law)
    total = np.arange(float(first), last + 1.0)
    spoke = law.pmf(total - 1)
    ratio = np.where(spoke > 0, law.ratio(total), 0.0)
    rows = total[:, None]
    a = np.floor(0.5 * rows) + np.arange(math.ceil(0.5 * _CELL_WIDTH * math.sqrt(last)) + 3.0)
    mass = np.empty_like(a)
    step = max(_CELLS_AT_ONCE // a.shape[1], 1)
    for i in range(0, total.size, step):  # a few rows at once: the formula's own arrays are many
        mass[i : i + step] = spoke[i : i + step, None] * binomial_pmf(rows[i : i + step], a[i : i + step], 0.5)
    ends = law.at_most(np.array([first - 2.0])) + law.at_least(np.array([float(last)]))
    # past the last cell: rho Psi(x/rho) <= x <= 2/((1 + e^eps) tanh), which (e^eps - 1) turns into 2
    lost = float(ends[0]) + 2.0 * float(spoke @ binomial_tail(total, a[:, -1] + 1, 0.5))
    return CountGrid(total, ratio, mass, np.maximum(2 * (rows - a) / rows, 0.0), lost)


# -- user level: by group privacy, and a proven lower bound ----------------------------------------------------------


def group_delta(item_delta: float, *, epsilon: float, set_size: int) -> float:
    """Return the user-level delta at `epsilon` by group privacy, s e^epsilon item_delta (that at epsilon/s)."""
    return set_size * math.exp(epsilon) * item_delta


def group_epsilon(
    item_delta: Function, *, set_size: int, delta: float, claimed: float, excess: float | None = None
) -> float:
    """Find the user-level epsilon of group privacy at `delta`: the root of s e^eps delta'(eps/s) = delta, rounded up.

    Parameters
    ----------
    item_delta : callable
        Item-level delta' (upper end) of an item-level epsilon'.
    set_size : int
        Items per user s.
    delta : float
        User-level target.
    claimed : float
        Where the search starts: the epsilon that is claimed.
    excess : float, optional
        log(s e^claimed delta'(claimed/s)/delta), if known.

    Returns
    -------
    float
        A point that meets delta, at most a relative 2e-5 or so above the first root found from `claimed` on. If there
        is none from `claimed`/1000 to 100: about `claimed`/1000, or +inf if that does not meet delta.
    """
    check_guarantee(epsilon=claimed, delta=delta)

    known: dict[float, float] = {} if excess is None else {claimed: excess}

    def miss(epsilon: float) -> float:
        if epsilon not in known:
            value = group_delta(item_delta(epsilon / set_size), epsilon=epsilon, set_size=set_size)
            known[epsilon] = math.log(max(value, 1e-290) / delta)
        return known[epsilon]

    start = miss(claimed)
    if start == 0.0:
        return claimed
    # the log of delta falls ever faster in epsilon: a short step, then longer ones, until the sign changes
    factor = 1.0 + math.copysign(min(0.001 + 0.06 * abs(start), 0.4), start)
    near, far = claimed, claimed * factor
    while miss(far) * start > 0:
        near, far = far, far * factor
        if far > _LARGEST_USER_EPSILON:
            return math.inf
        if far < 1e-3 * claimed:
            return near
    low, high = sorted((near, far))
    slope = (known[low] - known[high]) / math.log(high / low)
    return safe_edge(miss, safe=high, unsafe=low, tolerance=_EPSILON_RTOL * slope)


def worst_split_user_lower(
    *, domain_size: int, set_size: int, n_users: int, blanket_per_user: float, sampling_rate: float, epsilon: float
) -> float:
    """Return a proven lower bound of the *user-level* delta if all others send all they hold and m is an integer.

    The victim's two sets are disjoint, and nobody else holds any of the 2s items (needs d >= 3s). The total then
    shows how many items K ~ Binomial(s, lambda) the victim sent, and the test is whether the count on one set
    exceeds a threshold that depends on K and on the count on both sets: any threshold gives a lower bound.

    Parameters
    ----------
    blanket_per_user : float
        Blanket messages per user, an integer: all of them certain.
    sampling_rate : float
        Probability lambda in (0, 1] that the victim sends an item.
    epsilon : float
        User-level epsilon in (0, 300].

    Returns
    -------
    float
        delta(epsilon) of the protocol is at least this.
    """
    check_sizes(domain_size=domain_size, n_users=n_users, set_size=set_size)
    if domain_size < 3 * set_size:
        raise ParameterError("domain_size", domain_size, f"at least 3 set_size = {3 * set_size}")
    slots, gamma = all_slots(n_users, blanket_per_user)
    if gamma < 1.0:
        allowed = "an integer >= 1, so that the total shows how many items the victim sent"
        raise ParameterError("blanket_per_user", blanket_per_user, allowed)
    check_within("sampling_rate", sampling_rate, 0, 1, "(]")
    check_within("epsilon", epsilon, 0, LARGEST_EPSILON, "(]")
    law = BinomialLaw(slots, 2.0 * set_size / domain_size)
    # the conditional divergence falls in the blanket's count (more fair coins): a block is taken at its largest count
    marks = np.unique(np.round(law.mean + law.std * np.arange(-7.0, 7.05, 0.1)))
    marks = marks[(marks >= 0) & (marks <= law.largest)]
    mass = np.diff(law.at_most(marks)) - _MASS_ERROR
    count = marks[1:]
    total = 0.0
    for spoken in range(1, set_size + 1):
        centre = 0.5 * (count * (1.0 + math.tanh(0.5 * epsilon / spoken)) + spoken)
        threshold = np.floor(centre) + np.array([[-1.0], [0.0], [1.0], [2.0]])
        hit, miss = binomial_tail(count, threshold - spoken, 0.5), binomial_tail(count, threshold, 0.5)
        miss *= math.exp(epsilon)
        # each tail has its round-off, which the difference keeps
        best = np.max(hit - miss - round_off(count) * (hit + miss), axis=0)
        weight = math.comb(set_size, spoken) * sampling_rate**spoken * (1.0 - sampling_rate) ** (set_size - spoken)
        total += weight * float(np.maximum(mass, 0.0) @ np.maximum(best, 0.0))
    return total * (1.0 - _ROUND_OFF)
