r"""Probabilities of confusion by hypothesis tests: p_1 of the victim and p_i of every other user.

Source: "Enhanced Privacy Bound for Shuffle Model with Personalized Privacy", sections 3.2.1 and 3.2.2. Values lie in a
range of length 1 (the clip range), the victim's two inputs are its ends 0 and 1, the victim's budget epsilon_1 is the
largest. Densities f_0, f_1 of the victim's report from 0 and from 1, and g_i of user i's report:

    p_1 = Pr_{f_0}[f_1 > f_0],
    p_i^k = Pr_{g_i}[f_k is the largest of f_0, f_1, g_i],  k = 0, 1.

Formulas that are not in our copy of the paper are read as in the code published with it: every other user holds 0
(one of the victim's inputs), p_i = 2 min(p_i^0, p_i^1), and for approximate mechanisms delta/2 is taken off every part
for the failure set. Where user i has the victim's own budget, g_i = f_0,
f_0 is nowhere *strictly* the largest and p_i^0 counts the ties (the published code sets it to 1).

One reading is not taken over: the published code uses 2 log(1.25/delta) range^2/epsilon^2, the *variance* of the
Gaussian mechanism, as its standard deviation.

Status: a type-I error is an average over the rejection region; the clone argument needs a pointwise ratio of densities.
These numbers are therefore "published", and nothing computed from them is a guarantee.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from segshuffle.arrays import FloatArray
from segshuffle.errors import ParameterError

Mechanism = Literal["laplace", "gaussian"]

SMALLEST_BUDGET, LARGEST_BUDGET = 1e-50, 50.0
_TIE = 1e-12
"""Budgets closer than this, relatively, count as equal."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PersonalizedUsers:
    """Users with budgets of their own; the victim has the largest one.

    Parameters
    ----------
    local_epsilons : array_like, shape (n_users,)
        Budgets epsilon_i in [1e-50, 50].
    mechanism : {"laplace", "gaussian"}
        Laplace: scale 1/epsilon_i (pure). Gaussian: deviation sqrt(2 log(1.25/delta))/epsilon_i. Range of values 1.
    local_delta : float
        Failure probability of every user: 0 for Laplace, in (0, 1) for Gaussian.
    """

    local_epsilons: ArrayLike
    mechanism: Mechanism
    local_delta: float = 0.0

    def __post_init__(self) -> None:
        budgets = np.asarray(self.local_epsilons, dtype=float)
        if budgets.ndim != 1 or budgets.size == 0:
            raise ParameterError("local_epsilons", budgets.shape, "a list with one budget per user")
        if not np.all((budgets >= SMALLEST_BUDGET) & (budgets <= LARGEST_BUDGET)):
            worst = float(budgets.min() if budgets.min() < SMALLEST_BUDGET else budgets.max())
            raise ParameterError("local_epsilons", worst, f"in [{SMALLEST_BUDGET:g}, {LARGEST_BUDGET:g}], every one")
        if self.mechanism not in ("laplace", "gaussian"):
            raise ParameterError("mechanism", self.mechanism, '"laplace" or "gaussian"')
        if self.mechanism == "laplace" and self.local_delta != 0.0:
            raise ParameterError("local_delta", self.local_delta, "0 for the Laplace mechanism")
        if self.mechanism == "gaussian" and not 0.0 < self.local_delta < 1.0:
            raise ParameterError("local_delta", self.local_delta, "in (0, 1) for the Gaussian mechanism")

    @property
    def budgets(self) -> FloatArray:
        """Budgets in descending order, the victim's first, shape (n_users,)."""
        return np.sort(np.asarray(self.local_epsilons, dtype=float))[::-1]

    @property
    def n_users(self) -> int:
        """Number of users, the victim included."""
        return int(self.budgets.size)

    @property
    def largest_budget(self) -> float:
        """The victim's budget epsilon_1."""
        return float(self.budgets[0])

    def victim_confusion(self) -> float:
        """p_1, in [0, 1/2]."""
        return victim_confusion(
            local_epsilon=self.largest_budget, mechanism=self.mechanism, local_delta=self.local_delta
        )

    def victim_contrast(self) -> float:
        """1 - 2 p_1, in [0, 1]."""
        return victim_contrast(
            local_epsilon=self.largest_budget, mechanism=self.mechanism, local_delta=self.local_delta
        )

    def other_confusions(self) -> FloatArray:
        """p_i of all users but the victim, shape (n_users - 1,)."""
        first, second = other_confusions(
            victim_epsilon=self.largest_budget,
            local_epsilons=self.budgets[1:],
            mechanism=self.mechanism,
            local_delta=self.local_delta,
        )
        return np.asarray(np.minimum(2 * np.minimum(first, second), 1.0))


def gaussian_deviation(*, local_epsilon: float, local_delta: float) -> float:
    """Standard deviation of the classic Gaussian mechanism for a range of length 1 (proven for epsilon <= 1 only)."""
    return math.sqrt(2 * math.log(1.25 / local_delta)) / local_epsilon


