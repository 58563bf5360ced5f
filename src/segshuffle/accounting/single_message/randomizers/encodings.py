r"""Local hash, RAPPOR, optimized unary encoding and Hadamard response.

Output y has an attribute a_x(y) in {0, 1} for every input x: 1 where it favours x. The outputs that favour every input
carry the whole dependence on the domain size d; in the limit d = infinity they are gone. The limit is a proven upper
bound for every finite d, too: the randomizer on d inputs is a restriction (to d inputs, with the other attributes
dropped) of the one on more inputs, so its divergence is never larger.
"""

import math
from abc import abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import ClassVar

import numpy as np

from segshuffle.accounting.single_message.randomizers.reference import Favouring, Flagged, Items
from segshuffle.errors import ParameterError
from segshuffle.numerics.ranges import check_integer

_Bit = tuple[float, float]
"""Probabilities of 0 and of 1."""


def _odds_to_bit(log_odds: float) -> _Bit:
    """Return probabilities of 0 and 1 at odds of 1 to e^log_odds: 1 minus the other would lose digits."""
    return 1 / (math.exp(log_odds) + 1), 1 / (1 + math.exp(-log_odds))


@dataclass(frozen=True, kw_only=True)
class _Attributes(Favouring):
    """Randomizers whose attributes are independent between inputs."""

    @property
    @abstractmethod
    def _laws(self) -> tuple[_Bit, _Bit]:
        """Law of the attribute of the input that a user holds, and of any other."""

    @property
    def _own_base(self) -> _Bit:
        """Base measure of the outputs without and with the attribute of one input."""
        (no, yes), _ = self._laws
        return no, yes * math.exp(-self.local_epsilon)

    def _base(self, inputs: Sequence[Items]) -> Flagged:
        own, other = self._own_base, self._laws[1]
        # the measure is symmetric in the inputs: any one of them may be the user's own
        words = {word: sorted(word) for word in product((0, 1), repeat=len(inputs))}
        return {word: own[least] * math.prod(other[bit] for bit in rest) for word, (least, *rest) in words.items()}

    @property
    def _favour_all(self) -> float:
        return 0.0 if self.domain_size is None else self._own_base[1] * self._laws[1][1] ** (self.domain_size - 1)


@dataclass(frozen=True, kw_only=True)
class LocalHash(_Attributes):
    """A uniformly random function h to `hash_size` values is sent together with randomized response of h(x).

    The attribute of x: h(x) is the value sent.

    Parameters
    ----------
    local_epsilon : float
        Guarantee epsilon_0, in [1e-12, 50].
    hash_size : int
        Number of values g >= 2.
    domain_size : int or None
        Number of inputs d >= 2; None for the limit of a large domain.
    """

    hash_size: int

    def __post_init__(self) -> None:
        super().__post_init__()
        check_integer("hash_size", self.hash_size, 2)

    @property
    def _laws(self) -> tuple[_Bit, _Bit]:
        g, odds = self.hash_size, math.exp(self.local_epsilon)
        return ((g - 1) / (odds + (g - 1)), odds / (odds + (g - 1))), ((g - 1) / g, 1 / g)


@dataclass(frozen=True, kw_only=True)
class _UnaryEncoding(_Attributes):
    """Unary encoding of x with every bit flipped at random; the attribute of x is bit x of the output.

    Bit x is 1 with odds e^{share epsilon_0}, every other bit with odds e^{-(1 - share) epsilon_0}.
    """

    _share: ClassVar[float]

    @property
    def _laws(self) -> tuple[_Bit, _Bit]:
        e = self.local_epsilon
        return _odds_to_bit(self._share * e), _odds_to_bit(-(1 - self._share) * e)


class Rappor(_UnaryEncoding):
    """Unary encoding of x, every bit through binary randomized response with epsilon_0 / 2.

    Parameters
    ----------
    local_epsilon : float
        Guarantee epsilon_0, in [1e-12, 50].
    domain_size : int or None
        Number of inputs d >= 2; None for the limit of a large domain.
    """

    _share = 0.5


class OptimizedUnaryEncoding(_UnaryEncoding):
    """Unary encoding of x: bit x is a fair coin, every other bit is 1 with probability 1/(e^epsilon_0 + 1).

    Parameters
    ----------
    local_epsilon : float
        Guarantee epsilon_0, in [1e-12, 50].
    domain_size : int or None
        Number of inputs d >= 2; None for the limit of a large domain.
    """

    _share = 0.0


@dataclass(frozen=True, kw_only=True)
class HadamardResponse(Favouring):
    """Output y in [K] with odds e^epsilon_0 where the Hadamard matrix has H[x, y] = +1, for the rows x = 1, ..., K-1.

    Row 0 is constant and would carry no information; it is not an input. Column 0 is +1 in every row. The uniform
    blanket in "Decomposition-Based Optimal Bounds for Privacy Amplification via Shuffling" overlooks this output: gamma
    is larger than stated there, and the stated bound is valid, but not tight. A domain of fewer than K - 1 inputs is a
    restriction: the upper bound holds for it.

    Parameters
    ----------
    local_epsilon : float
        Guarantee epsilon_0, in [1e-12, 50].
    order : int
        K, a power of two >= 4.
    """

    order: int

    def __post_init__(self) -> None:
        super().__post_init__()
        allowed = "a power of two, 4 or more"
        check_integer("order", self.order, 4, allowed)
        if self.order & (self.order - 1):
            raise ParameterError("order", self.order, allowed)

    @property
    def _favour_all(self) -> float:
        return _odds_to_bit(self.local_epsilon)[0] * 2 / self.order

    @property
    def three_inputs(self) -> Sequence[Items]:
        """Rows x0, x1 and x*; none is the product of the others, unless there are three in all."""
        return (0,), (1,), (min(3, self.order - 2),)

    def _base(self, inputs: Sequence[Items]) -> Flagged:
        rows = np.ravel(inputs) + 1
        # of the Sylvester matrix, whose other columns repeat these
        columns = np.arange(1 << int(rows.max()).bit_length())
        favours = np.bitwise_count(rows[:, None] & columns) % 2 == 0
        share = _odds_to_bit(self.local_epsilon)[0] * 2 / columns.size
        return {word: share * count for word, count in Counter(map(tuple, favours.T.tolist())).items()}
