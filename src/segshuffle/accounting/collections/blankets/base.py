"""What the accountants ask of a blanket, and of the pair of counters that it hides an exchanged item in."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from segshuffle.accounting.numerics.loss_distribution import LossTable
from segshuffle.arrays import FloatArray
from segshuffle.errors import ParameterError

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
    def messages(self) -> float:
        """Expected messages per item."""
        return self.mean * len(self.signs)

    @property
    def net(self) -> int:
        """What one unit adds to the estimate."""
        return sum(self.signs)

    @property
    def clusters(self) -> float:
        """Expected clusters per item."""
        return -self.mean * (1 - self.p) / self.p * math.log1p(-self.p) if self.p else self.mean


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


class Blanket(Protocol):
    """Law of the dummy messages, but for their number."""

    @property
    def name(self) -> str:
        """Identifier."""
        ...

    @property
    def means(self) -> tuple[float, float]:
        """Least and largest expected messages per item that the accountant has numbers for."""
        ...

    def parts(self, mean: float) -> tuple[Part, ...]:
        """Independent parts at `mean` expected messages per item, all signs together."""
        ...

    def pair(self, mean: float, copies: float) -> CounterPair:
        """Counters of an exchanged item."""
        ...

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready form, with the name."""
        ...


def estimate_variance(parts: Sequence[Part]) -> float:
    """Variance of one item's net counter: every part's mean/(1 - p), times what a unit adds squared."""
    return sum(part.net**2 * part.mean / (1 - part.p) for part in parts)


def check_p(name: str, value: float) -> None:
    """Refuse a cluster parameter outside its range."""
    if not 0 < value <= LARGEST_P:
        raise ParameterError(name, value, f"in (0, {LARGEST_P:g}]")


def check_mean(value: float, means: tuple[float, float], blanket: str) -> None:
    """Refuse a mean outside a blanket's range."""
    low, high = means
    if not low <= value <= high:
        raise ParameterError("blanket_mean", value, f"in [{low:.10g}, {high:.10g}] for {blanket}")
