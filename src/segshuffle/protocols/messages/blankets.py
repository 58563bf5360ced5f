"""The dummy messages of one client, drawn exactly, and of many clients, simulated fast."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from segshuffle.accounting.numerics.ranges import blanket_slots
from segshuffle.protocols.messages import exact

BlanketKind = Literal["binomial", "poisson", "clustered"]


class Blanket(Protocol):
    """Law of the dummy messages of one client."""

    def sample(self, below: exact.Below) -> list[int]:
        """Items of one client's dummies, drawn exactly."""
        ...

    def simulate(self, n_clients: int, rng: np.random.Generator, dtype: np.dtype[Any]) -> NDArray[Any]:
        """Items of the dummies of all clients together, each with a number of its own, in floating point."""
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

    def simulate(self, n_clients: int, rng: np.random.Generator, dtype: np.dtype[Any]) -> NDArray[Any]:
        """Items of the dummies of all clients together."""
        numbers = rng.poisson(self.per_user, size=n_clients)
        while (above := numbers > self.most).any():
            numbers[above] = rng.poisson(self.per_user, size=int(above.sum()))
        return rng.integers(self.domain_size, size=int(numbers.sum()), dtype=dtype)


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

    def simulate(self, n_clients: int, rng: np.random.Generator, dtype: np.dtype[Any]) -> NDArray[Any]:
        """Items of the dummies of all clients together."""
        slots, gamma = blanket_slots(self.per_user)
        filled = n_clients * slots
        if gamma < 1.0:
            filled = int(np.count_nonzero(rng.random(filled) < gamma))
        return rng.integers(self.domain_size, size=filled, dtype=dtype)


@dataclass(frozen=True)
class ClusteredBlanket:
    """A negative-binomial number of dummies, which come in clusters of logarithmic size, each at a uniform item.

    Parameters
    ----------
    per_user : float
        m > 0.
    domain_size : int
        Number of items d.
    cluster : float
        Cluster parameter p in (0, 1): the counters of one client are independent NB(m (1 - p)/(p d), p).
    """

    per_user: float
    domain_size: int
    cluster: float

    most = math.inf

    def sample(self, below: exact.Below) -> list[int]:
        """Items of one client's dummies, drawn exactly."""
        p = Fraction(self.cluster)
        size = Fraction(self.per_user) * (1 - p) / p
        return exact.clustered(exact.negative_binomial(size, p, below), size, self.domain_size, below)

    def simulate(self, n_clients: int, rng: np.random.Generator, dtype: np.dtype[Any]) -> NDArray[Any]:
        """Items of the dummies of all clients together."""
        p = self.cluster
        clusters = rng.poisson(-self.per_user * (1 - p) / p * math.log1p(-p), size=n_clients).sum()
        places = rng.integers(self.domain_size, size=int(clusters), dtype=dtype)
        return np.repeat(places, rng.logseries(p, size=places.size))


def make_blanket(kind: BlanketKind, per_user: float, domain_size: int, cap: int | None, cluster: float) -> Blanket:
    """The law of that kind; only a Poisson blanket has a cap to be chosen, and only a clustered one a cluster."""
    if kind == "poisson":
        return PoissonBlanket(per_user, domain_size, cap)
    return ClusteredBlanket(per_user, domain_size, cluster) if cluster else BinomialBlanket(per_user, domain_size)
