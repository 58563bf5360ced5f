"""Ten significant digits on the safe side: what plans, and every table that is written, hold."""

from __future__ import annotations

import math
from decimal import Decimal

#: Significant digits of every parameter of a plan: the last bits of a search's result differ between processors.
DIGITS = 10


def rounded(value: float) -> float:
    """`value` to ten significant digits, the nearest: for what no guarantee rests on."""
    return float(f"{value:.{DIGITS - 1}e}")


def rounded_down(value: float) -> float:
    """Largest number of ten significant digits that is at most `value`: rates, copies and lower ends."""
    return _rounded_to_side(value, -1)


def rounded_up(value: float) -> float:
    """Smallest number of ten significant digits that is at least `value`: blankets, epsilons and upper ends."""
    return _rounded_to_side(value, 1)


def _rounded_to_side(value: float, side: int) -> float:
    near = rounded(value)
    # a number that has ten digits stays, although its binary form is beside the decimal one; so do inf and nan
    if not math.isfinite(near) or (near - value) * side >= 0:
        return near
    number = Decimal(f"{value:.{DIGITS - 1}e}")
    return float(number + side * Decimal(1).scaleb(number.adjusted() + 1 - DIGITS))
