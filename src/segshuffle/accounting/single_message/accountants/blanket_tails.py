r"""The privacy blanket with tail inequalities: the computable bounds of the original paper.

Source: Balle, Bell, Gascon, Nissim, "The privacy blanket of the shuffle model" (CRYPTO 2019), Lemma 5.3 and the bounds
by Hoeffding's and Bennett's inequality that follow it. A user's message comes from the blanket omega with probability
gamma, so M ~ Binomial(n, gamma) messages do. Let L = (R_x0(W) - e^eps R_x1(W))/omega(W) with W ~ omega. Its mean is -a
with a = e^eps - 1. Then::

    delta <= (1/(gamma n)) E[ max(0, L_1 + ... + L_M) ],
    E[max(0, L_1 + ... + L_m)] <= b^2/(4 a) exp(-m 2 a^2/b^2)                                           (Hoeffding)
                               <= b_+/log(1 + u) exp(-m (c/b_+^2) h(u)),  u = a b_+/c                  (Bennett)

for L in an interval of length b, L <= b_+, E[L^2] <= c, h(u) = (1 + u) log(1 + u) - u. Both are exponentials in m, so
the mean over M has a closed form: over m >= 1 it is (1 - gamma + gamma q)^n - (1 - gamma)^n with q the factor per
blanket message.

The quantities come from the randomizer's classes (`randomizers.reference`), or, if only its local epsilon is known,
from the generic bounds of the paper (its Lemma 5.2): gamma >= e^{-epsilon_0},
e^{-epsilon_0} - e^{eps + epsilon_0} <= L <= e^{epsilon_0} - e^{eps - epsilon_0}.

Kind: proven upper bound, for the pair of inputs that the randomizer's classes describe. Any larger b, b_+, c and any
smaller gamma keep it valid, so every rounding goes that way. Both tail bounds may grow again at large epsilon; since
delta itself cannot, the smallest value at any smaller epsilon is used from there on.
"""

import math
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from segshuffle.accounting.single_message.accountants.interface import Accountant, of_bound
from segshuffle.accounting.single_message.randomizers.reference import Randomizer, blanket_tables
from segshuffle.arrays import FloatArray
from segshuffle.numerics.intervals import SMALLEST_DELTA, ZERO, DeltaInterval
from segshuffle.numerics.ranges import check_local, check_users
from segshuffle.numerics.search import Bound

Inequality = Literal["hoeffding", "bennett"]
_EPS = math.ulp(1.0)
#: The inequalities diverge with 1/epsilon, and say nothing below this value.
_DIVERGED = 1e-200
_ROUND = 1e-13
"""Relative margin of range, maximum, second moment and gamma: more than the error of the masses of the classes."""
_SLACK = 64 * _EPS
"""Relative margin of every term of a logarithm of delta."""
#: Points of a grid, and how often it is made an eighth to a sixteenth as wide, in the search for a minimum.
_POINTS, _ROUNDS = 33, 6


class BlanketTail(NamedTuple):
    """What the tail inequalities need of L, the privacy amplification random variable, at several epsilons."""

    gamma: float
    """Lower bound of the probability of the blanket."""
    width: FloatArray
    """Upper bounds of the length b of the range of L."""
    largest: FloatArray
    """Upper bounds b_+ of L; where they are at most 0, delta is 0."""
    second_moment: FloatArray
    """Upper bounds c of E[L^2]."""


def _entropy_over_square(u: FloatArray) -> FloatArray:
    """Return h(u)/u^2, h(u) = (1 + u) log(1 + u) - u, for u >= 0; 1/2 at 0."""
    series = sum((-u) ** k / ((k + 1) * (k + 2)) for k in range(9))
    return np.where(u > 1e-2, ((1 + u) * np.log1p(u) - u) / u**2, series)


def _generic(local_epsilon: float, epsilon: FloatArray) -> BlanketTail:
    """Return quantities that hold for every randomizer with this local epsilon: its gamma may be as low as e^-eps0."""
    gain, odds, gamma, up = np.exp(epsilon), math.exp(local_epsilon), math.exp(-local_epsilon), 1 + _ROUND
    return BlanketTail(
        gamma=gamma * (1 - _ROUND),
        width=(gain + 1) * 2 * math.sinh(local_epsilon) * up,
        largest=(odds - np.exp(epsilon - local_epsilon)) * up,
        second_moment=(odds * (gain**2 + 1) - 2 * gamma * np.exp(epsilon - 2 * local_epsilon)) * up,
    )


def _specific(randomizer: Randomizer) -> Callable[[FloatArray], BlanketTail]:
    """Return a function of epsilons that gives quantities which are valid for all pairs of inputs.

    All pairs have the same blanket, and larger quantities are valid, too.
    """
    tables = blanket_tables(randomizer, "upper")
    entry_error, gamma = tables[0].entry_error, math.fsum(tables[0].mass)
    slack, rounding = _ROUND + 4 * entry_error, 8 * _EPS + 3 * entry_error
    most = gamma * (1 + slack)
    # all tables in a row, each from its start on
    starts = np.cumsum([0, *(each.mass.size for each in tables[:-1])])
    omega = np.concatenate([each.mass / np.sum(each.mass) for each in tables])
    log_first = np.concatenate([each.log_first for each in tables])
    log_second = np.concatenate([each.log_second for each in tables])

    first, size_first = np.expm1(log_first), np.exp(log_first) * (1 + np.abs(log_first))

    def at(epsilon: FloatArray) -> BlanketTail:
        second = log_second + epsilon[:, None]
        # L/gamma, as a difference of expm1: nothing is lost where all ratios are close to 1
        value = first - np.expm1(second)
        error = rounding * (size_first + np.exp(second) * (1 + np.abs(second)))
        largest = np.maximum.reduceat(value + error, starts, axis=1)
        smallest = np.minimum.reduceat(value - error, starts, axis=1)
        square = np.add.reduceat(omega * (np.abs(value) + error) ** 2, starts, axis=1)
        some = largest > 0
        return BlanketTail(
            gamma=gamma * (1 - slack),
            width=most * (some * (largest - smallest)).max(axis=1),
            largest=most * largest.max(axis=1),
            second_moment=most**2 * (some * square).max(axis=1),
        )

    return at


