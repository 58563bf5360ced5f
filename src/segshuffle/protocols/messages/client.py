"""One client, as it would run: it checks what is announced, and draws every message exactly from a secure source.

The announcement goes in, messages come out. `simulated_clients` draws the same for many clients at once, faster.
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
    """One user's side of round 2; round 1 is checked and sent alike, by `check_announcement` and `Scheme.send`.

    Parameters
    ----------
    items : sequence of int
        Items that the user holds. Of more than the announced set size a random choice of that size is sent.
    level : int
        Number of its privacy level, from 0.
    demand : Demand
        What it asks of round 2.
    below : callable
        Uniform whole numbers below a given one; tests put their own here.
    """

    items: Sequence[int]
    level: int
    demand: Demand
    below: exact.Below = secrets.randbelow

    def send_items(self, announcement: Scheme) -> list[int]:
        """Draw the messages in random order, each an item.

        Raises
        ------
        RefusedError
            If the announcement gives the user less than is asked for.
        DataError
            If the items are not what the announcement is about.
        ParameterError
            If the user's level is not announced.
        """
        most, d = announcement.set_size, announcement.domain_size
        if len(set(self.items)) < len(self.items) or not all(
            0 <= item < d and item == int(item) for item in self.items
        ):
            raise DataError(f"items = {tuple(self.items)}; a user holds different items in 0..{d - 1}.")
        if self.demand.sets == "exactly" and len(self.items) < most:
            raise DataError(f"items = {tuple(self.items)}; every user must hold {most} items.")
        check_announcement(announcement, self.demand, self.level)
        held = self.items if len(self.items) <= most else exact.shuffled(list(self.items), self.below)[:most]
        return announcement.send(held, self.level, self.below)
