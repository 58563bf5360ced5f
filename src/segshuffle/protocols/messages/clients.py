"""What a client knows and sends: its own items, its own level and the public announcement.

Clients are simulated in batches, one array row per client. Every operation acts on the rows independently, so a batch
is nothing but the union of its clients' messages, and a batch of one row is one client.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from segshuffle.accounting.numerics.ranges import LARGEST_BLANKET, blanket_slots
from segshuffle.errors import ParameterError
from segshuffle.protocols.base import NO_ITEM
from segshuffle.protocols.messages.shuffler import Outbox, WireFormat, Words

BlanketKind = Literal["binomial", "poisson"]


@dataclass(frozen=True)
class Announcement:
    """What the server makes public before a round: everything a client needs besides what it holds.

    Parameters
    ----------
    domain_size : int
        Items are 0..domain_size - 1.
    set_size : int
        Items that each client holds, or holds at most.
    copies : tuple of float
        Expected copies of a held item, by level: floor(a) copies always and one more with probability a - floor(a).
        In [0, 1] this is the sampling rate lambda_k.
    blanket_per_user : float
        Expected blanket messages per client m >= 0, each a uniform item, whatever the level.
    blanket : {"binomial", "poisson"}
        Law of their number: ceil(m) slots filled with probability m/ceil(m) each (Algorithm 2), or Poisson(m).
    """

    domain_size: int
    set_size: int
    copies: tuple[float, ...]
    blanket_per_user: float
    blanket: BlanketKind

    def __post_init__(self) -> None:
        if not all(0.0 <= rate < math.inf for rate in self.copies):
            raise ParameterError("copies", self.copies, "finite and >= 0")
        if not 0.0 <= self.blanket_per_user <= LARGEST_BLANKET:
            raise ParameterError("blanket_per_user", self.blanket_per_user, f"in [0, {LARGEST_BLANKET:g}]")
        if self.blanket not in get_args(BlanketKind):
            raise ParameterError("blanket", self.blanket, f"one of {', '.join(get_args(BlanketKind))}")

    @property
    def wire(self) -> WireFormat:
        """How messages of this round are written."""
        return WireFormat(self.domain_size)

    @property
    def most_draws(self) -> float:
        """Random draws or messages of one client, about: what a batch's memory grows with."""
        return self.set_size * max(1, *map(math.ceil, self.copies)) + math.ceil(self.blanket_per_user)


@dataclass(frozen=True, eq=False)
class ClientBatch:
    """Clients, one per row.

    Parameters
    ----------
    items : ndarray of int, shape (n_clients, set_size)
        Each client's items, and `NO_ITEM` where it holds fewer.
    levels : ndarray of int, shape (n_clients,)
        Number of each client's privacy level, from 0.
    """

    items: NDArray[np.integer[Any]]
    levels: NDArray[np.integer[Any]]

    def __len__(self) -> int:
        return int(self.levels.size)

    def of_levels(self, levels: Iterable[int]) -> ClientBatch:
        """The clients of some levels (where levels are collected apart, each client knows which collection is its)."""
        chosen = np.isin(self.levels, tuple(levels))
        return self if chosen.all() else ClientBatch(self.items[chosen], self.levels[chosen])

    def send_levels(self, announcement: Announcement, rng: np.random.Generator) -> Outbox:
        """Round 1: every client sends its level, as its only item, and its blanket (line 2 of Algorithm 1)."""
        levels = self.levels[:, None]
        return _send(levels, np.zeros_like(self.levels), announcement, rng)

    def send_items(self, announcement: Announcement, rng: np.random.Generator) -> Outbox:
        """Round 2: every client sends its sampled items and its blanket (lines 8-16 of Algorithm 2)."""
        return _send(self.items, self.levels, announcement, rng)


def _send(
    items: NDArray[np.integer[Any]],
    levels: NDArray[np.integer[Any]],
    announcement: Announcement,
    rng: np.random.Generator,
) -> Outbox:
    own = _sampled_items(items, levels, announcement, rng)
    filled = _blanket_size(len(levels), announcement, rng)
    blanket = rng.integers(announcement.domain_size, size=filled, dtype=announcement.wire.dtype.type)
    return Outbox(np.concatenate([*own, blanket]))


def _sampled_items(
    items: NDArray[np.integer[Any]],
    levels: NDArray[np.integer[Any]],
    announcement: Announcement,
    rng: np.random.Generator,
) -> list[Words]:
    """Messages about the held items: floor(a) copies, and one more with probability a - floor(a)."""
    copies, held = np.asarray(announcement.copies), items != NO_ITEM
    words = items.astype(announcement.wire.dtype)
    whole = np.floor(copies).astype(np.int64)
    rest = copies - whole
    parts: list[Words] = []
    if whole.any():
        number = np.broadcast_to(whole[levels][:, None], items.shape)
        parts.append(np.repeat(words[held], number[held]))
    if rest.any():
        # random() is in [0, 1) on a grid of 2^-53: true with probability `rest` up to that grid
        parts.append(words[(rng.random(items.shape) < rest[levels][:, None]) & held])
    return parts


def _blanket_size(n_clients: int, announcement: Announcement, rng: np.random.Generator) -> int:
    """Blanket messages of all clients; each client draws its own number."""
    if announcement.blanket_per_user == 0.0:
        return 0
    if announcement.blanket == "poisson":
        return int(rng.poisson(announcement.blanket_per_user, size=n_clients).sum())
    slots, gamma = blanket_slots(announcement.blanket_per_user)
    if gamma == 1.0:
        return n_clients * slots
    return int(np.count_nonzero(rng.random(n_clients * slots) < gamma))
