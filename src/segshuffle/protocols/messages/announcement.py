"""What the server makes public before a round."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import get_args

from segshuffle.accounting.collections.blankets.base import check_p
from segshuffle.accounting.numerics.ranges import LARGEST_BLANKET
from segshuffle.errors import ParameterError
from segshuffle.protocols.messages.blankets import Blanket, BlanketKind, make_blanket
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
    blanket : {"binomial", "poisson", "clustered"}
        Law of their number: ceil(m) slots filled with probability m/ceil(m) each (Algorithm 2), or Poisson(m), or
        clusters of dummies of one item.
    blanket_cap : int or None
        Most blanket messages of one client: it redraws larger numbers. Poisson only.
    cluster : float
        Cluster parameter p in (0, 0.99]; 0 unless the blanket is clustered.
    """

    domain_size: int
    set_size: int
    n_users: int
    copies: tuple[float, ...]
    blanket_per_user: float
    blanket: BlanketKind
    blanket_cap: int | None = None
    cluster: float = 0.0

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

        if (self.blanket == "clustered") != (self.cluster != 0.0):
            raise ParameterError("cluster", self.cluster, f"0 unless the blanket is clustered (it is {self.blanket})")
        if self.cluster:
            check_p("cluster", self.cluster)

    @property
    def wire(self) -> WireFormat:
        """How messages of this round are written."""
        return WireFormat(self.domain_size)

    @property
    def dummies(self) -> Blanket | None:
        """Law of a client's dummy messages; None if there are none."""
        if self.blanket_per_user == 0.0:
            return None
        return make_blanket(self.blanket, self.blanket_per_user, self.domain_size, self.blanket_cap, self.cluster)

    @property
    def most_messages(self) -> float:
        """Most messages that a client who follows the announcement may send; +inf without a cap."""
        own = self.set_size * max(map(math.ceil, self.copies))
        return own + (math.inf if self.dummies is None else self.dummies.most)

    @property
    def most_draws(self) -> float:
        """Random draws or messages of one client, about: what a batch's memory grows with."""
        return self.set_size * max(1, *map(math.ceil, self.copies)) + math.ceil(self.blanket_per_user)
