"""Certified mean positive part of a sum of independent copies: enumeration for few, Fourier inversion for many."""

import math

from segshuffle.accounting.numerics.tilted_inversion.atoms import EPS, AtomLaw, Side, saddle
from segshuffle.accounting.numerics.tilted_inversion.enumeration import enumerable, enumerated
from segshuffle.accounting.numerics.tilted_inversion.inversion import inverted

__all__ = ["AtomLaw", "Side", "mean_positive_part"]

_NEGLIGIBLE = -700.0
"""Logarithm of a value that nobody asks about."""
_LARGEST_EXPONENT = 450
"""Of two: the square of an atom times the spread of a law stays well inside double precision."""


def mean_positive_part(law: AtomLaw, *, count: int, rtol: float, side: Side) -> float:
    """Logarithm of one certified end of an interval around (1/n) E[max(0, G_1 + ... + G_n)]; -inf for 0.

    Parameters
    ----------
    law : AtomLaw
        The law of G; for "upper" any law above it in the increasing convex order, for "lower" any below it.
    count : int
        Number n >= 1 of copies.
    rtol : float
        Relative distance from the value asked for, in (0, 1), where the work allows it; a wider one is as valid.
    side : {"upper", "lower"}
        Which end.
    """
    if law.largest <= 0:
        return -math.inf
    exponent = math.frexp(law.size)[1]
    if abs(exponent) > _LARGEST_EXPONENT:
        # squares of the atoms would underflow or overflow: in units of a power of two nothing is rounded
        unit, sign = exponent * math.log(2.0), 1 if side == "upper" else -1
        end = mean_positive_part(law.in_units(exponent), count=count, rtol=rtol, side=side)
        return math.nextafter(end + (unit + sign * 4 * EPS * abs(unit)), sign * math.inf)
    tilted = saddle(law, count)
    chernoff = tilted.chernoff - math.log(count)
    if chernoff < _NEGLIGIBLE:
        end = -math.inf if side == "lower" else chernoff
    elif (limit := enumerable(tilted)) >= 0:
        end = enumerated(tilted, limit, side)
    elif tilted.std == 0.0:
        end = -math.inf if side == "lower" else chernoff
    else:
        end = inverted(tilted, rtol, side)
    return end if side == "lower" else min(end, chernoff)
