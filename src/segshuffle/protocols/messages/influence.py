"""What users who do not follow the protocol can make of an estimate: the most that one of them moves it, expected.

Compared with what it would send as agreed. Estimates are linear in what arrives, so b liars move them b times as much.
Formulas: docs/proof.md for messages that name an item; for reports of other kinds the same reasoning.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from segshuffle.errors import ParameterError
from segshuffle.protocols.almost_single_message import Hash
from segshuffle.protocols.base import Plan
from segshuffle.protocols.subset_exponential import report_probabilities


@dataclass(frozen=True)
class Influence:
    """Largest shift of the expected estimates by one user.

    Parameters
    ----------
    most_messages : float
        Messages that the shuffler takes from one sender; +inf without a cap.
    item : float
        Of the share of users that hold one item.
    all_items : float
        Of all shares together, summed over the items (upper bound).
    """

    most_messages: float
    item: float
    all_items: float

    def of(self, corrupt_users: float) -> Influence:
        """Return what so many of them do together."""
        return Influence(self.most_messages, corrupt_users * self.item, corrupt_users * self.all_items)


def influence(plan: Plan) -> Influence:
    """Influence of one user on the estimates of a plan.

    Parameters
    ----------
    plan : Plan
        Of a protocol whose messages or reports name items.

    Raises
    ------
    ParameterError
        If nothing is known of the protocol.
    """
    for parameter, of in _KINDS.items():
        if parameter in plan.parameters:
            return of(plan)
    raise ParameterError("method", plan.method, "one whose influence is known (protocols/messages/influence.py)")


def _of_collections(plan: Plan) -> Influence:
    """Each message adds a collection's weight over its users' copies to one item, or takes it away; the worst one."""
    found = []
    for collection in plan.collections:
        scheme, counts = collection.announcement, np.zeros(len(plan.problem.levels))
        counts[list(collection.levels)] = np.array(plan.problem.level_counts)[list(collection.levels)]
        weight = scheme.weight(counts) / collection.weight if collection.weight else math.inf
        most, m = scheme.most_messages, scheme.blanket_per_user
        mean, copies = m / scheme.domain_size, max(scheme.copies)
        item, moved = max(most - mean, copies + mean), most + m + scheme.set_size * copies
        found.append((most, item / weight, moved / weight))
    return Influence(*map(max, zip(*found, strict=True)))


def _of_report(plan: Plan) -> Influence:
    """Choose any subset of the report's size; an item in it adds 1/(n (a - b)), less the mean b/(n (a - b))."""
    d, s, k = plan.problem.domain_size, plan.problem.set_size, plan.parameters["subset_size"]
    held, not_held = report_probabilities(
        domain_size=d, set_size=s, subset_size=k, local_epsilon=plan.parameters["local_epsilon"]
    )
    weight = plan.problem.n_users * (held - not_held)
    # what the honest report has leaves, other items come
    moved = k * (1 - not_held) + s * held + max(d - s - k, 0) * not_held
    return Influence(1.0, max(1 - not_held, held) / weight, moved / weight)


def _of_vectors(plan: Plan) -> Influence:
    """Every bit of every vector is the user's to choose."""
    d, s, flip = plan.problem.domain_size, plan.problem.set_size, plan.parameters["flip"]
    vectors, weight = plan.messages_per_user, plan.problem.n_users * (1 - 2 * flip)
    free, held = vectors * flip, 1 - flip + (vectors - 1) * flip
    moved = [max(vectors - mean, mean) for mean in (free, held)]
    return Influence(vectors, max(moved) / weight, ((d - s) * moved[0] + s * moved[1]) / weight)


def _of_hashes(plan: Plan) -> Influence:
    """Count a message for every item with its hash: at most ceil(q/b) of them."""
    d, s, n = plan.problem.domain_size, plan.problem.set_size, plan.problem.n_users
    prime, buckets = plan.parameters["prime"], plan.parameters["buckets"]
    collision = Hash(d, prime, buckets).collision
    # with a Poisson number of dummies there is no most
    most = s + math.ceil(plan.blanket_per_user) if plan.kind == "published" else math.inf
    dummies, weight = plan.blanket_per_user / buckets, (1 - collision) * n
    free, held = dummies + s * collision, 1 + dummies + (s - 1) * collision
    reach = math.ceil(prime / buckets) if prime else 1
    return Influence(most, max(most - free, held) / weight, (most * reach + (d - s) * free + s * held) / weight)


def _of_kept_items(plan: Plan) -> Influence:
    """All s messages about one item; dummies are the shuffler's, and what it keeps is divided out."""
    s, n = plan.problem.set_size, plan.problem.n_users
    return Influence(s, s / n, 2 * s / n)


def _unbounded(plan: Plan) -> Influence:
    """Dummies without a largest number."""
    return Influence(math.inf, math.inf, math.inf)


#: A parameter that tells what is sent, in the order in which they are looked for.
_KINDS: dict[str, Callable[[Plan], Influence]] = {
    "subset_size": _of_report,
    "flip": _of_vectors,
    "prime": _of_hashes,
    "flood_odds": _unbounded,
    "kept": _of_kept_items,
    "blankets": _of_collections,
    "copies": _of_collections,
    "sampling_rates": _of_collections,
    "analysis": _of_collections,
}
