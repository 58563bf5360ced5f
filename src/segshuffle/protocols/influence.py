"""What users who do not follow the protocol can make of an estimate: the most that one of them moves it, expected.

Compared with what it would send as agreed. Estimates are linear in what arrives, so b liars move them b times as much.
Formulas: docs/proof.md for messages that name an item; for reports of other kinds the same reasoning.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from segshuffle.protocols.base import Plan
from segshuffle.protocols.messages.announcement import Announcement
from segshuffle.protocols.messages.server import blanket_kind
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
        """What so many of them do together."""
        return Influence(self.most_messages, corrupt_users * self.item, corrupt_users * self.all_items)


def influence(plan: Plan) -> Influence:
    """Influence of one user on the estimates of a plan whose messages or reports name items.

    Parameters
    ----------
    plan : Plan
        Of a protocol with a blanket of uniform items (a capped one, or unbounded), or of the subset exponential
        randomizer.

    Raises
    ------
    KeyError
        For another protocol.
    """
    parameters = plan.parameters
    if "subset_size" in parameters:
        return _of_report(plan)
    counts, levels = plan.problem.level_counts, range(len(plan.problem.levels))
    if "blankets" in parameters:
        # the worst level to be in
        shares = [
            _of_messages(plan, parameters["blankets"][k], (1.0,), counts[k] / parameters["weights"][k])
            for k in levels
            if counts[k] and parameters["weights"][k]
        ]
        return Influence(
            *(max(getattr(one, name) for one in shares) for name in ("most_messages", "item", "all_items"))
        )
    copies = parameters.get("copies", parameters.get("sampling_rates", (1.0,) * len(levels)))
    return _of_messages(plan, plan.blanket_per_user, copies, float(np.dot(counts, copies)))


def _of_messages(plan: Plan, blanket_per_user: float, copies: tuple[float, ...], weight: float) -> Influence:
    """Each message adds 1/weight to one item."""
    d, s = plan.problem.domain_size, plan.problem.set_size
    kind, cap = blanket_kind(plan), plan.parameters.get("blanket_cap")
    most = Announcement(d, s, plan.problem.n_users, tuple(copies), blanket_per_user, kind, cap).most_messages
    item = max(most - blanket_per_user / d, max(copies) + blanket_per_user / d)
    return Influence(most, item / weight, (most + blanket_per_user + s * max(copies)) / weight)


def _of_report(plan: Plan) -> Influence:
    """A report is any subset of its size; an item in it adds 1/(n (a - b)), less the mean b/(n (a - b))."""
    d, s, k = plan.problem.domain_size, plan.problem.set_size, plan.parameters["subset_size"]
    held, not_held = report_probabilities(
        domain_size=d, set_size=s, subset_size=k, local_epsilon=plan.parameters["local_epsilon"]
    )
    weight = plan.problem.n_users * (held - not_held)
    # what the honest report has leaves, other items come
    moved = k * (1 - not_held) + s * held + max(d - s - k, 0) * not_held
    return Influence(1.0, max(1 - not_held, held) / weight, moved / weight)
