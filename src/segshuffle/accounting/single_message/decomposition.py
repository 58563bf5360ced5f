r"""Decomposition (blanket) bounds for one shuffled message per user: proven bounds of delta and epsilon.

After "Decomposition-Based Optimal Bounds for Privacy Amplification via Shuffling" (Theorems 12 to 14). Let x0 and x1 be
the two inputs of the *victim*, the user whose input changes. Let R be a reference law, P_n the histogram of one message
drawn from R_x0 and n - 1 drawn from R, and Q_n the same with R_x1. Let G_1, ..., G_n be independent copies of
G = (R_x0 - e^eps R_x1)/R at an output drawn from R. Then

    D_{e^eps}(P_n || Q_n) = (1/n) E[max(0, G_1 + ... + G_n)].

Here all n messages are draws from R. The victim's law R_x0 enters as the weight R_x0/R of one of them, averaged over
which one.

* Upper bound: R puts the blanket gamma * omega(y) = inf_x R_x(y) on the outputs, and the mass 1 - gamma on a left-over
  symbol that the victim never sends (G = 0 there). Proven for every input of the other users.
* Lower bound: R = R_{x*}, the divergence of two particular neighbouring datasets. x* is an input other than the
  victim's two, as in the paper, or one of the two, which is often the worst in the tails of the privacy loss.

Every delta is an interval: its ends enclose the *upper bound* of the paper (`BlanketBound`), or its *lower bound*
(`DatasetsBound`). Report the upper end of the one as a guarantee, and the lower end of the other as the value that no
analysis can beat.
"""

import math
from functools import lru_cache, partial
from typing import ClassVar

import numpy as np

from segshuffle.accounting.single_message.randomizers.reference import (
    Randomizer,
    ReferenceClasses,
    Tables,
    blanket_tables,
    dataset_tables,
)
from segshuffle.numerics.atom_sums import EPS, AtomLaw, Side
from segshuffle.numerics.intervals import SMALLEST_DELTA, DeltaInterval
from segshuffle.numerics.ranges import check_kind, check_target, check_users, check_within
from segshuffle.numerics.search import Bound, edge_epsilon
from segshuffle.numerics.tilted_inversion import largest_mean, mean_positive_part

#: Relative width at which tables of classes are compared with one another.
_COARSE = 0.02


class BlanketBound(Bound):
    """The bound of the blanket decomposition (Theorem 13): proven for the shuffled messages.

    Parameters
    ----------
    randomizer : Randomizer
        What every user applies.
    n_users : int
        Number of users n, the victim included, in [1, 1e15].
    rtol : float
        Relative width asked of intervals of delta, in (0, 1).

    Raises
    ------
    ParameterError
        If a parameter is outside its range.
    """

    side: ClassVar[Side] = "upper"
    tables_of = staticmethod(blanket_tables)

    def __init__(self, *, randomizer: Randomizer, n_users: int, rtol: float = 1e-4) -> None:
        check_kind("randomizer", randomizer, Randomizer)
        check_users(n_users)
        check_within("rtol", rtol, 0, 1, "()")
        self.randomizer, self.n_users, self.rtol, self.ceiling = randomizer, n_users, rtol, randomizer.local_epsilon

    def interval(self, epsilon: float, rtol: float) -> DeltaInterval:
        """Enclose the bound, round-off included. Values below 1e-290 come back as [0, 1e-290]."""
        return DeltaInterval(self.lower(epsilon, rtol), self.upper(epsilon, rtol))

    def lower(self, epsilon: float, rtol: float) -> float:
        """Return the lower end."""
        return self._end(epsilon, rtol, "lower")

    def upper(self, epsilon: float, rtol: float) -> float:
        """Return the upper end."""
        return self._end(epsilon, rtol, "upper")

    def epsilon(self, *, delta: float) -> float:
        """Find the epsilon at `delta` in [1e-280, 1): rounded to the safe side, by about rtol in terms of delta.

        If there are tables of several pairs of inputs, a table is searched only if its divergence at the epsilon found
        so far is above delta. Otherwise it does not change the answer, because divergences fall in epsilon.

        Returns
        -------
        float
            For an upper bound the least epsilon that it proves, at most the local one. For a lower bound the largest
            epsilon proven too small, 0 if none is: no analysis can show (epsilon', delta)-DP for any epsilon' below it.
        """
        check_target(delta)
        lower, tables = self.side == "lower", self.tables_of(self.randomizer, self.side)
        differ = len(blanket_tables(self.randomizer, self.side)) > 1
        # these stand for "nothing found": no upper bound is -1, and a lower bound of 0 excludes nothing
        none = largest = 0.0 if lower else -1.0
        for group in [(table,) for table in tables] if differ else [tables]:
            bound = partial(self._end, side=self.side, tables=group)
            if largest == none or all(bound(largest, width) > delta for width in (_COARSE, self.rtol)):
                edge = edge_epsilon(bound, ceiling=self.ceiling, delta=delta, rtol=self.rtol, lower=lower)
                largest = max(largest, edge)
        return largest

    def _end(self, epsilon: float, rtol: float, side: Side, tables: Tables = ()) -> float:
        """Return one end of the interval around the largest divergence over the tables, all of them by default.

        A table whose quick or coarse bound is below the end of another is left out. A lower end is valid whichever
        tables are left out. So is an upper end: such a bound is valid, too, and smaller.
        """
        if epsilon >= self.ceiling:
            return 0.0
        tables = tables or self.tables_of(self.randomizer, side)
        log_delta = partial(_log_delta, n_users=self.n_users, epsilon=epsilon, side=side)
        quick = {table: largest_mean(_excess_law(table, epsilon, side), self.n_users) for table in tables}
        best, room = -math.inf, 2 * _COARSE if side == "lower" else 0.0
        for table in sorted(tables, key=quick.__getitem__, reverse=True):
            if quick[table] < best:
                break
            if best == -math.inf or not log_delta(table, rtol=_COARSE) + room < best:
                best = max(best, log_delta(table, rtol=rtol))
        return _number(best, side)


