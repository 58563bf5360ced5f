"""Products of one-sided pairs: upper bounds of the divergence of P = A against Q = B, from tables of their losses.

An exchange pair has both a counter that loses its item and one that gains it. If items are only taken away, every
counter has A under P and B under Q. A table of an exchange pair, split between its lattice points, dominates A against
B at all ratios, and so in both directions.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from segshuffle.numerics.intervals import ZERO, DeltaInterval
from segshuffle.numerics.loss_distribution import AccuracyError, LossTable, log_delta_upper, split_masses
from segshuffle.numerics.search import Bound

_TILTS = np.geomspace(1e-3, 1e4, 150)


class ProductBound(Bound):
    """The bound of a product of one-sided tables of one step, each with the number of its copies."""

    def __init__(self, parts: Sequence[tuple[LossTable, int]], *, ceiling: float = math.inf) -> None:
        self.parts, self.ceiling = parts, ceiling
        self.log_mgf = np.zeros_like(_TILTS)
        for table, copies in parts:
            loss = (table.first + np.arange(table.mass.size)) * table.step
            with np.errstate(divide="ignore"):
                log_mass = np.log(table.mass) + loss
            self.log_mgf += copies * np.logaddexp.reduce(log_mass + np.multiply.outer(_TILTS, loss), axis=1)

    def interval(self, epsilon: float, rtol: float) -> DeltaInterval:
        """Return [0, upper bound]; any tilt gives a bound. 0 from the ceiling on."""
        if epsilon >= self.ceiling:
            return ZERO
        tilt = float(_TILTS[np.argmin(self.log_mgf - _TILTS * epsilon)])
        try:
            upper = math.exp(log_delta_upper(self.parts, epsilon, tilt))
        except AccuracyError:  # the sum of the losses has too many values: no bound but 1
            upper = 1.0
        return DeltaInterval(0.0, upper)


def both_ways(table: LossTable) -> tuple[LossTable, LossTable]:
    """Return one-sided tables of A against B and of B against A, from a table of the losses log dA/dB under B."""
    mass = split_masses(table)
    points = (table.first + np.arange(mass.size)) * table.step
    held = np.exp(np.minimum(np.log(np.maximum(mass, 1e-307)) + points, 0.0)) * (mass > 0)
    # index 0 belongs to the table
    before, after = max(table.first, 0), max(-(table.first + mass.size - 1), 0)
    mass, held = (np.pad(each, (before, after)) for each in (mass, held))
    first, last = table.first - before, table.first - before + mass.size - 1
    nothing = np.zeros_like(mass)
    forward = replace(table, first=first, mass=mass, excess=nothing, zero_mass=0.0, one_sided=True)
    backward = replace(table, first=-last, mass=held[::-1].copy(), excess=nothing, one_sided=True)
    return forward, backward
