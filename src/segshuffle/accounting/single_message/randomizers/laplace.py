r"""Laplace mechanism on [0, 1]: y = x + Laplace(1/epsilon_0).

Take a reference of density (eps_0/2) exp(-eps_0 (c - y)) on y <= 1/2, mirrored above 1/2: c = 1 for the blanket and
c = 1/2 for R_{1/2}. The ratios of the inputs 0 and 1 to it are

    R_1/reference = e^{eps_0 (c - 1)},   R_0/reference = e^{eps_0 (c - 2y)}  for 0 <= y <= 1/2, constant for y < 0.

Only one of the two ratios varies, so G = R_0/ref - e^eps R_1/ref is linear in it. Divide the outputs into cells [a, b].
Moving the mass of a cell to its two extreme ratios, with the same mean, is a mean-preserving spread ("upper"). Moving
it to the mean is a contraction ("lower"). The mean is e^{eps_0 (c - a - b)}, the geometric mean of the extremes. Both
errors are of second order in the width of the cells.
"""

import math
from dataclasses import dataclass

import numpy as np

from segshuffle.accounting.single_message.randomizers.reference import ReferenceClasses, Side, Tables, merged
from segshuffle.numerics.ranges import SMALLEST_LOG_RATIO, check_integer, check_local


@dataclass(frozen=True, kw_only=True)
class Laplace:
    """Laplace noise of scale 1/epsilon_0 on values in [0, 1].

    The pair of inputs is (0, 1). That it is the worst pair of the blanket bound is *not proven* (section 8 of
    "Decomposition-Based Optimal Bounds for Privacy Amplification via Shuffling"). For this pair the bound is proven. In
    the lower bound all other users hold 1/2, or all hold 0, or all hold 1.

    Parameters
    ----------
    local_epsilon : float
        Guarantee epsilon_0, in [1e-12, 50].
    cells : int
        Cells on each half of [0, 1], at least 1: the relative width of delta's interval falls with the square of their
        number.
    """

    local_epsilon: float
    cells: int = 400

    def __post_init__(self) -> None:
        check_local(self.local_epsilon, least=SMALLEST_LOG_RATIO)
        check_integer("cells", self.cells, 1)

    def blankets(self, side: Side) -> Tables:
        """Return classes of total mass e^{-epsilon_0/2}; the blanket's density is min(R_0, R_1)."""
        return (self._classes(1.0, side),)

    def common_input(self, side: Side) -> Tables:
        """Return classes against R_{1/2}: all other users hold 1/2."""
        return (self._classes(0.5, side),)

    def _classes(self, centre: float, side: Side) -> ReferenceClasses:
        """Return both halves; `centre` is the c of the module's text."""
        e, width = self.local_epsilon, 0.5 / self.cells
        left = np.arange(self.cells) * width
        spread = e * width
        mass = 0.5 * np.exp(-e * (centre - left - width)) * -math.expm1(-spread)
        log_mean = e * (centre - 2 * left - width)
        if side == "upper":
            on_larger = 1 / (1 + math.exp(spread))
            mass = np.concatenate([mass * on_larger, mass * (1 - on_larger)])
            log_mean = np.concatenate([log_mean + spread, log_mean - spread])
        mass = np.append(mass, 0.5 * math.exp(-e * centre))
        varying = np.append(log_mean, e * centre)
        fixed = np.full_like(varying, e * (centre - 1))
        return merged([ReferenceClasses(mass, varying, fixed), ReferenceClasses(mass, fixed, varying)])
