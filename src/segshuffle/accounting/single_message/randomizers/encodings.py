r"""Binary local hash, RAPPOR, optimized unary encoding and Hadamard response.

All four have one shape: output y has an attribute a_x(y) in {0, 1} for every input x, and

    R_x(y) = base(y) * (e^{eps_0} if a_x(y) = 1 else 1),

so inf_x R_x(y) = base(y) unless *every* attribute of y is 1. That one exceptional kind of output ("full" below)
carries the whole dependence on the domain size d; in the limit d = infinity it is gone. The limit is a proven upper
bound for every finite d, too: the randomizer on d inputs is a restriction (to d inputs, with the other attributes
dropped) of the one on more inputs, so its divergence is never larger.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import product

import numpy as np

from segshuffle.accounting.numerics.ranges import check_integer
from segshuffle.accounting.single_message.randomizers.reference import (
    ReferenceClasses,
    Side,
    check_local_epsilon,
    table,
)
from segshuffle.arrays import FloatArray
from segshuffle.errors import ParameterError

_Bit = tuple[float, float]
"""Probabilities of 0 and of 1."""

_LARGEST_MATRIX_DOMAIN = 12


def _attribute_blanket(local_epsilon: float, one: float, both: float, neither: float, full: float) -> ReferenceClasses:
    """Make classes against the blanket from base masses: exactly one (each), both, neither, and the full outputs."""
    e = local_epsilon
    return table([(one, e, 0.0), (one, 0.0, e), (both, e, e), (neither + full, 0.0, 0.0)])


def _attribute_common(local_epsilon: float, own: _Bit, other: _Bit) -> tuple[ReferenceClasses, ...]:
    """Make classes against R_{x*}: a_{x*} has the law `own`, a_x0 and a_x1 independently the law `other`."""
    rows = []
    for star, first, second in product((0, 1), repeat=3):
        mass = own[star] * other[first] * other[second]
        rows.append((mass, local_epsilon * (first - star), local_epsilon * (second - star)))
    return (table(rows),)


def _odds_to_bit(log_odds: float) -> _Bit:
    """Return probabilities of 0 and 1 at odds of 1 to e^log_odds: 1 minus the other would lose digits."""
    return 1 / (math.exp(log_odds) + 1), 1 / (1 + math.exp(-log_odds))


def _matrix_domain(domain_size: int | None) -> int:
    """Return the domain size, if the 2^d outputs can be listed."""
    if domain_size is None or domain_size > _LARGEST_MATRIX_DOMAIN:
        raise ParameterError("domain_size", domain_size, f"at most {_LARGEST_MATRIX_DOMAIN} to list all outputs")
    return domain_size


def _bits(count: int) -> FloatArray:
    """List all 0/1 vectors of length `count`, shape (2**count, count)."""
    return np.array(list(product((0.0, 1.0), repeat=count)))


@dataclass(frozen=True, kw_only=True)
class _OverADomain(ABC):
    """What the randomizers with a finite domain, or its limit, have in common."""

    local_epsilon: float
    domain_size: int | None = None

    def __post_init__(self) -> None:
        check_local_epsilon(self.local_epsilon)
        if self.domain_size is not None:
            allowed = "an integer >= 2, or None for the limit of a large domain"
            check_integer("domain_size", self.domain_size, 2, allowed)

    @abstractmethod
    def blanket(self, side: Side) -> ReferenceClasses:
        """Return classes against the blanket."""

    @abstractmethod
    def _laws(self) -> tuple[_Bit, _Bit]:
        """Return the law of the attribute of the input that a user holds, and of any other."""

    def common_input(self, side: Side) -> tuple[ReferenceClasses, ...]:
        """Let all other users hold a third input; independent of the domain size from d = 3 on."""
        if self.domain_size == 2:
            return self.blanket(side).own_inputs()
        return _attribute_common(self.local_epsilon, *self._laws())


@dataclass(frozen=True, kw_only=True)
class BinaryLocalHash(_OverADomain):
    """A uniformly random function h: [d] -> {0, 1} is sent together with binary randomized response of h(x).

    Parameters
    ----------
    local_epsilon : float
        Guarantee epsilon_0, in (0, 50].
    domain_size : int or None
        Number of inputs d >= 2; None for the limit of a large domain.
    """

    def blanket(self, side: Side) -> ReferenceClasses:
        """Return classes; attribute: the hash of x equals the bit sent, full when h is constant and the bit honest."""
        wrong = 1 / (math.exp(self.local_epsilon) + 1)
        share = 0.0 if self.domain_size is None else 2.0 ** (1 - self.domain_size)
        return _attribute_blanket(self.local_epsilon, wrong / 2, wrong * (0.5 - share), wrong / 2, (1 - wrong) * share)

    def _laws(self) -> tuple[_Bit, _Bit]:
        return _odds_to_bit(self.local_epsilon), (0.5, 0.5)

    def matrix(self) -> FloatArray:
        """Return the full law, shape (d, 2 * 2**d): functions in lexicographic order, bit 0 then bit 1."""
        hashes = _bits(_matrix_domain(self.domain_size))
        wrong = 1 / (math.exp(self.local_epsilon) + 1)
        honest = np.stack([hashes == bit for bit in (0, 1)], axis=2)
        law: FloatArray = np.where(honest, 1 - wrong, wrong) / len(hashes)
        return law.transpose(1, 0, 2).reshape(hashes.shape[1], -1)


@dataclass(frozen=True, kw_only=True)
class LocalHash:
    """A uniformly random function h to `hash_size` values is sent together with randomized response of h(x).

    In the limit of a large domain (see the module): whether h(x) is the value sent is independent between inputs.

    Parameters
    ----------
    local_epsilon : float
        Guarantee epsilon_0, in (0, 50].
    hash_size : int
        Number of values g >= 2; 2 is `BinaryLocalHash`.
    """

    local_epsilon: float
    hash_size: int

    def __post_init__(self) -> None:
        check_local_epsilon(self.local_epsilon)
        check_integer("hash_size", self.hash_size, 2)

    @property
    def odd_one(self) -> float:
        """Probability of one particular wrong value, 1/(e^epsilon_0 + g - 1)."""
        return 1 / (math.exp(self.local_epsilon) + (self.hash_size - 1))

    def blanket(self, side: Side) -> ReferenceClasses:
        """Return classes; attribute: the hash of x equals the value sent."""
        q, g = self.odd_one, self.hash_size
        return _attribute_blanket(self.local_epsilon, q * (g - 1) / g, q / g, q * (g - 1) * (g - 1) / g, 0.0)

    def common_input(self, side: Side) -> tuple[ReferenceClasses, ...]:
        """Let all other users hold a third input."""
        q, g = self.odd_one, self.hash_size
        return _attribute_common(
            self.local_epsilon, ((g - 1) * q, math.exp(self.local_epsilon) * q), ((g - 1) / g, 1 / g)
        )


@dataclass(frozen=True, kw_only=True)
class Rappor(_OverADomain):
    """Unary encoding of x, every bit through binary randomized response with epsilon_0 / 2.

    Parameters
    ----------
    local_epsilon : float
        Guarantee epsilon_0, in (0, 50].
    domain_size : int or None
        Number of inputs d >= 2; None for the limit of a large domain.
    """

    @property
    def flip(self) -> float:
        """Probability that a bit is flipped."""
        return 1 / (math.exp(self.local_epsilon / 2) + 1)

    def blanket(self, side: Side) -> ReferenceClasses:
        """Return classes; attribute: bit x of the output. base(y) = p^(d-|y|-1) q^(|y|+1), q = flip, p = 1 - q."""
        q, p = self.flip, 1 / (1 + math.exp(-self.local_epsilon / 2))
        last = 0.0 if self.domain_size is None else q ** (self.domain_size - 1)
        return _attribute_blanket(self.local_epsilon, q * q, q * q / p * (q - last), p * q, p * last)

    def _laws(self) -> tuple[_Bit, _Bit]:
        return _odds_to_bit(0.5 * self.local_epsilon), _odds_to_bit(-0.5 * self.local_epsilon)

    def matrix(self) -> FloatArray:
        """Return the full law, shape (d, 2**d), outputs in lexicographic order."""
        d = _matrix_domain(self.domain_size)
        distance = np.abs(_bits(d)[None, :, :] - np.eye(d)[:, None, :]).sum(axis=2)
        return np.asarray(self.flip**distance * (1 - self.flip) ** (d - distance))


@dataclass(frozen=True, kw_only=True)
class OptimizedUnaryEncoding(_OverADomain):
    """Unary encoding of x: bit x is a fair coin, every other bit is 1 with probability 1/(e^epsilon_0 + 1).

    Parameters
    ----------
    local_epsilon : float
        Guarantee epsilon_0, in (0, 50].
    domain_size : int or None
        Number of inputs d >= 2; None for the limit of a large domain.
    """

    @property
    def raised(self) -> float:
        """Probability that a bit other than the user's own is 1."""
        return 1 / (math.exp(self.local_epsilon) + 1)

    def blanket(self, side: Side) -> ReferenceClasses:
        """Return classes; attribute: bit x of the output. base(y) = prod_j q^(y_j) p^(1-y_j) / (2p), p = 1 - q."""
        q, p = self.raised, 1 / (1 + math.exp(-self.local_epsilon))
        last = 0.0 if self.domain_size is None else q ** (self.domain_size - 1)
        return _attribute_blanket(self.local_epsilon, q / 2, q * (q - last) / (2 * p), p / 2, last / 2)

    def _laws(self) -> tuple[_Bit, _Bit]:
        return (0.5, 0.5), _odds_to_bit(-self.local_epsilon)

    def matrix(self) -> FloatArray:
        """Return the full law, shape (d, 2**d), outputs in lexicographic order."""
        d = _matrix_domain(self.domain_size)
        outputs, own = _bits(d)[None, :, :], np.eye(d, dtype=bool)[:, None, :]
        chance = np.where(own, 0.5, np.where(outputs == 1, self.raised, 1 - self.raised))
        return np.asarray(chance.prod(axis=2))


