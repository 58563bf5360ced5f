"""What all blankets share: their parts, from which messages, variance and samplers follow, and the pair of counters."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from segshuffle.accounting.numerics.laws import mass_error
from segshuffle.accounting.numerics.loss_distribution import LossTable
from segshuffle.accounting.numerics.ranges import check_within
from segshuffle.arrays import FloatArray, IntArray, pieces
from segshuffle.blankets import exact
from segshuffle.blankets.atoms import AtomPair, Atoms
from segshuffle.blankets.parts import Part

#: Ranges that accountants allow: expected dummies per item, and copies of a held item.
BLANKET_MEAN_RANGE = (1e-3, 1e12)
COPIES_RANGE = (1e-120, 64.0)
#: Tails, as -log of their mass, are rounded up to a multiple of this, so that a cached law is found again.
TAIL_STEP = 6.0
#: Clusters with a larger parameter have tails that are too long for a table.
LARGEST_P = 0.99


class CounterPair(Protocol):
    """The two counters that change if one item is exchanged for another; a counter is one number, or one per sign.

    The counter of a held item has law A, that of another item law B. So both together have law P = A x B before the
    exchange, and Q = B x A after it.
    """

    @property
    def copies(self) -> float:
        """Expected copies a >= 0 of a held item."""
        ...

    @property
    def variance(self) -> float:
        """Variance of the noise in the estimate of one item, in squared copies, for a first guess of the loss."""
        ...

    @property
    def zero_mass(self) -> float:
        """B's mass where dA/dB = 0."""
        ...

    def coarse_law(self, log_tail: float) -> tuple[FloatArray, FloatArray]:
        """Return log ratio and log mass of B on a few hundred points; they need not be certified."""
        ...

    def loss_table(self, step: float, log_tail: float) -> LossTable:
        """Return certified cells about `step` wide; about e^-log_tail of each tail counts as truncated.

        Cells are wider if there would be too many of them. The bounds from the table include the effect.
        """
        ...


class Space(NamedTuple):
    """What a planner may choose about a law, apart from the variance that its dummies add to an estimate."""

    #: Range of each choice, above 0. If the law `spends`, its last choice is the mean of all dummies per item.
    bounds: tuple[tuple[float, float], ...]
    #: Turns arrays of variances and choices into parameters and means of laws; the mean is nan if there is no such law.
    make: Callable[..., tuple[tuple[FloatArray, ...], FloatArray]]


def within(means: FloatArray, least: Any, most: Any) -> FloatArray:
    """Return the means, with nan for those outside a range."""
    return np.where((means >= least) & (means <= most), means, math.nan)


def in_millionths(parameters: Any) -> Any:
    """Round parameters down to a whole number of millionths, so that announcements are short."""
    return np.floor(1e6 * parameters) / 1e6


class Blanket(ABC):
    """Law of one client's dummy messages, given their mean number; each law is a frozen dataclass.

    The counters of the items are independent for every law but the published one, so the proof holds for the others.
    """

    #: Identifier; the words for the dummies in a sentence.
    name: ClassVar[str]
    words: ClassVar[str]
    #: Whether the proof holds (docs/proof.md).
    proven: ClassVar[bool] = True
    #: Whether messages have a sign. A message is a number, its *word*: j for item j, and d + j for item j with a minus.
    has_signs: ClassVar[bool] = False
    #: Whether a cap on the dummies of a user is proven (docs/proof.md).
    can_be_capped: ClassVar[bool] = False
    #: Limit on the messages of a plan without a budget, as a multiple of those with single dummies. 0 if the number of
    #: messages follows from the variance.
    spends: ClassVar[float] = 0.0

    @property
    @abstractmethod
    def means(self) -> tuple[float, float]:
        """Least and largest expected messages per item that the accountant allows; infinite if it allows none."""

    @abstractmethod
    def parts(self, mean: float) -> tuple[Part, ...]:
        """Return the independent parts at `mean` expected messages per item, all signs together."""

    def pair(self, mean: float, copies: float) -> CounterPair:
        """Return the counters of an exchanged item, by default those of a law with one part."""
        return CountPair(mean, copies, self)

    @classmethod
    def space(cls, pairs: int, delta: float) -> Space:
        """Return what a planner may choose from, for a product of `pairs` pairs; by default only the variance."""
        law = cls()
        return Space((), lambda variance: ((), within(variance / law.variance(1.0), *law.means)))

    @classmethod
    def parameters(cls) -> list[str]:
        """Return the names of the parameters."""
        return [each.name for each in fields(cls)]  # type: ignore[arg-type]

    def rough(self) -> Blanket:
        """Return nearly the same law with quicker tables, for searches; its numbers are not proven."""
        return self

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON-ready form, with the name."""
        return {"name": self.name, **vars(self)}

    def most(self, per_user: float) -> float:
        """Return the largest number of dummies of one client; by default there is none."""
        return math.inf

    def variance(self, mean: float) -> float:
        """Return the variance of one item's net counter: the sum over parts of (what a unit adds)^2 mean/(1 - p)."""
        return sum(part.net**2 * part.variance for part in self.parts(mean))

    def noise(self, n_users: int, per_user: float, domain_size: int, items: int = 1) -> float:
        """Return the variance of what the dummies of all users add to the counts of `items` items together."""
        return items * self.variance(n_users * per_user / domain_size)

    def net_mean(self, mean: float) -> float:
        """Return what the dummies add on average to an item's count; messages with a minus are subtracted."""
        return sum(part.net * part.mean for part in self.parts(mean))

    def draw_net(self, n_users: int, per_user: float, size: tuple[int, int], rng: np.random.Generator) -> IntArray:
        """Draw what the dummies add to every item's count; parts that cancel are not drawn."""
        net = np.zeros(size, dtype=np.int64)
        for part in self.parts(n_users * per_user / size[1]):
            for piece in pieces(net.size if part.net else 0):
                some = net.reshape(-1)[piece]
                some += part.net * part.counts(some.shape, rng)
        return net

    def sample(self, per_user: float, domain_size: int, below: exact.Below) -> list[int]:
        """Draw the words of one client's dummies exactly."""
        found = []
        # a Fraction as mean gives parts with fractions, so nothing is rounded
        for part in self.parts(Fraction(per_user)):  # type: ignore[arg-type]
            places = part.places(domain_size, below)
            for sign in part.signs:
                found += [place + (sign < 0) * domain_size for place in places]
        return found

    def simulate(
        self, per_user: float, domain_size: int, n_clients: int, rng: np.random.Generator, dtype: np.dtype[Any]
    ) -> tuple[NDArray[Any], IntArray]:
        """Draw the words of all clients' dummies, part by part, and the number of dummies of each client."""
        found, numbers = [], np.zeros(n_clients, dtype=np.int64)
        for part in self.parts(per_user):
            places, units = part.simulated_places(domain_size, n_clients, rng)
            found += [(places + (sign < 0) * domain_size).astype(dtype) for sign in part.signs]
            numbers += len(part.signs) * units
        return np.concatenate(found), numbers


