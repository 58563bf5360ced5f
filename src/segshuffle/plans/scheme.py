"""What users send and how the server reads it. Clients, server, accountants and texts share this value."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from segshuffle.arrays import FloatArray, IntArray, Numbers, pieces
from segshuffle.blankets import exact
from segshuffle.blankets.base import Blanket
from segshuffle.blankets.named import law_from, simplest
from segshuffle.blankets.parts import Part
from segshuffle.errors import ParameterError
from segshuffle.numerics.ranges import LARGEST_BLANKET, LARGEST_COUNT, check_integer, check_within

Messages = NDArray[np.unsignedinteger[Any]]


@dataclass(frozen=True)
class Scheme:
    """What users send and how the server reads it; a client is told nothing else.

    Parameters
    ----------
    domain_size : int
        Items are 0..domain_size - 1.
    set_size : int
        Items that each client holds, or holds at most.
    n_users : int
        Number n >= 1 of clients that are to take part.
    copies : tuple of float
        Expected copies of a held item, by level: floor(a) copies always and one more with probability a - floor(a).
        In [0, 1] this is the sampling rate lambda_k.
    blanket_per_user : float
        Expected dummy messages per client m >= 0, whatever the level.
    law : Blanket
        Law of the dummies.
    blanket_cap : int or None
        Most dummies of one client, who draws again if there are more. Only for laws that can be capped.
    """

    domain_size: int
    set_size: int
    n_users: int
    copies: tuple[float, ...]
    blanket_per_user: float
    law: Blanket = field(default_factory=simplest)
    blanket_cap: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "copies", tuple(map(float, self.copies)))
        for name, most in (("domain_size", math.inf), ("n_users", math.inf), ("set_size", self.domain_size)):
            check_integer(name, getattr(self, name), 1, most=most)
            object.__setattr__(self, name, int(getattr(self, name)))
        if not self.copies or not all(0.0 <= rate < math.inf for rate in self.copies):
            raise ParameterError("copies", self.copies, "a finite number >= 0 for every level")
        check_within("blanket_per_user", self.blanket_per_user, 0, LARGEST_BLANKET)
        if self.n_users * self.blanket_per_user > LARGEST_COUNT:
            most = LARGEST_COUNT / self.blanket_per_user
            allowed = f"at most {most:g} with {self.blanket_per_user:g} dummies per user"
            raise ParameterError("n_users", self.n_users, allowed)
        cap = self.blanket_cap
        if cap is not None and (not self.law.can_be_capped or int(cap) != cap or cap < self.blanket_per_user):
            allowed = f"None or, for dummies that can be capped, an integer of at least m = {self.blanket_per_user:g}"
            raise ParameterError("blanket_cap", cap, allowed)

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON-ready form."""
        return {**vars(self), "law": self.law.as_dict()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Scheme:
        """Return the inverse of `as_dict`.

        Raises
        ------
        ParameterError
            If a value is not allowed.
        """
        return cls(**{**values, "law": law_from(values["law"])})

    # -- what a client sends -------------------------------------------------------------------------------------------

    @property
    def distinct_messages(self) -> int:
        """Number of different messages: d, or 2 d with signs (item j with a minus is d + j)."""
        return 2 * self.domain_size if self.law.has_signs else self.domain_size

    @property
    def dtype(self) -> np.dtype[np.unsignedinteger[Any]]:
        """Type of a message: an unsigned integer with at least one value that names no item."""
        return np.min_scalar_type(self.distinct_messages)

    @property
    def most_messages(self) -> float:
        """Most messages that a client who follows the scheme may send; +inf without limit."""
        most = self.law.most(self.blanket_per_user) if self.blanket_cap is None else self.blanket_cap
        return self.set_size * max(map(math.ceil, self.copies)) + (most if self.blanket_per_user else 0.0)

    @property
    def most_draws(self) -> float:
        """About the number of random draws or messages of one client; the memory of a batch grows with it."""
        return self.set_size * max(1, *map(math.ceil, self.copies)) + math.ceil(self.blanket_per_user)

    def mean_messages(self, level: int) -> float:
        """Return the expected messages of one client who holds `set_size` items."""
        return self.blanket_per_user + self.set_size * self.copies[level]

    def most_steps(self, level: int) -> float:
        """Bound the expected number of uniform numbers that a client draws; its time grows with it.

        Each takes about five microseconds.
        """
        dummies = self.law.most_steps(self.blanket_per_user)
        if self.blanket_cap is not None:
            dummies *= 2  # half of the draws or more are kept: the median of a Poisson law is not above the cap
        return self.set_size + dummies + self.mean_messages(level)

    def send(self, items: Sequence[int], level: int, below: exact.Below) -> list[int]:
        """Draw the messages of one client exactly, in random order.

        Parameters
        ----------
        items : sequence of int
            Items that the client holds.
        level : int
            Number of its level, from 0.
        below : callable
            Uniform whole numbers below a given one.
        """
        whole = math.floor(self.copies[level])
        more = Fraction(self.copies[level]) - whole
        own = [item for item in items for _ in range(whole + exact.bernoulli(more, below))]
        while True:
            dummies = self.law.sample(self.blanket_per_user, self.domain_size, below)
            if self.blanket_cap is None or len(dummies) <= self.blanket_cap:
                return exact.shuffled(own + dummies, below)

    # -- what the server counts and concludes --------------------------------------------------------------------------

    def simulate_dummies(self, n_clients: int, rng: np.random.Generator) -> Messages:
        """Draw the dummies of many clients, in floating point."""
        messages, numbers = self.law.simulate(self.blanket_per_user, self.domain_size, n_clients, rng, self.dtype)
        if self.blanket_cap is None or not (above := numbers > self.blanket_cap).any():
            return messages
        # only laws with one message per unit can be capped, so the messages are in the order of the clients
        kept = messages[np.repeat(~above, numbers)]
        return np.concatenate([kept, self.simulate_dummies(int(above.sum()), rng)])

    @property
    def noise(self) -> float:
        """Variance of what all users' dummies add to the count of one item."""
        return self.noise_of(1)

    def noise_of(self, items: int) -> float:
        """Return the variance of what all users' dummies add to the counts of `items` items together."""
        return self.law.noise(self.n_users, self.blanket_per_user, self.domain_size, items)

    @property
    def mean(self) -> float:
        """Expected dummies of all users about one item, of both signs together."""
        return self.n_users * self.blanket_per_user / self.domain_size

    @property
    def parts(self) -> tuple[Part, ...]:
        """Independent parts of all users' dummies about one item.

        Raises
        ------
        ParameterError
            If the counters of these dummies are not independent.
        """
        return self.law.parts(self.mean)

    @property
    def net_mean(self) -> float:
        """What all dummies add on average to the count of an item; messages with a minus are subtracted."""
        return self.law.net_mean(self.mean)

    @property
    def sampling(self) -> FloatArray:
        """Variance of what a user sends about a held item, by level: f (1 - f), f = a - floor(a)."""
        fraction = np.array(self.copies) % 1.0
        return fraction * (1.0 - fraction)

    def weight(self, level_counts: ArrayLike) -> float:
        """Return N, the expected number of copies of an item that everybody holds.

        Raises
        ------
        ParameterError
            If the users who take part send no copies.
        """
        weight = float(np.dot(np.asarray(level_counts, dtype=float), self.copies))
        if not weight > 0.0:
            raise ParameterError("copies", list(self.copies), "positive at a level that somebody picked")
        return weight

    def count(self, level_item_counts: Numbers, rng: np.random.Generator, levels: Sequence[int] = ()) -> IntArray:
        """Draw the counts of the server, shape (repetitions, domain_size), exact in distribution.

        Parameters
        ----------
        level_item_counts : ndarray of int, shape (repetitions, n_levels, domain_size)
            Users of each level who hold each item.
        levels : sequence of int
            Levels whose users take part; by default all.
        """
        taking_part = list(levels or range(len(self.copies)))
        copies = np.asarray(self.copies)[taking_part]
        whole = np.floor(copies).astype(np.int64)
        if len(level_item_counts) > 1:
            held = level_item_counts[:, taking_part]
            sent = np.einsum("rkd,k->rd", held, whole)
            sent += rng.binomial(held, (copies - whole)[:, None]).sum(axis=1)
        else:  # the same draws in pieces, because a single repetition may have a large domain
            sent = np.zeros((1, self.domain_size), dtype=np.int64)
            for level, always, sometimes in zip(taking_part, whole, copies - whole, strict=True):
                for piece in pieces(self.domain_size):
                    some = level_item_counts[0, level, piece]
                    sent[0, piece] += always * some + rng.binomial(some, sometimes)
        sent += self.law.draw_net(self.n_users, self.blanket_per_user, sent.shape, rng)
        return np.asarray(sent)

    def estimate(self, counts: ArrayLike, level_counts: ArrayLike) -> FloatArray:
        """Estimate the share of the users that hold each item from the counts C_j: (C_j - net_mean)/N."""
        return self.divided(counts, self.weight(level_counts))

    def divided(self, counts: ArrayLike, weight: float) -> FloatArray:
        """Return (C_j - net_mean)/weight, for another weight than N, such as an estimate of N."""
        shares = np.subtract(counts, self.net_mean, dtype=float)
        shares /= weight
        return shares


@dataclass(frozen=True)
class Collection:
    """One shuffled collection.

    Parameters
    ----------
    announcement : Scheme
        What the clients are told.
    levels : tuple of int
        Numbers of the levels whose users take part.
    weight : float
        Share of its estimate in the result.
    """

    announcement: Scheme
    levels: tuple[int, ...]
    weight: float

    def users(self, level_counts: ArrayLike) -> FloatArray:
        """Return the users of every level who take part, shape (n_levels,)."""
        users, levels = np.zeros(np.shape(level_counts)), list(self.levels)
        users[levels] = np.asarray(level_counts)[levels]
        return users

    def factor(self, level_counts: ArrayLike) -> float:
        """Return what one message about an item adds to its estimated share."""
        return self.weight / self.announcement.weight(self.users(level_counts))

    def simulate(self, level_item_counts: Numbers, level_counts: ArrayLike, rng: np.random.Generator) -> FloatArray:
        """Draw the weighted estimates; `level_item_counts` as for `Scheme.count`."""
        counted = self.announcement.count(level_item_counts, rng, self.levels)
        shares = self.announcement.estimate(counted, self.users(level_counts))
        shares *= self.weight
        return shares

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON-ready form."""
        return {**vars(self), "announcement": self.announcement.as_dict()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Collection:
        """Return the inverse of `as_dict`."""
        return cls(Scheme.from_dict(values["announcement"]), tuple(values["levels"]), values["weight"])
