r"""The privacy blanket with tail inequalities: the computable bounds of the original paper.

Source: Balle, Bell, Gascon, Nissim, "The privacy blanket of the shuffle model" (CRYPTO 2019), Lemma 5.3 and the bounds
by Hoeffding's and Bennett's inequality that follow it. A user's message comes from the blanket omega with probability
gamma; M ~ Binomial(n, gamma) do. With L = (R_x0(W) - e^eps R_x1(W))/omega(W), W ~ omega, of mean -a, a = e^eps - 1::

    delta <= (1/(gamma n)) E[ max(0, L_1 + ... + L_M) ],
    E[max(0, L_1 + ... + L_m)] <= b^2/(4 a) exp(-m 2 a^2/b^2)                                           (Hoeffding)
                               <= b_+/log(1 + u) exp(-m (c/b_+^2) h(u)),  u = a b_+/c                  (Bennett)

for L in an interval of length b, L <= b_+, E[L^2] <= c, h(u) = (1 + u) log(1 + u) - u. Both are exponentials in m, so
the mean over M has a closed form: over m >= 1 it is (1 - gamma + gamma q)^n - (1 - gamma)^n with q the factor per
blanket user.

The quantities come from the randomizer's own blanket classes, or, for a randomizer known by its local epsilon alone,
from the generic bounds of the paper (its Lemma 5.2): gamma >= e^{-epsilon_0},
e^{-epsilon_0} - e^{eps + epsilon_0} <= L <= e^{epsilon_0} - e^{eps - epsilon_0}.

Kind: proven upper bound, for the pair of inputs that the randomizer's classes describe. Any larger b, b_+, c and any
smaller gamma keep it valid, so every rounding goes that way. Both tail bounds may grow again at large epsilon; since
delta itself cannot, the smallest value at any smaller epsilon is used from there on.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, get_args

import numpy as np

from segshuffle.accounting.numerics.hockey_stick import SMALLEST_DELTA, ZERO, DeltaInterval
from segshuffle.accounting.numerics.ranges import check_local, check_users
from segshuffle.accounting.numerics.search import Bound
from segshuffle.accounting.single_message.accountants.declared import Accountant, look, never, of_bound
from segshuffle.accounting.single_message.randomizers.reference import Randomizer, blanket_tables, remembered
from segshuffle.arrays import FloatArray

Inequality = Literal["hoeffding", "bennett"]
_EPS = math.ulp(1.0)
_ROUND = 1e-13
"""Relative margin of range, maximum, second moment and gamma: more than the error of the masses of the classes."""
_SLACK = 64 * _EPS
"""Relative margin of every term of a logarithm of delta."""


@dataclass(frozen=True)
class BlanketTail:
    """What the tail inequalities need of L, the privacy amplification random variable.

    Parameters
    ----------
    gamma : float
        Lower bound of the probability of the blanket.
    drift : float
        a = e^eps - 1.
    width : float
        Upper bound of the length b of the range of L.
    largest : float
        Upper bound b_+ of L.
    second_moment : float
        Upper bound c of E[L^2].
    """

    gamma: float
    drift: float
    width: float
    largest: float
    second_moment: float

    def log_delta(self, inequality: Inequality, n_users: int) -> tuple[float, float]:
        """Return the logarithm of the bound and its round-off margin."""
        if self.drift == 0.0:  # the bound diverges with 1/epsilon
            return 0.0, 0.0
        if inequality == "hoeffding":
            rate = 2 * (self.drift / self.width) ** 2
            log_scale = math.log(self.width) * 2 - math.log(4 * self.drift)
        else:
            u = self.drift * self.largest / self.second_moment
            if u == 0.0:  # below the smallest double
                return 0.0, 0.0
            # b^2/c h(u) written as (a^2/c) h(u)/u^2: b_+ may be tiny
            rate = self.drift**2 / self.second_moment * _entropy_over_square(u)
            log_scale = math.log(self.largest) - math.log(math.log1p(u))
        # scale/(gamma n) sum over m >= 1 of Pr[M = m] e^{-rate m}; rate <= 2, for -a is in the range of L and a^2 <= c
        q, lost = math.exp(-rate), -math.expm1(-rate)
        bulk = n_users * math.log1p(-self.gamma * lost)
        # (1 - gamma)^n relative to the sum over all m
        rest = 1 - self.gamma * lost
        none = n_users * math.log1p(-min(self.gamma * q / rest, 1.0)) if self.gamma * q < rest else -math.inf
        some = math.log(-math.expm1(none)) if none < 0 else -math.inf
        size = math.log(self.gamma) + math.log(n_users)
        margin = _SLACK * (1 + abs(log_scale) + abs(bulk) * (1 + 1 / max(rest, _EPS)) + abs(size) + abs(some))
        return log_scale + bulk + some - size, margin


def _entropy_over_square(u: float) -> float:
    """Return h(u)/u^2, h(u) = (1 + u) log(1 + u) - u, for u >= 0; 1/2 at 0."""
    if u > 1e-2:
        return ((1 + u) * math.log1p(u) - u) / u**2
    return sum((-u) ** k / ((k + 1) * (k + 2)) for k in range(9))


def _generic(local_epsilon: float, epsilon: float) -> BlanketTail:
    """Return quantities that hold for every randomizer with this local epsilon: its gamma may be as low as e^-eps0."""
    gain, odds, gamma, up = math.exp(epsilon), math.exp(local_epsilon), math.exp(-local_epsilon), 1 + _ROUND
    return BlanketTail(
        gamma=gamma * (1 - _ROUND),
        drift=math.expm1(epsilon),
        width=(gain + 1) * 2 * math.sinh(local_epsilon) * up,
        largest=(odds - math.exp(epsilon - local_epsilon)) * up,
        second_moment=(odds * (gain**2 + 1) - 2 * gamma * math.exp(epsilon - 2 * local_epsilon)) * up,
    )


def _specific(randomizer: Randomizer) -> Callable[[float], BlanketTail | None]:
    """Return quantities at an epsilon for all pairs of inputs: the blanket is the same, and larger ones are valid.

    None where L <= 0 throughout, so that delta is 0.
    """
    tables = blanket_tables(randomizer, "upper")
    entry_error, gamma = tables[0].entry_error, math.fsum(tables[0].mass)
    slack = _ROUND + 4 * entry_error
    most = gamma * (1 + slack)
    longest = max(each.mass.size for each in tables)

    def stacked(rows: list[FloatArray], mode: Literal["constant", "edge"]) -> FloatArray:
        """Stack the tables, the shorter ones filled up by classes that nobody sends, with a ratio that is there."""
        return np.stack([np.pad(row, (0, longest - row.size), mode) for row in rows])

    omega = stacked([each.mass / np.sum(each.mass) for each in tables], "constant")
    log_first = stacked([each.log_first for each in tables], "edge")
    log_second = stacked([each.log_second for each in tables], "edge")
    rounding = 8 * _EPS + 3 * entry_error

    def at(epsilon: float) -> BlanketTail | None:
        second = log_second + epsilon
        # L/gamma, as a difference of expm1: nothing is lost where all ratios are close to 1
        value = np.expm1(log_first) - np.expm1(second)
        size = np.exp(log_first) * (1 + np.abs(log_first)) + np.exp(second) * (1 + np.abs(second))
        error = rounding * size
        largest, smallest = (value + error).max(axis=1), (value - error).min(axis=1)
        some = largest > 0
        if not some.any():
            return None
        square = (omega * (np.abs(value) + error) ** 2).sum(axis=1)
        return BlanketTail(
            gamma=gamma * (1 - slack),
            drift=math.expm1(epsilon),
            width=most * float((largest - smallest)[some].max()),
            largest=most * float(largest.max()),
            second_moment=most**2 * float(square[some].max()),
        )

    return at


class TailBound(Bound):
    """The privacy blanket by a tail inequality over epsilon, made non-increasing: a proven upper bound.

    Parameters
    ----------
    inequality : {"hoeffding", "bennett"}
        Whose.
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

    def raw(self, epsilon: float) -> tuple[float, float]:
        """Return the logarithm of the inequality's value at epsilon, at most 0, and its margin."""
        tail = self.source(epsilon) if epsilon < self.ceiling else None
        if tail is None:
            return -math.inf, 0.0
        value, margin = tail.log_delta(self.inequality, self.n_users)
        return min(value, 0.0), margin

    def _turn(self) -> float:
        """Find where the inequality stops falling; it is one point for all epsilons, so that the result is monotone."""
        from scipy import optimize  # a fifth of a second of every job's start

        end = self.ceiling * (1 - 1e-9)
        found = optimize.minimize_scalar(
            lambda e: max(self.raw(e)[0], -1e300),  # the search subtracts
            bounds=(0.0, end),
            method="bounded",
            options={"xatol": 1e-7 * end},
        )
        grid = np.append(np.linspace(0.0, end, 65)[1:], found.x)
        return float(min(grid, key=lambda e: self.raw(float(e))[0]))

    def interval(self, epsilon: float, rtol: float) -> DeltaInterval:
        """Enclose the value at epsilon, or at the turn if that is before it and smaller, whatever width is asked.

        1 where the inequality says nothing (it diverges at epsilon = 0), 0 from the local epsilon on.
        """
        if epsilon >= self.ceiling:
            return ZERO
        log, margin = min(self.raw(point) for point in {epsilon, min(epsilon, self.turn)})
        if log + margin < math.log(SMALLEST_DELTA):
            return DeltaInterval(0.0, 0.0 if log == -math.inf else SMALLEST_DELTA)
        return DeltaInterval(math.exp(min(log - margin, 0.0)), math.exp(min(log + margin, 0.0)))


