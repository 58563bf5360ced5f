"""Algorithm 1 message by message: clients, shuffler and server, two rounds, batch by batch."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from segshuffle.accounting.collections.levels import UserGuarantee
from segshuffle.arrays import FloatArray, IntArray
from segshuffle.collection.messages.server import Planner, Server
from segshuffle.collection.messages.shuffler import ShuffledMessages, Shuffler
from segshuffle.collection.messages.simulated_clients import SimulatedClients, checked
from segshuffle.errors import ParameterError
from segshuffle.plans.level_counts import LevelEstimates, LevelPrivacy
from segshuffle.plans.plan import Plan, Problem
from segshuffle.plans.scheme import Collection, Scheme

#: Draws and messages per batch of clients. Only the messages of one batch are in memory, all others in temporary files.
#: The random numbers depend on it, but their law does not.
BATCH_DRAWS = 2**20


@dataclass(frozen=True, eq=False)
class ProtocolRun:
    """The results of one run of the protocol.

    Parameters
    ----------
    estimate : ndarray of float, shape (domain_size,)
        Estimated share of users that hold each item.
    levels : LevelEstimates
        Level counts after round 1: `levels.estimates` are unbiased, `levels.planning` was used for the plan.
    plan : Plan
        Parameters of round 2.
    announcements : tuple of Scheme
        Announcements to the clients: round 1, then every collection of round 2.
    counters : tuple of ndarray of int64
        Counts by word, for every collection of round 2.
    level_messages, item_messages : int
        Messages that the server received in round 1 and in round 2, with the refused ones.
    n_bytes : int
        Bytes of all messages of both rounds.
    guarantees : tuple of UserGuarantee
        By level.
    refused : dict
        Numbers of messages that were left out because they name no level ("levels", round 1) or no item ("items", round
        2).
    """

    estimate: FloatArray
    levels: LevelEstimates
    plan: Plan
    announcements: tuple[Scheme, ...]
    counters: tuple[IntArray, ...]
    level_messages: int
    item_messages: int
    n_bytes: int
    guarantees: tuple[UserGuarantee, ...]
    refused: dict[str, int]


def run_protocol(
    population_items: ArrayLike,
    user_levels: ArrayLike,
    problem: Problem,
    *,
    planner: Planner,
    level_privacy: LevelPrivacy | None = None,
    rng: np.random.Generator,
    takes_part: ArrayLike | None = None,
) -> ProtocolRun:
    """Run both rounds of Algorithm 1, message by message.

    Parameters
    ----------
    population_items : array_like of int, shape (n_users, set_size)
        Each user's distinct items in [0, domain_size), in any array of integers (it may be memory-mapped), read batch
        by batch. If users may hold fewer items, rows are filled up with `NO_ITEM`.
    user_levels : array_like of int, shape (n_users,)
        Number of each user's level, 0..K-1.
    problem : Problem
        Public quantities, and what the guarantee of round 2 relies on. Only the sum of its level_counts is used,
        because round 1 estimates the counts.
    planner : callable
        Makes a `Plan` from a `Problem`: the `plan` of any method whose plans have collections (`Plan.collections`).
    level_privacy : LevelPrivacy or None
        (epsilon_p, delta_p) of round 1; None: the levels are only shuffled.
    rng : numpy.random.Generator
        Source of independent random streams for the clients and the shuffler.
    takes_part : array_like of bool, shape (n_users,), or None
        Who sends in round 2; None: everybody. The shuffler counts its senders, and releases nothing if they are fewer
        than the guarantee relies on (`Problem.honest_users`). The estimates are shares of the users who took part. They
        are unbiased if dropping out depends on neither level nor items.

    Raises
    ------
    DataError
        If an item is outside the domain, a user has the wrong number of items, a level does not exist, or a temporary
        file cannot be written.
    ParameterError
        If a parameter is outside its range, the plan cannot be run (see `Server.collections`), or too few take part.
    """
    users = SimulatedClients.of(population_items, user_levels, problem)
    present = users
    if takes_part is not None:
        present = users.where(checked("takes_part", takes_part, (len(users),), "booleans", "b"))
    server = Server(problem, level_privacy)
    client_rng, shuffler_rng = rng.spawn(2)

    def collected(clients: SimulatedClients, collection: Collection) -> ShuffledMessages:
        """Let the clients of a collection send batch by batch, then release all messages."""
        scheme = collection.announcement
        batches = clients.batches(max(1, int(BATCH_DRAWS / scheme.most_draws)))
        sent = (batch.of_levels(collection.levels).send_items(scheme, client_rng) for batch in batches)
        return Shuffler(shuffler_rng).release(sent, scheme.dtype)

    first = server.announce_levels()
    received = [collected(users.of_round_1(), Collection(first, (0,), 1.0))]
    level_estimates = server.estimate_levels(first, received[0])

    plan = server.make_plan(planner, level_estimates)
    collections = server.collections(plan)
    if len(present) < (least := plan.problem.honest_users):
        allowed = f"at least {least} users, whom the guarantee relies on: nothing is released"
        raise ParameterError("takes_part", f"{len(present)} users", allowed)
    estimate, counters = np.zeros(problem.domain_size), list[IntArray]()
    for collection in collections:
        received.append(collected(present, collection))
        n_present = int(np.isin(present.levels, collection.levels).sum())
        part, counts = server.estimate_items(collection, level_estimates, received[-1], n_present)
        estimate += part
        counters.append(counts)

    counted = [level_estimates.counts, *counters]
    unknown = [len(messages) - int(counts.sum()) for messages, counts in zip(received, counted, strict=True)]
    return ProtocolRun(
        estimate=estimate,
        levels=level_estimates,
        plan=plan,
        announcements=(first, *(collection.announcement for collection in collections)),
        counters=tuple(counters),
        level_messages=len(received[0]),
        item_messages=sum(map(len, received[1:])),
        n_bytes=sum(messages.nbytes for messages in received),
        guarantees=server.guarantees(plan),
        refused={"levels": unknown[0], "items": sum(unknown[1:])},
    )
