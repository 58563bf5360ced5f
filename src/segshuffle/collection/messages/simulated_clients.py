"""Many simulated clients: the messages of `client.Client`, by vectorised draws in floating point.

Arrays have one row per client, and rows are independent. The draws have the law of a real client's draws up to
2^-53. They are reproducible and not secret, so they are for studies, not for users.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from segshuffle.arrays import NO_ITEM, BoolArray, Numbers
from segshuffle.errors import DataError
from segshuffle.plans.plan import Problem
from segshuffle.plans.scheme import Messages, Scheme

#: Number of clients that are checked at once.
_ROWS = 2**18


@dataclass(frozen=True, eq=False)
class SimulatedClients:
    """Clients, one per row.

    Parameters
    ----------
    items : ndarray of int, shape (n_clients, set_size)
        Each client's items, filled up with `NO_ITEM` if it holds fewer.
    levels : ndarray of int, shape (n_clients,)
        Number of each client's privacy level, from 0.
    """

    items: Numbers
    levels: Numbers

    @classmethod
    def of(cls, items: ArrayLike, levels: ArrayLike, problem: Problem) -> SimulatedClients:
        """Make the clients of a problem; if clients may hold fewer items, rows are filled up with `NO_ITEM`.

        Raises
        ------
        DataError
            Names the first wrong user (from 0), the value and what is allowed.
        """
        n, d = problem.n_users, problem.domain_size
        sets = checked("items", items, (n, problem.set_size))
        chosen = checked("user_levels (numbers from 0, not epsilons)", levels, (n,))
        missing = np.flatnonzero((chosen < 0) | (chosen >= len(problem.levels)))
        if missing.size:
            most = len(problem.levels) - 1
            raise DataError(f"user {missing[0]} chose level {chosen[missing[0]]}; levels are numbered 0..{most}.")
        least = NO_ITEM if problem.assumptions.sets == "at-most" else 0
        for start in range(0, n, _ROWS):
            rows = np.sort(sets[start : start + _ROWS], axis=1)
            wrong = (rows < least) | (rows >= d)
            wrong[:, 1:] |= (rows[:, 1:] == rows[:, :-1]) & (rows[:, 1:] != NO_ITEM)
            if wrong.any():
                user = start + int(wrong.any(axis=1).argmax())
                raise DataError(f"user {user} holds {sets[user].tolist()}; a user holds different items in 0..{d - 1}.")
        return cls(sets, chosen)

    def __len__(self) -> int:
        return int(self.levels.size)

    def of_levels(self, levels: Iterable[int]) -> SimulatedClients:
        """Select the clients of some levels, for collections with only these levels."""
        return self.where(np.isin(self.levels, tuple(levels)))

    def where(self, chosen: BoolArray) -> SimulatedClients:
        """Select the clients for which `chosen`, shape (n_clients,), is true."""
        return self if chosen.all() else SimulatedClients(self.items[chosen], self.levels[chosen])

    def batches(self, size: int) -> Iterator[SimulatedClients]:
        """Yield all clients, `size` at a time."""
        for start in range(0, len(self), size):
            yield SimulatedClients(self.items[start : start + size], self.levels[start : start + size])

    def of_round_1(self) -> SimulatedClients:
        """Return the clients for round 1, in which the level is the only item (line 2 of Algorithm 1)."""
        return SimulatedClients(self.levels[:, None], np.zeros_like(self.levels))

    def send_items(self, announcement: Scheme, rng: np.random.Generator) -> Messages:
        """Draw the copies of held items and the dummies of every client (lines 8-16 of Algorithm 2).

        A client sends floor(a) messages about every held item, and one more with probability a - floor(a).
        """
        copies, held = np.asarray(announcement.copies)[self.levels][:, None], self.items != NO_ITEM
        # random() is in [0, 1) on a grid of 2^-53, up to which the probability is exact
        number = np.floor(copies).astype(np.int64) + (rng.random(self.items.shape) < copies % 1.0)
        own = np.repeat(self.items[held].astype(announcement.dtype), number[held])
        return np.concatenate([own, announcement.simulate_dummies(len(self), rng)])


def checked(
    name: str, values: ArrayLike, shape: tuple[int, ...], needed: str = "integers", kinds: str = "iu"
) -> NDArray[Any]:
    """Return values as an array; refuse another shape or another kind of type."""
    array = np.asarray(values)
    if array.shape != shape or array.dtype.kind not in kinds:
        raise DataError(f"{name}: shape {array.shape} and type {array.dtype}; {needed} of shape {shape} are needed.")
    return array
