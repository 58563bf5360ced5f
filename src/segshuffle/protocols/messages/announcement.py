"""What the server makes public before a round."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import get_args

from segshuffle.accounting.numerics.ranges import LARGEST_BLANKET
from segshuffle.blankets.base import Blanket as Law
from segshuffle.blankets.base import check_p
from segshuffle.blankets.clustered import Clustered
from segshuffle.blankets.poisson import POISSON
from segshuffle.blankets.signed import Signed
from segshuffle.errors import ParameterError
from segshuffle.protocols.messages.blankets import (
    BinomialBlanket,
    Blanket,
    BlanketKind,
    ClusteredBlanket,
    PoissonBlanket,
    SignedBlanket,
)
from segshuffle.protocols.messages.shuffler import WireFormat


@dataclass(frozen=True)
class Announcement:
    """Everything that a client needs besides what it holds, and what it checks before it sends anything.

    Parameters
    ----------
    domain_size : int
        Items are 0..domain_size - 1.
    set_size : int
        Items that each client holds, or holds at most.
    n_users : int
        Clients that are to take part n >= 1.
    copies : tuple of float
        Expected copies of a held item, by level: floor(a) copies always and one more with probability a - floor(a).
        In [0, 1] this is the sampling rate lambda_k.
    blanket_per_user : float
        Expected blanket messages per client m >= 0, each a uniform item, whatever the level.
    blanket : {"binomial", "poisson", "clustered", "signed"}
        Law of their number: ceil(m) slots filled with probability m/ceil(m) each (Algorithm 2), or Poisson(m), or
        clusters of dummies of one item, or clusters of both signs.
    blanket_cap : int or None
        Most blanket messages of one client: it redraws larger numbers. Poisson only.
    cluster : float
        Cluster parameter p in (0, 0.99] of a clustered blanket, in [0, 0.99] of a signed blanket's noise; otherwise 0.
    flood_cluster, flood : float
        Of a signed blanket: cluster parameter in [0, 0.99] of the flood, and its share of the messages, in [0, 1).
    """

    domain_size: int
    set_size: int
    n_users: int
    copies: tuple[float, ...]
    blanket_per_user: float
    blanket: BlanketKind
    blanket_cap: int | None = None
    cluster: float = 0.0
    flood_cluster: float = 0.0
    flood: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "copies", tuple(self.copies))
        for name, most in (("domain_size", math.inf), ("n_users", math.inf), ("set_size", self.domain_size)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
                raise ParameterError(name, value, f"an integer in [1, {most:g}]")
        if not self.copies:
            raise ParameterError("copies", self.copies, "a number for every level")
        if not all(0.0 <= rate < math.inf for rate in self.copies):
            raise ParameterError("copies", self.copies, "finite and >= 0")
        if not 0.0 <= self.blanket_per_user <= LARGEST_BLANKET:
            raise ParameterError("blanket_per_user", self.blanket_per_user, f"in [0, {LARGEST_BLANKET:g}]")
        if self.blanket not in get_args(BlanketKind):
            raise ParameterError("blanket", self.blanket, f"one of {', '.join(get_args(BlanketKind))}")
        cap = self.blanket_cap
        if cap is not None and (self.blanket != "poisson" or int(cap) != cap or cap < self.blanket_per_user):
            raise ParameterError(
                "blanket_cap",
                self.blanket_cap,
                f"None, or for a Poisson blanket at least m = {self.blanket_per_user:g}",
            )

        self._check_law()

    def _check_law(self) -> None:
        """Refuse parameters of another blanket's law."""
        if self.blanket == "signed":
            Signed(self.cluster, self.flood_cluster, self.flood)
            return
        if (self.blanket == "clustered") != (self.cluster != 0.0):
            raise ParameterError("cluster", self.cluster, f"0 with {self.blanket} dummies")
        if self.cluster:
            check_p("cluster", self.cluster)
        for name in ("flood_cluster", "flood"):
            if getattr(self, name) != 0.0:
                raise ParameterError(name, getattr(self, name), f"0 with {self.blanket} dummies")

    @property
    def law(self) -> Law | None:
        """What accountants call this blanket; None for the binomial one, of which nothing is proven."""
        if self.blanket == "signed":
            return Signed(self.cluster, self.flood_cluster, self.flood)
        if self.blanket == "clustered":
            return Clustered(self.cluster)
        return POISSON if self.blanket == "poisson" else None

    @property
    def words(self) -> int:
        """Different messages: items, or with signs items and minus items (item j with a minus is d + j)."""
        return 2 * self.domain_size if self.blanket == "signed" else self.domain_size

    @property
    def wire(self) -> WireFormat:
        """How messages of this round are written."""
        return WireFormat(self.words)

    @property
    def dummies(self) -> Blanket | None:
        """Law of a client's dummy messages; None if there are none."""
        if self.blanket_per_user == 0.0:
            return None
        m, d = self.blanket_per_user, self.domain_size
        if self.blanket == "poisson":
            return PoissonBlanket(m, d, self.blanket_cap)
        if self.blanket == "binomial":
            return BinomialBlanket(m, d)
        if self.blanket == "clustered":
            return ClusteredBlanket(m, d, self.cluster)
        return SignedBlanket(m, d, self.cluster, self.flood_cluster, self.flood)

    @property
    def most_messages(self) -> float:
        """Most messages that a client who follows the announcement may send; +inf without a cap."""
        own = self.set_size * max(map(math.ceil, self.copies))
        return own + (0.0 if self.dummies is None else self.dummies.most)

    @property
    def most_draws(self) -> float:
        """Random draws or messages of one client, about: what a batch's memory grows with."""
        return self.set_size * max(1, *map(math.ceil, self.copies)) + math.ceil(self.blanket_per_user)