class TailBound(Bound):
    """The privacy-blanket bound by a tail inequality, made non-increasing in epsilon: a proven upper bound.

    Parameters
    ----------
    inequality : {"hoeffding", "bennett"}
        Name of the inequality.
    n_users : int
        Number of users, the victim included, in [1, 1e15].
    local_epsilon : float, optional
        For the generic bound: any randomizer with this local guarantee, in [1e-6, 50].
    randomizer : Randomizer, optional
        For the specific bound, which needs no `local_epsilon`.

    Raises
    ------
    ParameterError
        If a parameter is outside its range.
    """

    rtol = 1e-6

    def __init__(
        self,
        *,
        inequality: Inequality,
        n_users: int,
        local_epsilon: float = math.nan,
        randomizer: Randomizer | None = None,
    ) -> None:
        check_users(n_users)
        if randomizer is not None:
            self.ceiling, self.source = randomizer.local_epsilon, _specific(randomizer)
        else:
            check_local(local_epsilon)
            self.ceiling, self.source = local_epsilon, partial(_generic, local_epsilon)
        self.inequality, self.n_users = inequality, n_users
        self.turn = self._turn()

    def log_delta(self, epsilon: FloatArray) -> FloatArray:
        """Return the logarithms of the inequality's values at several epsilons, rounded up; at most 0."""
        tail, drift = self.source(epsilon), np.expm1(epsilon)
        # where a number overflows or L <= 0, the formulas say nothing
        with np.errstate(all="ignore"):
            if self.inequality == "hoeffding":
                rate = 2 * (drift / tail.width) ** 2
                log_scale = np.log(tail.width) * 2 - np.log(4 * drift)
            else:
                u = drift * tail.largest / tail.second_moment
                # (c/b_+^2) h(u) written as (a^2/c) h(u)/u^2: b_+ may be tiny
                rate = drift**2 / tail.second_moment * _entropy_over_square(u)
                log_scale = np.log(tail.largest) - np.log(np.log1p(u))
            # scale/(gamma n) sum over m >= 1 of Pr[M = m] e^{-rate m}; rate <= 2: -a is in the range of L, and a^2 <= c
            lost = -tail.gamma * np.expm1(-rate)
            rest, bulk = 1 - lost, self.n_users * np.log1p(-lost)
            # (1 - gamma)^n relative to the sum over all m
            some = np.log(-np.expm1(self.n_users * np.log1p(-tail.gamma * np.exp(-rate) / rest)))
            size = math.log(tail.gamma) + math.log(self.n_users)
            margin = _SLACK * (1 + np.abs(log_scale) + np.abs(bulk) * (1 + 1 / rest) + np.abs(size) + np.abs(some))
            # of 0 and nan fmin takes 0
            log_bound = np.where(epsilon < _DIVERGED, 0.0, np.fmin(log_scale + bulk + some - size + margin, 0.0))
        return np.where((epsilon >= self.ceiling) | (tail.largest <= 0), -math.inf, log_bound)

    def _turn(self) -> float:
        """Find where the inequality stops falling; it is one point for all epsilons, so that the result is monotone."""
        low, high = 0.0, self.ceiling * (1 - 1e-9)
        for _ in range(_ROUNDS):
            grid = np.linspace(low, high, _POINTS)
            best = int(np.argmin(self.log_delta(grid)))
            low, high = grid[max(best - 1, 0)], grid[min(best + 1, _POINTS - 1)]
        return float(grid[best])

    def interval(self, epsilon: float, rtol: float) -> DeltaInterval:
        """Return the value at epsilon, or a smaller one at a turn before epsilon, rounded up, as both ends.

        1 where the inequality says nothing (it diverges at epsilon = 0), 0 from the local epsilon on.
        """
        log = float(self.log_delta(np.array([epsilon, min(epsilon, self.turn)])).min())
        if log == -math.inf:
            return ZERO
        value = max(math.exp(log), SMALLEST_DELTA)
        return DeltaInterval(value, value)


#: Several accountants ask for the same bound.
tail_bound = lru_cache(maxsize=16)(TailBound)


def tails_epsilon(*, delta: float, **asked: Any) -> float:
    """Return the better epsilon of the two inequalities; the parameters are those of `TailBound`."""
    return min(tail_bound(inequality=each, **asked).epsilon(delta=delta) for each in get_args(Inequality))


_HOEFFDING, _BENNETT = (of_bound(partial(tail_bound, inequality=each)) for each in get_args(Inequality))
#: The better of the two, for figures.
_BETTER = {"epsilon": tails_epsilon, "asked": ()}
_ROWS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("hoeffding", "randomizer", _HOEFFDING),
    ("bennett", "randomizer", _BENNETT),
    ("hoeffding-generic", "local_epsilon", _HOEFFDING),
    ("bennett-generic", "local_epsilon", _BENNETT),
    ("tails-general", "local_epsilon", _BETTER),
    ("tails-specific", "randomizer", _BETTER),
)
ACCOUNTANTS = tuple(
    Accountant(
        name,
        "upper",
        "proven",
        f"Balle, Bell, Gascon, Nissim 2019, {'specific' if part == 'randomizer' else 'generic'}",
        order=order,
        part=part,
        **functions,
    )
    for order, (name, part, functions) in enumerate(_ROWS, start=20)
)
