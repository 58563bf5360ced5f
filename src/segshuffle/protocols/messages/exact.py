"""Random draws without error: uniform whole numbers in, exact laws out.

All is made of one primitive, ``below(n)``: a uniform whole number in [0, n). A number of the computer is a fraction of
whole numbers, so a rate needs no rounding, nothing is truncated, and a guarantee loses nothing (docs/proof.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

#: A uniform whole number in [0, n): `secrets.randbelow`, or what a test puts in its place.
Below = Callable[[int], int]


def bernoulli(probability: Fraction, below: Below) -> bool:
    """Whether something of that probability, in [0, 1], happens."""
    return below(probability.denominator) < probability.numerator


def poisson(mean: Fraction, below: Below) -> int:
    """Draw a Poisson number of any mean >= 0: the sum of ceil(2 mean) independent ones of equal means."""
    pieces = math.ceil(2 * mean)
    return sum(_small_poisson(2 * mean / pieces, below) for _ in range(pieces))


def _small_poisson(twice: Fraction, below: Below) -> int:
    """Draw a Poisson number of mean twice/2 <= 1/2 by rejection.

    Coins propose k with probability 2^-(k+1), and it is kept with probability twice^k/k!: together mean^k/k! up to a
    factor. A draw is kept with probability e^mean/2.
    """
    while True:
        count = 0
        while below(2):
            count += 1
        # one Bernoulli(twice/j) for every j, without reducing the fractions
        if all(below(twice.denominator * j) < twice.numerator for j in range(1, count + 1)):
            return count


def shuffled(values: list[int], below: Below) -> list[int]:
    """All values in uniformly random order (Fisher and Yates)."""
    mixed = list(values)
    for last in range(len(mixed) - 1, 0, -1):
        other = below(last + 1)
        mixed[last], mixed[other] = mixed[other], mixed[last]
    return mixed
