"""What a collection guarantees if fewer users are honest than its plan relies on."""

from __future__ import annotations

import math
from collections.abc import Sequence

from segshuffle.accounting.collections.calibration import epsilon_upper
from segshuffle.accounting.numerics.ranges import check_within
from segshuffle.blankets.base import Blanket
from segshuffle.blankets.poisson import POISSON
from segshuffle.digits import rounded_up


def epsilon_over_honesty(
    *,
    blanket_mean: float,
    copies: float,
    pairs: int,
    delta: float,
    fractions: Sequence[float],
    blanket: Blanket = POISSON,
) -> tuple[float, ...]:
    """Epsilon that a user really has at `delta`, by the fraction of users who really are honest, rounded up.

    With n' honest users of n the blanket's mean is n' m/d, all else as before (docs/proof.md). So a user who drops out
    and one who tells the server of its blanket cost the same.

    Parameters
    ----------
    blanket_mean : float
        Expected blanket messages per item if everybody is honest, n m/d, in `blanket.means`.
    copies : float
        Expected copies of a held item, 0 or in [1e-120, 64].
    pairs : int
        Pairs t >= 1, `Problem.pairs`.
    delta : float
        In [1e-110, 1).
    fractions : sequence of float
        Honest shares of the n users, each in (0, 1].
    blanket : Blanket
        Law of the blanket.

    Returns
    -------
    tuple of float
        By fraction; +inf where no epsilon up to 100 is certified (kind: upper).

    Raises
    ------
    ParameterError
        If a parameter is outside its range.
    """
    found = []
    for fraction in fractions:
        check_within("fractions", fraction, 0, 1, "(]")
        mean = math.nextafter(fraction * blanket_mean, 0.0)
        least = blanket.means[0]
        enough = mean >= least or copies == 0
        pair = blanket.pair(max(mean, least), copies)
        epsilon = epsilon_upper(pair, pairs=pairs, delta=delta) if enough else math.inf
        found.append(rounded_up(epsilon) if math.isfinite(epsilon) else epsilon)
    return tuple(found)
