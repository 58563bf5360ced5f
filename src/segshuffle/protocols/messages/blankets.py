"""The dummy messages of one client, drawn exactly, and of many clients, simulated fast."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from segshuffle.accounting.numerics.ranges import blanket_slots
from segshuffle.blankets import exact

BlanketKind = Literal["binomial", "poisson", "clustered", "signed"]


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
        return _units(Fraction(self.per_user), self.cluster, self.domain_size, below)

    def simulate(self, n_clients: int, rng: np.random.Generator, dtype: np.dtype[Any]) -> NDArray[Any]:
        """Items of the dummies of all clients together."""
        return _simulated_units(self.per_user, self.cluster, self.domain_size, n_clients, rng).astype(dtype)


@dataclass(frozen=True)
class SignedBlanket:
    """Noise of both signs, and a flood of as many pluses as minuses, each at uniform items.

    A message about item j is the word j with a plus, d + j with a minus.

    Parameters
    ----------
    per_user : float
        m > 0, messages of both signs together.
    domain_size : int
        Number of items d.
    cluster, flood_cluster : float
        Cluster parameters of the noise and of the flood, in [0, 1); 0 for single units.
    flood : float
        Share of the messages that are the flood's, in [0, 1).
    """

    per_user: float
    domain_size: int
    cluster: float
    flood_cluster: float
    flood: float

    most = math.inf

    def sample(self, below: exact.Below) -> list[int]:
        """Words of one client's dummies, drawn exactly."""
        share, d = Fraction(self.flood), self.domain_size
        noise, flood = (Fraction(self.per_user) * part / 2 for part in (1 - share, share))
        pluses, minuses = (_units(noise, self.cluster, d, below) for _ in range(2))
        both = _units(flood, self.flood_cluster, d, below)
        return pluses + both + [d + item for item in minuses + both]

    def simulate(self, n_clients: int, rng: np.random.Generator, dtype: np.dtype[Any]) -> NDArray[Any]:
        """Words of the dummies of all clients together."""
        d = self.domain_size
        noise, flood = (0.5 * part * self.per_user for part in (1 - self.flood, self.flood))
        pluses, minuses = (_simulated_units(noise, self.cluster, d, n_clients, rng) for _ in range(2))
        both = _simulated_units(flood, self.flood_cluster, d, n_clients, rng)
        return np.concatenate([pluses, both, d + minuses, d + both]).astype(dtype)


def _units(mean: Fraction, p: float, domain_size: int, below: exact.Below) -> list[int]:
    """Places of one client's units of a part of that mean, drawn exactly."""
    if not p:
        return [below(domain_size) for _ in range(exact.poisson(mean, below))]
    size = mean * (1 - Fraction(p)) / Fraction(p)
    return exact.clustered(exact.negative_binomial(size, Fraction(p), below), size, domain_size, below)


def _simulated_units(
    mean: float, p: float, domain_size: int, n_clients: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Places of all clients' units, in floating point."""
    clusters = mean if p == 0 else -mean * (1 - p) / p * math.log1p(-p)
    places = rng.integers(domain_size, size=int(rng.poisson(clusters, size=n_clients).sum()))
    return places if p == 0 else np.repeat(places, rng.logseries(p, size=places.size))
