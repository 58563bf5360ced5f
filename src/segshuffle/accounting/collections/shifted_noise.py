"""Noise of density exp(-|x|^q) that a trusted curator adds to counters: a product of pairs, as for a blanket.

A user who holds an item shifts its counter by a weight a, in units of the noise's scale. If t items of its set are
exchanged, the guarantee is the divergence of t pairs of counters, with A the shifted law and B the law itself. q = 1 is
Laplace, q = 2 Gaussian with deviation 1/sqrt(2). The density is log-concave for q >= 1, so log dA/dB = |x|^q -
|x - a|^q does not decrease in x: a cell of the loss is an interval of x, and its two masses are integrals over it.

On the integers the same is done for the discrete Laplace law, whose loss takes two values: the 2 t changed counters act
like 2 t randomized responses, and delta is a sum over a binomial law.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from segshuffle.accounting.collections.calibration import gaussian_start
from segshuffle.accounting.collections.product import check_product, log_delta_bound
from segshuffle.arrays import FloatArray
from segshuffle.numerics.laws import binomial_pmf
from segshuffle.numerics.loss_distribution import AccuracyError, LossTable
from segshuffle.numerics.ranges import check_within, remembered
from segshuffle.numerics.search import log_excess, safe_edge, solve

EXPONENTS = (1.0, 2.0)
SHIFTS = (1e-12, 1e3)
#: Most cells: with more, their masses, which are differences, would lose digits.
_MOST_CELLS = 2**16
_MASS_ERROR = 1e-9
#: Parts of the window in which a point is sought first, and how often its part is halved then, to the last digit.
_SECTIONS, _HALVINGS = 2**12, 48
_TOLERANCE = 1e-3
#: Where a density's logarithm is below minus this, it is not told from zero.
_LARGEST_EXPONENT = 700.0


@dataclass(frozen=True)
class ShiftPair:
    """Counters of an exchanged item under noise of density exp(-|x|^q) up to its constant.

    Parameters
    ----------
    exponent : float
        q in [1, 2].
    copies : float
        Shift a of a held item's counter, in units of the noise's scale; in [1e-12, 1e3].

    Raises
    ------
    ParameterError
        If a value is outside its range.
    """

    exponent: float
    copies: float
    zero_mass = 0.0  # the density is positive everywhere

    def __post_init__(self) -> None:
        check_within("exponent", self.exponent, *EXPONENTS)
        check_within("copies", self.copies, *SHIFTS)

    @property
    def variance(self) -> float:
        """Variance of the noise."""
        return noise_variance(self.exponent)

    def log_ratio(self, x: FloatArray) -> FloatArray:
        """Return the log of dA/dB at x, nondecreasing; its error is a few units in the last place of |x|^q."""
        q = self.exponent
        return np.abs(x) ** q - np.abs(x - self.copies) ** q

    def _window(self, log_tail: float) -> tuple[float, float]:
        """Return points outside which both laws have at most e^-log_tail a side: Gamma(1/q, y) <= Gamma(1/q) e^-y."""
        reach = log_tail ** (1 / self.exponent)
        return -reach, reach + self.copies

    def coarse_law(self, log_tail: float) -> tuple[FloatArray, FloatArray]:
        """Return log ratio and log mass of B at the midpoints of a few hundred intervals; they are not certified."""
        low, high = self._window(log_tail)
        x = np.linspace(low, high, 258)
        middle = 0.5 * (x[1:] + x[:-1])
        constant = math.log((x[1] - x[0]) / (2 * special.gamma(1 + 1 / self.exponent)))
        return self.log_ratio(middle), constant - np.abs(middle) ** self.exponent

    def loss_table(self, step: float, log_tail: float) -> LossTable:
        """Return a table with intervals of x as cells."""
        window = self._window(log_tail)
        if window[1] ** self.exponent > _LARGEST_EXPONENT:
            raise AccuracyError(
                f"A shift of {self.copies:g} is too large for a table: in double precision the two laws do not overlap."
            )
        low, high = self.log_ratio(np.array(window))
        step = max(step, float(high - low) / _MOST_CELLS)
        first, last = math.floor(low / step), math.floor(high / step)
        inner = self._first_points(np.arange(first + 1, last + 1) * step, window)
        # cut at the centres of both laws: between the points each density only falls or only grows
        points = np.unique(np.append(inner, [*window, 0.0, self.copies]))
        cell = np.searchsorted(inner, points[:-1], side="right")
        cells = last - first + 1
        mass, other = (
            np.bincount(cell, _masses(points - move, self.exponent), minlength=cells).astype(np.float64)
            for move in (0.0, self.copies)
        )
        log_mean = np.log(np.divide(other, mass, out=np.ones_like(mass), where=mass > 0))
        excess = np.clip(np.expm1(log_mean - np.arange(first, last + 1) * step), 0.0, math.expm1(step))
        # the points are where log_ratio, as computed, passes the lattice
        ratio_error = _MASS_ERROR + 16 * 2.3e-16 * float(np.abs(np.array(window)).max()) ** self.exponent
        truncated = 4 * math.exp(-log_tail)
        return LossTable(first, step, mass, np.where(mass > 0, excess, 0.0), 0.0, truncated, _MASS_ERROR, ratio_error)

    def _first_points(self, ratios: FloatArray, window: tuple[float, float]) -> FloatArray:
        """Return, for each given log ratio, the smallest x of the window where log_ratio reaches it, by bisection."""
        ends = np.linspace(*window, _SECTIONS + 1)
        section = np.clip(np.searchsorted(self.log_ratio(ends), ratios), 1, _SECTIONS)
        below, above = ends[section - 1], ends[section]
        for _ in range(_HALVINGS):
            middle = 0.5 * (below + above)
            reached = self.log_ratio(middle) >= ratios
            below, above = np.where(reached, below, middle), np.where(reached, middle, above)
        return above


def noise_variance(exponent: float) -> float:
    """Return the variance of the density exp(-|x|^q): Gamma(3/q)/Gamma(1/q)."""
    return float(special.gamma(3 / exponent) / special.gamma(1 / exponent))


def _masses(points: FloatArray, exponent: float) -> FloatArray:
    """Return the mass of exp(-|x|^q) between neighbouring points; 0 is not strictly between any two."""
    power = np.abs(points) ** exponent
    # counted from 0 or from infinity, whichever is nearer
    near = np.abs(np.diff(special.gammainc(1 / exponent, np.minimum(power, 1.0)))) / 2
    far = np.abs(np.diff(special.gammaincc(1 / exponent, power))) / 2
    return np.where(np.maximum(power[:-1], power[1:]) <= 1.0, near, far)


@remembered
def largest_shift(*, exponent: float, pairs: int, epsilon: float, delta: float) -> float:
    """Return the largest weight of a held item, in units of the noise's scale, that keeps the guarantee; rounded down.

    Parameters
    ----------
    exponent : float
        q in [1, 2].
    pairs : int
        Number t >= 1 of exchanged items.
    epsilon, delta : float
        Target; epsilon in (0, 100], delta in [1e-110, 1).

    Returns
    -------
    float
        A shift whose certified delta is at most `delta`, within 0.3 % of the largest; 0 if there is none from 1e-12 on.

    Raises
    ------
    ParameterError
        If a parameter is outside its range.
    """
    check_product(pairs=pairs, epsilon=epsilon, delta=delta)

    # Laplace noise keeps the guarantee with delta = 0 if each of the 2 t counters spends epsilon/(2 t)
    pure_shift = epsilon / (2 * pairs) * (1 - 1e-12) if exponent == 1 else 0.0
    least_shift = max(pure_shift * (1 + _TOLERANCE), SHIFTS[0])
    log_range = (math.log(least_shift), math.log(SHIFTS[1]))

    def excess(log_shift: float) -> float:
        return log_delta_bound([(ShiftPair(exponent, math.exp(log_shift)), pairs)], epsilon) - math.log(delta)

    # start at the shift that Gaussian noise of the same variance would allow
    log_scale, slope = gaussian_start(epsilon, delta)
    start = log_scale + 0.5 * math.log(noise_variance(exponent) / (2 * pairs))
    log_largest = solve(excess, start, slope, log_range, 2 * _TOLERANCE)
    return pure_shift if math.isnan(log_largest) else math.exp(log_largest)


def randomized_response_delta(*, local_epsilon: float, answers: int, epsilon: float) -> float:
    """Return delta of `answers` independent binary randomized responses to one question (kind: exact, rounded up).

    Parameters
    ----------
    local_epsilon : float
        Log of the ratio of the two answers' probabilities, > 0.
    answers : int
        Number of responses.
    epsilon : float
        Privacy loss >= 0.
    """
    flipped = np.arange(answers + 1.0)
    loss = local_epsilon * (answers - 2 * flipped)
    law = binomial_pmf(answers, flipped, float(special.expit(-local_epsilon)))
    above = loss > epsilon
    delta = float(law[above] @ -np.expm1(epsilon - loss[above]))
    return min(delta * (1 + 1e-10), 1.0)


@remembered
def discrete_laplace_epsilon(*, pairs: int, epsilon: float, delta: float) -> float:
    """Find the largest loss of one counter with noise of law e^(-loss |k|) that keeps the guarantee, rounded down.

    Parameters
    ----------
    pairs : int
        Number t >= 1 of exchanged items: 2 t counters change by one.
    epsilon, delta : float
        Target; epsilon in (0, 100], delta in [1e-110, 1).
    """
    check_product(pairs=pairs, epsilon=epsilon, delta=delta)

    def excess(local: float) -> float:
        return log_excess(randomized_response_delta(local_epsilon=local, answers=2 * pairs, epsilon=epsilon), delta)

    # a loss of 1e-300 meets every delta, and half of a tiny epsilon may be 0
    return safe_edge(excess, safe=max(epsilon / (2 * pairs), 1e-300), unsafe=epsilon + 50.0, tolerance=1e-6)