class DatasetsBound(BlanketBound):
    """Two neighbouring datasets in which all other users hold the same input (Theorem 14): a proven lower bound.

    It is the largest divergence over the common inputs that the randomizer offers and the victim's own two.

    Parameters
    ----------
    randomizer, n_users, rtol
        As for `BlanketBound`.
    """

    side: ClassVar[Side] = "lower"
    tables_of = staticmethod(dataset_tables)


def _number(log: float, side: Side) -> float:
    """Return an end from its logarithm, rounded outwards, at most 1; for nan or +inf, an end that is always valid."""
    upper = side == "upper"
    if not log < math.inf:
        return float(upper)
    if log < math.log(SMALLEST_DELTA):
        return SMALLEST_DELTA if upper else 0.0
    return min(math.exp(min(log, 0.0)) * (1 + (4 if upper else -4) * EPS), 1.0)


@lru_cache(maxsize=512)
def _log_delta(classes: ReferenceClasses, n_users: int, epsilon: float, rtol: float, side: Side) -> float:
    """Return the log of one end for (1/n) E[max(0, G_1 + ... + G_n)]; cached, as searches return to the same points."""
    law = _excess_law(classes, epsilon, side)
    log = mean_positive_part(law, count=n_users, rtol=rtol, side=side)
    if side == "lower":
        return log
    # max(0, .) is subadditive, so E[max(0, G)], the local delta, is an upper bound, also where the numerics give up.
    local = float(law.mass @ np.maximum(law.value, 0.0)) * (1 + 2 * law.mass.size * EPS)
    return min(log, math.log(local) + EPS * abs(math.log(local))) if local > 0 else log


@lru_cache(maxsize=8)
def _excess_law(classes: ReferenceClasses, epsilon: float, side: Side) -> AtomLaw:
    """Make the law of G = (R_x0 - e^eps R_x1)/reference, all rounding errors turned upwards ("upper") or downwards.

    Atoms move by the bound on their error. The best atom is then the largest one ("upper") or the smallest one. All
    other masses are lowered by more than their error, and the best atom gets the rest. So the law dominates every law
    within the errors ("upper"), or every such law dominates it.
    """
    sign = 1 if side == "upper" else -1
    first, second = classes.log_first, classes.log_second + epsilon
    # a difference of expm1: nothing is lost where all ratios are close to 1
    one, other, in_logs = np.expm1(first), np.expm1(second), classes.log_error
    error = (one + 1) * in_logs + (other + 1) * (in_logs + EPS * np.abs(second))
    error += 4 * EPS * (np.abs(one) + np.abs(other))
    gamma = math.fsum(classes.mass)
    left_over = max(1.0 - gamma - classes.mass_error * gamma - EPS, 0.0)
    mass = np.append(classes.mass * (1 - classes.mass_error), left_over)
    value = np.append(one - other + sign * error, 0.0)
    best = np.argmax(sign * value)
    mass[best] = 0.0
    mass[best] = math.fsum([1.0, *(-mass).tolist()])
    keep = mass > 0
    return AtomLaw(value[keep], mass[keep])
