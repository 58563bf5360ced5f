"""What all blankets share: their parts, from which messages, variance and samplers follow."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from segshuffle.arrays import FloatArray, IntArray, pieces
from segshuffle.blankets import exact
from segshuffle.blankets.parts import Part
from segshuffle.digits import added

if TYPE_CHECKING:
    from segshuffle.numerics.loss_distribution import LossTable

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
    #: Values of the choices, without that mean, at which a search begins among few dummies; they may be out of range.
    few: tuple[float, ...]
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

    #: Identifier; what sentences say of the dummies.
    name: ClassVar[str]
    phrase: ClassVar[str]
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

    @abstractmethod
    def pair(self, mean: float, copies: float) -> CounterPair:
        """Return the counters of an exchanged item."""

    @classmethod
    def space(cls, pairs: int, delta: float) -> Space:
        """Return what a planner may choose from, for a product of `pairs` pairs; by default only the variance."""
        law = cls()
        return Space((), (), lambda variance: ((), within(variance / law.variance(1.0), *law.means)))

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
        return added(part.net**2 * part.variance for part in self.parts(mean))

    def noise(self, n_users: int, per_user: float, domain_size: int, items: int = 1) -> float:
        """Return the variance of what the dummies of all users add to the counts of `items` items together."""
        return items * self.variance(n_users * per_user / domain_size)

    def net_mean(self, mean: float) -> float:
        """Return what the dummies add on average to an item's count; messages with a minus are subtracted."""
        return added(part.net * part.mean for part in self.parts(mean))

    def draw_net(self, n_users: int, per_user: float, size: tuple[int, int], rng: np.random.Generator) -> IntArray:
        """Draw what the dummies add to every item's count; parts that cancel are not drawn."""
        net = np.zeros(size, dtype=np.int64)
        for part in self.parts(n_users * per_user / size[1]):
            for piece in pieces(net.size if part.net else 0):
                some = net.reshape(-1)[piece]
                some += part.net * part.counts(some.shape, rng)
        return net

    def sample(self, per_user: float, domain_size: int, below: exact.Below) -> list[int]:
        """Draw one client's dummies exactly."""
        messages = []
        # a Fraction as mean gives parts with fractions, so nothing is rounded
        for part in self.parts(Fraction(per_user)):  # type: ignore[arg-type]
            places = part.places(domain_size, below)
            for sign in part.signs:
                messages += [place + (sign < 0) * domain_size for place in places]
        return messages

    def most_steps(self, per_user: float) -> float:
        """Bound the expected number of uniform numbers that `sample` takes."""
        return sum(part.most_steps for part in self.parts(per_user))

    def simulate(
        self, per_user: float, domain_size: int, n_clients: int, rng: np.random.Generator, dtype: np.dtype[Any]
    ) -> tuple[NDArray[Any], IntArray]:
        """Draw all clients' dummies, part by part, and the number of dummies of each client."""
        messages, numbers = [], np.zeros(n_clients, dtype=np.int64)
        for part in self.parts(per_user):
            places, units = part.simulated_places(domain_size, n_clients, rng)
            messages += [(places + (sign < 0) * domain_size).astype(dtype) for sign in part.signs]
            numbers += len(part.signs) * units
        return np.concatenate(messages), numbers
