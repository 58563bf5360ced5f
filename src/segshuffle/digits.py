"""Round to ten significant digits, to the nearest or to the safe side, as in all plans and tables; and add numbers."""

import functools
import operator
from collections.abc import Iterable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

#: Significant digits of every parameter of a plan: the last bits of a search's result differ between processors.
DIGITS = 10


def added(values: Iterable[float]) -> float:
    """Add floats from left to right, as `sum` did before Python 3.12: the last bits are those of every Python."""
    return functools.reduce(operator.add, values, 0.0)


def rounded(value: float) -> float:
    """Round `value` to ten significant digits, to the nearest; no guarantee may rely on the result."""
    return float(f"{value:.{DIGITS - 1}e}")


def rounded_down(value: float, digits: int = DIGITS) -> float:
    """Round `value` down to `digits` significant digits, for rates, copies and lower bounds."""
    return _rounded_to_side(value, ROUND_FLOOR, digits)


def rounded_up(value: float | Fraction, digits: int = DIGITS) -> float:
    """Round `value` up to `digits` significant digits, for blankets, epsilons and upper bounds."""
    return _rounded_to_side(value, ROUND_CEILING, digits)


def _rounded_to_side(value: float | Fraction, side: str, digits: int) -> float:
    context = Context(prec=digits, rounding=side)
    if isinstance(value, Fraction):
        return float(context.divide(Decimal(value.numerator), Decimal(value.denominator)))
    # repr is the shortest decimal text: a number with few digits stays, although its binary value differs a little
    return float(context.create_decimal(repr(float(value))))