@dataclass(frozen=True)
class BlanketPair(AtomPair):
    """Counters that tell one item of a user from another in a blanket.

    Parameters
    ----------
    blanket_mean : float
        Expected blanket messages per item, of both signs together, in `blanket.means`.
    copies : float
        Expected copies a of a held item, 0 or in [1e-120, 64]; up to 1 it is the sampling rate.
    blanket : Blanket
        Law of the dummies.

    Raises
    ------
    ParameterError
        If a value is outside its range.
    """

    blanket_mean: float
    copies: float
    blanket: Blanket

    def __post_init__(self) -> None:
        low, high = self.blanket.means
        check_within("blanket_mean", self.blanket_mean, low, high, allowed=f"in [{low:.10g}, {high:.10g}]")
        check_copies(self.copies)

    @property
    def parts(self) -> tuple[Part, ...]:
        """Parts of the blanket."""
        return self.blanket.parts(self.blanket_mean)

    @property
    def floor(self) -> int:
        """Certain copies k = floor(a)."""
        return math.floor(self.copies)

    @property
    def fraction(self) -> float:
        """Probability f = a - k of one more copy."""
        return self.copies - self.floor

    @property
    def variance(self) -> float:
        """Variance of the noise in the estimate of one item."""
        return self.blanket.variance(self.blanket_mean)

    @property
    def zero_mass(self) -> float:
        """Probability of fewer messages (with a plus) than the certain copies, where dA/dB = 0."""
        if not self.floor:
            return 0.0
        law = np.ones(1)
        for part in self.parts:
            if 1 in part.signs:
                law = np.convolve(law, part.masses((0, self.floor)))[: self.floor]
        return float(law.sum())


@dataclass(frozen=True)
class CountPair(BlanketPair):
    """Counters of a blanket of one part, whose messages have no signs.

    With X dummies of law NB(r, p), or Poisson for p = 0, M copies, and k = floor(a), f = a - k::

        Pr[X + M = x] / Pr[X = x] = q(x) q(x - 1) ... q(x - k + 1) (1 - f + f q(x - k)),
        q(x) = x/(p (x + r - 1)), or x/mean for p = 0.
    """

    def log_ratio(self, count: FloatArray) -> FloatArray:
        """Return the log of the ratio above at counts >= floor(a) (any shape); nondecreasing in the count."""
        mean, p, total = self.blanket_mean, self.parts[0].p, np.zeros_like(count)

        def above_one(copy: int) -> FloatArray:
            gap = (count - copy) - mean
            return ((1 - p) * gap + p) / (p * (count - 1 - copy) + mean * (1 - p)) if p else gap / mean

        if self.fraction:
            # q(0) = 0, which is lost in round-off where r is near 1
            total += np.log1p(self.fraction * np.where(count <= self.floor, -1.0, above_one(self.floor)))
        for copy in range(self.floor):
            total += np.log1p(above_one(copy))
        return total

    def window(self, log_tail: float) -> tuple[int, int]:
        """Return counts [low, high] outside which X and X + M have mass at most e^-log_tail a side.

        Counts below floor(a), which only X can have, are left out, too (`zero_mass`).
        """
        low, high = self.parts[0].window(log_tail)
        return max(low, self.floor), high + self.floor + 1

    def _atoms(self, log_tail: float) -> Atoms:
        window, part = self.window(log_tail), self.parts[0]
        ratio = self.log_ratio(np.arange(window[0], window[1] + 1, dtype=float))
        error = 1e-13 * (self.floor + 1) * (float(np.abs(ratio).max()) + (part.p > 0))
        of_masses = mass_error(window, part.mean) if part.p else 1e-11
        lost = 4 * math.exp(-log_tail)
        return Atoms(ratio, part.masses(window), self.zero_mass, lost, of_masses, error)


def check_copies(copies: float) -> None:
    """Refuse copies outside their range."""
    low, high = COPIES_RANGE
    allowed = f"0 or in [{low:g}, {high:g}]"
    check_within("copies", copies, 0, high, allowed=allowed)
    if copies:
        check_within("copies", copies, low, high, allowed=allowed)
