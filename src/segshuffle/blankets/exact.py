"""Random draws without error: uniform whole numbers in, exact laws out.

All draws use one primitive, ``below(n)``: a uniform whole number in [0, n). A floating-point number is a fraction of
whole numbers, so rates are not rounded. Nothing is truncated, so sampling adds nothing to delta (docs/proof.md).
"""

import math
from collections.abc import Callable
from fractions import Fraction

#: A uniform whole number in [0, n): `secrets.randbelow`, or what a test puts in its place.
Below = Callable[[int], int]


def bernoulli(probability: Fraction, below: Below) -> bool:
    """Return whether an event with this probability, in [0, 1], happens."""
    return below(probability.denominator) < probability.numerator


def poisson(mean: Fraction, below: Below) -> int:
    """Draw a Poisson number of any mean >= 0: the sum of ceil(2 mean) independent ones of equal means."""
    pieces = math.ceil(2 * mean)
    return sum(_small_poisson(2 * mean / pieces, below) for _ in range(pieces))


def _small_poisson(twice: Fraction, below: Below) -> int:
    """Draw a Poisson number of mean twice/2 <= 1/2 by rejection.

    Coins propose k with probability 2^-(k+1), and k is kept with probability twice^k/k!. The product is mean^k/k! up to
    a factor. So a proposal is kept with probability e^mean/2.
    """
    while True:
        count = 0
        while below(2):
            count += 1
        # one Bernoulli(twice/j) for every j, without reducing the fractions
        if all(below(twice.denominator * j) < twice.numerator for j in range(1, count + 1)):
            return count


def negative_binomial(size: Fraction, p: Fraction, below: Below) -> int:
    """Draw from NB(r, p), r >= 0, p in [0, 1): Pr[k] is proportional to p^k r (r + 1) ... (r + k - 1)/k!."""
    pieces = math.ceil(size)
    return sum(_small_negative_binomial(size / pieces, p, below) for _ in range(pieces))


def _small_negative_binomial(size: Fraction, p: Fraction, below: Below) -> int:
    """Draw from NB(r, p), r <= 1, by rejection: a geometric number k is kept with probability r ... (r + k - 1)/k!."""
    while True:
        count = 0
        while bernoulli(p, below):
            count += 1
        if all(bernoulli((size + j) / (j + 1), below) for j in range(count)):
            return count


def clustered(count: int, size: Fraction, n: int, below: Below) -> list[int]:
    """Draw places in [0, n) of `count` units. The counts of the places are independent NB(size/n, p), given their sum.

    Polya's urn: with probability (i - 1)/(size + i - 1) the i-th unit joins a uniformly chosen earlier one; otherwise
    it takes a uniform place. The law does not depend on p.
    """
    places: list[int] = []
    for earlier in range(count):
        joins = bernoulli(earlier / (size + earlier), below)
        places.append(places[below(earlier)] if joins else below(n))
    return places


def shuffled(values: list[int], below: Below) -> list[int]:
    """Return all values in uniformly random order (Fisher and Yates)."""
    mixed = list(values)
    for last in range(len(mixed) - 1, 0, -1):
        other = below(last + 1)
        mixed[last], mixed[other] = mixed[other], mixed[last]
    return mixed
