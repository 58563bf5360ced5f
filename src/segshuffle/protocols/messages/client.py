"""A real client: it checks the announcement, and draws every message exactly, from a secure source.

`simulated_clients` draws the messages of many clients at once, faster.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from segshuffle.blankets import exact
from segshuffle.errors import DataError
from segshuffle.protocols.messages.verification import Demand, check_announcement
from segshuffle.protocols.scheme import Scheme


@dataclass(frozen=True)
class Client:
    """One user's side of round 2. Round 1 is checked by `check_announcement` and sent by `Scheme.send`.

    Parameters
    ----------
    items : sequence of int
        Items that the user holds. If they are more than the announced set size, a random choice of that size is sent.
    level : int
        Number of its privacy level, from 0.
    demand : Demand
        What the user demands of round 2.
    below : callable
        Uniform whole numbers below a given one; tests pass their own.
    """

    items: Sequence[int]
    level: int
    demand: Demand
    below: exact.Below = secrets.randbelow

    def send_items(self, announcement: Scheme) -> list[int]:
        """Draw the messages, in random order.

        Raises
        ------
        RefusedError
            If the announcement guarantees less than the user demands.
        DataError
            If the items do not fit the announcement.
        ParameterError
            If the announcement does not have the user's level.
        """
        most, d = announcement.set_size, announcement.domain_size
        least = most if self.demand.sets == "exactly" else 0
        fit = all(0 <= item < d and item == int(item) for item in self.items)
        if not (fit and least <= len(self.items) == len(set(self.items))):
            told = f"a user holds at least {least} items, all different, in 0..{d - 1}"
            raise DataError(f"items = {tuple(self.items)}; {told}.")
        check_announcement(announcement, self.demand, self.level)
        held = self.items if len(self.items) <= most else exact.shuffled(list(self.items), self.below)[:most]
        return announcement.send(held, self.level, self.below)
