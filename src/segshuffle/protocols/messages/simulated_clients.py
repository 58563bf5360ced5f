"""Many clients at once, simulated: what `client.Client` sends, by vectorised draws in floating point.

One array row per client. Every operation acts on the rows independently, so a batch is nothing but the union of its
clients' messages. The draws are those of a client up to 2^-53, and reproducible, not secret: for studies, not for
users.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segshuffle.arrays import NO_ITEM
from segshuffle.protocols.messages.shuffler import Outbox
from segshuffle.protocols.scheme import Scheme, Words


@dataclass(frozen=True, eq=False)
class SimulatedClients:
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

    def of_levels(self, levels: Iterable[int]) -> SimulatedClients:
        """Select the clients of some levels (where levels are collected apart, each client knows its collection)."""
        return self.where(np.isin(self.levels, tuple(levels)))

    def where(self, chosen: NDArray[np.bool_]) -> SimulatedClients:
        """Select the clients at which `chosen`, shape (n_clients,), is true."""
        return self if chosen.all() else SimulatedClients(self.items[chosen], self.levels[chosen])

    def send_levels(self, announcement: Scheme, rng: np.random.Generator) -> Outbox:
        """Round 1: every client sends its level, as its only item, and its blanket (line 2 of Algorithm 1)."""
        levels = self.levels[:, None]
        return _send(levels, np.zeros_like(self.levels), announcement, rng)

    def send_items(self, announcement: Scheme, rng: np.random.Generator) -> Outbox:
        """Round 2: every client sends its sampled items and its blanket (lines 8-16 of Algorithm 2)."""
        return _send(self.items, self.levels, announcement, rng)


def _send(
    items: NDArray[np.integer[Any]],
    levels: NDArray[np.integer[Any]],
    announcement: Scheme,
    rng: np.random.Generator,
) -> Outbox:
    own = _sampled_items(items, levels, announcement, rng)
    return Outbox(np.concatenate([*own, announcement.simulate_dummies(len(levels), rng)]))


def _sampled_items(
    items: NDArray[np.integer[Any]],
    levels: NDArray[np.integer[Any]],
    announcement: Scheme,
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
