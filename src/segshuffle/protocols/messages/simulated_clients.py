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

    def of_round_1(self) -> SimulatedClients:
        """Return them as they take part in round 1: the level is the only item (line 2 of Algorithm 1)."""
        return SimulatedClients(self.levels[:, None], np.zeros_like(self.levels))

    def send_items(self, announcement: Scheme, rng: np.random.Generator) -> Outbox:
        """Every client sends its sampled items and its blanket (lines 8-16 of Algorithm 2).

        Of every held item these are floor(a) messages, and one more with probability a - floor(a).
        """
        copies, held = np.asarray(announcement.copies), self.items != NO_ITEM
        words = self.items.astype(announcement.dtype)
        whole = np.floor(copies).astype(np.int64)
        rest = copies - whole
        parts: list[Words] = []
        if whole.any():
            number = np.broadcast_to(whole[self.levels][:, None], words.shape)
            parts.append(np.repeat(words[held], number[held]))
        if rest.any():
            # random() is in [0, 1) on a grid of 2^-53: true with probability `rest` up to that grid
            parts.append(words[(rng.random(words.shape) < rest[self.levels][:, None]) & held])
        return Outbox(np.concatenate([*parts, announcement.simulate_dummies(len(self), rng)]))
