"""Real clients: they check the announcement, and draw every message exactly, from a secure source.

`simulated_clients` draws the messages of many clients at once, faster.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from itertools import islice
from numbers import Real

from segshuffle.blankets import exact
from segshuffle.collection.messages.message_lines import lines_of
from segshuffle.collection.messages.verification import Demand, check_announcement
from segshuffle.errors import DataError
from segshuffle.numerics.ranges import check_kind
from segshuffle.numerics.typed import typed
from segshuffle.plans.scheme import Scheme

#: Clients that one process draws for at a time.
_TOGETHER = 5000
#: The items that a client holds, and the number of its level.
User = tuple[Sequence[int], int]


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
        Uniform whole numbers below a given one. By default every client has its own, from the operating system's secure
        source.
    """

    items: Sequence[int]
    level: int
    demand: Demand
    below: exact.Below = field(default_factory=exact.uniform)

    def __post_init__(self) -> None:
        check_kind("items", self.items, Sequence)
        check_kind("demand", self.demand, Demand)
        check_kind("below", self.below, Callable)

    @typed
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
        self._refuse_unfitting(announcement)
        check_announcement(announcement, self.demand, self.level)
        return self.draw_unchecked(announcement)

    def _refuse_unfitting(self, announcement: Scheme) -> None:
        """Refuse items that do not fit the announcement."""
        d = announcement.domain_size
        least = announcement.set_size if self.demand.sets == "exactly" else 0
        fit = all(isinstance(item, Real) and 0 <= item < d and item == int(item) for item in self.items)
        if not (fit and least <= len(self.items) == len(set(self.items))):
            told = f"allowed are at least {least} items, all different, in 0..{d - 1}"
            raise DataError(f"a user has the items {tuple(self.items)}; {told}.")

    @typed
    def draw_unchecked(self, announcement: Scheme) -> list[int]:
        """Draw the messages for an announcement that was checked before."""
        most, held = announcement.set_size, self.items
        if len(held) > most:
            held = exact.shuffled(list(held), self.below)[:most]
        return announcement.send(held, self.level, self.below)


def send_all(users: Iterable[User], announcement: Scheme, demands: Mapping[int, Demand]) -> Iterator[str]:
    """Draw the messages of many clients, on all processors; each client has random numbers of its own.

    Parameters
    ----------
    users : iterable of (sequence of int, int)
        The items of every user and the number of its level; read while messages are drawn.
    announcement : Scheme
        The announcement, which is checked once for every level.
    demands : mapping of int to Demand
        What the users of each level demand. There must be one for every level that occurs.

    Yields
    ------
    str
        Lines of messages, one per message (`message_lines`), of some users at a time, in the order of the users.

    Raises
    ------
    RefusedError
        If the announcement guarantees the users of some level less than they demand; nothing is drawn then.
    DataError
        If the items of a user do not fit the announcement.
    """
    for level, demand in demands.items():
        check_announcement(announcement, demand, level)
    remaining = iter(users)
    first = list(islice(remaining, _TOGETHER))
    yield _lines(first, announcement, demands)
    if len(first) == _TOGETHER:  # for fewer users no other process need start
        import joblib

        batches = iter(lambda: list(islice(remaining, _TOGETHER)), [])
        calls = (joblib.delayed(_lines)(batch, announcement, demands) for batch in batches)
        try:
            yield from joblib.Parallel(n_jobs=-1, return_as="generator")(calls)
        except BrokenProcessPool:
            raise DataError(
                "a process that drew messages was ended by the system, perhaps because memory ran out. Nothing is "
                "sent. Run the command again, with fewer other programs."
            ) from None


def _lines(users: Sequence[User], announcement: Scheme, demands: Mapping[int, Demand]) -> str:
    """Draw the messages of some clients, whose announcement was checked."""
    lines = []
    for items, level in users:
        client = Client(items, level, demands[level])
        client._refuse_unfitting(announcement)
        lines.append(lines_of(client.draw_unchecked(announcement), announcement))
    return "".join(lines)