#: Several accountants ask for the same bound.
tail_bound = remembered(TailBound)


def tails_epsilon(*, delta: float, **asked: Any) -> float:
    """Return the better epsilon of the two inequalities; the parameters are those of `TailBound`."""
    return min(tail_bound(inequality=each, **asked).epsilon(delta=delta) for each in get_args(Inequality))


_HOEFFDING, _BENNETT = (of_bound(partial(tail_bound, inequality=each)) for each in get_args(Inequality))
#: The better of the two: curves of figures.
_BETTER = {"epsilon": tails_epsilon, "asked": never}
_ROWS: tuple[tuple[Any, ...], ...] = (
    ("hoeffding", "randomizer", _HOEFFDING, "Blanket, Hoeffding", "sky", "^", "dash-dotted"),
    ("bennett", "randomizer", _BENNETT, "Blanket, Bennett", "green", "D", "long"),
    ("hoeffding-generic", "local_epsilon", _HOEFFDING, "Blanket, Hoeffding, generic", "sky", "1", "dotted"),
    ("bennett-generic", "local_epsilon", _BENNETT, "Blanket, Bennett, generic", "green", "2", "sparse"),
    ("tails-general", "local_epsilon", _BETTER, "Privacy blanket, general", "grey", "x", "dashed"),
    ("tails-specific", "randomizer", _BETTER, "Privacy blanket, specific", "green", "<", "long"),
)
ACCOUNTANTS = tuple(
    Accountant(
        name,
        "upper",
        "proven",
        f"Balle, Bell, Gascon, Nissim 2019, {'specific' if part == 'randomizer' else 'generic'}",
        look(f"{label} (proven)", *drawn),
        order=order,
        part=part,
        **functions,
    )
    for order, (name, part, functions, label, *drawn) in enumerate(_ROWS, start=20)
)