def victim_confusion(*, local_epsilon: float, mechanism: Mechanism, local_delta: float = 0.0) -> float:
    """p_1: probability that the victim's report from 0 is more likely under 1 (kind: published).

    Laplace: e^{-epsilon_1/2}/2. Gaussian: Pr[N(0, sigma^2) > 1/2] - delta/2, at least 0.
    """
    if mechanism == "laplace":
        return 0.5 * math.exp(-0.5 * local_epsilon)
    deviation = gaussian_deviation(local_epsilon=local_epsilon, local_delta=local_delta)
    return max(float(special.ndtr(-0.5 / deviation)) - 0.5 * local_delta, 0.0)


def victim_contrast(*, local_epsilon: float, mechanism: Mechanism, local_delta: float = 0.0) -> float:
    """1 - 2 p_1 (kind: published), without the cancellation of the difference at a small budget.

    Laplace: 1 - e^{-epsilon_1/2}. Gaussian: Pr[|N(0, sigma^2)| < 1/2] + delta, at most 1.
    """
    if mechanism == "laplace":
        return -math.expm1(-0.5 * local_epsilon)
    deviation = gaussian_deviation(local_epsilon=local_epsilon, local_delta=local_delta)
    return min(math.erf(0.5 / (deviation * math.sqrt(2))) + local_delta, 1.0)


def other_confusions(
    *, victim_epsilon: float, local_epsilons: ArrayLike, mechanism: Mechanism, local_delta: float = 0.0
) -> tuple[FloatArray, FloatArray]:
    """p_i^0 and p_i^1 of users who hold 0 (kind: published).

    Parameters
    ----------
    victim_epsilon : float
        Budget epsilon_1, at least every other one.
    local_epsilons : array_like, shape (m,)
        Budgets of the other users.
    mechanism : {"laplace", "gaussian"}
        Mechanism of everybody.
    local_delta : float
        Failure probability; delta/2 is taken off each part.

    Returns
    -------
    tuple of ndarray, shape (m,)
        Probabilities that a report from 0 is most likely the victim's from 0, and from 1.
    """
    budgets = np.asarray(local_epsilons, dtype=float)
    if budgets.size and float(budgets.max()) > victim_epsilon * (1 + _TIE):
        raise ParameterError("victim_epsilon", victim_epsilon, "the largest budget (the worst case of the paper)")
    tied = budgets >= victim_epsilon * (1 - _TIE)
    if mechanism == "laplace":
        near, low, high = _laplace_edges(victim_epsilon, budgets, tied)

        def below(y: FloatArray) -> FloatArray:
            left, right = 0.5 * np.exp(budgets * np.minimum(y, 0)), 0.5 * np.exp(-budgets * np.abs(y))
            return np.asarray(np.where(y < 0, left, 1 - right))

        def between(a: FloatArray, b: FloatArray) -> FloatArray:
            # both ends positive: upper tails do not cancel
            return np.asarray(0.5 * (np.exp(-budgets * a) - np.exp(-budgets * b)))
    else:
        scale = math.sqrt(2 * math.log(1.25 / local_delta))
        near, low, high = _gaussian_edges(scale / victim_epsilon, scale / budgets, tied)

        def below(y: FloatArray) -> FloatArray:
            return np.asarray(special.ndtr(y * budgets / scale))

        def between(a: FloatArray, b: FloatArray) -> FloatArray:
            return np.asarray(special.ndtr(-a * budgets / scale) - special.ndtr(-b * budgets / scale))

    half = np.full_like(budgets, 0.5)
    first = below(np.minimum(near, half)) - below(-near)
    second = between(np.maximum(low, half), np.maximum(high, half))
    return np.maximum(first - 0.5 * local_delta, 0.0), np.maximum(second - 0.5 * local_delta, 0.0)


def _log_quotient(victim: float, budgets: FloatArray) -> FloatArray:
    """log(victim/budgets), without cancellation when they are close."""
    return np.asarray(np.log1p((victim - budgets) / budgets))


def _laplace_edges(
    victim: float, budgets: FloatArray, tied: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Where f_0 > g_i: |y| < near; where f_1 > g_i, right of 1/2: low < y < high."""
    log = _log_quotient(victim, budgets)
    gap = np.where(tied, 1.0, victim - budgets)
    near = np.where(tied, math.inf, log / gap)
    low = (victim - log) / (victim + budgets)
    # from 1 to the right f_1 stays the larger one until high; if g_i overtakes before 1 there is no such region
    high = np.where(tied, math.inf, (victim + log) / gap)
    return near, low, high


def _gaussian_edges(
    victim: float, deviations: FloatArray, tied: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The same for Gaussian densities of deviation `victim` around 0 and 1, and `deviations` around 0."""
    log = np.where(tied, 0.0, np.log1p((deviations - victim) / victim))
    precision = 1 / victim**2
    # A y^2 - 2 B y + C < 0 with B = precision
    a = np.where(tied, 0.0, (deviations - victim) * (deviations + victim) * precision / deviations**2)
    c = precision - 2 * log
    root = np.sqrt(np.maximum(precision**2 - a * c, 0.0))
    safe = np.where(tied, 1.0, a)
    near = np.where(tied, math.inf, np.sqrt(2 * log / safe))
    return near, c / (precision + root), np.where(tied, math.inf, (precision + root) / safe)
