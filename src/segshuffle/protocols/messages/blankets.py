"""The dummy messages of one client, drawn exactly, and of many clients, simulated fast."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, Protocol

import numpy as np

from segshuffle.accounting.numerics.ranges import blanket_slots
from segshuffle.protocols.messages import exact

BlanketKind = Literal["binomial", "poisson"]


class Blanket(Protocol):
    """Law of the dummy messages of one client."""

    def sample(self, below: exact.Below) -> list[int]:
        """Items of one client's dummies, drawn exactly."""
        ...

    def simulate(self, n_clients: int, rng: np.random.Generator) -> int:
        """Number of the dummies of all clients together, each with a number of its own, in floating point."""
        ...

    @property
    def most(self) -> float:
        """Most dummies of one client; may be +inf."""
        ...


@dataclass(frozen=True)
class PoissonBlanket:
    """Poisson(m) uniform items.

    Parameters
    ----------
    per_user : float
        m > 0.
    domain_size : int
        Number of items d.
    cap : int or None
        Most of them: larger numbers are drawn again.
    """

    per_user: float
    domain_size: int
    cap: int | None = None

    @property
    def most(self) -> float:
        """The cap, or +inf."""
        return math.inf if self.cap is None else self.cap

    def sample(self, below: exact.Below) -> list[int]:
        """Items of one client's dummies, drawn exactly."""
        while (number := exact.poisson(Fraction(self.per_user), below)) > self.most:
            pass
        return [below(self.domain_size) for _ in range(number)]

    def simulate(self, n_clients: int, rng: np.random.Generator) -> int:
        """Number of the dummies of all clients together."""
        numbers = rng.poisson(self.per_user, size=n_clients)
        while (above := numbers > self.most).any():
            numbers[above] = rng.poisson(self.per_user, size=int(above.sum()))
        return int(numbers.sum())


@dataclass(frozen=True)
class BinomialBlanket:
    """ceil(m) slots, each filled with probability m/ceil(m) by a uniform item (Algorithm 2 of the paper).

    Parameters
    ----------
    per_user : float
        m > 0.
    domain_size : int
        Number of items d.
    """

    per_user: float
    domain_size: int

    @property
    def most(self) -> float:
        """ceil(m)."""
        return blanket_slots(self.per_user)[0]

    def sample(self, below: exact.Below) -> list[int]:
        """Items of one client's dummies, drawn exactly."""
        slots, _ = blanket_slots(self.per_user)
        filled = Fraction(self.per_user) / slots
        return [below(self.domain_size) for _ in range(slots) if exact.bernoulli(filled, below)]

    def simulate(self, n_clients: int, rng: np.random.Generator) -> int:
        """Number of the dummies of all clients together."""
        slots, gamma = blanket_slots(self.per_user)
        if gamma == 1.0:
            return n_clients * slots
        return int(np.count_nonzero(rng.random(n_clients * slots) < gamma))


def make_blanket(kind: BlanketKind, per_user: float, domain_size: int, cap: int | None) -> Blanket:
    """The law of that kind; only a Poisson blanket has a cap to be chosen."""
    return PoissonBlanket(per_user, domain_size, cap) if kind == "poisson" else BinomialBlanket(per_user, domain_size)
