"""Numbers as text. Privacy numbers are rounded to the safe side, errors to the nearest; nothing is computed here."""

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context
from typing import Any

#: What stands where there is no number.
NONE = "–"


def nearest(value: Any, *, digits: int = 3) -> str:
    """Format an error or a ratio in significant digits, rounded to the nearest."""
    return _rounded(value, digits, ROUND_HALF_EVEN)


def at_most(value: Any, *, digits: int = 3) -> str:
    """Format an upper bound, rounded up."""
    return _rounded(value, digits, ROUND_CEILING)


def at_least(value: Any) -> str:
    """Format a lower bound, rounded down."""
    return _rounded(value, 3, ROUND_FLOOR)


def mean_and_error(mean: Any, stderr: Any) -> str:
    """Format a mean and two standard errors."""
    return f"{nearest(mean)} ± {nearest(2.0 * stderr, digits=1)}"


def count(value: Any) -> str:
    """Format an integer with thousands separators."""
    return f"{int(value):,}"


def _rounded(value: Any, digits: int, rounding: str) -> str:
    number = float(value)
    if math.isnan(number):
        return NONE
    if math.isinf(number):
        return "none"
    if number == 0.0:
        return "0"
    rounded = Context(prec=digits, rounding=rounding).create_decimal_from_float(number)
    if not 1e-3 <= abs(number) < 1e5:
        return f"{rounded:.{digits - 1}e}".replace("e+", "e")
    return f"{rounded:.{max(digits - 1 - rounded.adjusted(), 0)}f}"
