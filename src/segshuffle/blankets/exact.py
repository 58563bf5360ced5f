"""Random draws without error: uniform whole numbers in, exact laws out.

All draws use one primitive, ``below(n)``: a uniform whole number in [0, n). A floating-point number is a fraction of
whole numbers, so rates are not rounded. Nothing is truncated, so sampling adds nothing to delta (docs/proof.md).
"""

import math
import os
from collections.abc import Callable
from fractions import Fraction

#: A uniform whole number in [0, n): made by `uniform`, or what a test puts in its place.
Below = Callable[[int], int]
#: Bytes that are taken from the operating system at a time.
_BLOCK = 256


def uniform(read: Callable[[int], bytes] = os.urandom) -> Below:
    """Make uniform whole numbers of secret bytes, by default from the operating system's secure source.

    For a number in [0, n) the first b bits of the next ceil(b/8) bytes are taken, big-endian, b = ceil(log2 n). If
    they are n or more, they are thrown away, and the next bytes are taken. Processes must not share the result: after
    a fork both would use the same bytes.

    Parameters
    ----------
    read : callable
        Returns so many new bytes; fewer at the end of a fixed supply.
    """
    pool, used = b"", 0

    def below(n: int) -> int:
        nonlocal pool, used
        bits = (n - 1).bit_length()
        size = (bits + 7) // 8
        while True:
            if used + size > len(pool):
                pool, used = pool[used:] + read(_BLOCK + size), 0
                if len(pool) < size:
                    raise EOFError("no random bytes are left")
            number = int.from_bytes(pool[used : used + size], "big") >> (8 * size - bits)
            used += size
            if number < n:
                return number

    return below


def bernoulli(probability: Fraction, below: Below) -> bool:
    """Return whether an event with this probability, in [0, 1], happens."""
    return chance(probability.numerator, probability.denominator, below)


def chance(over: int, under: int, below: Below) -> bool:
    """Return whether an event with probability over/under happens."""
    return below(under) < over


def poisson(mean: Fraction, below: Below) -> int:
    """Draw a Poisson number of any mean >= 0."""
    return _sum_of_pieces(Fraction(1, 2), 2 * mean, 0, below)


def negative_binomial(size: Fraction, p: Fraction, below: Below) -> int:
    """Draw from NB(r, p), r >= 0, p in [0, 1): Pr[k] is proportional to p^k r (r + 1) ... (r + k - 1)/k!."""
    return _sum_of_pieces(p, size, 1, below)


def _sum_of_pieces(odds: Fraction, first: Fraction, growth: int, below: Below) -> int:
    """Draw k with Pr[k] proportional to odds^k w_0 ... w_(k-1), w_j = (first + growth j)/(j + 1), growth 0 or 1.

    It is the sum of independent numbers of such laws, whose `first` is at most 1.
    """
    pieces = math.ceil(first)
    part = first / max(pieces, 1)
    return sum(_piece(odds, part, growth, below) for _ in range(pieces))


def most_steps(odds: float, first: float, growth: int) -> float:
    """Bound the expected number of uniform numbers that `_sum_of_pieces` takes."""
    first = min(first, 1e300)
    pieces = max(math.ceil(first), 1)
    part = first / pieces
    accepted = (1 - odds) ** (1 - part) if growth else (1 - odds) * math.exp(odds * part)
    # a trial takes a number for every unit, one more to end, and at most one for every weight
    return pieces * (1 + 2 * odds / (1 - odds)) / accepted


def _piece(odds: Fraction, first: Fraction, growth: int, below: Below) -> int:
    """Draw from the law of `_sum_of_pieces` by rejection from odds^k, for first <= 1: every w_j is at most 1."""
    over, under = first.numerator, first.denominator
    while True:
        count = 0
        while bernoulli(odds, below):
            count += 1
        # w_j without a Fraction, which would take most of the time
        if all(chance(over + growth * j * under, (j + 1) * under, below) for j in range(count)):
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
