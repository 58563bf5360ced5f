"""Certified intervals for a delta."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

#: Deltas below this are reported as the interval [0, SMALLEST_DELTA]: doubles end near it.
SMALLEST_DELTA = 1e-290


class _Ends(NamedTuple):
    lower: float
    upper: float


class DeltaInterval(_Ends):
    """A certified interval for a delta (or intervals, the ends being arrays): lower <= exact <= upper.

    Raises
    ------
    ArithmeticError
        If lower is above upper: one of the two is then wrong.
    """

    __slots__ = ()

    def __new__(cls, lower: float, upper: float) -> DeltaInterval:
        """Refuse crossed ends."""
        if np.any(np.greater(lower, upper)):
            raise ArithmeticError(
                f"the lower end of the certified interval, {lower!r}, is above its upper end, {upper!r}: one of the "
                "bounds is wrong. This is a defect of the program: please report it with the parameters."
            )
        return super().__new__(cls, lower, upper)

    @property
    def relative_width(self) -> float:
        """upper/lower - 1 (0 when both are 0, +inf when only the lower end is 0)."""
        if self.upper == 0.0:
            return 0.0
        return self.upper / self.lower - 1.0 if self.lower > 0 else math.inf


#: Delta of laws that no event tells apart by more than e^epsilon.
ZERO = DeltaInterval(0.0, 0.0)
