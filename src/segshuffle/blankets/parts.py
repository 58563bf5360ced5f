"""The independent parts of a blanket: how many units of each are at an item, and how they are drawn."""

import functools
import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from segshuffle.arrays import FloatArray, IntArray
from segshuffle.blankets import exact
from segshuffle.numerics.laws import log_negative_binomial, size_of, window_of_mass


@dataclass(frozen=True)
class Part:
    """One independent part of a blanket: Poisson-many clusters per item, of logarithmic sizes.

    Parameters
    ----------
    mean : float
        Expected units per item >= 0.
    p : float
        Cluster parameter in [0, 1): a cluster has w units with probability -p^w/(w ln(1 - p)); 0 stands for single
        units. The units of one item are NB(r, p) with r = mean (1 - p)/p, or Poisson(mean).
    signs : tuple of int
        Messages of one unit: (1,), (-1,) or (1, -1), the number that each message adds to the estimate.
    """

    mean: float
    p: float
    signs: tuple[int, ...] = (1,)

    @property
    def net(self) -> int:
        """What one unit adds to the estimate."""
        return sum(self.signs)

    @property
    def variance(self) -> float:
        """Variance of the units of one item."""
        return self.mean / (1 - self.p)

    def places(self, domain_size: int, below: exact.Below) -> list[int]:
        """Draw the items of one client's units exactly; here `mean` is the expected number for all items together."""
        mean, p = Fraction(self.mean), Fraction(self.p)
        if not p:
            return [below(domain_size) for _ in range(exact.poisson(mean, below))]
        size = mean * (1 - p) / p
        return exact.clustered(exact.negative_binomial(size, p, below), size, domain_size, below)

    @property
    def most_steps(self) -> float:
        """Bound on the expected number of uniform numbers that `places` takes."""
        if not self.p:
            return exact.most_steps(0.5, 2 * self.mean, 0) + self.mean
        return exact.most_steps(self.p, self.mean * (1 - self.p) / self.p, 1) + 2 * self.mean

    def simulated_places(self, domain_size: int, n_clients: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
        """Draw the items of all clients' units, client after client, and the number of units of each client.

        As in `places`, `mean` is the expected number for all items together.
        """
        clusters = -size_of(self.mean, self.p) * math.log1p(-self.p) if self.p else self.mean
        numbers = rng.poisson(clusters, size=n_clients)
        places = rng.integers(domain_size, size=int(numbers.sum()))
        if not self.p:
            return places, numbers
        sizes = rng.logseries(self.p, size=places.size)
        users = np.repeat(np.arange(n_clients), numbers)
        return np.repeat(places, sizes), np.bincount(users, sizes, minlength=n_clients).astype(np.int64)

    def counts(self, size: tuple[int, ...], rng: np.random.Generator) -> IntArray:
        """Draw independent numbers of units, one per item."""
        if self.p == 0:
            return rng.poisson(self.mean, size=size)
        return rng.negative_binomial(size_of(self.mean, self.p), 1 - self.p, size=size)

    @functools.lru_cache(maxsize=65536)  # noqa: B019  parts are values, of which a cache keeps a limited number
    def window(self, log_tail: float) -> tuple[int, int]:
        """Return a window of counts; each tail outside it has mass at most e^-log_tail."""
        return window_of_mass(self.mean, self.p, log_tail)

    @functools.lru_cache(maxsize=16)  # noqa: B019  a search tries many numbers of copies in one blanket
    def log_masses(self, window: tuple[int, int]) -> FloatArray:
        """Return logs of the probabilities of the units of one item, on the counts of a window; read-only."""
        masses = log_negative_binomial(np.arange(window[0], window[1] + 1, dtype=float), self.mean, self.p)
        masses.flags.writeable = False
        return masses

    def masses(self, window: tuple[int, int]) -> FloatArray:
        """Return the probabilities of the units of one item, on the counts of a window."""
        return np.exp(self.log_masses(window))

    def block_masses(self, window: tuple[int, int], step: int) -> FloatArray:
        """Return the probabilities of blocks of `step` counts, each from its middle; the last may go on further."""
        if step == 1:
            return self.masses(window)
        middles = np.arange(window[0], window[1] + 1, step, dtype=float) + 0.5 * (step - 1)
        return step * np.exp(log_negative_binomial(middles, self.mean, self.p))
