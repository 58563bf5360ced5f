"""The independent parts of a blanket: how many units of each are at an item, and how they are drawn."""

import functools
import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy import special

from segshuffle.accounting.numerics.laws import log_negative_binomial, size_of, stirling_error, window_of_mass
from segshuffle.arrays import FloatArray, IntArray
from segshuffle.blankets import exact


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

    def window(self, log_tail: float) -> tuple[int, int]:
        """Return a window of counts; each tail outside it has mass at most e^-log_tail."""
        return _window(self, log_tail)

    def log_masses(self, window: tuple[int, int]) -> FloatArray:
        """Return logs of the probabilities of the units of one item, on the counts of a window; read-only."""
        return _log_masses(self, window)

    def masses(self, window: tuple[int, int]) -> FloatArray:
        """Return the probabilities of the units of one item, on the counts of a window."""
        return np.exp(self.log_masses(window))


@functools.lru_cache(maxsize=16)  # cached, because a search tries many numbers of copies in one blanket
def _log_masses(part: Part, window: tuple[int, int]) -> FloatArray:
    count = np.arange(window[0], window[1] + 1, dtype=float)
    found = log_negative_binomial(count, part.mean, part.p) if part.p else log_poisson(count, part.mean)
    found.flags.writeable = False
    return found


@functools.lru_cache(maxsize=65536)
def _window(part: Part, log_tail: float) -> tuple[int, int]:
    return window_of_mass(part.mean, part.p, log_tail) if part.p else poisson_window(part.mean, log_tail)


def log_poisson(count: FloatArray, mu: float) -> FloatArray:
    """Log of the Poisson(mu) mass at real counts >= 0; relative error of the mass below 1e-12 (Loader, 2000)."""
    if mu <= 50:
        return np.asarray(special.xlogy(count, mu) - mu - special.gammaln(count + 1))
    large = np.maximum(count, 16.0)
    values = log_poisson_deviation(large - mu, mu)
    small = count < 16
    if small.any():
        values[small] = special.xlogy(count[small], mu) - mu - special.gammaln(count[small] + 1)
    return values


def log_poisson_deviation(deviation: FloatArray, mu: float) -> FloatArray:
    """Log of the Poisson(mu) mass at mu + deviation >= 16.

    Working with the deviation keeps its digits at mu = 1e12, where x log(x / mu) - (x - mu) would cancel.
    """
    count = mu + deviation
    v = deviation / (count + mu)
    square = v * v
    series = np.zeros_like(v)
    for j in range(7, 0, -1):
        series = (series + 1 / (2 * j + 1)) * square
    deviance = deviation * v + 2 * count * v * series
    far = np.abs(v) > 0.1  # the series stops at v^15
    if far.any():
        deviance[far] = count[far] * np.log(count[far] / mu) - deviation[far]
    return np.asarray(-deviance - stirling_error(count) - 0.5 * np.log(2 * np.pi * count))


def poisson_window(mean: float, log_tail: float) -> tuple[int, int]:
    """Return counts [low, high] outside which each tail of Poisson(mean) has mass at most e^-log_tail.

    Bernstein's inequality gives a first window. Newton's method makes it narrower by Chernoff's bound D(x) >= log_tail,
    D(x) = x log(x / mean) - (x - mean). D is convex, so Newton's method, started outside, stays outside.
    """
    root = math.sqrt((log_tail / 3) ** 2 + 2 * log_tail * mean)
    low, high = mean - math.sqrt(2 * log_tail * mean), mean + log_tail / 3 + root
    if mean <= 1e6:  # for larger means the first window is narrow enough, and D(x) would cancel
        low = max(low, 1e-3 * mean * math.exp(-log_tail / mean)) if log_tail < mean else -1.0
        for _ in range(4):
            high -= (high * math.log(high / mean) - (high - mean) - log_tail) / math.log(high / mean)
            if low > 0:  # if the end is close to 0, a step may go below 0
                low -= (low * math.log(low / mean) - (low - mean) - log_tail) / math.log(low / mean)
        low, high = low * (1 - 1e-9), high * (1 + 1e-9)
    return max(math.floor(low), 0), math.ceil(high)
