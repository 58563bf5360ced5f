"""Certified mean positive part of a sum of independent copies: enumeration for few, Fourier inversion for many."""

from __future__ import annotations

import math

from segshuffle.accounting.numerics.tilted_inversion.atoms import EPS, AtomLaw, LogInterval, saddle, tilt
from segshuffle.accounting.numerics.tilted_inversion.enumeration import enumerable, enumerated
from segshuffle.accounting.numerics.tilted_inversion.inversion import inverted

__all__ = ["AtomLaw", "LogInterval", "mean_positive_part"]

_NEGLIGIBLE = -700.0
"""Logarithm of a value that nobody asks about."""
_LARGEST_EXPONENT = 450
"""Of two: the square of an atom times the spread of a law stays well inside double precision."""


def mean_positive_part(upper: AtomLaw, lower: AtomLaw, *, count: int, rtol: float) -> LogInterval:
    """Certified interval for (1/n) E[max(0, G_1 + ... + G_n)], in logarithms.

    Parameters
    ----------
    upper, lower : AtomLaw
        Laws that bound the law of G from above and from below in the increasing convex order.
    count : int
        Number n >= 1 of copies.
    rtol : float
        Relative width asked for, in (0, 1). It is met where the two laws agree and the work allows it; a wider
        interval is as valid.

    Returns
    -------
    LogInterval
        The lower end belongs to `lower`, the upper one to `upper`.
    """
    if upper.largest <= 0:
        return LogInterval(-math.inf, -math.inf)
    if lower.largest <= 0:
        return LogInterval(-math.inf, mean_positive_part(upper, upper, count=count, rtol=rtol).upper)
    exponent = math.frexp(max(law.size for law in (upper, lower)))[1]
    if abs(exponent) > _LARGEST_EXPONENT:
        # squares of the atoms would underflow or overflow: in units of a power of two nothing is rounded
        unit = exponent * math.log(2.0)
        logs = mean_positive_part(upper.in_units(exponent), lower.in_units(exponent), count=count, rtol=rtol)
        slack = 4 * EPS * abs(unit)
        return LogInterval(
            math.nextafter(logs.lower + (unit - slack), -math.inf),
            math.nextafter(logs.upper + (unit + slack), math.inf),
        )
    above = saddle(upper, count)
    below = tilt(lower, above.theta)
    chernoff = count * (above.log_mgf + above.log_mgf_error) - 1 - math.log(above.theta) - math.log(count)
    if chernoff < _NEGLIGIBLE:
        return LogInterval(-math.inf, chernoff)
    limit = min(enumerable(law, tilted, count) for law, tilted in ((upper, above), (lower, below)))
    if limit >= 0:
        return LogInterval(enumerated(lower, below, count, limit).lower, enumerated(upper, above, count, limit).upper)
    if min(above.std, below.std) == 0.0:
        return LogInterval(-math.inf, chernoff)
    best = inverted((upper, lower), (above, below), count, rtol)
    return LogInterval(best.lower, min(best.upper, chernoff))
