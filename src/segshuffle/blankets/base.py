"""What every blanket shares: its parts, from which messages, variance and samplers follow, and the pair of counters."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from segshuffle.accounting.numerics.loss_distribution import LossTable
from segshuffle.accounting.numerics.negative_binomial import size_of
from segshuffle.accounting.numerics.ranges import check_within
from segshuffle.arrays import FloatArray, IntArray
from segshuffle.blankets import exact
from segshuffle.blankets.atoms import AtomPair
from segshuffle.errors import ParameterError
from segshuffle.looks import Look

#: Expected dummies per item, and copies of a held item, that accountants have numbers for.
BLANKET_MEAN_RANGE = (1e-3, 1e12)
COPIES_RANGE = (1e-120, 64.0)
#: Cluster parameters above have tails too long for a table.
LARGEST_P = 0.99


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
        Messages of one unit: (1,), (-1,) or (1, -1), what each of them adds to the estimate.
    """

    mean: float
    p: float
    signs: tuple[int, ...] = (1,)

    @property
    def net(self) -> int:
        """What one unit adds to the estimate."""
        return sum(self.signs)

    def places(self, domain_size: int, below: exact.Below) -> list[int]:
        """Draw the items of one client's units exactly; `mean` is that of all items together."""
        mean, p = Fraction(self.mean), Fraction(self.p)
        if not p:
            return [below(domain_size) for _ in range(exact.poisson(mean, below))]
        size = mean * (1 - p) / p
        return exact.clustered(exact.negative_binomial(size, p, below), size, domain_size, below)

    def simulated_places(self, domain_size: int, n_clients: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
        """Draw the items of all clients' units one client after another, and every client's number of units.

        `mean` is that of all items together, as in `places`.
        """
        clusters = -self.mean * (1 - self.p) / self.p * math.log1p(-self.p) if self.p else self.mean
        numbers = rng.poisson(clusters, size=n_clients)
        places = rng.integers(domain_size, size=int(numbers.sum()))
        if not self.p:
            return places, numbers
        sizes = rng.logseries(self.p, size=places.size)
        users = np.repeat(np.arange(n_clients), numbers)
        return np.repeat(places, sizes), np.bincount(users, sizes, minlength=n_clients).astype(np.int64)

    def counts(self, size: tuple[int, ...], rng: np.random.Generator) -> IntArray:
        """Draw units per item, independent."""
        if self.p == 0:
            return rng.poisson(self.mean, size=size)
        return rng.negative_binomial(size_of(self.mean, self.p), 1 - self.p, size=size)


class CounterPair(Protocol):
    """What an exchanged item changes: its counter (one number, or one per sign) and that of the other item.

    With the held item's counter of law A and the other's of law B, P = A x B and Q = B x A.
    """

    @property
    def copies(self) -> float:
        """Expected copies a >= 0 of a held item."""
        ...

    @property
    def variance(self) -> float:
        """Variance of the noise in the estimate of one item, in squared copies: a first guess of the loss."""
        ...

    @property
    def zero_mass(self) -> float:
        """B's mass where dA/dB = 0."""
        ...

    def coarse_law(self, log_tail: float) -> tuple[FloatArray, FloatArray]:
        """Log ratio and log mass of B on some hundred points; need not be certified."""
        ...

    def loss_table(self, step: float, log_tail: float) -> LossTable:
        """Certified cells about `step` wide, with about e^-log_tail of each tail given away.

        They are wider where `step` would need too many: the bounds say by themselves how good they are.
        """
        ...


class Space(NamedTuple):
    """What a planner may choose of a law beside the variance of what its dummies add to an item's estimate."""

    #: Least and most of each choice, above 0. The last one of a law that `spends` is the mean of all dummies per item.
    bounds: tuple[tuple[float, float], ...]
    #: Arrays of variances and of every choice -> parameters of laws, and their means: nan where there is no law.
    make: Callable[..., tuple[tuple[FloatArray, ...], FloatArray]]


def within(means: FloatArray, least: Any, most: Any) -> FloatArray:
    """Return the means inside a range, and nan in the place of the others."""
    return np.where((means >= least) & (means <= most), means, math.nan)


class Dummies(ABC):
    """Law of the dummy messages of one client, but for their number; each law is a frozen dataclass."""

    #: Identifier, what a sentence says of the dummies, and what a table says of the law.
    name: ClassVar[str]
    words: ClassVar[str]
    about: ClassVar[str]
    #: Whether messages have a sign: the word of item j with a minus is d + j.
    has_signs: ClassVar[bool] = False
    #: Whether anything is proven of it.
    is_proven: ClassVar[bool] = False
    #: Whether a cap on the dummies of a user is proven (docs/proof.md).
    can_be_capped: ClassVar[bool] = False

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready form, with the name."""
        return {"name": self.name, **asdict(self)}  # type: ignore[call-overload]

    @abstractmethod
    def sample(self, per_user: float, domain_size: int, below: exact.Below) -> list[int]:
        """Draw the words of one client's dummies exactly."""

    @abstractmethod
    def simulate(
        self, per_user: float, domain_size: int, n_clients: int, rng: np.random.Generator, dtype: np.dtype[Any]
    ) -> tuple[NDArray[Any], IntArray]:
        """Draw the words of all clients' dummies, client by client, and their numbers, in floating point."""

    @abstractmethod
    def draw_net(self, n_users: int, per_user: float, size: tuple[int, int], rng: np.random.Generator) -> IntArray:
        """Draw what the dummies of all users add to every item's count, of shape (repetitions, domain_size)."""

    @abstractmethod
    def net_mean(self, mean: float) -> float:
        """Return what `mean` dummies per item add on average to an item's count, minuses subtracted."""

    @abstractmethod
    def noise(self, n_users: int, per_user: float, domain_size: int) -> float:
        """Variance of what the dummies of all users add to an item's count."""

    def total_noise(self, n_users: int, per_user: float, domain_size: int) -> float:
        """Variance of what they add to the sum of all counts, which are independent unless a law says otherwise."""
        return domain_size * self.noise(n_users, per_user, domain_size)

    def most(self, per_user: float) -> float:
        """Most dummies of one client; +inf where there is none."""
        return math.inf

    def pair(self, mean: float, copies: float) -> CounterPair:
        """Counters of an exchanged item; refused where nothing is proven."""
        raise ParameterError("blanket", self.name, "one with a proof")


class Blanket(Dummies):
    """Dummies of which the counters of all items are independent: what is proven holds for all of them."""

    is_proven = True
    #: How plans with it are drawn.
    look: ClassVar[Look]
    #: Where a plan has no budget: times the messages of single dummies that it may take. 0 for laws whose messages
    #: follow from their variance.
    spends: ClassVar[float] = 0.0

    @property
    @abstractmethod
    def means(self) -> tuple[float, float]:
        """Least and largest expected messages per item that the accountant has numbers for."""

    @abstractmethod
    def parts(self, mean: float) -> tuple[Part, ...]:
        """Independent parts at `mean` expected messages per item, all signs together."""

    @abstractmethod
    def pair(self, mean: float, copies: float) -> CounterPair:
        """Counters of an exchanged item."""

    @classmethod
    @abstractmethod
    def space(cls, pairs: int, delta: float) -> Space:
        """Return what a planner chooses from, for a product of so many pairs."""

    def rough(self) -> Blanket:
        """Nearly the same law with quicker tables, for searches: nothing is proven of it."""
        return self

    def variance(self, mean: float) -> float:
        """Variance of one item's net counter: every part's mean/(1 - p), times what a unit adds squared."""
        return sum(part.net**2 * part.mean / (1 - part.p) for part in self.parts(mean))

    def noise(self, n_users: int, per_user: float, domain_size: int) -> float:
        """Variance of what the dummies of all users add to an item's count."""
        return self.variance(n_users * per_user / domain_size)

    def net_mean(self, mean: float) -> float:
        """Return what the dummies add on average to an item's count, minuses subtracted."""
        return sum(part.net * part.mean for part in self.parts(mean))

    def draw_net(self, n_users: int, per_user: float, size: tuple[int, int], rng: np.random.Generator) -> IntArray:
        """Draw what the dummies add to every item's count; parts that cancel are not drawn."""
        net = np.zeros(size, dtype=np.int64)
        for part in self.parts(n_users * per_user / size[1]):
            if part.net:
                net += part.net * part.counts(size, rng)
        return net

    def sample(self, per_user: float, domain_size: int, below: exact.Below) -> list[int]:
        """Draw the words of one client's dummies exactly."""
        found = []
        # parts of a fraction are fractions: nothing is rounded
        for part in self.parts(Fraction(per_user)):  # type: ignore[arg-type]
            places = part.places(domain_size, below)
            for sign in part.signs:
                found += [place + (sign < 0) * domain_size for place in places]
        return found

    def simulate(
        self, per_user: float, domain_size: int, n_clients: int, rng: np.random.Generator, dtype: np.dtype[Any]
    ) -> tuple[NDArray[Any], IntArray]:
        """Draw the words of all clients' dummies part by part, and how many each client has."""
        found, numbers = [], np.zeros(n_clients, dtype=np.int64)
        for part in self.parts(per_user):
            places, units = part.simulated_places(domain_size, n_clients, rng)
            found += [(places + (sign < 0) * domain_size).astype(dtype) for sign in part.signs]
            numbers += len(part.signs) * units
        return np.concatenate(found), numbers


@dataclass(frozen=True)
class BlanketPair(AtomPair):
    """Counters that tell one item of a user from another in a blanket, tabulated value by value.

    Parameters
    ----------
    blanket : Blanket
        Law of the dummies.
    blanket_mean : float
        Expected blanket messages per item, of both signs together, in `blanket.means`.
    copies : float
        Expected copies a of a held item, 0 or in [1e-120, 64].

    Raises
    ------
    ParameterError
        If a value is outside its range.
    """

    blanket: Blanket
    blanket_mean: float
    copies: float

    def __post_init__(self) -> None:
        check_mean(self.blanket_mean, self.blanket.means, f" for {self.blanket}")
        check_copies("copies", self.copies)

    @property
    def variance(self) -> float:
        """Variance of the noise in the estimate of one item."""
        return self.blanket.variance(self.blanket_mean)


def check_mean(value: float, means: tuple[float, float], about: str = "") -> None:
    """Refuse a mean outside a blanket's range."""
    low, high = means
    check_within("blanket_mean", value, low, high, allowed=f"in [{low:.10g}, {high:.10g}]{about}")


def check_copies(name: str, value: float) -> None:
    """Refuse copies outside their range."""
    low, high = COPIES_RANGE
    allowed = f"0 or in [{low:g}, {high:g}]"
    check_within(name, value, 0, high, allowed=allowed)
    if value:
        check_within(name, value, low, high, allowed=allowed)
