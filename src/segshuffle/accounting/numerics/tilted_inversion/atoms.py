"""Laws with finitely many atoms, and their exponential tilts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import optimize

FloatArray = npt.NDArray[np.float64]

EPS = float(np.finfo(np.float64).eps)


class LogInterval(NamedTuple):
    """A certified interval, as natural logarithms (-inf for 0): lower <= log(value) <= upper."""

    lower: float
    upper: float


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
    def largest(self) -> float:
        """The largest atom."""
        return float(np.max(self.value))

    @property
    def spread(self) -> float:
        """Distance of the largest from the smallest atom."""
        return float(np.ptp(self.value))

    @property
    def size(self) -> float:
        """Largest absolute value of an atom."""
        return float(np.max(np.abs(self.value)))

    def in_units(self, exponent: int) -> AtomLaw:
        """The law of G / 2^exponent, exactly."""
        # two steps: 2^1074 itself is no double
        half = exponent // 2
        return AtomLaw(np.ldexp(np.ldexp(self.value, -half), half - exponent), self.mass)


@dataclass(frozen=True, eq=False)
class Tilted:
    """The law multiplied by e^{theta G} and normalised; `log_mgf` is K(theta)."""

    theta: float
    log_mgf: float
    log_mgf_error: float
    mass: FloatArray
    mean: float
    std: float
    mean_abs: float


def tilt(law: AtomLaw, theta: float) -> Tilted:
    """Tilt a law by theta > 0."""
    exponent = theta * law.value
    top = float(np.max(exponent))
    weight = law.mass * np.exp(exponent - top)
    scaled = float(np.sum(weight))
    mass = weight / scaled
    mean = float(mass @ law.value)
    std = math.sqrt(float(mass @ (law.value - mean) ** 2))
    log_mgf, error = _log_mgf(law, exponent, math.log(scaled) + top, float(mass @ np.abs(exponent)))
    return Tilted(theta, log_mgf, error, mass, mean, std, float(mass @ np.abs(law.value)))


def _log_mgf(law: AtomLaw, exponent: FloatArray, direct: float, mean_exponent: float) -> tuple[float, float]:
    """K(theta) by the more accurate of two formulas, and its error: log1p(E[e^{theta G} - 1]) where that is small."""
    rounding = EPS * (law.value.size + 8)
    direct_error = rounding * (1 + abs(direct)) + 2 * EPS * (mean_exponent + abs(float(np.max(exponent))))
    if np.max(exponent) > 50:
        return direct, direct_error
    change = np.expm1(exponent)
    mean_change = float(law.mass @ change)
    if mean_change < -0.5:
        return direct, direct_error
    spread = float(law.mass @ (np.abs(change) + np.abs(exponent) * (1 + change)))
    error = rounding * spread / (1 + mean_change)
    return (math.log1p(mean_change), error) if error < direct_error else (direct, direct_error)


def saddle(law: AtomLaw, count: int) -> Tilted:
    """Tilt near the least value of n K(theta) - 2 log theta, where the integrand oscillates least."""

    def slope(log_theta: float) -> float:
        return count * math.exp(log_theta) * tilt(law, math.exp(log_theta)).mean - 2.0

    centre = math.log(1.4 / (tilt(law, 0.0).std * math.sqrt(count)))
    low = high = centre
    while slope(high) < 0:
        high += 1.0
    while slope(low) > 0:
        low -= 1.0
    root = optimize.brentq(slope, low, high, xtol=1e-3) if low < high else centre
    return tilt(law, math.exp(float(root)))
