"""What users who do not follow the protocol can make of an estimate: the most that one of them moves it, expected.

Compared with what it would send as agreed. Estimates are linear in what arrives, so b liars move them b times as much.
Formulas: docs/proof.md for messages that name an item. Competitors with reports of other kinds have their own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from segshuffle.errors import ParameterError
from segshuffle.protocols.base import Plan


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


#: Of dummies without a largest number.
UNBOUNDED = Influence(math.inf, math.inf, math.inf)


def influence(plan: Plan, method: object = None) -> Influence:
    """Influence of one user on the estimates of a plan.

    Parameters
    ----------
    plan : Plan
        Of users who send copies of their items among dummies: each message adds a collection's weight over its users'
        copies to one item, or takes it away. The worst collection counts.
    method : Method, optional
        What made the plan; one whose users send something else says itself what they can do (``method.influence``).

    Raises
    ------
    ParameterError
        If nothing is known of the protocol.
    """
    if method is not None and hasattr(method, "influence"):
        own: Influence = method.influence(plan)
        return own
    if not plan.collections:
        raise ParameterError("method", plan.method, "one whose messages name items, or that has a function influence")
    found = []
    for collection in plan.collections:
        scheme, factor = collection.announcement, collection.factor(plan.problem.level_counts)
        most, m = scheme.most_messages, scheme.blanket_per_user
        mean, copies = m / scheme.domain_size, max(scheme.copies)
        item, moved = max(most - mean, copies + mean), most + m + scheme.set_size * copies
        found.append((most, item * factor, moved * factor))
    return Influence(*map(max, zip(*found, strict=True)))
