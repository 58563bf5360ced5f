"""Numbers, laws and divergences."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from fractions import Fraction
from typing import Any

from mpmath import MPContext

RESULT_DIGITS = 50
WORKING_DIGITS = 90
DIRECT_SUM_TERMS = 4000

MP = MPContext()
MP.dps = WORKING_DIGITS

Histogram = tuple[int, ...]
Law = dict[Any, Fraction]
MpLaw = dict[Any, Any]
Matrix = list[list[Fraction]]


def to_mpf(value: Any) -> Any:
    """Convert an int, float (exactly), Fraction or mpf to an ``mpf`` of :data:`MP`."""
    if isinstance(value, Fraction):
        return MP.mpf(value.numerator) / value.denominator
    return MP.mpf(value)


def exp_fraction(epsilon: float) -> Fraction:
    """Return e^epsilon to 70 digits, for the exact float epsilon."""
    return Fraction(int(MP.floor(MP.exp(MP.mpf(epsilon)) * MP.mpf(10) ** 70)), 10**70)


def hockey_stick(p: Mapping[Hashable, Any], q: Mapping[Hashable, Any], exp_epsilon: Fraction) -> Any:
    """Return the hockey-stick divergence ``sum_x max(0, p(x) - exp_epsilon * q(x))``.

    Parameters
    ----------
    p, q : mapping
        Laws over a finite set; a missing outcome has probability 0. All values are Fractions, or all are ``mpf``.
    exp_epsilon : Fraction
        ``e**eps`` (not ``eps``).

    Returns
    -------
    Fraction or mpf
        Fraction if the laws are made of Fractions (the result is then exact).
    """
    total: Any = Fraction(0)
    for outcome, probability in p.items():
        is_exact = isinstance(probability, (int, Fraction))
        factor = exp_epsilon if is_exact else to_mpf(exp_epsilon)
        excess = probability - factor * q.get(outcome, 0)
        if excess > 0:
            total = excess + (total if is_exact else to_mpf(total))
    return total


def encloses(interval: Any, exact: Any, slack: float = 0.0) -> bool:
    """Return whether a value lies in a certified interval, whose ends may be off by the relative error `slack`."""
    return bool(interval.lower * (1 - slack) <= exact <= interval.upper * (1 + slack))


def gaussian_delta(ratio: float, epsilon: float) -> Any:
    """Return the divergence of N(ratio, 1) from N(0, 1), integrated from the known edge of its positive part."""
    r, e = MP.mpf(ratio), MP.mpf(epsilon)
    edge = e / r + r / 2  # where the densities' ratio is e^epsilon
    tail_of_p, tail_of_q = (MP.erfc((edge - mean) / MP.sqrt(2)) / 2 for mean in (r, MP.mpf(0)))
    return tail_of_p - MP.exp(e) * tail_of_q


def bernoulli_sum(probabilities: Iterable[Any]) -> list[Any]:
    """Return the law of the number of successes of independent trials, one trial at a time."""
    law = [1]
    for p in probabilities:
        law = [a * (1 - p) + b * p for a, b in zip([*law, 0], [0, *law], strict=True)]
    return law


def push_forward(law: Mapping[Any, Any], function: Callable[[Any], Hashable]) -> dict[Any, Any]:
    """Return the law of ``function(X)`` for ``X`` distributed by ``law``."""
    image: dict[Any, Any] = {}
    for outcome, probability in law.items():
        key = function(outcome)
        image[key] = image[key] + probability if key in image else probability
    return image


def product_law(*laws: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return the law of the tuple of independent outcomes, one per given law."""
    result: dict[Any, Any] = {(): 1}
    for law in laws:
        result = {(*head, tail): p * q for head, p in result.items() for tail, q in law.items()}
    return result
