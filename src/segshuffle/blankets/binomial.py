"""The binomial blanket of Algorithm 2, as published; no guarantee is proven for it."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from segshuffle.arrays import IntArray, pieces
from segshuffle.blankets import exact
from segshuffle.blankets.base import Blanket
from segshuffle.errors import ParameterError
from segshuffle.numerics.ranges import blanket_slots


@dataclass(frozen=True)
class Binomial(Blanket):
    """ceil(m) slots, each filled with probability m/ceil(m) by a uniform item."""

    name = "binomial"
    phrase = "about random items"
    proven = False
    means = (math.inf, math.inf)

    def parts(self, mean: float) -> NoReturn:
        """Raise an error, because the counters of the items are not independent."""
        raise ParameterError("dummies", self.name, "a law with independent counters")

    def pair(self, mean: float, copies: float) -> NoReturn:
        """Raise an error, because no guarantee is proven."""
        self.parts(mean)

    def most(self, per_user: float) -> float:
        """Return ceil(m)."""
        return blanket_slots(per_user)[0]

    def sample(self, per_user: float, domain_size: int, below: exact.Below) -> list[int]:
        """Draw the items of one client's dummies exactly."""
        slots, _ = blanket_slots(per_user)
        filled = Fraction(per_user) / slots
        return [below(domain_size) for _ in range(slots) if exact.bernoulli(filled, below)]

    def most_steps(self, per_user: float) -> float:
        """Return two numbers for each slot."""
        return 2.0 * self.most(per_user)

    def simulate(
        self, per_user: float, domain_size: int, n_clients: int, rng: np.random.Generator, dtype: np.dtype[Any]
    ) -> tuple[NDArray[Any], IntArray]:
        """Draw the items of all clients' dummies, and the number of dummies of each client."""
        slots, gamma = blanket_slots(per_user)
        numbers = np.full(n_clients, slots) if gamma == 1.0 else rng.binomial(slots, gamma, size=n_clients)
        return rng.integers(domain_size, size=int(numbers.sum()), dtype=dtype), numbers

    def draw_net(self, n_users: int, per_user: float, size: tuple[int, int], rng: np.random.Generator) -> IntArray:
        """Draw every item's counter: lines 13-16 of Algorithm 2."""
        slots, filled = blanket_slots(per_user)
        total = rng.binomial(n_users * slots, filled, size=size[0])
        net = np.empty(size, dtype=np.int64)
        some = [net[:, piece] for piece in pieces(size[1])]
        sizes = np.array([each.shape[1] for each in some])
        for each, own in zip(some, rng.multinomial(total, sizes / size[1]).T, strict=True):
            each[:] = rng.multinomial(own, np.full(each.shape[1], 1.0 / each.shape[1]))
        return net

    def net_mean(self, mean: float) -> float:
        """Return the mean, because messages have no signs."""
        return mean

    def noise(self, n_users: int, per_user: float, domain_size: int, items: int = 1) -> float:
        """Return the variance of the number of dummies about h = items/d of all items, n m h (1 - h m/ceil(m))."""
        share = items / domain_size
        return n_users * per_user * share * (1.0 - share * blanket_slots(per_user)[1])


BINOMIAL = Binomial()
