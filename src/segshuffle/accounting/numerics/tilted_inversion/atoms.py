"""Laws with finitely many atoms, and their exponential tilts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from segshuffle.arrays import FloatArray

EPS = float(np.finfo(np.float64).eps)
#: Exponents up to which e^x - 1 is of use beside e^x.
_LARGEST_CHANGE = 50.0
#: How near to the saddle is near enough, in log theta and in what is minimised there; how many steps to get there.
_SADDLE_ACCURACY, _SADDLE_EXCESS, _SADDLE_STEPS = 0.02, 1.0, 100


Side = Literal["lower", "upper"]
"""Which end of a certified interval: upper ends are rounded up, lower ends down."""


@dataclass(frozen=True, eq=False)
class AtomLaw:
    """Law with finitely many atoms.

    Parameters
    ----------
    value : ndarray, shape (m,)
        The atoms.
    mass : ndarray, shape (m,)
        Their probabilities; the sum is 1 up to a relative rounding error of each.
    """

    value: FloatArray
    mass: FloatArray

    @property
    def spread(self) -> float:
        """Distance of the largest from the smallest atom."""
        return float(np.ptp(self.value))

    @property
    def size(self) -> float:
        """Largest absolute value of an atom."""
        return float(np.max(np.abs(self.value)))


@dataclass(frozen=True, eq=False)
class Tilted:
    """A law multiplied by e^{theta G} and normalised, of which `count` copies are added; `log_mgf` is K(theta)."""

    law: AtomLaw
    count: int
    theta: float
    log_mgf: float
    log_mgf_error: float
    mass: FloatArray
    std: float

    @property
    def value(self) -> FloatArray:
        """The atoms."""
        return self.law.value

    @property
    def deviation(self) -> float:
        """Standard deviation of the sum."""
        return self.std * math.sqrt(self.count)

    @property
    def chernoff(self) -> float:
        """Logarithm of a bound on the sum's mean positive part, max(0, x) <= e^{theta x}/(e theta)."""
        return self.count * (self.log_mgf + self.log_mgf_error) - 1 - math.log(self.theta)


def _moments(law: AtomLaw, theta: float) -> tuple[FloatArray, float, float]:
    """Masses, mean and standard deviation of the tilted law."""
    exponent = theta * law.value
    weight = law.mass * np.exp(exponent - exponent.max())
    mass = weight / weight.sum()
    mean = float(mass @ law.value)
    return mass, mean, math.sqrt(mass @ (law.value - mean) ** 2)


def log_mgfs(law: AtomLaw, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
    """K(theta) and a bound on its error, for every entry of `theta`, by the more accurate of two formulas.

    The second one is log1p(E[e^{theta G} - 1]), where that is small.
    """
    exponent = np.multiply.outer(theta, law.value)
    top = exponent.max(axis=1)
    weight = law.mass * np.exp(exponent - top[:, None])
    scaled = weight.sum(axis=1)
    direct = np.log(scaled) + top
    rounding = EPS * (law.value.size + 8)
    mean_exponent = (weight * np.abs(exponent)).sum(axis=1) / scaled
    direct_error = rounding * (1 + np.abs(direct)) + 2 * EPS * (mean_exponent + np.abs(top))
    small = top <= _LARGEST_CHANGE
    exponent = np.where(small[:, None], exponent, 0.0)
    change = np.expm1(exponent)
    mean_change = np.maximum((change * law.mass).sum(axis=1), -0.5)
    spread = ((np.abs(change) + np.abs(exponent) * (1 + change)) * law.mass).sum(axis=1)
    error = rounding * spread / (1 + mean_change)
    better = small & (mean_change > -0.5) & (error < direct_error)
    return np.where(better, np.log1p(mean_change), direct), np.where(better, error, direct_error)


def saddle(law: AtomLaw, count: int) -> Tilted:
    """Tilt near the least value of n K(theta) - 2 log theta, where the integrand oscillates least.

    Newton's steps for the zero of its slope in log theta, kept within the bracket seen so far. Every tilt is as valid.
    """
    spread = _moments(law, 0.0)[2] or law.size * math.sqrt(count)  # equal atoms have a saddle too
    log_theta = math.log(1.4 / (spread * math.sqrt(count)))
    low, high = -math.inf, math.inf
    for _ in range(_SADDLE_STEPS):
        theta = math.exp(log_theta)
        _, mean, std = _moments(law, theta)
        slope, curvature = count * theta * mean - 2.0, count * theta * (mean + theta * std**2)
        low, high = (log_theta, high) if slope < 0 else (low, log_theta)
        step = -slope / curvature if curvature > 0 else 1.0
        fresh = log_theta + min(max(step, -1.0), 1.0)
        log_theta, before = (fresh if low < fresh < high else 0.5 * (low + high)), log_theta
        # far above the saddle of a rare large atom every step of log theta is short, and the way still long
        if abs(log_theta - before) < _SADDLE_ACCURACY and abs(slope * step) < 2 * _SADDLE_EXCESS:
            break
    theta = math.exp(log_theta)
    mass, _, std = _moments(law, theta)
    (log_mgf,), (error,) = log_mgfs(law, np.array([theta]))
    return Tilted(law, count, theta, float(log_mgf), float(error), mass, std)