@dataclass(frozen=True, kw_only=True)
class HadamardResponse:
    """Output y in [K] with odds e^epsilon_0 where the Hadamard matrix has H[x, y] = +1, for the rows x = 1, ..., K-1.

    Row 0 is constant and would carry no information; it is not an input. Column 0 is +1 in every row: the "full"
    output, which the paper's uniform blanket overlooks (gamma is larger than it states; its bound is valid, not tight).
    A domain of fewer than K - 1 inputs is a restriction: the upper bound holds for it.

    Parameters
    ----------
    local_epsilon : float
        Guarantee epsilon_0, in (0, 50].
    order : int or None
        K, a power of two >= 4; None for the limit of a large order.
    """

    local_epsilon: float
    order: int | None = None

    def __post_init__(self) -> None:
        check_local_epsilon(self.local_epsilon)
        allowed = "a power of two, 4 or more (None: the limit of a large order)"
        if self.order is not None:
            check_integer("order", self.order, 4, allowed)
            if self.order & (self.order - 1):
                raise ParameterError("order", self.order, allowed)

    def blanket(self, side: Side) -> ReferenceClasses:
        """Return classes; attribute: H[x, y] = +1; two different rows share exactly a quarter of the columns."""
        low = 1 / (math.exp(self.local_epsilon) + 1)
        column = 0.0 if self.order is None else 2 / self.order
        return _attribute_blanket(self.local_epsilon, low / 2, low * (0.5 - column), low / 2, (1 - low) * column)

    def common_input(self, side: Side) -> tuple[ReferenceClasses, ...]:
        """Let all other users hold a third row, not the product of x0's and x1's unless K = 4 leaves no other."""
        e = self.local_epsilon
        low, high = _odds_to_bit(e)
        if self.order != 4:
            return _attribute_common(e, (low, high), (0.5, 0.5))
        same, differ = high / 2, low / 2
        return (table([(same, 0.0, 0.0), (same, -e, -e), (differ, e, 0.0), (differ, 0.0, e)]),)

    def matrix(self) -> FloatArray:
        """Return the full law, shape (K - 1, K): rows 1, ..., K-1 of the Sylvester matrix."""
        if self.order is None or self.order > 2**_LARGEST_MATRIX_DOMAIN:
            raise ParameterError("order", self.order, f"at most {2**_LARGEST_MATRIX_DOMAIN} to list all outputs")
        index = np.arange(self.order)
        plus = np.bitwise_count(index[1:, None] & index[None, :]) % 2 == 0
        low = 2 / self.order / (math.exp(self.local_epsilon) + 1)
        return np.where(plus, math.exp(self.local_epsilon) * low, low)
